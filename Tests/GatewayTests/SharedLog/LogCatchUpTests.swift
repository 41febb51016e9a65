// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Requests wait until the board has what the log had.
@Suite(.suiteLimit)
struct LogCatchUpTests {
    private let server = FarServer(.calm)

    private func record(_ number: UInt64) -> (bytes: [UInt8], id: AppendID) {
        (BreakGroup(entries: []).encoded(), AppendID(origin: 7, number: number))
    }

    @Test func `those who wait are answered when the board has the newest record, and not before`() async throws {
        let log = self.server.connect()
        for number in 1...2 as ClosedRange<UInt64> {
            _ = try await log.append(self.record(number).bytes, id: self.record(number).id, to: .breaks)
        }
        var board = Board(epoch: log.epoch)
        let holder = BoardHolder(board)
        let catchUp = LogCatchUp(log: log, holder: holder, waitMax: TestPatience.condition)
        let answers = Mutex<[Bool]>([])
        for _ in 0..<3 { catchUp.wait { answer in answers.withLock { $0.append(answer) } } }
        for record in try await log.read(.breaks, after: 0, recordsMax: 10, bytesMax: .max) {
            #expect(answers.withLock { $0 } == [])
            _ = try board.apply(record)
            holder.swap(board)
            catchUp.applied([], of: nil, board: board)
        }
        try await until("all are answered") { answers.withLock { $0 } == [true, true, true] }
        // The board has everything.
        catchUp.wait { answer in answers.withLock { $0.append(answer) } }
        try await until("it is answered") { answers.withLock { $0.count } == 4 }
        await log.close()
    }

    @Test func `a board that does not catch up, and a log that cannot be asked, are not waited for`() async throws {
        let log = self.server.connect()
        _ = try await log.append(self.record(1).bytes, id: self.record(1).id, to: .breaks)
        let holder = BoardHolder(Board(epoch: log.epoch))
        let catchUp = LogCatchUp(log: log, holder: holder, waitMax: .milliseconds(20))
        let answers = Mutex<[Bool]>([])
        catchUp.wait { answer in answers.withLock { $0.append(answer) } }
        try await until("it is given up") { answers.withLock { $0 } == [false] }
        await log.close()
        catchUp.wait { answer in answers.withLock { $0.append(answer) } }
        try await until("it is given up") { answers.withLock { $0 } == [false, false] }
    }
}

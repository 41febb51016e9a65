// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The board of a start on a shared log, where a snapshot is not what it has to be.
@Suite(.suiteLimit)
struct BoardStartTests {
    /// Snapshots that a start tries, one after the other; it begins with the first record behind the last one.
    private final class Row: SnapshotStore {
        private let rest: Mutex<[(offset: UInt64, parts: [SnapshotPart])]>
        let reasons = Mutex<[String]>([])

        init(_ rest: [(offset: UInt64, parts: [SnapshotPart])]) { self.rest = Mutex(rest) }

        func passOver(_ reason: String) -> BoardMark? {
            self.reasons.withLock { $0.append(reason) }
            return self.rest.withLock { rest in
                rest.removeFirst()
                return rest.first.map { BoardMark(offset: $0.offset, digest: 0) }
            }
        }

        func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {}

        func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
            self.rest.withLock { $0.first?.offset }
        }

        func snapshotParts(
            of lane: Lane,
            after key: String?,
            bytesMax: Int
        ) async throws(EventLogError) -> [SnapshotPart] {
            self.rest.withLock { rest in (rest.first?.parts ?? []).filter { part in key.map { part.key > $0 } ?? true }
            }
        }
    }

    private let log = InMemoryEventLog()

    /// Records that name rules; gives the parts of the board after all of them.
    private func fill(_ count: Int) async throws -> (board: Board, parts: [SnapshotPart]) {
        let id = self.log.identity.logID
        var board = Board(epoch: self.log.epoch, names: SipHash(key: id.low, id.high))
        for number in 1...count {
            let entry = BreakEntry(
                at: Timestamp(microseconds: 1_790_000_000_000_000 + Int64(number)),
                kind: .rules(FoldRules.newest)
            )
            _ = try await self.log.append(BreakGroup(entries: [entry]).encoded(), to: .breaks)
        }
        for record in try await self.log.read(.breaks, after: 0, recordsMax: .max, bytesMax: .max) {
            _ = try board.apply(record)
        }
        var parts: [SnapshotPart] = []
        try await BoardParts.write(
            BoardChanges(everythingOf: board),
            of: board,
            bytesMax: 1 << 20,
            partsMax: .max
        ) { (portion) throws(EventLogError) in parts += portion.parts }
        return (board, parts.sorted { $0.key < $1.key })
    }

    private func parts(_ row: Row, hasOthers: Bool = true) -> LogParts {
        var parts = LogParts(log: self.log, snapshots: row, watermarks: self.log, maintenance: nil)
        if hasOthers { parts.another = { row.passOver($0) } }
        return parts
    }

    @Test func `parts that cannot be read are passed over, down to the first record`() async throws {
        let (board, right) = try await self.fill(3)
        let bad = [SnapshotPart(key: "facts", bytes: [0xFF, 0xFF, 0xFF])]
        let digest = BoardDigest(board).value(of: board)
        func value(_ board: Board) -> UInt64 { BoardDigest(board).value(of: board) }

        let older = Row([(3, bad), (3, right)])
        let fromOlder = try await BreakBoardService.loadFromSnapshot(self.parts(older), rulesKnown: FoldRules.newest)
        #expect(value(fromOlder.board) == digest && fromOlder.base.offset == 3)
        #expect(fromOlder.began == BoardMark(offset: 3, digest: 0))
        #expect(older.reasons.withLock(\.count) == 1)

        let none = Row([(3, bad), (2, right + bad)])
        let fromFirst = try await BreakBoardService.loadFromSnapshot(self.parts(none), rulesKnown: FoldRules.newest)
        #expect(value(fromFirst.board) == digest && fromFirst.base.offset == 0 && fromFirst.began == nil)
        #expect(none.reasons.withLock(\.count) == 2)

        // Where the log forgets its records, there is no other way.
        await #expect(throws: WireError.self) {
            _ = try await BreakBoardService.loadFromSnapshot(
                self.parts(Row([(3, bad)]), hasOthers: false),
                rulesKnown: FoldRules.newest
            )
        }
    }

    @Test func `a board that is not what its snapshot says is told, and a right one is not`() async throws {
        let (board, _) = try await self.fill(3)
        let digest = BoardDigest(board).value(of: board)
        for (number, isRight) in [(digest, true), (digest &+ 1, false)] {
            let (told, sink) = AsyncStream.makeStream(of: BoardMark?.self)
            let digests = BoardDigests(
                board,
                beginning: .init(
                    board: board,
                    mark: BoardMark(offset: 3, digest: number),
                    changes: BoardChanges()
                ),
                made: { _ in sink.yield(nil) },
                differs: { sink.yield($0) }
            )
            let running = Task { try await digests.run() }
            // A record of housekeeping: its digest is made behind the comparison.
            digests.note(BoardChanges(), [.housekept(Housekeeping())], board)
            var found: [BoardMark?] = []
            for await each in told {
                found.append(each)
                if each == nil { break }
            }
            running.cancel()
            _ = await running.result
            #expect(found == (isRight ? [nil] : [BoardMark(offset: 3, digest: number), nil]))
        }
    }
}

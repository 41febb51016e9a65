// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Every append to a shared log is settled: confirmed where it is for good, or dropped for good.
@Suite(.suiteLimit)
struct WriterLogTests {
    private let lane = Lane.acknowledgements(0)

    /// How long appends may stay unsettled where a test has some that never come: a busy machine adds empty records to the others.
    private let soon: Duration = .milliseconds(20)

    private func log(
        over base: any EventLog,
        settledAfter: Duration = TestPatience.condition
    ) async throws -> WriterLog {
        try await WriterLog(over: base, settledAfter: settledAfter)
    }

    @Test func `appends to a calm log get ascending offsets, and a repeat gets the first one's`() async throws {
        let log = try await self.log(over: FarServer(.calm).connect())
        for number in 1...20 { #expect(try await log.append([UInt8(number)], to: self.lane) == UInt64(number)) }
        let id = AppendID(origin: 3, number: 1)
        #expect(try await log.append([1], id: id, to: .breaks) == 1)
        #expect(try await log.append([2], id: id, to: .breaks) == 1)
        #expect(try await log.head(of: .breaks) == 1)
        await log.close()
        await #expect(throws: EventLogError.closed) { try await log.append([1], to: .breaks) }
    }

    @Test func `an append that never comes into the log is dropped, and those after it are not`() async throws {
        let server = FarServer(.calm)
        let log = try await self.log(over: server.connect(), settledAfter: self.soon)
        var lossy = FarConditions.calm
        lossy.lostPerMille = 1_000
        server.set(lossy)
        let lost = Task { try await log.append([1], to: .breaks) }
        let also = Task { try await log.append([2], to: .breaks) }
        // It is settled by an empty record, as soon as one comes through.
        try await until("both are handed over") { log.openCount(of: .breaks) == 2 }
        server.set(.calm)
        await #expect(throws: EventLogError.dropped) { try await lost.value }
        await #expect(throws: EventLogError.dropped) { try await also.value }
        _ = try await log.append([3], to: .breaks)
        #expect(server.everything(in: .breaks).map(\.bytes).filter { !$0.isEmpty } == [[3]])
        await log.close()
    }

    @Test func `an append whose answer is lost is confirmed when it is seen`() async throws {
        var mute = FarConditions.calm
        mute.lostAnswersPerMille = 1_000
        let log = try await self.log(over: FarServer(mute).connect())
        for number in 1...5 { #expect(try await log.append([7], to: .breaks) == UInt64(number)) }
        await log.close()
    }

    @Test func `nothing is confirmed that this gateway has not read, although the log has answered`() async throws {
        let server = FarServer(.calm)
        let far = server.connect()
        let log = try await self.log(over: far)
        far.hold()
        let answers = Mutex(0)
        log.append([1], to: .breaks) { _ in answers.withLock { $0 += 1 } }
        try await until("it is in the log") { server.everything(in: .breaks).count >= 1 }
        #expect(answers.withLock { $0 } == 0)
        far.release()
        try await until("it is confirmed") { answers.withLock { $0 } == 1 }
        await log.close()
    }

    @Test func `a reader waits for a log that cannot be reached, and is told that records were pruned`() async throws {
        let server = FarServer(.calm)
        let base = FailingEventLog(server.connect())
        let log = try await self.log(over: base)
        for number in 1...3 as ClosedRange<UInt8> { _ = try await log.append([number], to: .breaks) }
        base.fail(.read)
        let records = try await log.read(.breaks, after: 1, recordsMax: 10, bytesMax: .max)
        #expect(records.map(\.bytes) == [[2], [3]])
        try await base.prune(.breaks, through: 2)
        await #expect(throws: EventLogError.pruned(lane: .breaks, firstKept: 3)) {
            _ = try await log.read(.breaks, after: 1, recordsMax: 10, bytesMax: .max)
        }
        await log.close()
        #expect(try await log.read(.breaks, after: 3, recordsMax: 10, bytesMax: .max).isEmpty)
    }

    @Test func `closing gives up what is not settled in time`() async throws {
        var lossy = FarConditions.calm
        lossy.lostPerMille = 1_000
        let log = try await WriterLog(
            over: FarServer(lossy).connect(),
            settledAfter: self.soon,
            closedWithin: .milliseconds(50)
        )
        let lost = Task { try await log.append([1], to: .breaks) }
        try await until("it is handed over") { log.openCount(of: .breaks) == 1 }
        await log.close()
        await #expect(throws: EventLogError.unanswered) { try await lost.value }
    }

    @Test func `a writer that is cut off answers at once, and goes on when the log answers again`() async throws {
        let base = SilentLog(FarServer(.calm).connect())
        let limit = Duration.seconds(8)
        let log = try await WriterLog(over: base, settledAfter: self.soon, cutOffAfter: limit)
        #expect(try await log.append([1], to: .breaks) == 1)
        base.isMute = true
        let open = Task { try await log.append([2], to: .breaks) }
        try await until("it is handed over") { log.openCount(of: .breaks) == 1 }
        // Below the limit it waits for the log.
        base.silence = limit - .microseconds(1)
        let also = Task { try await log.append([3], to: .breaks) }
        try await until("it is handed over") { log.openCount(of: .breaks) == 2 }
        base.silence = limit
        await #expect(throws: EventLogError.unanswered) { try await open.value }
        await #expect(throws: EventLogError.unanswered) { try await also.value }
        await #expect(throws: EventLogError.unanswered) { try await log.append([4], to: .breaks) }
        #expect(log.openCount(of: .breaks) == 0)
        // What is there is served all the time.
        #expect(try await log.read(.breaks, after: 0, recordsMax: 1, bytesMax: 1).map(\.bytes) == [[1]])
        base.silence = .zero
        base.isMute = false
        #expect(try await log.append([5], to: .breaks) == 2)
        await log.close()
    }

    @Test func `a record that is too large and a lane that is not read back are refused`() async throws {
        let log = try await self.log(over: FarServer(.calm).connect())
        let large = [UInt8](repeating: 1, count: EventLogLimits.recordBytesMax)
        #expect(try await log.append(large, to: .breaks) == 1)
        await #expect(throws: EventLogError.self) { try await log.append(large + [1], to: .breaks) }
        await #expect(throws: EventLogError.self) { try await log.append([1], to: Lane(name: "other")) }
        await log.close()
    }

    /// Several writers at once on a log where everything goes wrong.
    @Test func `what is confirmed is in the log once, and what is dropped has no effect`() async throws {
        let seed = SeededGenerator.seed
        let server = FarServer(.stormy, seed: seed)
        let outcomes = Mutex<[[UInt8]: Bool]>([:])
        var logs: [WriterLog] = []
        for _ in 0..<3 { logs.append(try await self.log(over: server.connect(), settledAfter: self.soon)) }
        for (writer, log) in logs.enumerated() {
            for number in 0..<100 {
                let record = [UInt8(writer), UInt8(number)]
                log.append(record, to: .breaks) { result in
                    outcomes.withLock { $0[record] = (try? result.get()) != nil }
                }
            }
        }
        try await until("all are settled") { outcomes.withLock { $0.count } == 300 }
        for log in logs { await log.close() }
        var table = WriterTable()
        var effective: [[UInt8]] = []
        for record in server.everything(in: .breaks) where table.take(record.mark) && !record.bytes.isEmpty {
            effective.append(record.bytes)
        }
        #expect(Set(effective).count == effective.count, "seed \(seed)")
        #expect(outcomes.withLock { outcomes in Set(outcomes.filter(\.value).keys) == Set(effective) }, "seed \(seed)")
    }
}

/// A log far away whose silence a test sets.
private final class SilentLog: EventLog {
    private struct State {
        var silence = Duration.zero
        var isMute = false
    }

    private let base: any EventLog
    private let state = Mutex(State())

    init(_ base: any EventLog) { self.base = base }

    var silence: Duration {
        get { self.state.withLock(\.silence) }
        set { self.state.withLock { $0.silence = newValue } }
    }

    /// Whether what is appended is lost without an answer.
    var isMute: Bool {
        get { self.state.withLock(\.isMute) }
        set { self.state.withLock { $0.isMute = newValue } }
    }

    var identity: LogIdentity { self.base.identity }

    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        if !self.isMute { self.base.append(record, id: id, to: lane, done: done) }
    }

    func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        try await self.base.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 { try await self.base.head(of: lane) }

    func close() async { await self.base.close() }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import SQLiteStore
import Testing

/// What the log refuses, and what it does when its writer fails.
@Suite(.timeLimit(.minutes(5)))
struct EventLogLimitTests {
    private let directory: TemporaryDirectory
    private let lane = Lane.acknowledgements(0)

    init() throws { self.directory = try TemporaryDirectory() }

    private func open(_ limits: SQLiteEventLog.Limits = SQLiteEventLog.Limits()) throws -> SQLiteEventLog {
        try SQLiteEventLog(in: StoreDirectory(path: self.directory.path), limits: limits)
    }

    @Test func `as many appends wait as the limit says, and no more`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.appendQueueRecordsMax = 5
        let log = try self.open(limits)
        let gate = WriterGate()
        await gate.close(log, lane: self.lane)
        let answers = Answers()
        for number in 1...6 { log.append([1], to: self.lane, done: answers.take(number)) }
        let refused = await answers.all(1)
        #expect(Array(refused.keys) == [6])
        gate.open()
        let all = await answers.all(6)
        for number in 1...5 { #expect(try all[number]?.get() == UInt64(number) + 1) }
        #expect(throws: EventLogError.self) { try all[6]?.get() }
        #expect(log.failure == nil)
        #expect(try await log.append([1], to: self.lane) == 7)
        await log.close()
    }

    @Test func `as many bytes wait as the limit says, and no more`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.appendQueueBytesMax = 100
        let log = try self.open(limits)
        let gate = WriterGate()
        await gate.close(log, lane: self.lane)
        let answers = Answers()
        log.append([UInt8](repeating: 1, count: 60), to: self.lane, done: answers.take(1))
        log.append([UInt8](repeating: 1, count: 40), to: self.lane, done: answers.take(2))
        log.append([1], to: self.lane, done: answers.take(3))
        #expect(await Array(answers.all(1).keys) == [3])
        gate.open()
        let all = await answers.all(3)
        #expect(all[1]?.isSuccess == true && all[2]?.isSuccess == true && all[3]?.isSuccess == false)
        await #expect(throws: EventLogError.self) {
            _ = try await log.append([UInt8](repeating: 1, count: 101), to: self.lane)
        }
        #expect(try await log.append([UInt8](repeating: 1, count: 100), to: self.lane) == 4)
        await log.close()
    }

    @Test func `there are as many lanes as the limit says, and no more`() async throws {
        var log = try self.open()
        let answers = Answers()
        for number in 1...1_025 {
            log.append([1], to: Lane(name: "lane \(number)"), done: answers.take(number))
        }
        let all = await answers.all(1_025)
        #expect(all.filter { !$0.value.isSuccess }.keys.sorted() == [1_025])
        await log.close()
        log = try self.open()
        #expect(try await log.append([1], to: Lane(name: "lane 1024")) == 2)
        await #expect(throws: EventLogError.self) { _ = try await log.append([1], to: .breaks) }
        await log.close()
    }

    @Test func `a full disk stops the log, and what was confirmed stays`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.fileBytesMax = 300_000
        var log = try self.open(limits)
        var confirmed: UInt64 = 0
        let failure = await #expect(throws: EventLogError.self) {
            while confirmed < 100 {
                confirmed = try await log.append([UInt8](repeating: 1, count: 10_000), to: self.lane)
            }
        }
        #expect(failure != nil && confirmed > 5 && confirmed < 30)
        #expect(log.failure != nil)
        #expect(try await log.head(of: self.lane) == confirmed)
        #expect(try await log.everything(in: self.lane).count == Int(confirmed))
        // Even what would fit: nobody knows what the file holds.
        await #expect(throws: EventLogError.self) { _ = try await log.append([], to: self.lane) }
        await #expect(throws: EventLogError.self) { try await log.prune(self.lane, through: 1) }
        await #expect(throws: EventLogError.self) {
            try await log.save(LaneSnapshot(offset: 1, bytes: [1]), of: self.lane)
        }
        let (open, lane, last) = (log, self.lane, confirmed)
        async let waiting = open.read(lane, after: last, recordsMax: 1, bytesMax: 1)
        await log.close()
        #expect(try await waiting.isEmpty)

        log = try self.open()
        #expect(log.failure == nil)
        #expect(try await log.head(of: self.lane) == confirmed)
        #expect(try await log.append([1], to: self.lane) == confirmed + 1)
        await log.close()
    }

    @Test func `a failed commit fails exactly what was in it`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.fileBytesMax = 300_000
        var log = try self.open(limits)
        let gate = WriterGate()
        #expect(try await log.append([1], to: self.lane) == 1)
        await gate.close(log, lane: self.lane)
        let answers = Answers()
        log.append([2], to: .breaks, done: answers.take(1))
        log.append([UInt8](repeating: 1, count: 1_000_000), to: self.lane, done: answers.take(2))
        log.append([3], to: self.lane, done: answers.take(3))
        gate.open()
        #expect(await answers.all(3).values.allSatisfy { !$0.isSuccess })
        await log.close()

        log = try self.open()
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[1], [0]])
        #expect(try await log.head(of: .breaks) == 0)
        await log.close()
    }

    @Test func `what waits while a commit runs goes into one transaction`() async throws {
        let log = try self.open()
        let gate = WriterGate()
        await gate.close(log, lane: self.lane)
        let wal = self.directory.path + "/events.sqlite-wal"
        let before = try fileBytes(wal)
        let answers = Answers()
        for number in 1...500 { log.append([1], to: self.lane, done: answers.take(number)) }
        gate.open()
        #expect(await answers.all(500).values.allSatisfy(\.isSuccess))
        // 500 transactions would have written 500 pages at least.
        #expect(try fileBytes(wal) - before < 50 * 4_096)
        await log.close()
    }
}

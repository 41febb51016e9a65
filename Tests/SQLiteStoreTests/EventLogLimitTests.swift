// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import SQLiteStore
import Testing

/// The refusals of the log.
@Suite(.suiteLimit)
struct EventLogLimitTests {
    private let directory: TemporaryDirectory
    private let lane = Lane.acknowledgements(0)

    init() throws { self.directory = try TemporaryDirectory() }

    private func open(_ limits: SQLiteEventLog.Limits = SQLiteEventLog.Limits()) throws -> SQLiteEventLog {
        try SQLiteEventLog(in: StoreDirectory(path: self.directory.path), limits: limits)
    }

    /// Appends until there is no room.
    ///
    /// - Returns: the newest offset.
    private func fill(_ log: SQLiteEventLog, record: Int = 10_000) async -> UInt64 {
        var confirmed: UInt64 = 0
        do throws(EventLogError) {
            while true { confirmed = try await log.append([UInt8](repeating: 1, count: record), to: self.lane) }
        } catch {
            guard case .outOfSpace = error else {
                Issue.record("it is not said that there is no room: \(error)")
                return confirmed
            }
            return confirmed
        }
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

    @Test func `a full disk refuses what it has no room for, and the log goes on when there is room`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.fileBytesMax = 400_000
        var log = try self.open(limits)
        let full = await self.fill(log)
        #expect(full > 5 && full < 30)
        #expect(log.failure == nil)
        #expect(try await log.head(of: self.lane) == full)
        #expect(try await log.everything(in: self.lane).count == Int(full))
        await #expect(throws: EventLogError.self) {
            try await log.save(.single(1, ["a": [UInt8](repeating: 1, count: 100_000)]), of: self.lane)
        }
        // Room that was made is used, without a gap.
        try await log.prune(self.lane, through: full - 1)
        #expect(try await log.append([2], to: self.lane) == full + 1)
        let confirmed = await self.fill(log)
        #expect(confirmed > full + 5)
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
        #expect(try await log.append([4], to: self.lane) == 3)
        #expect(try await log.append([5], to: .breaks) == 1)
        await log.close()

        log = try self.open()
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[1], [0], [4]])
        #expect(try await log.everything(in: .breaks).map(\.bytes) == [[5]])
        await log.close()
    }

    @Test func `a record is as large as the limit says, and no larger`() async throws {
        let log = try self.open()
        let largest = [UInt8](repeating: 1, count: EventLogLimits.recordBytesMax)
        #expect(try await log.append(largest, to: self.lane) == 1)
        await #expect(throws: EventLogError.self) { _ = try await log.append(largest + [1], to: self.lane) }
        #expect(try await log.append([2], to: self.lane) == 2)
        await log.close()
    }

    @Test func `the used bytes of the file are known, and freed bytes are used again`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.bytesMax = 1_000_000
        var log = try self.open(limits)
        let empty = try #require(log.usage)
        #expect(empty.bytesMax == 1_000_000 && empty.bytes > 0 && !empty.isNear)
        let record = [UInt8](repeating: 1, count: 100_000)
        while try !#require(log.usage).isNear { _ = try await log.append(record, to: self.lane) }
        #expect(try await log.head(of: self.lane) < 10)
        #expect(try !#require(log.usage).isReached)
        while try !#require(log.usage).isReached { _ = try await log.append(record, to: self.lane) }
        // A record that must be written still may be.
        #expect(try await log.append([2], to: .breaks) == 1)
        let full = try #require(log.usage)
        #expect(!full.isExhausted)
        await log.close()
        log = try self.open(limits)
        #expect(log.usage == full, "it is known at the start")
        try await log.prune(self.lane, through: .max)
        #expect(try #require(log.usage).bytes < empty.bytes + 40_000)
        #expect(try #require(log.fileBytes) >= full.bytes)
        await log.close()
    }

    @Test func `beyond its room and the reserve the log refuses everything, until it is pruned`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.bytesMax = 0
        let log = try self.open(limits)
        let record = [UInt8](repeating: 1, count: EventLogLimits.recordBytesMax)
        while try !#require(log.usage).isExhausted { _ = try await log.append(record, to: self.lane) }
        _ = await self.fill(log, record: 1)
        await #expect(throws: EventLogError.self) { _ = try await log.append([1], to: .breaks) }
        #expect(log.failure == nil)
        try await log.prune(self.lane, through: 1)
        #expect(try await log.append([1], to: .breaks) == 1)
        await log.close()
    }

    @Test func `appends that wait during a commit share one transaction`() async throws {
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

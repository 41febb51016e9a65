// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// Confirmed records survive.
@Suite(.suiteLimit)
struct EventLogDurabilityTests {
    private let directory: TemporaryDirectory
    private let lane = Lane.acknowledgements(0)

    init() throws { self.directory = try TemporaryDirectory() }

    private func open(
        _ path: String,
        _ limits: SQLiteEventLog.Limits = SQLiteEventLog.Limits()
    ) throws -> SQLiteEventLog {
        try SQLiteEventLog(in: StoreDirectory(path: path), limits: limits)
    }

    @Test func `every commit of the log is synchronised`() async throws {
        let log = try self.open(self.directory.path)
        #expect(try await log.synchronousMode() == 2)
        await log.close()
    }

    /// Whether this process has a file open, or one whose name begins like its.
    private static func isOpen(_ file: String) throws -> Bool {
        let folder = "/proc/self/fd/"
        // What was closed meanwhile leads nowhere.
        return try FileManager.default.contentsOfDirectory(atPath: folder)
            .contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0))?.hasPrefix(file) ?? false
            }
    }

    @Test func `however many close a log at the same time, it is closed when any of them goes on`() async throws {
        for round in 0..<20 {
            let path = self.directory.fresh()
            let log = try self.open(path)
            for index in 0..<10 { _ = try await log.append([UInt8(index)], to: self.lane) }
            #expect(try Self.isOpen(path + "/" + StoreDirectory.logFile))
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        await log.close()
                        return try Self.isOpen(path + "/" + StoreDirectory.logFile)
                    }
                }
                for try await isOpen in group { #expect(!isOpen, "round \(round)") }
            }
            await #expect(throws: EventLogError.closed) { try await log.append([1], to: self.lane) }
            let again = try self.open(path)
            #expect(try await again.everything(in: self.lane).count == 10)
            await again.close()
        }
    }

    @Test func `a setting made before the file is in WAL mode is undone, and noticed`() throws {
        let path = self.directory.fresh()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { database in
            #expect(try Int.fetchOne(database, sql: "PRAGMA synchronous") == 1)
            #expect(throws: StoreError.notDurable(file: path, synchronous: 1)) {
                try StoreFile.requireDurable(database, file: path)
            }
            try StoreFile.makeDurable(database, file: path)
            #expect(try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2)
        }
        try pool.close()
    }

    /// The records that writers know to be durable.
    private final class Confirmed: Sendable {
        private let records = Mutex<[UInt64: [UInt8]]>([:])

        var all: [UInt64: [UInt8]] { self.records.withLock { $0 } }

        func add(_ offset: UInt64, _ bytes: [UInt8]) { self.records.withLock { $0[offset] = bytes } }
    }

    /// The confirmed records of a writer until its files were copied.
    private struct Copy: Sendable {
        let path: String
        let confirmed: [UInt64: [UInt8]]
    }

    private func check(_ copy: Copy) async throws {
        let log = try self.open(copy.path)
        let records = try await log.everything(in: self.lane)
        #expect(records.map(\.offset) == records.indices.map { UInt64($0) + 1 })
        for (offset, bytes) in copy.confirmed {
            try #require(offset <= UInt64(records.count), "the record \(offset) was confirmed and is not there")
            #expect(records[Int(offset) - 1].bytes == bytes)
        }
        #expect(try await log.append([1], to: self.lane) == UInt64(records.count) + 1)
        await log.close()
    }

    @Test func `confirmed records survive a kill between two steps of the writer`() async throws {
        var random = SeededGenerator(for: "kill between steps")
        let path = self.directory.fresh("live")
        var limits = SQLiteEventLog.Limits()
        limits.checkpointBytes = 100_000  // so that copies fall before, after and between checkpoints
        let log = try self.open(path, limits)
        let count = 400
        let copyAt = Set((0..<6).map { _ in Int.random(in: 1...count, using: &random) })
        let names = Dictionary(uniqueKeysWithValues: copyAt.map { ($0, self.directory.fresh("copy-\($0)")) })
        let state = Mutex<(confirmed: [UInt64: [UInt8]], copies: [Copy])>(([:], []))
        let answers = Answers()
        let sizes = (0..<count).map { _ in Int.random(in: 0...6_000, using: &random) }
        let lane = self.lane
        for number in 0..<count {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: sizes[number])
            let answer = answers.take(number)
            log.append(bytes, to: lane) { result in
                state.withLock { state in
                    if case .success(let offset) = result { state.confirmed[offset] = bytes }
                    // The writer waits for this, so that the copies are of one moment.
                    if let copy = names[state.confirmed.count], (try? copyStoreFiles(from: path, to: copy)) != nil {
                        state.copies.append(Copy(path: copy, confirmed: state.confirmed))
                    }
                }
                answer(result)
            }
            if number.isMultiple(of: 16) { _ = await answers.all(number + 1 - 8) }
        }
        #expect(await answers.all(count).values.allSatisfy(\.isSuccess))
        await log.close()
        let copies = state.withLock(\.copies)
        #expect(copies.count == copyAt.count)
        for copy in copies { try await self.check(copy) }
    }

    @Test func `confirmed records survive a kill in the middle of a write`() async throws {
        let path = self.directory.fresh("live")
        var limits = SQLiteEventLog.Limits()
        limits.checkpointBytes = .max  // The write-ahead log only grows: a copy of it is what was written so far.
        let log = try self.open(path, limits)
        let lane = self.lane
        let confirmed = Confirmed()
        let names = (0..<5).map { self.directory.fresh("copy-\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for appender in 0..<4 {
                group.addTask {
                    for number in 0..<80 {
                        let bytes = [UInt8](repeating: UInt8(appender * 60 + number / 2), count: 3_000 + number)
                        let offset = try await log.append(bytes, to: lane)
                        confirmed.add(offset, bytes)
                    }
                }
            }
            var copies: [Copy] = []
            for (number, name) in names.enumerated() {
                // Not before there is something to lose, spread over the time in which they write.
                _ = try await log.read(lane, after: UInt64(number * 50), recordsMax: 1, bytesMax: 1)
                let before = confirmed.all
                try copyStoreFiles(from: path, to: name)
                copies.append(Copy(path: name, confirmed: before))
            }
            try await group.waitForAll()
            for copy in copies { try await self.check(copy) }
        }
        await log.close()
    }

    @Test func `records that are only in the file are read from there`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.tailBytesMax = 0
        let log = try self.open(self.directory.path, limits)
        for number in 1...30 { _ = try await log.append([UInt8(number)], to: self.lane) }
        #expect(try await log.everything(in: self.lane, recordsMax: 4).map(\.bytes) == (1...30).map { [UInt8($0)] })
        #expect(try await log.read(self.lane, after: 5, recordsMax: .max, bytesMax: 2).map(\.offset) == [6, 7])
        await log.close()
        await #expect(throws: EventLogError.closed) {
            _ = try await log.read(self.lane, after: 5, recordsMax: 1, bytesMax: 1)
        }
    }

    @Test func `the newest records are read from memory up to the limit`() async throws {
        let overhead = 64
        var limits = SQLiteEventLog.Limits()
        limits.tailBytesMax = 3 * (100 + overhead)
        let log = try self.open(self.directory.path, limits)
        for _ in 1...4 { _ = try await log.append([UInt8](repeating: 1, count: 100), to: self.lane) }
        await log.close()
        // The file is closed: what is still read comes from memory.
        let kept = try await log.read(self.lane, after: 1, recordsMax: 9, bytesMax: .max)
        #expect(kept.map(\.offset) == [2, 3, 4])
        await #expect(throws: EventLogError.closed) {
            _ = try await log.read(self.lane, after: 0, recordsMax: 9, bytesMax: .max)
        }
    }

    @Test func `the write-ahead log stays small and is empty after closing`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.checkpointBytes = 256 * 1_024
        let log = try self.open(self.directory.path, limits)
        let wal = self.directory.path + "/events.sqlite-wal"
        var largest = 0
        for _ in 0..<100 {
            _ = try await log.append([UInt8](repeating: 9, count: 65_536), to: self.lane)
            largest = max(largest, try fileBytes(wal))
        }
        #expect(largest > 65_536)
        #expect(largest < 2 * limits.checkpointBytes)
        await log.close()
        #expect(try !FileManager.default.fileExists(atPath: wal) || fileBytes(wal) == 0)
        #expect(try fileBytes(self.directory.path + "/events.sqlite") > 6_000_000)
    }

    @Test func `a reader that stays long does not make the write-ahead log grow for ever`() async throws {
        var limits = SQLiteEventLog.Limits()
        limits.checkpointBytes = 256 * 1_024
        limits.walBytesMax = 512 * 1_024
        let log = try self.open(self.directory.path, limits)
        let wal = self.directory.path + "/events.sqlite-wal"
        var appended = 0
        func append() async throws {
            _ = try await log.append([UInt8](repeating: 9, count: 65_536), to: self.lane)
            appended += 1
            try #require(appended < 40, "the write-ahead log does not get smaller")
        }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: self.directory.path + "/events.sqlite", configuration: configuration)
        try await reader.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN")
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM lanes")
        }
        while try fileBytes(wal) < limits.walBytesMax { try await append() }
        try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        // Without waiting for readers it would be written over, and stay as large as it is.
        while try fileBytes(wal) >= limits.checkpointBytes { try await append() }
        try reader.close()
        await log.close()
    }

    @Test func `the space of pruned records is used again`() async throws {
        let log = try self.open(self.directory.path)
        func write() async throws {
            for _ in 0..<40 {
                let offset = try await log.append([UInt8](repeating: 9, count: 65_536), to: self.lane)
                try await log.prune(self.lane, through: offset - min(offset, 10))
            }
        }
        try await write()
        try await write()
        await log.close()
        #expect(try fileBytes(self.directory.path + "/events.sqlite") < 20 * 65_536)
    }
}

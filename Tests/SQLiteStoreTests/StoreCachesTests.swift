// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import SQLiteStore
import Testing

/// The stores' caches are released on request, and nothing else is.
@Suite(.suiteLimit)
struct StoreCachesTests {
    private let directory: TemporaryDirectory
    private let lanes = [Lane.acknowledgements(0), .breaks]
    /// The bytes of the newest records that the log keeps when it releases its caches: docs/reference/metrics.md,
    /// `cuecast_store_cache_bytes`.
    private let recordsKeptBytes = 1_048_576
    /// The least memory of a connection of SQLite.
    private let pagesLeftBytes = 262_144

    init() throws { self.directory = try TemporaryDirectory() }

    private func open() throws -> SQLiteEventLog { try SQLiteEventLog(in: StoreDirectory(path: self.directory.path)) }

    @Test func `the log keeps the newest records, and finds the others in its file`() async throws {
        let log = try self.open()
        for number in 0..<60 {
            _ = try await log.append([UInt8](repeating: UInt8(number), count: 100_000), to: self.lanes[number % 2])
        }
        let before = await log.cacheBytes()
        #expect(before > 60 * 100_000)
        await log.releaseCaches()
        let after = await log.cacheBytes()
        #expect(after > self.recordsKeptBytes - 100_064, "those who keep up do not touch the file")
        #expect(after <= self.recordsKeptBytes + self.pagesLeftBytes)
        for (place, lane) in self.lanes.enumerated() {
            let records = try await log.everything(in: lane, recordsMax: 7)
            #expect(records.map(\.bytes[0]) == (0..<60).filter { $0 % 2 == place }.map { UInt8($0) })
            #expect(records.allSatisfy { $0.bytes.count == 100_000 })
        }
        #expect(try await log.append([1], to: self.lanes[0]) == 31)
        #expect(try await log.read(self.lanes[0], after: 30, recordsMax: 9, bytesMax: .max).map(\.bytes) == [[1]])
        await log.close()
        #expect(try await self.open().everything(in: self.lanes[0]).count == 31)
    }

    /// Each takes 64 bytes more than it has: sixteen fill what is kept, and one byte more in each leaves one out.
    @Test(arguments: [(recordBytes: 65_472, kept: 16), (65_473, 15)])
    func `as many of the newest records stay as fit`(recordBytes: Int, kept: Int) async throws {
        let log = try self.open()
        for number in 0..<20 {
            _ = try await log.append([UInt8](repeating: 1, count: recordBytes), to: self.lanes[number % 2])
        }
        await log.releaseCaches()
        // The file is closed: what is still read comes from memory.
        await log.close()
        // The newest record is the second lane's.
        for (lane, count) in zip(self.lanes, [kept / 2, kept - kept / 2]) {
            let oldest = UInt64(10 - count)
            #expect(try await log.read(lane, after: oldest, recordsMax: 20, bytesMax: .max).count == count)
            await #expect(throws: EventLogError.closed) {
                _ = try await log.read(lane, after: oldest - 1, recordsMax: 20, bytesMax: .max)
            }
        }
    }

    @Test func `nothing is lost while the log gives back its caches again and again`() async throws {
        let log = try self.open()
        let lane = self.lanes[0]
        async let written: Void = {
            for number in 0..<300 {
                _ = try await log.append([UInt8](repeating: UInt8(number % 251), count: 20_000), to: lane)
            }
        }()
        async let read: [UInt8] = {
            var found: [LoggedRecord] = []
            while found.count < 300 {
                found += try await log.read(lane, after: found.last?.offset ?? 0, recordsMax: 5, bytesMax: .max)
            }
            return found.map(\.bytes[0])
        }()
        for _ in 0..<50 { await log.releaseCaches() }
        try await written
        #expect(try await read == (0..<300).map { UInt8($0 % 251) })
        await log.close()
    }

    @Test func `the ledger gives back its pages, and counts as before`() async throws {
        let ledger = try SQLiteLedger(in: StoreDirectory(path: self.directory.path))
        try await ledger.record([try Books.summary()], through: 1)
        try await ledger.post(
            (1...3_000).map { Books.delivery($0) },
            try (1...3_000).map { try Books.outcome($0, UInt32($0 % 3)) }
        )
        let before = (bytes: await ledger.cacheBytes(), books: try await ledger.everything())
        #expect(before.bytes > self.pagesLeftBytes)
        await ledger.releaseCaches()
        #expect(await ledger.cacheBytes() <= self.pagesLeftBytes)
        #expect(try await ledger.everything() == before.books)
        // A repeat, and a contradiction of what is in the file only.
        try await ledger.post([], [try Books.outcome(1, 1), try Books.outcome(2, 2, .ignored)])
        #expect(try await ledger.everything() != before.books)
        #expect(try await ledger.audit() == [])
        await ledger.close()
    }

    @Test func `stores that are closed hold nothing, and have nothing to give back`() async throws {
        let directory = try StoreDirectory(path: self.directory.path)
        let ledger = try SQLiteLedger(in: directory)
        let audit = try SQLiteAudit(in: directory)
        await ledger.close()
        await audit.close()
        await ledger.releaseCaches()
        await audit.releaseCaches()
        #expect(await ledger.cacheBytes() == 0)
        #expect(await audit.cacheBytes() == 0)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

@testable import SQLiteStore

/// A log in memory with an identity that a test gives it.
private final class IdentifiedLog: EventLog {
    let identity: LogIdentity
    private let base = InMemoryEventLog()

    init(_ identity: LogIdentity) { self.identity = identity }

    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) { self.base.append(record, id: id, to: lane, done: done) }

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

/// The data directory of a gateway whose log several gateways share.
@Suite(.suiteLimit)
struct SharedLogStoresTests {
    private let folder = TemporaryPlace()
    private let now = Timestamp(microseconds: 1_800_000_000_000_000)

    /// Keeps the folder for as long as the test runs.
    private final class TemporaryPlace: Sendable {
        let directory: TemporaryDirectory?
        let path: String

        init() {
            self.directory = try? TemporaryDirectory()
            self.path = (self.directory?.path ?? "/nowhere") + "/data"
        }
    }

    private func hold() throws -> StoreDirectory { try StoreDirectory(path: self.folder.path) }

    private func reason(of body: () async throws -> Void) async -> String {
        do {
            try await body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `a mark comes back, and nothing else is one`() throws {
        let mark = SharedLogMark(logID: .random(), prefix: "a-B_9")
        #expect(SharedLogMark(text: mark.text) == mark)
        for place in mark.text.indices {
            var other = mark.text
            other.replaceSubrange(place...place, with: "~")
            let read = SharedLogMark(text: other)
            #expect(read == nil || read?.text == other && read != mark)
        }
        for text in ["", "\n\n\n", mark.text + "\n", String(mark.text.dropLast())] {
            #expect(SharedLogMark(text: text) == nil)
        }
    }

    @Test func `a directory belongs to one log`() async throws {
        let mark = SharedLogMark(logID: .random(), prefix: "cuecast")
        do {
            let directory = try self.hold()
            try SharedLogMark.refuse(in: directory.path)
            #expect(try mark.take(directory))
            #expect(try !mark.take(directory))
            let other = SharedLogMark(logID: .random(), prefix: "other")
            #expect(
                await self.reason { _ = try other.take(directory) }.contains("its ledger counts the log \(mark.logID)")
            )
            #expect(await self.reason { try SharedLogMark.refuse(in: directory.path) }.contains("jetstream.servers"))
            // No store opens or makes a log there.
            for refusal in [
                await self.reason { _ = try Stores.open(in: directory) },
                await self.reason { _ = try await KeptStores.open(in: directory, now: self.now) },
                await self.reason { try await Stores.lend(of: directory) { _ in } },
                await self.reason {
                    _ = try await LedgerVerification.run(in: directory.path, ledgerOnly: false) { _ in }
                },
            ] {
                #expect(refusal.contains("several gateways share"), "\(refusal)")
            }
            #expect(!FileManager.default.fileExists(atPath: directory.path + "/events.sqlite"))
        }
        // Cut off by a disk that fails.
        try Data("cuecast shared log 1\nlog ".utf8)
            .write(to: URL(fileURLWithPath: self.folder.path + "/" + SharedLogMark.fileName))
        #expect(
            await self.reason { try SharedLogMark.refuse(in: self.folder.path) }.contains("not what a gateway wrote")
        )
    }

    @Test func `a directory with a log of its own is refused`() async throws {
        let directory = try self.hold()
        await (try Stores.open(in: directory)).close()
        let mark = SharedLogMark(logID: .random(), prefix: "cuecast")
        #expect(await self.reason { _ = try mark.take(directory) }.contains("leave jetstream.servers out"))
        #expect(await self.reason { try SharedLogMark.refuseOwnLog(in: directory) }.contains("another data directory"))
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/" + SharedLogMark.fileName))
    }

    private func portion(
        _ offset: UInt64,
        _ parts: [String: [UInt8]],
        removed: [String] = [],
        isFirst: Bool = true,
        isLast: Bool = true
    ) -> SnapshotPortion {
        var portion = SnapshotPortion.single(offset, parts, removed: removed)
        (portion.isFirst, portion.isLast) = (isFirst, isLast)
        return portion
    }

    private func everything(in cache: BoardCache) async throws -> [String: [UInt8]] {
        try await cache.wholeSnapshot(of: .breaks)
    }

    @Test func `a snapshot has an effect with its last portion, and is there after closing and opening`() async throws {
        let log = InMemoryEventLog()
        for number in 1...5 as ClosedRange<UInt8> { _ = try await log.append([number], to: .breaks) }
        let directory = try self.hold()
        var cache = try await BoardCache.open(in: directory, of: log)
        #expect(try await cache.snapshotOffset(of: .breaks) == nil)
        try await cache.save(self.portion(2, ["a": [1], "b": [2], "": [0]]), of: .breaks)
        #expect(try await cache.snapshotOffset(of: .breaks) == 2)
        try await cache.save(self.portion(4, ["b": [3]], isLast: false), of: .breaks)
        #expect(try await self.everything(in: cache) == ["a": [1], "b": [2], "": [0]])
        // One that follows none, and one ahead of the log.
        for wrong in [self.portion(5, [:], isFirst: false), self.portion(6, [:])] {
            await #expect(throws: EventLogError.self) { try await cache.save(wrong, of: .breaks) }
        }
        try await cache.save(self.portion(4, ["b": [3]], isLast: false), of: .breaks)
        try await cache.save(self.portion(4, ["c": []], removed: ["a"], isFirst: false), of: .breaks)
        let expected: [String: [UInt8]] = ["": [0], "b": [3], "c": []]
        #expect(try await self.everything(in: cache) == expected)
        // An earlier one has no effect.
        try await cache.save(self.portion(3, ["z": [1]]), of: .breaks)
        #expect(try await self.everything(in: cache) == expected)
        await cache.close()
        cache = try await BoardCache.open(in: directory, of: log)
        #expect(try await cache.snapshotOffset(of: .breaks) == 4)
        #expect(try await self.everything(in: cache) == expected)
        await cache.close()
        await #expect(throws: EventLogError.closed) { try await cache.snapshotOffset(of: .breaks) }
        await log.close()
    }

    @Test func `a log that lacks the record of the snapshot, or has another one there, went back`() async throws {
        let identity = LogIdentity()
        let log = IdentifiedLog(identity)
        for number in 1...3 as ClosedRange<UInt8> { _ = try await log.append([number], to: .breaks) }
        let directory = try self.hold()
        let cache = try await BoardCache.open(in: directory, of: log)
        try await cache.save(self.portion(3, ["a": [1]]), of: .breaks)
        await cache.close()
        for records in [[1, 2], [1, 2, 4]] as [[UInt8]] {
            let other = IdentifiedLog(identity)
            for number in records { _ = try await other.append([number], to: .breaks) }
            let reason = await self.reason { _ = try await BoardCache.open(in: directory, of: other) }
            #expect(reason.contains("the shared log went back"), "\(reason)")
            await other.close()
        }
        // It was not touched by that.
        let again = try await BoardCache.open(in: directory, of: log)
        #expect(try await again.snapshotOffset(of: .breaks) == 3)
        await again.close()
        await log.close()
    }

    @Test func `a cache that is damaged is begun anew`() async throws {
        let log = InMemoryEventLog()
        _ = try await log.append([1], to: .breaks)
        let directory = try self.hold()
        let cache = try await BoardCache.open(in: directory, of: log)
        try await cache.save(self.portion(1, ["a": [1]]), of: .breaks)
        await cache.close()
        try? FileManager.default.removeItem(atPath: directory.path + "/" + BoardCache.fileName + "-wal")
        try Data(repeating: 7, count: 8_192).write(to: URL(fileURLWithPath: directory.path + "/" + BoardCache.fileName))
        let again = try await BoardCache.open(in: directory, of: log)
        #expect(try await again.snapshotOffset(of: .breaks) == nil)
        await again.close()
        await log.close()
    }

    @Test func `a ledger refuses a log that lacks what it has counted, or another log`() async throws {
        let identity = LogIdentity()
        let lane = Lane.acknowledgements(0)
        let log = IdentifiedLog(identity)
        let directory = try self.hold()
        func open(_ log: any EventLog, isFirst: Bool = false) async throws -> KeptLedger {
            try await KeptLedger.open(countingShared: log, in: directory, isFirst: isFirst, now: self.now)
        }
        var ledger = try await open(log, isFirst: true)
        #expect(ledger.recoveryAtStart == nil)
        for number in 1...3 as ClosedRange<UInt8> { _ = try await log.append([number], to: lane) }
        let records = try await log.read(lane, after: 0, recordsMax: 9, bytesMax: .max)
        var postings = records.map { LedgerPosting(offset: $0.offset, deliveries: [], outcomes: []) }
        postings[2].digest = records[2].digest
        try await ledger.apply(postings, of: lane)
        await ledger.close()
        ledger = try await open(log)
        #expect(try await ledger.appliedOffset(of: lane) == 3)
        await ledger.close()
        for (bytes, identity) in [([1, 2], identity), ([1, 2, 4], identity), ([1, 2, 3], LogIdentity())]
            as [([UInt8], LogIdentity)]
        {
            let other = IdentifiedLog(identity)
            for number in bytes { _ = try await other.append([number], to: lane) }
            let reason = await self.reason { await (try await open(other)).close() }
            #expect(reason.contains("went back") || reason.contains("the servers have the log"), "\(reason)")
            await other.close()
        }
        await log.close()
    }
}

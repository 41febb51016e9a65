// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore
import SQLiteStore
import Synchronization
import Testing

/// Copies of a store that are made while it is written to.
@Suite(.suiteLimit)
struct StoreCopyTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let ledger: SQLiteLedger

    init() throws {
        self.directory = try TemporaryDirectory()
        self.path = self.directory.fresh()
        self.ledger = try SQLiteLedger(in: StoreDirectory(path: self.path))
    }

    /// Posts groups of ten outcomes each.
    private func post(groups: Range<Int>) async throws {
        for group in groups {
            let sessions = (group * 10)..<(group * 10 + 10)
            try await self.ledger.post(
                sessions.map { Books.delivery($0) },
                try sessions.flatMap { session in try (0..<3).map { try Books.outcome(session, UInt32($0)) } }
            )
        }
    }

    /// Opens a copy as the ledger of another folder.
    private func open(_ copy: StoreCopy) throws -> SQLiteLedger {
        let folder = self.directory.fresh()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: copy.path, toPath: folder + "/ledger.sqlite")
        return try SQLiteLedger(in: StoreDirectory(path: folder))
    }

    @Test func `a copy holds what the ledger holds`() async throws {
        try await self.ledger.record([try Books.summary()], through: 1)
        try await self.post(groups: 0..<20)
        let copy = try await self.ledger.copy(to: self.directory.fresh("copy.sqlite"))
        let other = try self.open(copy)
        #expect(try await other.everything() == self.ledger.everything())
        #expect(try await other.audit() == [])
        #expect(copy.bytes == (try fileBytes(copy.path)))
        let files = try FileManager.default.contentsOfDirectory(atPath: self.directory.path)
        #expect(files.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
        await other.close()
        await self.ledger.close()
    }

    @Test func `writes go between the steps, are in the copy, and do not make it begin again`() async throws {
        try await self.ledger.record([try Books.summary()], through: 1)
        try await self.post(groups: 0..<50)
        let steps = Mutex((done: [Int](), total: 0))
        let written = Mutex(50)
        let copying = Task { [ledger, directory] in
            try await ledger.copy(to: directory.fresh("copy.sqlite"), pagesPerStep: 1) { progress in
                steps.withLock {
                    $0.done.append(progress.pagesDone)
                    $0.total = progress.pagesTotal
                }
            }
        }
        // Every write touches pages that the copy has already and adds others.
        while steps.withLock({ $0.done.count }) < 3 { await Task.yield() }
        let seen = steps.withLock { $0.done.count }
        for group in 50..<60 {
            try await self.post(groups: group..<(group + 1))
            written.withLock { $0 = group + 1 }
        }
        let copy = try await copying.value
        let done = steps.withLock(\.done)
        #expect(done.count > seen)
        #expect(done == done.sorted(), "it began again")
        #expect(done.last == steps.withLock(\.total))
        let other = try self.open(copy)
        let applied = try await other.appliedOffset(of: Books.lane)
        #expect(applied >= 50)
        #expect(try await other.audit() == [])
        await other.close()
        await self.ledger.close()
    }

    @Test func `between the steps nothing keeps the write-ahead log from being emptied`() async throws {
        let folder = self.directory.fresh()
        var limits = SQLiteEventLog.Limits()
        limits.checkpointBytes = 65_536
        let log = try SQLiteEventLog(in: StoreDirectory(path: folder), limits: limits)
        let record = [UInt8](repeating: 7, count: 20_000)
        for _ in 0..<100 { _ = try await log.append(record, to: Books.lane) }
        let (steps, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let copying = Task { [directory] in
            try await log.copy(to: directory.fresh("log.sqlite"), pagesPerStep: 1) { _ in sink.yield() }
        }
        for await _ in steps { break }
        for _ in 0..<100 { _ = try await log.append(record, to: Books.lane) }
        // A reader of the moment at which the copy began would have kept all of it: two megabytes and more.
        #expect(try fileBytes(folder + "/events.sqlite-wal") < 1_000_000)
        _ = try await copying.value
        await log.close()
        await self.ledger.close()
    }

    @Test func `a copy that another process makes begin again is given up after so many times`() async throws {
        try await self.post(groups: 0..<50)
        let path = self.directory.fresh("copy.sqlite")
        let other = try DatabaseQueue(path: self.path + "/ledger.sqlite")
        try await other.write { try $0.execute(sql: "CREATE TABLE elsewhere (number INTEGER)") }
        let steps = Mutex(0)
        let limit = StoreCopyLimits.restartsMax
        let copying = Task { [ledger] in
            try await ledger.copy(to: path, pagesPerStep: 1) { _ in
                steps.withLock { $0 += 1 }
                // SQLite notices it at the next step, and begins again.
                try? other.write { try $0.execute(sql: "INSERT INTO elsewhere VALUES (1)") }
            }
        }
        await #expect(throws: StoreCopyError.neverDone(path: path + ".partial", restarts: limit + 1)) {
            _ = try await copying.value
        }
        #expect(steps.withLock(\.self) > limit)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
        // Left alone it is made.
        _ = try await self.ledger.copy(to: path, pagesPerStep: 1)
        try other.close()
        await self.ledger.close()
    }

    @Test func `a copy leaves room on its disk, to the byte`() {
        let kept = StoreCopyLimits.bytesKeptFree
        #expect(StoreCopyLimits.refusal(of: "c", bytes: 1_000, free: 1_000 + kept) == nil)
        #expect(
            StoreCopyLimits.refusal(of: "c", bytes: 1_000, free: 999 + kept)
                == .noSpace(path: "c", bytesNeeded: 1_000 + kept, bytesFree: 999 + kept)
        )
        #expect(StoreCopyLimits.refusal(of: "c", bytes: 1_000, free: nil) == nil, "it is not known")
    }

    @Test func `a copy that is cancelled leaves nothing, and the ledger goes on`() async throws {
        try await self.post(groups: 0..<50)
        let path = self.directory.fresh("copy.sqlite")
        let (began, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let copying = Task { [ledger] in
            try await ledger.copy(to: path, pagesPerStep: 1) { _ in sink.yield() }
        }
        for await _ in began { break }
        copying.cancel()
        await #expect(throws: StoreCopyError.cancelled) { _ = try await copying.value }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
        try await self.post(groups: 50..<51)
        await self.ledger.close()
    }

    @Test func `a ledger closes under a copy, which says so and leaves nothing`() async throws {
        try await self.post(groups: 0..<50)
        let path = self.directory.fresh("copy.sqlite")
        let (began, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let copying = Task { [ledger] in
            try await ledger.copy(to: path, pagesPerStep: 1) { _ in sink.yield() }
        }
        for await _ in began { break }
        await self.ledger.close()
        await #expect(throws: StoreCopyError.closed) { _ = try await copying.value }
        #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
        // The file was closed properly: everything is in it.
        let files = try FileManager.default.contentsOfDirectory(atPath: self.path)
        for name in files where name.hasSuffix("-wal") { #expect(try fileBytes(self.path + "/" + name) == 0) }
    }

    @Test func `a copy of a damaged file is refused`() async throws {
        try await self.ledger.record([try Books.summary()], through: 1)
        try await self.post(groups: 0..<200)
        await self.ledger.close()
        let file = self.path + "/ledger.sqlite"
        // Whole pages in the middle become another page's bytes.
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
        let pages = try fileBytes(file) / 4_096
        for page in (pages / 2)..<(pages / 2 + 8) {
            try handle.seek(toOffset: UInt64(page * 4_096))
            try handle.write(contentsOf: Data(repeating: 0x5A, count: 4_096))
        }
        try handle.close()
        let damaged = try SQLiteLedger(in: StoreDirectory(path: self.path))
        let path = self.directory.fresh("copy.sqlite")
        let error = await #expect(throws: StoreCopyError.self) { _ = try await damaged.copy(to: path) }
        guard case .damaged(_, let problems) = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(!problems.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path))
        await damaged.close()
    }

    @Test func `a copy replaces the file of its name only when it is right`() async throws {
        try await self.post(groups: 0..<5)
        let path = self.directory.fresh("copy.sqlite")
        let first = try await self.ledger.copy(to: path)
        try await self.post(groups: 5..<6)
        let second = try await self.ledger.copy(to: path)
        #expect(first.digest != second.digest)
        await self.ledger.close()
        await #expect(throws: StoreCopyError.closed) { _ = try await ledger.copy(to: path) }
        #expect(try fileBytes(path) == second.bytes)
    }
}

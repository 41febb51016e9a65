// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cuecast

/// A journal that is open, and all that it says.
private final class OpenJournal: Sendable {
    let journal: ListenerJournal
    private let said = Mutex<[ListenerJournal.Report]>([])

    init(_ path: String, _ files: any JournalFileSystem = DiskFileSystem()) {
        self.journal = ListenerJournal(.file(path: path), files: files)
    }

    func open() async -> ListenerJournal.Opened {
        await withCheckedContinuation { continuation in
            self.journal.open { [weak self] report in
                self?.said.withLock { $0.append(report) }
            } opened: {
                continuation.resume(returning: $0)
            }
        }
    }

    func close() async {
        await withCheckedContinuation { continuation in self.journal.close { continuation.resume() } }
    }

    var reports: [ListenerJournal.Report] { self.said.withLock { $0 } }

    /// Returns when so many entries are on the disk.
    func committed(_ count: UInt64) async throws {
        try await until { self.reports.last == .committed(count) }
    }
}

@Suite(.suiteLimit)
struct ListenerJournalTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.path("session")
    }

    private func outcome(_ number: UInt64, ticket: [UInt8] = []) -> JournalEntry.Kind {
        let outcome = Outcome(advertisementID: adID("a\(number)"), kind: .played, occurred: gateway(1))
        let key = BreakKey(stream: stream(), id: breakID("b1"))
        let record = OutboxRecord(
            number: number,
            session: SessionID(high: 1, low: 1),
            ticket: ticket,
            key: key,
            delivery: [],
            outcome: outcome
        )
        return .outcome(record.request)
    }

    private func opened(_ files: any JournalFileSystem = DiskFileSystem()) async -> OpenJournal {
        let journal = OpenJournal(self.path, files)
        #expect(await journal.open() == .file(problems: []))
        return journal
    }

    private var size: Int {
        (try? FileManager.default.attributesOfItem(atPath: self.path)[.size] as? Int) ?? 0
    }

    /// The entries as another process would find them now: in the bytes on disk, not in an object here.
    private var entries: [JournalEntry] {
        get throws {
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: self.path)))
            return try #require(JournalRecords.read(bytes)).entries
        }
    }

    // MARK: Commits

    @Test func `committed entries are there for the next run, even without a close`() async throws {
        let journal = await self.opened()
        journal.journal.append([.session(.init(id: SessionID(high: 1, low: 1), stream: stream())), self.outcome(1)])
        try await journal.committed(2)
        #expect(try self.entries.count == 2)
        await journal.close()
        let next = await self.opened()
        #expect(next.journal.contents.outbox.keys.sorted() == [1])
        #expect(next.journal.contents.sessions.count == 1)
        await next.close()
    }

    @Test func `a caller never waits for the disk, and sees its own entries at once`() async throws {
        let files = TroubledFileSystem()
        let journal = await self.opened(files)
        files.hold(.append, .synchronize)
        journal.journal.append([self.outcome(1)])
        try await until { files.isHolding }
        // The disk is in the middle of the first entry's write.
        journal.journal.append([self.outcome(2)])
        journal.journal.append([self.outcome(3)])
        #expect(journal.journal.contents.outbox.keys.sorted() == [1, 2, 3])
        #expect(journal.reports == [])
        #expect(try self.entries.isEmpty)
        files.letGo()
        try await journal.committed(3)
        #expect(try self.entries.count == 3)
        await journal.close()
    }

    @Test func `all that wait are one write and one sync, and nothing is said to be safe before`() async throws {
        let files = TroubledFileSystem()
        let journal = await self.opened(files)
        let (writes, syncs) = (files.count(.append), files.count(.synchronize))
        files.hold(.synchronize)
        journal.journal.append([self.outcome(1)])
        try await until { files.isHolding && files.count(.append) == writes + 1 }
        for number in 2...500 { journal.journal.append([self.outcome(UInt64(number))]) }
        #expect(journal.reports == [])
        files.letGo()
        try await journal.committed(500)
        #expect(journal.reports == [.committed(1), .committed(500)])
        #expect(files.count(.append) == writes + 2 && files.count(.synchronize) == syncs + 2)
        await journal.close()
    }

    @Test func `closing brings to the disk what waits, and lets go of the file then`() async throws {
        let files = TroubledFileSystem()
        let journal = await self.opened(files)
        files.hold(.synchronize)
        for number in 1...20 { journal.journal.append([self.outcome(UInt64(number))]) }
        let isClosed = Mutex(false)
        journal.journal.close { isClosed.withLock { $0 = true } }
        try await until { files.isHolding }
        #expect(!isClosed.withLock { $0 })
        files.letGo()
        try await until { isClosed.withLock { $0 } }
        #expect(try self.entries.count == 20)
    }

    @Test func `a file that is written anew is on the disk before it takes the other's place`() async throws {
        let files = TroubledFileSystem()
        let journal = await self.opened(files)
        #expect(
            files.log == [
                "folder", "lock", "open session", "open session.new", "append session.new", "synchronize session.new",
                "rename session.new",
            ]
        )
        await journal.close()
    }

    @Test func `the file stays small however much happens`() async throws {
        let journal = await self.opened()
        for number in 1...20_000 {
            journal.journal.append([self.outcome(UInt64(number)), .settled([UInt64(number)], givenUp: nil)])
        }
        try await journal.committed(40_000)
        #expect(self.size <= 2 * ListenerJournal.compactAboveBytes)
        #expect(journal.journal.contents.settled.count == JournalState.settledMax)
        await journal.close()
    }

    @Test func `waiting entries are bounded: one past the limit the file is written anew`() async throws {
        let files = TroubledFileSystem()
        let journal = await self.opened(files)
        files.hold(.append)
        journal.journal.append([.alive])
        try await until { files.isHolding }
        let most = ListenerJournal.waitingBytesMax
        var appended: UInt64 = 1
        while journal.journal.waitingBytes < most {
            let room = min(most - journal.journal.waitingBytes, 16_384)
            journal.journal.append([.tracking(Array(repeating: 0, count: room - 128))])
            appended += 1
        }
        #expect(journal.journal.waitingBytes == most)
        journal.journal.append([self.outcome(1)])
        #expect(journal.journal.waitingBytes == 0)
        journal.journal.append([self.outcome(2)])
        #expect(journal.journal.waitingBytes == 0)
        files.letGo()
        try await journal.committed(appended + 2)
        // From the memory: what is of use, and not all that waited.
        #expect(try self.entries.count == 2)
        await journal.close()
    }

    // MARK: One client at a time

    @Test func `a second client on the same file is refused, and taken when the first is done`() async throws {
        let first = await self.opened()
        let second = OpenJournal(self.path)
        #expect(await second.open() == .inUse)
        // Not awaited: the next opening in this process comes after it.
        first.journal.close()
        #expect(await second.open() == .file(problems: []))
        await second.close()
    }

    @Test func `a second process on the same file is refused`() async throws {
        let lock = self.path + ".lock"
        // `cat` holds the lock until its input ends.
        let command = ["flock", "--exclusive", lock, "sh", "-c", "echo held; cat"]
        let other = try ChildProcess(command, input: .pipe, output: .pipe)
        #expect(other.said(5) == "held\n")
        let journal = OpenJournal(self.path)
        #expect(await journal.open() == .inUse)
        other.closeInput()
        #expect(other.wait() == 0)
        #expect(await journal.open() == .file(problems: []))
        await journal.close()
    }

    // MARK: Files that cannot be used

    @Test(arguments: [("my holiday pictures", "not-a-journal"), ("cuecast journal 2\nmore", "later-version")])
    func `a file that cannot be read is kept aside under a name that says why`(content: String, name: String)
        async throws
    {
        try Data(content.utf8).write(to: URL(fileURLWithPath: self.path))
        let journal = OpenJournal(self.path)
        guard case .file(let problems) = await journal.open() else { return #expect(Bool(false)) }
        let aside = self.path + "." + name + "-1"
        #expect(problems.count == 1 && problems.first?.contains(aside) == true)
        #expect(try String(contentsOfFile: aside, encoding: .utf8) == content)
        journal.journal.append([self.outcome(1)])
        try await journal.committed(1)
        #expect(try self.entries.count == 1)
        await journal.close()
    }

    @Test func `of files that are kept aside the oldest makes room`() async throws {
        for number in 1...ListenerJournal.filesAsideMax + 1 {
            try Data("not ours \(number)".utf8).write(to: URL(fileURLWithPath: self.path))
            let journal = OpenJournal(self.path)
            _ = await journal.open()
            await journal.close()
        }
        let aside = self.folder.names.filter { $0.contains("not-a-journal") }
        #expect(aside == (1...ListenerJournal.filesAsideMax).map { "session.not-a-journal-\($0)" })
        let contents = try aside.map { try String(contentsOfFile: self.folder.path($0), encoding: .utf8) }
        #expect(contents == ["not ours 4", "not ours 3", "not ours 2"])
    }

    @Test func `a folder that is missing is made, with those above it`() async throws {
        let path = self.folder.path("one/two/session")
        let journal = OpenJournal(path)
        #expect(await journal.open() == .file(problems: []))
        #expect(FileManager.default.fileExists(atPath: path))
        await journal.close()
    }

    @Test func `where no folder can be made, entries are kept in memory`() async throws {
        try Data("a file".utf8).write(to: URL(fileURLWithPath: self.path))
        let journal = OpenJournal(self.path + "/session")
        #expect(await journal.open() == .unusable("open: Not a directory"))
        journal.journal.append([self.outcome(1)])
        #expect(journal.journal.contents.outbox.count == 1)
        await journal.close()
    }

    @Test(arguments: [TroubledFileSystem.Operation.lock, .open])
    func `a file that cannot be opened is left alone, and entries are kept in memory`(
        operation: TroubledFileSystem.Operation
    ) async throws {
        let first = await self.opened()
        first.journal.append([self.outcome(1)])
        await first.close()
        let before = try self.entries
        let files = TroubledFileSystem()
        files.fail(operation, EIO)
        let journal = OpenJournal(self.path, files)
        #expect(await journal.open() == .unusable("\(operation): Input/output error"))
        journal.journal.append([self.outcome(2)])
        #expect(journal.journal.contents.outbox.count == 1 && journal.reports.isEmpty)
        await journal.close()
        #expect(try self.entries == before)
    }

    @Test func `a damaged file is opened, what can be read is there, and the next file is whole`() async throws {
        let journal = await self.opened()
        for number in 1...4 { journal.journal.append([self.outcome(UInt64(number))]) }
        await journal.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: self.path))
        // In the middle of the second of four records, and a torn one at the end.
        bytes[JournalRecords.header.count + (bytes.count - JournalRecords.header.count) * 3 / 8] ^= 0xFF
        bytes.removeLast(5)
        try bytes.write(to: URL(fileURLWithPath: self.path))
        let damaged = OpenJournal(self.path)
        #expect(await damaged.open() == .file(problems: ["2 places of the file could not be read"]))
        #expect(damaged.journal.contents.outbox.keys.sorted() == [1, 3])
        await damaged.close()
        #expect(await self.opened().journal.contents.outbox.keys.sorted() == [1, 3])
    }

    // MARK: Disks that fail

    @Test(arguments: [TroubledFileSystem.Operation.append, .synchronize])
    func `a disk that is full is told once, and what it missed is written when it takes again`(
        operation: TroubledFileSystem.Operation
    ) async throws {
        let files = TroubledFileSystem()
        let journal = await self.opened(files)
        journal.journal.append([self.outcome(1)])
        try await journal.committed(1)
        files.fail(operation, ENOSPC)
        journal.journal.append([self.outcome(2)])
        try await until { journal.reports.count == 2 }
        #expect(journal.reports.last == .failed("\(operation): No space left on device"))
        journal.journal.append([self.outcome(3)])
        #expect(journal.journal.contents.outbox.count == 3, "it is still known")
        files.fail(operation, nil)
        // Retried by itself once the interval is over: the wait here is the feature's own.
        var appended: UInt64 = 3
        while journal.reports.count == 2 {
            try await Task.sleep(for: .milliseconds(200))
            journal.journal.append([.alive])
            appended += 1
        }
        #expect(journal.reports.last != .failed("\(operation): No space left on device"), "once")
        #expect(try self.entries.count { if case .outcome = $0.kind { true } else { false } } == 3)
        await journal.close()
    }

    @Test func `a disk that fails from the first write on is said to, and what is known is known`() async throws {
        let first = await self.opened()
        first.journal.append([self.outcome(1)])
        await first.close()
        let files = TroubledFileSystem()
        files.fail(.append, ENOSPC)
        let journal = OpenJournal(self.path, files)
        #expect(await journal.open() == .failing(problems: ["append: No space left on device"]))
        journal.journal.append([self.outcome(2)])
        #expect(journal.journal.contents.outbox.keys.sorted() == [1, 2])
        files.fail(.append, nil)
        // Closing tries once more, however short the time.
        await journal.close()
        #expect(try self.entries.count { if case .outcome = $0.kind { true } else { false } } == 2)
    }

    @Test func `entries that the disk refused are known in the next session of the same client`() async throws {
        let files = TroubledFileSystem()
        let journal = await self.opened(files)
        files.fail(.append, ENOSPC)
        journal.journal.append([self.outcome(1)])
        await journal.close()
        files.fail(.append, nil)
        #expect(await journal.open() == .file(problems: []))
        #expect(journal.journal.contents.outbox.keys.sorted() == [1])
        await journal.close()
        #expect(try self.entries.contains { if case .outcome = $0.kind { true } else { false } })
    }

    @Test func `in memory nothing is read or written, and nothing is reported`() async {
        let journal = ListenerJournal(.memory)
        let opened = await withCheckedContinuation { continuation in
            journal.open { _ in
                Issue.record("nothing to say")
            } opened: {
                continuation.resume(returning: $0)
            }
        }
        #expect(opened == .memory)
        journal.append([self.outcome(1)])
        #expect(journal.contents.outbox.count == 1)
        journal.close()
    }
}

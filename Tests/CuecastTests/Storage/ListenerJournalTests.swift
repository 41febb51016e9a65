// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Testing

@testable import Cuecast

/// A folder that is gone after the test.
final class TemporaryFolder {
    let url: URL

    init() throws {
        self.url = FileManager.default.temporaryDirectory.appending(path: "cuecast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: self.url) }

    func path(_ name: String) -> String { self.url.appending(path: name).path }
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

    private func opened() throws -> ListenerJournal {
        let journal = ListenerJournal(.file(path: self.path))
        #expect(try journal.open() == 0)
        return journal
    }

    private var size: Int {
        (try? FileManager.default.attributesOfItem(atPath: self.path)[.size] as? Int) ?? 0
    }

    @Test func `what was written is there for the next run, also where nothing was closed`() async throws {
        let journal = try self.opened()
        #expect(
            journal.write([.session(.init(id: SessionID(high: 1, low: 1), stream: stream())), self.outcome(1)]) == nil
        )
        // The file as another process would find it now: in the bytes on disk, not in this object.
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: self.path)))
        #expect(JournalRecords.read(bytes)?.entries.count == 2)
        journal.close()
        await journal.closed()
        let next = try self.opened()
        #expect(next.contents.outbox.keys.sorted() == [1])
        #expect(next.contents.sessions.count == 1)
        next.close()
    }

    @Test func `a second client on the same file is refused, and taken when the first is done`() async throws {
        let first = try self.opened()
        let second = ListenerJournal(.file(path: self.path))
        #expect(throws: CuecastError.storageInUse(path: self.path)) { try second.open() }
        first.close()
        #expect(try second.open() == 0)
        second.close()
    }

    @Test func `a second process on the same file is refused`() async throws {
        let lock = self.path + ".lock"
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // `cat` holds the lock until its input ends.
        other.arguments = ["flock", "--exclusive", lock, "sh", "-c", "echo held; cat"]
        let input = Pipe()
        let output = Pipe()
        other.standardInput = input
        other.standardOutput = output
        try other.run()
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "held\n")
        let journal = ListenerJournal(.file(path: self.path))
        #expect(throws: CuecastError.storageInUse(path: self.path)) { try journal.open() }
        try input.fileHandleForWriting.close()
        other.waitUntilExit()
        #expect(try journal.open() == 0)
        journal.close()
    }

    @Test func `a file that is none of ours is left as it is`() throws {
        try Data("my holiday pictures".utf8).write(to: URL(fileURLWithPath: self.path))
        let journal = ListenerJournal(.file(path: self.path))
        #expect {
            try journal.open()
        } throws: { error in
            guard case CuecastError.storageUnavailable(let path, let reason) = error else { return false }
            return path == self.path && reason.contains("left as it is")
        }
        #expect(try String(contentsOfFile: self.path, encoding: .utf8) == "my holiday pictures")
    }

    @Test func `a folder that is not there is said to be so`() throws {
        let journal = ListenerJournal(.file(path: self.folder.path("none/session")))
        #expect {
            try journal.open()
        } throws: { error in
            "\(error)".hasSuffix("cannot be used: open: No such file or directory.")
        }
    }

    @Test func `a damaged file is opened, what can be read is there, and the next file is whole`() async throws {
        let journal = try self.opened()
        for number in 1...4 { #expect(journal.write([self.outcome(UInt64(number))]) == nil) }
        journal.close()
        await journal.closed()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: self.path))
        // In the middle of the second of four records, and a torn one at the end.
        bytes[JournalRecords.header.count + (bytes.count - JournalRecords.header.count) * 3 / 8] ^= 0xFF
        bytes.removeLast(5)
        try bytes.write(to: URL(fileURLWithPath: self.path))
        let damaged = ListenerJournal(.file(path: self.path))
        #expect(try damaged.open() == 2)
        #expect(damaged.contents.outbox.keys.sorted() == [1, 3])
        damaged.close()
        await damaged.closed()
        #expect(try self.opened().contents.outbox.keys.sorted() == [1, 3])
    }

    @Test func `the file stays small however much happens`() async throws {
        let journal = try self.opened()
        for number in 1...20_000 {
            #expect(journal.write([self.outcome(UInt64(number)), .settled([UInt64(number)], givenUp: nil)]) == nil)
        }
        #expect(self.size <= 2 * ListenerJournal.compactAboveBytes)
        #expect(journal.contents.settled.count == JournalState.settledMax)
        journal.close()
        await journal.closed()
    }

    @Test func `a disk that refuses is told once, and what it missed is written when it takes again`() async throws {
        let journal = try self.opened()
        // A file's place taken by a folder: the next time that it is written anew fails.
        try FileManager.default.createDirectory(atPath: self.path + ".new", withIntermediateDirectories: true)
        var failure: String?
        var number: UInt64 = 0
        while failure == nil, number < 50_000 {
            number += 1
            failure = journal.write([self.outcome(number, ticket: Array(repeating: 1, count: 64))])
        }
        #expect(failure == "open: Is a directory")
        #expect(journal.write([self.outcome(number + 1)]) == nil, "once")
        #expect(journal.contents.outbox.count == Int(number) + 1, "it is still known")
        try FileManager.default.removeItem(atPath: self.path + ".new")
        // Retried by itself once the interval is over: the wait here is the feature's own.
        var written = 0
        while written < Int(number) + 1 {
            try await Task.sleep(for: .milliseconds(200))
            _ = journal.write([.alive])
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: self.path)))
            written =
                JournalRecords.read(bytes)?.entries.count { if case .outcome = $0.kind { true } else { false } } ?? 0
        }
        #expect(written == Int(number) + 1)
        journal.close()
        await journal.closed()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import SecretFiles
import TestSupport
import Testing

@testable import SQLiteStore

/// A session goes out of the books, and no number changes.
@Suite(.suiteLimit)
struct ForgettingTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Books with copies of the ledger; the second of the sessions did most.
    private func books(_ seed: String, in path: String? = nil) async throws -> KeptBooks {
        var random = RandomBooks(SeededGenerator(for: seed))
        let books = try await KeptBooks(path ?? self.directory.fresh())
        try await books.ledger.record(try random.summaries(at: 1), through: 0)
        for portion in 0..<3 {
            try await books.record(try random.postings(lane: 0, count: 12))
            if portion < 2 { _ = try await books.ledger.copy(at: Books.start + .seconds(Int64(portion))) }
        }
        return books
    }

    private func verify(_ path: String) async throws -> LedgerVerification {
        try await LedgerVerification.run(in: path, ledgerOnly: false) { _ in }
    }

    /// The sessions in the books.
    private func sessions(_ books: KeptBooks) async throws -> Set<SessionID> {
        var found: Set<SessionID> = []
        for record in try await books.log.everything(in: KeptBooks.lane) {
            let posting = try LedgerPosting(record)
            found.formUnion(posting.deliveries.map(\.session) + posting.outcomes.map(\.session))
        }
        return found
    }

    private let session = Books.session(4)

    @Test func `no file holds it any more, and everything is counted as before`() async throws {
        let books = try await self.books("forget")
        let before = try await books.totals()
        let others = try await self.sessions(books).subtracting([self.session])
        let found = try await books.ledger.traces(of: self.session)
        #expect(found.logRecords > 0 && found.ledgerBreaks > 1 && found.ledgerOutcomes > 0 && found.copies == 2)
        #expect(await !SessionTraces.files(with: self.session, in: books.path).isEmpty)

        #expect(try await books.ledger.forget(self.session) == found)
        #expect(await SessionTraces.files(with: self.session, in: books.path) == [])
        #expect(try await books.ledger.traces(of: self.session).isEmpty)
        #expect(try await books.totals() == before)
        #expect(try await books.ledger.audit() == [])
        let left = try await self.sessions(books)
        #expect(left.isSuperset(of: others) && !left.contains(self.session))
        // A name for each break.
        #expect(left.subtracting(others).count == found.ledgerBreaks)
        let running = try await self.verify(books.path)
        #expect(running.isRight && running.differences?.count == 0)

        // What is recorded afterwards goes on, and the copies are as good as before.
        try await books.record([
            LedgerPosting(offset: 37, deliveries: [Books.delivery(2, of: 1_024)], outcomes: [])
        ])
        #expect(try await books.ledger.check() == [])
        _ = try await books.ledger.copy(at: Books.start + .seconds(9))
        #expect(books.ledger.copies.count == 3)
        await books.close()
        let again = try await KeptBooks(books.path)
        #expect(again.ledger.recoveryAtStart == nil)
        #expect(await SessionTraces.files(with: self.session, in: books.path) == [])
        await again.close()
        #expect(try await self.verify(books.path).isRight)
    }

    @Test func `the log that is counted anew from a copy comes to the same`() async throws {
        let books = try await self.books("recount")
        _ = try await books.ledger.forget(self.session)
        let before = try await books.totals()
        try await books.log.prune(KeptBooks.lane, through: try #require(books.ledger.prunable[KeptBooks.lane]))
        let result = try await self.verify(books.path)
        #expect(result.isRight && result.base != nil && result.differences?.count == 0)
        await books.close()
        // The ledger is lost: a copy takes its place.
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: books.ledgerFile + suffix) }
        let again = try await KeptBooks(books.path)
        try await again.catchUp()
        #expect(again.ledger.recoveryAtStart?.copy != nil)
        #expect(try await again.totals() == before)
        #expect(await SessionTraces.files(with: self.session, in: books.path) == [])
        await again.close()
    }

    @Test func `a copy stays that was made at a fraction of a second, and is forgotten in too`() async throws {
        let books = try await self.books("fractions")
        let made = try await books.ledger.copy(at: Books.start + .seconds(70) + .microseconds(123_456))
        #expect(books.ledger.copies.first == made)
        #expect(LedgerCopies(dataDirectory: books.path).list().count == 3)
        // The first copies may be from before the session did anything: that is drawn at random.
        let found = try await books.ledger.traces(of: self.session)
        #expect(found.copies >= 1)
        #expect(try await books.ledger.forget(self.session) == found)
        let kept = LedgerCopies(dataDirectory: books.path).list()
        #expect(kept.count == 3 && books.ledger.copies.count == 3)
        for copy in kept { #expect(await copy.fault() == nil) }
        await books.close()
    }

    @Test func `an unknown session changes nothing, and none is forgotten twice`() async throws {
        let books = try await self.books("unknown")
        let before = try await self.sessions(books)
        #expect(try await books.ledger.forget(Books.session(1_001)).isEmpty)
        #expect(try await self.sessions(books) == before)
        _ = try await books.ledger.forget(self.session)
        #expect(try await books.ledger.forget(self.session).isEmpty)
        #expect(try await self.verify(books.path).isRight)
        await books.close()
    }

    @Test func `all of them can be forgotten, one after the other`() async throws {
        let books = try await self.books("all")
        let before = try await books.totals()
        let sessions = try await self.sessions(books)
        for session in sessions { _ = try await books.ledger.forget(session) }
        #expect(try await self.sessions(books).isDisjoint(with: sessions))
        #expect(try await books.totals() == before)
        let result = try await self.verify(books.path)
        #expect(result.isRight && result.differences?.count == 0)
        await books.close()
    }

    /// Wherever the disk fails, and the process ends there, the next start ends what was begun.
    @Test(arguments: [DiskFault.error, .full])
    func `the next start completes a change that was cut off at any step of the disk`(fault: DiskFault) async throws {
        var (cutOff, undecided) = (0, 0)
        var step = 0
        while true {
            // Each of the first ones, then fewer: a run takes as long as the books take to make.
            step += max(1, step / 3)
            let comment: Comment = "step \(step), \(fault)"
            let folder = try FaultyFolder()
            let books = try await self.books("cut off", in: folder.path)
            let totals = try await books.totals()
            folder.fail(at: step, fault, every: true)
            let isDone = (try? await books.ledger.forget(self.session)) != nil
            let isOver = folder.failed == .none
            folder.heal()
            let killed = self.directory.fresh()
            try books.killed(into: killed)
            for name in [ForgettingFiles.pendingName]
            where FileManager.default.fileExists(atPath: folder.path + "/" + name) {
                try FileManager.default.copyItem(atPath: folder.path + "/" + name, toPath: killed + "/" + name)
            }
            await books.close()
            if !isDone { cutOff += 1 }

            // Until then no check calls the books wrong.
            do {
                #expect(try await self.verify(killed).isRight, comment)
            } catch VerificationError.unavailable(let sentence) {
                #expect(sentence.hasPrefix("A session is being forgotten"), comment)
                undecided += 1
            }
            let after = try await KeptBooks(killed)
            try await after.catchUp()
            #expect(after.ledger.recoveryAtStart == nil, comment)
            #expect(try await after.totals() == totals, comment)
            // Where it said that it was done although a file could not be written anew, that is told of, and done again.
            if isDone, !isOver { _ = try await after.ledger.forget(self.session) }
            #expect(await SessionTraces.files(with: self.session, in: killed) == [], comment)
            #expect(!ForgettingFiles(directory: killed).isPending, comment)
            let result = try await self.verify(killed)
            #expect(result.isRight && result.differences?.count == 0, comment)
            await after.close()
            if isOver { break }
        }
        #expect(cutOff > 0 && undecided > 0)
    }

    @Test func `a ledger that is lost meanwhile is made from what was ended first`() async throws {
        let books = try await self.books("lost meanwhile")
        let totals = try await books.totals()
        try ForgettingFiles(directory: books.path).writePending(SessionPseudonyms(of: self.session))
        _ = try await books.ledger.recover(0, because: "is damaged", at: Books.start)
        try await books.catchUp()
        #expect(try await books.totals() == totals)
        #expect(!ForgettingFiles(directory: books.path).isPending)
        #expect(try await books.ledger.traces(of: self.session).isEmpty)
        // What was of no use is kept for people, and says so.
        let left = await SessionTraces.files(with: self.session, in: books.path)
        #expect(!left.isEmpty && left.allSatisfy { $0.hasPrefix("set-aside/") })
        let result = try await self.verify(books.path)
        #expect(result.isRight && result.differences?.count == 0)
        await books.close()
    }

    @Test func `the files that say who is forgotten are read back, and nothing else is believed`() throws {
        let path = self.directory.fresh()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let files = ForgettingFiles(directory: path)
        #expect(try files.read().isEmpty)
        var sessions = try files.read()
        try sessions.forget(self.session, at: Books.start)
        try files.write(sessions)
        #expect(try files.read() == sessions)
        #expect(try files.read().contains(self.session))
        // The session itself does not stand there.
        let text = try String(contentsOfFile: path + "/" + ForgettingFiles.refusedName, encoding: .utf8)
        #expect(!text.contains("\(self.session)"))
        let names = SessionPseudonyms(of: self.session)
        try files.writePending(names)
        #expect(try files.readPending() == names)
        try files.removePending()
        try files.removePending()
        #expect(try files.readPending() == nil)
        for (name, limit) in [
            (ForgettingFiles.refusedName, "forgottenSessionsFileBytesMax is 640064"),
            (ForgettingFiles.pendingName, "forgettingPendingFileBytesMax is 256"),
        ] {
            try Data(repeating: 0, count: ForgettingFiles.refusedBytesMax + 1)
                .write(to: URL(fileURLWithPath: path + "/" + name))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + "/" + name)
            let error = #expect(throws: SecretFile.Fault.self) {
                if name == ForgettingFiles.refusedName { _ = try files.read() } else { _ = try files.readPending() }
            }
            #expect(error?.reason == "it is too large; the limit \(limit)")
        }
        for name in [ForgettingFiles.refusedName, ForgettingFiles.pendingName] {
            try Data("something else\n".utf8).write(to: URL(fileURLWithPath: path + "/" + name))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + "/" + name)
        }
        #expect(throws: (any Error).self) { try files.read() }
        #expect(throws: (any Error).self) { try files.readPending() }
    }

    @Test func `bytes are found wherever they lie in a file`() throws {
        let path = self.directory.fresh()
        let needle = Books.session(7).bytes
        for before in [0, 1, 1_048_576 - 16, 1_048_576 - 15, 1_048_576 - 1, 1_048_576, 2_097_150] {
            let data = Data(repeating: 1, count: before) + Data(needle) + Data([1])
            try data.write(to: URL(fileURLWithPath: path))
            #expect(FileSearch.holds([needle], path), "\(before)")
            try data.dropLast(2).write(to: URL(fileURLWithPath: path))
            #expect(!FileSearch.holds([needle], path), "\(before)")
        }
        #expect(!FileSearch.holds([needle], path + ".missing"))
    }
}

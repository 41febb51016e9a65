// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import SQLiteStore
import TestSupport
import Testing

/// A recount finds every difference, and writes nothing.
@Suite(.suiteLimit)
struct VerificationTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func verify(_ path: String, ledgerOnly: Bool = false) async throws -> LedgerVerification {
        try await LedgerVerification.run(in: path, ledgerOnly: ledgerOnly) { _ in }
    }

    private func books(_ seed: String) async throws -> KeptBooks {
        var random = RandomBooks(SeededGenerator(for: seed))
        let books = try await KeptBooks(self.directory.fresh())
        try await books.ledger.record(try random.summaries(at: 1), through: 0)
        for portion in 0..<3 {
            let postings = try random.postings(lane: 0, count: 12)
            try await books.record(postings)
            if portion < 2 { _ = try await books.ledger.copy(at: Books.start + .seconds(Int64(portion))) }
        }
        return books
    }

    /// The names and bytes of everything in a folder but the lock and what belongs to processes.
    private func content(_ path: String) throws -> [String: Data] {
        var content: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where !name.hasSuffix("-shm") {
            content[name] = try? Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
        }
        return content
    }

    @Test func `right books are right, beside a running gateway, after it stopped and after it was killed`()
        async throws
    {
        let books = try await self.books("right")
        let running = try self.content(books.path)
        #expect(try await self.verify(books.path).isRight)
        #expect(try self.content(books.path) == running, "it has written")
        let killed = self.directory.fresh()
        try books.killed(into: killed)
        await books.close()
        for path in [books.path, killed] {
            let before = try self.content(path)
            let result = try await self.verify(path)
            #expect(result.isRight && result.base == nil && result.differences?.count == 0)
            #expect(result.offsets[KeptBooks.lane] == 36)
            #expect(try self.content(path) == before, "it has written")
        }
    }

    @Test func `where the log was pruned it counts from the oldest copy that the log goes on from`() async throws {
        let books = try await self.books("pruned")
        let oldest = books.ledger.copies[1]
        try await books.log.prune(KeptBooks.lane, through: try #require(books.ledger.prunable[KeptBooks.lane]))
        let result = try await self.verify(books.path)
        #expect(result.isRight && result.base == oldest.made)
        await books.close()
    }

    @Test(arguments: [
        "UPDATE totals SET repeats = repeats + 1 WHERE break_number = 1024",
        "UPDATE totals SET contradictions = contradictions + 1 WHERE break_number = 1024",
        "UPDATE totals SET played = played + 1, ignored = ignored - 1 WHERE break_number = 1024",
        "UPDATE reasons SET ignored = ignored + 1 WHERE break_number = 1024",
        "UPDATE outcomes SET received_us = received_us + 1 WHERE break_number = 1024",
        "UPDATE sessions SET at_us = at_us + 1 WHERE break_number = 1024 AND first < 6",
        "DELETE FROM outcomes WHERE break_number = 1024",
    ])
    func `a difference is named`(change: String) async throws {
        let books = try await self.books("changed")
        await books.close()
        try execute(change, in: books.ledgerFile)
        let result = try await self.verify(books.path)
        #expect(!result.isRight)
        let differences = try #require(result.differences)
        #expect(differences.count > 0)
        #expect(differences.sentences.allSatisfy { $0.contains("break 1024 (radio1/break-1024)") })
    }

    @Test func `so many differences are described, and all are counted`() async throws {
        let books = try await KeptBooks(self.directory.fresh())
        let count = LedgerDifferences.sentencesMax
        let outcomes = try (0...count).map { try Books.outcome($0, 0, of: 1_024) }
        try await books.record([LedgerPosting(offset: 1, deliveries: [], outcomes: outcomes)])
        await books.close()
        try execute("UPDATE outcomes SET received_us = received_us + 1", in: books.ledgerFile)
        let result = try await self.verify(books.path)
        #expect(result.differences?.count == count + 1)
        #expect(result.differences?.sentences.count == count)
    }

    @Test func `the ledger alone is compared with its own rows`() async throws {
        let books = try await self.books("alone")
        await books.close()
        #expect(try await self.verify(books.path, ledgerOnly: true).isRight)
        try execute("UPDATE totals SET played = played + 1 WHERE break_number = 1024", in: books.ledgerFile)
        let result = try await self.verify(books.path, ledgerOnly: true)
        #expect(!result.isRight && result.differences == nil && !result.audit.isEmpty)
    }

    @Test func `a directory with an unfinished restore is not healthy`() async throws {
        let books = try await self.books("half restored")
        await books.close()
        try Data("1 replaced\n".utf8).write(to: URL(fileURLWithPath: books.path + "/restore.unfinished"))
        let error = await #expect(throws: VerificationError.self) { _ = try await self.verify(books.path) }
        guard case .unavailable(let sentence) = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(sentence.contains("cuecast restore --replace"))
    }

    @Test func `a folder without books cannot be verified`() async throws {
        await #expect(throws: VerificationError.self) { _ = try await self.verify(self.directory.fresh()) }
    }

    @Test func `without the first record and without copies nothing can be counted anew`() async throws {
        let books = try await KeptBooks(self.directory.fresh())
        var random = RandomBooks(SeededGenerator(for: "nothing to begin with"))
        try await books.record(try random.postings(lane: 0, count: 5))
        try await books.log.prune(KeptBooks.lane, through: 2)
        let error = await #expect(throws: VerificationError.self) { _ = try await self.verify(books.path) }
        guard case .unavailable = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(try await self.verify(books.path, ledgerOnly: true).isRight)
        await books.close()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import SQLiteStore
import TestSupport
import Testing

/// The ledger on SQLite says what the reference says, whatever happens in whatever order.
@Suite(.suiteLimit)
struct LedgerPropertyTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// A ledger on SQLite that is killed now and then, and goes on with what its files held at some moment before.
    private struct KilledLedger {
        let directory: TemporaryDirectory
        var path: String
        var ledger: SQLiteLedger
        var earlier: [String] = []

        init(_ directory: TemporaryDirectory) throws {
            self.directory = directory
            self.path = directory.fresh()
            self.ledger = try SQLiteLedger(in: StoreDirectory(path: self.path))
        }

        /// Keeps what the files hold now.
        mutating func keep() throws {
            let copy = self.directory.fresh()
            try copyStoreFiles(from: self.path, to: copy)
            self.earlier.append(copy)
        }

        /// Goes on with what was kept last, which may be as new as the kill (the process died) or older (the power failed).
        mutating func kill() async throws {
            let last = try #require(self.earlier.last)
            let next = self.directory.fresh()
            try copyStoreFiles(from: last, to: next)
            await self.ledger.close()
            self.path = next
            self.ledger = try SQLiteLedger(in: StoreDirectory(path: next))
        }
    }

    @Test func `crashes and repeats, in any order and grouping, come to the same books`() async throws {
        var books = RandomBooks(SeededGenerator(for: "books with crashes"))
        for _ in 0..<5 {
            let postings = [
                try books.postings(lane: 0, count: 60), try books.postings(lane: 1, count: 40),
            ]
            let lastOffset: UInt64 = 12
            // Lane after lane, group after group, the breaks at the end.
            let reference = InMemoryLedger()
            for (lane, groups) in zip(RandomBooks.lanes, postings) {
                for group in groups { try await reference.apply([group], of: lane) }
            }
            try await reference.record(try books.summaries(at: lastOffset), through: lastOffset)

            var killed = try KilledLedger(self.directory)
            try killed.keep()
            var steps = 0
            while true {
                steps += 1
                try await self.step(&killed, &books, postings, lastOffset)
                if books.happens(oneIn: 8) { try killed.keep() }
                if books.happens(oneIn: 12), steps < 400 {
                    if books.happens(oneIn: 2) { try killed.keep() }
                    try await killed.kill()
                    #expect(try await killed.ledger.audit() == [])
                    #expect(try await killed.ledger.everything().balances)
                }
                if try await self.isComplete(killed.ledger, postings) { break }
            }
            try await killed.ledger.record(try books.summaries(at: lastOffset), through: lastOffset)
            #expect(try await killed.ledger.everything() == reference.everything())
            #expect(try await killed.ledger.everything().balances)
            for variant in RandomBooks.variants {
                let query = ReportQuery(variant: variant, limit: ReportQuery.breaksMax, now: Books.start)
                #expect(try await killed.ledger.report(query) == reference.report(query))
            }
            #expect(try await killed.ledger.audit() == [])
            await killed.ledger.close()
        }
    }

    /// Applies some groups of one lane, some of them again, or tells what is known of the breaks.
    private func step(
        _ killed: inout KilledLedger,
        _ books: inout RandomBooks,
        _ postings: [[LedgerPosting]],
        _ lastOffset: UInt64
    ) async throws {
        if books.happens(oneIn: 6) {
            let offset = UInt64(books.number(in: 1...Int(lastOffset)))
            let known = try books.summaries(at: offset)
            try await killed.ledger.record(Array(known.prefix(books.number(in: 0...known.count))), through: offset)
            return
        }
        let number = books.number(in: 0...1)
        let applied = Int(try await killed.ledger.appliedOffset(of: RandomBooks.lanes[number]))
        let from = max(0, applied - books.number(in: 0...3))
        let groups = postings[number].dropFirst(from).prefix(books.number(in: 0...9))
        try await killed.ledger.apply(Array(groups), of: RandomBooks.lanes[number])
    }

    private func isComplete(_ ledger: SQLiteLedger, _ postings: [[LedgerPosting]]) async throws -> Bool {
        for (lane, groups) in zip(RandomBooks.lanes, postings) {
            guard try await ledger.appliedOffset(of: lane) == UInt64(groups.count) else { return false }
        }
        return true
    }

    @Test func `forgetting at any moment leaves the same books`() async throws {
        var books = RandomBooks(SeededGenerator(for: "books with forgetting"))
        for _ in 0..<5 {
            let postings = try books.postings(lane: 0, count: 60)
            let reference = InMemoryLedger()
            let ledger = try SQLiteLedger(in: StoreDirectory(path: self.directory.fresh()))
            let both: [any Ledger] = [reference, ledger]
            var offset: UInt64 = 0
            for posting in postings {
                for each in both { try await each.apply([posting], of: RandomBooks.lanes[0]) }
                if books.happens(oneIn: 4) {
                    offset += 1
                    for each in both { try await each.record(try books.summaries(at: offset), through: offset) }
                }
                if books.happens(oneIn: 10) {
                    let limits = (
                        Books.start + .seconds(Int64(books.number(in: 0...350))),
                        Books.start + .seconds(Int64(books.number(in: 0...350)))
                    )
                    let forgotten = try await both[0].prune(rowsOfBreaksEndedBefore: limits.0, totalsBefore: limits.1)
                    #expect(
                        try await both[1].prune(rowsOfBreaksEndedBefore: limits.0, totalsBefore: limits.1) == forgotten
                    )
                    #expect(try await ledger.audit() == [])
                }
                #expect(try await ledger.everything() == reference.everything())
            }
            #expect(try await ledger.everything().balances)
            #expect(try await ledger.audit() == [])
            await ledger.close()
        }
    }
}

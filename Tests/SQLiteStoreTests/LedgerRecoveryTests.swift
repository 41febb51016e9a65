// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import SQLiteStore
import TestSupport
import Testing

/// A ledger that is lost or damaged is made again, and nothing is missing.
@Suite(.suiteLimit)
struct LedgerRecoveryTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Books with so many groups, half of them in two copies.
    private func books(
        groups: Int = 40,
        copies: Int = 2,
        seed: String,
        settings: KeptLedger.Settings = KeptLedger.Settings()
    ) async throws -> KeptBooks {
        var random = RandomBooks(SeededGenerator(for: seed))
        let postings = try random.postings(lane: 0, count: groups)
        let books = try await KeptBooks(self.directory.fresh(), settings: settings)
        try await books.ledger.record(try random.summaries(at: 1), through: 0)
        let portion = groups / (copies + 1)
        for copy in 0..<copies {
            try await books.record(Array(postings[(copy * portion)..<((copy + 1) * portion)]))
            _ = try await books.ledger.copy(at: Books.start + .seconds(Int64(copy)))
        }
        try await books.record(Array(postings[(copies * portion)...]))
        return books
    }

    /// Tells the ledger of its breaks again, as a gateway does at each start.
    private func tellBreaks(_ books: KeptBooks) async throws {
        let random = RandomBooks(SeededGenerator(for: "summaries"))
        try await books.ledger.record(try random.summaries(at: 1), through: 0)
    }

    @Test func `without its file a ledger is counted from the first record of the log`() async throws {
        let books = try await self.books(copies: 0, seed: "file gone")
        let before = try await books.totals()
        await books.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: books.ledgerFile + suffix) }
        let again = try await KeptBooks(books.path)
        let recovery = try #require(again.ledger.recoveryAtStart)
        #expect(recovery.copy == nil && recovery.gaps.isEmpty)
        try await self.tellBreaks(again)
        try await again.catchUp()
        #expect(try await again.totals() == before)
        await again.close()
    }

    @Test func `a copy that is cancelled at any moment leaves nothing that is half made`() async throws {
        let books = try await self.books(copies: 0, seed: "cancelled copies")
        var made = 0
        for round in 0..<60 {
            let copying = Task { [ledger = books.ledger] in
                try await ledger.copy(at: Books.start + .seconds(Int64(round)))
            }
            // Further on each time: while pages are copied, while the copy is checked, while its rows are counted.
            try? await Task.sleep(for: .microseconds(round * 200))
            copying.cancel()
            if case .success = await copying.result { made += 1 }
            let names = try FileManager.default.contentsOfDirectory(atPath: books.path + "/copies")
            #expect(names.allSatisfy { $0.hasPrefix("ledger-") && $0.hasSuffix(".sqlite") && !$0.contains("new") })
            // The ledger is as new as its newest copy only where one was made: so the next round copies again.
            try await books.ledger.record([try Books.summary(UInt64(1_000 + round))], through: UInt64(1 + round))
        }
        #expect(made < 60, "nothing was cancelled")
        let facts = try await books.ledger.copy(at: Books.start + .seconds(100))
        #expect(facts.bytes > 0)
        await books.close()
    }

    @Test(arguments: ["gone", "older"])
    func `counted outcomes stay counted after the loss of the log, however the next run ends`(log: String) async throws
    {
        let books = try await self.books(copies: 0, seed: "log \(log)")
        let earlier = self.directory.fresh()
        try books.killed(into: earlier)
        var random = RandomBooks(SeededGenerator(for: "log \(log), more"))
        try await books.record(try random.postings(lane: 0, count: 20))
        let before = try await books.totals()
        await books.close()
        for suffix in ["", "-wal", "-shm"] {
            let file = "/events.sqlite" + suffix
            try? FileManager.default.removeItem(atPath: books.path + file)
            if log == "older", FileManager.default.fileExists(atPath: earlier + file) {
                try FileManager.default.copyItem(atPath: earlier + file, toPath: books.path + file)
            }
        }
        let again = try await KeptBooks(books.path)
        #expect(again.ledger.recoveryAtStart == nil)
        #expect(try await again.totals() == before)
        try await again.record(try random.postings(lane: 0, count: 20))
        let after = try await again.totals()
        #expect(after != before)
        let left = self.directory.fresh()
        try again.killed(into: left)
        await again.close()
        let killed = try await KeptBooks(left)
        #expect(killed.ledger.recoveryAtStart == nil)
        #expect(try await killed.totals() == after)
        await killed.close()
        do {
            #expect(try await LedgerVerification.run(in: left, ledgerOnly: false, progress: { _ in }).isRight)
        } catch VerificationError.unavailable {
            // There is nothing that could be counted again.
        }
    }

    @Test func `a ledger that is lent while no gateway runs is as it was closed afterwards`() async throws {
        let books = try await self.books(copies: 0, seed: "lent")
        let before = try await books.totals()
        await books.close()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: books.path + "/events.sqlite" + suffix)
        }
        // As `cuecast backup` does: the ledger learns of a new epoch, and its file changes.
        _ = try await Stores.lend(of: StoreDirectory(path: books.path)) { stores in
            #expect(stores.newEpoch != nil)
        }
        let again = try await KeptBooks(books.path)
        #expect(again.ledger.recoveryAtStart == nil)
        #expect(try await again.totals() == before)
        await again.close()
    }

    @Test func `how much room it takes is that of its file`() async throws {
        let books = try await self.books(copies: 0, seed: "room")
        let bytes = try #require(books.ledger.fileBytes)
        #expect(bytes >= (try fileBytes(books.ledgerFile)) && bytes > 0)
        await books.close()
    }

    @Test func `the log forgets what two copies hold, and a ledger without its file goes on from the newest`()
        async throws
    {
        let books = try await self.books(seed: "copies")
        let before = try await books.totals()
        let prunable = try #require(books.ledger.prunable[KeptBooks.lane])
        #expect(prunable == books.ledger.copies[1].offsets[KeptBooks.lane])
        try await books.log.prune(KeptBooks.lane, through: prunable)
        let newest = books.ledger.copies[0]
        await books.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: books.ledgerFile + suffix) }
        let again = try await KeptBooks(books.path)
        #expect(again.ledger.recoveryAtStart?.copy == newest.made)
        try await again.catchUp()
        #expect(try await again.totals() == before)
        await again.close()
        let third = try await KeptBooks(books.path)
        #expect(third.ledger.recoveryAtStart == nil)
        await third.close()
    }

    @Test(arguments: [2, 3])
    func `so many copies are kept, and the oldest goes when one more is made`(kept: Int) async throws {
        var settings = KeptLedger.Settings()
        settings.copiesKept = kept
        let books = try await self.books(groups: 40, copies: kept, seed: "copies kept", settings: settings)
        let folder = LedgerCopies(dataDirectory: books.path)
        let before = folder.list().map(\.made)
        #expect(before.count == kept && books.ledger.copies.count == kept)
        _ = try await books.ledger.copy(at: Books.start + .seconds(100))
        #expect(folder.list().map(\.made) == [Books.start + .seconds(100)] + before.dropLast())
        #expect(books.ledger.copies.map(\.made) == folder.list().map(\.made))
        await books.close()
    }

    @Test(arguments: ["damaged", "cut", "gone"])
    func `where the newest copy is not right the second newest is taken`(fault: String) async throws {
        let books = try await self.books(seed: "copy \(fault)")
        let before = try await books.totals()
        try await books.log.prune(KeptBooks.lane, through: try #require(books.ledger.prunable[KeptBooks.lane]))
        let second = books.ledger.copies[1]
        await books.close()
        let newest = try #require(LedgerCopies(dataDirectory: books.path).list().first)
        switch fault {
        case "damaged": try change(newest.path, at: 5_000, [0xA5])
        case "cut": _ = unsafe truncate(newest.path, 8_192)
        default: try FileManager.default.removeItem(atPath: newest.path)
        }
        // A copy that was never finished has no owner.
        try Data([1, 2, 3])
            .write(
                to: URL(fileURLWithPath: books.path + "/copies/ledger-new.sqlite.partial")
            )
        try FileManager.default.removeItem(atPath: books.ledgerFile)
        let again = try await KeptBooks(books.path)
        #expect(again.ledger.recoveryAtStart?.copy == second.made)
        try await again.catchUp()
        #expect(try await again.totals() == before)
        await again.close()
    }

    @Test func `only so many copies are kept, and one where nothing was counted since is not made again`() async throws
    {
        var settings = KeptLedger.Settings()
        settings.copiesKept = 2
        let books = try await self.books(copies: 4, seed: "kept", settings: settings)
        let list = LedgerCopies(dataDirectory: books.path).list()
        #expect(list.map(\.number) == [4, 3])
        _ = try await books.ledger.copy(at: Books.start + .seconds(100))
        _ = try await books.ledger.copy(at: Books.start + .seconds(200))
        #expect(LedgerCopies(dataDirectory: books.path).list().map(\.number) == [5, 4])
        await books.close()
        // Another run counts on them once it has looked at them.
        let again = try await KeptBooks(books.path, settings: settings)
        #expect(again.ledger.prunable.isEmpty)
        await again.ledger.verifyCopies()
        #expect(again.ledger.copies.count == 2)
        await again.close()
    }

    /// The oracle: whatever bytes are changed, the totals afterwards are those before.
    @Test(arguments: [true, false])
    func `bytes changed anywhere in the ledger change nothing in the books`(killed: Bool) async throws {
        let books = try await self.books(groups: 60, seed: "flipped pages \(killed)")
        let before = try await books.totals()
        try await books.log.prune(KeptBooks.lane, through: try #require(books.ledger.prunable[KeptBooks.lane]))
        let origin: String
        if killed {
            origin = self.directory.fresh()
            try books.killed(into: origin)
            await books.close()
        } else {
            await books.close()
            origin = books.path
        }
        var random = SeededGenerator(for: "where bytes change")
        var replaced = 0
        for round in 0..<60 {
            let folder = self.directory.fresh()
            try FileManager.default.copyItem(atPath: origin, toPath: folder)
            let name = killed && Bool.random(using: &random) ? "ledger.sqlite-wal" : "ledger.sqlite"
            let file = folder + "/" + name
            let size = try fileBytes(file)
            guard size > 0 else { continue }
            switch round % 3 {
            case 0:  // one byte
                try change(file, at: .random(in: 0..<size, using: &random), [.random(in: 0 ... .max, using: &random)])
            case 1:  // a page of nonsense
                let page = Int.random(in: 0..<max(1, size / 4_096), using: &random) * 4_096
                let bytes = (0..<min(4_096, size - page)).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
                try change(file, at: page, bytes)
            default:  // a page of zeros
                let page = Int.random(in: 0..<max(1, size / 4_096), using: &random) * 4_096
                try change(file, at: page, [UInt8](repeating: 0, count: min(4_096, size - page)))
            }
            let again = try await KeptBooks(folder)
            if again.ledger.recoveryAtStart != nil { replaced += 1 }
            try await self.tellBreaks(again)
            try await again.catchUp()
            #expect(try await again.totals() == before, "round \(round) of \(name)")
            #expect(try await again.ledger.audit() == [])
            await again.close()
            try FileManager.default.removeItem(atPath: folder)
        }
        // How many fall on what a check can see depends on how far the files were when they were copied: some do.
        #expect(replaced > 0)
    }

    @Test func `a killed ledger without its write-ahead log loses nothing`() async throws {
        let books = try await self.books(groups: 60, seed: "wal gone")
        let before = try await books.totals()
        let folder = self.directory.fresh()
        try books.killed(into: folder)
        await books.close()
        try FileManager.default.removeItem(atPath: folder + "/ledger.sqlite-wal")
        let again = try await KeptBooks(folder)
        try await self.tellBreaks(again)
        try await again.catchUp()
        #expect(try await again.totals() == before)
        await again.close()
    }

    @Test(arguments: ["random", "cut", "folder", "pipe", "link"])
    func `a seal that cannot be read is none, and is taken away`(kind: String) async throws {
        let books = try await self.books(copies: 0, seed: "seal")
        let before = try await books.totals()
        await books.close()
        let seal = books.path + "/ledger.seal"
        let whole = try String(contentsOfFile: seal, encoding: .utf8)
        try FileManager.default.removeItem(atPath: seal)
        switch kind {
        case "random": try Data((0..<200).map { UInt8($0) | 0x80 }).write(to: URL(fileURLWithPath: seal))
        case "cut": try Data(whole.utf8.dropLast(3)).write(to: URL(fileURLWithPath: seal))
        case "folder": try FileManager.default.createDirectory(atPath: seal + "/x", withIntermediateDirectories: true)
        case "pipe": try #require(unsafe mkfifo(seal, 0o600) == 0)
        default: try FileManager.default.createSymbolicLink(atPath: seal, withDestinationPath: "/nonexistent/seal")
        }
        let again = try await KeptBooks(books.path)
        #expect(again.ledger.recoveryAtStart == nil)
        #expect(!FileManager.default.fileExists(atPath: seal))
        #expect(FileManager.default.fileExists(atPath: books.path + "/set-aside/ledger.seal") == (kind == "folder"))
        #expect(try await again.totals() == before)
        await again.close()
        #expect(try String(contentsOfFile: seal, encoding: .utf8).hasSuffix("\n"))
    }

    @Test func `a folder where SQLite puts a file of the ledger's is kept aside with it`() async throws {
        let books = try await self.books(seed: "shm")
        let before = try await books.totals()
        await books.close()
        try? FileManager.default.removeItem(atPath: books.ledgerFile + "-shm")
        try FileManager.default.createDirectory(
            atPath: books.ledgerFile + "-shm/x",
            withIntermediateDirectories: true
        )
        let again = try await KeptBooks(books.path)
        let aside = try #require(again.ledger.recoveryAtStart?.keptAside)
        #expect(FileManager.default.fileExists(atPath: aside + "-shm/x"))
        try await self.tellBreaks(again)
        try await again.catchUp()
        #expect(try await again.totals() == before)
        await again.close()
    }

    @Test func `a damaged ledger is moved to set-aside`() async throws {
        let books = try await self.books(seed: "aside")
        await books.close()
        try change(books.ledgerFile, at: 0, [UInt8](repeating: 0x55, count: 4_096))
        let damaged = try Data(contentsOf: URL(fileURLWithPath: books.ledgerFile))
        let again = try await KeptBooks(books.path)
        let aside = try #require(again.ledger.recoveryAtStart?.keptAside)
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == damaged)
        await again.close()
    }

    @Test func `where history is gone counting goes on, and the books say what is missing`() async throws {
        let books = try await self.books(copies: 0, seed: "gap")
        var random = RandomBooks(SeededGenerator(for: "after the gap"))
        // Nothing holds it back here: as a version without copies did.
        try await books.log.prune(KeptBooks.lane, through: 30)
        await books.close()
        for suffix in ["", "-wal"] { try? FileManager.default.removeItem(atPath: books.ledgerFile + suffix) }
        let again = try await KeptBooks(books.path)
        let gaps = try #require(again.ledger.recoveryAtStart?.gaps)
        #expect(gaps.map(\.first) == [1] && gaps.map(\.last) == [30])
        try await self.tellBreaks(again)
        try await again.catchUp()
        #expect(try await again.ledger.appliedOffset(of: KeptBooks.lane) == 40)
        let report = try await again.ledger.everything()
        #expect(!report.complete && report.gaps == gaps)
        // A break that was published afterwards is whole.
        var later = try Books.summary(9_000 * 1_024)
        later.published = Books.start + .seconds(3_600)
        later.end = Books.start + .seconds(3_700)
        try await again.ledger.record([later], through: 2)
        #expect(try await again.ledger.everything().breaks[0].complete)
        try await again.record(try random.postings(lane: 0, count: 3))
        #expect(try await again.ledger.appliedOffset(of: KeptBooks.lane) == 43)
        await again.close()
        let third = try await KeptBooks(books.path)
        #expect(third.ledger.recoveryAtStart == nil)
        #expect(try await third.ledger.gaps() == gaps)
        await third.close()
    }

    @Test func `a ledger that is replaced while it runs goes on, once for each fault`() async throws {
        let books = try await self.books(seed: "while it runs")
        let before = try await books.totals()
        let generation = books.ledger.generation
        let ledger = books.ledger
        async let first = ledger.recover(generation, because: "is damaged", at: Books.start)
        async let second = ledger.recover(generation, because: "is damaged", at: Books.start)
        let done = try await [first, second].compactMap(\.self)
        #expect(done.count == 1)
        #expect(books.ledger.generation == generation + 1)
        try await self.tellBreaks(books)
        try await books.catchUp()
        #expect(try await books.totals() == before)
        await books.close()
    }

    @Test func `a large ledger that was not closed is checked while it serves, and copied only then`() async throws {
        var settings = KeptLedger.Settings()
        settings.checkAtStartBytesMax = 1
        let books = try await self.books(seed: "large", settings: settings)
        let before = try await books.totals()
        let folder = self.directory.fresh()
        try books.killed(into: folder)
        await books.close()
        try execute("UPDATE totals SET repeats = repeats + 1", in: folder + "/ledger.sqlite")
        let again = try await KeptBooks(folder, settings: settings)
        #expect(again.ledger.recoveryAtStart == nil && again.ledger.needsCheck)
        await #expect(throws: LedgerError.self) { _ = try await again.ledger.copy(at: Books.start) }
        let wrong = try await again.ledger.check()
        #expect(wrong.contains { $0.contains("repeats") })
        let recovery = try await again.ledger.recover(again.ledger.generation, because: "is damaged", at: Books.start)
        #expect(recovery != nil && !again.ledger.needsCheck)
        try await self.tellBreaks(again)
        try await again.catchUp()
        #expect(try await again.totals() == before)
        await again.close()
    }

    /// Whatever a start could not write: the ledger is right, and is the one that goes on.
    @Test(arguments: DiskFault.allCases)
    func `a disk that takes nothing says nothing about a ledger that was not closed`(_ fault: DiskFault) async throws {
        let books = try await self.books(groups: 6, seed: "no room")
        let before = try await books.totals()
        let killed = self.directory.fresh()
        try books.killed(into: killed)
        await books.close()
        let folder = try FaultyFolder()
        // Each by one of the faults.
        var (step, refused, unchecked) = (1 + Int(fault.rawValue), 0, 0)
        while true {
            try? FileManager.default.removeItem(atPath: folder.path)
            try FileManager.default.copyItem(atPath: killed, toPath: folder.path)
            let stepsBefore = folder.steps
            folder.fail(at: step, fault, every: true)
            do throws(StoreError) {
                let directory = try StoreDirectory(path: folder.path)
                let stores = try await KeptStores.open(in: directory, now: Books.start + .seconds(60))
                #expect(stores.ledger.recoveryAtStart == nil, "step \(step)")
                if stores.ledger.needsCheck { unchecked += 1 }
                await stores.log.close()
                await stores.ledger.close()
            } catch {
                refused += 1
                guard case .unusable = error else {
                    Issue.record("step \(step): \(error)")
                    break
                }
            }
            let wasReached = folder.steps - stepsBefore >= step
            folder.heal()
            let aside = folder.path + "/set-aside"
            #expect(!FileManager.default.fileExists(atPath: aside), "step \(step)")
            let again = try await KeptBooks(folder.path)
            #expect(again.ledger.recoveryAtStart == nil, "step \(step)")
            #expect(try await again.totals() == before, "step \(step)")
            await again.close()
            guard wasReached else { break }
            step += DiskFault.allCases.count
        }
        #expect(refused > 0 && unchecked > 0)
    }
}

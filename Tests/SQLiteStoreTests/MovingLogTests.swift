// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import TestSupport
import Testing

@testable import SQLiteStore

/// A log at servers, to which records are added.
private final class GrowingLog: InspectedLog {
    let identity = LogIdentity()
    private let records: [Lane: [LoggedRecord]]

    init(_ records: [Lane: [LoggedRecord]] = [:]) { self.records = records }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 { UInt64(self.records[lane]?.count ?? 0) }

    func portion(
        of lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> InspectedPortion {
        InspectedPortion(records: Array((self.records[lane] ?? []).dropFirst(Int(offset)).prefix(min(3, recordsMax))))
    }
}

/// The log of a stopped gateway is read to be moved, and compared with where it was moved to.
@Suite(.suiteLimit)
struct MovingLogTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// A stopped gateway's directory.
    private func books(_ seed: String, count: Int = 20) async throws -> KeptBooks {
        var random = RandomBooks(SeededGenerator(for: seed))
        let books = try await KeptBooks(self.directory.fresh())
        try await books.record(try random.postings(lane: 0, count: count))
        for number in 1...4 {
            let at = Books.start + .seconds(Int64(number) * 60)
            let group = BreakGroup(entries: [BreakEntry(at: at, kind: .housekeeping(at))])
            _ = try await books.log.append(group.encoded(), to: .breaks)
        }
        return books
    }

    private func everything(_ moving: MovingLog) async throws -> [Lane: [LoggedRecord]] {
        var all: [Lane: [LoggedRecord]] = [:]
        for lane in MovingLog.lanes {
            var records: [LoggedRecord] = []
            try await moving.forEachPortion(of: lane, after: 0) { records += $0 }
            all[lane] = records
        }
        return all
    }

    private func refusal(_ path: String) async -> String {
        do {
            try await MovingLog.open(path).close()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `a log that has the same records is right, and the mark keeps gateways away`() async throws {
        let books = try await self.books("moved")
        await books.close()
        let mark: SharedLogMark
        // It holds the directory as long as it is there.
        do {
            let moving = try await MovingLog.open(books.path)
            #expect(moving.moved == nil && moving.heads == [.breaks: 4, Books.lane: 20])
            let all = try await self.everything(moving)
            #expect(try await moving.compareBeginning(with: GrowingLog()).count == 0)
            let half = all.mapValues { Array($0.prefix(2)) }
            #expect(try await moving.compareBeginning(with: GrowingLog(half)).count == 0)
            let shared = GrowingLog(all)
            let result = try await moving.compare(with: shared, prefix: "cuecast") { _ in }
            #expect(result.isRight && result.differences?.count == 0 && result.shared?.board?.count == 0)
            #expect(result.shared?.keptSums == result.shared?.countedSums && result.shared?.keptSums?.played ?? 0 > 0)
            mark = SharedLogMark(logID: shared.identity.logID, prefix: "cuecast")
            try moving.markMoved(to: mark)
            moving.close()
        }
        #expect(await self.refusalOfStores(books.path).contains("was moved to the log \(mark.logID)"))
        do {
            let again = try await MovingLog.open(books.path)
            #expect(again.moved == mark)
            again.close()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: books.path).allSatisfy { !$0.hasPrefix("verify-") })
        // A mark that is not one keeps them away as well.
        try Data("cuecast migrated 1\n".utf8).write(to: URL(fileURLWithPath: books.path + "/migrated"))
        #expect(await self.refusalOfStores(books.path).contains("not what a gateway wrote"))
        // Without it, everything is as it was.
        try FileManager.default.removeItem(atPath: books.path + "/migrated")
        #expect(try await LedgerVerification.run(in: books.path, ledgerOnly: false) { _ in }.isRight)
        await (try await KeptBooks(books.path)).close()
    }

    private func refusalOfStores(_ path: String) async -> String {
        do {
            await (try await KeptBooks(path)).close()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `each difference at the servers is named`() async throws {
        let books = try await self.books("different")
        await books.close()
        let moving = try await MovingLog.open(books.path)
        defer { moving.close() }
        let all = try await self.everything(moving)
        let later = Books.start + .seconds(600)
        let other = BreakGroup(entries: [BreakEntry(at: later, kind: .housekeeping(later))]).encoded()
        let empty = try KeptBooks.group(LedgerPosting(offset: 3, deliveries: [], outcomes: [])).encoded()
        var changes: [(String, [Lane: [LoggedRecord]])] = []
        for (lane, offset, bytes) in [(Lane.breaks, 3, other), (Books.lane, 3, empty)] {
            var changed = all
            changed[lane]?[offset - 1] = LoggedRecord(offset: UInt64(offset), bytes: bytes)
            changes.append(("the lane \(lane) has another record \(offset)", changed))
        }
        var short = all
        short[Books.lane]?.removeLast()
        var long = all
        long[.breaks]?.append(LoggedRecord(offset: 5, bytes: other))
        changes.append(("the lane \(Books.lane) ends at record 19", short))
        changes.append(("the lane breaks ends at record 5", long))
        for (sentence, records) in changes {
            let shared = GrowingLog(records)
            let result = try await moving.compare(with: shared, prefix: "cuecast") { _ in }
            #expect(!result.isRight)
            let found = result.shared?.board?.sentences ?? []
            #expect(found.contains { $0.contains(sentence) }, "\(sentence): \(found)")
            let begun = try await moving.compareBeginning(with: shared)
            #expect((begun.count == 0) == sentence.contains("record 19"))
        }
    }

    @Test func `a log that cannot be moved is refused with a reason`() async throws {
        #expect(await self.refusal(self.directory.fresh()).contains("there is no events.sqlite"))
        let books = try await self.books("refused")
        #expect(await self.refusal(books.path).contains("in use"))
        let killed = self.directory.fresh()
        try books.killed(into: killed)
        try Data().write(to: URL(fileURLWithPath: killed + "/cuecast.open"))
        #expect(await self.refusal(killed).contains("was killed"))
        await books.close()
        try Data("1 replaced\n".utf8).write(to: URL(fileURLWithPath: books.path + "/restore.unfinished"))
        #expect(await self.refusal(books.path).contains("cuecast restore --replace"))
        try FileManager.default.removeItem(atPath: books.path + "/restore.unfinished")
        #expect(await self.refusal(books.path) == "")
        // Of which only the newest records are kept.
        let pruned = try await self.books("pruned")
        try await pruned.log.prune(Books.lane, through: 5)
        await pruned.close()
        #expect(await self.refusal(pruned.path).contains("from record 6 on only (keepLogRecords)"))
    }

    @Test func `a log in its second epoch cannot be moved`() async throws {
        let books = try await self.books("epochs")
        let lost = self.directory.fresh()
        try books.killed(into: lost)
        await books.close()
        // The ledger has counted what the log has lost: the log goes on in a new epoch.
        try execute(
            "DELETE FROM records WHERE record_key = (SELECT max(record_key) FROM records)",
            in: lost + "/events.sqlite"
        )
        let again = try await KeptBooks(lost)
        #expect(again.log.identity.epochs.count == 2)
        await again.close()
        #expect(await self.refusal(lost).contains("new epoch"))
    }
}

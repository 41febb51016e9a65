// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

/// The records of a log as its servers have them, some of them lost or replaced.
private final class RecordedLog: InspectedLog {
    let identity: LogIdentity
    private let records: [Lane: [LoggedRecord]]
    private let lost: Set<UInt64>

    /// - Parameters:
    ///   - log: with all its records.
    ///   - lost: offsets of the lane of acknowledgements that have no record.
    ///   - last: the newest record of that lane; `nil`: the one that the log has.
    ///   - replaced: other bytes at an offset of a lane.
    /// - Throws: where the log cannot be read.
    init(
        _ log: InMemoryEventLog,
        lost: Set<UInt64> = [],
        last: UInt64? = nil,
        replaced: [Lane: [UInt64: [UInt8]]] = [:]
    ) async throws {
        var all: [Lane: [LoggedRecord]] = [:]
        for lane in [Lane.breaks, Books.lane] {
            let head = try await log.head(of: lane)
            var records: [LoggedRecord] = []
            while UInt64(records.count) < head {
                records += try await log.read(lane, after: UInt64(records.count), recordsMax: 64, bytesMax: .max)
            }
            if lane == Books.lane, let last { records.removeAll { $0.offset > last } }
            all[lane] = records.map {
                LoggedRecord(offset: $0.offset, bytes: replaced[lane]?[$0.offset] ?? $0.bytes, mark: $0.mark)
            }
        }
        self.identity = log.identity
        self.records = all
        self.lost = lost
    }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 { UInt64(self.records[lane]?.count ?? 0) }

    func portion(
        of lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> InspectedPortion {
        var portion = InspectedPortion()
        for record in (self.records[lane] ?? []).dropFirst(Int(offset)).prefix(min(5, recordsMax)) {
            if lane == Books.lane, self.lost.contains(record.offset) {
                portion.faults.append(.init(offsets: record.offset...record.offset))
            } else {
                portion.records.append(record)
            }
        }
        return portion
    }
}

/// The books of a gateway are compared with a log that several gateways share.
@Suite(.suiteLimit)
struct SharedLogVerificationTests {
    private let directory: TemporaryDirectory
    private let log = InMemoryEventLog()

    init() throws { self.directory = try TemporaryDirectory() }

    private func verify(
        _ path: String,
        _ shared: RecordedLog
    ) async throws -> LedgerVerification {
        let opener: LedgerVerification.SharedLogOpener = { _ in shared }
        return try await LedgerVerification.run(in: path, ledgerOnly: false, openShared: opener) { _ in }
    }

    private func time(_ seconds: Int) throws -> [UInt8] {
        let at = Books.start + .seconds(Int64(seconds))
        return BreakGroup(entries: [BreakEntry(at: at, kind: .housekeeping(at))]).encoded()
    }

    /// A stopped gateway's directory that has counted so many records of acknowledgements and has a board as of the record `board`.
    private func books(_ seed: String, counted: UInt64 = 30, board kept: UInt64? = 4) async throws -> String {
        var random = RandomBooks(SeededGenerator(for: seed))
        for posting in try random.postings(lane: 0, count: 40) {
            _ = try await self.log.append(try KeptBooks.group(posting).encoded(), to: Books.lane)
        }
        for number in 1...6 { _ = try await self.log.append(try self.time(number * 60), to: .breaks) }
        let path = self.directory.fresh()
        let directory = try StoreDirectory(path: path)
        #expect(try SharedLogMark(logID: self.log.identity.logID, prefix: "cuecast").take(directory))
        let ledger = try await KeptLedger.open(
            countingShared: self.log,
            in: directory,
            isFirst: true,
            now: Books.start + .seconds(60)
        )
        while case let applied = try await ledger.appliedOffset(of: Books.lane), applied < counted {
            let records = try await self.log.read(
                Books.lane,
                after: applied,
                recordsMax: Int(min(7, counted - applied)),
                bytesMax: .max
            )
            try await ledger.apply(try LedgerPosting.postings(of: records), of: Books.lane)
        }
        await ledger.close()
        let cache = try await BoardCache.open(in: directory, of: self.log)
        if let kept {
            let id = self.log.identity.logID
            var board = Board(epoch: self.log.epoch, names: SipHash(key: id.low, id.high))
            for record in try await self.log.read(.breaks, after: 0, recordsMax: Int(kept), bytesMax: .max) {
                _ = try board.apply(record)
            }
            let changes = board.takeChanges()
            try await BoardParts.write(changes, of: board, bytesMax: .max, partsMax: .max) {
                (portion) async throws(EventLogError) in try await cache.save(portion, of: .breaks)
            }
        }
        await cache.close()
        return path
    }

    @Test func `right books are right, also those that are behind the log`() async throws {
        let path = try await self.books("right")
        let result = try await self.verify(path, RecordedLog(self.log))
        #expect(result.isRight && result.differences?.count == 0)
        #expect(result.offsets[Books.lane] == 30)
        #expect(result.shared?.boardOffset == 4)
        #expect(result.shared?.board?.count == 0)
        #expect(try await LedgerVerification.run(in: path, ledgerOnly: true) { _ in }.isRight)
    }

    @Test func `a gateway without a board yet has none to compare`() async throws {
        let result = try await self.verify(try await self.books("no board", board: nil), RecordedLog(self.log))
        #expect(result.isRight && result.shared?.boardOffset == nil)
    }

    @Test(arguments: [
        "UPDATE totals SET repeats = repeats + 1 WHERE break_number = 1024",
        "UPDATE outcomes SET received_us = received_us + 1 WHERE break_number = 1024",
        "UPDATE reasons SET ignored = ignored + 1 WHERE break_number = 1024",
    ])
    func `a difference of the ledger is named`(change: String) async throws {
        let path = try await self.books("changed")
        try execute(change, in: path + "/ledger.sqlite")
        let result = try await self.verify(path, RecordedLog(self.log))
        #expect(!result.isRight && result.shared?.isRight == true)
        #expect(result.differences?.sentences.allSatisfy { $0.contains("break 1024") } == true)
        #expect(result.differences?.count ?? 0 > 0)
    }

    @Test func `records that are missing are named, once each`() async throws {
        let path = try await self.books("missing")
        let result = try await self.verify(path, RecordedLog(self.log, lost: [3, 17, 18, 35]))
        #expect(!result.isRight)
        #expect(
            result.shared?.log.sentences
                == [3, 17, 18, 35].map { "the lane acknowledgements/0 has no record \($0)" }
        )
    }

    @Test func `a log that ends before what was counted is named`() async throws {
        let path = try await self.books("short")
        let result = try await self.verify(path, RecordedLog(self.log, last: 29))
        #expect(
            result.shared?.log.sentences
                == ["the lane acknowledgements/0 ends at record 29, and the ledger has counted record 30"]
        )
        #expect(result.offsets[Books.lane] == 30)
    }

    @Test func `a record that cannot be read, and another one at a place that is known, are named`() async throws {
        let path = try await self.books("replaced")
        let other = try KeptBooks.group(LedgerPosting(offset: 30, deliveries: [], outcomes: [])).encoded()
        let shared = try await RecordedLog(
            self.log,
            replaced: [Books.lane: [5: [0xFF, 0xFF], 30: other], .breaks: [4: try self.time(1)]]
        )
        let result = try await self.verify(path, shared)
        let sentences = try #require(result.shared?.log.sentences)
        #expect(sentences.contains { $0.contains("acknowledgements/0 has a record 5 that cannot be read") })
        #expect(sentences.contains { $0.contains("has another record 30 than the one that the ledger has counted") })
        #expect(sentences.contains { $0.contains("has another record 4 than the one that the board has") })
        #expect(result.shared?.board?.count == 1)
        #expect(!result.isRight)
    }

    @Test func `a damaged board is named`() async throws {
        let path = try await self.books("damaged board")
        try execute("UPDATE parts SET bytes = x'FFFF'", in: path + "/" + BoardCache.fileName)
        let result = try await self.verify(path, RecordedLog(self.log))
        #expect(result.shared?.board?.sentences.first?.contains("the kept board cannot be read") == true)
        #expect(result.shared?.log.count == 0 && result.differences?.count == 0)
        try Data(repeating: 7, count: 9_000).write(to: URL(fileURLWithPath: path + "/" + BoardCache.fileName))
        let other = try await self.verify(path, RecordedLog(self.log))
        #expect(other.shared?.board?.sentences.first?.contains("the kept board is damaged") == true)
    }

    @Test func `another log cannot be compared, and without servers the sentence says what to name`() async throws {
        let path = try await self.books("other")
        for (isNamed, part) in [(true, "the servers have the log"), (false, "--servers")] {
            do {
                let other = try await RecordedLog(InMemoryEventLog())
                let opener: LedgerVerification.SharedLogOpener = { _ in other }
                _ = try await LedgerVerification.run(
                    in: path,
                    ledgerOnly: false,
                    openShared: isNamed ? opener : nil
                ) { _ in }
                Issue.record("it was compared")
            } catch let error as VerificationError {
                #expect("\(error)".contains(part))
            }
        }
    }
}

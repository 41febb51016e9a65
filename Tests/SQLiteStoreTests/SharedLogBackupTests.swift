// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

@testable import SQLiteStore

/// A log at servers: records of any offsets, and what is wrong among them.
private final class ServersLog: InspectedLog {
    let identity: LogIdentity
    private let records: [Lane: [LoggedRecord]]
    private let lost: Set<UInt64>

    init(_ identity: LogIdentity, _ records: [Lane: [LoggedRecord]], lost: Set<UInt64> = []) {
        (self.identity, self.records, self.lost) = (identity, records, lost)
    }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 { self.records[lane]?.last?.offset ?? 0 }

    func portion(
        of lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> InspectedPortion {
        var portion = InspectedPortion()
        for record in (self.records[lane] ?? []).filter({ $0.offset > offset }).prefix(min(3, recordsMax)) {
            if lane == .breaks, self.lost.contains(record.offset) {
                portion.faults.append(.init(offsets: record.offset...record.offset))
            } else {
                portion.records.append(record)
            }
        }
        return portion
    }
}

/// A log that several gateways share is copied to a file, and read from it again.
@Suite(.suiteLimit)
struct SharedLogBackupTests {
    private let directory: TemporaryDirectory
    private let now = Timestamp(microseconds: 1_795_840_567_123_456)
    private let base = EventLogLimits.epochOffsetStep
    private let identity: LogIdentity
    private let records: [Lane: [LoggedRecord]]
    private let forgotten = ForgottenInLog(
        key: ForgottenSessions.Key(7, .max),
        sessions: [.max: Timestamp(microseconds: 5), 3: Timestamp(microseconds: 6)]
    )

    init() throws {
        self.directory = try TemporaryDirectory()
        // A log that was restored once: five records of breaks, a jump, and four more.
        let last: [Lane: UInt64] = [.breaks: 5, Books.lane: 0]
        let identity = LogIdentity().continued(epoch: 12, base: self.base, last: last)
        self.identity = identity
        let offsets = (1...5).map { UInt64($0) } + (1...4).map { [base] in base + $0 }
        let breaks = offsets.map { offset in
            let at = Books.start + .seconds(Int64(offset % 1_000))
            let id = AppendID(origin: .max - offset % 2, number: offset)
            return LoggedRecord(
                offset: offset,
                previous: identity.preceding(offset, in: .breaks),
                bytes: BreakGroup(entries: [BreakEntry(at: at, kind: .housekeeping(at))]).encoded(),
                mark: offset % 3 == 0 ? nil : AppendMark(id, at: Timestamp(microseconds: Int64(offset)))
            )
        }
        var random = RandomBooks(SeededGenerator(for: "shared-log-backup"))
        let acknowledgements = try random.postings(lane: 0, count: 7).enumerated()
            .map { [base] number, posting in
                let offset = base + UInt64(number) + 1
                return LoggedRecord(
                    offset: offset,
                    previous: identity.preceding(offset, in: Books.lane),
                    bytes: try KeptBooks.group(posting).encoded()
                )
            }
        self.records = [.breaks: breaks, Books.lane: acknowledgements]
    }

    private func make(
        _ log: ServersLog,
        in folder: String,
        keysOf data: String? = nil,
        forgotten: @escaping () async throws -> ForgottenInLog = { ForgottenInLog() }
    ) async throws -> BackupManifest {
        try await SharedLogBackups.make(
            of: log,
            forgotten: forgotten,
            keysOf: data,
            in: folder,
            version: "1",
            at: self.now
        )
    }

    private func reason(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    private func everything(_ backup: SharedLogBackup) async throws -> [Lane: [LoggedRecord]] {
        var all: [Lane: [LoggedRecord]] = [:]
        for lane in SharedLogBackup.lanes {
            var records: [LoggedRecord] = []
            try await backup.forEachPortion(of: lane, after: 0) { records += $0 }
            all[lane] = records
        }
        return all
    }

    @Test func `records, writers, epochs and forgotten sessions come back, with the keys of a gateway`() async throws {
        let (folder, data) = (self.directory.fresh(), self.directory.fresh())
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let list = ForgettingFiles.refusedName
        #expect(
            FileManager.default.createFile(
                atPath: data + "/" + list,
                contents: Data("x".utf8),
                attributes: [.posixPermissions: 0o600]
            )
        )
        let kept = self.forgotten
        let manifest = try await self.make(
            ServersLog(self.identity, self.records),
            in: folder,
            keysOf: data,
            forgotten: { kept }
        )
        #expect(manifest.logOffsets == ["breaks": self.base + 4, "acknowledgements/0": self.base + 7])
        #expect(manifest.files.keys.sorted() == [list, SharedLogBackup.fileName].sorted())
        let backup = try await SharedLogBackup.open(folder)
        #expect(backup.identity == self.identity && backup.forgotten == self.forgotten)
        #expect(backup.heads == [.breaks: self.base + 4, Books.lane: self.base + 7])
        #expect(try await self.everything(backup) == self.records)
        #expect(backup.last?.lane == .breaks && backup.last?.offset == self.base + 4)
        #expect(backup.filesToCopy == [folder + "/" + list])
        var some: [UInt64] = []
        try await backup.forEachPortion(of: .breaks, after: 4, through: self.base + 2) { some += $0.map(\.offset) }
        #expect(some == [5, self.base + 1, self.base + 2])
        backup.close()
        // The folder is not empty any more.
        #expect(
            await self.reason { _ = try await self.make(ServersLog(self.identity, [:]), in: folder) }
                .contains("not empty")
        )
    }

    @Test func `a log without records has a backup`() async throws {
        let folder = self.directory.fresh()
        _ = try await self.make(ServersLog(LogIdentity(), [:]), in: folder)
        let backup = try await SharedLogBackup.open(folder)
        #expect(backup.heads == [.breaks: 0, Books.lane: 0] && backup.last == nil)
        backup.close()
    }

    @Test func `of a log that is not whole, and while a session is forgotten, there is none`() async throws {
        let folder = self.directory.fresh()
        let lost = ServersLog(self.identity, self.records, lost: [self.base + 2])
        #expect(
            await self.reason { _ = try await self.make(lost, in: folder) }.contains("has no record \(self.base + 2)")
        )
        var wrong = self.records
        wrong[.breaks]?[1] = LoggedRecord(offset: 2, bytes: [0xFF, 0xFF])
        let damaged = ServersLog(self.identity, wrong)
        #expect(
            await self.reason { _ = try await self.make(damaged, in: folder) }.contains("record 2 that cannot be read")
        )
        var asked = 0
        let meanwhile: () async throws -> ForgottenInLog = {
            asked += 1
            return ForgottenInLog(sessions: asked == 1 ? [:] : [1: Timestamp(microseconds: 1)])
        }
        let log = ServersLog(self.identity, self.records)
        #expect(
            await self.reason { _ = try await self.make(log, in: folder, forgotten: meanwhile) }
                .contains("a session was forgotten meanwhile")
        )
        #expect(asked == 2)
        for left in [folder, folder + ".partial"] { #expect(!FileManager.default.fileExists(atPath: left)) }
    }

    @Test func `a backup that is damaged, lacks records, or is of something else is refused`() async throws {
        let folder = self.directory.fresh()
        _ = try await self.make(ServersLog(self.identity, self.records), in: folder)
        let (file, manifestFile) = (folder + "/" + SharedLogBackup.fileName, folder + "/" + StoreBackups.manifestFile)
        let (whole, said) = (
            try Data(contentsOf: URL(fileURLWithPath: file)), try Data(contentsOf: URL(fileURLWithPath: manifestFile))
        )
        var flipped = whole
        flipped[whole.count - 100] ^= 1
        try flipped.write(to: URL(fileURLWithPath: file))
        #expect(await self.reason { _ = try await SharedLogBackup.open(folder) }.contains("not as it was written"))
        try FileManager.default.removeItem(atPath: file)
        #expect(
            await self.reason { _ = try await SharedLogBackup.open(folder) }.contains("there is no shared-log.sqlite")
        )
        // With a manifest that fits: a record between, the last one, and the first one behind the jump.
        for offset in [2, self.base + 4, self.base + 1] {
            try whole.write(to: URL(fileURLWithPath: file))
            let queue = try DatabaseQueue(path: file)
            try await queue.write { database in
                try database.execute(
                    sql: "DELETE FROM records WHERE lane = 'breaks' AND offset = ?",
                    arguments: [Int64(offset)]
                )
            }
            try queue.close()
            var manifest = try StoreBackups.manifest(in: folder)
            manifest.files[SharedLogBackup.fileName] = try StoreBackups.file(file)
            try StoreBackups.write(manifest, to: folder)
            #expect(
                await self.reason { _ = try await SharedLogBackup.open(folder) }
                    .contains("lacks records of the lane breaks")
            )
        }
        try whole.write(to: URL(fileURLWithPath: file))
        try said.write(to: URL(fileURLWithPath: manifestFile))
        (try await SharedLogBackup.open(folder)).close()
        // Each kind of backup has its own command.
        #expect(
            await self.reason { _ = try await StoreBackups.restore(from: folder, to: self.directory.fresh()) }
                .contains("cuecast cluster restore")
        )
        let own = try await KeptBooks(self.directory.fresh())
        let other = self.directory.fresh()
        await own.close()
        let held = try StoreDirectory(path: own.path)
        try await Stores.lend(of: held) { stores in
            _ = try await StoreBackups.make(of: stores.log, stores.ledger, in: other, version: "1", at: self.now)
        }
        #expect(await self.reason { _ = try await SharedLogBackup.open(other) }.contains("use 'cuecast restore'"))
    }

    @Test func `other bytes, another writer and a missing record at the servers are found`() async throws {
        let folder = self.directory.fresh()
        _ = try await self.make(ServersLog(self.identity, self.records), in: folder)
        let backup = try await SharedLogBackup.open(folder)
        let restored = try #require(self.identity.restored(heads: backup.heads, at: self.now))
        func differences(_ change: (inout [LoggedRecord]) -> Void, after begins: [Lane: UInt64] = [:]) async throws
            -> [String]
        {
            var records = self.records
            change(&records[.breaks, default: []])
            return
                try await backup.compare(
                    with: ServersLog(restored, records),
                    after: begins,
                    through: backup.heads
                ) { _, _ in }
                .sentences
        }
        #expect(try await differences { _ in }.isEmpty)
        let sixth = self.records[.breaks]?[5].offset ?? 0
        let found = ["the lane breaks has another record \(sixth) at the servers, or none"]
        #expect(try await differences { $0[5] = LoggedRecord(offset: sixth, bytes: [1], mark: $0[5].mark) } == found)
        #expect(try await differences { $0[5] = LoggedRecord(offset: sixth, bytes: $0[5].bytes) } == found)
        #expect(try await differences { $0.remove(at: 5) } == found)
        #expect(try await differences({ $0.remove(at: 5) }, after: [.breaks: sixth]).isEmpty)
        backup.close()
    }

    @Test func `a gateway of a restored log sets aside what it has counted before, and keeps its keys`() async throws {
        let path = self.directory.fresh()
        let log = LogIdentity()
        let first = SharedLogMark(of: log, prefix: "cuecast")
        #expect(first.epoch == nil)
        let heads: [Lane: UInt64] = [.breaks: 5]
        let later = Timestamp(microseconds: self.now.microseconds + 60_000_000)
        let one = try #require(log.restored(heads: heads, at: self.now))
        let two = try #require(log.restored(heads: heads, at: later))
        let marks = [one, two].map { SharedLogMark(of: $0, prefix: "cuecast") }
        for mark in marks { #expect(SharedLogMark(text: mark.text) == mark) }
        let kept = ["signing.keys", "forgotten.sessions", "audit.sqlite"]
        let moved = [
            "ledger.sqlite", "board.sqlite", "board.sqlite-wal", "ledger.seal", "copies", "shared-log-forgotten",
        ]
        func put(_ names: [String]) {
            for name in names {
                _ = FileManager.default.createFile(atPath: path + "/" + name, contents: Data(name.utf8))
            }
        }
        func isThere(_ name: String) -> Bool { FileManager.default.fileExists(atPath: name) }
        let directory = try StoreDirectory(path: path)
        #expect(try first.leaveEarlierEpoch(directory, of: log) == nil && first.take(directory))
        put(kept + moved)
        #expect(try first.leaveEarlierEpoch(directory, of: log) == nil && isThere(path + "/ledger.sqlite"))

        // It is not taken as it is; set aside, it is, and only once.
        #expect(await self.reason { _ = try marks[0].take(directory) }.contains("its ledger counts the log"))
        let folder = try #require(try marks[0].leaveEarlierEpoch(directory, of: one)).folder
        for name in moved { #expect(!isThere(path + "/" + name) && isThere(folder + "/" + name)) }
        for name in kept { #expect(isThere(path + "/" + name)) }
        #expect(try marks[0].leaveEarlierEpoch(directory, of: one) == nil)
        #expect(try !marks[0].take(directory))

        // A log that was restored later from the same backup; it was cut off in the middle.
        put(moved)
        let next = path + "/set-aside/before-restore-\(String(two.epoch, radix: 16))"
        try FileManager.default.createDirectory(atPath: next, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: path + "/ledger.sqlite", toPath: next + "/ledger.sqlite")
        #expect(try marks[1].leaveEarlierEpoch(directory, of: two)?.folder == next)
        for name in moved { #expect(!isThere(path + "/" + name) && isThere(next + "/" + name)) }

        // A log of an earlier epoch went back.
        put(moved)
        for mark in [marks[0], first] {
            #expect(
                await self.reason { _ = try mark.leaveEarlierEpoch(directory, of: mark == first ? log : one) }
                    .contains("the shared log went back")
            )
        }
        #expect(isThere(path + "/ledger.sqlite"))
    }

    @Test func `a gateway follows restores of an older backup, of a newer one, and of the older one again`() throws {
        let log = LogIdentity()
        let directory = try StoreDirectory(path: self.directory.fresh())
        #expect(try SharedLogMark(of: log, prefix: "cuecast").take(directory))
        let older: [Lane: UInt64] = [.breaks: 5]
        let one = try #require(log.restored(heads: older, at: self.now))
        let newer: [Lane: UInt64] = [.breaks: one.current.base + 100]
        let two = try #require(one.restored(heads: newer, at: self.now + .seconds(60)))
        let three = try #require(log.restored(heads: older, at: self.now + .seconds(120)))
        for identity in [one, two, three] {
            let mark = SharedLogMark(of: identity, prefix: "cuecast")
            #expect(try mark.leaveEarlierEpoch(directory, of: identity) != nil)
            #expect(try !mark.take(directory))
        }
    }

    @Test func `a file that cannot be read is told as an error of the backup, and others stay what they are`()
        async throws
    {
        struct Full: Error {}
        let folder = self.directory.fresh()
        _ = try await self.make(ServersLog(self.identity, self.records), in: folder)
        let backup = try await SharedLogBackup.open(folder)
        await #expect(throws: Full.self) {
            try await backup.forEachPortion(of: .breaks, after: 0) { _ in throw Full() }
        }
        defer { backup.close() }
        // Its disk gives other bytes from now on.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/\(SharedLogBackup.fileName)"))
        try file.write(contentsOf: Data(repeating: 0x5a, count: 4_096))
        try file.close()
        let asked = await #expect(throws: BackupError.self) {
            try await backup.forEachPortion(of: .breaks, after: 0) { _ in }
        }
        let compared = await #expect(throws: BackupError.self) {
            let shared = ServersLog(self.identity, self.records)
            _ = try await backup.compare(with: shared, through: backup.heads) { _, _ in }
        }
        for error in [asked, compared] {
            guard case .failed = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `nothing is read behind the first difference`() async throws {
        func page(behind offset: UInt64, count: UInt64) -> [LoggedRecord] {
            (offset + 1...offset + count).map { LoggedRecord(offset: $0, bytes: [UInt8(truncatingIfNeeded: $0)]) }
        }
        var (asked, equal): ([UInt64], [UInt64]) = ([], [])
        for wrong in [25, 2_000] as [UInt64] {
            (asked, equal) = ([], [])
            let difference = try await RecordComparison.firstDifference(
                of: .breaks,
                after: 2,
                through: 42,
                source: { offset in
                    asked.append(offset)
                    return page(behind: offset, count: 10)
                },
                shared: { page(behind: $0, count: 7) },
                isSame: { $0.bytes == $1.bytes && $0.offset != wrong },
                equal: { pairs in equal += pairs.map(\.1.offset) }
            )
            if wrong == 25 {
                #expect(difference == "the lane breaks has another record 25 at the servers, or none")
                #expect(asked == [2, 12, 22] && equal == Array(3...24))
            } else {
                #expect(difference == nil && asked == [2, 12, 22, 32] && equal == Array(3...42))
            }
        }
    }

    @Test func `a gateway says how many records it had counted that the backup does not have`() async throws {
        let log = InMemoryEventLog()
        var random = RandomBooks(SeededGenerator(for: "lost-records"))
        for posting in try random.postings(lane: 0, count: 40) {
            _ = try await log.append(try KeptBooks.group(posting).encoded(), to: Books.lane)
        }
        let path = self.directory.fresh()
        do {
            let directory = try StoreDirectory(path: path)
            #expect(try SharedLogMark(of: log.identity, prefix: "cuecast").take(directory))
            let now = Books.start + .seconds(60)
            let ledger = try await KeptLedger.open(countingShared: log, in: directory, isFirst: true, now: now)
            while case let applied = try await ledger.appliedOffset(of: Books.lane), applied < 30 {
                let most = Int(min(7, 30 - applied))
                let records = try await log.read(Books.lane, after: applied, recordsMax: most, bytesMax: .max)
                try await ledger.apply(try LedgerPosting.postings(of: records), of: Books.lane)
            }
            await ledger.close()
        }
        let directory = try StoreDirectory(path: path)
        let heads: [Lane: UInt64] = [.breaks: 0, Books.lane: 25]
        let identity = try #require(log.identity.restored(heads: heads, at: self.now))
        let mark = SharedLogMark(of: identity, prefix: "cuecast")
        let left = try #require(try mark.leaveEarlierEpoch(directory, of: identity))
        #expect(left.lost?[Books.lane] == 5)
        #expect(FileManager.default.fileExists(atPath: left.folder + "/ledger.sqlite"))
        #expect(!directory.hasStores)
    }
}

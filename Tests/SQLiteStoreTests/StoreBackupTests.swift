// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore
import Synchronization
import Testing

@testable import SQLiteStore

/// Backups, made while the stores are written to, and what is restored from them.
@Suite(.suiteLimit)
struct StoreBackupTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func open(_ path: String) throws -> Stores { try Stores.open(in: StoreDirectory(path: path)) }

    private func makeBackup(of stores: Stores, _ folder: String) async throws -> BackupManifest {
        try await StoreBackups.make(of: stores.log, stores.ledger, in: folder, version: "test", at: Books.start)
    }

    /// Records one delivery for each session, and lets the ledger count the first of them.
    private func fill(_ stores: Stores, _ sessions: Range<Int>, counting counted: Int) async throws {
        for session in sessions {
            let group = AcknowledgementGroup(deliveries: [Books.delivery(session)])
            _ = try await stores.log.append(group.encoded(), to: Books.lane)
        }
        try await self.count(stores, counted)
    }

    private func count(_ stores: Stores, _ counted: Int = .max) async throws {
        let applied = try await stores.ledger.appliedOffset(of: Books.lane)
        let head = try await stores.log.head(of: Books.lane)
        guard applied < head, counted > 0 else { return }
        let records = try await stores.log.read(Books.lane, after: applied, recordsMax: counted, bytesMax: .max)
        try await stores.ledger.apply(try LedgerPosting.postings(of: records), of: Books.lane)
    }

    /// A data directory that has counted five deliveries, and a backup of it; both closed.
    private func dataAndBackup() async throws -> (data: String, backup: String) {
        let (data, backup) = (self.directory.fresh("data"), self.directory.fresh("backup"))
        let stores = try self.open(data)
        try await self.fill(stores, 0..<5, counting: 5)
        _ = try await self.makeBackup(of: stores, backup)
        await stores.close()
        return (data, backup)
    }

    private func delivered(_ stores: Stores) async throws -> Int64 {
        try await self.count(stores)
        return try await stores.ledger.everything().breaks.first?.sessions ?? 0
    }

    @Test func `a backup that is made under load is restored with all that the log had when it was done`() async throws
    {
        let stores = try self.open(self.directory.fresh("data"))
        try await stores.ledger.record([try Books.summary()], through: 0)
        try await self.fill(stores, 0..<300, counting: 100)
        let stop = Mutex(false)
        let confirmed = Mutex(300)
        let lane = Books.lane
        async let writer: Void = {
            var session = 300
            while !stop.withLock({ $0 }) {
                let group = AcknowledgementGroup(deliveries: [Books.delivery(session)])
                _ = try await stores.log.append(group.encoded(), to: lane)
                session += 1
                confirmed.withLock { $0 = session }
            }
        }()
        let backup = self.directory.fresh("backup")
        let steps = Mutex<[BackupProgress]>([])
        let manifest = try await StoreBackups.make(
            of: stores.log,
            stores.ledger,
            in: backup,
            version: "test",
            at: Books.start
        ) { step in steps.withLock { $0.append(step) } }
        stop.withLock { $0 = true }
        try await writer
        #expect(Set(steps.withLock { $0.map(\.file) }) == ["ledger.sqlite", "events.sqlite"])
        let epoch = stores.log.epoch
        await stores.close()

        let held = try #require(manifest.logOffsets[lane.description])
        #expect(held >= 300 && held <= UInt64(confirmed.withLock { $0 }))
        #expect(manifest.ledgerOffsets[lane.description] == 100)
        let data = self.directory.fresh("restored")
        let restored = try await StoreBackups.restore(from: backup, to: data)
        #expect(restored.epoch != epoch && restored.base == held + EventLogLimits.epochOffsetStep)
        #expect(restored.replaced == nil)
        let again = try self.open(data)
        #expect(again.newEpoch == nil && again.log.epoch == restored.epoch)
        #expect(try await self.delivered(again) == Int64(held))
        #expect(try await again.log.append([1], to: .breaks) == restored.base + 1)
        #expect(try await again.ledger.audit() == [])
        await again.close()
        // The backup is as it was, and can be restored again.
        #expect(try StoreBackups.manifest(in: backup) == manifest)
        _ = try await StoreBackups.restore(from: backup, to: self.directory.fresh())
    }

    @Test func `a backup that is used without a restore begins a new epoch`() async throws {
        let stores = try self.open(self.directory.fresh("data"))
        try await self.fill(stores, 0..<5, counting: 5)
        let backup = self.directory.fresh("backup")
        _ = try await self.makeBackup(of: stores, backup)
        let epoch = stores.log.epoch
        await stores.close()
        let direct = try self.open(backup)
        #expect(direct.newEpoch == .backup && direct.log.epoch != epoch)
        await direct.close()
        let again = try self.open(backup)
        #expect(again.newEpoch == nil && again.log.epoch == direct.log.epoch)
        await again.close()
    }

    @Test func `a restore keeps the replaced files, and does not reuse their numbers`() async throws {
        let (data, backup) = try await self.dataAndBackup()
        // The data directory has gone through an epoch since.
        try await beginEpochOfLog(in: data)
        let stores = try self.open(data)
        try await self.fill(stores, 5..<9, counting: 4)
        let newest = try await stores.log.head(of: Books.lane)
        await #expect(throws: StoreError.self) {
            try await StoreBackups.restore(from: backup, to: data, replacing: true)
        }
        await stores.close()

        await #expect(throws: BackupError.notEmpty(data)) { try await StoreBackups.restore(from: backup, to: data) }
        let restored = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(restored.base == newest + EventLogLimits.epochOffsetStep)
        let aside = try #require(restored.replaced)
        let old = try self.open(aside)
        #expect(try await old.log.head(of: Books.lane) == newest)
        await old.close()
        // And once more: the files before stay.
        let second = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(second.base == restored.base + EventLogLimits.epochOffsetStep && second.replaced != aside)
    }

    @Test func `a restore that did not end is finished by another, and not used before`() async throws {
        let (_, backup) = try await self.dataAndBackup()
        let data = self.directory.fresh("restored")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        // It had moved files aside that knew this offset, and copied one of the two.
        try Data("9000\n".utf8).write(to: URL(fileURLWithPath: data + "/restore.unfinished"))
        try FileManager.default.copyItem(atPath: backup + "/ledger.sqlite", toPath: data + "/ledger.sqlite")
        let error = #expect(throws: StoreError.self) { try self.open(data) }
        #expect(error.map { "\($0)" }?.contains("cuecast restore --replace") == true)
        let restored = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(restored.base == 9_000 + EventLogLimits.epochOffsetStep)
        let again = try self.open(data)
        #expect(again.newEpoch == nil)
        await again.close()
    }

    /// A backup, and a data directory that went on after it; what its newest record is.
    private func backupAndData() async throws -> (backup: String, data: String, newest: UInt64) {
        let (data, backup) = try await self.dataAndBackup()
        try await beginEpochOfLog(in: data)
        let stores = try self.open(data)
        try await self.fill(stores, 5..<9, counting: 4)
        let newest = try await stores.log.head(of: Books.lane)
        await stores.close()
        return (backup, data, newest)
    }

    /// Something in the way of a copy, so that a restore ends there.
    private func block(_ data: String) throws -> String {
        let path = data + "/ledger.sqlite.partial"
        try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
        return path
    }

    @Test func `a restore that ends in the middle tells where the files are, and what to do`() async throws {
        let (backup, data, newest) = try await self.backupAndData()
        let inTheWay = try self.block(data)
        for _ in 0..<2 {
            do {
                _ = try await StoreBackups.restore(from: backup, to: data, replacing: true)
                Issue.record("it was restored")
            } catch BackupError.unfinished(let replaced, let reason) {
                #expect(replaced == [data + "/replaced"])
                #expect(reason == "\(inTheWay): File exists")
                let text = "\(BackupError.unfinished(replaced: replaced, reason: reason))"
                #expect(text.contains("cuecast restore --replace") && !text.contains("NSURL"))
            }
            let kept = try String(contentsOfFile: data + "/restore.unfinished", encoding: .utf8)
            #expect(kept == "\(newest) replaced\n")
        }
        try FileManager.default.removeItem(atPath: inTheWay)
        let restored = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(restored.base == newest + EventLogLimits.epochOffsetStep)
    }

    /// Destroys both files, as a failed disk does.
    private func ruin(_ data: String) throws {
        for name in ["/events.sqlite", "/ledger.sqlite"] {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: data + name + suffix) }
            try Data(repeating: 0x5A, count: 72_000).write(to: URL(fileURLWithPath: data + name))
        }
    }

    @Test func `numbers are not used again where no file in place can be read any more`() async throws {
        let (backup, data, newest) = try await self.backupAndData()
        // What a restore before this one moved aside knows it.
        let first = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(first.base == newest + EventLogLimits.epochOffsetStep)
        try self.ruin(data)
        let second = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(second.base > newest)
        // By the clock, where nothing but that can tell: on a new disk, too.
        let now = Timestamp(microseconds: 1_795_000_000_000_000)
        var bases: [UInt64] = []
        for minute in 0..<3 as Range<Int64> {
            let moment = now + .seconds(60 * minute)
            try self.ruin(data)
            let fresh = self.directory.fresh("fresh-\(minute)")
            for target in [data, fresh] {
                bases.append(try await StoreBackups.restore(from: backup, to: target, replacing: true, at: moment).base)
            }
        }
        #expect(bases.sorted() == bases)
        #expect(Set(bases.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)).count == 3)
        #expect(bases.allSatisfy { $0 >= EventLogLimits.offsetFloor(at: now) })
    }

    @Test func `a clock that cannot be right says nothing about offsets`() {
        let floor = { (seconds: Int64) in EventLogLimits.offsetFloor(at: Timestamp(microseconds: seconds * 1_000_000)) }
        #expect(floor(0) == 0 && floor(-5) == 0 && floor(1_767_225_600) == 0)
        #expect(floor(1_767_225_660) == EventLogLimits.offsetsPerMinute)
        // Some two hundred and fifty years on.
        #expect(floor(9_800_000_000) > 0 && floor(9_900_000_000) == 0 && EventLogLimits.offsetFloor(at: .latest) == 0)
    }

    @Test func `a restore that was killed between its moves goes on with the same folder`() async throws {
        let (backup, data, newest) = try await self.backupAndData()
        // It had moved the ledger and what belongs to the log, and not the log itself.
        try Data("\(newest) replaced\n".utf8).write(to: URL(fileURLWithPath: data + "/restore.unfinished"))
        try FileManager.default.createDirectory(atPath: data + "/replaced", withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: data + "/ledger.sqlite", toPath: data + "/replaced/ledger.sqlite")
        let restored = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(restored.base == newest + EventLogLimits.epochOffsetStep)
        #expect(restored.replaced == data + "/replaced")
        #expect(!FileManager.default.fileExists(atPath: data + "/replaced-2"))
        let old = try self.open(data + "/replaced")
        #expect(try await old.log.head(of: Books.lane) == newest)
        await old.close()
        // The next one has a folder of its own.
        let next = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(next.replaced == data + "/replaced-2")
    }

    @Test(arguments: ["", "1", "12345", "x\n", "\u{0}"])
    func `a number that was cut off is found again in the files that were moved aside`(text: String) async throws {
        let (backup, data, newest) = try await self.backupAndData()
        let inTheWay = try self.block(data)
        await #expect(throws: BackupError.self) {
            try await StoreBackups.restore(from: backup, to: data, replacing: true)
        }
        try FileManager.default.removeItem(atPath: inTheWay)
        try Data(text.utf8).write(to: URL(fileURLWithPath: data + "/restore.unfinished"))
        let restored = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(restored.base == newest + EventLogLimits.epochOffsetStep)
        #expect(!FileManager.default.fileExists(atPath: data + "/restore.unfinished"))
    }

    @Test func `a number that was cut off, and that no file says any more, is refused`() async throws {
        let (backup, data, _) = try await self.backupAndData()
        let empty = self.directory.fresh("empty")
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: backup + "/ledger.sqlite", toPath: empty + "/ledger.sqlite")
        try Data().write(to: URL(fileURLWithPath: empty + "/restore.unfinished"))
        for _ in 0..<2 {
            await #expect(throws: BackupError.floorUnknown(empty)) {
                try await StoreBackups.restore(from: backup, to: empty, replacing: true)
            }
        }
        #expect("\(BackupError.floorUnknown(empty))".contains("remove restore.unfinished"))
        // Files that are in place still say it themselves.
        try Data().write(to: URL(fileURLWithPath: data + "/restore.unfinished"))
        let restored = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(restored.base > EventLogLimits.epochOffsetStep)
    }

    @Test func `an unknown error is not printed as it is`() {
        let error = #expect(throws: (any Error).self) {
            try Data([1]).write(to: URL(fileURLWithPath: self.directory.path + "/none/file"))
        }
        #expect(error.map { StoreFile.sentence($0) } == self.directory.path + "/none/file: No such file or directory")
    }

    @Test(arguments: [StoreDirectory.ledgerFile, StoreDirectory.logFile])
    func `a backup with a schema of another version is refused before anything is replaced`(name: String) async throws {
        let (data, backup) = try await self.dataAndBackup()
        let queue = try DatabaseQueue(path: backup + "/" + name)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('another')") }
        try queue.close()
        var manifest = try StoreBackups.manifest(in: backup)
        manifest.files[name] = try StoreBackups.file(backup + "/" + name)
        try JSONEncoder().encode(manifest).write(to: URL(fileURLWithPath: backup + "/" + StoreBackups.manifestFile))
        await #expect(throws: StoreError.laterSchema(file: backup + "/" + name)) {
            try await StoreBackups.restore(from: backup, to: data, replacing: true)
        }
        let stores = try self.open(data)
        #expect(stores.newEpoch == nil, "it is as it was")
        #expect(try await stores.ledger.appliedOffset(of: Books.lane) == 5)
        await stores.close()
    }

    @Test func `a folder with something in it gets no backup`() async throws {
        let stores = try self.open(self.directory.fresh("data"))
        let folder = self.directory.fresh("taken")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Empty it may exist, also with a slash at the end.
        _ = try await self.makeBackup(of: stores, folder + "/")
        await #expect(throws: BackupError.notEmpty(folder)) { _ = try await self.makeBackup(of: stores, folder) }
        let file = self.directory.fresh("file")
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        await #expect(throws: BackupError.notEmpty(file)) { _ = try await self.makeBackup(of: stores, file) }
        let names = try FileManager.default.contentsOfDirectory(atPath: self.directory.path)
        #expect(!names.contains { $0.hasSuffix(".partial") })
        for name in ["", "/events.sqlite", "/ledger.sqlite", "/manifest.json"] {
            let rights = try FileManager.default.attributesOfItem(atPath: folder + name)[.posixPermissions] as? Int
            #expect(rights == (name.isEmpty ? 0o700 : 0o600))
        }
        await stores.close()
    }

    @Test func `the rest of a killed backup is removed, and files of others stay`() async throws {
        let stores = try self.open(self.directory.fresh("data"))
        let folder = self.directory.fresh("backup")
        let partial = folder + ".partial"
        try FileManager.default.createDirectory(atPath: partial, withIntermediateDirectories: true)
        for name in ["ledger.sqlite", "events.sqlite-wal", "manifest.json"] {
            #expect(FileManager.default.createFile(atPath: partial + "/" + name, contents: nil))
        }
        #expect(FileManager.default.createFile(atPath: partial + "/mine", contents: nil))
        await #expect(throws: BackupError.notEmpty(partial)) { _ = try await self.makeBackup(of: stores, folder) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: partial).count == 4)
        try FileManager.default.removeItem(atPath: partial + "/mine")
        _ = try await self.makeBackup(of: stores, folder)
        #expect(!FileManager.default.fileExists(atPath: partial))
        await stores.close()
    }

    @Test func `a backup of links is copied, and one in the data directory itself is refused`() async throws {
        let stores = try self.open(self.directory.fresh("data"))
        try await stores.ledger.record([try Books.summary()], through: 0)
        try await self.fill(stores, 0..<5, counting: 5)
        let (backup, links) = (self.directory.fresh("backup"), self.directory.fresh("links"))
        let manifest = try await self.makeBackup(of: stores, backup)
        await stores.close()
        try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: backup) {
            try FileManager.default.createSymbolicLink(
                atPath: links + "/" + name,
                withDestinationPath: "../backup/" + name
            )
        }
        let restored = self.directory.fresh("restored")
        _ = try await StoreBackups.restore(from: links, to: restored)
        let again = try self.open(restored)
        try await self.fill(again, 5..<9, counting: 4)
        #expect(try await self.delivered(again) == 9)
        await again.close()
        // What was written since is not in the backup.
        let second = try await StoreBackups.restore(from: links, to: self.directory.fresh("second"))
        #expect(second.manifest == manifest)
        let before = try FileManager.default.contentsOfDirectory(atPath: backup).sorted()
        for target in [backup, backup + "/"] {
            let error = await #expect(throws: BackupError.self) {
                try await StoreBackups.restore(from: backup, to: target, replacing: true)
            }
            #expect("\(try #require(error))".contains("lies in the data directory itself"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup).sorted() == before)
    }

    @Test func `copies of the history that a restore ends are kept aside with it`() async throws {
        let (data, backup) = try await self.dataAndBackup()
        let books = try await KeptBooks(data)
        _ = try await books.ledger.copy(at: Books.start)
        await books.close()
        let folder = "/" + LedgerCopies.folderName
        #expect(FileManager.default.fileExists(atPath: data + folder))
        let aside = try #require(try await StoreBackups.restore(from: backup, to: data, replacing: true).replaced)
        #expect(!FileManager.default.fileExists(atPath: data + folder))
        #expect(try FileManager.default.contentsOfDirectory(atPath: aside + folder).count == 1)
    }

    @Test func `a backup that is damaged is not restored, and nothing is touched`() async throws {
        let stores = try self.open(self.directory.fresh("data"))
        try await self.fill(stores, 0..<50, counting: 50)
        let whole = self.directory.fresh("whole")
        _ = try await self.makeBackup(of: stores, whole)
        await stores.close()
        func damaged(_ damage: (String) throws -> Void) async throws {
            let backup = self.directory.fresh()
            try FileManager.default.copyItem(atPath: whole, toPath: backup)
            try damage(backup)
            let data = self.directory.fresh()
            do {
                _ = try await StoreBackups.restore(from: backup, to: data)
                Issue.record("it was restored")
            } catch {
                guard case BackupError.damaged = error else { throw error }
            }
            #expect(!FileManager.default.fileExists(atPath: data + "/events.sqlite"))
        }
        for name in ["manifest.json", "events.sqlite", "ledger.sqlite"] {
            try await damaged { try FileManager.default.removeItem(atPath: $0 + "/" + name) }
            try await damaged { backup in
                let file = try #require(FileHandle(forUpdatingAtPath: backup + "/" + name))
                try file.seek(toOffset: 5)
                try file.write(contentsOf: [0xFF])
                try file.close()
            }
        }
        try await damaged { backup in
            let path = URL(fileURLWithPath: backup + "/manifest.json")
            let text = try String(contentsOf: path, encoding: .utf8)
            try Data(text.replacing("\"format\" : 1", with: "\"format\" : 2").utf8).write(to: path)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore
import Testing

@testable import SQLiteStore

/// Log and ledger are opened together, whatever was done to their files.
@Suite(.suiteLimit)
struct StoresTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func open(_ path: String) throws -> Stores { try Stores.open(in: StoreDirectory(path: path)) }

    /// A gateway's work in short: breaks are published, outcomes recorded, and the ledger follows.
    private struct Work {
        let stores: Stores

        /// Publishes a break.
        ///
        /// - Returns: its number.
        @discardableResult
        func publish(_ id: String) async throws -> BreakNumber {
            let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID(id))
            let entry = BreakEntry(
                at: Books.start,
                kind: .publish(
                    BreakEntry.Publish(
                        request: BroadcastRequest.Publish(
                            key: key,
                            start: .at(Books.start),
                            duration: .seconds(30),
                            advertisements: [
                                AdvertisementContent(
                                    id: try AdvertisementID("ad-0"),
                                    title: "Title",
                                    duration: .seconds(30),
                                    media: [.init(url: "https://cdn.example/a.mp3", type: "audio/mpeg")]
                                )
                            ]
                        ),
                        start: Books.start,
                        announce: Books.start - .seconds(8),
                        window: RequestWindow(from: Books.start, by: Books.start),
                        holdUntil: nil,
                        safetyDuration: .seconds(300)
                    )
                )
            )
            let offset = try await self.stores.log.append(BreakGroup(entries: [entry]).encoded(), to: .breaks)
            let number = BreakGroup.breakNumber(offset: offset, index: 0)
            try await self.stores.ledger.record(
                [try Books.summary(number.rawValue, advertisements: 1, id: id)],
                through: offset
            )
            return number
        }

        /// Records that sessions played the break.
        func play(_ number: BreakNumber, _ sessions: some Sequence<Int>) async throws {
            for session in sessions {
                let delivery = Books.delivery(session, of: number.rawValue)
                let group = AcknowledgementGroup(requests: [], deliveries: [delivery])
                _ = try await self.stores.log.append(group.encoded(), to: Books.lane)
            }
        }

        /// Lets the ledger count what the log has.
        func project() async throws {
            let (log, ledger) = (self.stores.log, self.stores.ledger)
            let head = try await log.head(of: Books.lane)
            while try await ledger.appliedOffset(of: Books.lane) < head {
                let records = try await log.read(
                    Books.lane,
                    after: try await ledger.appliedOffset(of: Books.lane),
                    recordsMax: 7,
                    bytesMax: .max
                )
                try await ledger.apply(try LedgerPosting.postings(of: records), of: Books.lane)
            }
        }

        /// How many sessions each break has.
        func sessions() async throws -> [BreakNumber: Int64] {
            try await self.project()
            let report = try await self.stores.ledger.everything()
            return Dictionary(uniqueKeysWithValues: report.breaks.map { ($0.summary.number, $0.sessions) })
        }
    }

    /// One break that `sessions` played, in a folder of its own; the stores are closed.
    private func makeBooks(_ name: String, sessions: Int = 20) async throws -> (path: String, number: BreakNumber) {
        let path = self.directory.fresh(name)
        let stores = try self.open(path)
        let work = Work(stores: stores)
        let number = try await work.publish("first")
        try await work.play(number, 0..<sessions)
        try await work.project()
        await stores.close()
        return (path, number)
    }

    private func remove(_ path: String, _ names: String...) throws {
        for name in names { try FileManager.default.removeItem(atPath: path + "/" + name) }
    }

    private func copy(_ file: String, from: String, to: String) throws {
        try? FileManager.default.removeItem(atPath: to + "/" + file)
        try FileManager.default.copyItem(atPath: from + "/" + file, toPath: to + "/" + file)
    }

    @Test func `stores that were closed open again as they were`() async throws {
        let (path, number) = try await self.makeBooks("plain")
        var epochs: Set<UInt64> = []
        for _ in 0..<3 {
            let directory = try StoreDirectory(path: path)
            #expect(directory.wasClosedCleanly && !directory.isLogTailMissing)
            let stores = try Stores.open(in: directory)
            #expect(stores.newEpoch == nil)
            epochs.insert(stores.log.epoch)
            #expect(try await Work(stores: stores).sessions() == [number: 20])
            await stores.close()
        }
        #expect(epochs.count == 1)
    }

    @Test func `a log restored from an older copy than the ledger loses nothing more and uses no number again`()
        async throws
    {
        let (path, first) = try await self.makeBooks("restored")
        // The copy of the log is made first, and the ledger's after more was counted: the wrong way round.
        let copy = self.directory.fresh("copy")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        try self.copy("events.sqlite", from: path, to: copy)
        var stores = try self.open(path)
        var work = Work(stores: stores)
        let lost = try await work.publish("second")
        try await work.play(lost, 100..<107)
        try await work.project()
        let epoch = stores.log.epoch
        await stores.close()
        try self.copy("ledger.sqlite", from: path, to: copy)

        stores = try self.open(copy)
        #expect(stores.newEpoch == .ledgerAhead && stores.log.epoch != epoch)
        work = Work(stores: stores)
        let next = try await work.publish("third")
        #expect(next.rawValue > lost.rawValue + EventLogLimits.epochOffsetStep)
        try await work.play(next, 200..<228)
        // What was confirmed for the lost break stays its own.
        #expect(try await work.sessions() == [first: 20, lost: 7, next: 28])
        #expect(try await stores.ledger.audit() == [])
        let new = stores.log.epoch
        await stores.close()
        stores = try self.open(copy)
        #expect(stores.newEpoch == nil && stores.log.epoch == new)
        #expect(try await Work(stores: stores).sessions() == [first: 20, lost: 7, next: 28])
        await stores.close()
    }

    @Test func `a write-ahead log that is gone after a crash begins a new epoch`() async throws {
        for isLedgerKept in [true, false] {
            let path = self.directory.fresh()
            var stores = try self.open(path)
            var work = Work(stores: stores)
            let first = try await work.publish("first")
            await stores.close()
            stores = try self.open(path)
            work = Work(stores: stores)
            let lost = try await work.publish("second")
            try await work.play(lost, 0..<30)
            try await work.project()
            // What kill -9 leaves, without the write-ahead log.
            let killed = self.directory.fresh()
            try copyStoreFiles(from: path, to: killed)
            try self.copy("cuecast.open", from: path, to: killed)
            await stores.close()
            try self.remove(killed, "events.sqlite-wal")
            if !isLedgerKept { try self.remove(killed, "ledger.sqlite-wal") }

            let directory = try StoreDirectory(path: killed)
            #expect(!directory.wasClosedCleanly && directory.isLogTailMissing)
            stores = try Stores.open(in: directory)
            #expect(stores.newEpoch == (isLedgerKept ? .ledgerAhead : .tailMissing))
            work = Work(stores: stores)
            let next = try await work.publish("third")
            #expect(next.rawValue > lost.rawValue + EventLogLimits.epochOffsetStep)
            try await work.play(next, 50..<55)
            let sessions = try await work.sessions()
            #expect(sessions[next] == 5)
            #expect(sessions[first] == 0)
            #expect(sessions[lost] == (isLedgerKept ? 30 : nil))
            await stores.close()
        }
    }

    /// The files of a gateway that was killed after one break, which 30 sessions have played.
    private func killed() async throws -> (path: String, number: BreakNumber, epoch: UInt64) {
        let path = self.directory.fresh()
        let stores = try self.open(path)
        let work = Work(stores: stores)
        let number = try await work.publish("first")
        try await work.play(number, 0..<30)
        let killed = self.directory.fresh()
        try copyStoreFiles(from: path, to: killed)
        try self.copy("cuecast.open", from: path, to: killed)
        let epoch = stores.log.epoch
        await stores.close()
        return (killed, number, epoch)
    }

    @Test func `a crash that leaves the write-ahead log begins no epoch`() async throws {
        let (killed, number, epoch) = try await self.killed()
        func reopen() throws -> Stores {
            let directory = try StoreDirectory(path: killed)
            #expect(!directory.wasClosedCleanly && !directory.isLogTailMissing)
            return try Stores.open(in: directory)
        }
        let again = try reopen()
        #expect(again.newEpoch == nil && again.log.epoch == epoch)
        #expect(try await Work(stores: again).sessions() == [number: 30])
        await again.close()
        #expect(try StoreDirectory(path: killed).wasClosedCleanly)
    }

    /// A failed start may have moved the write-ahead log into the file when it let go of it: it is not missing then.
    @Test func `a start that fails after a crash makes the next one begin no epoch`() async throws {
        let (killed, number, epoch) = try await self.killed()
        let folder = try FaultyFolder()
        var (step, failures, moved) = (1, 0, 0)
        while true {
            try? FileManager.default.removeItem(atPath: folder.path)
            try FileManager.default.copyItem(atPath: killed, toPath: folder.path)
            folder.fail(at: step, .full)
            var isOver = false
            do {
                await (try self.open(folder.path)).close()
                isOver = folder.failed == .none
            } catch {
                failures += 1
                if !FileManager.default.fileExists(atPath: folder.path + "/events.sqlite-wal") { moved += 1 }
            }
            folder.heal()
            let again = try self.open(folder.path)
            #expect(again.newEpoch == nil && again.log.epoch == epoch, "step \(step)")
            #expect(try await Work(stores: again).sessions() == [number: 30], "step \(step)")
            await again.close()
            guard !isOver else { break }
            step += 1
        }
        #expect(failures > 0 && moved > 0)
    }

    @Test func `a log that is lost begins above every number that the ledger knows`() async throws {
        let (path, first) = try await self.makeBooks("lost")
        var stores = try self.open(path)
        let id = stores.log.identity.logID
        await stores.close()
        try self.remove(path, "events.sqlite")
        for _ in 0..<2 {
            stores = try self.open(path)
            #expect(stores.log.identity.logID == id && stores.log.identity.epochs.count == 2)
            await stores.close()
        }
        stores = try self.open(path)
        #expect(stores.newEpoch == nil)
        let work = Work(stores: stores)
        let next = try await work.publish("second")
        #expect(next.rawValue > first.rawValue + EventLogLimits.epochOffsetStep)
        try await work.play(next, 0..<7)
        #expect(try await work.sessions() == [first: 20, next: 7])
        await stores.close()
    }

    @Test func `a ledger of another log is refused with a sentence and left as it is`() async throws {
        let (path, _) = try await self.makeBooks("one")
        let (other, number) = try await self.makeBooks("other", sessions: 3)
        try self.copy("ledger.sqlite", from: other, to: path)
        let error = #expect(throws: StoreError.self) { try self.open(path) }
        #expect(error.map { "\($0)" }?.contains("move ledger.sqlite away") == true)
        try self.copy("ledger.sqlite", from: path, to: other)
        let stores = try self.open(other)
        #expect(stores.newEpoch == nil)
        #expect(try await Work(stores: stores).sessions() == [number: 3])
        await stores.close()
    }

    @Test func `a ledger that counted other records at the same offsets is refused`() async throws {
        // Two machines go on from one copy; then their files are mixed.
        let (path, number) = try await self.makeBooks("one")
        let other = self.directory.fresh("other")
        try copyStoreFiles(from: path, to: other)
        for (folder, sessions) in [(path, 100..<110), (other, 200..<210)] {
            let stores = try self.open(folder)
            try await Work(stores: stores).play(number, sessions)
            try await Work(stores: stores).project()
            await stores.close()
        }
        try self.copy("ledger.sqlite", from: other, to: path)
        let error = #expect(throws: StoreError.self) { try self.open(path) }
        #expect(error.map { "\($0)" }?.contains("another record") == true)
    }

    /// Also where the ledger knows more breaks than are looked up, all but one of them beyond the end of the log.
    @Test(arguments: [0, 15, 16, 40])
    func `a ledger with another break under a number is refused`(later: Int) async throws {
        let (path, _) = try await self.makeBooks("one", sessions: 0)
        let other = self.directory.fresh("other")
        try copyStoreFiles(from: path, to: other)
        for (folder, ids) in [(path, ["here"]), (other, ["there"] + (0..<later).map { "later-\($0)" })] {
            let stores = try self.open(folder)
            for id in ids { try await Work(stores: stores).publish(id) }
            await stores.close()
        }
        try self.copy("ledger.sqlite", from: other, to: path)
        let error = #expect(throws: StoreError.self) { try self.open(path) }
        #expect(error.map { "\($0)" }?.contains("another one in events.sqlite") == true)
    }

    @Test func `a log older than the ledger's epoch goes on above both, and what was not counted is`() async throws {
        let (path, first) = try await self.makeBooks("newer")
        let old = self.directory.fresh("old")
        try copyStoreFiles(from: path, to: old)
        // The ledger gets an epoch that the copy does not know.
        try await beginEpochOfLog(in: path)
        var stores = try self.open(path)
        var work = Work(stores: stores)
        let second = try await work.publish("second")
        try await work.play(second, 100..<104)
        try await work.project()
        await stores.close()
        try self.copy("events.sqlite", from: old, to: path)

        stores = try self.open(path)
        #expect(stores.newEpoch == .logOlder)
        work = Work(stores: stores)
        let third = try await work.publish("third")
        #expect(third.rawValue > second.rawValue + EventLogLimits.epochOffsetStep)
        try await work.play(third, 0..<3)
        #expect(try await work.sessions() == [first: 20, second: 4, third: 3])
        await stores.close()
    }

    @Test func `a ledger that is older than the log reads through the jumps`() async throws {
        let (path, first) = try await self.makeBooks("jumps")
        let old = self.directory.fresh("old")
        try copyStoreFiles(from: path, to: old)
        var expected = [first: Int64(20)]
        for round in 0..<3 {
            try await beginEpochOfLog(in: path)
            let stores = try self.open(path)
            let number = try await Work(stores: stores).publish("round-\(round)")
            try await Work(stores: stores).play(number, 0..<round + 1)
            expected[number] = Int64(round + 1)
            #expect(try await Work(stores: stores).sessions() == expected)
            await stores.close()
        }
        try self.copy("ledger.sqlite", from: old, to: path)
        let stores = try self.open(path)
        #expect(stores.newEpoch == nil)
        // The board tells the ledger of the breaks; here they are told again.
        for (round, number) in expected.keys.sorted().dropFirst().enumerated() {
            let summary = try Books.summary(number.rawValue, advertisements: 1, id: "round-\(round)")
            try await stores.ledger.record([summary], through: try await stores.log.head(of: .breaks))
        }
        #expect(try await Work(stores: stores).sessions() == expected)
        await stores.close()
    }

    @Test func `a ledger of the version before takes the log's identity, or is ahead of it`() async throws {
        let (path, number) = try await self.makeBooks("earlier")
        let queue = try DatabaseQueue(path: path + "/ledger.sqlite")
        try await queue.write { database in
            try database.execute(
                sql:
                    "DELETE FROM identity; DELETE FROM epochs; DELETE FROM epoch_lanes; UPDATE applied SET digest = NULL"
            )
        }
        var stores = try self.open(path)
        #expect(stores.newEpoch == nil)
        #expect(try await Work(stores: stores).sessions() == [number: 20])
        await stores.close()
        try await queue.write { try $0.execute(sql: "DELETE FROM identity; UPDATE applied SET applied_offset = 21") }
        try queue.close()
        stores = try self.open(path)
        #expect(stores.newEpoch == .ledgerAhead)
        await stores.close()
    }

    @Test func `the files of the stores are their owner's alone`() async throws {
        let path = self.directory.fresh("rights")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for name in ["events.sqlite", "ledger.sqlite"] {
            #expect(FileManager.default.createFile(atPath: path + "/" + name, contents: nil))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + "/" + name)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        func rights(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        let stores = try self.open(path)
        try await Work(stores: stores).publish("first")
        #expect(try rights(path) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.count >= 7)
        for name in names { #expect(try rights(path + "/" + name) == 0o600, "\(name)") }
        await stores.close()
        // A folder with other things in it is not ours to close.
        let shared = self.directory.fresh("shared")
        try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: shared + "/notes.txt", contents: nil))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: shared)
        _ = try StoreDirectory(path: shared)
        #expect(try rights(shared) == 0o755)
    }
}

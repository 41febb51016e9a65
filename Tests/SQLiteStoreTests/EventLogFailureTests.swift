// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// The log's behaviour when its disk fails (docs/internals/decisions/0023).
@Suite(.suiteLimit)
struct EventLogFailureTests {
    private let lane = Lane.acknowledgements(0)

    private func open(_ folder: FaultyFolder) throws -> SQLiteEventLog {
        var limits = SQLiteEventLog.Limits()
        // Small, so that a few appends meet several checkpoints, and a second one goes into the file at once.
        limits.checkpointBytes = 150_000
        limits.checkpointRetryAfter = .zero
        return try SQLiteEventLog(in: StoreDirectory(path: folder.path), limits: limits)
    }

    /// The attempt to append one record, and its result.
    private struct Attempt {
        let lane: Lane
        let bytes: [UInt8]
        let result: Result<UInt64, EventLogError>
    }

    /// Records of several sizes in two lanes, a snapshot and a prune; every record is another.
    ///
    /// - Returns: what became of the records, and whether anything else was refused.
    private func work(_ log: SQLiteEventLog, round: UInt8) async -> (attempts: [Attempt], others: [EventLogError]) {
        var attempts: [Attempt] = []
        var others: [EventLogError] = []
        for number in 0..<8 as Range<UInt8> {
            let lane = number % 3 == 0 ? Lane.breaks : self.lane
            let size = number == 4 ? 70_000 : 3_000 * Int(number % 3 + 1)
            let bytes = [round, number] + [UInt8](repeating: number, count: size)
            do throws(EventLogError) {
                attempts.append(
                    Attempt(lane: lane, bytes: bytes, result: .success(try await log.append(bytes, to: lane)))
                )
            } catch {
                attempts.append(Attempt(lane: lane, bytes: bytes, result: .failure(error)))
            }
            do throws(EventLogError) {
                if number == 5 {
                    let snapshot = SnapshotPortion.single(try await log.head(of: .breaks), ["a": bytes])
                    try await log.save(snapshot, of: .breaks)
                }
                if number == 6 { try await log.prune(Lane(name: "pruned"), through: UInt64(round) + 1) }
            } catch {
                others.append(error)
            }
        }
        return (attempts, others)
    }

    /// How many steps `work` takes on a disk that works.
    private func stepsOfWork() async throws -> Int {
        let folder = try FaultyFolder()
        let log = try self.open(folder)
        for _ in 1...3 { _ = try await log.append([7], to: Lane(name: "pruned")) }
        let before = folder.steps
        let (attempts, others) = await self.work(log, round: 0)
        let steps = folder.steps - before
        #expect(attempts.allSatisfy { $0.result.isSuccess } && others.isEmpty)
        await log.close()
        return steps
    }

    /// Opens the files anew and compares: everything that was confirmed is there, in order and without gaps, and nothing
    /// that was refused for lack of room.
    private func check(_ attempts: [Attempt], in folder: FaultyFolder, _ comment: Comment) async throws {
        let log = try self.open(folder)
        for lane in [Lane.breaks, self.lane] {
            let records = try await log.everything(in: lane)
            #expect(records.map(\.offset) == records.indices.map { UInt64($0) + 1 }, comment)
            var uncertain = 0
            for attempt in attempts where attempt.lane == lane {
                let places = records.filter { $0.bytes == attempt.bytes }.map(\.offset)
                switch attempt.result {
                case .success(let offset): #expect(places == [offset], comment)
                case .failure(.outOfSpace): #expect(places.isEmpty, comment)
                case .failure:
                    #expect(places.count <= 1, comment)
                    uncertain += places.count
                }
            }
            let confirmed = attempts.filter { $0.lane == lane && $0.result.isSuccess }.count
            #expect(records.count == confirmed + uncertain, comment)
            #expect(try await log.append([1], to: lane) == UInt64(records.count) + 1, comment)
        }
        await log.close()
    }

    @Test(arguments: DiskFault.allCases)
    func `whatever step of the disk fails once, what was confirmed is there and the log decides rightly`(
        _ fault: DiskFault
    ) async throws {
        let steps = try await self.stepsOfWork()
        try #require(steps > 30)
        var stopped = 0
        for step in 1...steps {
            let comment: Comment = "step \(step) of \(steps), \(fault)"
            let folder = try FaultyFolder()
            let log = try self.open(folder)
            for _ in 1...3 { _ = try await log.append([7], to: Lane(name: "pruned")) }
            folder.fail(at: step, fault)
            let first = await self.work(log, round: 0)
            // The disk works again. Where nothing worse was than a lack of room, so does the log.
            let second = await self.work(log, round: 1)
            let refused =
                (first.attempts + second.attempts)
                .compactMap { if case .failure(let error) = $0.result { error } else { nil } }
                + first.others + second.others
            switch folder.failed {
            case .write where fault.isLackOfRoom:
                #expect(log.failure == nil, comment)
                #expect(second.attempts.allSatisfy { $0.result.isSuccess } && second.others.isEmpty, comment)
                for error in refused {
                    guard case .outOfSpace = error else {
                        Issue.record("\(comment): \(error)")
                        continue
                    }
                }
                // Only what was in the transaction; a checkpoint without room refuses nothing.
                #expect(refused.count <= 1, comment)
            case .write, .sync:
                stopped += 1
                #expect(log.failure != nil, comment)
                #expect(await log.stopped() == log.failure, comment)
                #expect(second.attempts.allSatisfy { !$0.result.isSuccess }, comment)
                for error in refused {
                    guard case .uncertain = error else {
                        Issue.record("\(comment): \(error)")
                        continue
                    }
                }
            // SQLite passes over it where it only gives room back.
            case .truncate: break
            case .none: Issue.record("\(comment): nothing failed")
            }
            await log.close()
            try await self.check(first.attempts + second.attempts, in: folder, comment)
        }
        #expect(stopped > 0, "synchronisations fail whatever the fault")
    }

    @Test(arguments: [DiskFault.full, .fullHalfway, .quota])
    func `room that comes back is used without a restart, whenever it went`(_ fault: DiskFault) async throws {
        let steps = try await self.stepsOfWork()
        for step in stride(from: 1, through: steps, by: 3) {
            let folder = try FaultyFolder()
            let log = try self.open(folder)
            for _ in 1...3 { _ = try await log.append([7], to: Lane(name: "pruned")) }
            folder.fail(at: step, fault, every: true)
            let first = await self.work(log, round: 0)
            folder.heal()
            // A synchronisation that fails for lack of room leaves nothing certain.
            guard folder.failed == .write, log.failure == nil else {
                #expect(log.failure != nil)
                await log.close()
                try await self.check(first.attempts, in: folder, "step \(step), \(fault)")
                continue
            }
            let second = await self.work(log, round: 1)
            #expect(
                second.attempts.allSatisfy { $0.result.isSuccess } && second.others.isEmpty,
                "step \(step), \(fault)"
            )
            await log.close()
            try await self.check(first.attempts + second.attempts, in: folder, "step \(step), \(fault)")
        }
    }

    @Test func `a failed synchronisation fails what waits too, and tells who watches`() async throws {
        let folder = try FaultyFolder()
        let log = try self.open(folder)
        let gate = WriterGate()
        await gate.close(log, lane: self.lane)
        let answers = Answers()
        folder.fail(at: 1, .error, every: true)
        for number in 1...3 { log.append([UInt8(number)], to: self.lane, done: answers.take(number)) }
        async let reason = log.stopped()
        gate.open()
        for (_, result) in await answers.all(3) {
            guard case .failure(.uncertain) = result else {
                Issue.record("\(result)")
                continue
            }
        }
        #expect(await reason != nil)
        folder.heal()
        await #expect(throws: EventLogError.self) { _ = try await log.append([4], to: self.lane) }
        await #expect(throws: EventLogError.self) { try await log.prune(self.lane, through: 1) }
        await #expect(throws: EventLogError.self) { try await log.save(.single(1, [:]), of: self.lane) }
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[0]], "what was durable can be read")
        await log.close()
    }

    @Test func `a watcher of a working log gets nothing when it closes`() async throws {
        let folder = try FaultyFolder()
        let log = try self.open(folder)
        async let reason = log.stopped()
        await log.close()
        #expect(await reason == nil)
        #expect(await log.stopped() == nil)
        let cancelled = Task { [other = try self.open(folder)] in
            let reason = await other.stopped()
            await other.close()
            return reason
        }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
    }
}

/// Another process has the file.
extension EventLogFailureTests {
    /// A process that reads the file and locks it.
    private func other(_ folder: FaultyFolder) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: folder.path + "/events.sqlite", configuration: configuration)
    }

    private func limits() -> SQLiteEventLog.Limits {
        var limits = SQLiteEventLog.Limits()
        limits.busyTimeout = .milliseconds(1)
        limits.busyRetryAfter = .milliseconds(1)
        return limits
    }

    @Test func `an append waits for another writer`() async throws {
        let folder = try FaultyFolder()
        var limits = self.limits()
        // Doubled each time, it is tried for longer than anything here takes.
        limits.busyRetriesMax = 20
        let log = try SQLiteEventLog(in: StoreDirectory(path: folder.path), limits: limits)
        _ = try await log.append([1], to: self.lane)
        let other = try self.other(folder)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let answers = Answers()
        log.append([2], to: self.lane, done: answers.take(1))
        log.append([3], to: self.lane, done: answers.take(2))
        // Behind the attempt that the other one kept from beginning.
        #expect(try await log.synchronousMode() == 2)
        log.append([4], to: self.lane, done: answers.take(3))
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await answers.all(3).mapValues { try $0.get() } == [1: 2, 2: 3, 3: 4])
        #expect(log.failure == nil)
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[1], [2], [3], [4]])
        try other.close()
        await log.close()
    }

    @Test func `a writer that takes too long has appends refused, and the log goes on`() async throws {
        let folder = try FaultyFolder()
        var limits = self.limits()
        limits.busyRetriesMax = 2
        let log = try SQLiteEventLog(in: StoreDirectory(path: folder.path), limits: limits)
        let other = try self.other(folder)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: EventLogError.self) { _ = try await log.append([1], to: self.lane) }
        await #expect(throws: EventLogError.self) {
            try await log.save(.single(0, ["a": [1]]), of: self.lane)
        }
        #expect(log.failure == nil)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await log.append([2], to: self.lane) == 1)
        try other.close()
        await log.close()
    }

    @Test func `a checkpoint that another process prevents is no failure`() async throws {
        let folder = try FaultyFolder()
        var limits = self.limits()
        limits.checkpointBytes = 100_000
        let log = try SQLiteEventLog(in: StoreDirectory(path: folder.path), limits: limits)
        let wal = folder.path + "/events.sqlite-wal"
        _ = try await log.append([1], to: self.lane)
        // The lock of checkpoints is the byte 121 of the index (SQLite, "WAL-mode File Format", "WAL locks"), for which any
        // program may ask.
        let shared = try SharedLock(path: folder.path + "/events.sqlite-shm", byte: 121)
        for _ in 0..<10 { _ = try await log.append([UInt8](repeating: 1, count: 50_000), to: self.lane) }
        #expect(log.failure == nil)
        let held = try fileBytes(wal)
        #expect(held > 400_000, "nothing was moved")
        await shared.release()
        for _ in 0..<10 { _ = try await log.append([UInt8](repeating: 1, count: 50_000), to: self.lane) }
        #expect(log.failure == nil)
        #expect(try fileBytes(wal) < held + 400_000, "the write-ahead log began anew")
        await log.close()
    }
}

/// The decision by itself.
extension EventLogFailureTests {
    @Test func `each failure means what the decision says`() {
        func decide(
            _ code: Int32,
            _ phase: LogFailure.Phase,
            errno: Int32 = 0,
            undone: Bool = true
        ) -> LogFailure {
            LogFailure(code: code, systemError: errno, phase: phase, isUndone: undone)
        }
        let (busy, locked, full) = (5 as Int32, 6 as Int32, 13 as Int32)
        let (busySnapshot, ioWrite, ioSync, ioShortRead, corrupt) =
            (517 as Int32, 778 as Int32, 1_034 as Int32, 522 as Int32, 11 as Int32)
        for phase in LogFailure.Phase.allCases {
            for code in [busy, locked, busySnapshot] { #expect(decide(code, phase) == .retry) }
            #expect(decide(full, phase) == .outOfSpace)
            for errno in [ENOSPC, EDQUOT, EFBIG] { #expect(decide(ioWrite, phase, errno: errno) == .outOfSpace) }
            #expect(decide(ioWrite, phase, errno: EIO) == .uncertain)
            // Room that is missing only when the file is synchronised: what was written before may be lost.
            for errno in [ENOSPC, EIO] { #expect(decide(ioSync, phase, errno: errno) == .uncertain) }
            for code in [ioShortRead, corrupt, 1, 8, 19, 21, 26] { #expect(decide(code, phase) == .uncertain) }
            // What is not known to be undone is not refused as if it were; a checkpoint has nothing to undo.
            for code in [busy, full] where phase != .checkpoint {
                #expect(decide(code, phase, undone: false) == .uncertain)
            }
        }
        #expect(decide(busy, .checkpoint, undone: false) == .retry)
    }
}

private struct SharedLockError: Error {
    let said: String
}

/// A lock on one byte of a file, held by another process: those of one process do not keep each other out.
private final class SharedLock: Sendable {
    private let process: ChildProcess

    init(path: String, byte: Int) throws {
        let program = """
            import fcntl, sys
            file = open(sys.argv[1], "r+b")
            fcntl.lockf(file, fcntl.LOCK_EX, 1, int(sys.argv[2]))
            print("held", flush=True)
            sys.stdin.read()
            """
        self.process = try ChildProcess(["python3", "-c", program, path, "\(byte)"], input: .pipe, output: .pipe)
        let said = self.process.said(5)
        guard said == "held\n" else { throw SharedLockError(said: said) }
    }

    func release() async {
        self.process.closeInput()
        _ = self.process.wait()
    }
}

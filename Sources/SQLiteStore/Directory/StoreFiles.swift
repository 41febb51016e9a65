// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import Foundation
import GRDB
import GRDBSQLite
import SecretFiles
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Work on the files of stores while they are not open.
///
/// Everything here blocks; `settle`, `onAnotherThread` and `atLowPriority` are for callers that must not.
enum StoreFiles {
    private static let queue = DispatchQueue(label: "cuecast.files", qos: .utility, attributes: .concurrent)

    /// Runs work that takes long on another thread, where it blocks no task.
    static func onAnotherThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// How much lower the priority of a check of a whole file is than that of the process's other threads (`man 2 nice`).
    enum CheckNiceness: Int32, Sendable {
        /// A caller waits for it: an operator who makes a backup, or a start.
        case awaited = 10
        /// No caller waits for it: it may take until the machine has time for it.
        case unhurried = 19
    }

    /// Checks a whole file, behind everything else that this process does.
    ///
    /// The work computes for a time that grows with the file, and acknowledgements must not wait for it. On a busy machine that can
    /// be long: a stop must not wait for it.
    ///
    /// - Parameters:
    ///   - niceness: of the thread.
    ///   - reader: the reader whose query is interrupted when the task is cancelled.
    ///   - body: the check; it asks `Cancellation` between its steps.
    /// - Returns: the findings of the check.
    /// - Throws: the error of the check; `CancellationError` where it was cancelled.
    static func atLowPriority<Value: Sendable>(
        _ niceness: CheckNiceness,
        interrupting reader: DatabaseQueue? = nil,
        _ body: @escaping @Sendable (Cancellation) throws -> Value
    ) async throws -> Value {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await Self.onNiceThread(niceness) { try body(cancellation) }
        } onCancel: {
            cancellation.cancel()
            reader?.interrupt()
        }
    }

    private static func onNiceThread<Value: Sendable>(
        _ niceness: CheckNiceness,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            // A thread of its own: its niceness cannot be taken back.
            Thread.detachNewThread {
                #if os(Linux)
                // On Linux the niceness belongs to the calling thread (man 2 setpriority, "C library/kernel differences").
                _ = nice(niceness.rawValue)
                #endif
                continuation.resume(with: Result { try body() })
            }
        }
    }

    /// Makes a copy that was written under another name survive a loss of power, checks it, and gives it its name.
    static func settle(_ partial: String, as path: String, _ niceness: CheckNiceness) async throws -> StoreCopy {
        try await Self.onAnotherThread {
            try Self.endWriteAheadLogging(partial)
            try Self.synchronize(partial)
        }
        let problems = try await Self.problems(of: partial, niceness)
        guard problems.isEmpty else { throw StoreCopyError.damaged(path: path, problems: problems) }
        try Task.checkCancellation()
        return try await Self.atLowPriority(niceness) { cancellation in
            let (digest, bytes) = try FileDigest.of(partial, cancellation)
            try Self.rename(partial, to: path)
            return StoreCopy(path: path, bytes: bytes, digest: digest)
        }
    }

    /// The faults that SQLite finds in a file that is not written to; empty: none.
    ///
    /// It reads the whole file. Cancelling the task ends it.
    static func problems(of path: String, _ niceness: CheckNiceness = .awaited) async throws -> [String] {
        let queue: DatabaseQueue
        do {
            queue = try Self.reader(of: path)
        } catch {
            return [StoreFile.sentence(error)]
        }
        let problems = try await Self.atLowPriority(niceness, interrupting: queue) { cancellation in
            // Where every core is busy the thread begins late: what was interrupted before it did goes on otherwise.
            try cancellation.check()
            return try Self.problems(of: queue)
        }
        try Task.checkCancellation()
        return problems
    }

    /// The faults that SQLite finds in an open file.
    static func problems(of reader: some DatabaseReader) throws -> [String] {
        do {
            return try reader.read { database in
                let found = try String.fetchAll(
                    database,
                    sql: "PRAGMA integrity_check(\(StoreCopyLimits.problemsMax))"
                )
                return found == ["ok"] ? [] : found
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw CancellationError()
        } catch {
            return [StoreFile.sentence(error)]
        }
    }

    /// A connection that only reads; nothing is written beside the file.
    static func reader(of path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Turns a copy of a file that has a write-ahead log into one that can be read alone.
    private static func endWriteAheadLogging(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        let mode = try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = OFF")
            return try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        }
        guard mode == "delete" else {
            throw StoreCopyError.failed("the journal mode of \(path) is \(mode ?? "unknown")")
        }
    }

    /// Removes a file and what belongs to it.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
    }

    /// Gives a file that is not open its final name, durably; if root made it, the folder's owner gets it (`FolderOwner`).
    static func rename(_ old: String, to new: String) throws {
        var status = stat()
        if unsafe lstat(old, &status) == 0, status.st_mode & S_IFMT == S_IFREG { FolderOwner.take(old) }
        guard unsafe Foundation.rename(old, new) == 0 else { throw Self.failure("rename", old) }
        try Self.synchronizeFolder(of: new)
    }

    /// Writes what the system still holds of a file to the disk.
    static func synchronize(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("open", path) }
        defer { close(descriptor) }
        #if canImport(Darwin)
        guard fcntl(descriptor, F_FULLFSYNC) != -1 else { throw Self.failure("fsync", path) }
        #else
        guard fsync(descriptor) == 0 else { throw Self.failure("fsync", path) }
        #endif
    }

    /// Makes the names in a file's folder survive a loss of power.
    static func synchronizeFolder(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try Self.synchronize(folder.isEmpty ? "." : folder)
    }

    /// How much may still be written to the disk of a folder; `nil`: unknown.
    static func bytesFree(at folder: String) -> Int? {
        var status = statvfs()
        guard unsafe statvfs(folder.isEmpty ? "." : folder, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    private static func failure(_ call: String, _ path: String) -> StoreCopyError {
        .failed("\(call) of \(path): \(unsafe String(cString: strerror(errno)))")
    }
}

/// Whether a caller still waits for the work of a thread.
final class Cancellation: Sendable {
    private let isCancelled = Atomic(false)

    func cancel() { self.isCancelled.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` when no caller does.
    func check() throws {
        if self.isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}

/// The digest of a file's bytes, which detects a changed file.
///
/// Each word goes through a step that can be undone, so that no change of a single word is lost; it does not protect against
/// deliberate deception.
enum FileDigest {
    private static let chunkBytes = 1_048_576

    /// Reads a file.
    static func of(_ path: String, _ cancellation: Cancellation? = nil) throws -> (digest: UInt64, bytes: Int) {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        var bytes = 0
        while let chunk = try file.read(upToCount: Self.chunkBytes), !chunk.isEmpty {
            try cancellation?.check()
            bytes += chunk.count
            digest = Self.add(Array(chunk), to: digest)
        }
        return (Self.mix(digest, UInt64(bytes)), bytes)
    }

    private static func add(_ bytes: [UInt8], to digest: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes { buffer in
            var digest = digest
            var index = 0
            while index + 8 <= buffer.count {
                digest = Self.mix(digest, unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index += 8
            }
            while index < buffer.count {
                digest = Self.mix(digest, UInt64(unsafe buffer[index]))
                index += 1
            }
            return digest
        }
    }

    @inline(__always)
    private static func mix(_ digest: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (digest ^ word.littleEndian) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ (mixed >> 29)
    }
}

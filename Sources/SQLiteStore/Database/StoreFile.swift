// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
package import GRDB
import GRDBSQLite
import SecretFiles

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `open(2)`, which has the name of a function here.
private func openFile(_ path: String, _ flags: Int32, _ rights: mode_t) -> Int32 {
    unsafe open(path, flags, rights)
}

/// The common parts of the log's and the ledger's files.
///
/// One connection does all writes and all checkpoints; readers are read-only: SQLite before 3.51.3 can corrupt a file
/// in WAL mode when two connections write or checkpoint at the same moment.
///
/// Files are never mapped into memory: a failing disk would then end the process instead of returning an error.
package enum StoreFile {
    /// How the two files differ.
    struct Settings {
        /// The size of a page of a new file, in bytes; a file that exists keeps its own.
        var pageBytes = 4_096
        /// The most memory for pages of the writing connection, in KiB.
        var writerCacheKiB: Int
        /// The most memory for pages of each reading connection, in KiB.
        var readerCacheKiB: Int
        /// After how many pages in the write-ahead log SQLite moves them into the file by itself, in a commit; 0:
        /// never.
        var autocheckpointPages: Int
        /// The write-ahead log is cut to this size when it starts again, in bytes.
        var walBytesKept: Int
        /// How long a connection waits for another process, for instance an operator who looks at the file.
        var busyTimeout: Duration = .seconds(5)
    }

    /// How many may read at the same time.
    private static let readersMax = 3

    /// Opens a file in WAL mode and brings its schema up to date.
    static func open(
        _ path: String,
        settings: Settings,
        migrator: DatabaseMigrator
    ) throws(StoreError) -> DatabasePool {
        var configuration = Configuration()
        configuration.maximumReaderCount = Self.readersMax
        configuration.busyMode = .timeout(settings.busyTimeout / .seconds(1))
        configuration.prepareDatabase { database in
            let isReader = database.configuration.readonly
            try database.execute(
                sql: "PRAGMA cache_size = -\(isReader ? settings.readerCacheKiB : settings.writerCacheKiB)"
            )
            guard !isReader else { return }
            try database.execute(sql: "PRAGMA page_size = \(settings.pageBytes)")
            // Debian's SQLite overwrites with zeros whatever is deleted: pruning would write as much as appending did.
            try database.execute(sql: "PRAGMA secure_delete = OFF")
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(settings.autocheckpointPages)")
            try database.execute(sql: "PRAGMA journal_size_limit = \(settings.walBytesKept)")
        }
        do {
            try Self.makePrivate(path)
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.read { try Self.requireKnown($0, migrator, file: path) }
            try migrator.migrate(pool)
            return pool
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(path, error)
        }
    }

    /// Throws `laterSchema` where the file has a schema that this version does not know.
    static func requireKnown(_ database: Database, _ migrator: DatabaseMigrator, file: String) throws {
        guard try !migrator.hasBeenSuperseded(database) else { throw StoreError.laterSchema(file: file) }
    }

    /// Makes the file where there is none, and lets only its owner read it: SQLite gives the files beside it the same rights.
    ///
    /// A file that exists is not opened: closing it again would end the locks that SQLite holds on it in this process.
    private static func makePrivate(_ path: String) throws {
        let descriptor = openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            // SQLite gives what it makes beside the file to the file's owner.
            FolderOwner.take(descriptor, at: path)
            close(descriptor)
        } else if errno != EEXIST {
            throw StoreError.cannotMake(path, errno)
        }
        // It fails where the file belongs to another user, who lets us write.
        for suffix in ["", "-wal", "-shm"] { _ = unsafe chmod(path + suffix, 0o600) }
    }

    /// Makes commits of a connection survive a loss of power, and proves it.
    ///
    /// To be called on an open connection: GRDB sets NORMAL when it opens a file in WAL mode, whatever was set before.
    package static func makeDurable(_ database: Database, file: String) throws {
        #if canImport(Darwin)
        // On Darwin fsync does not reach the medium (SQLite, "PRAGMA fullfsync").
        try database.execute(sql: "PRAGMA fullfsync = ON")
        #endif
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try Self.requireDurable(database, file: file)
    }

    /// Throws `notDurable` unless every commit of this connection is synchronised.
    package static func requireDurable(_ database: Database, file: String) throws {
        let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
        guard synchronous == 2 else { throw StoreError.notDurable(file: file, synchronous: synchronous) }
    }

    /// How many bytes a file and its write-ahead log take; `nil` where there is no file.
    static func bytes(of file: String) -> Int? {
        func size(_ path: String) -> Int? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
        }
        return size(file).map { $0 + (size(file + "-wal") ?? 0) }
    }

    /// The error as a sentence for people.
    static func sentence(_ error: any Error) -> String {
        guard let error = error as? DatabaseError else { return Self.systemSentence(error) ?? "\(error)" }
        // A connection that was not asked since has no message of its own.
        let general = unsafe String(cString: sqlite3_errstr(error.resultCode.rawValue))
        let message = error.message.flatMap { $0 == "not an error" ? nil : $0 } ?? general
        return "\(message) (SQLite \(error.extendedResultCode.rawValue))"
    }

    /// Foundation's error about a file, as `path: No space left on device`; `nil`: it is another's error.
    private static func systemSentence(_ error: any Error) -> String? {
        let error = error as NSError
        guard error.domain == NSCocoaErrorDomain else { return nil }
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
        let reason =
            if let cause, cause.domain == NSPOSIXErrorDomain {
                unsafe String(cString: strerror(Int32(clamping: cause.code)))
            } else {
                error.localizedDescription
            }
        let path =
            error.userInfo["NSDestinationFilePath"] as? String ?? error.userInfo[NSFilePathErrorKey] as? String
            ?? (error.userInfo[NSURLErrorKey] as? URL)?.path
        return path.map { "\($0): \(reason)" } ?? reason
    }
}

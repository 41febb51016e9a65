// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
import GRDB
import GatewayCore
import SecretFiles

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why there is no backup, or nothing was restored.
package enum BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder holds something already.
    case notEmpty(String)
    /// There is nothing to back up in this folder, or no backup in it.
    case nothing(String)
    /// The backup is damaged, or not one of ours.
    case damaged(String)
    /// The log forgot records, again and again, before the copy of the ledger could rely on them.
    case pruned
    case failed(String)
    /// A log that several gateways share lacks records, or has some that no gateway can read.
    case incomplete(String)
    /// A restore did not end; `replaced` are the folders with the files that were there before.
    case unfinished(replaced: [String], reason: String)
    /// A restore did not end, and nothing says any more which numbers were given out before it.
    case floorUnknown(String)

    package var description: String {
        switch self {
        case .notEmpty(let folder): "The folder \(folder) is not empty."
        case .nothing(let folder): "There are no event log and ledger in \(folder)."
        case .damaged(let reason): "The backup cannot be used: \(reason)."
        case .pruned: "The event log forgot records while it was copied; try again."
        case .failed(let reason): "It failed: \(reason)."
        case .incomplete(let reason): "The log is not whole: \(reason). See cuecast verify."
        case .unfinished(let replaced, let reason):
            """
            The restore did not end: \(reason). \(replaced.isEmpty ? "" : "The files that were there are in \(replaced.joined(separator: ", ")). ")\
            No gateway starts on half of the files: free disk space, or fix the error above, and run 'cuecast restore --replace' again.
            """
        case .floorUnknown(let directory):
            """
            The file \(directory)/\(StoreBackups.unfinishedFile) was cut off and does not say any more up to which number was given out before the restore, and there is no folder \(directory)/replaced that does. Put that folder back; or, where no gateway has run in \(directory) before, remove \(StoreBackups.unfinishedFile). Then run 'cuecast restore --replace' again.
            """
        }
    }
}

/// The manifest beside the two files of a backup.
package struct BackupManifest: Codable, Hashable, Sendable {
    package struct File: Codable, Hashable, Sendable {
        package var bytes: Int
        /// The digest of the file's bytes, in hexadecimal digits (`FileDigest`).
        package var digest: String
    }

    /// The version of this document.
    package static let formatNow = 1

    package var format: Int
    /// The program's.
    package var version: String
    /// When the copies began, in microseconds since 1970.
    package var takenMicroseconds: Int64
    package var logID: String
    package var epoch: String
    /// The newest record of each lane in the log's copy.
    package var logOffsets: [String: UInt64]
    /// Up to where the ledger's copy counts.
    package var ledgerOffsets: [String: UInt64]
    /// By name.
    package var files: [String: File]
}

/// How far a backup is.
package struct BackupProgress: Hashable, Sendable {
    /// The file that is being copied.
    package let file: String
    package let pagesDone: Int
    package let pagesTotal: Int
}

/// The result of a restore.
package struct RestoredStores: Hashable, Sendable {
    package let manifest: BackupManifest
    /// The new epoch.
    package let epoch: UInt64
    /// The offsets of the new epoch are above it.
    package let base: UInt64
    /// Where the files went that were there before; `nil`: there were none.
    package let replaced: String?
}

/// Copies of both files that belong together, and how they are used again.
///
/// A copy says that it is one: a gateway that is started on it without a restore begins a new epoch as well.
package enum StoreBackups {
    /// The name of the manifest.
    package static let manifestFile = "manifest.json"
    /// There as long as a restore is not finished.
    static let unfinishedFile = "restore.unfinished"
    /// How often a backup is begun again because the log forgot records that the ledger's copy needs.
    private static let attemptsMax = 3

    /// Makes a backup while the stores are written to.
    ///
    /// The ledger is copied first: the log's copy then holds everything that the ledger's has counted.
    ///
    /// - Parameters:
    ///   - log: open.
    ///   - ledger: open.
    ///   - directory: the data directory, whose keys go with the stores; `nil`: none do.
    ///   - folder: is made; may exist empty.
    ///   - version: the program's.
    ///   - now: by the wall clock.
    ///   - progress: called after each step, by one caller at a time.
    /// - Returns: the content of the manifest.
    /// - Throws: also when the task is cancelled; nothing of the backup is left then.
    package static func make(
        of log: SQLiteEventLog,
        _ ledger: SQLiteLedger,
        keysOf directory: String? = nil,
        in folder: String,
        version: String,
        at now: Timestamp,
        progress: @escaping @Sendable (BackupProgress) -> Void = { _ in }
    ) async throws(BackupError) -> BackupManifest {
        do {
            let folder = Self.absolute(folder)
            try Self.requireEmpty(folder)
            if let directory, ForgettingFiles(directory: directory).isPending {
                throw BackupError.failed("a session is being forgotten; start the gateway, which ends that")
            }
            let partial = folder + ".partial"
            try Self.removeLeft(partial)
            try Self.makeFolder(partial)
            do {
                var manifest = try await Self.copy(log, ledger, to: partial, version: version, at: now, progress)
                if let directory {
                    for name in try KeyBackup.copy(of: directory, to: partial) {
                        manifest.files[name] = try Self.file(partial + "/" + name)
                    }
                }
                try Self.write(manifest, to: partial)
                try StoreFiles.rename(partial, to: folder)
                return manifest
            } catch {
                try? FileManager.default.removeItem(atPath: partial)
                throw error
            }
        } catch {
            throw Self.backupError(error)
        }
    }

    private static func copy(
        _ log: SQLiteEventLog,
        _ ledger: SQLiteLedger,
        to folder: String,
        version: String,
        at now: Timestamp,
        _ progress: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> BackupManifest {
        let (logFile, ledgerFile) = (StoreDirectory.logFile, StoreDirectory.ledgerFile)
        for _ in 0..<Self.attemptsMax {
            for (file, copy) in [
                (ledgerFile, ledger.copy(to:pagesPerStep:progress:)), (logFile, log.copy(to:pagesPerStep:progress:)),
            ] {
                _ = try await copy(folder + "/" + file, nil) { step in
                    progress(BackupProgress(file: file, pagesDone: step.pagesDone, pagesTotal: step.pagesTotal))
                }
            }
            let facts = try await StoreFiles.onAnotherThread {
                try (Self.mark(folder + "/" + ledgerFile, at: now), Self.mark(folder + "/" + logFile, at: now))
            }
            guard try Self.isComplete(folder) else { continue }
            var manifest = BackupManifest(
                format: BackupManifest.formatNow,
                version: version,
                takenMicroseconds: now.microseconds,
                logID: log.identity.logID.description,
                epoch: String(log.epoch, radix: 16),
                logOffsets: try Self.offsets(folder + "/" + logFile) { database in
                    Dictionary(try EventLogSchema.lanes(database).map { ($0.lane, $0.head) }, uniquingKeysWith: max)
                },
                ledgerOffsets: try Self.offsets(folder + "/" + ledgerFile) { try LedgerSchema.appliedOffsets($0) },
                files: [:]
            )
            manifest.files = [ledgerFile: facts.0, logFile: facts.1]
            return manifest
        }
        throw BackupError.pruned
    }

    /// Says in a copy that it is one, and makes that survive a loss of power.
    private static func mark(_ path: String, at now: Timestamp) throws -> BackupManifest.File {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try StoreIdentity.markBackup(at: now, $0) }
        try queue.close()
        _ = unsafe chmod(path, 0o600)
        try StoreFiles.synchronize(path)
        return try Self.file(path)
    }

    static func file(_ path: String) throws -> BackupManifest.File {
        let (digest, bytes) = try FileDigest.of(path)
        return BackupManifest.File(bytes: bytes, digest: String(digest, radix: 16))
    }

    /// Whether the log's copy holds all that the ledger's will need.
    private static func isComplete(_ folder: String) throws -> Bool {
        let lanes = try StoreFiles.reader(of: folder + "/" + StoreDirectory.logFile)
            .read { try EventLogSchema.lanes($0) }
        let applied = try StoreFiles.reader(of: folder + "/" + StoreDirectory.ledgerFile)
            .read { try LedgerSchema.appliedOffsets($0) }
        return lanes.allSatisfy { $0.lane == .breaks || (applied[$0.lane] ?? 0) + 1 >= $0.firstKept }
    }

    private static func offsets(
        _ path: String,
        _ read: (Database) throws -> [Lane: UInt64]
    ) throws -> [String: UInt64] {
        let offsets = try StoreFiles.reader(of: path).read { try read($0) }
        return Dictionary(uniqueKeysWithValues: offsets.map { ($0.key.description, $0.value) })
    }

    static func write(_ manifest: BackupManifest, to folder: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let path = folder + "/" + Self.manifestFile
        try encoder.encode(manifest).write(to: URL(fileURLWithPath: path))
        _ = unsafe chmod(path, 0o600)
        try StoreFiles.synchronize(path)
        try StoreFiles.synchronizeFolder(of: path)
    }

    /// Reads the manifest of a backup.
    package static func manifest(in folder: String) throws(BackupError) -> BackupManifest {
        let path = folder + "/" + Self.manifestFile
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .damaged("there is no \(Self.manifestFile) in \(folder)")
        }
        guard let manifest = try? JSONDecoder().decode(BackupManifest.self, from: bytes) else {
            throw .damaged("\(path) cannot be read")
        }
        guard manifest.format == BackupManifest.formatNow else {
            throw .damaged("\(path) was written by a later version")
        }
        return manifest
    }

    /// Begins to use a backup again, in a data directory that is not in use.
    ///
    /// - Parameters:
    ///   - folder: the backup; it stays as it is.
    ///   - path: the data directory; made where there is none.
    ///   - replacing: whether it may hold other files: those are kept aside in it, and what they know is not used
    ///     again.
    ///   - now: by the machine's clock, which knows what may have been given out where no file does any more; `nil`: it is not asked.
    /// - Returns: the result of the restore; the stores are closed.
    /// - Throws: `BackupError` or `StoreError`; the data directory is as it was unless it says that a restore
    ///   did not end.
    package static func restore(
        from folder: String,
        to path: String,
        replacing: Bool = false,
        at now: Timestamp? = nil
    ) async throws -> RestoredStores {
        let manifest = try Self.manifest(in: folder)
        guard manifest.files[SharedLogBackup.fileName] == nil else {
            throw BackupError.damaged(
                "\(folder) is the backup of a log that several gateways share: use 'cuecast cluster restore'"
            )
        }
        try await Self.check(folder, manifest)
        func real(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        guard real(folder) != real(path) else {
            throw BackupError.failed("the backup lies in the data directory itself; move it to a folder of its own")
        }
        let directory = try StoreDirectory(path: path)
        try SharedLogMark.refuse(in: path)
        guard replacing || !directory.hasStores && !directory.isRestoreUnfinished else {
            throw BackupError.notEmpty(path)
        }
        do {
            return try await Self.replace(with: folder, manifest, in: directory, at: now)
        } catch let error as BackupError {
            throw error
        } catch {
            guard directory.isRestoreUnfinished else { throw Self.untouched(error) }
            let said = StoreFile.sentence(error)
            throw BackupError.unfinished(
                replaced: RestoreFloor.replacedFolders(in: directory),
                reason: said.hasSuffix(".") ? String(said.dropLast()) : said
            )
        }
    }

    /// The error to report if the data directory is unchanged: the gateway's own sentences as they are, the system's as sentences.
    private static func untouched(_ error: any Error) -> any Error {
        (error as NSError).domain == NSCocoaErrorDomain ? BackupError.failed(StoreFile.sentence(error)) : error
    }

    private static func replace(
        with folder: String,
        _ manifest: BackupManifest,
        in directory: StoreDirectory,
        at now: Timestamp?
    ) async throws -> RestoredStores {
        // On a disk without room nothing is touched, and the files that are there can be opened to tell what they know.
        let bytes = manifest.files.values.reduce(0) { $0 + $1.bytes }
        let free = StoreFiles.bytesFree(at: directory.path)
        if let refusal = StoreCopyLimits.refusal(of: directory.path, bytes: bytes, free: free) { throw refusal }
        // Before anything is replaced: keys that cannot be used leave everything as it is.
        try KeyBackup.restoreKeys(from: folder, manifest, to: directory)
        let floor = try RestoreFloor.find(in: directory, at: now)
        let folderAside = RestoreFloor.asideFolder(in: directory)
        // From here on a gateway refuses to start on what is only half there.
        try RestoreFloor.keep(floor, aside: folderAside, in: directory)
        // It is of the ledger that was there.
        _ = try LedgerSeal.take(from: directory)
        let aside = try directory.moveAside(into: directory.file(folderAside))
        for name in [StoreDirectory.ledgerFile, StoreDirectory.logFile] {
            let target = directory.file(name)
            StoreFiles.remove(target)
            try await StoreFiles.onAnotherThread {
                let partial = target + ".partial"
                StoreFiles.remove(partial)
                // Of a link what it leads to: else the gateway would write into the backup.
                let source = URL(fileURLWithPath: folder + "/" + name).resolvingSymlinksInPath().path
                try FileManager.default.copyItem(atPath: source, toPath: partial)
                _ = unsafe chmod(partial, 0o600)
                try StoreFiles.synchronize(partial)
                try StoreFiles.rename(partial, to: target)
            }
        }
        try KeyBackup.restoreRefused(from: folder, manifest, to: directory)
        let stores = try Stores.open(in: directory, floor: floor, finishing: true)
        let restored = RestoredStores(
            manifest: manifest,
            epoch: stores.log.epoch,
            base: stores.log.identity.current.base,
            replaced: aside
        )
        await stores.close()
        let unfinished = directory.file(Self.unfinishedFile)
        _ = unsafe unlink(unfinished)
        try StoreFiles.synchronizeFolder(of: unfinished)
        return restored
    }

    /// Makes sure that a backup is whole, and of a version that can be read.
    private static func check(_ folder: String, _ manifest: BackupManifest) async throws {
        let stores = [
            (StoreDirectory.ledgerFile, LedgerSchema.migrator), (StoreDirectory.logFile, EventLogSchema.migrator),
        ]
        for (name, schema) in stores {
            let path = folder + "/" + name
            guard let expected = manifest.files[name], FileManager.default.fileExists(atPath: path) else {
                throw BackupError.damaged("there is no \(name) in \(folder)")
            }
            let found = try await StoreFiles.onAnotherThread { try Self.file(path) }
            guard found == expected else { throw BackupError.damaged("\(path) is not as it was written") }
            let problems = try await StoreFiles.problems(of: path)
            if let problem = problems.first { throw BackupError.damaged("\(path): \(problem)") }
            try await StoreFiles.onAnotherThread {
                try StoreFiles.reader(of: path).read { try StoreFile.requireKnown($0, schema, file: path) }
            }
        }
        for name in KeyBackup.files {
            guard let expected = manifest.files[name] else { continue }
            let path = folder + "/" + name
            guard (try? Self.file(path)) == expected else {
                throw BackupError.damaged("\(path) is not as it was written")
            }
        }
    }

    static func requireEmpty(_ folder: String) throws {
        var isFolder: ObjCBool = false
        guard unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else { return }
        guard isFolder.boolValue, try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty else {
            throw BackupError.notEmpty(folder)
        }
    }

    /// Removes what a killed backup left; a folder of that name with other contents belongs to another program, and stays.
    static func removeLeft(_ partial: String) throws {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: partial) else { return }
        let ours =
            [StoreDirectory.ledgerFile, StoreDirectory.logFile, SharedLogBackup.fileName, Self.manifestFile]
            + KeyBackup.files
        guard names.allSatisfy({ name in ours.contains { name.hasPrefix($0) } }) else {
            throw BackupError.notEmpty(partial)
        }
        try FileManager.default.removeItem(atPath: partial)
    }

    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// Without a slash at the end, which a temporary name could not follow.
    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    static func backupError(_ error: any Error) -> BackupError {
        switch error {
        case let error as BackupError: error
        case let error as StoreCopyError: .failed("\(error)")
        case let error as KeyFileError: .failed("\(error)")
        default: .failed(StoreFile.sentence(error))
        }
    }
}

extension StoreDirectory {
    /// Whether a restore began here and did not end.
    package var isRestoreUnfinished: Bool {
        FileManager.default.fileExists(atPath: self.file(StoreBackups.unfinishedFile))
    }

    /// Whether there are copies of a ledger.
    fileprivate var hasCopies: Bool { FileManager.default.fileExists(atPath: self.file(LedgerCopies.folderName)) }

    /// Moves the stores into a folder of their own in this one, or goes on with that where it did not end.
    ///
    /// - Returns: the folder; `nil`: there was nothing to move.
    fileprivate func moveAside(into folder: String) throws -> String? {
        let manager = FileManager.default
        var isThere = manager.fileExists(atPath: folder)
        guard isThere || self.hasStores || self.hasCopies else { return nil }
        if !isThere {
            try manager.createDirectory(
                atPath: folder,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            FolderOwner.take(folder)
        }
        for name in [Self.ledgerFile, Self.logFile] {
            // The file itself goes last: where it is in the folder, what is in place is the backup's, from an attempt that did not end.
            isThere = manager.fileExists(atPath: folder + "/" + name)
            for suffix in ["-wal", "-shm", ""]
            where !isThere && manager.fileExists(atPath: self.file(name + suffix))
                && !manager.fileExists(atPath: folder + "/" + name + suffix)
            {
                try manager.moveItem(atPath: self.file(name + suffix), toPath: folder + "/" + name + suffix)
            }
        }
        // Copies of the history that ends here are no beginning for counting the one that comes.
        if self.hasCopies, !manager.fileExists(atPath: folder + "/" + LedgerCopies.folderName) {
            let copies = LedgerCopies.folderName
            try FileManager.default.moveItem(atPath: self.file(copies), toPath: folder + "/" + copies)
        }
        try StoreFiles.synchronizeFolder(of: folder + "/x")
        try StoreFiles.synchronizeFolder(of: folder)
        return folder
    }
}

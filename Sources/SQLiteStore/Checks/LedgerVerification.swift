// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
import GRDB
package import GatewayCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why a data directory cannot be verified.
package enum VerificationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is nothing to verify, or it cannot be read.
    case unusable(String)
    /// The data for a recount is not available at present.
    case unavailable(String)

    package var description: String {
        switch self {
        case .unusable(let sentence), .unavailable(let sentence): sentence
        }
    }
}

/// Counts the log anew and compares with the ledger, without writing to either.
///
/// The gateway may run: what is compared is the ledger at one moment with a recount up to the same record. A recount
/// begins with the first record of the log where it is still kept, else with the oldest checked copy of the ledger from
/// which the log goes on.
package struct LedgerVerification: Hashable, Sendable {
    /// How far it is.
    package enum Progress: Hashable, Sendable {
        case copying
        case counting(UInt64, of: UInt64)
        /// Makes the board anew, of a log that several gateways share.
        case folding(UInt64, of: UInt64)
        case comparing
    }

    /// Under which name folders are made in the data directory.
    static let folderPrefix = "verify-"
    /// How often it begins again when the log forgets what is being read.
    private static let attemptsMax = 3

    /// Up to which record of each lane the ledger counts.
    package var offsets: [Lane: UInt64]
    /// The differences between the ledger's totals and its own rows.
    package var audit: [String]
    /// The differences between the ledger and the recount; `nil` if there was no recount.
    package var differences: LedgerDifferences?
    /// When the copy was made that the recount began with; `nil`: it began with the first record.
    package var base: Timestamp?
    /// Records that are known to be lost.
    package var gaps: [LedgerGap]

    /// The findings about a log that several gateways share, and the board; `nil`: the log is in the data directory, or was not read.
    package var shared: SharedLogFindings?

    package var isRight: Bool {
        self.audit.isEmpty && self.differences?.count ?? 0 == 0 && self.shared?.isRight ?? true
    }

    /// Opens the log that several gateways share, of a directory with this mark.
    ///
    /// It throws `VerificationError`.
    package typealias SharedLogOpener = @Sendable (SharedLogMark) async throws -> any InspectedLog

    /// Verifies a data directory.
    ///
    /// - Parameters:
    ///   - dataDirectory: its path.
    ///   - ledgerOnly: whether to compare the ledger only with itself.
    ///   - openShared: opens the log where several gateways share it; `nil`: then only the ledger can be compared.
    ///   - progress: told how far it is.
    /// - Returns: the findings.
    /// - Throws: `VerificationError`.
    package static func run(
        in dataDirectory: String,
        ledgerOnly: Bool,
        openShared: SharedLogOpener? = nil,
        progress: @escaping @Sendable (Progress) -> Void
    ) async throws -> LedgerVerification {
        let shared = try Self.requireFiles(in: dataDirectory, ledgerOnly: ledgerOnly, canShare: openShared != nil)
        do {
            Self.removeLeftFolders(in: dataDirectory)
            let folder = dataDirectory + "/" + Self.folderPrefix + UUID().uuidString
            // Held as long as it is used, so that others can tell it from one that was left.
            let hold = try StoreDirectory(path: folder)
            defer { withExtendedLifetime(hold) { try? FileManager.default.removeItem(atPath: folder) } }
            let forgetting = ForgettingFiles(directory: dataDirectory)
            for attempt in 1... {
                let mark = forgetting.mark
                do {
                    let result = try await Self.attempt(
                        in: dataDirectory,
                        folder: "\(folder)/\(attempt)",
                        ledgerOnly: ledgerOnly,
                        shared: shared.flatMap { mark in openShared.map { (mark, $0) } },
                        progress: progress
                    )
                    // A session that was forgotten meanwhile has other names in a part of what was read.
                    if result.isRight || (mark == forgetting.mark && !forgetting.isPending) { return result }
                    // This checks first whether another process has the directory: one that ends meanwhile has also ended what was
                    // pending.
                    if !Self.isInUse(dataDirectory), forgetting.isPending {
                        throw VerificationError.unavailable(
                            "A session is being forgotten, and has its old names in a part of the books:"
                                + " start the gateway, which ends that, and verify again."
                        )
                    }
                    guard attempt < Self.attemptsMax else {
                        throw VerificationError.unavailable("Sessions are being forgotten; try again.")
                    }
                } catch EventLogError.pruned where attempt < Self.attemptsMax {
                    continue
                }
            }
            throw VerificationError.unavailable("The log forgets records faster than they are counted.")
        } catch let error as VerificationError {
            throw error
        } catch let error as EventLogError {
            throw VerificationError.unavailable("\(error)")
        } catch {
            let sentence = "\(dataDirectory) cannot be verified: \(StoreFile.sentence(error))"
            // A disk that cannot be written or read says nothing about its content.
            switch error {
            case StoreError.unusable, StoreCopyError.noSpace, is CocoaError:
                throw VerificationError.unavailable(sentence)
            default:
                guard StoreError.isOfWriting(error) else { throw VerificationError.unusable(sentence) }
                throw VerificationError.unavailable(sentence)
            }
        }
    }

    /// There is something to verify.
    ///
    /// - Returns: which log it is, where several gateways share it.
    private static func requireFiles(
        in dataDirectory: String,
        ledgerOnly: Bool,
        canShare: Bool
    ) throws(VerificationError) -> SharedLogMark? {
        var status = stat()
        let mark: SharedLogMark?
        do throws(StoreError) {
            mark = try SharedLogMark.read(in: dataDirectory)
        } catch {
            throw .unavailable("\(error)")
        }
        guard ledgerOnly || mark == nil || canShare else {
            throw .unavailable(
                "The log of \(dataDirectory) is one that several gateways share: name its servers with --servers, or the"
                    + " configuration file with --config. --ledger-only compares the ledger with itself."
            )
        }
        if unsafe lstat(dataDirectory + "/" + StoreBackups.unfinishedFile, &status) == 0 {
            throw .unavailable("A restore did not end in \(dataDirectory): do it again with cuecast restore --replace.")
        }
        for name in [StoreDirectory.ledgerFile] + (mark != nil ? [] : [StoreDirectory.logFile])
        where unsafe stat(dataDirectory + "/" + name, &status) != 0 {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw .unavailable("\(dataDirectory)/\(name): \(unsafe String(cString: strerror(errno)))")
            }
            throw .unusable("There is no \(name) in \(dataDirectory).")
        }
        return mark
    }

    private static func attempt(
        in dataDirectory: String,
        folder: String,
        ledgerOnly: Bool,
        shared: (mark: SharedLogMark, open: SharedLogOpener)?,
        progress: @escaping @Sendable (Progress) -> Void
    ) async throws -> LedgerVerification {
        progress(.copying)
        let isRunning = Self.isInUse(dataDirectory)
        let copy = try await Self.copyOfLedger(in: dataDirectory, folder: folder, isRunning: isRunning)
        guard let reader = copy.reader else { return copy.found }
        defer { try? reader.close() }
        let (found, identity) = (copy.found, copy.identity)
        guard !ledgerOnly else { return found }
        if let shared {
            let board = try await Self.copyBoard(in: dataDirectory, folder: folder, isRunning: isRunning)
            defer { board?.close() }
            let books = SharedBooks(mark: shared.mark, ledger: reader, identity: identity, board: board)
            // After the copies: so the log has all that they have.
            let log = try await shared.open(shared.mark)
            return try await books.compare(found, with: log, in: folder, progress: progress)
        }
        var result = found
        let log = try await Self.openLog(in: dataDirectory, folder: folder, isRunning: isRunning)
        defer { log.close() }
        let copies = LedgerCopies(dataDirectory: dataDirectory).list().reversed()
        let base = try await LedgerCheck.base(
            for: result.offsets,
            of: identity,
            gaps: result.gaps,
            copies: Array(copies),
            source: log
        )
        guard let base else {
            throw VerificationError.unavailable(
                "Nothing can be counted anew: the log does not have all that the ledger counts,"
                    + " and no copy of the ledger is followed by it."
            )
        }
        if case .copy(let copy) = base { result.base = copy.made }
        let recount = try await LedgerRecount.make(
            in: folder + "/recount",
            from: base.path,
            source: log,
            through: result.offsets,
            gaps: result.gaps
        ) { progress(.counting($0, of: $1)) }
        progress(.comparing)
        result.differences = try await StoreFiles.onAnotherThread {
            let other = try StoreFiles.reader(of: recount)
            defer { try? other.close() }
            return try LedgerComparison.differences(reader, other)
        }
        return result
    }

    /// Copies the ledger as it is at one moment, and compares the copy with itself.
    ///
    /// - Parameters:
    ///   - dataDirectory: with the ledger.
    ///   - folder: is made; the copy is in its folder `checked`.
    ///   - isRunning: whether a gateway may write to the ledger.
    /// - Returns: the copy, open (`nil`: it is damaged), what it says of itself, and which log it counts.
    /// - Throws: where it cannot be read or copied.
    static func copyOfLedger(
        in dataDirectory: String,
        folder: String,
        isRunning: Bool
    ) async throws -> (reader: DatabaseQueue?, found: LedgerVerification, identity: LogIdentity?) {
        let checked = folder + "/checked/ledger.sqlite"
        try FileManager.default.createDirectory(atPath: folder + "/checked", withIntermediateDirectories: true)
        try await Self.copyStore(dataDirectory + "/ledger.sqlite", to: checked, isRunning: isRunning)
        let problems = try await StoreFiles.problems(of: checked)
        guard problems.isEmpty else {
            let found = LedgerVerification(offsets: [:], audit: problems, differences: nil, base: nil, gaps: [])
            return (nil, found, nil)
        }
        // A ledger of an earlier version gets the tables of this one, in the copy.
        await (try SQLiteLedger(in: StoreDirectory(path: folder + "/checked"))).close()

        let reader = try StoreFiles.reader(of: checked)
        let (found, identity) = try await StoreFiles.onAnotherThread {
            try reader.read { database in
                let result = LedgerVerification(
                    offsets: try LedgerSchema.appliedOffsets(database),
                    audit: try LedgerAudit.differences(database),
                    differences: nil,
                    base: nil,
                    gaps: try LedgerSchema.gaps(database)
                )
                return (result, try StoreIdentity.read(database))
            }
        }
        return (reader, found, identity)
    }

    /// Whether a process holds the data directory.
    private static func isInUse(_ dataDirectory: String) -> Bool {
        let descriptor = unsafe open(dataDirectory + "/cuecast.lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
        flock(descriptor, LOCK_UN)
        return false
    }

    /// Copies the board that a gateway keeps of a shared log.
    ///
    /// - Returns: `nil` where there is none.
    private static func copyBoard(
        in dataDirectory: String,
        folder: String,
        isRunning: Bool
    ) async throws -> KeptBoard? {
        let file = dataDirectory + "/" + BoardCache.fileName
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        let copy = folder + "/checked/" + BoardCache.fileName
        try await Self.copyStore(file, to: copy, isRunning: isRunning)
        return await KeptBoard(copy)
    }

    /// Copies the ledger, or another store, as it is at one moment.
    private static func copyStore(_ file: String, to copy: String, isRunning: Bool) async throws {
        try await StoreFiles.onAnotherThread {
            guard isRunning else {
                // No process writes: the files are complete, with what a killed process left in the write-ahead log.
                return try Self.copyFiles(of: file, to: copy)
            }
            let reader = try StoreFiles.reader(of: file)
            defer { try? reader.close() }
            try reader.inDatabase { database in
                let backup = try StoreBackup(from: database, to: copy)
                // In one step, so that the gateway's writes do not make it begin again.
                while try !backup.step(pages: Int(Int32.max)) {}
                try backup.finish()
            }
        }
    }

    private static func copyFiles(of file: String, to copy: String) throws {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: file + suffix) {
            try FileManager.default.copyItem(atPath: file + suffix, toPath: copy + suffix)
        }
    }

    /// Opens the log so that nothing is written beside it.
    static func openLog(in dataDirectory: String, folder: String, isRunning: Bool) async throws -> EventLogFile {
        let file = dataDirectory + "/events.sqlite"
        if isRunning { return try EventLogFile(path: file) }
        let wal = (try? FileManager.default.attributesOfItem(atPath: file + "-wal")[.size] as? Int) ?? 0
        let immutable = URL(fileURLWithPath: file).absoluteString + "?immutable=1"
        if wal == 0, let log = try? EventLogFile(path: immutable) { return log }
        return try await StoreFiles.onAnotherThread {
            let copy = folder + "/events.sqlite"
            try Self.copyFiles(of: file, to: copy)
            return try EventLogFile(path: copy)
        }
    }

    /// Removes the folders that killed processes left.
    private static func removeLeftFolders(in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(Self.folderPrefix) && !Self.isInUse(parent + "/" + name) {
            try? FileManager.default.removeItem(atPath: parent + "/" + name)
        }
    }
}

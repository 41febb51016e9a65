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

/// Makes backups of a log that several gateways share.
///
/// All its records are copied, and nothing of any gateway but its keys: ledgers and boards are made anew of the records.
package enum SharedLogBackups {
    private static let recordsPerReadMax = 512

    /// Makes a backup while gateways append.
    ///
    /// - Parameters:
    ///   - log: as its servers have it; the backup ends with what was the newest when it was opened.
    ///   - forgotten: tells which sessions were forgotten; asked before and after, because records change while one is.
    ///   - directory: the data directory of a gateway, whose keys go with the records; `nil`: none do.
    ///   - folder: is made; may exist empty.
    ///   - version: the program's.
    ///   - now: by the wall clock.
    ///   - progress: told which record of a lane was copied, and which is the last.
    /// - Returns: the content of the manifest.
    /// - Throws: `incomplete` where records are missing, or no gateway could read one. Nothing of the backup is left then.
    package static func make(
        of log: any InspectedLog,
        forgotten: () async throws -> ForgottenInLog,
        keysOf directory: String? = nil,
        in folder: String,
        version: String,
        at now: Timestamp,
        progress: (Lane, UInt64, UInt64) -> Void = { _, _, _ in }
    ) async throws -> BackupManifest {
        let folder = StoreBackups.absolute(folder)
        try StoreBackups.requireEmpty(folder)
        let partial = folder + ".partial"
        try StoreBackups.removeLeft(partial)
        try StoreBackups.makeFolder(partial)
        do {
            var manifest = BackupManifest(
                format: BackupManifest.formatNow,
                version: version,
                takenMicroseconds: now.microseconds,
                logID: log.identity.logID.description,
                epoch: String(log.identity.epoch, radix: 16),
                logOffsets: [:],
                ledgerOffsets: [:],
                files: [:]
            )
            let before = try await forgotten()
            let path = partial + "/" + SharedLogBackup.fileName
            manifest.logOffsets = try await Self.copy(log, before, to: path, at: now, progress)
            guard try await forgotten() == before else {
                throw BackupError.failed("a session was forgotten meanwhile: make the backup again")
            }
            manifest.files[SharedLogBackup.fileName] = try await StoreFiles.onAnotherThread {
                try StoreFiles.synchronize(path)
                return try StoreBackups.file(path)
            }
            if let directory {
                for name in try KeyBackup.copy(of: directory, to: partial) {
                    manifest.files[name] = try StoreBackups.file(partial + "/" + name)
                }
            }
            try StoreBackups.write(manifest, to: partial)
            try StoreFiles.rename(partial, to: folder)
            return manifest
        } catch {
            try? FileManager.default.removeItem(atPath: partial)
            throw error
        }
    }

    /// - Returns: the newest record of each lane.
    private static func copy(
        _ log: any InspectedLog,
        _ forgotten: ForgottenInLog,
        to path: String,
        at now: Timestamp,
        _ progress: (Lane, UInt64, UInt64) -> Void
    ) async throws -> [String: UInt64] {
        let identity = log.identity
        let queue = try await StoreFiles.onAnotherThread {
            var configuration = Configuration()
            // A backup that is not finished is thrown away; it is synchronised once it is whole.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF") }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            _ = unsafe chmod(path, 0o600)
            try SharedLogBackupSchema.migrator.migrate(queue)
            try queue.write { database in
                try StoreIdentity.write(identity, database)
                try StoreIdentity.markBackup(at: now, database)
                try SharedLogBackupSchema.write(forgotten, database)
            }
            return queue
        }
        defer { try? queue.close() }
        let checked = CheckedLog(log, marks: [])
        var heads: [String: UInt64] = [:]
        for lane in SharedLogBackup.lanes {
            let head = try await checked.head(of: lane)
            var last: UInt64 = 0
            while last < head {
                try Task.checkCancellation()
                let records = try await checked.records(
                    of: lane,
                    after: last,
                    recordsMax: Self.recordsPerReadMax,
                    bytesMax: RecordComparison.bytesMax
                )
                guard checked.findings.count == 0, let end = records.last?.offset else {
                    throw BackupError.incomplete(
                        checked.findings.sentences.first ?? "the lane \(lane) has no record behind \(last)"
                    )
                }
                try await StoreFiles.onAnotherThread {
                    try queue.write { try SharedLogBackupSchema.insert(records, lane, $0) }
                }
                last = end
                progress(lane, last, head)
            }
            heads[lane.description] = head
        }
        return heads
    }
}

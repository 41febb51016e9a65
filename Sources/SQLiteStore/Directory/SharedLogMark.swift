// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
package import GatewayCore
import SecretFiles

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file of a data directory that says: the event log of this ledger is not here, several gateways share it.
///
/// It is written before the ledger is made, and changes only when the log was restored from a backup (`leaveEarlierEpoch`). A gateway with a log of its own refuses a directory that has it, and one
/// with a shared log refuses a directory with a log, or with the mark of another log.
package struct SharedLogMark: Hashable, Sendable {
    /// The name of the file.
    package static let fileName = "shared-log"
    private static let head = "cuecast shared log 1"
    private static let bytesMax = 256
    /// The name of the limit, for sentences.
    private static let limit = "sharedLogFileBytesMax"

    /// The epoch that a restore of the log began.
    package struct Epoch: Hashable, Sendable {
        package let number: UInt64
        /// Its offsets are above it: a later epoch has a higher one.
        package let base: UInt64
    }

    package let logID: LogID
    /// The prefix of the log on its servers, for people.
    package let prefix: String
    /// `nil`: the log was never restored.
    package let epoch: Epoch?

    package init(logID: LogID, prefix: String, epoch: Epoch? = nil) {
        self.logID = logID
        self.prefix = prefix
        self.epoch = epoch
    }

    /// The mark of a log, as its servers have it.
    package init(of identity: LogIdentity, prefix: String) {
        let current = identity.current
        let epoch = identity.epochs.count > 1 ? Epoch(number: current.number, base: current.base) : nil
        self.init(logID: identity.logID, prefix: prefix, epoch: epoch)
    }

    var text: String { self.text(under: Self.head) }

    fileprivate func text(under head: String) -> String {
        let epoch = self.epoch.map { "epoch \(String($0.number, radix: 16)) \($0.base)\n" } ?? ""
        return "\(head)\nlog \(self.logID)\nprefix \(self.prefix)\n\(epoch)"
    }

    /// - Returns: `nil` where it is not exactly what `text` is.
    init?(text: String) { self.init(text: text, under: Self.head) }

    fileprivate init?(text: String, under head: String) {
        let all = text.split(separator: "\n")
        let lines = all.map { $0.split(separator: " ").last ?? "" }
        guard (3...4).contains(lines.count), lines[1].utf8.count == 32,
            let high = UInt64(lines[1].prefix(16), radix: 16),
            let low = UInt64(lines[1].suffix(16), radix: 16)
        else { return nil }
        var epoch: Epoch?
        if lines.count == 4 {
            let words = all[3].split(separator: " ")
            guard words.count == 3, let number = UInt64(words[1], radix: 16), let base = UInt64(words[2]) else {
                return nil
            }
            epoch = Epoch(number: number, base: base)
        }
        self.init(logID: LogID(high: high, low: low), prefix: String(lines[2]), epoch: epoch)
        guard self.text(under: head) == text else { return nil }
    }

    /// The mark of a directory; `nil`: it has none.
    ///
    /// - Parameter path: of the directory.
    /// - Returns: the mark.
    /// - Throws: `unusable` where it cannot be read.
    package static func read(in path: String) throws(StoreError) -> SharedLogMark? {
        try Self.read(Self.fileName, under: Self.head, in: path)
    }

    fileprivate static func read(
        _ name: String,
        under head: String,
        in path: String
    ) throws(StoreError) -> SharedLogMark? {
        let file = path + "/" + name
        var status = stat()
        if unsafe lstat(file, &status) != 0, errno == ENOENT || errno == ENOTDIR { return nil }
        let bytes: [UInt8]
        do throws(SecretFile.Fault) {
            bytes = try SecretFile.read(file, bytesMax: Self.bytesMax, limit: Self.limit).bytes
        } catch {
            throw .unusable(directory: path, reason: "\(error)")
        }
        guard let mark = SharedLogMark(text: String(decoding: bytes, as: UTF8.self), under: head) else {
            throw .unusable(directory: path, reason: "\(file) is not what a gateway wrote")
        }
        return mark
    }

    /// Refuses a directory whose log is a shared one, or was moved to one, for those who would open or make a log in it.
    ///
    /// - Parameter path: of the directory.
    /// - Throws: `unusable`, with what to do.
    package static func refuse(in path: String) throws(StoreError) {
        try MigrationMark.refuse(in: path)
        guard let mark = try Self.read(in: path) else { return }
        throw .unusable(
            directory: path,
            reason:
                "its ledger counts the log \(mark.logID), which several gateways share on NATS (prefix \(mark.prefix)); name its servers with jetstream.servers, or choose another data directory"
        )
    }

    /// Refuses a directory with a log of its own, for those who have a shared one.
    ///
    /// - Parameter directory: held.
    /// - Throws: `unusable`, with what to do.
    package static func refuseOwnLog(in directory: StoreDirectory) throws(StoreError) {
        guard try Self.read(in: directory.path) == nil, directory.hasStores else { return }
        throw .unusable(
            directory: directory.path,
            reason:
                "it has an event log or a ledger of its own, and jetstream.servers names a log that several gateways share; leave jetstream.servers out, or choose another data directory"
        )
    }

    /// Why nothing is opened where the log lacks something that this machine knows of it.
    ///
    /// - Parameters:
    ///   - difference: between the log and what is known of it.
    ///   - path: of the directory.
    /// - Returns: the error, with what to do.
    static func wentBack(_ difference: String, in path: String) -> StoreError {
        .unusable(
            directory: path,
            reason:
                "the shared log went back: \(difference). Stop every gateway of this log, and see docs/operations/cluster.md, 'The log went back'"
        )
    }

    /// Takes a directory for a shared log.
    ///
    /// - Parameter directory: held.
    /// - Returns: whether it was not taken before.
    /// - Throws: `unusable`, with what to do, where it belongs to something else.
    package func take(_ directory: StoreDirectory) throws(StoreError) -> Bool {
        if let mark = try Self.read(in: directory.path) {
            guard mark.logID != self.logID || mark.epoch != self.epoch else { return false }
            throw .unusable(
                directory: directory.path,
                reason:
                    "its ledger counts the log \(mark.logID) (prefix \(mark.prefix)), and the servers have the log \(self.logID) (prefix \(self.prefix)); name the servers and the prefix of the first one, or choose another data directory"
            )
        }
        try Self.refuseOwnLog(in: directory)
        try self.write(in: directory)
        return true
    }

    private func write(in directory: StoreDirectory) throws(StoreError) {
        do throws(SecretFile.Fault) {
            try SecretFile.replace(directory.file(Self.fileName), Array(self.text.utf8), mode: 0o600)
        } catch {
            throw .unusable(directory: directory.path, reason: "\(error)")
        }
    }

    /// The knowledge of a directory about the log before a restore.
    package struct Left: Hashable, Sendable {
        /// Where it is kept.
        package let folder: String
        /// How many records of each lane this gateway had counted that the restored log does not have; `nil`: that cannot be read.
        package let lost: [Lane: UInt64]?
    }

    /// Sets aside what a directory has counted and kept of a log that was restored from a backup since.
    ///
    /// An operator has restored the log on purpose, and what came after the backup is not in it: so a ledger of before counts records that
    /// the log does not have, or others at their offsets. The gateway counts the log anew. Keys, forgotten sessions and the audit stay.
    /// The mark is changed last: what is cut off is done again.
    ///
    /// - Parameters:
    ///   - directory: held.
    ///   - identity: of the log, as its servers have it.
    /// - Returns: the folder and the number of lost records; `nil`: the directory is of this epoch, or of no shared log.
    /// - Throws: `unusable` where the log is of an earlier epoch than the directory: then it went back.
    package func leaveEarlierEpoch(
        _ directory: StoreDirectory,
        of identity: LogIdentity
    ) throws(StoreError) -> Left? {
        guard let before = try Self.read(in: directory.path), before.logID == self.logID, before.epoch != self.epoch
        else { return nil }
        guard let epoch = self.epoch, epoch.base > before.epoch?.base ?? 0 else {
            throw Self.wentBack(
                "this directory belongs to an epoch that began later than the one at the servers",
                in: directory.path
            )
        }
        let lost = Self.lost(in: directory, countedIn: before.epoch, of: identity)
        do {
            let folder =
                try LedgerReplacement.asideFolder(in: directory)
                + "/before-restore-\(String(epoch.number, radix: 16))"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            FolderOwner.take(folder)
            for name in Self.filesOfEpoch {
                let file = directory.file(name)
                guard FileManager.default.fileExists(atPath: file) else { continue }
                guard !FileManager.default.fileExists(atPath: folder + "/" + name) else {
                    throw StoreError.unusable(
                        directory: directory.path,
                        reason: "\(file) and \(folder)/\(name) are both there: move one of them away"
                    )
                }
                try StoreFiles.rename(file, to: folder + "/" + name)
            }
            try self.write(in: directory)
            return Left(folder: folder, lost: lost)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unusable(directory: directory.path, reason: StoreFile.sentence(error))
        }
    }

    /// The records that the ledger has counted, and that were not there when a later epoch began.
    ///
    /// - Parameters:
    ///   - directory: of the ledger. The ledger of a shared log does not know the epochs.
    ///   - epoch: the one that the ledger counted; `nil`: the first one.
    ///   - identity: of the log now.
    /// - Returns: `nil` where the ledger cannot be read, or the restored log does not know the epoch.
    private static func lost(
        in directory: StoreDirectory,
        countedIn epoch: Epoch?,
        of identity: LogIdentity
    ) -> [Lane: UInt64]? {
        let place = epoch.map { epoch in identity.epochs.firstIndex { $0.number == epoch.number } } ?? 0
        guard let place, FileManager.default.fileExists(atPath: directory.file(StoreDirectory.ledgerFile)),
            let known = LogIdentity(logID: identity.logID, epochs: Array(identity.epochs[...place])),
            let ledger = try? SQLiteLedger.openFile(in: directory)
        else { return nil }
        defer { try? ledger.close() }
        let later = identity.epochs[(place + 1)...]
        guard let applied = try? ledger.read({ try LedgerSchema.appliedOffsets($0) }) else { return nil }
        return applied.reduce(into: [:]) { lost, lane in
            let last = later.map { $0.last(of: lane.key) }.min() ?? lane.value
            lost[lane.key] = known.count(after: last, through: lane.value, in: lane.key)
        }
    }

    /// All that a gateway keeps of one epoch of a log.
    private static let filesOfEpoch: [String] =
        [StoreDirectory.ledgerFile, BoardCache.fileName]
        .flatMap { name in
            ["", "-wal", "-shm", "-journal"].map { name + $0 }
        } + [LedgerSeal.name, LedgerCopies.folderName, SharedForgettingFile.fileName]
}

/// A file of a data directory that says: the event log that is here was moved to one that several gateways share.
///
/// No gateway starts on such a directory: it would go on with a history that the others do not have.
package enum MigrationMark {
    /// The name of the file.
    package static let fileName = "migrated"
    private static let head = "cuecast migrated 1"

    /// Which log the directory's was moved to; `nil`: it was not moved.
    ///
    /// - Parameter path: of the directory.
    /// - Returns: the log.
    /// - Throws: `unusable` where the file cannot be read.
    package static func read(in path: String) throws(StoreError) -> SharedLogMark? {
        try SharedLogMark.read(Self.fileName, under: Self.head, in: path)
    }

    /// Marks a directory.
    ///
    /// - Parameters:
    ///   - log: where its log is now.
    ///   - directory: held.
    /// - Throws: `unusable` where the file cannot be written.
    static func put(_ log: SharedLogMark, in directory: StoreDirectory) throws(StoreError) {
        do throws(SecretFile.Fault) {
            let bytes = Array(log.text(under: Self.head).utf8)
            try SecretFile.replace(directory.file(Self.fileName), bytes, mode: 0o600)
        } catch {
            throw .unusable(directory: directory.path, reason: "\(error)")
        }
    }

    static func refuse(in path: String) throws(StoreError) {
        guard let log = try Self.read(in: path) else { return }
        throw .unusable(
            directory: path,
            reason:
                "its event log was moved to the log \(log.logID), which several gateways share (prefix \(log.prefix)); start a gateway with jetstream.servers on another directory. Only where that log is given up, remove the file \(Self.fileName)"
        )
    }
}

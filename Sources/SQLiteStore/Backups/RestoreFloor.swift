// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore
import SecretFiles

/// The highest offset that the files knew which a restore moves aside, in the file that says that it did not end.
///
/// One line, a whole number. A file without the line's end was cut off, and is not believed: then the files that were moved aside say it again.
enum RestoreFloor {
    private static let fileBytesMax = 64

    /// What an attempt before this one left.
    enum Before: Hashable {
        case none
        case known(UInt64)
        /// It says less than was written, or nothing.
        case cutOff(atLeast: UInt64)
    }

    static func before(in directory: StoreDirectory) -> Before {
        do throws(SecretFile.Fault) {
            let bytes =
                try SecretFile.read(
                    directory.file(StoreBackups.unfinishedFile),
                    bytesMax: Self.fileBytesMax,
                    limit: "restoreUnfinishedFileBytesMax"
                )
                .bytes
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\n"), let floor = UInt64(text.dropLast()) { return .known(floor) }
            return .cutOff(atLeast: UInt64(text) ?? 0)
        } catch {
            return error.isMissing ? .none : .cutOff(atLeast: 0)
        }
    }

    /// Finds out what no new epoch may use again, from the files that are there and from what an attempt before left.
    ///
    /// - Throws: `floorUnknown` where nothing says it any more.
    static func find(in directory: StoreDirectory) throws -> UInt64 {
        let here = directory.hasStores ? directory.highestOffset() : 0
        switch Self.before(in: directory) {
        case .none: return here
        case .known(let floor): return max(floor, here)
        case .cutOff(let least):
            let folders = Self.replacedFolders(in: directory)
            // Stores in place that are no copies of a backup are those from before: they were not moved yet.
            guard !folders.isEmpty || directory.hasStores && !directory.isUnopenedBackup() else {
                throw BackupError.floorUnknown(directory.path)
            }
            return try folders.reduce(max(least, here)) { floor, folder in
                let aside = try StoreDirectory(path: folder)
                return max(floor, aside.hasStores ? aside.highestOffset() : 0)
            }
        }
    }

    /// Keeps it, whole or as it was before: a number that is there already is only ever raised.
    static func keep(_ floor: UInt64, in directory: StoreDirectory) throws {
        try SecretFile.replace(directory.file(StoreBackups.unfinishedFile), Array("\(floor)\n".utf8), mode: 0o600)
    }

    /// Where files are that were moved aside, by restores that ended too.
    static func replacedFolders(in directory: StoreDirectory) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0 == "replaced" || $0.hasPrefix("replaced-") }.sorted().map { directory.file($0) }
    }
}

extension StoreDirectory {
    /// Whether a file in place is a copy of a backup that nobody has opened as a gateway's.
    fileprivate func isUnopenedBackup() -> Bool {
        [Self.logFile, Self.ledgerFile]
            .contains { name in
                guard let reader = try? StoreFiles.reader(of: self.file(name)) else { return false }
                defer { try? reader.close() }
                return (try? reader.read { try StoreIdentity.isBackup($0) }) ?? false
            }
    }

    /// The highest offset that the files here know; 0 for those that cannot be read.
    fileprivate func highestOffset() -> UInt64 {
        var offsets: [UInt64] = []
        if let log = try? SQLiteEventLog.openFile(in: self, limits: SQLiteEventLog.Limits()) {
            offsets += (try? log.read { try EventLogSchema.lanes($0).map(\.head) }) ?? []
            offsets += (try? log.read { [try StoreIdentity.log($0).current.base] }) ?? []
            try? log.close()
        }
        if let ledger = try? SQLiteLedger.openFile(in: self) {
            offsets += (try? ledger.read { Array(try LedgerSchema.appliedOffsets($0).values) }) ?? []
            offsets += (try? ledger.read { [try LedgerBreaks.highestOffset($0)] }) ?? []
            offsets += (try? ledger.read { [try StoreIdentity.read($0)?.current.base ?? 0] }) ?? []
            try? ledger.close()
        }
        return offsets.max() ?? 0
    }
}

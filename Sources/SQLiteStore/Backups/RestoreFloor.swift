// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore
import SecretFiles

/// The highest offset that the files knew which a restore moves aside, and where they are moved, in the file that says that it did not end.
///
/// One line: a whole number, and the name of a folder once there is one. A file without the line's end was cut off, and is not believed: then
/// the files that were moved aside say it again.
enum RestoreFloor {
    private static let fileBytesMax = 64

    /// The rest of an earlier attempt.
    enum Before: Hashable {
        case none
        /// `aside`: the folder that it began to move files into.
        case known(UInt64, aside: String?)
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
            let words = text.dropLast().split(separator: " ", maxSplits: 1)
            guard text.hasSuffix("\n"), let floor = words.first.flatMap({ UInt64($0) }) else {
                return .cutOff(atLeast: UInt64(text) ?? 0)
            }
            let aside = words.dropFirst().first.map(String.init)
            return .known(floor, aside: aside.flatMap { Self.isFolder($0) ? $0 : nil })
        } catch {
            return error.isMissing ? .none : .cutOff(atLeast: 0)
        }
    }

    /// Finds out what no new epoch may use again: from the files that are there, from what an attempt before left, and from the clock, which
    /// alone knows what was given out where files were lost.
    ///
    /// - Parameters:
    ///   - directory: the data directory.
    ///   - now: by the machine's clock; `nil`: it is not asked.
    /// - Returns: the highest offset that may have been given out.
    /// - Throws: `floorUnknown` where nothing says it any more.
    static func find(in directory: StoreDirectory, at now: Timestamp?) throws -> UInt64 {
        let byClock = now.map { EventLogLimits.offsetFloor(at: $0) } ?? 0
        switch Self.before(in: directory) {
        case .known(let floor, _):
            // It was found before anything was moved; what is half there now is not opened, which would change it.
            return max(floor, byClock)
        case .none:
            let here = directory.hasStores ? directory.knownOffsets() : KnownOffsets()
            return max(here.highest, here.isWhole ? 0 : try Self.kept(in: directory), byClock)
        case .cutOff(let least):
            let folders = Self.replacedFolders(in: directory)
            // Stores in place that are no copies of a backup are those from before: they were not moved yet.
            guard !folders.isEmpty || directory.hasStores && !directory.isUnopenedBackup() else {
                throw BackupError.floorUnknown(directory.path)
            }
            let here = directory.hasStores ? directory.knownOffsets().highest : 0
            return max(least, here, try Self.kept(in: directory), byClock)
        }
    }

    /// The offsets in kept files: those that restores moved aside, copies of the ledger, and faulty ledgers.
    private static func kept(in directory: StoreDirectory) throws -> UInt64 {
        var highest: UInt64 = 0
        for folder in Self.replacedFolders(in: directory) {
            let aside = try StoreDirectory(path: folder)
            if aside.hasStores { highest = max(highest, aside.knownOffsets().highest) }
        }
        for folder in [LedgerCopies.folderName, LedgerReplacement.asideName].map({ directory.file($0) }) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where name.hasSuffix(".sqlite") {
                guard let reader = try? StoreFiles.reader(of: folder + "/" + name) else { continue }
                var known = KnownOffsets()
                known.addLedger(reader)
                try? reader.close()
                highest = max(highest, known.highest)
            }
        }
        return highest
    }

    /// Keeps it, whole or as it was before.
    ///
    /// - Parameters:
    ///   - floor: the result of `find`.
    ///   - aside: the name of the folder that files are moved into; `nil`: none are.
    ///   - directory: the data directory.
    /// - Throws: where it cannot be written.
    static func keep(_ floor: UInt64, aside: String?, in directory: StoreDirectory) throws {
        let line = "\(floor)\(aside.map { " " + $0 } ?? "")\n"
        try SecretFile.replace(directory.file(StoreBackups.unfinishedFile), Array(line.utf8), mode: 0o600)
    }

    /// The folder that files are moved into: that of an attempt that did not end, else a new one.
    static func asideFolder(in directory: StoreDirectory) -> String {
        if case .known(_, let aside?) = Self.before(in: directory) { return aside }
        var (name, number) = ("replaced", 1)
        while FileManager.default.fileExists(atPath: directory.file(name)) {
            number += 1
            name = "replaced-\(number)"
        }
        return name
    }

    /// Where files are that were moved aside, by restores that ended too.
    static func replacedFolders(in directory: StoreDirectory) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { Self.isFolder($0) }.sorted().map { directory.file($0) }
    }

    private static func isFolder(_ name: String) -> Bool {
        name == "replaced" || name.hasPrefix("replaced-") && name.dropFirst(9).allSatisfy(\.isWholeNumber)
    }
}

/// The known offsets that were assigned.
private struct KnownOffsets {
    private(set) var highest: UInt64 = 0
    /// Whether everything could be read.
    var isWhole = true

    private mutating func add(_ offsets: () throws -> [UInt64]) {
        do {
            self.highest = max(self.highest, try offsets().max() ?? 0)
        } catch {
            self.isWhole = false
        }
    }

    mutating func addLog(_ log: some DatabaseReader) {
        self.add { try log.read { try EventLogSchema.lanes($0).map(\.head) } }
        self.add { try log.read { [try StoreIdentity.log($0).current.base] } }
    }

    mutating func addLedger(_ ledger: some DatabaseReader) {
        self.add { try ledger.read { Array(try LedgerSchema.appliedOffsets($0).values) } }
        self.add { try ledger.read { [try LedgerBreaks.highestOffset($0)] } }
        self.add { try ledger.read { [try StoreIdentity.read($0)?.current.base ?? 0] } }
    }
}

extension StoreDirectory {
    /// Whether a file in place is a copy of a backup that was never opened as a gateway's.
    fileprivate func isUnopenedBackup() -> Bool {
        [Self.logFile, Self.ledgerFile]
            .contains { name in
                guard let reader = try? StoreFiles.reader(of: self.file(name)) else { return false }
                defer { try? reader.close() }
                return (try? reader.read { try StoreIdentity.isBackup($0) }) ?? false
            }
    }

    /// The offsets that the files here know.
    fileprivate func knownOffsets() -> KnownOffsets {
        var known = KnownOffsets()
        if let log = try? SQLiteEventLog.openFile(in: self, limits: SQLiteEventLog.Limits()) {
            known.addLog(log)
            try? log.close()
        } else {
            known.isWhole = false
        }
        if let ledger = try? SQLiteLedger.openFile(in: self) {
            known.addLedger(ledger)
            try? ledger.close()
        } else {
            known.isWhole = false
        }
        return known
    }
}

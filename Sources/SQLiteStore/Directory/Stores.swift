// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
package import GatewayCore

/// Log and ledger of one data directory, opened together: whether they belong together is decided here.
///
/// ```swift
/// let stores = try Stores.open(in: try StoreDirectory(path: "/var/lib/cuecast"))
/// if let reason = stores.newEpoch { print(reason.sentence) }
/// ```
package struct Stores: Sendable {
    package let log: SQLiteEventLog
    package let ledger: SQLiteLedger
    /// Why a new epoch has begun; `nil`: none has.
    package let newEpoch: StoreReconciliation.Reason?

    /// Opens both, or makes them.
    ///
    /// What does not fit is refused, or the log goes on in a new epoch (`StoreReconciliation`). The log's new epoch is
    /// written first: when the process ends before the ledger is told, the next start finds a ledger of the epoch
    /// before and tells it then.
    ///
    /// - Parameters:
    ///   - directory: where; both files hold it until they are closed.
    ///   - limits: of the log.
    ///   - floor: no offset up to it is given out in a new epoch.
    ///   - finishing: whether a restore does it, as its last step.
    /// - Returns: both, open.
    /// - Throws: `damaged`, `laterSchema`, `notDurable`, or `mismatch`.
    package static func open(
        in directory: StoreDirectory,
        limits: SQLiteEventLog.Limits = SQLiteEventLog.Limits(),
        floor: UInt64 = 0,
        finishing: Bool = false
    ) throws(StoreError) -> Stores {
        try SharedLogMark.refuse(in: directory.path)
        guard finishing || !directory.isRestoreUnfinished else {
            throw .unusable(
                directory: directory.path,
                reason: "a restore did not end there: do it again with cuecast restore --replace"
            )
        }
        let logPool = try SQLiteEventLog.openFile(in: directory, limits: limits)
        let ledgerPool = try SQLiteLedger.openFile(in: directory)
        let newEpoch = try StoreFitting(directory: directory, log: logPool, ledger: ledgerPool).fit(floor: floor)
        return Stores(
            log: try SQLiteEventLog(logPool, in: directory, limits: limits),
            ledger: try SQLiteLedger(ledgerPool, in: directory),
            newEpoch: newEpoch
        )
    }

    /// Lends both files of a directory that no gateway runs in; a ledger that was closed properly is so afterwards, too.
    ///
    /// Opening a ledger changes its file, which then does not fit its seal.
    ///
    /// - Parameters:
    ///   - directory: where.
    ///   - body: may use them until it returns.
    /// - Returns: the result of `body`.
    /// - Throws: the errors of `open` and `body`.
    package static func lend<Value>(
        of directory: StoreDirectory,
        _ body: (Stores) async throws -> Value
    ) async throws -> Value {
        try SharedLogMark.refuse(in: directory.path)
        let file = directory.file(StoreDirectory.ledgerFile)
        let isSealed = try LedgerSeal.take(from: directory)?.fits(file) ?? false
        defer {
            // Where this fails, the next start checks the ledger.
            let digestBytesMax = KeptLedger.Settings().checkAtStartBytesMax
            if isSealed { try? LedgerSeal.put(on: file, in: directory, digestBytesMax: digestBytesMax) }
        }
        let stores = try Self.open(in: directory)
        do {
            let value = try await body(stores)
            await stores.close()
            return value
        } catch {
            await stores.close()
            throw error
        }
    }

    /// Closes both.
    package func close() async {
        await self.ledger.close()
        await self.log.close()
    }
}

/// Makes two files that were just opened fit, or says why they cannot.
private struct StoreFitting {
    /// How many of the ledger's breaks are looked up in the log: the newest ones up to the end of the log.
    private static let breaksComparedMax = 16

    let directory: StoreDirectory
    let log: DatabasePool
    let ledger: DatabasePool

    func fit(floor: UInt64) throws(StoreError) -> StoreReconciliation.Reason? {
        do {
            let logFacts = try self.logFacts()
            let ledgerFacts = try self.ofLedger { try self.ledger.read { try Self.facts($0) } }
            let decision = StoreReconciliation.decide(
                log: logFacts,
                ledger: ledgerFacts,
                difference: try self.difference(upTo: logFacts.heads[.breaks] ?? 0),
                floor: floor,
                epoch: .random(in: 1 ... .max)
            )
            switch decision {
            case .fits(let move):
                if let move { try self.tellLedger(move) }
                return nil
            case .beginEpoch(let reason, let identity, let move):
                try self.log.writeInTransaction(.immediate) { database in
                    try StoreIdentity.write(identity, database)
                    try StoreIdentity.removeBackupMark(database)
                    return .commit
                }
                try self.tellLedger(move)
                return reason
            case .refuse(let refusal):
                throw StoreError.mismatch(directory: self.directory.path, reason: refusal.sentence)
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(self.directory.file(StoreDirectory.logFile), error)
        }
    }

    /// Does something with the ledger; where that fails it is the ledger that is damaged, not the log.
    private func ofLedger<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw StoreError.unreadable(self.directory.file(StoreDirectory.ledgerFile), error)
        }
    }

    private func logFacts() throws -> LogFacts {
        let file = self.directory.file(StoreDirectory.logFile)
        return try self.log.writeWithoutTransaction { database in
            // A loss of power must not undo this decision.
            try StoreFile.makeDurable(database, file: file)
            let lanes = try EventLogSchema.lanes(database)
            return LogFacts(
                identity: try StoreIdentity.log(database),
                heads: Dictionary(lanes.map { ($0.lane, $0.head) }, uniquingKeysWith: max),
                isNew: lanes.allSatisfy { $0.head == 0 },
                isBackup: try StoreIdentity.isBackup(database),
                isTailMissing: self.directory.isLogTailMissing
            )
        }
    }

    private static func facts(_ database: Database) throws -> LedgerFacts {
        LedgerFacts(
            identity: try StoreIdentity.read(database),
            applied: try LedgerSchema.appliedOffsets(database),
            highestBreakOffset: try LedgerBreaks.highestOffset(database),
            isBackup: try StoreIdentity.isBackup(database)
        )
    }

    /// Looks for something that shows that the ledger counted another history.
    ///
    /// - Parameter head: the newest record of the log's lane of breaks. Breaks beyond it cannot be compared, however many the ledger knows.
    /// - Returns: the first difference; `nil`: there is none.
    /// - Throws: where a file cannot be read.
    private func difference(upTo head: UInt64) throws -> HistoryDifference? {
        let (digests, breaks) = try self.ofLedger {
            try self.ledger.read { database in
                (
                    try LedgerSchema.digests(database),
                    try LedgerBreaks.newest(Self.breaksComparedMax, upTo: head, database)
                )
            }
        }
        return try self.log.read { database in
            let lanes = try EventLogSchema.lanes(database)
            for (lane, place) in digests {
                guard let number = lanes.firstIndex(where: { $0.lane == lane }),
                    let bytes = try EventLogSchema.bytes(database, lane: Int64(number), at: place.offset)
                else { continue }
                let record = LoggedRecord(offset: place.offset, bytes: bytes)
                if record.digest != place.digest { return .record(lane, offset: place.offset) }
            }
            guard let number = lanes.firstIndex(where: { $0.lane == .breaks }) else { return nil }
            for each in breaks {
                let (offset, index) = each.number.rawValue.quotientAndRemainder(
                    dividingBy: UInt64(BreakGroup.groupEntriesMax)
                )
                guard let bytes = try EventLogSchema.bytes(database, lane: Int64(number), at: offset) else { continue }
                let entries = try BreakGroup(decoding: bytes).entries
                guard Int(index) < entries.count,
                    entries[Int(index)].canHaveOpened(each.key, number: each.number)
                else { return .breakNumber(each.number) }
            }
            return nil
        }
    }

    private func tellLedger(_ move: StoreReconciliation.LedgerMove) throws {
        try self.ofLedger { try self.write(move) }
    }

    private func write(_ move: StoreReconciliation.LedgerMove) throws {
        try self.ledger.writeInTransaction(.immediate) { database in
            try StoreIdentity.write(move.identity, database)
            try StoreIdentity.removeBackupMark(database)
            for (lane, offset) in move.applied {
                try LedgerSchema.replaceAppliedOffset(offset, of: lane, database)
                // The log's later facts about a break are newer than the lost ones.
                if lane == .breaks { try LedgerBreaks.forgetNews(after: offset, database) }
            }
            return .commit
        }
    }
}

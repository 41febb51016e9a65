// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
package import GatewayCore

/// The stores of a gateway: log and ledger that fit each other, and a ledger whose loss loses nothing.
///
/// What is looked at first is whether the ledger's file is as it was closed, because opening it changes it. A file that
/// is not, or that cannot be read, is moved to where it is kept; then the log is opened and compared with an empty
/// ledger, and a copy takes the place of what was lost. A file that can be read is compared with the log (`Stores`),
/// and then checked (`KeptLedger`).
package struct KeptStores: Sendable {
    package let log: SQLiteEventLog
    package let ledger: KeptLedger
    /// Why a new epoch has begun; `nil`: none has.
    package let newEpoch: StoreReconciliation.Reason?

    /// Opens both, or makes them.
    ///
    /// - Parameters:
    ///   - directory: where; both files hold it until they are closed.
    ///   - limits: of the log.
    ///   - settings: how many copies of the ledger there are to be, and what is checked when.
    ///   - now: by the gateway's clock.
    /// - Returns: log and ledger, open, and fitting each other.
    /// - Throws: `damaged` (the log), `laterSchema`, `notDurable`, `mismatch`, or `unusable`: also where the log is a shared one.
    package static func open(
        in directory: StoreDirectory,
        limits: SQLiteEventLog.Limits = SQLiteEventLog.Limits(),
        settings: KeptLedger.Settings = KeptLedger.Settings(),
        now: Timestamp
    ) async throws(StoreError) -> KeptStores {
        try SharedLogMark.refuse(in: directory.path)
        let look = try LedgerFile.look(in: directory)
        var reason = look.fault
        if reason == nil {
            do throws(StoreError) {
                let stores = try Stores.open(in: directory, limits: limits)
                let found: LedgerFile.Found =
                    look.isThere ? .there(stores.ledger, isSealed: look.isSealed) : .new(stores.ledger)
                return try await Self.take(stores, found, in: directory, settings: settings, now: now)
            } catch .damaged(let file, let fault) where file == directory.file(StoreDirectory.ledgerFile) {
                reason = "cannot be read (\(fault))"
            }
        }
        let keptAside = try LedgerFile.setAside(in: directory, now: now)
        let stores = try Stores.open(in: directory, limits: limits)
        // It only showed that the log is right; what takes the place of the one that was lost is a copy, or begun anew.
        await stores.ledger.close()
        StoreFiles.remove(directory.file(StoreDirectory.ledgerFile))
        return try await Self.take(
            stores,
            .wrong(reason ?? "is missing", keptAside: keptAside),
            in: directory,
            settings: settings,
            now: now
        )
    }

    private static func take(
        _ stores: Stores,
        _ found: LedgerFile.Found,
        in directory: StoreDirectory,
        settings: KeptLedger.Settings,
        now: Timestamp
    ) async throws(StoreError) -> KeptStores {
        do throws(StoreError) {
            try await Self.finishForgetting(stores, found, in: directory)
            let ledger = try await KeptLedger.open(found, in: directory, log: stores.log, settings: settings, now: now)
            return KeptStores(log: stores.log, ledger: ledger, newEpoch: stores.newEpoch)
        } catch {
            await stores.close()
            throw error
        }
    }
}

extension KeptStores {
    /// Ends what a process before this began: nothing may compare log, ledger and copies while a session is in some of them only.
    private static func finishForgetting(
        _ stores: Stores,
        _ found: LedgerFile.Found,
        in directory: StoreDirectory
    ) async throws(StoreError) {
        let ledger: SQLiteLedger? =
            switch found {
            case .new(let ledger), .first(let ledger), .there(let ledger, _): ledger
            case .wrong: nil
            }
        do {
            _ = try await SessionForgetting(directory: directory.path)
                .finish(log: stores.log, ledger: ledger, isServing: false)
        } catch {
            throw .unusable(
                directory: directory.path,
                reason: "a session was being forgotten, and that cannot be ended: \(StoreFile.sentence(error))"
            )
        }
    }
}

/// The ledger's file before anybody opens it.
enum LedgerFile {
    /// The result of opening it.
    enum Found: Sendable {
        /// There was none.
        case new(SQLiteLedger)
        /// There was none, and this gateway has never counted the log, which others may have written.
        case first(SQLiteLedger)
        /// It can be read, and fits the log.
        case there(SQLiteLedger, isSealed: Bool)
        /// It is of no use, and was moved away: why, and where to.
        case wrong(String, keptAside: String?)
    }

    /// The facts that are known before opening it.
    struct Look: Sendable {
        let isThere: Bool
        /// Whether it was closed properly, and is as it was then.
        let isSealed: Bool
        /// Why it is of no use, as in "is damaged".
        let fault: String?
    }

    /// Looks at the file, and takes its seal away.
    static func look(in directory: StoreDirectory) throws(StoreError) -> Look {
        let file = directory.file(StoreDirectory.ledgerFile)
        let seal = try LedgerSeal.take(from: directory)
        guard FileManager.default.fileExists(atPath: file) else {
            return Look(isThere: false, isSealed: false, fault: nil)
        }
        let isChanged = seal.map { !$0.fits(file) } ?? false
        return Look(
            isThere: true,
            isSealed: seal != nil,
            fault: isChanged ? "is not as it was when it was closed" : nil
        )
    }

    /// Moves it to where it is kept.
    static func setAside(in directory: StoreDirectory, now: Timestamp) throws(StoreError) -> String? {
        do {
            return try LedgerReplacement.setAside(in: directory, now: now)
        } catch {
            throw .unusable(directory: directory.path, reason: StoreFile.sentence(error))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GRDB
package import GatewayCore

extension KeptLedger {
    /// Opens, or makes, the ledger of a gateway whose log is not in its data directory.
    ///
    /// What it has counted is the memory that this machine has of the log: a log that does not have it any more, or has something else in
    /// its place, went back while the gateway was down. Then nothing is opened.
    ///
    /// - Parameters:
    ///   - log: which several gateways share, open.
    ///   - directory: held, and taken for this log (`SharedLogMark`).
    ///   - isFirst: whether this gateway has never counted this log: then no ledger is missing.
    ///   - forgetting: the sessions that are being forgotten; the log gives them the same names.
    ///   - settings: how many copies there are to be.
    ///   - now: by the gateway's clock.
    /// - Returns: the ledger, open. Nothing here reads the whole log: the ledger of a gateway that was killed is compared with it while it
    ///   serves (`needsCheck`), and a new one is told then of breaks that no board has any more (`owedBreaks`).
    /// - Throws: `unusable` where the log went back or cannot be read, `laterSchema`, or why no ledger can be made.
    package static func open(
        countingShared log: any EventLog,
        in directory: StoreDirectory,
        isFirst: Bool,
        forgetting: SharedForgettingStart = SharedForgettingStart(),
        settings: Settings = Settings(),
        now: Timestamp
    ) async throws(StoreError) -> KeptLedger {
        var settings = settings
        settings.isLogFar = true
        let kept = try await Self.openShared(
            log,
            in: directory,
            isFirst: isFirst,
            forgetting: forgetting,
            settings: settings,
            now: now
        )
        do {
            // A new ledger has been told of nothing.
            let isNew = try await kept.appliedOffset(of: .breaks) == 0
            if isNew { try await kept.oweBreaks(through: try await log.head(of: .breaks)) }
        } catch {
            await kept.close()
            throw .unusable(directory: directory.path, reason: "the ledger or the shared log cannot be read: \(error)")
        }
        do {
            try await kept.forget(inSharedLog: forgetting.names)
        } catch {
            await kept.close()
            throw .unusable(directory: directory.path, reason: "a session cannot be forgotten: \(error)")
        }
        return kept
    }

    private static func openShared(
        _ log: any EventLog,
        in directory: StoreDirectory,
        isFirst: Bool,
        forgetting: SharedForgettingStart,
        settings: Settings,
        now: Timestamp
    ) async throws(StoreError) -> KeptLedger {
        let look = try LedgerFile.look(in: directory)
        var reason = look.fault
        if reason == nil {
            do throws(StoreError) {
                let ledger = try SQLiteLedger(in: directory)
                do throws(StoreError) {
                    try await Self.compare(ledger, with: log, in: directory)
                    try await Self.forget(forgetting.names, in: ledger, directory)
                    guard !forgetting.hasMissed || !look.isThere else {
                        await ledger.close()
                        return try await Self.countAnew(log, in: directory, settings: settings, now: now)
                    }
                    return try await Self.open(
                        look.isThere
                            ? .there(ledger, isSealed: look.isSealed) : isFirst ? .first(ledger) : .new(ledger),
                        in: directory,
                        log: log,
                        settings: settings,
                        now: now
                    )
                } catch {
                    await ledger.close()
                    throw error
                }
            } catch .damaged(let file, let fault) where file == directory.file(StoreDirectory.ledgerFile) {
                reason = "cannot be read (\(fault))"
            }
        }
        let keptAside = try LedgerFile.setAside(in: directory, now: now)
        if forgetting.hasMissed { Self.removeCopies(in: directory) }
        return try await Self.open(
            .wrong(reason ?? "is missing", keptAside: keptAside),
            in: directory,
            log: log,
            settings: settings,
            now: now
        )
    }

    /// A session was forgotten while this gateway was away: its ledger is removed, and counted anew of records that do not name it.
    private static func countAnew(
        _ log: any EventLog,
        in directory: StoreDirectory,
        settings: Settings,
        now: Timestamp
    ) async throws(StoreError) -> KeptLedger {
        StoreFiles.remove(directory.file(StoreDirectory.ledgerFile))
        Self.removeCopies(in: directory)
        return try await Self.openShared(
            log,
            in: directory,
            isFirst: true,
            forgetting: SharedForgettingStart(),
            settings: settings,
            now: now
        )
    }

    private static func removeCopies(in directory: StoreDirectory) {
        let copies = LedgerCopies(dataDirectory: directory.path)
        for copy in copies.list() { copies.remove(copy) }
    }

    /// Before anything is compared with the log, which gives the sessions these names.
    private static func forget(
        _ names: [ForgettingNames],
        in ledger: SQLiteLedger,
        _ directory: StoreDirectory
    ) async throws(StoreError) {
        do {
            try await ledger.forget(names)
        } catch {
            throw .unreadable(directory.file(StoreDirectory.ledgerFile), error)
        }
    }

    /// Looks whether the log still has what the ledger has counted of it.
    private static func compare(
        _ ledger: SQLiteLedger,
        with log: any EventLog,
        in directory: StoreDirectory
    ) async throws(StoreError) {
        do {
            let identity = log.identity
            let known = try await ledger.write { database, _ -> LogIdentity? in
                let known = try StoreIdentity.read(database)
                if known == nil {
                    try database.inTransaction(.immediate) {
                        try StoreIdentity.write(identity, database)
                        return .commit
                    }
                }
                return known
            }
            if let known, known.logID != identity.logID {
                throw StoreError.unusable(
                    directory: directory.path,
                    reason: "its ledger counts the log \(known.logID), and the servers have the log \(identity.logID)"
                )
            }
            let (applied, digests) = try await ledger.read { database in
                (try LedgerSchema.appliedOffsets(database), try LedgerSchema.digests(database))
            }
            for (lane, offset) in applied.sorted(by: { $0.key.description < $1.key.description }) {
                let head = try await log.head(of: lane)
                guard offset <= head else {
                    throw SharedLogMark.wentBack(
                        "the lane \(lane) ends at record \(head), and the ledger has counted record \(offset)",
                        in: directory.path
                    )
                }
                guard offset > 0, let digest = digests[lane], digest.offset == offset else { continue }
                let record = try await log.read(lane, after: offset - 1, recordsMax: 1, bytesMax: 1).first
                // A record that stands for one that was erased has another digest.
                let isSame = record?.digest == digest.digest || record?.isStandIn ?? false
                guard record?.offset == offset, isSame else {
                    throw SharedLogMark.wentBack(
                        "the lane \(lane) has another record \(offset) than the one that the ledger has counted",
                        in: directory.path
                    )
                }
            }
        } catch let error as StoreError {
            throw error
        } catch let error as EventLogError {
            throw .unusable(directory: directory.path, reason: "the shared log cannot be read: \(error)")
        } catch {
            throw .unreadable(directory.file(StoreDirectory.ledgerFile), error)
        }
    }
}

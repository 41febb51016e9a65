// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import Logging
import SQLiteStore

/// The stores of a gateway's process, open: the ledger in its data directory, and the event log there or at servers.
struct ProcessStores: Sendable {
    /// Where the event log is.
    private enum Log {
        /// In the data directory, with its ledger.
        case own(KeptStores)
        /// At servers of NATS, for several gateways.
        case shared(SharedLog, KeptLedger, BoardCache, BoardMark?, SharedForgetting?)
    }

    private let place: Log
    private let audit: (store: SQLiteAudit?, fault: String?)
    private let directory: String
    /// Takes another snapshot where the first one cannot be read; `nil`: the log is in the data directory.
    private let another: (@Sendable (String) async throws -> BoardMark?)?

    /// Opens them.
    ///
    /// - Parameters:
    ///   - configuration: says where, and how much they hold.
    ///   - now: by the gateway's clock.
    ///   - logger: is told of a new epoch.
    /// - Throws: `StoreError` where the log or the ledger cannot be opened, and `SharedLogFault`.
    init(opening configuration: GatewayConfiguration, at now: Timestamp, logger: Logger) async throws {
        let directory = try StoreDirectory(path: configuration.dataDirectory)
        var settings = KeptLedger.Settings()
        settings.copiesKept = configuration.ledgerCopiesKept
        if configuration.sharedLog.isUsed {
            self.place = try await Self.share(configuration, in: directory, settings, at: now, logger: logger)
        } else {
            var limits = SQLiteEventLog.Limits()
            limits.bytesMax = configuration.limits[.logBytesMax]
            self.place = .own(
                try await KeptStores.open(in: directory, limits: limits, settings: settings, now: now)
            )
        }
        self.audit = SQLiteAudit.open(in: directory)
        self.directory = configuration.dataDirectory
        self.another = Self.another(self.place, configuration, logger: logger)
        guard let reason = self.newEpoch else { return }
        logger.warning(
            "the event log goes on in a new epoch: players get a snapshot, and no number is used again",
            metadata: ["reason": "\(reason.sentence)", "epoch": "\(String(self.log.epoch, radix: 16))"]
        )
    }

    private static func another(
        _ place: Log,
        _ configuration: GatewayConfiguration,
        logger: Logger
    ) -> (@Sendable (String) async throws -> BoardMark?)? {
        guard case .shared(let shared, let ledger, let board, _, _) = place else { return nil }
        return { reason in
            let began = try await board.beginAgain(
                because: reason,
                from: shared.snapshots,
                in: configuration.dataDirectory,
                rulesKnown: configuration.rulesKnown
            ) { logger.notice("\($0)") }
            if let began { try await ledger.oweBreaks(through: began.offset) }
            return began
        }
    }

    /// Opens a shared log, and the ledger of this gateway, which counts it.
    private static func share(
        _ configuration: GatewayConfiguration,
        in directory: StoreDirectory,
        _ settings: KeptLedger.Settings,
        at now: Timestamp,
        logger: Logger
    ) async throws -> Log {
        let log = configuration.sharedLog
        // Before anything is asked of a server.
        try SharedLogMark.refuseOwnLog(in: directory)
        let shared = try await SharedLog.open(log, logger: logger)
        do {
            let mark = SharedLogMark(of: shared.log.identity, prefix: log.prefix)
            let aside = try mark.leaveEarlierEpoch(directory, of: shared.log.identity)
            if let aside {
                let lost = aside.lost?.sorted { $0.key.description < $1.key.description }
                logger.warning(
                    "the shared log was restored from a backup: this gateway counts it anew, and players get a snapshot",
                    metadata: [
                        "keptAside": "\(aside.folder)", "epoch": "\(String(shared.log.epoch, radix: 16))",
                        "lostRecords": "\(lost?.map { "\($0.key)=\($0.value)" }.joined(separator: " ") ?? "unknown")",
                    ]
                )
            }
            let isFirst = try mark.take(directory) || aside != nil
            let forgetting = try await SharedForgetting.open(shared, in: directory.path, logger: logger)
            let ledger = try await KeptLedger.open(
                countingShared: shared.log,
                in: directory,
                isFirst: isFirst,
                forgetting: forgetting?.start ?? SharedForgettingStart(),
                settings: settings,
                now: now
            )
            do {
                let board = try await BoardCache.open(in: directory, of: shared.log)
                let began: BoardMark?
                do {
                    began = try await board.begin(
                        from: shared.snapshots,
                        in: directory.path,
                        rulesKnown: configuration.rulesKnown
                    ) { logger.notice("\($0)") }
                    // A snapshot does not have the breaks that were on no board any more when it was made.
                    if let offset = try await board.snapshotOffset(of: .breaks) {
                        try await ledger.oweBreaks(through: offset)
                    }
                } catch {
                    await board.close()
                    throw error
                }
                if let began {
                    logger.info("the board begins from a snapshot of the log", metadata: ["offset": "\(began.offset)"])
                }
                try await forgetting?.opened(ledger)
                return .shared(shared, ledger, board, began, forgetting)
            } catch {
                await ledger.close()
                throw error
            }
        } catch {
            await shared.close()
            throw error
        }
    }

    /// The event log.
    var log: any EventLog {
        switch self.place {
        case .own(let stores): stores.log
        case .shared(let shared, _, _, _, _): shared.log
        }
    }

    /// The ledger.
    var ledger: KeptLedger {
        switch self.place {
        case .own(let stores): stores.ledger
        case .shared(_, let ledger, _, _, _): ledger
        }
    }

    /// The stores of a gateway that has its log for itself; `nil`: several gateways share it.
    var kept: KeptStores? {
        switch self.place {
        case .own(let stores): stores
        case .shared: nil
        }
    }

    /// Follows the orders to forget sessions; `nil`: this gateway has its log for itself.
    var forgetting: SharedForgetting? {
        switch self.place {
        case .own: nil
        case .shared(_, _, _, _, let forgetting): forgetting
        }
    }

    /// Why a new epoch has begun; `nil`: none has.
    var newEpoch: StoreReconciliation.Reason? { self.kept?.newEpoch }

    /// Why what the log holds is not certain any more; `nil`: it is.
    var failure: String? {
        switch self.place {
        case .own(let stores): stores.log.failure
        case .shared(let shared, _, _, _, _): shared.failure()
        }
    }

    /// The stores of the gateway, with the files beside them.
    ///
    /// - Throws: where the file of sessions that are refused cannot be read.
    func gatewayStores() throws -> GatewayStores {
        var forgotten = try ForgettingFiles(directory: self.directory).read()
        if let forgetting = self.forgetting {
            let before = forgotten
            try forgetting.note(&forgotten)
            if forgotten != before { try ForgettingFiles(directory: self.directory).write(forgotten) }
        }
        let (base, bus): (LogParts, GatewayBusParts?) =
            switch self.place {
            case .own(let stores): (LogParts(local: stores.log), nil)
            case .shared(let shared, _, let board, let began, _):
                (
                    LogParts(shared: shared.log, snapshots: board, archive: shared.snapshots, began: began), shared.bus
                )
            }
        var parts = base
        parts.another = self.another
        return GatewayStores(
            log: parts,
            ledger: self.ledger,
            audit: self.audit.store,
            auditFault: self.audit.fault,
            state: GatewayStateFile(directory: self.directory),
            forgotten: forgotten,
            bus: bus
        )
    }

    /// Closes them in order, so that the next start does not take this one for a crash.
    ///
    /// Only where there is no gateway: a gateway closes them itself.
    func close() async {
        await self.audit.store?.close()
        await self.ledger.close()
        switch self.place {
        case .own(let stores): await stores.log.close()
        case .shared(let shared, _, _, _, _): await shared.close()
        }
        await self.closeBoard()
    }

    /// Closes the snapshots of the board that stand beside a shared log, which no gateway does.
    func closeBoard() async {
        if case .shared(_, _, let board, _, _) = self.place { await board.close() }
    }
}

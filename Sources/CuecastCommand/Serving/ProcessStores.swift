// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import Logging
import SQLiteStore

/// The stores in the data directory of a gateway's process, open.
struct ProcessStores: Sendable {
    /// The event log and the ledger.
    let kept: KeptStores
    private let audit: (store: SQLiteAudit?, fault: String?)
    private let directory: String

    /// Opens them.
    ///
    /// - Parameters:
    ///   - configuration: says where, and how much they hold.
    ///   - now: by the gateway's clock.
    ///   - logger: is told of a new epoch.
    /// - Throws: `StoreError` where the log cannot be opened.
    init(opening configuration: GatewayConfiguration, at now: Timestamp, logger: Logger) async throws {
        let directory = try StoreDirectory(path: configuration.dataDirectory)
        var limits = SQLiteEventLog.Limits()
        limits.bytesMax = configuration.limits[.logBytesMax]
        var settings = KeptLedger.Settings()
        settings.copiesKept = configuration.ledgerCopiesKept
        self.kept = try await KeptStores.open(in: directory, limits: limits, settings: settings, now: now)
        self.audit = SQLiteAudit.open(in: directory)
        self.directory = configuration.dataDirectory
        guard let reason = self.kept.newEpoch else { return }
        logger.warning(
            "the event log goes on in a new epoch: players get a snapshot, and no number is used again",
            metadata: ["reason": "\(reason.sentence)", "epoch": "\(String(self.kept.log.epoch, radix: 16))"]
        )
    }

    /// The stores of the gateway, with the files beside them.
    ///
    /// - Throws: where the file of sessions that are refused cannot be read.
    func gatewayStores() throws -> GatewayStores {
        GatewayStores(
            log: LogParts(local: self.kept.log),
            ledger: self.kept.ledger,
            audit: self.audit.store,
            auditFault: self.audit.fault,
            state: GatewayStateFile(directory: self.directory),
            forgotten: try ForgettingFiles(directory: self.directory).read()
        )
    }

    /// Closes them in order, so that the next start does not take this one for a crash.
    ///
    /// Only where there is no gateway: a gateway closes them itself.
    func close() async {
        await self.audit.store?.close()
        await self.kept.ledger.close()
        await self.kept.log.close()
    }
}

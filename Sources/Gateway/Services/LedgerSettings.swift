// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// The ledger's part of the configuration.
struct LedgerSettings: Hashable, Sendable {
    let keepTotalsFor: Duration
    /// How many records the log keeps that the ledger has applied.
    let keepRecords: UInt64
    /// How often the ledger checks whether the log is nearly full; then it prunes sooner.
    ///
    /// Half as often as the metrics of capacity are measured.
    let checkCapacityInterval: Duration
    /// Whether acknowledgements are left in the log for a later run.
    let isPaused: Bool
    /// How long groups, or breaks that change, gather after a transaction before the next one.
    ///
    /// A transaction for each of some hundred in a second takes a tenth of a processor.
    let gatherFor: Duration
    let copies: LedgerService.CopySettings

    /// - Parameter configuration: checked.
    init(_ configuration: GatewayConfiguration) {
        self.keepTotalsFor = configuration.keepTotalsFor
        self.keepRecords = UInt64(clamping: configuration.keepLogRecords)
        self.checkCapacityInterval = configuration.sampleInterval * 2
        self.isPaused = configuration.ledgerPaused
        self.gatherFor = configuration.ledgerGatherFor
        self.copies = LedgerService.CopySettings(
            interval: configuration.ledgerCopiesInterval,
            firstAfter: configuration.ledgerFirstCopyAfter
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// When a newer version of the fold's rules becomes the one of the log.
///
/// Gateways of two releases run beside each other during an upgrade. A version is activated by a record, and not before every gateway
/// that is alive knows it: all of them go over to it at the same record.
package enum RulesActivation {
    /// The record that activates the newest version that all gateways know.
    ///
    /// - Parameters:
    ///   - board: the newest board.
    ///   - own: the newest version that this gateway knows.
    ///   - others: those that the other gateways that are alive know.
    ///   - now: the gateway's clock.
    /// - Returns: the record; `nil`: the log has that version already. A repeat is harmless.
    package static func entry(
        on board: Board,
        own: UInt32 = FoldRules.newest,
        others: [UInt32],
        at now: Timestamp
    ) -> BreakEntry? {
        let common = others.min().map { min($0, own) } ?? own
        return common > board.rules ? BreakEntry(at: now, kind: .rules(common)) : nil
    }
}

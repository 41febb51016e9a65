// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// The data that outlives a gateway's run: open stores, which the gateway closes, and the state of the run before.
package struct GatewayStores: Sendable {
    /// The event log; the last service of the gateway to end closes it.
    package let log: LogParts
    /// The ledger; closed with the log.
    package let ledger: any Ledger
    /// Where the audit is kept; `nil`: it is not kept.
    package let audit: (any AuditStore)?
    /// The fault of the audit; `nil`: none.
    package let auditFault: String?
    /// The state of the run before, and the place for that of this one; `nil`: none is kept.
    package let state: (any GatewayStateStore)?
    /// Sessions that are refused.
    package let forgotten: ForgottenSessions
    /// The bus to the other gateways of the log; `nil`: there are none.
    package let bus: GatewayBusParts?

    package init(
        log: LogParts,
        ledger: any Ledger,
        audit: (any AuditStore)? = nil,
        auditFault: String? = nil,
        state: (any GatewayStateStore)? = nil,
        forgotten: ForgottenSessions = .empty(),
        bus: GatewayBusParts? = nil
    ) {
        self.log = log
        self.ledger = ledger
        self.audit = audit
        self.auditFault = auditFault
        self.state = state
        self.forgotten = forgotten
        self.bus = bus
    }

    /// Those that give memory back when a crowd has left.
    var caching: [any CachingStore] {
        // The log of one gateway has its snapshots itself.
        let snapshots: Any? = self.log.isShared ? self.log.snapshots : nil
        let stores: [Any?] = [self.log.log, snapshots, self.ledger, self.audit]
        return stores.compactMap { $0 as? any CachingStore }
    }
}

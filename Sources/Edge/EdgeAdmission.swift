// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
package import SystemSupport

/// The admission of a client that does not use a connection of the edge, such as one over HTTP.
///
/// Its connections, messages and sessions count together with the others of its address, so a second transport does not raise
/// the address's limits.
package struct EdgeAdmission: Sendable {
    let address: PeerAddress
    /// The limits' counters that all clients of its address share; `nil`: its address has no limits.
    let shared: EdgeAddress?
}

extension EdgeShared {
    /// Whether an address has limits: by default the machine's own has none.
    package func limits(_ address: PeerAddress) -> Bool { self.settings.limitsOwnMachine || !address.isLoopback }

    /// Admits a client from an address; call `leave` once when the client has gone.
    ///
    /// - Returns: `nil` where the address has as many connections as it may (``EdgeSettings/connectionsPerAddressMax``).
    package func admitClient(from address: PeerAddress) -> EdgeAdmission? {
        guard self.limits(address) else {
            return EdgeAdmission(address: address, shared: nil)
        }
        guard let shared = self.admit(address) else { return nil }
        return EdgeAdmission(address: address, shared: shared)
    }

    /// Ends an admission.
    package func leave(_ admission: EdgeAdmission) {
        if admission.shared != nil { self.leave(admission.address, at: System.monotonicNanoseconds()) }
    }

    /// Counts one message against the rate limits of its address and of all clients together.
    ///
    /// - Returns: the limit that is reached; `nil`: the message may be handled.
    package func takeMessage(of admission: EdgeAdmission) -> LimitName? {
        let now = System.monotonicNanoseconds()
        if let shared = admission.shared, !shared.messages.hasOne(at: now) { return .messagesPerAddressPerSecondMax }
        guard self.messages.hasOne(at: now) else { return .messagesPerSecondMax }
        admission.shared?.messages.takeOne(at: now)
        self.messages.takeOne(at: now)
        return nil
    }

    /// Whether a client may begin a session: its address is limited to so many in a time.
    package func mayBeginSession(_ admission: EdgeAdmission) -> Bool {
        admission.shared?.sessions.hasOne(at: System.monotonicNanoseconds()) ?? true
    }

    /// Counts a session that a client has begun.
    package func beganSession(_ admission: EdgeAdmission) {
        admission.shared?.sessions.takeOne(at: System.monotonicNanoseconds())
    }
}

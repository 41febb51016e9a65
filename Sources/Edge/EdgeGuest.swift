// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
package import SystemSupport

/// A place among those of an address, for a client that does not come by a connection of the edge.
///
/// Its connections, messages and sessions count together with the address's others, so using two ways does not raise the limit.
package struct EdgeGuest: Sendable {
    let address: PeerAddress
    /// The shares that all clients of its address have used; `nil`: these are not limited.
    let shared: EdgeAddress?
}

extension EdgeShared {
    /// Whether what an address takes is limited: the machine's own is not.
    package func limits(_ address: PeerAddress) -> Bool { self.settings.limitsOwnMachine || !address.isLoopback }

    /// Takes a place for a client from an address; call `leave` once when the client goes.
    ///
    /// - Returns: `nil` where the address has as many connections as it may (``EdgeSettings/connectionsPerAddressMax``).
    package func enter(from address: PeerAddress) -> EdgeGuest? {
        guard self.limits(address) else {
            return EdgeGuest(address: address, shared: nil)
        }
        guard let shared = self.admit(address) else { return nil }
        return EdgeGuest(address: address, shared: shared)
    }

    /// A guest goes.
    package func leave(_ guest: EdgeGuest) {
        if guest.shared != nil { self.leave(guest.address, at: System.monotonicNanoseconds()) }
    }

    /// Takes one message from what its address, and all together, may send.
    ///
    /// - Returns: the limit that it has passed; `nil`: it may.
    package func takeMessage(of guest: EdgeGuest) -> LimitName? {
        let now = System.monotonicNanoseconds()
        if let shared = guest.shared, !shared.messages.hasOne(at: now) { return .messagesPerAddressPerSecondMax }
        guard self.messages.hasOne(at: now) else { return .messagesPerSecondMax }
        guest.shared?.messages.takeOne(at: now)
        self.messages.takeOne(at: now)
        return nil
    }

    /// Whether a guest may begin a session: its address may have begun as many lately as it may.
    package func mayBeginSession(_ guest: EdgeGuest) -> Bool {
        guest.shared?.sessions.hasOne(at: System.monotonicNanoseconds()) ?? true
    }

    /// A guest has begun a session.
    package func beganSession(_ guest: EdgeGuest) {
        guest.shared?.sessions.takeOne(at: System.monotonicNanoseconds())
    }
}

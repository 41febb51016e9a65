// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Listeners that do nothing, or nothing any more: connected, subscribed, joined.
package struct IdleSettings: Sendable {
    package var notices: Endpoint
    /// `nil`: they only subscribe.
    package var requests: Endpoint?
    package var connections: Int
    package var hold: Duration
    /// One connection for each listener, where the gateway sends notices on it; only where they ask at all.
    package var push = true
    /// The use of each listener before it is held.
    package var use: Use?
    /// The peers are no gateway: nothing proves a subscription, and any answer is good.
    package var isBare = false
    /// How connections to encrypted endpoints are encrypted.
    package var encryption = Encryption()
    package var connectionsPerSecond = 2_500.0
    package var patience = Duration.seconds(10)
    package var handlesSignals = false

    /// The use of a listener before it rests: the notices that it gets, and the batches that it requests.
    package struct Use: Sendable {
        /// Where the break and its updates are published.
        package var broadcast: Endpoint
        package var notices: Int
        package var requests: Int

        package init(broadcast: Endpoint, notices: Int, requests: Int) {
            self.broadcast = broadcast
            self.notices = notices
            self.requests = requests
        }
    }

    /// How many connections there are; `falling`: where the gateway does not push.
    func connectionsMax(falling: Bool) -> Int {
        let perListener = self.requests == nil || self.asksForPush && !falling ? 1 : 2
        return self.connections * perListener + (self.use == nil ? 0 : 1)
    }

    /// Whether listeners begin with one connection.
    var asksForPush: Bool { self.push && !self.isBare && self.requests != nil }

    package init(notices: Endpoint, requests: Endpoint?, connections: Int, hold: Duration) {
        self.notices = notices
        self.requests = requests
        self.connections = connections
        self.hold = hold
    }
}

/// The result.
package struct IdleResult: Encodable, Hashable, Sendable {
    package let mode: String
    package let connections: Int
    /// Of the listeners those with one connection.
    package let pushed: Int
    /// From the first connection to the last listener that was up.
    package let connectSeconds: Double
    /// Of each connection, from when it was begun until TLS and ZMTP were done.
    package let handshake: RequestLatency
    package let handshakes: Int
    package let holdSeconds: Double
    /// Connections that ended while they were held.
    package let ended: Int
    /// Connections that the peer closed before they were up, and that were made again.
    package let reconnects: Int
    package let ownCPUSeconds: Double

    private enum CodingKeys: String, CodingKey {
        case mode
        case connections
        case pushed
        case connectSeconds = "connect_seconds"
        case handshake = "handshake_us"
        case handshakes
        case holdSeconds = "hold_seconds"
        case ended
        case reconnects
        case ownCPUSeconds = "own_cpu_seconds"
    }
}

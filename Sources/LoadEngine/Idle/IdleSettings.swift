// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Listeners that do nothing: connected, subscribed, joined.
package struct IdleSettings: Sendable {
    package var notices: Endpoint
    /// `nil`: they only subscribe.
    package var requests: Endpoint?
    package var connections: Int
    package var hold: Duration
    /// The peers are no gateway: nothing proves a subscription, and any answer is good.
    package var isBare = false
    package var connectionsPerSecond = 2_500.0
    package var patience = Duration.seconds(10)
    package var handlesSignals = false

    package init(notices: Endpoint, requests: Endpoint?, connections: Int, hold: Duration) {
        self.notices = notices
        self.requests = requests
        self.connections = connections
        self.hold = hold
    }
}

/// What came of it.
package struct IdleResult: Encodable, Hashable, Sendable {
    package let mode: String
    package let connections: Int
    /// From the first connection to the last listener that was up.
    package let connectSeconds: Double
    package let holdSeconds: Double
    /// Connections that ended while they were held.
    package let ended: Int
    /// Connections that the peer closed before they were up, and that were made again.
    package let reconnects: Int
    package let ownCPUSeconds: Double

    private enum CodingKeys: String, CodingKey {
        case mode
        case connections
        case connectSeconds = "connect_seconds"
        case holdSeconds = "hold_seconds"
        case ended
        case reconnects
        case ownCPUSeconds = "own_cpu_seconds"
    }
}

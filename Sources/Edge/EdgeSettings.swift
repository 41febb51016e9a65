// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
package import GatewayCore

/// The limits of one peer, and of all peers together, at an ``EdgeLoop``.
package struct EdgeSettings: Hashable, Sendable {
    /// How long a connection may take for its greeting and handshake.
    package var handshakeTimeout: Duration = SettingDefaults.handshakeTimeout
    /// How long a connection may do nothing at all after its handshake: no request, no subscription.
    package var unusedTimeout: Duration = SettingDefaults.unusedTimeout
    /// How long a peer may take nothing of what waits for it before its connection is closed.
    package var stalledTimeout: Duration = SettingDefaults.stalledTimeout
    /// How long a peer may need for what waited for it at one time, in times ``stalledTimeout``: a peer that reads a byte now and
    /// then is closed too.
    package var stalledTimeoutsMax = 10
    /// The most subscriptions of one connection.
    package var subscriptionsPerConnectionMax: Int
    /// The most messages a second of one connection, on average, and twice as many at once; 0: no limit.
    ///
    /// A connection that sends more is read from later.
    package var messagesPerConnectionPerSecondMax: Int
    /// The most messages a second from one address; else as for one connection.
    package var messagesPerAddressPerSecondMax: Int
    /// The most messages a second of all connections together; else as for one connection.
    package var messagesPerSecondMax: Int
    /// The most tokens of one connection that are refused a second, on average, and twice as many at once; 0: no limit.
    ///
    /// A connection above this is read from later, because a token costs far more to check than to send.
    package var refusedTokensPerConnectionPerSecondMax: Int
    /// The most sessions that one connection may begin within the time of a lease; 0: no limit.
    package var sessionsPerConnectionMax: Int
    /// The most sessions that connections from one address may begin within the time of a lease; 0: no limit.
    package var sessionsPerAddressMax = SettingDefaults.sessionsPerAddressMax
    /// How long a session counts as listening after its last request.
    package var lease: Duration = SettingDefaults.lease
    /// The most requests of one connection that wait for the event log; then it is read from later.
    package var requestsWaitingPerConnectionMax: Int
    /// The most connections from one address (IPv6: one network of 64 bits); 0: no limit.
    ///
    /// Loopback addresses have none of the limits of an address.
    package var connectionsPerAddressMax: Int
    /// Whether loopback addresses are limited as others are.
    ///
    /// For tests.
    package var limitsOwnMachine = false
    /// The most bytes that wait for all peers together; beyond it, the connection with the most waiting bytes is closed.
    package var bytesWaitingMax: Int
    /// The most bytes of one stream's notices that wait for peers; a connection further behind is skipped ahead.
    package var ringBytesMax: Int
    /// The most bytes of all streams' notices that wait; beyond it the largest rings let go of their older halves.
    package var ringsBytesMax: Int
    /// How often the tick is sent that proves subscriptions.
    package var syncInterval: Duration = .milliseconds(50)
    /// How often a stream's position is repeated when nothing else happens.
    package var headInterval: Duration = SettingDefaults.headInterval
    /// How long the last event of a listener by server-sent events may take; then its connection is closed without it.
    package var farewellMax: Duration = .seconds(1)
    /// How long a stop waits for peers to take what was answered.
    package var lingerMax: Duration = .seconds(1)
    /// Which run of the gateway this is; ticks say it.
    package var instance: UInt64
    /// The epoch of the gateway's history; heads say it.
    package var epoch: UInt64

    /// - Parameters:
    ///   - instance: which run of the gateway this is.
    ///   - epoch: the epoch of the gateway's history.
    ///   - limits: the values of its limits.
    package init(instance: UInt64, epoch: UInt64, limits: LimitValues = LimitValues()) {
        self.instance = instance
        self.epoch = epoch
        self.subscriptionsPerConnectionMax = limits[.subscriptionsPerConnectionMax]
        self.messagesPerConnectionPerSecondMax = limits[.messagesPerConnectionPerSecondMax]
        self.messagesPerAddressPerSecondMax = limits[.messagesPerAddressPerSecondMax]
        self.messagesPerSecondMax = limits[.messagesPerSecondMax]
        self.refusedTokensPerConnectionPerSecondMax = limits[.refusedTokensPerConnectionPerSecondMax]
        self.sessionsPerConnectionMax = limits[.sessionsPerConnectionMax]
        self.requestsWaitingPerConnectionMax = limits[.requestsWaitingPerConnectionMax]
        self.connectionsPerAddressMax = limits[.connectionsPerAddressMax]
        self.bytesWaitingMax = limits[.bytesWaitingMax]
        self.ringBytesMax = limits[.ringBytesMax]
        self.ringsBytesMax = limits[.ringsBytesMax]
    }

    /// The longest subscription with its first byte, and the longest command, in bytes.
    package static let subscriptionBytesMax = 4_096
    /// The longest request, in bytes.
    package static let requestBytesMax = WireLimits.requestFrameBytesMax
    /// The most frames of a message that is passed over; one of more ends its connection.
    package static let framesPerMessageMax = LimitName.framesPerMessageMax.value
    /// The most fragments of a message over WebSocket; one of more ends its connection.
    package static let fragmentsPerMessageMax = LimitName.fragmentsPerMessageMax.value
    /// So many messages of one connection are handled in a row; what is behind them waits for the others' turns.
    package static let messagesPerTurnMax = LimitName.messagesPerTurnMax.value
    /// A connection that sends more messages a second than this, on average, is read after quieter connections.
    ///
    /// Each read of a connection counts as one message too.
    ///
    /// A listener sends a few around a break.
    package static let lightMessagesPerSecondMax = LimitName.lightMessagesPerSecondMax.value
    /// So many of them may come at once.
    ///
    /// The number is small because a new connection has sent nothing yet, and hundreds may be new.
    package static let lightMessagesAtOnceMax = 8
    /// So many bytes that wait for a peer are enough: it is not read from until it has taken them.
    package static let bytesWaitingBeforePause = 65_536
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import GatewayCore
internal import SystemSupport
internal import TLS

/// The state of one connection in an ``EdgeLoop``.
struct EdgeSlot {
    /// A stream that a connection hears.
    struct Subscription {
        let stream: EdgeStream
        var cursor: NoticeCursor
        /// Its place among the stream's subscribers.
        var place: Int
        /// Whether the kernel did not take all that waited.
        var isBehind = false
        /// The session that joined on the connection itself; `nil`: it subscribed.
        var session: SessionID?
        /// The grant that lets the connection hear a protected stream; `nil`: it needs none.
        var proof: PushProof?
    }

    /// Why a connection is not read from.
    struct Pause: OptionSet {
        let rawValue: UInt8
        /// It sends more than it may.
        static let throttled = Pause(rawValue: 1)
        /// It does not read its answers.
        static let unread = Pause(rawValue: 2)
        /// Too many of its requests wait for the event log.
        static let waiting = Pause(rawValue: 4)
        /// It is queued with the connections that sent more than fits into a turn.
        static let queued = Pause(rawValue: 8)
    }

    enum Phase {
        case free
        case handshake
        case ready
        /// Its listener has ended, and its last event waits.
        case ending
    }

    var phase = Phase.free
    /// The number of the endpoint that accepted it.
    var endpoint: UInt8 = 0
    var pause: Pause = []
    /// The events that the pollers look for.
    var look = PollerLook()
    /// Whether it has asked for anything, or subscribed to something.
    var isUsed = false
    var descriptor: Int32 = -1
    /// Counts the connections that had this slot.
    let generation: UInt32
    /// Its place among those that hear ticks; below zero: it hears none.
    var tickPlace: Int32 = -1
    /// How many of its requests are answered later.
    var waitingCount: UInt32 = 0
    /// Its use of the rate limits of a connection.
    var allowance = MessageAllowance()
    /// The shares that all connections of its address have used; `nil`: these are not limited.
    var shared: EdgeAddress?
    /// When it was accepted, or its handshake was done, in nanoseconds.
    var since: UInt64 = 0
    /// The progress of writing its waiting bytes; detects a slow consumer.
    var writeProgress = WriteProgress()
    var address = PeerAddress()
    var connection = EdgeConnection()
    var subscriptions: [Subscription] = []
    /// Bytes that were read and not handled: of an incomplete frame, or of a connection that is paused.
    var input: [UInt8] = []
    /// Bytes that the kernel has not accepted yet.
    var output: [UInt8] = []
    /// How much of it is sent.
    var outputSent = 0
    /// Whether nothing is known of it but what its balancer is going to say.
    var awaitsHeader = false
    /// Whether its endpoint has a certificate.
    var isByTLS = false
    /// The TLS session; `nil`: nothing has come, or nothing is encrypted.
    var session: TLSSession?
    /// The bytes that the TLS session keeps of its input.
    var sessionBytes = 0
    /// The layer between its bytes and `connection`; `nil`: its endpoint is not for WebSocket.
    var webSocket: WebSocketLink?
    /// The listener that it writes server-sent events to; `nil`: an endpoint accepted it.
    var events: EventLink?

    init(generation: UInt32 = 0) {
        self.generation = generation
    }

    /// The bytes that it holds for itself.
    var bytesHeld: Int {
        self.input.count + self.output.count + self.sessionBytes + (self.webSocket?.bytesCounted ?? 0)
    }
}

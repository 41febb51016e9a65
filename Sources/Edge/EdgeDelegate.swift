// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
package import SystemSupport
package import TLS
package import ZMTP

/// A connection of an ``EdgeLoop``, and the first frame of its answer to the current request: a value, valid until the
/// connection ends.
///
/// Later answers to it are dropped and counted.
package struct EdgePeer: Hashable, Sendable {
    let index: UInt32
    let generation: UInt32
    /// The frame that the answer begins with; `nil`: the answer begins with its delimiter.
    let correlation: EdgeCorrelation?

    init(index: UInt32, generation: UInt32, correlation: EdgeCorrelation? = nil) {
        self.index = index
        self.generation = generation
        self.correlation = correlation
    }

    /// The connection with this number, for answers without a correlation.
    package init(number: UInt64) {
        self.init(
            index: UInt32(truncatingIfNeeded: number),
            generation: UInt32(truncatingIfNeeded: number >> 32)
        )
    }

    /// Whether its number alone does not say how it is answered.
    package var isCorrelated: Bool { self.correlation != nil }

    /// A number for the connection, the same for all of its requests.
    package var number: UInt64 { UInt64(self.generation) << 32 | UInt64(self.index) }
}

/// Why the loop closed a connection by itself.
package enum EdgeClosing: Hashable, Sendable {
    /// No handshake in time (``EdgeSettings/handshakeTimeout``).
    case handshake
    /// Nothing was asked for in time (``EdgeSettings/unusedTimeout``).
    case unused
    /// The peer did not read its waiting bytes in time (``EdgeSettings/stalledTimeout``).
    case stalled
    /// The peer did not read the bytes that waited at one time in many times that time (``EdgeSettings/stalledTimeoutsMax``).
    case slow
    /// The peer does not keep to ZMTP.
    case violation(ZMTPError)
    /// The peer does not keep to TLS, or not to the part of it that there is here.
    case encryption(TLSFailure)
    /// The peer speaks TLS at an endpoint without a certificate.
    case encrypted
    /// The balancer's header is missing, or it must not be trusted.
    case proxy(ProxyRefusal)
    /// The peer's request is not for ZeroMQ over WebSocket, or it may not listen.
    case upgrade(WebSocketRefusal)
    /// The peer does not keep to WebSocket, or not to the part of it that there is here.
    case webSocket(WebSocketFailure)
    /// A message of more frames than ``EdgeSettings/framesPerMessageMax``.
    case endless
    /// More subscriptions than ``EdgeSettings/subscriptionsPerConnectionMax``.
    case subscriptions
    /// More connections from its address than ``EdgeSettings/connectionsPerAddressMax``.
    case address
    /// The connection has lost the right to receive a stream: the ticket has expired, its key was withdrawn, the stream requires a
    /// token now, or the session was forgotten.
    case expired
    /// All waiting bytes exceeded ``EdgeSettings/bytesWaitingMax``, and this connection had most of them.
    case memory

    /// The metric label that counts it.
    package var metricLabel: MetricLabel {
        switch self {
        case .handshake: .handshake
        case .unused: .unused
        case .stalled: .stalled
        case .slow: .slow
        case .violation: .violation
        case .encryption: .encryption
        case .encrypted: .encrypted
        case .proxy: .proxy
        case .upgrade: .upgrade
        case .webSocket(.tooManyFragments): .limit(.fragmentsPerMessageMax)
        case .webSocket: .webSocket
        case .endless: .limit(.framesPerMessageMax)
        case .subscriptions: .limit(.subscriptionsPerConnectionMax)
        case .address: .limit(.connectionsPerAddressMax)
        case .expired: .expired
        case .memory: .limit(.bytesWaitingMax)
        }
    }

    /// The limit that the peer exceeded, where it is one that an operator can set.
    var limit: LimitName? {
        switch self {
        case .endless: .framesPerMessageMax
        case .webSocket(.tooManyFragments): .fragmentsPerMessageMax
        case .subscriptions: .subscriptionsPerConnectionMax
        case .address: .connectionsPerAddressMax
        case .memory: .bytesWaitingMax
        case .handshake, .unused, .stalled, .slow, .violation, .encryption, .encrypted, .proxy, .upgrade,
            .webSocket, .expired:
            nil
        }
    }
}

extension EdgeClosing: CustomStringConvertible {
    package var description: String {
        switch self {
        case .violation(let error): "\(self.metricLabel.text): \(error)"
        case .encryption(let failure): "\(self.metricLabel.text): \(failure)"
        case .proxy(let refusal): "\(self.metricLabel.text): \(refusal)"
        case .upgrade(let refusal): "\(self.metricLabel.text): \(refusal)"
        case .webSocket(let failure): "\(self.metricLabel.text): \(failure)"
        default: self.metricLabel.text
        }
    }
}

/// An event on a connection that is logged for operators.
package enum EdgeEvent: Hashable, Sendable {
    /// An invalid message was skipped.
    case invalid(EdgeConnection.InvalidMessage, from: PeerAddress, on: MetricLabel)
    case closed(EdgeClosing, peer: PeerAddress, on: MetricLabel)
}

/// A delegate's decision about a request.
package struct EdgeAnswer: Sendable {
    /// The answer; `nil`: it comes later, by ``EdgeLoop/answer(_:to:)``, once.
    package let reply: ReplyBytes?
    /// Whether the request has begun a session.
    package let hasBegunSession: Bool
    /// The change of the notices on its connection.
    package let push: PushChange?
    /// Whether it was refused for its token: checking one costs more than sending it.
    package let refusesToken: Bool

    package init(
        reply: ReplyBytes?,
        hasBegunSession: Bool = false,
        push: PushChange? = nil,
        refusesToken: Bool = false
    ) {
        self.reply = reply
        self.hasBegunSession = hasBegunSession
        self.push = push
        self.refusesToken = refusesToken
    }
}

/// Decides what an ``EdgeLoop`` answers; called on the loop's thread only.
package protocol EdgeDelegate: AnyObject {
    /// The gateway's clock.
    var now: Timestamp { get }

    /// Decides about a request.
    ///
    /// - Parameters:
    ///   - request: its bytes.
    ///   - peer: the peer of the connection.
    ///   - mayBeginSession: whether its connection may begin a session.
    ///   - push: whether notices can go to its connection, and whose do.
    /// - Returns: the decision about it.
    func handle(_ request: [UInt8], from peer: EdgePeer, mayBeginSession: Bool, push: PushPlace) -> EdgeAnswer

    /// All input of this iteration was handled: gathered requests can be submitted.
    func passEnded(in loop: EdgeLoop)

    /// ``EdgeInbox/wakeDelegate()`` was called.
    func woken(in loop: EdgeLoop)

    /// A second has passed.
    func runHousekeeping(in loop: EdgeLoop)

    /// Whether a proof still lets its connection hear its stream; asked once a second.
    func isGood(_ proof: PushProof) -> Bool

    /// How often the rules that `mayHear` applies have changed; asked with each tick.
    var rulesNumber: Int { get }

    /// Whether a stream requires a token; a subscription alone does not deliver its notices.
    func isProtected(_ stream: StreamID) -> Bool

    /// Whether a connection goes on hearing a stream; asked for all of them when the rules have changed.
    ///
    /// - Parameters:
    ///   - stream: the stream that it receives.
    ///   - session: the session that joined on the connection; `nil`: the connection subscribed.
    ///   - proof: its right to receive a protected stream.
    /// - Returns: whether it does. If not, a subscriber loses the subscription, and a joined session loses its connection.
    func mayHear(_ stream: StreamID, _ session: SessionID?, _ proof: PushProof?) -> Bool

    /// Logs an event.
    func report(_ event: EdgeEvent)
}

/// Counts connections of all entrances together, and knows how many there may be.
package protocol ConnectionCounting: Sendable {
    /// A connection was accepted.
    ///
    /// - Returns: whether another one may be accepted; if not, ``EdgeInbox/setAccepting(_:)`` is called once it may.
    func accepted(on endpoint: MetricLabel) -> Bool

    /// A connection has ended.
    func ended(on endpoint: MetricLabel)

    /// The system had no descriptor for a connection.
    func acceptFailed()
}

/// A listening socket of the edge.
package struct EdgeEndpoint: Sendable {
    /// Closed when the loop ends.
    package let descriptor: Int32
    /// The metric label of its connections.
    package let label: MetricLabel
    /// The certificate, where its connections are by TLS; `nil`: they are plain.
    package let identity: EndpointIdentity?
    /// The load balancers before it; `nil`: none, clients connect directly.
    package let balancers: Balancers?
    /// Which requests it serves over WebSocket; `nil`: it speaks ZMTP.
    package let webSocket: WebSocketEndpoint?

    package init(
        descriptor: Int32,
        label: MetricLabel,
        identity: EndpointIdentity? = nil,
        balancers: Balancers? = nil,
        webSocket: WebSocketEndpoint? = nil
    ) {
        self.descriptor = descriptor
        self.label = label
        self.identity = identity
        self.balancers = balancers
        self.webSocket = webSocket
    }

    /// Closes it where no loop has it.
    package func close() { System.close(self.descriptor) }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ZMTP

/// The protocol of one listener's connection, without its I/O: bytes in, requests and subscriptions out.
///
/// It keeps no bytes, and no peer can make it grow: a message is bounded in frames (``EdgeSettings/framesPerMessageMax``) and
/// each frame in bytes. It skips a message that is no request, frame by frame.
///
/// ```swift
/// var offset = 0
/// while true {
///     switch connection.next(in: received.span, at: &offset) {
///     case .request(let body, let correlation): answer(received[body], correlation)
///     case .needsMore: …  // keep what is behind `offset`, and come back with more behind it
///     …
///     }
/// }
/// ```
package struct EdgeConnection: Sendable {
    /// The kinds of peers.
    package enum Peer: Sendable {
        /// SUB or XSUB: receives notices.
        case subscriber
        /// REQ: sends requests, and receives nothing but answers.
        case requester
        /// DEALER or ROUTER: sends requests, and receives messages at any time.
        case dealer
    }

    /// Why a message is invalid; it was skipped.
    package enum InvalidMessage: Hashable, Sendable {
        /// It is not an empty frame and one more, nor these behind an ``EdgeCorrelation``.
        case noEnvelope
        case tooManyFrames
        /// Its first byte is not 0 or 1.
        case notSubscription
    }

    /// The next event in the bytes of the peer; ranges are of the span that was given.
    package enum Event: Hashable, Sendable {
        /// The rest is no whole frame.
        case needsMore
        /// The handshake is done: send `ready`, then answers.
        case ready
        /// A request; its answer begins with the correlation, where there is one.
        case request(Range<Int>, EdgeCorrelation?)
        case subscribe(topic: Range<Int>)
        case cancel(topic: Range<Int>)
        /// Send a PONG with this context.
        case ping(context: Range<Int>)
        case invalid(InvalidMessage)
        /// A message has more frames than any valid one: close.
        case endless
        /// The peer violates the protocol: close.
        case failed(ZMTPError)
    }

    private var session: Session
    /// The mechanism, where the connection is over WebSocket; `nil`: it is not.
    private let mechanism: ZWSMechanism?
    /// The peer's kind, once the handshake is done, or once a peer without a handshake has shown it by its first message.
    package private(set) var peer: Peer?
    /// How many frames of the message at hand have come.
    private var frameCount = 0
    /// The first of them, if it may be the correlation of the answer.
    private var correlation: EdgeCorrelation?
    /// Whether the first of them, or the one behind the correlation, is the empty one before a request.
    private var hasDelimiter = false

    /// A connection of ZMTP.
    package init() { self.init(nil, start: .greeting) }

    /// A connection over WebSocket, which has agreed on a mechanism: there is no greeting.
    package init(overWebSocket mechanism: ZWSMechanism) {
        self.init(mechanism, start: mechanism == .null ? .handshake : .routingID)
    }

    private init(_ mechanism: ZWSMechanism?, start: Session.Start) {
        self.mechanism = mechanism
        self.session = Session(
            serving: .xpub,
            or: .router,
            frameBytesMax: EdgeSettings.requestBytesMax,
            commandBytesMax: EdgeSettings.subscriptionBytesMax,
            start: start
        )
    }

    /// The bytes to send first, over ZMTP.
    package var greeting: [UInt8] { self.session.greeting }

    /// The bytes to send when the handshake is done; without a mechanism it is an empty routing id.
    package var ready: [UInt8] {
        guard self.mechanism == ZWSMechanism.none else { return self.session.ready() }
        var bytes: [UInt8] = []
        Outgoing.appendFrame([], to: &bytes)
        return bytes
    }

    /// Reads the next thing at `offset` and moves `offset` behind it; never traps, whatever the bytes are.
    package mutating func next(in bytes: Span<UInt8>, at offset: inout Int) -> Event {
        while true {
            switch self.session.next(in: bytes, at: &offset) {
            case .needsMore: return .needsMore
            case .greeted, .pong: continue
            case .ready:
                // Without a mechanism the first message shows it.
                guard self.mechanism != ZWSMechanism.none else { return .ready }
                if self.session.type == .xpub {
                    self.becomeSubscriber()
                } else {
                    self.peer = self.session.peerType == .req ? .requester : .dealer
                }
                return .ready
            case .frame(let body, let more):
                if self.peer == nil {
                    self.peer = .dealer
                    self.session.become(.router)
                }
                if let event = self.frame(body, more: more, in: bytes) { return event }
            case .ping(let context): return .ping(context: context)
            case .subscribe(let topic):
                if self.peer == nil { self.becomeSubscriber() }
                guard self.peer == .subscriber else { continue }
                return .subscribe(topic: topic)
            case .cancel(let topic):
                if self.peer == nil { self.becomeSubscriber() }
                guard self.peer == .subscriber else { continue }
                return .cancel(topic: topic)
            case .failed(let error): return .failed(error)
            }
        }
    }

    private mutating func becomeSubscriber() {
        self.peer = .subscriber
        self.session.frameBytesMax = EdgeSettings.subscriptionBytesMax
    }

    /// Takes note of a frame of a message.
    ///
    /// - Returns: the event of the message where this was its last frame.
    private mutating func frame(_ body: Range<Int>, more: Bool, in bytes: Span<UInt8>) -> Event? {
        let number = self.frameCount
        self.frameCount += 1
        guard self.frameCount <= EdgeSettings.framesPerMessageMax else { return .endless }
        if number == 0 {
            self.hasDelimiter = body.isEmpty && more
            let mayBeCorrelation = body.count == EdgeCorrelation.byteCount && more
            self.correlation = mayBeCorrelation ? EdgeCorrelation(bytes.extracting(body)) : nil
        } else if number == 1, self.correlation != nil {
            self.hasDelimiter = body.isEmpty && more
        }
        guard !more else { return nil }
        self.frameCount = 0
        if self.peer == .subscriber { return .invalid(number == 0 ? .notSubscription : .tooManyFrames) }
        if self.hasDelimiter, number == (self.correlation == nil ? 1 : 2) { return .request(body, self.correlation) }
        return .invalid(number > 1 ? .tooManyFrames : .noEnvelope)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One side of a ZMTP 3 connection with the NULL mechanism, without its I/O: greeting, handshake, then frames.
///
/// ```swift
/// var session = Session(.sub)
/// send(session.greeting)
/// var offset = 0
/// while true {
///     switch session.next(in: received.span, at: &offset) {
///     case .greeted: send(session.ready())
///     case .frame(let body, let more): handle(received[body], more)
///     case .needsMore: …  // keep what is behind `offset`, and come back with more behind it
///     …
///     }
/// }
/// ```
///
/// It keeps no bytes: the reader of the network keeps what was not consumed. A stream may be cut anywhere. NULL is symmetrical,
/// so both sides are the same.
///
/// Source of the rules: RFC 23 (ZMTP 3.0) and RFC 37 (ZMTP 3.1).
package struct Session: Sendable {
    /// The next event in the bytes of the peer.
    ///
    /// Ranges are of the span that was given.
    package enum Event: Hashable, Sendable {
        /// Nothing whole is left.
        case needsMore
        /// The peer's greeting is good: send `ready()`.
        case greeted
        /// The handshake is done: messages may go.
        case ready
        /// A frame of a message.
        case frame(Range<Int>, more: Bool)
        /// A PING: send a PONG with this context.
        case ping(context: Range<Int>)
        case pong
        /// A subscription, to a side that publishes.
        case subscribe(topic: Range<Int>)
        case cancel(topic: Range<Int>)
        /// The peer cannot be talked to: close. Said again on every further call.
        case failed(ZMTPError)
    }

    /// How a connection begins.
    package enum Start: Sendable {
        /// With ZMTP's greeting.
        case greeting
        /// With the commands of the NULL mechanism: something below ZMTP has agreed on it (RFC 45, "Mechanisms").
        case handshake
        /// With a message that is the peer's routing id (RFC 45, "No Mechanism").
        ///
        /// Neither side says what socket it is: `peerType` stays `nil`, and `become(_:)` decides.
        case routingID
    }

    private enum State: Hashable, Sendable {
        case greeting
        case handshake
        case routingID
        case ready
        case failed(ZMTPError)
    }

    /// The type of this side: of the types that it may be, the one that fits the peer, once the handshake is done.
    package private(set) var type: SocketType
    /// The type of the peer, once the handshake is done.
    package private(set) var peerType: SocketType?
    /// The type that this side may have instead of `type`.
    private let otherType: SocketType?
    /// The longest body of a message frame, in bytes; what has begun to come is held to the limit of then.
    package var frameBytesMax: Int
    /// The longest command with its name, in bytes.
    private let commandBytesMax: Int
    /// The minor version that this side announces.
    package let minor: UInt8
    /// The minor version of the peer, once it has greeted.
    package private(set) var peerMinor: UInt8 = 0
    private var state = State.greeting
    /// Whether the last frame announced more: what follows is no subscription then.
    private var inMessage = false

    package init(
        _ type: SocketType,
        minor: UInt8 = 0,
        frameBytesMax: Int = ZMTPLimits.frameBytesDefaultMax,
        start: Start = .greeting
    ) {
        self.type = type
        self.otherType = nil
        self.minor = minor
        self.frameBytesMax = frameBytesMax
        self.commandBytesMax = ZMTPLimits.commandBytesMax
        self.begin(start)
    }

    /// A server that is whichever of two socket types talks to its peer.
    ///
    /// It learns the peer's type from the peer's READY command, and sends its own one after it: `ready()` is to be sent at
    /// `.ready`, not at `.greeted`.
    package init(
        serving type: SocketType,
        or otherType: SocketType,
        frameBytesMax: Int,
        commandBytesMax: Int,
        start: Start = .greeting
    ) {
        self.type = type
        self.otherType = otherType
        self.minor = 1
        self.frameBytesMax = frameBytesMax
        self.commandBytesMax = commandBytesMax
        self.begin(start)
    }

    private mutating func begin(_ start: Start) {
        switch start {
        case .greeting: self.state = .greeting
        case .handshake: self.state = .handshake
        case .routingID: self.state = .routingID
        }
    }

    /// Decides what this side is, to a peer that did not say what it is.
    package mutating func become(_ type: SocketType) { self.type = type }

    /// Whether the handshake is done.
    package var isReady: Bool { self.state == .ready }

    /// The bytes to send first.
    package var greeting: [UInt8] { Greeting(minor: self.minor).bytes }

    /// The bytes to send once the peer has greeted.
    package func ready(identity: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = []
        Outgoing.appendReady(self.type, identity: identity, to: &bytes)
        return bytes
    }

    /// Whether subscriptions are to be sent as commands: both sides speak 3.1.
    package var subscribesByCommand: Bool { self.minor >= 1 && self.peerMinor >= 1 }

    /// Reads the next thing at `offset` and moves `offset` behind it.
    ///
    /// Never traps, whatever the bytes are; `offset` must not be negative.
    package mutating func next(in bytes: Span<UInt8>, at offset: inout Int) -> Event {
        do throws(ZMTPError) {
            switch self.state {
            case .ready: return try self.nextFrame(in: bytes, at: &offset)
            case .greeting: return try self.nextGreeting(in: bytes, at: &offset)
            case .handshake: return try self.nextHandshake(in: bytes, at: &offset)
            case .routingID: return try self.nextRoutingID(in: bytes, at: &offset)
            case .failed(let error): return .failed(error)
            }
        } catch {
            self.state = .failed(error)
            return .failed(error)
        }
    }

    private mutating func nextGreeting(in bytes: Span<UInt8>, at offset: inout Int) throws(ZMTPError) -> Event {
        guard bytes.count - offset >= ZMTPLimits.greetingBytes else {
            try Greeting.checkSignature(bytes, at: offset)
            return .needsMore
        }
        let greeting = try Greeting(reading: bytes, at: offset)
        // A later major version falls back to ours (RFC 23, "Version Negotiation").
        self.peerMinor = greeting.major > 3 ? 1 : greeting.minor
        offset += ZMTPLimits.greetingBytes
        self.state = .handshake
        return .greeted
    }

    private mutating func nextHandshake(in bytes: Span<UInt8>, at offset: inout Int) throws(ZMTPError) -> Event {
        guard let header = try self.header(bytes, at: offset) else {
            return .needsMore
        }
        guard header.isCommand else { throw .messageBeforeReady }
        guard let body = self.take(header, in: bytes, at: &offset) else { return .needsMore }
        switch try IncomingCommand(reading: bytes, in: body) {
        case .ready(let peer, _):
            if !self.type.accepts(peer) {
                guard let other = self.otherType, other.accepts(peer) else { throw .incompatible(self.type, peer) }
                self.type = other
            }
            self.peerType = peer
            self.state = .ready
            return .ready
        case .error(let reason):
            var text: [UInt8] = []
            for index in reason { text.append(bytes[index]) }
            throw .refused(reason: String(decoding: text, as: UTF8.self))
        default: throw .unexpectedCommand
        }
    }

    private mutating func nextRoutingID(in bytes: Span<UInt8>, at offset: inout Int) throws(ZMTPError) -> Event {
        guard let header = try self.header(bytes, at: offset) else { return .needsMore }
        guard !header.isCommand, !header.more, header.bodyBytes <= ZMTPLimits.identityBytesMax else {
            throw .noRoutingID
        }
        guard self.take(header, in: bytes, at: &offset) != nil else { return .needsMore }
        self.state = .ready
        return .ready
    }

    private mutating func nextFrame(in bytes: Span<UInt8>, at offset: inout Int) throws(ZMTPError) -> Event {
        while let header = try self.header(bytes, at: offset) {
            guard let body = self.take(header, in: bytes, at: &offset) else { break }
            guard header.isCommand else {
                let startsMessage = !self.inMessage
                self.inMessage = header.more
                if startsMessage, self.type.publishes, !header.more, let first = body.first, bytes[first] <= 1 {
                    let topic = first + 1..<body.upperBound
                    return bytes[first] == 1 ? .subscribe(topic: topic) : .cancel(topic: topic)
                }
                return .frame(body, more: header.more)
            }
            switch try IncomingCommand(reading: bytes, in: body) {
            case .ping(let context): return .ping(context: context)
            case .pong: return .pong
            case .subscribe(let topic): return .subscribe(topic: topic)
            case .cancel(let topic): return .cancel(topic: topic)
            case .ready: throw .unexpectedCommand
            case .error, .other: continue
            }
        }
        return .needsMore
    }

    @inline(__always)
    private func header(_ bytes: Span<UInt8>, at offset: Int) throws(ZMTPError) -> FrameHeader? {
        try FrameHeader.read(
            bytes,
            at: offset,
            frameBytesMax: self.frameBytesMax,
            commandBytesMax: self.commandBytesMax
        )
    }

    private func take(_ header: FrameHeader, in bytes: Span<UInt8>, at offset: inout Int) -> Range<Int>? {
        let start = offset + header.headerBytes
        guard bytes.count - start >= header.bodyBytes else { return nil }
        offset = start + header.bodyBytes
        return start..<offset
    }
}

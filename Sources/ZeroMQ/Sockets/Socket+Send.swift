// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The result of sending a frame or message.
package enum SendOutcome: Hashable, Sendable {
    /// Queued for the peer, or dropped by a pattern that drops (a publisher with a slow subscriber).
    case sent

    /// The queue is full, or there is no peer yet. Nothing was sent.
    case wouldBlock

    /// A router with `routerMandatory` knows no such peer any more. Nothing was sent.
    case unreachable
}

extension Socket {
    /// Sends one frame, copying `bytes`.
    ///
    /// Never blocks.
    ///
    /// With `more`, further frames of the same message follow. Once the first frame of a message is sent, send the
    /// others too, whatever their outcome: a message is sent when its last frame is.
    ///
    /// - Throws: `wrongState` when a `req` or `rep` socket is not at this turn, `notSupported` on a socket that only
    ///   receives.
    package borrowing func send(_ bytes: RawSpan, more: Bool = false) throws(ZeroMQError) -> SendOutcome {
        self.core.checkThread("send(_:more:)")
        return try self.outcome { () throws(ZeroMQError) -> CInt? in
            try unsafe bytes.withUnsafeBytes { (bytes) throws(ZeroMQError) -> CInt? in
                try SystemCall.unlessBlocked("zmq_send") {
                    unsafe zmq_send(self.handle, bytes.baseAddress, bytes.count, Self.flags(more: more))
                }
            }
        }
    }

    /// Sends one frame, copying `bytes`.
    ///
    /// See ``send(_:more:)-(RawSpan,_)``.
    package borrowing func send(_ bytes: [UInt8], more: Bool = false) throws(ZeroMQError) -> SendOutcome {
        try unsafe self.send(bytes.span.bytes, more: more)
    }

    /// Sends one frame without copying it.
    ///
    /// The frame is gone even when it could not be sent: keep a ``Message/copy()`` to try again.
    package borrowing func send(_ message: consuming Message, more: Bool = false) throws(ZeroMQError) -> SendOutcome {
        self.core.checkThread("send(_:more:)")
        var message = message
        return try self.outcome { () throws(ZeroMQError) -> CInt? in
            try unsafe message.withRaw { (raw) throws(ZeroMQError) -> CInt? in
                try SystemCall.unlessBlocked("zmq_msg_send") {
                    unsafe zmq_msg_send(raw, self.handle, Self.flags(more: more))
                }
            }
        }
    }

    /// Answers a request that a router received: routing id, empty frame, and one body of `head` followed by `tail`.
    ///
    /// The answer goes out whole or not at all. libzmq decides at the routing id: a router with `routerMandatory`
    /// answers there that the peer's queue is full or the peer gone, before anything was queued. The frames after it
    /// cannot block; when the peer vanishes between them, libzmq takes back what it queued. Without `routerMandatory` an
    /// answer that cannot be delivered vanishes and counts as sent.
    package borrowing func sendReply(
        to peer: RoutingID,
        head: RawSpan,
        tail: RawSpan = RawSpan()
    ) throws(ZeroMQError) -> SendOutcome {
        let outcome = try peer.withBytes { (id) throws(ZeroMQError) in try self.send(id, more: true) }
        guard outcome == .sent else { return outcome }
        return try self.sendRest(of: Message(head: head, tail: tail))
    }

    /// As ``sendReply(to:head:tail:)-(_,RawSpan,_)``, from arrays.
    package borrowing func sendReply(
        to peer: RoutingID,
        head: [UInt8],
        tail: [UInt8] = []
    ) throws(ZeroMQError) -> SendOutcome {
        try unsafe self.sendReply(to: peer, head: head.span.bytes, tail: tail.span.bytes)
    }

    /// Answers a request that a router received with a body made beforehand.
    ///
    /// See ``sendReply(to:head:tail:)-(_,RawSpan,_)``. The body is gone even when it could not be sent.
    package borrowing func sendReply(
        to peer: RoutingID,
        _ body: consuming Message
    ) throws(ZeroMQError) -> SendOutcome {
        let outcome = try peer.withBytes { (id) throws(ZeroMQError) in try self.send(id, more: true) }
        guard outcome == .sent else { return outcome }
        return try self.sendRest(of: body)
    }

    /// Sends a request as a `req` socket would, from a `dealer` socket: an empty frame and one body.
    ///
    /// It goes out whole or not at all: `wouldBlock` means that no part of it was sent.
    package borrowing func sendRequest(_ body: RawSpan) throws(ZeroMQError) -> SendOutcome {
        try self.sendRest(of: Message(body))
    }

    /// Sends a request as a `req` socket would, from a `dealer` socket.
    ///
    /// See ``sendRequest(_:)-(RawSpan)``.
    package borrowing func sendRequest(_ body: [UInt8]) throws(ZeroMQError) -> SendOutcome {
        try unsafe self.sendRequest(body.span.bytes)
    }

    /// Sends the empty frame and the body.
    private borrowing func sendRest(of body: consuming Message) throws(ZeroMQError) -> SendOutcome {
        let delimiter = try self.send(RawSpan(), more: true)
        guard delimiter == .sent else { return delimiter }
        // When the peer goes away between the two frames, a dealer answers EAGAIN to the last one and has dropped the
        // first: nothing of the message is left to be finished.
        return try self.send(body)
    }

    @inline(__always)
    private borrowing func outcome(
        _ body: () throws(ZeroMQError) -> CInt?
    ) throws(ZeroMQError) -> SendOutcome {
        do {
            return try body() == nil ? .wouldBlock : .sent
        } catch  where error.code == .hostUnreachable {
            return .unreachable
        }
    }

    private static func flags(more: Bool) -> CInt {
        more ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
    }
}

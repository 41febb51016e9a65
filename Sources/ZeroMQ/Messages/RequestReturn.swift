// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where the answer to a request goes, and what it begins with: a plain value to keep with work that is answered later.
///
/// A `req` socket with `requestCorrelate` sends a frame of four bytes before the empty one, and takes an answer only with the same
/// bytes before its own empty frame.
package struct RequestReturn: Hashable, Sendable {
    /// How long the frame is by which a `req` socket tells answers apart: libzmq counts requests in 32 bits.
    package static let correlationBytes = 4

    /// The peer that asked.
    package let peer: RoutingID
    /// The bytes of that frame, as libzmq has them in memory; `nil`: the request had none.
    private let correlation: UInt32?

    package init(_ peer: RoutingID) {
        self.peer = peer
        self.correlation = nil
    }

    /// - Parameters:
    ///   - peer: the peer that asked.
    ///   - correlation: the frame before the empty one, ``correlationBytes`` long.
    package init(_ peer: RoutingID, correlation: RawSpan) {
        precondition(correlation.byteCount == Self.correlationBytes, "a correlation of \(correlation.byteCount) bytes")
        self.peer = peer
        // Any four bytes are a number, and there are four by the condition above.
        self.correlation = unsafe correlation.unsafeLoadUnaligned(as: UInt32.self)
    }

    /// The frame before the empty one; `nil`: there is none.
    package var correlationFrame: [UInt8]? {
        guard let correlation else { return nil }
        return unsafe withUnsafeBytes(of: correlation) { unsafe Array($0) }
    }
}

extension Socket {
    /// Answers a request that a router received, with the frame that it began with.
    ///
    /// As ``sendReply(to:head:tail:)-(RoutingID,_,_)``: the answer goes out whole or not at all.
    package borrowing func sendReply(to place: RequestReturn, _ body: [UInt8]) throws(ZeroMQError) -> SendOutcome {
        guard let correlation = place.correlationFrame else { return try self.sendReply(to: place.peer, head: body) }
        let outcome = try place.peer.withBytes { (id) throws(ZeroMQError) in try self.send(id, more: true) }
        guard outcome == .sent else { return outcome }
        // Behind the routing id nothing can block.
        for frame in [correlation, []] {
            let outcome = try self.send(frame, more: true)
            guard outcome == .sent else { return outcome }
        }
        return try self.send(body)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import ZeroMQ

/// A DEALER socket that sends requests with ids and finds their replies, in whatever order they come.
package actor RawRequests {
    package let peer: RawPeer
    private var lastID: UInt64 = 0

    /// - Parameters:
    ///   - endpoint: where to.
    ///   - network: where it lives.
    ///   - configure: sets more options of the socket, such as keys.
    /// - Throws: what libzmq refuses, and what `configure` throws.
    package init(
        connectedTo endpoint: String,
        in network: PeerNetwork,
        configure: @Sendable (borrowing Socket) throws -> Void = { _ in }
    ) async throws {
        self.peer = try RawPeer(.dealer, in: network) { socket in
            try configure(socket)
            // However many requests a test sends at once.
            try socket.set(.sendHighWaterMark, to: 0)
            try socket.set(.receiveHighWaterMark, to: 0)
        }
        try await self.peer.connect(endpoint)
    }

    /// Sends a request.
    ///
    /// - Parameter make: its bytes, from its id.
    /// - Returns: its id.
    /// - Throws: when the request cannot be made or libzmq does not take it.
    package func send(_ make: (UInt64) throws -> [UInt8]) async throws -> UInt64 {
        self.lastID += 1
        let id = self.lastID
        guard try await self.peer.send([[], try make(id)]) else {
            throw PeerError.unexpected("the request did not fit into the queue")
        }
        return id
    }

    /// Waits for the reply to a request.
    package func reply<Reply: IdentifiedReply>(
        to id: UInt64,
        _ decode: @escaping @Sendable ([UInt8]) -> Reply?
    ) async throws -> Reply {
        try await self.peer.next("the reply to request \(id)") { frames -> Reply? in
            guard frames.count == 2, let reply = decode(frames[1]), reply.requestID == id else { return nil }
            return reply
        }
    }
}

/// A reply that says which request it answers.
package protocol IdentifiedReply: Sendable {
    var requestID: UInt64 { get }
}

extension ListenerReply: IdentifiedReply {}
extension BroadcastReply: IdentifiedReply {}

/// A broadcaster made of a DEALER socket and the wire's values.
package final class RawBroadcaster: Sendable {
    package let requests: RawRequests

    /// - Parameters:
    ///   - endpoint: where to.
    ///   - network: where it lives.
    ///   - configure: sets more options of the socket, such as keys.
    /// - Throws: what libzmq refuses, and what `configure` throws.
    package init(
        connectedTo endpoint: String,
        in network: PeerNetwork,
        configure: @Sendable (borrowing Socket) throws -> Void = { _ in }
    ) async throws {
        self.requests = try await RawRequests(connectedTo: endpoint, in: network, configure: configure)
    }

    /// Asks without waiting.
    ///
    /// - Returns: the request's id, for `reply(to:)`.
    package func send(_ kind: BroadcastRequest.Kind) async throws -> UInt64 {
        try await self.requests.send { BroadcastRequest(id: $0, kind: kind).encoded() }
    }

    /// Asks as part of a trace, and waits for the whole reply.
    ///
    /// - Parameters:
    ///   - kind: what is asked.
    ///   - traceparent: as it is sent, whether it is one or not.
    /// - Returns: the reply.
    /// - Throws: what libzmq refuses, and when nothing comes.
    package func ask(_ kind: BroadcastRequest.Kind, traceparent: String) async throws -> BroadcastReply {
        let id = try await self.requests.send {
            BroadcastRequest(id: $0, traceparent: traceparent, kind: kind).encoded()
        }
        return try await self.requests.reply(to: id) { try? BroadcastReply(decoding: $0) }
    }

    /// Waits for the reply to a request.
    package func reply(to id: UInt64) async throws -> BroadcastReply.Body {
        try await self.requests.reply(to: id) { try? BroadcastReply(decoding: $0) }.body
    }

    /// Asks, and waits for the reply.
    package func ask(_ kind: BroadcastRequest.Kind) async throws -> BroadcastReply.Body {
        try await self.reply(to: self.send(kind))
    }

    /// Asks for something to be done to a break.
    ///
    /// - Returns: the break as it is then.
    /// - Throws: `PeerError.refused` where it was refused.
    @discardableResult
    package func `do`(_ kind: BroadcastRequest.Kind) async throws -> BreakInfo {
        switch try await self.ask(kind) {
        case .break(let info): return info
        case .refused(let refusal): throw PeerError.refused(refusal.description)
        case .list: throw PeerError.unexpected("a list")
        case .adList, .adLists: throw PeerError.unexpected("an ad list")
        case .cueRule: throw PeerError.unexpected("a cue rule")
        }
    }

    /// Publishes a break of made-up advertisements.
    @discardableResult
    package func publish(
        _ id: String,
        of stream: String = "radio1",
        start: BreakStart? = .after(.seconds(5)),
        duration: Duration? = .seconds(30),
        advertisements: [AdvertisementContent]? = nil,
        preStream: Bool = false,
        hold: Duration? = nil
    ) async throws -> BreakInfo {
        try await self.do(
            .publish(
                BroadcastRequest.Publish(
                    key: BreakKey(stream: StreamID(stream), id: BreakID(id)),
                    start: start,
                    duration: duration,
                    advertisements: try advertisements ?? [.madeUp("a"), .madeUp("b")],
                    preStream: preStream,
                    hold: hold
                )
            )
        )
    }
}

extension AdvertisementContent {
    /// A sample advertisement.
    package static func madeUp(_ id: String, duration: Duration = .seconds(15)) throws -> AdvertisementContent {
        AdvertisementContent(
            id: try AdvertisementID(id),
            title: "Advertisement \(id)",
            duration: duration,
            media: [MediaFile(url: "https://media.example/\(id).mp3", type: "audio/mpeg")]
        )
    }
}

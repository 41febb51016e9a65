// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
import Synchronization
import ZeroMQ

/// A listener made of a SUB and a DEALER socket and the wire's values, without a client library.
///
/// It does only what it is told: it may skip the proof of its subscription, drop notices, or ask twice.
package final class RawListener: Sendable {
    package let stream: StreamID
    package let session: SessionID
    package let notices: RawPeer
    package let requests: RawRequests
    private let endpoints: Gateway.Endpoints
    /// The gateway's time in the newest reply.
    private let gatewayTime: Mutex<Timestamp?> = Mutex(nil)

    /// A listener that is connected and subscribed to nothing yet.
    package init(
        of stream: StreamID,
        at endpoints: Gateway.Endpoints,
        session: SessionID,
        in network: PeerNetwork
    ) async throws {
        self.stream = stream
        self.session = session
        self.endpoints = endpoints
        self.notices = try RawPeer(.sub, in: network)
        self.requests = try await RawRequests(connectedTo: endpoints.requests, in: network)
        try await self.notices.connect(endpoints.notices)
    }

    /// A listener that subscribed its stream and has the proof that the subscription works.
    package static func subscribed(
        to stream: StreamID,
        at endpoints: Gateway.Endpoints,
        session: SessionID = .random(),
        in network: PeerNetwork
    ) async throws -> RawListener {
        let listener = try await RawListener(of: stream, at: endpoints, session: session, in: network)
        _ = try await listener.proveSubscription()
        return listener
    }

    /// Subscribes the stream, then the ticks, waits for a tick, and leaves the ticks again.
    package func proveSubscription() async throws -> SyncTick {
        try await self.notices.subscribe(NoticeFrame.topic(of: self.stream))
        try await self.notices.subscribe(NoticeFrame.syncTopic)
        let tick = try await self.notices.next("a tick") { frames -> SyncTick? in
            guard case .tick(let tick)? = try? NoticeFrame(decoding: frames[0]) else { return nil }
            return tick
        }
        try await self.notices.unsubscribe(NoticeFrame.syncTopic)
        return tick
    }

    /// The next notice of the stream that `isWanted`; others stay for later.
    package func notice(
        _ what: String = "a notice",
        where isWanted: @escaping @Sendable (Notice) -> Bool = { $0.kind != .head }
    ) async throws -> Notice {
        try await self.notice(what, on: self.notices, where: isWanted)
    }

    private func notice(
        _ what: String,
        on peer: RawPeer,
        where isWanted: @escaping @Sendable (Notice) -> Bool
    ) async throws -> Notice {
        let own = self.stream
        return try await peer.next(what) { frames -> Notice? in
            // An answer has its delimiter before it.
            guard frames.count == 1, case .notice(let notice, let stream)? = try? NoticeFrame(decoding: frames[0]),
                stream == own,
                isWanted(notice)
            else { return nil }
            return notice
        }
    }

    /// Asks, and waits for the reply.
    package func ask(_ kind: ListenerRequest.Kind, ticket: [UInt8] = []) async throws -> ListenerReply {
        try await self.reply(to: self.send(kind, ticket: ticket))
    }

    /// Asks without waiting.
    ///
    /// - Returns: the request's id, for `reply(to:)`.
    package func send(_ kind: ListenerRequest.Kind, ticket: [UInt8] = []) async throws -> UInt64 {
        let session = self.session
        return try await self.requests.send {
            ListenerRequest(id: $0, session: session, ticket: ticket, kind: kind).encoded()
        }
    }

    /// Waits for the reply to a request.
    package func reply(to id: UInt64) async throws -> ListenerReply {
        let reply = try await self.requests.reply(to: id) { frame -> ListenerReply? in
            try? ListenerReply(decoding: frame)
        }
        self.gatewayTime.withLock { $0 = max($0 ?? reply.gatewayTime, reply.gatewayTime) }
        return reply
    }

    /// Joins with the last position.
    package func join(
        last: Position? = nil,
        instance: UInt64 = 0,
        delay: ListenerDelay = ListenerDelay()
    ) async throws -> ListenerReply.Joined {
        let join = ListenerRequest.Join(stream: self.stream, last: last, instance: instance, delay: delay)
        let reply = try await self.ask(.join(join))
        guard case .joined(let joined) = reply.body else { throw PeerError.unexpected("\(reply.body)") }
        return joined
    }

    /// Joins on the connection of the requests, which gets the notices then.
    package func joinPushed(last: Position? = nil) async throws -> ListenerReply.Joined {
        let join = ListenerRequest.Join(stream: self.stream, last: last, instance: 0, push: true)
        let reply = try await self.ask(.join(join))
        guard case .joined(let joined) = reply.body else { throw PeerError.unexpected("\(reply.body)") }
        return joined
    }

    /// The next notice on the connection of the requests that `isWanted`; others stay for later.
    package func pushedNotice(
        _ what: String = "a notice",
        where isWanted: @escaping @Sendable (Notice) -> Bool = { $0.kind != .head }
    ) async throws -> Notice {
        try await self.notice(what, on: self.requests.peer, where: isWanted)
    }

    /// Asks for the batch of a break.
    package func batch(of id: String, delay: ListenerDelay = ListenerDelay()) async throws -> ListenerReply.Batch {
        let key = BreakKey(stream: self.stream, id: try BreakID(id))
        let reply = try await self.ask(.getBatch(ListenerRequest.GetBatch(key: key, delay: delay)))
        switch reply.body {
        case .batch(let batch): return batch
        case .refused(let refusal): throw PeerError.refused(refusal.description)
        default: throw PeerError.unexpected("\(reply.body)")
        }
    }

    /// The request that says the same of every advertisement of a batch; unless told, it happened when the gateway's last
    /// reply was sent.
    package func acknowledgement(
        of batch: ListenerReply.Batch,
        of id: String,
        _ kind: Outcome.Kind = .played,
        at occurred: Timestamp? = nil
    ) throws -> ListenerRequest.Kind {
        let occurred = occurred ?? self.gatewayTime.withLock { $0 } ?? SystemClock().now()
        return .acknowledge(
            ListenerRequest.Acknowledge(
                key: BreakKey(stream: self.stream, id: try BreakID(id)),
                delivery: batch.delivery,
                outcomes: batch.advertisements.map { advertisement in
                    Outcome(
                        advertisementID: advertisement.id,
                        kind: kind,
                        reason: kind == .ignored ? .user : nil,
                        heard: kind == .played ? advertisement.duration : .zero,
                        quartiles: kind == .played ? 4 : 0,
                        occurred: occurred
                    )
                }
            )
        )
    }

    /// Goes away without a word.
    package func close() async {
        await self.notices.close()
        await self.requests.peer.close()
    }
}

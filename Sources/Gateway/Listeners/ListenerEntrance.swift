// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Edge
package import GatewayCore
import Synchronization
package import SystemSupport

/// Where listeners' requests come in that no connection of the edge carries: those over HTTP.
///
/// A request goes to the desk of one of the edge's loops, the same one for each request of a session, and is decided there as if a
/// connection had brought it: the same handler, the same groups, the same tokens, the same exactly-once. What one address and all
/// of them may have waiting here is bounded; beyond that a request is refused at once. Every request is answered: at a stop what
/// was accepted is answered when the log has answered, and what is new is refused as ``StatusCode/draining``.
package final class ListenerEntrance: Sendable {
    /// How many requests may wait for their answers.
    package struct Limits: Hashable, Sendable {
        /// Of all addresses together.
        package var requestsWaitingMax = LimitName.httpRequestsWaitingMax.value
        /// Of one address (IPv6: one network of 64 bits); loopback addresses are not limited.
        package var requestsWaitingPerAddressMax = LimitName.httpRequestsWaitingPerAddressMax.value

        package init() {}
    }

    /// A listener's subscription to the notices of its stream.
    package struct Subscription: Sendable {
        /// The answer to its join.
        package let joined: ListenerReply.Joined
        /// The gateway's clock when it joined.
        package let gatewayTime: Timestamp
        /// Yields each notice after the head of that answer.
        package let reader: NoticeReader
    }

    private struct Waiting {
        var count = 0
        var byAddress: [PeerAddress: Int] = [:]
    }

    private let mailboxes: [ListenerMailbox]
    private let edge: EdgeShared
    private let hub: NoticeHub
    /// Where listeners take places whose connections the loops serve; `nil`: their server keeps them.
    private let places: ConnectionLimit?
    private let limits: Limits
    private let keyHolder: KeyHolder
    private let metrics: MetricRegistry
    private let now: @Sendable () -> Timestamp
    private let waiting = Mutex(Waiting())

    /// - Parameters:
    ///   - mailboxes: of the desks.
    ///   - edge: counts what addresses take.
    ///   - hub: has the notices.
    ///   - places: where listeners take places whose connections the loops serve; `nil`: their server keeps them.
    ///   - keys: the keys that sign and check.
    ///   - limits: how many may wait.
    ///   - metrics: counts limits.
    ///   - now: the gateway's clock.
    init(
        _ mailboxes: [ListenerMailbox],
        edge: EdgeShared,
        hub: NoticeHub,
        places: ConnectionLimit? = nil,
        keys: KeyHolder,
        limits: Limits = Limits(),
        metrics: MetricRegistry,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.mailboxes = mailboxes
        self.edge = edge
        self.hub = hub
        self.places = places
        self.keyHolder = keys
        self.limits = limits
        self.metrics = metrics
        self.now = now
    }

    /// How many requests wait for their answers.
    package var waitingCount: Int { self.waiting.withLock(\.count) }

    /// Decides about a request, and returns when it is answered: an acknowledgement only when it is durable.
    ///
    /// - Parameters:
    ///   - kind: the request; joins use `listen`.
    ///   - session: the session that asks.
    ///   - ticket: the ticket of its join.
    ///   - address: where it comes from.
    /// - Returns: the answer.
    package func ask(
        _ kind: ListenerRequest.Kind,
        of session: SessionID,
        ticket: [UInt8] = [],
        from address: PeerAddress
    ) async -> ListenerReply {
        let reply = await self.ask(kind, of: session, ticket: ticket, from: address, push: .none).reply
        // Its notices end with it, as on a connection.
        if case .leave(let stream) = kind, case .done = reply.body { self.hub.end(session, on: stream, .left) }
        return reply
    }

    /// Joins a stream whose notices follow.
    ///
    /// The reader is registered before the join is decided; see `NoticeFollower`. The caller gives it back with `close`.
    ///
    /// - Parameters:
    ///   - join: the request; it always means that notices are pushed.
    ///   - session: the session that asks.
    ///   - ticket: the ticket that an earlier join gave it.
    ///   - address: the address that it asks from.
    /// - Returns: the reader of its notices.
    /// - Throws: the reason for the refusal.
    package func listen(
        _ join: ListenerRequest.Join,
        of session: SessionID,
        ticket: [UInt8] = [],
        from address: PeerAddress
    ) async throws(Refusal) -> Subscription {
        guard let admission = self.edge.admitClient(from: address) else {
            self.metrics.count(.limitsHit, .limit(.connectionsPerAddressMax))
            throw .tooManyConnections
        }
        let edge = self.edge
        let reader: NoticeReader
        do throws(Refusal) {
            let place = try self.takePlace()
            reader = try self.hub.register(session, on: join.stream, from: address, place: place) {
                edge.leave(admission)
            }
        } catch {
            edge.leave(admission)
            throw error
        }
        var join = join
        join.push = true
        let (reply, push) = await self.ask(.join(join), of: session, ticket: ticket, from: address, push: .free)
        guard case .joined(let joined) = reply.body, case .begins(_, _, let head, let proof) = push else {
            self.hub.end(reader, .gone)
            guard case .refused(let refusal) = reply.body else { throw .logUnavailable }
            throw refusal
        }
        self.hub.begin(reader, after: head.sequence, proof: proof, ticket: joined.ticket)
        return Subscription(joined: joined, gatewayTime: reply.gatewayTime, reader: reader)
    }

    private func takePlace() throws(Refusal) -> ConnectionPlace? {
        guard let places else { return nil }
        guard let place = places.takePlace(on: .events) else { throw .noConnectionLeft }
        return place
    }

    /// Hands the connection of a reader over to a loop, which closes it.
    ///
    /// The reader's tasks end; `close` does nothing from now on.
    ///
    /// - Parameters:
    ///   - reader: one that `listen` gave, whose answer is sent up to the answer to its join.
    ///   - descriptor: of a socket that nothing else uses.
    ///   - isChunked: whether the answer's body is in chunks; if not, it ends with the connection.
    package func serve(_ reader: NoticeReader, on descriptor: Int32, isChunked: Bool) {
        reader.leaveTask()
        self.edge.serve(LoopListener(reader, of: self.hub), on: descriptor, isChunked: isChunked)
    }

    /// Whether loops may serve the connections of listeners.
    package var handsOver: Bool { self.places != nil }

    /// Joins a stream without waiting for notices: a player that comes for the ads of a break, and goes.
    ///
    /// A stream that asks for a token asks for it here as it does of those who hear it.
    ///
    /// - Parameters:
    ///   - join: the request.
    ///   - session: the session that asks.
    ///   - address: the address that it asks from.
    /// - Returns: the answer.
    /// - Throws: the reason for the refusal.
    package func join(
        _ join: ListenerRequest.Join,
        of session: SessionID,
        from address: PeerAddress
    ) async throws(Refusal) -> ListenerReply.Joined {
        var join = join
        join.push = true
        let reply = await self.ask(.join(join), of: session, ticket: [], from: address, push: .free).reply
        guard case .joined(let joined) = reply.body else {
            guard case .refused(let refusal) = reply.body else { throw .logUnavailable }
            throw refusal
        }
        return joined
    }

    /// Counts a request of which no desk decides, by the limits that an address has for all of them.
    ///
    /// - Parameter address: where it comes from.
    /// - Throws: the limit that stands against it.
    package func admit(from address: PeerAddress) throws(Refusal) {
        guard let admission = self.edge.admitClient(from: address) else {
            self.metrics.count(.limitsHit, .limit(.connectionsPerAddressMax))
            throw .tooManyConnections
        }
        defer { self.edge.leave(admission) }
        if let limit = self.edge.takeMessage(of: admission) {
            self.metrics.count(.limitsHit, .limit(limit))
            throw .tooManyMessages(limit)
        }
    }

    /// The keys that sign and check now.
    package var keys: MessageKeys { self.keyHolder.keys }

    /// The gateway's clock.
    package var gatewayTime: Timestamp { self.now() }

    /// A reader goes, unless a loop serves it; called once for each that `listen` gave.
    package func close(_ reader: NoticeReader) {
        if !reader.hasLeftTask { self.hub.end(reader, .gone) }
    }

    // MARK: - Requests

    private func ask(
        _ kind: ListenerRequest.Kind,
        of session: SessionID,
        ticket: [UInt8],
        from address: PeerAddress,
        push: PushPlace
    ) async -> (reply: ListenerReply, push: PushChange?) {
        let id = UInt64.random(in: 1 ... .max)
        func refused(_ refusal: Refusal) -> (ListenerReply, PushChange?) {
            self.metrics.count(.refusals, .status(refusal.status))
            return (ListenerReply(requestID: id, gatewayTime: self.now(), body: .refused(refusal)), nil)
        }
        if let limit = self.enter(address) {
            self.metrics.count(.limitsHit, .limit(limit))
            return refused(.tooManyWaiting(limit))
        }
        defer { self.leave(address) }
        guard let admission = self.edge.admitClient(from: address) else {
            self.metrics.count(.limitsHit, .limit(.connectionsPerAddressMax))
            return refused(.tooManyConnections)
        }
        defer { self.edge.leave(admission) }
        if let limit = self.edge.takeMessage(of: admission) {
            self.metrics.count(.limitsHit, .limit(limit))
            return refused(.tooManyMessages(limit))
        }
        let request = ListenerRequest(id: id, session: session, ticket: ticket, kind: kind).encoded()
        guard request.count <= WireLimits.requestFrameBytesMax else {
            return refused(
                Refusal(.tooLarge, "The limit requestFrameBytesMax is \(WireLimits.requestFrameBytesMax) bytes.")
            )
        }
        let outcome = await withCheckedContinuation { continuation in
            let call = ListenerCall(request, from: address, push: push, admission: admission, of: self.edge) {
                continuation.resume(returning: $0)
            }
            if !self.mailbox(of: session).post(call) { call.refuse(.draining, at: self.now()) }
        }
        guard let reply = try? ListenerReply(decoding: outcome.reply.frame) else { return refused(.logUnavailable) }
        return (reply, outcome.push)
    }

    /// All requests of a session go to one desk: what it did last is remembered there.
    private func mailbox(of session: SessionID) -> ListenerMailbox {
        self.mailboxes[Int(truncatingIfNeeded: (session.high ^ session.low) % UInt64(self.mailboxes.count))]
    }

    /// - Returns: the limit that stands against one more request; `nil`: none.
    private func enter(_ address: PeerAddress) -> LimitName? {
        self.waiting.withLock { waiting in
            guard waiting.count < self.limits.requestsWaitingMax else { return .httpRequestsWaitingMax }
            if self.edge.limits(address) {
                guard waiting.byAddress[address, default: 0] < self.limits.requestsWaitingPerAddressMax else {
                    return .httpRequestsWaitingPerAddressMax
                }
                waiting.byAddress[address, default: 0] += 1
            }
            waiting.count += 1
            return nil
        }
    }

    private func leave(_ address: PeerAddress) {
        self.waiting.withLock { waiting in
            waiting.count -= 1
            guard let count = waiting.byAddress[address] else { return }
            waiting.byAddress[address] = count > 1 ? count - 1 : nil
        }
    }
}

extension Refusal {
    /// An address has as many connections as it may.
    static let tooManyConnections = Refusal(
        .limitReached,
        "This address has as many connections as it may (listeners.connectionsPerAddressMax).",
        retryAfter: .seconds(10)
    )

    /// As many connections are open as may be.
    static let noConnectionLeft = Refusal(
        .limitReached,
        "The gateway has as many connections as it may (connectionsMax).",
        retryAfter: .seconds(10)
    )

    /// An address, or all of them, have sent more than they may.
    static func tooManyMessages(_ limit: LimitName) -> Refusal {
        Refusal(.rateLimited, "The limit \(limit.rawValue) is passed.", retryAfter: .seconds(1))
    }

    /// More requests wait for their answers than may.
    static func tooManyWaiting(_ limit: LimitName) -> Refusal {
        Refusal(
            .limitReached,
            "Too many requests wait for their answers (\(limit.rawValue)); ask again in a moment.",
            retryAfter: .seconds(1)
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import GatewayTestKit
import SystemSupport
import TestSupport
import Testing

@testable import Gateway

/// Listeners that come without a connection of the edge: the same decisions, the same books.
@Suite(.suiteLimit)
struct ListenerEntranceTests {
    var station = Station()
    private let session = SessionID.random()
    private let address = PeerAddress(ipv4: 0x7F00_0001)

    private func listen(
        _ running: RunningGateway,
        to stream: String = "radio1",
        last: Position? = nil,
        token: String = "",
        ticket: [UInt8] = []
    ) async throws -> ListenerEntrance.Subscription {
        try await running.gateway.listeners.listen(
            .init(stream: StreamID(stream), last: last, instance: 0, token: token),
            of: self.session,
            ticket: ticket,
            from: self.address
        )
    }

    private func ask(
        _ running: RunningGateway,
        _ kind: ListenerRequest.Kind,
        ticket: [UInt8] = []
    ) async -> ListenerReply {
        await running.gateway.listeners.ask(kind, of: self.session, ticket: ticket, from: self.address)
    }

    private func batch(_ running: RunningGateway, of id: String) async throws -> ListenerReply.Batch {
        let reply = await self.ask(running, .getBatch(.init(key: try .of("radio1", id))))
        guard case .batch(let batch) = reply.body else { throw PeerError.unexpected("\(reply.body)") }
        return batch
    }

    private func acknowledgement(of batch: ListenerReply.Batch, _ id: String) throws -> ListenerRequest.Kind {
        .acknowledge(
            .init(
                key: try .of("radio1", id),
                delivery: batch.delivery,
                outcomes: batch.advertisements.map {
                    Outcome(advertisementID: $0.id, kind: .played, occurred: self.station.clock.now())
                }
            )
        )
    }

    private func notices(_ subscription: ListenerEntrance.Subscription) async throws -> [Notice] {
        while case .notices(let notices) = await subscription.reader.next() {
            let news = notices.map(\.notice).filter { $0.kind != .head }
            if !news.isEmpty { return news }
        }
        throw PeerError.closed
    }

    @Test func `it hears, fetches, acknowledges and leaves, and the books balance`() async throws {
        try await self.station.runByHand { running in
            let subscription = try await self.listen(running)
            #expect(subscription.joined.pushed)
            #expect(running.metrics.value(.listeners) == 1)
            #expect(running.metrics.value(.httpListeners) == 1)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let notice = try #require(try await self.notices(subscription).first)
            #expect(notice.position.sequence == subscription.joined.head.sequence + 1)
            let batch = try await self.batch(running, of: "b")
            #expect(
                await self.ask(running, try self.acknowledgement(of: batch, "b")).body == .acknowledged(recorded: 2)
            )
            #expect(await self.ask(running, .getTime).body == .done)
            let books = try await running.books { $0.total.played == 2 }
            #expect(books.total.delivered == 2 && books.balances)
            #expect(await self.ask(running, .leave(try StreamID("radio1"))).body == .done)
            guard case .ended(.left) = await subscription.reader.next() else { throw PeerError.unexpected("not left") }
            running.gateway.listeners.close(subscription.reader)
            #expect(running.metrics.value(.listeners) == 0)
            #expect(running.metrics.value(.httpListeners) == 0)
            #expect(running.metrics.value(.httpListenersEnded, .left) == 1)
            #expect(running.gateway.listeners.waitingCount == 0)
        }
    }

    @Test func `an acknowledgement is answered only when it is durable, and a stop waits for that`() async throws {
        try await self.station.runByHand { running in
            let subscription = try await self.listen(running)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let batch = try await self.batch(running, of: "b")
            try await until("the delivery is recorded") {
                try await !self.station.memory.acknowledgementGroups().isEmpty
            }
            self.station.log.set(.acknowledgements(0), .holding)
            try await withThrowingTaskGroup(of: ListenerReply.self) { tasks in
                tasks.addTask { await self.ask(running, try self.acknowledgement(of: batch, "b")) }
                try await until("it is with the log") { running.metrics.value(.listenerRequests, .acknowledge) == 1 }
                await running.beginShutdown()
                try await until("new requests are refused") {
                    await self.ask(running, .getTime).refusal?.status == .draining
                }
                #expect(running.gateway.listeners.waitingCount == 1, "it is not answered")
                self.station.log.set(.acknowledgements(0), .passing)
                for try await reply in tasks { #expect(reply.body == .acknowledged(recorded: 2)) }
            }
            #expect(await subscription.reader.ended() == .stopping)
            await #expect(throws: Refusal.self) { try await self.listen(running) }
        }
    }

    @Test func `after a restart it recovers what it missed, and hears on`() async throws {
        let head = try await self.station.runByHand { running in
            let subscription = try await self.listen(running)
            try await running.broadcaster().publish("b1", start: nil)
            #expect(try await self.notices(subscription).map(\.position.sequence) == [1])
            return subscription.joined.head
        }
        try await self.station.runByHand { running in
            let subscription = try await self.listen(running, last: head)
            #expect(subscription.joined.kind == .recovered)
            #expect(subscription.joined.notices.map(\.position.sequence) == [1])
            try await running.broadcaster().publish("b2", start: nil)
            #expect(try await self.notices(subscription).map(\.position.sequence) == [2])
        }
    }

    @Test func `the same session by a second way ends the first`() async throws {
        try await self.station.runByHand { running in
            let first = try await self.listen(running)
            let second = try await self.listen(running)
            #expect(await first.reader.ended() == .replaced)
            #expect(second.reader.end == nil)
            #expect(running.metrics.value(.httpListeners) == 1)
            #expect(running.metrics.value(.listeners) == 1)
        }
    }

    @Test func `a token opens a protected stream, and what ends the token ends the notices`() async throws {
        var station = self.station
        station.configuration.protectedStreams = [.every]
        let clock = station.clock
        let grant = { @Sendable (token: String, now: Timestamp) -> Result<ListenerGrant, Refusal> in
            token == "true"
                ? .success(ListenerGrant(subject: token, streams: [.every], until: now + .seconds(60)))
                : .failure(Refusal(.notAllowed, token))
        }
        try await withGateway(
            configuration: station.configuration,
            log: station.log,
            ledger: InMemoryLedger(),
            tokens: grant,
            clock: clock
        ) { running in
            for token in ["", "false"] {
                let error = await #expect(throws: Refusal.self) { try await self.listen(running, token: token) }
                #expect(error?.status == .notAllowed)
            }
            #expect(running.metrics.value(.httpListeners) == 0)
            let subscription = try await self.listen(running, token: "true")
            try await running.broadcaster().publish("b", duration: .seconds(30))
            #expect(try await self.notices(subscription).count == 1)
            let get = ListenerRequest.Kind.getBatch(.init(key: try .of("radio1", "b")))
            #expect(await self.ask(running, get).refusal?.status == .notAllowed)
            #expect(await self.ask(running, get, ticket: subscription.joined.ticket).refusal == nil)
            clock.advance(by: .seconds(61))
            #expect(await subscription.reader.ended() == .expired)
            try await until("it is counted") { running.metrics.value(.httpListenersEnded, .expired) == 1 }
        }
    }

    @Test func `a stream that asks for a token from now on is heard no more without`() async throws {
        try await self.station.runByHand { running in
            let subscription = try await self.listen(running)
            var configuration = self.station.configuration
            configuration.protectedStreams = [.every]
            await running.gateway.reload(configuration, nil)
            #expect(await subscription.reader.ended() == .expired)
        }
    }

    @Test func `as many listen as the limit says, and one more is refused`() async throws {
        var station = self.station
        station.configuration.limits[.httpListenersMax] = 2
        try await station.runByHand { running in
            let entrance = running.gateway.listeners
            func listen() async throws(Refusal) -> ListenerEntrance.Subscription {
                guard let stream = try? StreamID("radio1") else { throw Refusal(.invalid, "") }
                return try await entrance.listen(
                    .init(stream: stream, instance: 0),
                    of: .random(),
                    from: PeerAddress(ipv4: 0x0A00_0001)
                )
            }
            let first = try await listen()
            _ = try await listen()
            let error = await #expect(throws: Refusal.self) { try await listen() }
            #expect(error?.status == .limitReached)
            #expect(running.metrics.value(.limitsHit, .limit(.httpListenersMax)) == 1)
            entrance.close(first.reader)
            _ = try await listen()
        }
    }

    @Test func `an address has as many listeners as it may, and another has its own`() async throws {
        var station = self.station
        station.configuration.limits[.httpListenersPerAddressMax] = 1
        try await station.runByHand { running in
            let stream = try StreamID("radio1")
            func listen(_ address: UInt32) async throws(Refusal) -> ListenerEntrance.Subscription {
                try await running.gateway.listeners.listen(
                    .init(stream: stream, instance: 0),
                    of: .random(),
                    from: PeerAddress(ipv4: address)
                )
            }
            let first = try await listen(0x0A00_0001)
            let error = await #expect(throws: Refusal.self) { try await listen(0x0A00_0001) }
            #expect(error?.status == .limitReached)
            #expect(running.metrics.value(.limitsHit, .limit(.httpListenersPerAddressMax)) == 1)
            _ = try await listen(0x0A00_0002)
            running.gateway.listeners.close(first.reader)
            _ = try await listen(0x0A00_0001)
        }
    }

    @Test func `waiting calls are bounded for all and for an address, and are told of the end`()
        async throws
    {
        let metrics = MetricRegistry()
        let stand = try HubStand(metrics: metrics)
        let mailbox = ListenerMailbox(inbox: stand.edge.inboxes[0], metrics: metrics)
        var limits = ListenerEntrance.Limits()
        limits.requestsWaitingMax = 3
        limits.requestsWaitingPerAddressMax = 2
        let entrance = ListenerEntrance(
            [mailbox],
            edge: stand.edge,
            hub: stand.hub,
            keys: KeyHolder(.fixed),
            limits: limits,
            metrics: metrics,
            now: { stand.clock.now() }
        )
        @Sendable func ask(_ address: UInt32) async -> StatusCode? {
            await entrance.ask(.getTime, of: .random(), from: PeerAddress(ipv4: address)).refusal?.status
        }
        try await withThrowingTaskGroup(of: StatusCode?.self) { tasks in
            for address: UInt32 in [0x0A00_0001, 0x0A00_0001, 0x0A00_0002] {
                tasks.addTask { await ask(address) }
            }
            try await until("three wait") { entrance.waitingCount == 3 }
            #expect(await ask(0x0A00_0003) == .limitReached)
            #expect(metrics.value(.limitsHit, .limit(.httpRequestsWaitingMax)) == 1)
            for call in mailbox.takeCalls() { call.refuse(.logUnavailable, at: stand.clock.now()) }
            for call in mailbox.close() { call.refuse(.draining, at: stand.clock.now()) }
            for try await status in tasks { #expect(status == .unavailable || status == .draining) }
        }
        #expect(entrance.waitingCount == 0)
        #expect(await ask(0x0A00_0001) == .draining, "there is no reader any more")
    }

    @Test func `an address has as many requests waiting as it may`() async throws {
        let metrics = MetricRegistry()
        let stand = try HubStand(metrics: metrics)
        let mailbox = ListenerMailbox(inbox: stand.edge.inboxes[0], metrics: metrics)
        var limits = ListenerEntrance.Limits()
        limits.requestsWaitingPerAddressMax = 1
        let entrance = ListenerEntrance(
            [mailbox],
            edge: stand.edge,
            hub: stand.hub,
            keys: KeyHolder(.fixed),
            limits: limits,
            metrics: metrics,
            now: { stand.clock.now() }
        )
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { _ = await entrance.ask(.getTime, of: .random(), from: PeerAddress(ipv4: 0x0A00_0001)) }
            try? await until("one waits") { entrance.waitingCount == 1 }
            let second = await entrance.ask(.getTime, of: .random(), from: PeerAddress(ipv4: 0x0A00_0001))
            #expect(second.refusal?.status == .limitReached)
            #expect(metrics.value(.limitsHit, .limit(.httpRequestsWaitingPerAddressMax)) == 1)
            for call in mailbox.close() { call.refuse(.draining, at: stand.clock.now()) }
        }
    }
}

/// A hub, and an edge without endpoints, that no gateway runs.
private struct HubStand {
    let edge: EdgeShared
    let hub: NoticeHub
    let clock = ManualClock()

    private struct Uncounted: ConnectionCounting {
        func accepted(on endpoint: MetricLabel) -> Bool { true }
        func ended(on endpoint: MetricLabel) {}
        func acceptFailed() {}
    }

    init(metrics: MetricRegistry, _ change: (inout NoticeHub.Settings) -> Void = { _ in }) throws {
        let clock = self.clock
        self.edge = try EdgeShared(
            threads: 1,
            endpoints: [],
            settings: EdgeSettings(instance: 1, epoch: 1),
            metrics: metrics,
            counting: Uncounted(),
            clock: { clock.now() }
        )
        var settings = NoticeHub.Settings(epoch: 1)
        change(&settings)
        self.hub = NoticeHub(
            settings: settings,
            tools: NoticeHub.Tools(
                keys: KeyHolder(.fixed),
                rules: ListenerRulesHolder(ListenerRules(protectedStreams: [])),
                leases: SharedLeases(
                    length: .seconds(300),
                    listenersMax: 100,
                    requestsPerSecondMax: 0,
                    live: LiveListeners(metrics: metrics)
                ),
                clock: clock,
                metrics: metrics
            )
        )
    }
}

/// Readers of notices that do not keep up, or keep up.
@Suite(.suiteLimit)
struct NoticeHubTests {
    private let metrics = MetricRegistry()
    private let address = PeerAddress(ipv4: 0x7F00_0001)

    private func notices(_ sequences: ClosedRange<UInt64>) throws -> [StreamNotice] {
        let stream = try StreamID("radio1")
        return sequences.map { sequence in
            StreamNotice(
                stream: stream,
                notice: .head(Position(epoch: 1, sequence: sequence), sent: Timestamp(microseconds: 0))
            )
        }
    }

    @Test func `one that takes nothing is ended by the notice after the last that may wait`() async throws {
        let hub = try HubStand(metrics: self.metrics) { $0.noticesWaitingMax = 3 }.hub
        let reader = try hub.register(.random(), on: StreamID("radio1"), from: self.address)
        hub.begin(reader, after: 0, proof: nil, ticket: [])
        await hub.publish(try self.notices(1...3))
        #expect(reader.end == nil)
        await hub.publish(try self.notices(4...4))
        guard case .ended(.slow) = await reader.next() else { throw PeerError.unexpected("it goes on") }
        #expect(self.metrics.value(.httpListenersEnded, .slow) == 1)
        #expect(self.metrics.value(.limitsHit, .limit(.httpNoticesWaitingMax)) == 1)
        #expect(hub.count == 0)
    }

    @Test func `one that is stuck in sending is ended when its time is over, and one that reads is not`() async throws {
        let hub = try HubStand(metrics: self.metrics) { $0.stalledTimeout = .seconds(30) }.hub
        let stuck = try hub.register(.random(), on: StreamID("radio1"), from: self.address)
        let reading = try hub.register(.random(), on: StreamID("radio1"), from: self.address)
        for reader in [stuck, reading] { hub.begin(reader, after: 0, proof: nil, ticket: []) }
        let before = System.monotonicNanoseconds()
        await hub.publish(try self.notices(1...1))
        guard case .notices = await reading.next() else { throw PeerError.unexpected("it ended") }
        let after = System.monotonicNanoseconds()
        hub.look(at: before + 29 * 1_000_000_000)
        #expect(stuck.end == nil)
        // The position was repeated meanwhile.
        guard case .notices = await reading.next() else { throw PeerError.unexpected("it ended") }
        hub.look(at: after + 31 * 1_000_000_000)
        #expect(stuck.end == .stalled)
        #expect(reading.end == nil)
        #expect(self.metrics.value(.httpListenersEnded, .stalled) == 1)
    }

    @Test func `the position is repeated to those who wait, and says what each has`() async throws {
        let hub = try HubStand(metrics: self.metrics).hub
        let reader = try hub.register(.random(), on: StreamID("radio1"), from: self.address)
        hub.begin(reader, after: 41, proof: nil, ticket: [])
        await hub.publish(try self.notices(42...42))
        guard case .notices(let first) = await reader.next() else { throw PeerError.unexpected("it ended") }
        #expect(first.map(\.notice.position.sequence) == [42])
        hub.look(at: System.monotonicNanoseconds() + 2 * 1_000_000_000)
        guard case .notices(let head) = await reader.next() else { throw PeerError.unexpected("it ended") }
        #expect(head.map(\.notice.kind) == [.head])
        #expect(head.map(\.notice.position) == [Position(epoch: 1, sequence: 42)])
        #expect(self.metrics.value(.headsSent) == 1)
    }

    @Test func `a notice is made into bytes once for all readers`() {
        var made = 0
        let notice = PublishedNotice(.head(Position(epoch: 1, sequence: 1), sent: Timestamp(microseconds: 0)))
        for _ in 0..<3 {
            let bytes = notice.encoded { _ in
                made += 1
                return [1]
            }
            #expect(bytes == [1])
        }
        #expect(made == 1)
    }

    @Test func `one whose lease is gone is ended, and others are renewed`() async throws {
        let stand = try HubStand(metrics: self.metrics)
        let reader = try stand.hub.register(.random(), on: StreamID("radio1"), from: self.address)
        stand.hub.begin(reader, after: 0, proof: nil, ticket: [])
        stand.hub.look(at: System.monotonicNanoseconds())
        #expect(reader.end == nil, "it is not time to renew")
        stand.hub.look(at: System.monotonicNanoseconds() + 76 * 1_000_000_000)
        #expect(reader.end == .left)
    }
}

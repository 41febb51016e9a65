// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@_spi(Diagnostics) @_spi(Transports) @_spi(Tuning) @testable import Cuecast

/// A client's life beside listening: it is ended and started again, suspended, moved in time, asked to decline.
@Suite(.suiteLimit)
struct ClientLifeTests {
    let gateway: ScriptedGateway
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        self.gateway = try ScriptedGateway(headInterval: .seconds(600))
    }

    private func makeStoringClient(_ configure: (inout ListenerConfiguration) -> Void = { _ in }) throws
        -> CuecastClient
    {
        try makeClient(self.gateway) {
            $0.storage = .file(path: self.folder.path("session"))
            configure(&$0)
        }
    }

    // MARK: Storage

    @Test func `outcomes survive the client, and the app sees what is pending and what was confirmed`() async throws {
        do {
            let client = try self.makeStoringClient()
            let events = client.makeEvents()
            try await client.start()
            try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0)
            _ = await events.first(\.available)
            self.gateway.answering = .never
            client.advertisements.ignoreReceivedAdvertisements()
            #expect(client.acknowledgements.map(\.adID) == ["a", "b"])
            #expect(client.acknowledgements.allSatisfy { $0.state == .pending && $0.result == .ignored(.user) })
            client.stop()
            await client.stopped()
        }
        self.gateway.answering = .atOnce
        let next = try self.makeStoringClient()
        let events = next.makeEvents()
        try await next.start()
        _ = await events.first(\.acknowledged)
        #expect(next.acknowledgements.map(\.state) == [.confirmed, .confirmed])
        #expect(next.acknowledgements.map(\.breakID) == ["b1", "b1"])
        #expect(next.acknowledgements.allSatisfy { $0.stream == LiveStream(id: "radio1") && $0.heard == .zero })
        #expect(next.unconfirmedOutcomes == 0)
        next.stop()
        await next.stopped()
    }

    @Test func `a permanently refused outcome is given up, and the app sees why`() async throws {
        self.gateway.refuse(
            [.acknowledge],
            ScriptedRefusal(.breakTooOld, "The break is older than the gateway keeps.")
        )
        let client = try self.makeStoringClient()
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        client.advertisements.ignoreReceivedAdvertisements()
        let reason = await events.first { event -> String? in
            if case .acknowledgementGivenUp(_, _, let reason) = event { reason } else { nil }
        }
        #expect(reason?.contains("older than the gateway keeps") == true)
        #expect(client.acknowledgements.map(\.state) == [.givenUp(reason: reason ?? "")])
        #expect(client.acknowledgements.map(\.givenUpReason) == [.breakTooOld])
        client.stop()
        await client.stopped()
    }

    @Test func `a client that is dropped in the middle goes on as the same session`() async throws {
        var client: CuecastClient? = try self.makeStoringClient()
        try await client?.start()
        // As a thread that was just calling it holds it, for a moment that could be any.
        let engine = try #require(client?.advertisements.engine)
        defer { withExtendedLifetime(engine) {} }
        client = nil
        let next = try self.makeStoringClient()
        let events = next.makeEvents()
        try await next.start()
        let resumed = await events.first { if case .sessionBegan(let resumed) = $0 { resumed } else { nil } }
        #expect(resumed == true)
        let sessions = Set(self.gateway.requests.map(\.session))
        #expect(sessions.count == 1)
        #expect(next.sessionID == sessions.first)
        next.stop()
        await next.stopped()
    }

    @Test func `the app knows under which id the gateway has each of its sessions`() async throws {
        let client = try self.makeStoringClient()
        #expect(client.sessionID == nil)
        let events = client.makeEvents()
        try await client.start()
        let first = try #require(client.sessionID)
        #expect(first.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(Set(self.gateway.requests.map(\.session)) == [first])
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        client.advertisements.ignoreReceivedAdvertisements()
        _ = await events.first(\.acknowledged)
        // Another stream is another session; what was told with the one before keeps its name.
        try await client.change(to: LiveStream(id: "radio2"))
        let second = try #require(client.sessionID)
        #expect(second != first)
        #expect(self.gateway.requests.last { $0.kind == .join }?.session == second)
        #expect(client.acknowledgements.map(\.sessionID) == [first])
        client.stop()
        await client.stopped()
        #expect(client.sessionID == second)
        try await client.start()
        #expect(![nil, first, second].contains(client.sessionID))
        client.stop()
        await client.stopped()
        // The file keeps it for the next run of the app, too.
        let next = try self.makeStoringClient()
        try await next.start()
        #expect(next.acknowledgements.map(\.sessionID) == [first])
        next.stop()
        await next.stopped()
    }

    @Test func `after a change of the stream the file is still the client's`() async throws {
        let client = try self.makeStoringClient()
        try await client.start()
        for number in 2...20 {
            try await client.change(to: LiveStream(id: "radio\(number)"))
            let other = try self.makeStoringClient()
            await #expect(throws: CuecastError.storageInUse(path: self.folder.path("session"))) {
                try await other.start()
            }
        }
        client.stop()
        await client.stopped()
    }

    @Test func `two clients with one file do not listen at the same time`() async throws {
        let first = try self.makeStoringClient()
        let second = try self.makeStoringClient()
        try await first.start()
        await #expect(throws: CuecastError.storageInUse(path: self.folder.path("session"))) { try await second.start() }
        first.stop()
        await first.stopped()
        try await second.start()
        second.stop()
        await second.stopped()
    }

    @Test func `a client that has stopped has let go of its file and its observers`() async throws {
        let advertisements = AdvertisementCenter()
        for _ in 0..<200 {
            let client = try makeClient(self.gateway, advertisements: advertisements) {
                $0.storage = .file(path: self.folder.path("session"))
                $0.timings.preStreamWait = .zero
            }
            // Throws where the one before still has either.
            try await client.start()
            client.stop()
            await client.stopped()
        }
    }

    @Test func `a damaged file is said to be so, and listening goes on`() async throws {
        let path = self.folder.path("session")
        try Data(JournalRecords.header + [1, 2, 3]).write(to: URL(fileURLWithPath: path))
        let client = try self.makeStoringClient()
        let events = client.makeEvents()
        try await client.start()
        let reason = await events.first { if case .storageFailed(let reason) = $0 { reason } else { nil } }
        #expect(reason == "1 places of the file could not be read")
        #expect(client.connectionState == .listening)
        client.stop()
        await client.stopped()
    }

    // MARK: Suspending

    @Test(arguments: NoticePath.allCases)
    func `a suspended client has no connection, hands out nothing and catches up when it is back`(path: NoticePath)
        async throws
    {
        self.gateway.pushesNotices = path.isPushing
        let client = try makeClient(self.gateway) { $0.connections = path.connections }
        let events = client.makeEvents()
        try await client.start()
        client.suspend()
        #expect(client.connectionState == .suspended)
        try await until { self.gateway.openConnections == 0 }
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        #expect(client.advertisements.getAdvertisement() == nil)
        client.resume()
        _ = await events.first(\.available)
        #expect(client.advertisements.getAdvertisement()?.adID == "a")
        client.stop()
        await client.stopped()
    }

    @Test func `an ad that plays while the app is suspended counts as paused`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 600)], in: 0)
        _ = await events.first(\.available)
        let clock = ContinuousClock()
        var awake = clock.now
        #expect(client.advertisements.getAdvertisement()?.adID == "a")
        client.suspend()
        var most = awake.duration(to: clock.now)
        // While it is away time passes, which must not count.
        try await Task.sleep(for: .milliseconds(300))
        awake = clock.now
        client.resume()
        client.advertisements.report(.skipped, for: advertisement("a", seconds: 600))
        most += awake.duration(to: clock.now)
        let outcome = await events.first { if case .outcome(let outcome) = $0 { outcome } else { nil } }
        #expect((outcome?.heard ?? .seconds(1)) <= most)
        client.stop()
        await client.stopped()
    }

    @Test func `stopping a suspended client ends it, and the next session is new`() async throws {
        let client = try makeClient(self.gateway)
        try await client.start()
        client.suspend()
        client.stop()
        await client.stopped()
        #expect(client.connectionState == .stopped)
        try await client.start()
        #expect(client.connectionState == .listening)
        client.stop()
        await client.stopped()
    }

    // MARK: The programme's time

    @Test func `a break starts when the programme that is heard reaches it`() async throws {
        let client = try makeClient(self.gateway) { $0.delayMax = .seconds(60) }
        let events = client.makeEvents()
        try await client.start()
        let now = self.gateway.time
        client.setProgrammeTime(Date(timeIntervalSince1970: Double(now.microseconds) / 1e6 - 30))
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 1)
        _ = await events.first { if case .ready = $0 { () } else { nil } }
        #expect(client.advertisements.getAdvertisement() == nil)
        client.setProgrammeTime(Date(timeIntervalSince1970: Double(now.microseconds) / 1e6 + 1.5))
        _ = await events.first(\.available)
        #expect(client.advertisements.getAdvertisement()?.adID == "a")
        client.stop()
        await client.stopped()
    }

    @Test func `while the programme is paused no break starts`() async throws {
        let client = try makeClient(self.gateway) { $0.delayMax = .seconds(60) }
        let events = client.makeEvents()
        try await client.start()
        client.pauseProgramme()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0.1)
        _ = await events.first { if case .ready = $0 { () } else { nil } }
        try await Task.sleep(for: .milliseconds(250))
        #expect(client.advertisements.getAdvertisement() == nil)
        client.resumeProgramme()
        _ = await events.first(\.available)
        client.stop()
        await client.stopped()
    }

    // MARK: Premium listeners

    @Test func `a break that the app declines is not fetched, and nothing is told to the gateway`() async throws {
        let asked = Mutex<[String]>([])
        let client = try makeClient(self.gateway) {
            $0.fetchPolicy = { each in
                asked.withLock { $0.append(each.id) }
                return each.id != "b1"
            }
        }
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        let missed = await events.first {
            if case .missed(let each, let reason) = $0 { (each, reason) } else { nil }
        }
        #expect(missed?.0.id == "b1" && missed?.0.missedReason == .declined && missed?.1 == "the app declined it")
        // The place in the programme is free for another one.
        try self.gateway.cancel("b1")
        try self.gateway.publish("b2", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        #expect(asked.withLock { $0 } == ["b1", "b2"])
        #expect(self.gateway.requests.filter { $0.kind == .batch }.map(\.breakID) == ["b2"])
        client.stop()
        await client.stopped()
    }

    // MARK: The gateway's clock

    @Test func `the app can ask what the gateway's clock shows, and how wrong that can be`() async throws {
        let client = try makeClient(self.gateway)
        #expect(client.gatewayClock == nil)
        try await client.start()
        try await until { client.gatewayClock != nil }
        let before = self.gateway.time
        let reading = try #require(client.gatewayClock)
        let after = self.gateway.time
        let shown = Timestamp(microseconds: Int64((reading.date.timeIntervalSince1970 * 1_000_000).rounded()))
        // A microsecond more, because a date is a number with a fraction.
        #expect(shown >= before - reading.errorMax - .microseconds(1))
        #expect(shown <= after + reading.errorMax + .microseconds(1))
        client.stop()
        await client.stopped()
    }

    // MARK: Several addresses

    @Test func `where the first address does not answer, the next one does`() async throws {
        let unreachable = GatewayAddress(host: "a.example")
        let transport = ClosedRoads(to: [unreachable], elseTo: self.gateway)
        let client = try makeClient(transport) {
            $0.gateway = unreachable
            $0.alternativeGateways = [GatewayAddress(host: "b.example")]
        }
        let events = client.makeEvents()
        let waiting = Task { await events.first(\.isListening) }
        try await client.start()
        await waiting.value
        #expect(transport.attempts == 2)
        client.stop()
        await client.stopped()
    }
}

/// A transport that cannot connect to some addresses.
private final class ClosedRoads: ListenerTransport {
    private final class Nowhere: ListenerConnection {
        func subscribe(to topic: [UInt8]) {}
        func unsubscribe(from topic: [UInt8]) {}
        func send(_ request: [UInt8]) {}
        func close() {}
    }

    private let closed: Set<GatewayAddress>
    private let gateway: ScriptedGateway
    private let counted = Mutex(0)

    init(to closed: Set<GatewayAddress>, elseTo gateway: ScriptedGateway) {
        self.closed = closed
        self.gateway = gateway
    }

    /// The number of attempts to connect.
    var attempts: Int { self.counted.withLock { $0 } }

    func connect(
        to address: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        self.counted.withLock { $0 += 1 }
        guard self.closed.contains(address) else { return self.gateway.connect(to: address, receive: receive) }
        receive(.closed(reason: "refused"))
        return Nowhere()
    }
}

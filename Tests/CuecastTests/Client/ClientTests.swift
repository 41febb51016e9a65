// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastMycrocast
@_spi(Tuning) import CuecastTesting
import Synchronization
import TestSupport
import Testing

@_spi(Diagnostics) @_spi(Tuning) @testable import Cuecast

extension ListenerEvent {
    var isListening: Void? {
        if case .connectionChanged(.listening) = self { () } else { nil }
    }

    var available: [Advertisement]? {
        if case .available(_, let advertisements) = self { advertisements } else { nil }
    }

    var acknowledged: [String]? {
        if case .acknowledged(_, let adIDs) = self { adIDs } else { nil }
    }
}

/// An advertisement for a break that a scripted gateway publishes.
func spot(_ adID: String, seconds: Double = 10) -> ScriptedAdvertisement {
    ScriptedAdvertisement(adID, duration: .seconds(seconds))
}

extension ScriptedGateway {
    /// Publishes a break that starts so many seconds from now.
    func publish(_ id: String, _ advertisements: [ScriptedAdvertisement], in seconds: Double) throws {
        try self.publish(ScriptedBreak(id, advertisements), in: .seconds(seconds))
    }
}

/// A client that gives up only where a test tells it to, however slow the machine is.
func makeClient(
    _ transport: any ListenerTransport,
    advertisements: AdvertisementCenter = AdvertisementCenter(),
    files: any JournalFileSystem = DiskFileSystem(),
    _ configure: (inout ListenerConfiguration) -> Void = { _ in }
) throws -> CuecastClient {
    var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
    configuration.timings.waitForAll()
    configuration.timings.retryDelayFirst = .milliseconds(10)
    configure(&configuration)
    return try CuecastClient(
        configuration: configuration,
        transport: transport,
        advertisements: advertisements,
        files: files
    )
}

@Suite(.suiteLimit)
struct ClientTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway(headInterval: .seconds(600)) }

    @Test(arguments: NoticePath.allCases)
    func `a client starts, listens, stops and leaves nothing behind`(path: NoticePath) async throws {
        self.gateway.pushesNotices = path.isPushing
        let client = try makeClient(self.gateway) { $0.connections = path.connections }
        let events = client.makeEvents()
        #expect(client.connectionState == .idle)
        try await client.start()
        #expect(client.connectionState == .listening)
        client.stop()
        await client.stopped()
        #expect(client.connectionState == .stopped)
        #expect(self.gateway.openConnections == 0)
        var states: [ConnectionState] = []
        for await case .connectionChanged(let state) in events { states.append(state) }
        let way: [ConnectionState] =
            switch path {
            case .pushed: [.joining]
            case .subscribed: [.subscribing, .joining]
            case .fellBack: [.joining, .subscribing, .joining]
            }
        #expect(states == [.connecting] + way + [.listening, .stopping, .stopped])
        let joins = self.gateway.requests.filter { $0.kind == .join }
        #expect(joins.map(\.asksForNotices) == (path == .fellBack ? [true, false] : [path == .pushed]))
    }

    @Test func `stopping does not wait for a gateway that is silent or away`() async throws {
        for isReachable in [true, false] {
            self.gateway.isReachable = isReachable
            let client = try makeClient(self.gateway) {
                $0.timings.requestTimeout = .seconds(86_400)
                $0.timings.preStreamWait = .zero
            }
            try await client.start()
            self.gateway.answering = .never
            client.stop()
            await client.stopped()
            self.gateway.answering = .atOnce
        }
    }

    @Test(arguments: NoticePath.allCases)
    func `an advertisement goes from the notice to the acknowledgement`(path: NoticePath) async throws {
        self.gateway.pushesNotices = path.isPushing
        let client = try makeClient(self.gateway) { $0.connections = path.connections }
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0.1)
        let pushed = await events.first(\.available)
        #expect(pushed?.map(\.adID) == ["a", "b"])
        let first = try #require(client.advertisements.getAdvertisement())
        #expect(first.adID == "a")
        #expect(client.advertisements.getAdvertisement() == nil)
        client.advertisements.report(.completed, for: first)
        let acknowledged = await events.first(\.acknowledged)
        #expect(acknowledged == ["a"])
        #expect(client.advertisements.getAdvertisement()?.adID == "b")
        client.stop()
        await client.stopped()
    }

    @Test func `an ignored ad is reported as ignored by the user`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        client.advertisements.ignoreReceivedAdvertisements()
        let acknowledged = await events.first(\.acknowledged)
        #expect(acknowledged == ["a", "b"])
        #expect(self.gateway.outcomes.map(\.result) == [.ignored(.user), .ignored(.user)])
        #expect(self.gateway.repeatedOutcomes == 0)
        #expect(client.advertisements.getAdvertisement() == nil)
        client.stop()
        await client.stopped()
    }

    @Test(arguments: NoticePath.allCases)
    func `pre-roll ads are queued when start returns`(path: NoticePath) async throws {
        self.gateway.pushesNotices = path.isPushing
        try self.gateway.publishPreStream(ScriptedBreak("pre", [spot("p", seconds: 3_000)]), openFor: .seconds(20_000))
        let client = try makeClient(self.gateway) { $0.connections = path.connections }
        try await client.start()
        #expect(client.advertisements.getAdvertisement()?.adID == "p")
        client.stop()
        await client.stopped()
    }

    @Test func `start returns where no gateway answers`() async throws {
        self.gateway.isReachable = false
        let client = try makeClient(self.gateway) { $0.timings.preStreamWait = .milliseconds(200) }
        try await client.start()
        client.stop()
        await client.stopped()
    }

    @Test(arguments: NoticePath.allCases)
    func `a lost connection is made again, and what was missed is made up for`(path: NoticePath) async throws {
        self.gateway.pushesNotices = path.isPushing
        let client = try makeClient(self.gateway) { $0.connections = path.connections }
        let events = client.makeEvents()
        try await client.start()
        _ = await events.first(\.isListening)
        self.gateway.isReachable = false
        self.gateway.breakConnections()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0.2)
        self.gateway.isReachable = true
        let pushed = await events.first(\.available)
        #expect(pushed?.map(\.adID) == ["a"])
        client.stop()
        await client.stopped()
    }

    @Test(arguments: NoticePath.allCases)
    func `starting twice is refused, starting again is a new session`(path: NoticePath) async throws {
        self.gateway.pushesNotices = path.isPushing
        let client = try makeClient(self.gateway) { $0.connections = path.connections }
        try await client.start()
        await #expect(throws: CuecastError.alreadyStarted) { try await client.start() }
        try await until { client.connectionState == .listening }
        client.stop()
        try await client.start()
        try await until { client.connectionState == .listening }
        client.stop()
        await client.stopped()
        let sessions = Set(self.gateway.requests.map(\.session))
        #expect(sessions.count == 2)
    }

    @Test func `two clients do not share observers at the same time, one after the other may`() async throws {
        let center = AdvertisementCenter()
        let first = try makeClient(self.gateway, advertisements: center)
        let second = try makeClient(self.gateway, advertisements: center)
        try await first.start()
        await #expect(throws: CuecastError.advertisementsInUse) { try await second.start() }
        first.stop()
        await first.stopped()
        try await second.start()
        second.stop()
        await second.stopped()
    }

    @Test func `a client that is dropped leaves its observers to the next one at once`() async throws {
        let center = AdvertisementCenter()
        var first: CuecastClient? = try makeClient(self.gateway, advertisements: center)
        try await first?.start()
        // As a thread that was just calling it holds it, for a moment that could be any.
        let engine = try #require(center.engine)
        defer { withExtendedLifetime(engine) {} }
        first = nil
        let second = try makeClient(self.gateway, advertisements: center)
        try await second.start()
        second.stop()
        await second.stopped()
    }

    @Test func `outcomes that are not confirmed are told in the next session`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        self.gateway.answering = .never
        client.advertisements.ignoreReceivedAdvertisements()
        #expect(client.unconfirmedOutcomes == 1)
        client.stop()
        await client.stopped()
        #expect(client.unconfirmedOutcomes == 1)
        self.gateway.answering = .atOnce
        let later = client.makeEvents()
        try await client.start()
        let acknowledged = await later.first(\.acknowledged)
        #expect(acknowledged == ["a"])
        client.stop()
        await client.stopped()
        let sessions = Set(self.gateway.requests.filter { $0.kind == .acknowledge }.map(\.session))
        #expect(sessions.count == 1, "told with the session in which it happened")
    }

    @Test func `a client that is dropped frees its connection`() async throws {
        var client: CuecastClient? = try makeClient(self.gateway)
        try await client?.start()
        weak let weakClient = client
        try await until { self.gateway.openConnections == 1 }
        client = nil
        #expect(weakClient == nil)
        // A thread that was just calling it may hold the session a moment longer.
        try await until { self.gateway.openConnections == 0 }
    }

    @Test func `unread events are dropped and counted`() async throws {
        let client = try makeClient(self.gateway) { $0.eventsBufferedMax = 3 }
        let events = client.makeEvents()
        try await client.start()
        client.stop()
        await client.stopped()
        var count = 0
        for await _ in events { count += 1 }
        #expect(count == 3)
    }

    @Test func `dropped events are counted before the next one`() async {
        let hub = EventHub(bufferedMax: 2)
        let events = hub.makeEvents()
        for number in 1...5 { hub.send(.noticesDropped(number)) }
        var iterator = events.makeAsyncIterator()
        _ = await iterator.next()
        _ = await iterator.next()
        hub.send(.noticesDropped(6))
        guard case .eventsDropped(3) = await iterator.next() else { return #expect(Bool(false)) }
        guard case .noticesDropped(6) = await iterator.next() else { return #expect(Bool(false)) }
    }

    @Test func `a reader that goes away is forgotten`() async {
        let hub = EventHub(bufferedMax: 2)
        var events: ListenerEvents? = hub.makeEvents()
        #expect(hub.readerCount == 1)
        _ = events
        events = nil
        #expect(hub.readerCount == 0)
    }

    @Test func `the app's token goes into the join, and a provider that throws is asked again`() async throws {
        struct NotYet: Error {}
        final class Calls: Sendable {
            private let counted = Mutex(0)

            func count() -> Int {
                self.counted.withLock { count in
                    count += 1
                    return count
                }
            }
        }
        let calls = Calls()
        let client = try makeClient(self.gateway) {
            $0.tokenProvider = {
                guard calls.count() > 1 else { throw NotYet() }
                return "token"
            }
        }
        let events = client.makeEvents()
        try await client.start()
        _ = await events.first(\.isListening)
        client.stop()
        await client.stopped()
        #expect(self.gateway.requests.filter { $0.kind == .join }.map(\.token) == ["token"])
    }

    @Test func `the banner's click is told for the stream that is heard only`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        let pushed = try #require(await events.first(\.available)?.first)
        client.advertisements.onAdBannerClicked(LiveStream(id: "other"), advertisement: pushed)
        client.advertisements.onAdBannerClicked(LiveStream(id: "radio1"), advertisement: pushed)
        client.stop()
        await client.stopped()
        var clicks = 0
        for await case .bannerClicked in events { clicks += 1 }
        #expect(clicks == 1)
    }

    @Test func `banner views and actions are reported for the current stream only`()
        async throws
    {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = try #require(await events.first(\.available)?.first)
        let playing = try #require(client.advertisements.getAdvertisement())
        for stream in ["other", "radio1"] {
            client.advertisements.onAdBannerShown(LiveStream(id: stream), advertisement: playing)
            client.advertisements.onAdvertisementClicked(LiveStream(id: stream), advertisement: playing)
        }
        client.advertisements.report(.completed, for: playing)
        client.stop()
        await client.stopped()
        var told: [String] = []
        for await event in events {
            switch event {
            case .bannerShown: told.append("shown")
            case .advertisementClicked: told.append("clicked")
            case .outcome(let outcome): #expect(outcome.clicked, "it counts like a click on the banner")
            default: break
            }
        }
        #expect(told == ["shown", "clicked"])
    }

    @Test func `a client without a session has no advertisements`() throws {
        let client = try makeClient(self.gateway)
        #expect(client.advertisements.getAdvertisement() == nil)
        client.advertisements.ignoreReceivedAdvertisements()
        client.stop()
        #expect(Mycrocast.shared.advertisements === AdvertisementCenter.shared)
        #expect(Mycrocast.shared.advertisements.getAdvertisement() == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@_spi(Tracking) @testable import Cuecast

/// Tracking URLs from the app's report to a real HTTP server.
@Suite(.suiteLimit)
struct ClientTrackingTests {
    private static let ok = LoopbackServer.Reply.bytes(
        "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )

    let gateway: ScriptedGateway
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        self.gateway = try ScriptedGateway(headInterval: .seconds(600))
    }

    private func tracked(_ id: String, by server: LoopbackServer) -> ScriptedAdvertisement {
        var spot = spot(id, seconds: 3_000)
        spot.banner = .init(imageURL: server.url("/banner.png"))
        spot.trackers = [
            "impression", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "clickTracking", "mute",
            "bannerView", "bannerClick",
        ]
        .map { .init(event: $0, url: server.url("/\($0)?ad=\(id)&p=[PODSEQUENCE]")) }
        return spot
    }

    private func paths(_ server: LoopbackServer) -> [String] {
        server.heads.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }.sorted()
    }

    /// Calls as an app's client does, and waits for an answer for as long as a busy machine takes.
    private static let patient = TrackingConfiguration(sender: URLSessionTrackingSender(timeout: .seconds(3_600)))

    private func makeTrackingClient(on: Bool = true) throws -> CuecastClient {
        try makeClient(self.gateway) {
            $0.storage = .file(path: self.folder.path("session"))
            if on { $0.tracking = Self.patient }
        }
    }

    @Test func `each event is called once, with its macros replaced, and the app sees it`() async throws {
        let server = try LoopbackServer { _ in Self.ok }
        defer { server.stop() }
        let client = try self.makeTrackingClient()
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [self.tracked("a", by: server)], in: 0)
        _ = await events.first(\.available)
        let ad = try #require(client.advertisements.getAdvertisement())
        for report in [AdvertisementReport.started, .quartile(1), .quartile(2), .muted, .completed] {
            client.advertisements.report(report, for: ad)
        }
        for _ in 1...2 {
            client.advertisements.onAdBannerShown(LiveStream(id: "radio1"), advertisement: ad)
            client.advertisements.onAdBannerClicked(LiveStream(id: "radio1"), advertisement: ad)
            client.advertisements.onAdvertisementClicked(LiveStream(id: "radio1"), advertisement: ad)
        }
        var sent: Set<String> = []
        while sent.count < 10, let status = await events.first({ $0.trackingStatus }) {
            if case .sent(status: 204) = status.state { sent.insert(status.event) }
        }
        client.stop()
        await client.stopped()
        let expected = sent.map { "/\($0)?ad=a&p=1" }.sorted()
        #expect(sent.count == 10)
        #expect(self.paths(server) == expected)
    }

    @Test func `nothing is called unless the app turns it on`() async throws {
        let server = try LoopbackServer { _ in Self.ok }
        defer { server.stop() }
        let client = try self.makeTrackingClient(on: false)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [self.tracked("a", by: server)], in: 0)
        _ = await events.first(\.available)
        let ad = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.started, for: ad)
        client.advertisements.report(.completed, for: ad)
        _ = await events.first(\.acknowledged)
        client.stop()
        await client.stopped()
        #expect(server.heads.isEmpty)
    }

    @Test func `a call that was under way when the app was ended is uncertain and not made again`() async throws {
        let server = try LoopbackServer { _ in .silence }
        defer { server.stop() }
        var client: CuecastClient? = try self.makeTrackingClient()
        let events = try #require(client).makeEvents()
        try await client?.start()
        var spot = self.tracked("a", by: server)
        spot.trackers = Array(spot.trackers.prefix(1))
        try self.gateway.publish("b1", [spot], in: 0)
        _ = await events.first(\.available)
        let ad = try #require(client?.advertisements.getAdvertisement())
        client?.advertisements.report(.started, for: ad)
        try await until { server.heads.count == 1 }
        client = nil
        let next = try self.makeTrackingClient()
        let later = next.makeEvents()
        try await next.start()
        let status = await later.first { $0.trackingStatus }
        #expect(status?.state == .uncertain("the app ended while it was sent"))
        #expect(status?.event == "impression" && status?.adID == "a")
        next.stop()
        await next.stopped()
        #expect(server.heads.count == 1)
    }

    @Test func `stopping does not wait for a tracking server that is silent, and says what is uncertain`() async throws
    {
        let server = try LoopbackServer { _ in .silence }
        defer { server.stop() }
        let client = try self.makeTrackingClient()
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [self.tracked("a", by: server)], in: 0)
        _ = await events.first(\.available)
        let ad = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.started, for: ad)
        try await until { server.heads.count == 2 }
        // Who waits for an answer waits for an hour.
        client.stop()
        await client.stopped()
        var uncertain: Set<String> = []
        for await event in events {
            if let status = event.trackingStatus, case .uncertain = status.state { uncertain.insert(status.event) }
        }
        #expect(uncertain == ["impression", "start"])
    }

    @Test func `consent that changes while listening counts from the next call on`() async throws {
        let server = try LoopbackServer { _ in Self.ok }
        defer { server.stop() }
        let client = try makeClient(self.gateway) {
            $0.tracking = Self.patient
            $0.consent = ListenerConsent(gdprConsent: "first")
        }
        let events = client.makeEvents()
        try await client.start()
        var spot = spot("a", seconds: 3_000)
        spot.trackers = ["start", "mute", "unmute", "complete"]
            .map { .init(event: $0, url: server.url("/\($0)?c=[GDPRCONSENT]")) }
        try self.gateway.publish("b1", [spot], in: 0)
        _ = await events.first(\.available)
        let ad = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.started, for: ad)
        client.setConsent(ListenerConsent(gdprConsent: "second"))
        client.advertisements.report(.muted, for: ad)
        var sent: Set<String> = []
        while sent.count < 2, let status = await events.first({ $0.trackingStatus }) {
            if case .sent = status.state { sent.insert(status.event) }
        }
        client.setConsent(ListenerConsent(deniesTracking: true))
        client.advertisements.report(.unmuted, for: ad)
        client.setConsent(nil)
        client.advertisements.report(.completed, for: ad)
        while sent.count < 3, let status = await events.first({ $0.trackingStatus }) {
            if case .sent = status.state { sent.insert(status.event) }
        }
        client.stop()
        await client.stopped()
        #expect(self.paths(server).prefix(3).map(\.self).count == 3)
        #expect(self.paths(server).contains("/start?c=first") && self.paths(server).contains("/mute?c=second"))
        #expect(!self.paths(server).contains { $0.hasPrefix("/unmute") })
    }

    @Test func `a provider of consent is asked before each call, and alone decides`() async throws {
        let consent = Consent(ListenerConsent(gdprConsent: "first"))
        let server = try LoopbackServer { head in
            guard head.contains("/mute?") else { return Self.ok }
            // Denied while the attempt is under way that would be tried again.
            consent.now = ListenerConsent(deniesTracking: true)
            return .bytes("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        defer { server.stop() }
        let client = try makeClient(self.gateway) {
            $0.tracking = Self.patient
            $0.tracking?.limits.retryDelayFirst = .zero
            $0.tracking?.limits.retryDelayMax = .zero
            $0.consent = ListenerConsent(gdprConsent: "configured")
            $0.consentProvider = { consent.now }
        }
        let events = client.makeEvents()
        try await client.start()
        var spot = spot("a", seconds: 3_000)
        spot.trackers = ["start", "firstQuartile", "mute", "unmute", "complete"]
            .map { .init(event: $0, url: server.url("/\($0)?c=[GDPRCONSENT]")) }
        try self.gateway.publish("b1", [spot], in: 0)
        _ = await events.first(\.available)
        let ad = try #require(client.advertisements.getAdvertisement())
        /// Returns when the call for the event is over.
        func ended(_ event: String) async -> TrackingStatus.State? {
            while let status = await events.first({ $0.trackingStatus }) {
                switch status.state {
                case .pending, .sending: continue
                default: if status.event == event { return status.state }
                }
            }
            return nil
        }
        client.advertisements.report(.started, for: ad)
        #expect(await ended("start") == .sent(status: 204))
        consent.now = ListenerConsent(gdprConsent: "second")
        client.setConsent(ListenerConsent(gdprConsent: "set"))
        client.advertisements.report(.quartile(1), for: ad)
        #expect(await ended("firstQuartile") == .sent(status: 204))
        client.advertisements.report(.muted, for: ad)
        #expect(await ended("mute") == .failed(.denied))
        client.setConsent(nil)
        client.advertisements.report(.unmuted, for: ad)
        consent.now = ListenerConsent(gdprConsent: "third")
        client.advertisements.report(.completed, for: ad)
        #expect(await ended("complete") == .sent(status: 204))
        client.stop()
        await client.stopped()
        #expect(
            self.paths(server) == ["/complete?c=third", "/firstQuartile?c=second", "/mute?c=second", "/start?c=first"]
        )
    }

    @Test func `consent that is set before starting is that of the session`() async throws {
        let server = try LoopbackServer { _ in Self.ok }
        defer { server.stop() }
        let client = try makeClient(self.gateway) { $0.tracking = Self.patient }
        client.setConsent(ListenerConsent(gdprConsent: "early"))
        let events = client.makeEvents()
        try await client.start()
        var spot = spot("a", seconds: 3_000)
        spot.trackers = [.init(event: "start", url: server.url("/start?c=[GDPRCONSENT]"))]
        try self.gateway.publish("b1", [spot], in: 0)
        _ = await events.first(\.available)
        let ad = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.started, for: ad)
        while let status = await events.first({ $0.trackingStatus }) {
            if case .sent = status.state { break }
        }
        client.stop()
        await client.stopped()
        #expect(self.paths(server) == ["/start?c=early"])
    }
}

/// The state of a consent dialogue.
private final class Consent: Sendable {
    private let state: Mutex<ListenerConsent?>

    init(_ consent: ListenerConsent?) {
        self.state = Mutex(consent)
    }

    var now: ListenerConsent? {
        get { self.state.withLock { $0 } }
        set { self.state.withLock { $0 = newValue } }
    }
}

extension ListenerEvent {
    fileprivate var trackingStatus: TrackingStatus? {
        if case .trackingChanged(let status) = self { status } else { nil }
    }
}

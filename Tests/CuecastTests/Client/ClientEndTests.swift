// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@_spi(Diagnostics) @_spi(Transports) @_spi(Tuning) @testable import Cuecast

/// Makes connections that never say that they are closed.
private final class NeverClosing: ListenerTransport {
    private final class Connection: ListenerConnection {
        private let base: any ListenerConnection

        init(_ base: any ListenerConnection) { self.base = base }

        func subscribe(to topic: [UInt8]) { self.base.subscribe(to: topic) }
        func unsubscribe(from topic: [UInt8]) { self.base.unsubscribe(from: topic) }
        func send(_ request: [UInt8]) { self.base.send(request) }
        func close() {}
    }

    private let base: ScriptedGateway

    init(_ base: ScriptedGateway) { self.base = base }

    func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        Connection(self.base.connect(to: gateway, receive: receive))
    }
}

private final class Idle: AdvertisementDelegate {
    func onAdvertisementAvailable() {}
}

/// Ends that end: of sessions, of events, of observers, and of a stream that is changed for another.
@Suite(.suiteLimit)
struct ClientEndTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway(headInterval: .seconds(600)) }

    // MARK: Stopping

    @Test func `a transport that never says closed is not waited for beyond the limit, and an event says so`()
        async throws
    {
        let transport = NeverClosing(self.gateway)
        let client = try makeClient(transport) { $0.timings.stopLimit = .milliseconds(900) }
        let events = client.makeEvents()
        try await client.start()
        client.stop()
        await client.stopped()
        #expect(client.connectionState == .stopped)
        var told: [StopShortfall] = []
        for await event in events { if case .stoppedWithout(let what) = event { told.append(what) } }
        #expect(told == [.transport])
        try await client.start()
        #expect(client.connectionState == .listening)
        client.stop()
        await client.stopped()
    }

    @Test func `a transport that closes in time leads to no such event`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        client.stop()
        await client.stopped()
        for await event in events {
            if case .stoppedWithout = event { Issue.record("nothing was missing") }
        }
    }

    @Test func `stopping is a second at most, as the limits are`() {
        #expect(ListenerTimings().stopLimit < .seconds(1))
    }

    @Test(arguments: [false, true]) func `the events of a client that is dropped end`(isStarted: Bool) async throws {
        var client: CuecastClient? = try makeClient(self.gateway)
        let events = try #require(client).makeEvents()
        if isStarted { try await client?.start() }
        client = nil
        // Hangs where they do not.
        for await _ in events {}
        try await until { self.gateway.openConnections == 0 }
    }

    // MARK: Observers

    @Test func `observers whose object is gone are removed, not only skipped`() {
        let center = AdvertisementCenter()
        let first = Idle()
        center.addObserver(advertisementDelegate: first)
        for _ in 0..<1_000 { center.addObserver(advertisementDelegate: Idle()) }
        #expect(center.observerCount <= 2, "those before the last one, which is gone since")
        center.tell(.available)
        #expect(center.observerCount == 1)
        center.removeObserver(advertisementDelegate: first)
        #expect(center.observerCount == 0)
    }

    // MARK: Another stream

    @Test func `changing the stream begins another session, with the same observers and readers`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        let advertisement = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.started, for: advertisement)
        try await client.change(to: LiveStream(id: "radio2"))
        #expect(client.stream == LiveStream(id: "radio2"))
        #expect(client.connectionState == .listening)
        let told = self.gateway.outcomes
        #expect(told.map(\.adID) == [advertisement.adID], "what was started has its outcome, and the rest has none")
        #expect(told.map(\.result) == [.played])
        let joins = self.gateway.requests.filter { $0.kind == .join }
        #expect(joins.map(\.stream.id) == ["radio1", "radio2"])
        #expect(Set(joins.map(\.session)).count == 2)
        client.stop()
        await client.stopped()
        var begun = 0
        for await event in events { if case .sessionBegan = event { begun += 1 } }
        #expect(begun == 1, "the reader goes on: the first was read above")
    }

    @Test func `a gateway that does not push is asked once each session whether it does`() async throws {
        self.gateway.pushesNotices = false
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        _ = await events.first(\.isListening)
        self.gateway.breakConnections()
        _ = await events.first(\.isListening)
        client.suspend()
        client.resume()
        _ = await events.first(\.isListening)
        let joins = { self.gateway.requests.filter { $0.kind == .join }.map(\.asksForNotices) }
        #expect(joins() == [true, false, false, false])
        self.gateway.pushesNotices = true
        try await client.change(to: LiveStream(id: "radio2"))
        #expect(joins() == [true, false, false, false, true])
        client.stop()
        await client.stopped()
    }

    @Test func `an outcome of the old stream that is not confirmed is told later, with its own session`() async throws {
        let client = try makeClient(self.gateway) { $0.timings.stopWait = .milliseconds(10) }
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        let advertisement = try #require(client.advertisements.getAdvertisement())
        self.gateway.refuse(
            [.acknowledge],
            ScriptedRefusal(.unavailable, "Not now.", retryAfter: .seconds(3_600))
        )
        client.advertisements.report(.completed, for: advertisement)
        try await client.change(to: LiveStream(id: "radio2"))
        #expect(client.acknowledgements.map(\.state) == [.pending])
        #expect(client.acknowledgements.map(\.stream) == [LiveStream(id: "radio1")])
        client.stop()
        await client.stopped()
        self.gateway.refuseNothing()
        try await client.start()
        try await until { client.acknowledgements.map(\.state) == [.confirmed] }
        let sessions = self.gateway.requests.filter { $0.kind == .acknowledge }.map(\.session)
        #expect(Set(sessions).count == 1)
        client.stop()
        await client.stopped()
    }

    @Test func `the stream can be changed before starting, and not to what is none`() async throws {
        let client = try makeClient(self.gateway)
        try await client.change(to: LiveStream(id: "radio2"))
        #expect(self.gateway.requests.isEmpty)
        await #expect(throws: CuecastError.self) { try await client.change(to: LiveStream(id: "not a stream")) }
        #expect(client.stream == LiveStream(id: "radio2"))
        try await client.start()
        try await client.change(to: LiveStream(id: "radio2"))
        #expect(self.gateway.requests.count { $0.kind == .join } == 1, "it is heard already")
        client.stop()
        await client.stopped()
    }

    // MARK: What cannot be

    @Test(arguments: [
        CuecastError.invalidConfiguration("the rule."), .alreadyStarted, .advertisementsInUse,
        .storageInUse(path: "/a"),
    ]) func `every error is a sentence, also to those who ask for its localized description`(error: CuecastError) {
        #expect(error.localizedDescription == error.description)
        #expect((error as any LocalizedError).errorDescription == error.description)
        #expect(error.description.hasSuffix("."))
    }

    @Test func `a file is named by a path or by a file URL`() throws {
        #expect(ListenerStorage.file(at: URL(fileURLWithPath: "/tmp/a b")) == .file(path: "/tmp/a b"))
        for url in ["https://example.org/file", "file-without-scheme://x"] {
            let storage = try ListenerStorage.file(at: #require(URL(string: url)))
            #expect(throws: CuecastError.self) { try makeClient(self.gateway) { $0.storage = storage } }
        }
        #expect(throws: CuecastError.self) { try makeClient(self.gateway) { $0.storage = .file(path: "") } }
    }

    @Test func `why there is no connection can be switched on`() async throws {
        self.gateway.isReachable = false
        let client = try makeClient(self.gateway) {
            $0.timings.preStreamWait = .zero
            $0.timings.retryDelayFirst = .seconds(3_600)
            $0.timings.retryDelayMax = .seconds(3_600)
        }
        #expect(client.connectionLoss == nil)
        try await client.start()
        try await until { client.connectionState == .waiting(reason: "the gateway cannot be reached") }
        #expect(client.connectionLoss == .closed("the gateway cannot be reached"))
        client.stop()
        await client.stopped()
        #expect(client.connectionLoss == nil)
        self.gateway.isReachable = true
        self.gateway.refuse([.join], ScriptedRefusal(.notAllowed, "Not you."))
        try await client.start()
        try await until { client.connectionState == .refused(reason: "NOT_ALLOWED: Not you.") }
        #expect(client.connectionLoss == .refused("NOT_ALLOWED: Not you."))
        client.stop()
        await client.stopped()
    }
}

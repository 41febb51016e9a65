// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastMycrocast
import CuecastTesting
import Synchronization
import TestSupport
import Testing

@testable import Cuecast

// Delegates of every kind that app code has. That they compile is half of the test: the protocol asks for no class, no
// Sendable and no isolation.

/// Counts calls, all of which must come on the main actor.
private final class Calls: Sendable {
    private let calls = Mutex(0)

    func called() {
        // Ends the process where it is not so.
        MainActor.preconditionIsolated()
        self.calls.withLock { $0 += 1 }
    }

    var count: Int { self.calls.withLock { $0 } }
}

/// A class as old code has it: not isolated, not Sendable, with state.
private class PlainClassDelegate: AdvertisementDelegate {
    let calls: Calls
    var something = 0

    init(_ calls: Calls) { self.calls = calls }

    func onAdvertisementAvailable() {
        self.something += 1
        self.calls.called()
    }
}

/// A value that is not Sendable.
private struct PlainValueDelegate: AdvertisementDelegate {
    let delegate: PlainClassDelegate

    func onAdvertisementAvailable() { self.delegate.onAdvertisementAvailable() }
}

private enum CaseDelegate: AdvertisementDelegate {
    case counting(Calls)

    func onAdvertisementAvailable() {
        guard case .counting(let calls) = self else { return }
        calls.called()
    }
}

@MainActor
private final class MainActorDelegate: AdvertisementDelegate {
    let calls: Calls

    init(_ calls: Calls) { self.calls = calls }

    func onAdvertisementAvailable() { self.calls.called() }
}

/// A main-actor class whose conformance was said in so many words.
@MainActor
private final class IsolatedConformanceDelegate {
    let calls: Calls

    init(_ calls: Calls) { self.calls = calls }
}

extension IsolatedConformanceDelegate: @MainActor AdvertisementDelegate {
    func onAdvertisementAvailable() { self.calls.called() }
}

private final class SendableDelegate: AdvertisementDelegate, Sendable {
    let calls: Calls

    init(_ calls: Calls) { self.calls = calls }

    func onAdvertisementAvailable() { self.calls.called() }
}

@Suite(.suiteLimit)
@MainActor
struct DelegateKindTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway(headInterval: .seconds(600)) }

    private func publishAndWait(_ client: CuecastClient, _ calls: Calls, times: Int) async throws {
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        try await until { calls.count >= times }
        client.stop()
        await client.stopped()
        #expect(calls.count == times)
    }

    @Test func `a class, a value and an enum that know nothing of concurrency are told on the main actor`() async throws
    {
        let client = try makeClient(self.gateway)
        let calls = Calls()
        let object = PlainClassDelegate(calls)
        client.advertisements.addObserver(advertisementDelegate: object)
        client.advertisements.addObserver(advertisementDelegate: PlainValueDelegate(delegate: object))
        client.advertisements.addObserver(advertisementDelegate: CaseDelegate.counting(calls))
        try await self.publishAndWait(client, calls, times: 3)
        #expect(object.something == 2)
    }

    @Test func `a main-actor class is told, also through a conformance of the main actor's own`() async throws {
        let client = try makeClient(self.gateway)
        let calls = Calls()
        let first = MainActorDelegate(calls)
        let second = IsolatedConformanceDelegate(calls)
        client.advertisements.addObserver(advertisementDelegate: first)
        client.advertisements.addObserver(advertisementDelegate: second)
        try await self.publishAndWait(client, calls, times: 2)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `delegates of a subclass and of a Sendable class are told`() async throws {
        final class Subclass: PlainClassDelegate {}
        let client = try makeClient(self.gateway)
        let calls = Calls()
        let first = Subclass(calls)
        let second = SendableDelegate(calls)
        client.advertisements.addObserver(advertisementDelegate: first)
        client.advertisements.addObserver(advertisementDelegate: second)
        try await self.publishAndWait(client, calls, times: 2)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `many observers are told, each once for one push of several advertisements`() async throws {
        let client = try makeClient(self.gateway)
        let calls = Calls()
        let many = (0..<20).map { _ in MainActorDelegate(calls) }
        for each in many { client.advertisements.addObserver(advertisementDelegate: each) }
        for each in many { client.advertisements.addObserver(advertisementDelegate: each) }
        try await client.start()
        try self.gateway.publish(
            "b1",
            [spot("a", seconds: 3_000), spot("b", seconds: 3_000), spot("c", seconds: 3_000)],
            in: 0
        )
        try await until { calls.count >= 20 }
        client.stop()
        await client.stopped()
        #expect(calls.count == 20)
    }

    @Test func `a push never starts playback: nothing is handed out until the app asks`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        client.stop()
        let later = await events.first { if case .handedOut(let advertisement) = $0 { advertisement } else { nil } }
        #expect(later == nil)
        await client.stopped()
    }

    @Test func `the methods that older apps call are synchronous in async code too`() async throws {
        // With an async overload of the same name these lines would ask for `await`.
        let client = try makeClient(self.gateway)
        let advertisements: any Advertisements = client.advertisements
        let delegate = MainActorDelegate(Calls())
        advertisements.addObserver(advertisementDelegate: delegate)
        let advertisement: Advertisement? = advertisements.getAdvertisement()
        advertisements.ignoreReceivedAdvertisements()
        advertisements.onAdBannerClicked(LiveStream(id: "radio1"), advertisement: anyAdvertisement())
        advertisements.removeObserver(advertisementDelegate: delegate)
        #expect(advertisement == nil)
    }
}

private func anyAdvertisement() -> MycrocastAdvertisement { advertisement("a") }

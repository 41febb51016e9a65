// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import Synchronization
import Testing

@testable import Cuecast

/// As app code has it: a class on the main actor, with a conformance that belongs to it.
@MainActor
final class OldPlayer: AdvertisementDelegate {
    let advertisements: any Advertisements
    var calls = 0
    var withdrawals: [AdvertisementWithdrawal] = []
    var onCall: (OldPlayer) -> Void = { _ in }
    private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(_ advertisements: any Advertisements) {
        self.advertisements = advertisements
    }

    func onAdvertisementAvailable() {
        self.calls += 1
        self.onCall(self)
        if let waiter, self.calls >= waiter.count {
            self.waiter = nil
            waiter.continuation.resume()
        }
    }

    func onAdvertisementsWithdrawn(_ withdrawal: AdvertisementWithdrawal) {
        self.withdrawals.append(withdrawal)
        self.onAdvertisementAvailable()
    }

    func called(_ count: Int) async {
        guard self.calls < count else { return }
        await withCheckedContinuation { self.waiter = (count, $0) }
    }
}

/// A value is held strongly.
struct ValueDelegate: AdvertisementDelegate, Sendable {
    let calls: AsyncStream<Bool>.Continuation

    func onAdvertisementAvailable() {
        MainActor.assertIsolated()
        self.calls.yield(true)
    }
}

actor Background {
    func isCurrent() -> Bool { true }
}

struct BackgroundDelegate: AdvertisementDelegate, Sendable {
    let actor: Background
    let calls: AsyncStream<Bool>.Continuation

    func onAdvertisementAvailable() {
        self.actor.assertIsolated()
        self.calls.yield(true)
    }
}

@Suite(.suiteLimit)
@MainActor
struct ObserverTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway(headInterval: .seconds(600)) }

    @Test func `an old player plays a pod by get, play and get again`() async throws {
        let client = try makeClient(self.gateway)
        let player = OldPlayer(client.advertisements)
        client.advertisements.addObserver(advertisementDelegate: player)
        client.advertisements.addObserver(advertisementDelegate: player)
        try await client.start()
        var played: [String] = []
        player.onCall = { player in
            while let next = player.advertisements.getAdvertisement() {
                played.append(next.adID)
                player.advertisements.report(.completed, for: next)
            }
        }
        try self.gateway.publish(
            "b1",
            [spot("a", seconds: 3_000), spot("b", seconds: 3_000), spot("c", seconds: 3_000)],
            in: 0.05
        )
        await player.called(1)
        #expect(played == ["a", "b", "c"])
        #expect(player.calls == 1, "one push is one call, however often the object was added")
        client.stop()
        await client.stopped()
    }

    @Test func `everything is legal inside a callback`() async throws {
        let client = try makeClient(self.gateway)
        let player = OldPlayer(client.advertisements)
        client.advertisements.addObserver(advertisementDelegate: player)
        try await client.start()
        player.onCall = { player in
            let advertisements = player.advertisements
            _ = advertisements.getAdvertisement()
            advertisements.ignoreReceivedAdvertisements()
            advertisements.addObserver(advertisementDelegate: player)
            advertisements.removeObserver(advertisementDelegate: player)
            client.stop()
        }
        try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0)
        await player.called(1)
        await client.stopped()
        #expect(player.calls == 1)
    }

    @Test func `a delegate that was removed is not called any more`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        let removed = OldPlayer(client.advertisements)
        let staying = OldPlayer(client.advertisements)
        client.advertisements.addObserver(advertisementDelegate: removed)
        client.advertisements.addObserver(advertisementDelegate: staying)
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        client.advertisements.removeObserver(advertisementDelegate: removed)
        let callsAtRemoval = removed.calls
        await staying.called(1)
        // Its withdrawal is a call, and the next break another.
        try self.gateway.cancel("b1")
        await staying.called(2)
        try self.gateway.publish("b2", [spot("b", seconds: 3_000)], in: 0)
        await staying.called(3)
        #expect(removed.calls == callsAtRemoval)
        client.stop()
        await client.stopped()
    }

    @Test func `classes are held weakly and values strongly`() async throws {
        let client = try makeClient(self.gateway)
        var player: OldPlayer? = OldPlayer(client.advertisements)
        weak let weakPlayer = player
        if let player { client.advertisements.addObserver(advertisementDelegate: player) }
        let (calls, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(10))
        client.advertisements.addObserver(advertisementDelegate: ValueDelegate(calls: continuation))
        player = nil
        #expect(weakPlayer == nil)
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        for await _ in calls { break }
        client.stop()
        await client.stopped()
    }

    @Test func `a delegate given as an existential is found again`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        let player = OldPlayer(client.advertisements)
        let delegate: any AdvertisementDelegate = player
        client.advertisements.addObserver(advertisementDelegate: delegate)
        client.advertisements.removeObserver(advertisementDelegate: player)
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        let second = OldPlayer(client.advertisements)
        client.advertisements.addObserver(advertisementDelegate: second)
        await second.called(1)
        #expect(player.calls == 0)
        client.stop()
        await client.stopped()
    }

    @Test func `an observer that is added while the queue is not empty is told`() async throws {
        let client = try makeClient(self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        let player = OldPlayer(client.advertisements)
        client.advertisements.addObserver(advertisementDelegate: player)
        await player.called(1)
        #expect(client.advertisements.getAdvertisement()?.adID == "a")
        client.stop()
        await client.stopped()
    }

    @Test func `a Sendable delegate is called on the actor of its choice`() async throws {
        let client = try makeClient(self.gateway)
        let (calls, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(10))
        let actor = Background()
        client.advertisements.addObserver(
            advertisementDelegate: BackgroundDelegate(actor: actor, calls: continuation),
            on: actor
        )
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        for await _ in calls { break }
        client.stop()
        await client.stopped()
    }

    @Test func `a withdrawal reaches the delegate, with what to stop`() async throws {
        let client = try makeClient(self.gateway)
        let player = OldPlayer(client.advertisements)
        client.advertisements.addObserver(advertisementDelegate: player)
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0)
        await player.called(1)
        _ = client.advertisements.getAdvertisement()
        try self.gateway.cancel("b1")
        await player.called(2)
        let withdrawal = try #require(player.withdrawals.first)
        #expect(withdrawal.reason == .cancelled)
        #expect(withdrawal.current?.adID == "a" && withdrawal.stopAt != nil)
        #expect(withdrawal.advertisements.map(\.adID) == ["b"])
        client.stop()
        await client.stopped()
    }

    @Test func `at most sixty-four calls wait, and a withdrawal is not lost`() async {
        let player = OldPlayer(AdvertisementCenter())
        let observer = Observer(player, on: MainActor.shared)
        for _ in 0..<100 { observer.tell(.available, whenGone: {}, isWanted: { true }) }
        let withdrawal = AdvertisementWithdrawal(
            breakID: "b1",
            reason: .cancelled,
            advertisements: [],
            current: nil,
            stopAt: nil
        )
        observer.tell(.withdrawn(withdrawal), whenGone: {}, isWanted: { true })
        #expect(observer.waitingOnMainActorSince != nil)
        await player.called(64)
        #expect(player.withdrawals.count == 1)
        #expect(player.calls == 64)
    }
}

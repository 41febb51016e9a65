// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import Cuecast

/// Listeners behind live, who move in the programme while breaks are moved, ended and cancelled.
@Suite(.suiteLimit)
struct TimeShiftTests {
    /// A listener 30 s behind; three advertisements of 10 s from second 5 of the programme.
    private func bench(delay: Double = 30) throws -> CoreBench {
        var bench = try CoreBench(headInterval: .seconds(6_000)) {
            $0.delay = .seconds(delay)
            $0.delayMax = .seconds(120)
        }
        bench.listen()
        let ads = [content("a"), content("b"), content("c")]
        try bench.receive(bench.publish("b1", ads, start: gateway(5), at: gateway(0)))
        return bench
    }

    private func move(_ bench: inout CoreBench, to delay: Double) {
        bench.step { core, now in core.changeDelay(now: now) { $0.set(delay: .seconds(delay), now: now) } }
    }

    private static let key = BreakKey(stream: stream(), id: breakID("b1"))

    /// The gateway ends the break at this second of its clock, at once or on a word that came before; the listener is told
    /// now.
    private func end(_ bench: inout CoreBench, at seconds: Double, asked: Double? = nil) throws {
        let request = BroadcastRequest.End(key: Self.key, at: gateway(seconds))
        try bench.receive(bench.ask(.end(request), at: gateway(asked ?? seconds)))
    }

    /// The gateway gives the break another duration, which revokes an end that was set for later; the listener is told now.
    private func update(_ bench: inout CoreBench, duration: Duration, asked: Double) throws {
        let request = BroadcastRequest.Update(key: Self.key, duration: duration)
        try bench.receive(bench.ask(.update(request), at: gateway(asked)))
    }

    private func outcomes(_ bench: CoreBench) -> [String: AdvertisementOutcome.Result] {
        let all = bench.events.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.advertisement.adID, $0.result) })
    }

    private func timesTold(_ bench: CoreBench) -> Int {
        bench.count { if case .tellAvailable = $0 { true } else { false } }
    }

    private func queued(_ bench: CoreBench) -> [String] {
        bench.core.queue.batches.flatMap(\.advertisements).map(\.adID)
    }

    @Test func `the app is told once, when the listener hears the start, and not when the batch arrives`() throws {
        var bench = try self.bench()
        bench.advance(to: 34.999)
        #expect(bench.count { if case .event(.ready) = $0 { true } else { false } } == 1)
        #expect(self.timesTold(bench) == 0)
        bench.expectNext(nil, at: local(34.999))
        bench.advance(to: 35)
        #expect(self.timesTold(bench) == 1)
        bench.expectNext("a", at: local(35))
    }

    @Test func `a larger delay moves a break that has not fired to later, also after it was moved itself`() throws {
        var bench = try self.bench()
        bench.advance(to: 20)
        self.move(&bench, to: 60)
        // Moved before it started, as only what has not started is; the notice comes late.
        let moved = BroadcastRequest.Update(
            key: BreakKey(stream: stream(), id: breakID("b1")),
            start: .at(gateway(8))
        )
        try bench.receive(bench.ask(.update(moved), at: gateway(3)))
        bench.advance(to: 67.9)
        #expect(self.timesTold(bench) == 0)
        bench.advance(to: 68)
        #expect(self.queued(bench) == ["a", "b", "c"])
    }

    @Test func `a smaller delay fires the remainder at once, and what lies before is skipped over`() throws {
        var bench = try self.bench()
        bench.advance(to: 20)
        self.move(&bench, to: 2)
        #expect(self.queued(bench) == ["b", "c"])
        #expect(self.outcomes(bench) == ["a": .ignored(.skippedOver)])
        #expect(self.timesTold(bench) == 1)
    }

    @Test func `a jump past the end skips the whole break over`() throws {
        var bench = try self.bench()
        bench.advance(to: 40)
        // Not 30 s behind any more: the programme's second 39 is heard.
        var fresh = try self.bench(delay: 60)
        fresh.advance(to: 40)
        self.move(&fresh, to: 1)
        #expect(
            self.outcomes(fresh) == [
                "a": .ignored(.skippedOver), "b": .ignored(.skippedOver), "c": .ignored(.skippedOver),
            ]
        )
        #expect(self.timesTold(fresh) == 0)
    }

    @Test func `moving back and forth over the start fires a break once`() throws {
        var bench = try self.bench()
        bench.advance(to: 35)
        bench.expectNext("a", at: local(35))
        for delay in [60, 20, 90, 30, 25] { self.move(&bench, to: Double(delay)) }
        bench.advance(to: 60)
        #expect(self.timesTold(bench) == 1)
        let given = bench.events.compactMap { if case .handedOut(let ad) = $0 { ad.adID } else { nil } }
        #expect(given == ["a"])
    }

    @Test func `an early end acts when the listener hears it, on a break that plays`() throws {
        var bench = try self.bench()
        bench.advance(to: 35)
        bench.expectNext("a", at: local(35))
        bench.advance(to: 38)
        // Live, the break ended at second 12; this listener is at second 8, and the notice comes late.
        try self.end(&bench, at: 12)
        #expect(self.outcomes(bench) == ["b": .ignored(.endedEarly), "c": .ignored(.endedEarly)])
        let withdrawals = bench.events.compactMap { if case .withdrawn(let it) = $0 { it } else { nil } }
        #expect(withdrawals.map { $0.current?.adID } == ["a"])
        #expect(withdrawals.first?.stopAt == bench.core.instant(local(42)))
        bench.advance(to: 41.9)
        #expect(self.outcomes(bench)["a"] == nil)
        bench.advance(to: 42)
        #expect(self.outcomes(bench)["a"] == .played)
    }

    private func withdrawals(_ bench: CoreBench) -> [AdvertisementWithdrawal] {
        bench.events.compactMap { if case .withdrawn(let it) = $0 { it } else { nil } }
    }

    /// A listener at delay 30 who hears the first advertisement from second 35 to 45; at 38 its break ended at 42.
    private func stoppedBench() throws -> CoreBench {
        var bench = try self.bench()
        bench.advance(to: 35)
        bench.expectNext("a", at: local(35))
        bench.advance(to: 38)
        try self.end(&bench, at: 12, asked: 10)
        #expect(self.withdrawals(bench).map(\.stopAt) == [bench.core.instant(local(42))])
        return bench
    }

    @Test func `an end that is moved to later moves the stop, and the app is told`() throws {
        var bench = try self.stoppedBench()
        try self.update(&bench, duration: .seconds(9), asked: 11)
        #expect(self.withdrawals(bench).last?.current?.adID == "a")
        #expect(self.withdrawals(bench).last?.stopAt == bench.core.instant(local(44)))
        #expect(self.withdrawals(bench).last?.advertisements == [])
        bench.advance(to: 43.9)
        #expect(self.outcomes(bench)["a"] == nil)
        bench.advance(to: 44)
        #expect(self.outcomes(bench)["a"] == .played)
    }

    @Test func `an end that is revoked lets what plays finish, and the app is told`() throws {
        var bench = try self.stoppedBench()
        try self.update(&bench, duration: .seconds(30), asked: 11)
        // Its own end.
        #expect(self.withdrawals(bench).map(\.stopAt).last == bench.core.instant(local(45)))
        bench.advance(to: 44.5)
        #expect(self.outcomes(bench)["a"] == nil)
        bench.expectNext(nil, at: local(44.6))
        bench.advance(to: 44.7)
        #expect(self.outcomes(bench)["a"] == .played)
    }

    @Test func `a larger delay moves the stop to later, and a smaller one to sooner`() throws {
        var bench = try self.stoppedBench()
        self.move(&bench, to: 32)
        #expect(self.withdrawals(bench).map(\.stopAt).last == bench.core.instant(local(44)))
        bench.advance(to: 43)
        #expect(self.outcomes(bench)["a"] == nil)
        self.move(&bench, to: 31.5)
        #expect(self.withdrawals(bench).map(\.stopAt).last == bench.core.instant(local(43.5)))
        bench.advance(to: 43.5)
        #expect(self.outcomes(bench)["a"] == .played)
    }

    @Test func `while the programme is paused nothing is stopped, and going on says when`() throws {
        var bench = try self.stoppedBench()
        bench.step { core, now in core.changeDelay(now: now) { $0.pause(now: now) } }
        bench.advance(to: 43)
        #expect(self.outcomes(bench)["a"] == nil)
        bench.step { core, now in core.changeDelay(now: now) { $0.resume(now: now) } }
        // The stop is 4 s after the pause; the advertisement itself is over before that.
        #expect(self.withdrawals(bench).map(\.stopAt).last == bench.core.instant(local(45)))
    }

    @Test func `an early end of a break that is not heard yet drops what cannot fit before it`() throws {
        var bench = try self.bench()
        bench.advance(to: 20)
        try self.end(&bench, at: 20)
        #expect(self.outcomes(bench) == ["b": .ignored(.endedEarly), "c": .ignored(.endedEarly)])
        bench.advance(to: 35)
        #expect(self.queued(bench) == ["a"])
    }

    @Test func `a delay that changes after an early end moves the end with it`() throws {
        var bench = try self.bench()
        bench.advance(to: 20)
        try self.end(&bench, at: 20)
        self.move(&bench, to: 80)
        bench.advance(to: 84.9)
        #expect(self.queued(bench) == [])
        bench.advance(to: 85)
        #expect(self.queued(bench) == ["a"])
    }

    @Test func `a cancellation before the listener hears the start acts at once`() throws {
        var bench = try self.bench()
        bench.advance(to: 20)
        self.move(&bench, to: 60)
        let key = BreakKey(stream: stream(), id: breakID("b1"))
        try bench.receive(bench.ask(.cancel(key), at: gateway(20)))
        #expect(self.outcomes(bench).values.allSatisfy { $0 == .ignored(.cancelled) })
        #expect(self.outcomes(bench).count == 3)
        self.move(&bench, to: 0)
        bench.advance(to: 100)
        #expect(self.timesTold(bench) == 0)
    }

    @Test func `a listener who joins late and behind gets a break that is over for others`() throws {
        var bench = try CoreBench(headInterval: .seconds(6_000)) {
            $0.delay = .seconds(60)
            $0.delayMax = .seconds(60)
        }
        _ = try bench.publish("b1", [content("a")], start: gateway(5), at: gateway(0))
        bench.now = local(40)
        bench.listen()
        bench.advance(to: 65)
        bench.expectNext("a", at: local(65))
    }

    @Test func `a pause stops the countdown, and going on lets the break come`() throws {
        var bench = try self.bench(delay: 0)
        bench.advance(to: 3)
        bench.step { core, now in core.changeDelay(now: now) { $0.pause(now: now) } }
        bench.advance(to: 60)
        #expect(self.timesTold(bench) == 0)
        bench.step { core, now in core.changeDelay(now: now) { $0.resume(now: now) } }
        bench.advance(to: 61.9)
        #expect(self.timesTold(bench) == 0)
        bench.advance(to: 62)
        #expect(self.queued(bench) == ["a", "b", "c"])
    }

    @Test func `the countdown of an announced break counts to the instant at which the listener hears it`() throws {
        let bench = try self.bench()
        let announced = bench.events.compactMap { if case .announced(let it) = $0 { it } else { nil } }
        #expect(announced.map(\.startsAt) == [bench.core.instant(local(35))])
        #expect(announced.first?.countdown != nil && announced.first?.duration == .seconds(30))
        #expect(announced.first?.advertisementCount == 3)
    }

    @Test func `requests carry the delay that is heard, and an hour at most`() throws {
        var bench = try self.bench()
        self.move(&bench, to: 5_000)
        #expect(bench.core.wireDelay(now: bench.now) == ListenerDelay(now: .seconds(3_600), max: .seconds(120)))
    }

    @Test func `a request of the background is answered in the foreground`() throws {
        var bench = try self.bench(delay: 0)
        bench.advance(to: 5)
        #expect(self.timesTold(bench) == 1)
        bench.step { $0.suspend(now: $1) }
        bench.expectNext(nil, at: local(6))
        bench.step { $0.resume(now: $1) }
        #expect(bench.count { if case .tellStillAvailable = $0 { true } else { false } } == 1)
        bench.expectNext("a", at: local(7))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Tuning) @testable import Cuecast

/// A click is told with the outcome, once.
@Suite(.suiteLimit)
struct ClickTests {
    private var queue = PlayQueue(mode: .afterPlaying, timings: ListenerTimings())

    /// Queues advertisements of 10 s each, from `start` on.
    private mutating func push(_ ids: String..., at start: Double = 0) {
        self.queue.queue(
            PlayQueue.Batch(
                breakID: breakID("b1"),
                advertisements: ids.map { advertisement($0) },
                limit: .playhead(gateway(start + 30)),
                exact: false,
                endMode: .cut,
                contentStart: gateway(start)
            ),
            now: local(start)
        )
    }

    private mutating func click(_ id: String) -> Bool { self.queue.clicked(advertisement(id).key) }

    private func outcome(_ effects: [PlayQueue.Effect]) -> AdvertisementOutcome? {
        if case .outcome(let outcome) = effects.last { outcome } else { nil }
    }

    @Test mutating func `a click is remembered in the outcome, whichever it is`() throws {
        for (index, name) in ["completed", "skipped", "failed", "inferred"].enumerated() {
            let start = Double(index) * 40
            self.push(name, at: start)
            let isOpen = self.queue.next(at: moment(start)).advertisement == advertisement(name)
            let isNew = self.click(name)
            #expect(isOpen && isNew)
            #expect(self.queue.playback(of: advertisement(name).key)?.wasClicked == true)
            let effects =
                switch name {
                case "completed": self.queue.report(.completed, advertisement(name), now: local(start + 10))
                case "skipped": self.queue.report(.skipped, advertisement(name), now: local(start + 4))
                case "failed": self.queue.report(.failed(vastError: 405), advertisement(name), now: local(start + 1))
                default: self.queue.next(at: moment(start + 10)).effects
                }
            let outcome = try #require(self.outcome(effects), "\(name)")
            #expect(outcome.clicked && outcome.wire(occurred: gateway(0)).clicked)
        }
    }

    @Test mutating func `a click is new once, and only while the advertisement is open`() throws {
        self.push("a", "b")
        var new = [self.click("a")]
        _ = self.queue.next(at: moment(0))
        new += [self.click("a"), self.click("a"), self.click("b")]
        var effects = self.queue.next(at: moment(10)).effects
        let first = try #require(self.outcome(effects))
        #expect(first.advertisement == advertisement("a") && first.clicked)
        new.append(self.click("a"))
        #expect(new == [false, true, false, false, false], "not handed out, new, twice, another, its outcome stands")
        effects = self.queue.report(.completed, advertisement("b"), now: local(20))
        let second = try #require(self.outcome(effects))
        #expect(!second.clicked && !second.wire(occurred: gateway(0)).clicked)
    }

    @Test mutating func `a clicked ad was played, even if nothing else is known of it at the end`() throws {
        self.push("a")
        _ = self.queue.next(at: moment(0))
        _ = self.click("a")
        let effects = self.queue.settle(now: local(4))
        let outcome = try #require(self.outcome(effects))
        #expect(outcome.result == .played && outcome.evidence == .inferred)
        #expect(outcome.clicked && outcome.heard == .seconds(4))
    }

    @Test func `every click is an event, and the first one is written down at once`() throws {
        var bench = try CoreBench()
        bench.listen()
        let start = gatewayStart + .seconds(2)
        try bench.receive(
            bench.publish(
                "b1",
                [content("a")],
                start: start,
                at: gatewayStart
            )
        )
        bench.advance(to: 2)
        let given = bench.next(at: local(2))
        let playing = try #require(given)
        _ = bench.core.takeJournal()
        bench.now = local(5)
        var kept: [JournalEntry.Kind] = []
        for _ in 0..<2 {
            bench.step { core, now in core.bannerClicked(playing, now: now) }
            kept += bench.core.takeJournal()
        }
        let progress = JournalEntry.Progress(heard: .seconds(3), clicked: true)
        #expect(kept == [.progress(breakID("b1"), adID("a"), progress)])
        bench.step { core, now in core.report(.skipped, playing, now: now) }
        bench.step { core, now in core.bannerClicked(playing, now: now) }
        #expect(bench.count { if case .event(.bannerClicked) = $0 { true } else { false } } == 3)
        let told = bench.events.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
        #expect(told.map(\.clicked) == [true])
    }

    @Test func `an action on a banner after the end is no event`() throws {
        var bench = try CoreBench()
        bench.listen()
        let ad = advertisement("a")
        bench.step { core, now in core.stop(now: now) }
        bench.now = local(1_000)
        bench.step { core, now in core.wake(now: now) }
        #expect(bench.core.lifecycle == .stopped)
        _ = bench.core.takeJournal()
        let count = bench.events.count
        bench.step { core, now in
            core.bannerShown(ad, now: now)
            core.bannerClicked(ad, now: now)
            core.advertisementClicked(ad, now: now)
        }
        #expect(bench.events.count == count && bench.core.takeJournal().isEmpty)
    }
}

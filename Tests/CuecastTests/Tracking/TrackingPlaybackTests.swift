// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Tracking) @testable import Cuecast

@Suite(.suiteLimit)
struct TrackingPlaybackTests {
    let ad = tracked()
    var bench = TrackingBench()

    @Test mutating func `the start is an impression, once`() {
        #expect(self.bench.paths(.started, self.ad, 0) == ["impression", "start"])
        #expect(self.bench.paths(.started, self.ad, 1) == [])
    }

    @Test mutating func `quarters come in order, and one that was left out comes with the next`() {
        #expect(self.bench.paths(.started, self.ad, 0) == ["impression", "start"])
        #expect(self.bench.paths(.quartile(1), self.ad, 4) == ["progress5", "firstQuartile"])
        #expect(self.bench.paths(.quartile(3), self.ad, 30) == ["progress15", "midpoint", "thirdQuartile"])
        #expect(self.bench.paths(.quartile(2), self.ad, 31) == [])
        #expect(self.bench.paths(.completed, self.ad, 40) == ["complete"])
    }

    @Test mutating func `an end without a beginning has everything in order`() {
        #expect(
            self.bench.paths(.completed, self.ad, 40) == [
                "impression", "start", "progress5", "firstQuartile", "progress15", "midpoint", "thirdQuartile",
                "complete",
            ]
        )
    }

    @Test mutating func `the other reports have one event each`() {
        _ = self.bench.paths(.started, self.ad, 0)
        #expect(self.bench.paths(.muted, self.ad, 1) == ["mute"])
        #expect(self.bench.paths(.unmuted, self.ad, 1) == ["unmute"])
        #expect(self.bench.paths(.muted, self.ad, 1) == [])
        #expect(self.bench.paths(.paused, self.ad, 1) == ["pause"])
        #expect(self.bench.paths(.resumed, self.ad, 1) == ["resume"])
        #expect(self.bench.paths(.skipped, self.ad, 1) == ["skip"])
    }

    @Test mutating func `a failure has the code and no impression`() {
        let ad = tracked(trackers: [
            .init(event: "error", url: "https://t.example/e?c=[ERRORCODE]"),
            .init(event: "impression", url: "https://t.example/i"),
        ])
        #expect(self.bench.paths(.failed(vastError: 405), ad, 0) == ["e?c=405"])
    }

    @Test mutating func `a click is told once, also after the end`() {
        _ = self.bench.paths(.completed, self.ad, 40)
        let first = self.bench.tell(41, TrackingEvents.clicked, self.ad)
        #expect(first.intended.map(\.path) == ["clickTracking"])
        #expect(self.bench.tell(42, TrackingEvents.clicked, self.ad).isEmpty)
    }

    @Test mutating func `a click on a banner is the banner's own, and not one on the advertisement`() {
        let ad = tracked(hasBanner: true)
        let first = self.bench.tell(1, TrackingEvents.clicked, ad)
        #expect(first.intended.map(\.path) == ["bannerClick"])
        #expect(self.bench.tell(2, TrackingEvents.clicked, ad).isEmpty)
    }

    @Test mutating func `an action on the advertisement itself is no click on its banner`() {
        let ad = tracked(hasBanner: true)
        let first = self.bench.tell(1, TrackingEvents.advertisementClicked, ad)
        #expect(first.intended.map(\.path) == ["clickTracking"])
        #expect(self.bench.tell(2, TrackingEvents.advertisementClicked, ad).isEmpty)
    }

    @Test mutating func `a banner that is seen is told once, also where it is not heard`() {
        let ad = tracked(hasBanner: true)
        let first = self.bench.tell(1, TrackingEvents.bannerShown, ad)
        #expect(first.intended.map(\.path) == ["bannerView"])
        #expect(self.bench.tell(2, TrackingEvents.bannerShown, ad).isEmpty)
    }

    @Test mutating func `progress is called when its time has come, without a report`() {
        _ = self.bench.report(.started, self.ad, at: .at(100))
        for id in self.bench.due(100).sends.map(\.id) { _ = self.bench.finished(id, .answered(status: 200), 100) }
        #expect(self.bench.next(100) == local(105))
        #expect(self.advance(104.9) == [])
        #expect(self.advance(105) == ["progress5"])
        #expect(self.advance(105) == [])
        #expect(self.advance(200) == ["progress15"])
    }

    private mutating func advance(_ seconds: Double) -> [String] {
        self.bench.advance(seconds).intended.map(\.path)
    }

    @Test mutating func `a pause does not count as progress`() {
        _ = self.bench.report(.started, self.ad, at: .at(0))
        #expect(self.bench.paths(.paused, self.ad, 4) == ["pause"])
        #expect(self.advance(60) == [])
        #expect(self.bench.paths(.resumed, self.ad, 60) == ["resume"])
        #expect(self.advance(60.9) == [])
        #expect(self.advance(61) == ["progress5"])
    }

    @Test mutating func `progress counts from the quarter that the app reported`() {
        _ = self.bench.report(.started, self.ad, at: .at(0))
        // The player had to wait for its media: a quarter, 10 s, took it 20.
        #expect(
            self.bench.paths(.quartile(1), self.ad, 20)
                == ["progress5", "firstQuartile"]
        )
        #expect(self.advance(24.9) == [])
        #expect(self.advance(25) == ["progress15"])
    }

    @Test mutating func `events while the listener denies tracking are never called`() {
        _ = self.bench.report(.started, self.ad, at: .at(0))
        _ = self.bench.queue.set(consent: ListenerConsent(deniesTracking: true))
        #expect(self.advance(5) == [])
        #expect(self.bench.paths(.quartile(1), self.ad, 10) == [])
        _ = self.bench.queue.set(consent: nil)
        #expect(self.advance(14.9) == [])
        #expect(self.advance(15) == ["progress15"])
        #expect(self.bench.paths(.quartile(2), self.ad, 20) == ["midpoint"])
    }

    @Test mutating func `progress without an offset or past the end is never due`() {
        let ad = tracked(trackers: [
            .init(event: "progress", url: "https://t.example/none"),
            .init(event: "progress", url: "https://t.example/zero", offset: .zero),
            .init(event: "progress", url: "https://t.example/end", offset: .seconds(40)),
            .init(event: "progress", url: "https://t.example/past", offset: .seconds(41)),
        ])
        #expect(self.bench.paths(.started, ad, 0) == ["zero"])
        #expect(self.bench.paths(.completed, ad, 40) == ["end"])
    }

    @Test mutating func `the same URL is called once for an event, and once for each event and advertisement`() {
        let trackers: [AdvertisementContent.Tracker] = [
            .init(event: "impression", url: "https://t.example/x"),
            .init(event: "impression", url: "https://t.example/x"),
            .init(event: "start", url: "https://t.example/x"),
            .init(event: "impression", url: "https://t.example/x?cb=[CACHEBUSTING]"),
        ]
        #expect(self.bench.report(.started, tracked("a", trackers: trackers), at: .at(0)).intended.count == 3)
        #expect(self.bench.report(.started, tracked("b", trackers: trackers), at: .at(0)).intended.count == 3)
        #expect(self.bench.report(.completed, tracked("a", trackers: trackers), at: .at(9)).intended.isEmpty)
    }

    @Test mutating func `another session calls anew`() {
        _ = self.bench.report(.started, self.ad, at: .at(0))
        let other = TrackingMoment.at(1, session: SessionID(high: 3, low: 4))
        self.bench.forgetPlaying()
        #expect(self.bench.report(.started, self.ad, at: other).intended.count == 2)
    }

    @Test func `outcomes inferred from time count only if the app wants it`() {
        var configuration = TrackingConfiguration.testing()
        for (heard, expected) in [
            (0.0, []),
            (3, ["impression", "start"]),
            (25, ["impression", "start", "progress5", "firstQuartile", "progress15", "midpoint"]),
            (
                39.5,
                [
                    "impression", "start", "progress5", "firstQuartile", "progress15", "midpoint", "thirdQuartile",
                    "complete",
                ]
            ),
        ] {
            let outcome = AdvertisementOutcome(
                advertisement: self.ad,
                result: .played,
                evidence: .inferred,
                heard: .seconds(heard),
                quartiles: 0,
                muted: false,
                clicked: false
            )
            configuration.countsInferred = true
            var counting = TrackingBench(configuration)
            let actions = counting.closed(outcome, 50)
            #expect(actions.intended.map(\.path) == expected)
            configuration.countsInferred = false
            var careful = TrackingBench(configuration)
            #expect(careful.closed(outcome, 50).isEmpty)
        }
    }

    @Test func `an advertisement that was ignored or failed by inference calls nothing`() {
        var configuration = TrackingConfiguration.testing()
        configuration.countsInferred = true
        var bench = TrackingBench(configuration)
        #expect(bench.closed(.ignored(self.ad, .expired), 1).isEmpty)
    }

    @Test mutating func `after the end or when nothing more is heard, time makes no progress`() {
        _ = self.bench.report(.started, self.ad, at: .at(0))
        self.bench.abandoned(self.ad)
        #expect(self.advance(100) == [])
        let other = tracked("b")
        _ = self.bench.report(.started, other, at: .at(0))
        _ = self.bench.report(.skipped, other, at: .at(2))
        #expect(self.advance(100) == [])
        #expect(self.bench.events.watches.isEmpty)
    }

    @Test mutating func `only so many advertisements are watched`() {
        for number in 0...TrackingEvents.watchesMax {
            _ = self.bench.report(.started, tracked("a\(number)"), at: .at(0))
        }
        #expect(self.bench.events.watches.count == TrackingEvents.watchesMax)
        #expect(self.bench.events.watches.first?.advertisement.adID == "a1")
    }

    @Test mutating func `macros tell where the advertisement is`() {
        let url = "https://t.example/?h=[ADPLAYHEAD]&n=[ADCOUNT]&p=[PODSEQUENCE]&s=[PLAYERSTATE]&e=[ERRORCODE]"
        let ads = [2, 3]
            .map { index in
                tracked(
                    "a\(index)",
                    trackers: ["start", "mute", "midpoint", "pause"].map { .init(event: $0, url: url) },
                    index: index
                )
            }
        #expect(self.bench.paths(.started, ads[0], 0) == ["?h=00%3A00%3A00.000&n=1&p=2&s=&e=-1"])
        #expect(self.bench.paths(.muted, ads[0], 1.5) == ["?h=00%3A00%3A01.500&n=1&p=2&s=muted&e=-1"])
        #expect(self.bench.paths(.quartile(2), ads[0], 21) == ["?h=00%3A00%3A20.000&n=1&p=2&s=muted&e=-1"])
        #expect(self.bench.paths(.started, ads[1], 41) == ["?h=00%3A00%3A00.000&n=2&p=3&s=&e=-1"])
        #expect(self.bench.paths(.paused, ads[1], 1_000) == ["?h=00%3A00%3A40.000&n=2&p=3&s=&e=-1"])
    }
}

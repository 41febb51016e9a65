// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakPlanning
import BreakScheduling
import CuecastBroadcast
import Testing

/// What a pass of fillings knows of other breaks, and what it owes.
enum FillingHistory {
    static let now: Int64 = 1_795_780_800_000

    static func ad(_ id: String) -> AdvertisementDescription {
        AdvertisementDescription(id: id, title: id, duration: .seconds(10), media: [])
    }

    static func ads(_ ids: String..., cars: String...) -> BreakAds {
        let variant = AdVariant(name: "cars", conditions: [], advertisements: cars.map { Self.ad($0) })
        return BreakAds(advertisements: ids.map { Self.ad($0) }, variants: cars.isEmpty ? nil : [variant])
    }

    /// A history of breaks with one ad each, as `break:ad`.
    static func history(_ entries: String...) -> PlayedHistory {
        var history = PlayedHistory()
        history.entries = entries.map { text in
            let parts = text.split(separator: ":").map { String($0) }
            return PlayedHistory.Entry(milliseconds: Self.now, breakID: parts[0], id: parts[1])
        }
        return history
    }

    /// The ads of a history, as `break:ad`.
    static func shown(_ history: PlayedHistory?) -> [String]? {
        history?.entries.map { "\($0.breakID ?? ""):\($0.id)" }.sorted()
    }

    static func change(
        _ kind: ScheduleChange.Kind = .unchanged,
        _ state: BreakStatus.State? = .scheduled,
        startsAt milliseconds: Int64? = FillingHistory.now,
        _ filling: BreakFilling = .here,
        id: String = "day.a"
    ) -> ScheduleChange {
        let wanted = WantedBreak(
            id: "a",
            startMilliseconds: Self.now,
            durationMilliseconds: 30_000,
            advertisements: [Self.ad("house")],
            filling: filling
        )
        let present = state.map {
            PresentBreak(id: id, state: $0, startMilliseconds: milliseconds, durationMilliseconds: 30_000)
        }
        return ScheduleChange(kind: kind, id: id, wanted: wanted, present: present)
    }
}

/// The history of one pass.
@Suite(.suiteLimit)
struct PassHistoryTests {
    /// A source that counts how often it is asked.
    private final class Source {
        var result: PlayedHistory?
        private(set) var count = 0

        init(_ result: PlayedHistory?) { self.result = result }

        func read() async -> PlayedHistory? {
            self.count += 1
            return self.result
        }
    }

    @Test func `a history is read once, and again where others may have published`() async {
        let source = Source(FillingHistory.history("day.a:one"))
        var pass = PassHistory()
        for _ in 0..<3 {
            let known = await pass.ads { await source.read() }
            #expect(FillingHistory.shown(known) == ["day.a:one"] && source.count == 1)
        }
        source.result = FillingHistory.history("day.a:one", "other:two")
        pass.expire()
        for _ in 0..<3 {
            let known = await pass.ads { await source.read() }
            #expect(FillingHistory.shown(known) == ["day.a:one", "other:two"] && source.count == 2)
        }
    }

    @Test func `a history that cannot be read is asked for once in a pass`() async {
        let source = Source(nil)
        var pass = PassHistory()
        for _ in 0..<3 {
            #expect(await pass.ads { await source.read() } == nil)
            // Others may have published, and it is as missing as before.
            pass.expire()
        }
        #expect(source.count == 1)
        // The next pass asks again.
        source.result = FillingHistory.history("day.a:one")
        var next = PassHistory()
        #expect(await next.ads { await source.read() } == source.result)
        #expect(source.count == 2)
    }

    @Test func `ads that are set take the place of those that are known of the break`() async {
        let source = Source(FillingHistory.history("day.a:one", "day.b:two"))
        var pass = PassHistory()
        // Nothing is known yet: the source says what there is.
        pass.set("day.a", at: FillingHistory.now, FillingHistory.ads("lost"))
        let first = await pass.ads { await source.read() }
        #expect(FillingHistory.shown(first) == ["day.a:one", "day.b:two"])
        pass.set("day.a", at: FillingHistory.now, FillingHistory.ads("three~2", cars: "four"))
        let second = await pass.ads { await source.read() }
        #expect(FillingHistory.shown(second) == ["day.a:four", "day.a:three", "day.b:two"])
        #expect(source.count == 1)
    }

    @Test func `without the ads of breaks that wait, other ads of them stay`() {
        var history = FillingHistory.history("day.a:house", "day.a:tyres", "day.a:filled", "day.b:house", "other:house")
        history.entries.append(PlayedHistory.Entry(milliseconds: 0, id: "house"))
        let waiting = ["day.a": FillingHistory.ads("house", cars: "tyres~2"), "day.c": FillingHistory.ads("filled")]
        #expect(
            FillingHistory.shown(history.without(waiting: waiting))
                == [":house", "day.a:filled", "day.b:house", "other:house"]
        )
        #expect(history.without(waiting: [:]) == history)
    }
}

/// The ads that a program gave breaks.
@Suite(.suiteLimit)
struct GivenAdsTests {
    private func given(_ ids: String...) -> GivenAds {
        var given = GivenAds()
        for id in ids { given.give(FillingHistory.ads("own"), to: id, at: FillingHistory.now) }
        return given
    }

    /// The breaks whose given ads are in a history that knows nothing.
    private func kept(_ given: GivenAds) -> [String]? {
        FillingHistory.shown(given.added(to: PlayedHistory(), isReport: true))
    }

    @Test func `ads that were given count until the report has the break, and against a file always`() {
        let given = self.given("day.a", "day.b")
        let history = FillingHistory.history("day.a:other", "day.c:third")
        #expect(
            FillingHistory.shown(given.added(to: history, isReport: true))
                == ["day.a:other", "day.b:own", "day.c:third"]
        )
        #expect(
            FillingHistory.shown(given.added(to: history, isReport: false))
                == ["day.a:own", "day.b:own", "day.c:third"]
        )
    }

    @Test func `a report's ads get the advertisers that were given with them`() {
        var (own, other) = (FillingHistory.ad("own"), FillingHistory.ad("second~2"))
        (own.advertiser, other.advertiser) = ("Shoes", "Bikes")
        let variant = AdVariant(name: "cars", conditions: [], advertisements: [other])
        var given = GivenAds()
        given.give(BreakAds(advertisements: [own], variants: [variant]), to: "day.a", at: FillingHistory.now)
        var history = FillingHistory.history("day.a:own", "day.a:second", "day.a:own", "day.a:else", "day.b:own")
        // What is known stays.
        history.entries[2].advertiser = "Hats"
        let added = given.added(to: history, isReport: true)
        #expect(added.entries.map(\.id) == history.entries.map(\.id))
        #expect(added.entries.map(\.advertiser) == ["Shoes", "Bikes", "Hats", nil, nil])
    }

    @Test func `ads that are given again are the newest ones`() {
        var given = self.given("day.a")
        given.give(FillingHistory.ads("new", cars: "tyres"), to: "day.a", at: FillingHistory.now + 5)
        let history = given.added(to: PlayedHistory(), isReport: true)
        #expect(FillingHistory.shown(history) == ["day.a:new", "day.a:tyres"])
        #expect(history.entries.allSatisfy { $0.milliseconds == FillingHistory.now + 5 })
        #expect(history.entries.map(\.variant) == ["default", "cars"])
    }

    @Test func `a break that plays at the same time keeps its ads`() {
        for state in BreakStatus.State.allCases where state != .cancelled && state != .expired {
            var given = self.given("day.a")
            given.keep([FillingHistory.change(.unchanged, state)])
            #expect(self.kept(given) == ["day.a:own"], "\(state)")
        }
        for off in [-1, 0, 1] as [Int64] {
            var given = self.given("day.a")
            var longer = FillingHistory.change(.changed, startsAt: FillingHistory.now + off)
            longer.differences = ["duration"]
            given.keep([longer])
            #expect(self.kept(given) == ["day.a:own"], "\(off) ms off")
        }
    }

    @Test func `a break that is gone, does not play or moves loses its ads`() {
        var moved = FillingHistory.change(.changed)
        moved.differences = ["start"]
        let lost: [[ScheduleChange]] = [
            [], [FillingHistory.change(.gone)], [FillingHistory.change(.new, nil)],
            [FillingHistory.change(.unchanged, .cancelled)], [FillingHistory.change(.unchanged, .expired)], [moved],
            [FillingHistory.change(startsAt: FillingHistory.now + 2)],
            [FillingHistory.change(startsAt: FillingHistory.now - 2)], [FillingHistory.change(startsAt: nil)],
            [FillingHistory.change(id: "day.b")],
        ]
        for (index, changes) in lost.enumerated() {
            var given = self.given("day.a")
            given.keep(changes)
            #expect(self.kept(given) == [], "case \(index)")
        }
        // Each break by itself.
        var given = self.given("day.a", "day.b")
        given.keep([FillingHistory.change(.gone), FillingHistory.change(id: "day.b")])
        #expect(self.kept(given) == ["day.b:own"])
    }
}

/// The breaks whose ads could not be chosen yet.
@Suite(.suiteLimit)
struct OwedFillingsTests {
    private func owed(_ ids: String...) -> OwedFillings {
        var owed = OwedFillings()
        for id in ids { owed.owe(id) }
        return owed
    }

    private let announced = FillingHistory.change(.unchanged, .announced)

    @Test func `a break that was announced before its filling is told once`() {
        for state in [BreakStatus.State.announced, .live, .complete] {
            var owed = self.owed("day.a")
            #expect(owed.settle([FillingHistory.change(.unchanged, state)]) == ["day.a"], "\(state)")
            #expect(owed.settle([FillingHistory.change(.unchanged, state)]) == [], "\(state)")
        }
        var several = self.owed("day.c", "day.a", "day.b")
        let changes = ["day.b", "day.a", "day.c"].map { FillingHistory.change(.unchanged, .announced, id: $0) }
        #expect(several.settle(changes) == ["day.a", "day.b", "day.c"])
    }

    @Test func `a break that waits is owed on`() {
        var owed = self.owed("day.a")
        for kind in [ScheduleChange.Kind.unchanged, .changed, .refused] {
            #expect(owed.settle([FillingHistory.change(kind)]) == [])
        }
        #expect(owed.settle([self.announced]) == ["day.a"])
    }

    @Test func `what is filled, gone, cancelled or no more ours is not told`() {
        var filled = self.owed("day.a")
        filled.settle("day.a")
        #expect(filled.settle([self.announced]) == [])
        var already = FillingHistory.change()
        already.isFilledAlready = true
        let over: [[ScheduleChange]] = [
            [], [FillingHistory.change(.new, nil)], [FillingHistory.change(.gone)],
            [FillingHistory.change(.unchanged, .cancelled)], [FillingHistory.change(.unchanged, .expired)],
            [FillingHistory.change(.unchanged, .scheduled, .never)],
            [FillingHistory.change(.unchanged, .scheduled, .elsewhere)], [already],
        ]
        for (index, changes) in over.enumerated() {
            var owed = self.owed("day.a")
            #expect(owed.settle(changes) == [], "case \(index)")
            #expect(owed.settle([self.announced]) == [], "case \(index)")
        }
    }
}

/// How many questions go to ad servers at a time.
@Suite(.suiteLimit)
struct QuestionsAtOnceTests {
    /// The parts in which breaks with so many questions each are asked about.
    private func parts(_ counts: [Int]) -> [[Int]] {
        var rest = counts[...]
        var parts: [[Int]] = []
        while !rest.isEmpty { parts.append(AdServerGateLimits().next(&rest) { $0 }) }
        return parts
    }

    @Test func `as many questions as questionsAtOnceMax go at one time, and one more waits`() {
        #expect(AdServerGateLimits().questionsAtOnceMax == 40)
        let ones = Array(repeating: 1, count: 40)
        #expect(self.parts(ones) == [ones])
        #expect(self.parts(ones + [1]) == [ones, [1]])
        #expect(self.parts([20, 20]) == [[20, 20]])
        #expect(self.parts([20, 21, 19]) == [[20], [21, 19]])
        #expect(self.parts([39, 2, 1]) == [[39], [2, 1]])
        // Breaks without questions do not wait.
        #expect(self.parts([0, 40, 0, 0]) == [[0, 40, 0, 0]])
    }

    @Test func `the questions of one break stay together, however many they are`() {
        #expect(self.parts([41]) == [[41]])
        #expect(self.parts([64 * 32, 1]) == [[64 * 32], [1]])
        #expect(self.parts([1, 41, 1]) == [[1], [41], [1]])
        #expect(self.parts([]) == [])
    }

    @Test func `another limit counts`() {
        var limits = AdServerGateLimits()
        limits.questionsAtOnceMax = 2
        var rest = [1, 1, 1][...]
        #expect(limits.next(&rest) { $0 } == [1, 1])
        #expect(rest == [1])
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Testing

@Suite(.suiteLimit)
struct AdChooserTests {
    private let noon: Int64 = 1_780_000_000_000

    private func ad(_ id: String, _ seconds: Int, _ change: (inout AdCandidate) -> Void = { _ in }) -> AdCandidate {
        var candidate = AdCandidate(id: id, durationMilliseconds: seconds * 1_000)
        change(&candidate)
        return candidate
    }

    private func choose(
        _ candidates: [AdCandidate],
        fill: Int,
        offset: Int64 = 0,
        seed: String = "radio1/noon",
        played: [PlayedAd] = [],
        limits: ChoosingLimits = ChoosingLimits(),
        _ change: (inout ChoosingRules) -> Void = { _ in }
    ) -> AdChoice {
        var rules = ChoosingRules(fillMilliseconds: fill * 1_000)
        change(&rules)
        let occasion = ChoosingOccasion(
            milliseconds: self.noon,
            offsetMilliseconds: offset,
            seed: seed,
            played: played
        )
        return AdChooser(rules: rules, limits: limits).choose(from: candidates, for: occasion)
    }

    private func ids(_ choice: AdChoice, _ candidates: [AdCandidate]) -> [String] {
        choice.places.map { candidates[$0.candidate].id }
    }

    @Test func `a higher priority goes first, though the break is filled less`() {
        let candidates = [ad("low", 30), ad("high", 25) { $0.priority = 1 }]
        let choice = choose(candidates, fill: 30)
        #expect(ids(choice, candidates) == ["high"])
        #expect(choice.decisions[0] == .left(.lowerPriority(roomMilliseconds: 5_000)))
        #expect(choice.decisions[1] == .taken(places: [1]))
    }

    @Test func `ads of one priority fill the break as well as they can`() {
        let candidates = [ad("a", 40), ad("b", 30), ad("c", 20), ad("d", 25)]
        let choice = choose(candidates, fill: 75)
        #expect(Set(ids(choice, candidates)) == ["b", "c", "d"])
        #expect(choice.durationMilliseconds == 75_000)
        #expect(choice.decisions[0] == .left(.noRoom(roomMilliseconds: 0)))
    }

    @Test func `an exact filling is exact, or there is none`() {
        let candidates = [ad("a", 20), ad("b", 30), ad("c", 45)]
        let exact = choose(candidates, fill: 50) { $0.minimumMilliseconds = 50_000 }
        #expect(Set(ids(exact, candidates)) == ["a", "b"])
        let none = choose(candidates, fill: 60) { $0.minimumMilliseconds = 60_000 }
        #expect(none.places.isEmpty)
        #expect(none.emptiness == .noFilling)
        #expect(none.decisions == [.left(.noFilling), .left(.noFilling), .left(.noFilling)])
        #expect(choose([], fill: 60).emptiness == .noCandidate)
    }

    @Test func `dates count from the first millisecond, and to the one before the last`() {
        let candidates = [
            ad("from", 5) { $0.from = self.noon }, ad("later", 5) { $0.from = self.noon + 1 },
            ad("until", 5) { $0.until = self.noon + 1 }, ad("over", 5) { $0.until = self.noon },
        ]
        let choice = choose(candidates, fill: 60)
        #expect(Set(ids(choice, candidates)) == ["from", "until"])
        #expect(choice.decisions[1] == .left(.notYet(from: self.noon + 1)))
        #expect(choice.decisions[3] == .left(.expired(until: self.noon)))
    }

    @Test func `dayparts are of local time, and may end on the next day`() {
        // 2026-05-28, a Thursday, 20:26:40 UTC.
        let night = Daypart(weekdays: [3], fromMinute: 22 * 60, untilMinute: 6 * 60)
        let candidates = [ad("night", 5) { $0.dayparts = [night] }]
        for (hours, plays) in [(0, false), (1, false), (2, true), (9, true), (10, false), (24 + 2, false)] {
            let choice = choose(candidates, fill: 60, offset: Int64(hours) * 3_600_000)
            #expect(choice.places.isEmpty != plays, "\(hours)")
            if !plays { #expect(choice.decisions == [.left(.outsideDayparts)]) }
        }
        let day = Daypart(weekdays: [0], fromMinute: 60, untilMinute: 120)
        #expect(day.contains(weekday: 0, millisecond: 3_600_000))
        #expect(!day.contains(weekday: 0, millisecond: 3_599_999))
        #expect(day.contains(weekday: 0, millisecond: 7_199_999))
        #expect(!day.contains(weekday: 0, millisecond: 7_200_000))
        #expect(!day.contains(weekday: 1, millisecond: 3_600_000))
    }

    @Test func `an advertiser and a category are in a break once, unless that is allowed`() {
        let candidates = [
            ad("a", 10) {
                $0.advertiser = "Shop"
                $0.priority = 1
            }, ad("b", 10) { $0.advertiser = "SHOP" },
            ad("c", 10) {
                $0.categories = ["IAB2-3"]
                $0.priority = 1
            }, ad("d", 10) { $0.categories = ["IAB2"] },
            ad("e", 10) { $0.categories = ["IAB2-4"] }, ad("f", 10) { $0.categories = ["IAB23"] },
        ]
        let choice = choose(candidates, fill: 100)
        #expect(Set(ids(choice, candidates)) == ["a", "c", "e", "f"])
        #expect(choice.decisions[1] == .left(.sameAdvertiser(other: "a")))
        #expect(choice.decisions[3] == .left(.sameCategory(code: "IAB2", other: "c")))
        let all = choose(candidates, fill: 100) {
            $0.isAdvertiserOnce = false
            $0.isCategoryOnce = false
        }
        #expect(all.places.count == 6)
    }

    @Test func `other breaks keep ads away by time, those behind it too`() {
        let candidates = [
            ad("same", 10), ad("shop", 10) { $0.advertiser = "Shop" }, ad("cars", 10) { $0.categories = ["IAB2-3"] },
        ]
        let minute: Int64 = 60_000
        for sign: Int64 in [-1, 1] {
            let at = self.noon + sign * 10 * minute
            let played = [
                PlayedAd(milliseconds: at, id: "same"),
                PlayedAd(milliseconds: at, id: "x", advertiser: "shop", categories: ["IAB2"]),
            ]
            let near = choose(candidates, fill: 60, played: played) {
                $0.adGapMilliseconds = 600_001
                $0.advertiserGapMilliseconds = 600_001
                $0.categoryGapMilliseconds = 600_001
            }
            #expect(
                near.decisions == [
                    .left(.adTooSoon(milliseconds: at)), .left(.advertiserTooSoon(other: "x", milliseconds: at)),
                    .left(.categoryTooSoon(code: "IAB2-3", other: "x", milliseconds: at)),
                ]
            )
            #expect(near.emptiness == .noCandidate)
            let far = choose(candidates, fill: 60, played: played) {
                $0.adGapMilliseconds = 600_000
                $0.advertiserGapMilliseconds = 600_000
                $0.categoryGapMilliseconds = 600_000
            }
            #expect(far.places.count == 3)
        }
    }

    @Test func `opener, jingles and closer have their places`() {
        let candidates = [
            ad("closer", 2) { $0.role = .closer },
            ad("other", 2) {
                $0.role = .opener
                $0.priority = 9
            },
            ad("opener", 2) { $0.role = .opener }, ad("jingle", 1) { $0.role = .jingle },
            ad("spare", 1) {
                $0.role = .jingle
                $0.priority = 9
            }, ad("a", 10), ad("b", 10), ad("c", 10), ad("d", 10),
        ]
        let choice = choose(candidates, fill: 60)
        let order = ids(choice, candidates)
        #expect(order.count == 7)
        #expect(order.first == "opener" && order.last == "closer")
        #expect(order[3] == "jingle")
        #expect(choice.decisions[1] == .left(.otherOpener(other: "opener")))
        #expect(choice.decisions[4] == .left(.jinglesFull))
        #expect(choose(Array(candidates.prefix(5)), fill: 60).emptiness == .noCandidate)
    }

    @Test func `a lock plays whole, in order and together, or not at all`() {
        var candidates = [
            ad("first", 10) { $0.lock = "story" }, ad("x", 10), ad("second", 10) { $0.lock = "story" }, ad("y", 10),
        ]
        let choice = choose(candidates, fill: 40)
        let order = ids(choice, candidates)
        #expect(order.count == 4)
        let place = order.firstIndex(of: "first") ?? 0
        #expect(order.dropFirst(place).prefix(2) == ["first", "second"])
        #expect(Set(ids(choose(candidates, fill: 10), candidates)).isSubset(of: ["x", "y"]))
        candidates[2].until = self.noon
        let without = choose(candidates, fill: 40)
        #expect(without.decisions[0] == .left(.lockPartnerLeft(other: "second")))
        #expect(without.decisions[2] == .left(.expired(until: self.noon)))
    }

    @Test func `an ad is in a break twice only where that is allowed, and not next to itself`() {
        let once = [ad("a", 10), ad("b", 10)]
        #expect(choose(once, fill: 60).places.count == 2)
        let twice = [ad("a", 10) { $0.timesMax = 2 }, ad("b", 10) { $0.priority = 6 }]
        let choice = choose(twice, fill: 60)
        #expect(ids(choice, twice) == ["a", "b", "a"])
        #expect(choice.decisions[0] == .taken(places: [1, 3]))
        #expect(choice.places.map(\.time) == [1, 1, 2])
    }

    @Test func `the most ads, at the limit and one past it`() {
        let candidates = (0..<5).map { ad("ad\($0)", 10) }
        #expect(choose(candidates, fill: 60) { $0.adsMax = 5 }.places.count == 5)
        let choice = choose(candidates, fill: 60) { $0.adsMax = 4 }
        #expect(choice.places.count == 4)
        #expect(choice.decisions.filter { $0 == .left(.adsFull) }.count == 1)
    }

    @Test func `weights are shares of the draw, and a seed draws the same again`() {
        let candidates = [ad("one", 30), ad("three", 30) { $0.weight = 3 }]
        var first = 0
        for number in 0..<2_000 {
            let seed = "radio1/\(number)"
            let choice = choose(candidates, fill: 30, seed: seed)
            #expect(choice == choose(candidates, fill: 30, seed: seed))
            if ids(choice, candidates) == ["three"] { first += 1 }
        }
        // 1,500 are expected; six standard deviations are 116.
        #expect((1_384...1_616).contains(first))
    }

    @Test func `as many candidates as the limit are taken, and one more is a fault of the caller`() async {
        let candidates = (0..<1_000).map { ad("ad\($0)", 10) }
        #expect(choose(candidates, fill: 60).places.count == 6)
        await #expect(processExitsWith: .failure) {
            let candidates = (0...1_000).map { AdCandidate(id: "ad\($0)", durationMilliseconds: 10) }
            _ = AdChooser(rules: ChoosingRules(fillMilliseconds: 60))
                .choose(from: candidates, for: ChoosingOccasion(milliseconds: 0, seed: ""))
        }
    }

    @Test func `a search that is cut says so`() {
        // Each filling has at least twelve ads, and each ad is a step.
        var candidates: [AdCandidate] = []
        for group in 0..<12 {
            for number in 0..<20 {
                candidates.append(
                    ad("ad\(group)-\(number)", 11 + (group * 7 + number * 13) % 17) { $0.advertiser = "\(group)" }
                )
            }
        }
        var limits = ChoosingLimits()
        limits.searchStepsMax = 5
        let cut = choose(candidates, fill: 300, limits: limits) { $0.minimumMilliseconds = 300_000 }
        #expect(!cut.isBest)
        #expect(cut.emptiness == .searchEnded)
        #expect(cut.steps == 5)
        #expect(cut.decisions.allSatisfy { $0 == .left(.notSearched) })
    }

    @Test func `as many openers as framesMax are tried, and with one more the search is cut`() {
        #expect(ChoosingLimits().framesMax == 20_000)
        // None of them leaves what the one ad lasts, and neither does a break without an opener.
        var candidates = (1...9).map { number in ad("opener\(number)", number) { $0.role = .opener } }
        candidates.append(ad("a", 20))
        var limits = ChoosingLimits()
        for (most, isBest) in [(10, true), (9, false)] {
            limits.framesMax = most
            let choice = choose(candidates, fill: 60, limits: limits) { $0.minimumMilliseconds = 60_000 }
            #expect(choice.isBest == isBest && choice.limit == (isBest ? nil : .framesMax))
            #expect(choice.emptiness == (isBest ? .noFilling : .searchEnded))
        }
    }

    @Test func `sums that are looked at before the search take steps of it`() {
        // The long ad alone fits; all sums of the short ones, 1 to 2^count - 1, are looked at before, 1,024 of them in a step.
        func choice(_ count: Int, limits: ChoosingLimits = ChoosingLimits()) -> AdChoice {
            var candidates = (0..<count).map { number in ad("a\(number)", 1 << number) { $0.priority = 1 } }
            candidates.append(ad("b", 10_000) { $0.priority = 2 })
            return choose(candidates, fill: 10_000, limits: limits) { $0.minimumMilliseconds = 10_000_000 }
        }
        let steps = [11, 12, 13]
            .map { count in
                let found = choice(count)
                #expect(found.isBest && found.places.map(\.candidate) == [count])
                return found.steps
            }
        // One more ad takes as many further steps as the one before it, and those of the sums: 1, 3, 7.
        #expect((steps[2] - steps[1]) - (steps[1] - steps[0]) == (7 - 3) - (3 - 1))
        var limits = ChoosingLimits()
        limits.searchStepsMax = 6
        let cut = choice(13, limits: limits)
        #expect(cut.emptiness == .searchEnded && cut.steps == 6 && !cut.isBest && cut.limit == .searchStepsMax)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import TestSupport
import Testing

/// Random breaks with few candidates, against all their fillings.
@Suite(.suiteLimit)
struct AdChooserPropertyTests {
    @Test(arguments: UInt64(1)...6)
    func `the choice is the best of all fillings`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<150 {
            let sample = ChoosingSample.random(using: &generator)
            let choice = AdChooser(rules: sample.rules).choose(from: sample.candidates, for: sample.occasion)
            #expect(choice.isBest)
            let found = Filling(sample, choice)
            let best = Filling.best(of: sample)
            #expect(found == best, "seed \(seed), round \(round): \(sample)")
        }
    }

    @Test(arguments: UInt64(11)...14)
    func `every choice keeps the rules, and each candidate has a reason`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<150 {
            let sample = ChoosingSample.random(candidates: 40, using: &generator)
            let choice = AdChooser(rules: sample.rules).choose(from: sample.candidates, for: sample.occasion)
            let comment: Comment = "seed \(seed), round \(round)"
            #expect(choice.decisions.count == sample.candidates.count, comment)
            for (index, decision) in choice.decisions.enumerated() {
                let places = choice.places.indices.filter { choice.places[$0].candidate == index }.map { $0 + 1 }
                if case .taken(let told) = decision {
                    #expect(told == places && !told.isEmpty, comment)
                } else {
                    #expect(places.isEmpty, comment)
                }
            }
            guard !choice.places.isEmpty else {
                #expect(choice.emptiness != nil, comment)
                continue
            }
            #expect(sample.faults(of: choice).isEmpty, comment)
        }
    }

    @Test func `the order of candidates matters to locks only`() {
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<100 {
            var sample = ChoosingSample.random(candidates: 30, using: &generator)
            for index in sample.candidates.indices { sample.candidates[index].lock = "" }
            let chooser = AdChooser(rules: sample.rules)
            let first = chooser.choose(from: sample.candidates, for: sample.occasion)
            let shuffled = sample.candidates.shuffled(using: &generator)
            let second = chooser.choose(from: shuffled, for: sample.occasion)
            #expect(
                first.places.map { sample.candidates[$0.candidate].id }
                    == second.places.map { shuffled[$0.candidate].id }
            )
        }
    }

    @Test func `a cut search keeps the rules and says that it was cut`() {
        var generator = SeededGenerator(seed: 31)
        var cuts = 0
        for _ in 0..<200 {
            let sample = ChoosingSample.random(candidates: 40, using: &generator)
            var limits = ChoosingLimits()
            limits.searchStepsMax = 4
            let cut = AdChooser(rules: sample.rules, limits: limits)
                .choose(from: sample.candidates, for: sample.occasion)
            let whole = AdChooser(rules: sample.rules).choose(from: sample.candidates, for: sample.occasion)
            if cut.isBest {
                #expect(cut.places == whole.places)
            } else {
                cuts += 1
                #expect(cut.steps >= 2)
            }
            if !cut.places.isEmpty { #expect(sample.faults(of: cut).isEmpty) }
        }
        #expect(cuts > 20)
    }

    @Test func `the sums that do not fit change nothing but the way there`() {
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<200 {
            let sample = ChoosingSample.random(candidates: 12, using: &generator)
            let whole = AdChooser(rules: sample.rules).choose(from: sample.candidates, for: sample.occasion)
            for words in [0, 1, 3, 8] {
                var limits = ChoosingLimits()
                limits.sumWordsMax = words
                limits.searchStepsMax = 1_000_000
                let other = AdChooser(rules: sample.rules, limits: limits)
                    .choose(from: sample.candidates, for: sample.occasion)
                #expect(other.places == whole.places)
            }
        }
    }
}

/// A break with candidates and rules.
struct ChoosingSample: CustomStringConvertible {
    var candidates: [AdCandidate]
    var rules: ChoosingRules
    var occasion: ChoosingOccasion

    var description: String { "\(self.candidates)\n\(self.rules)\n\(self.occasion)" }

    static func random(candidates count: Int = 7, using generator: inout SeededGenerator) -> ChoosingSample {
        let now: Int64 = 1_780_000_000_000
        let isFine = Bool.random(using: &generator)
        var candidates: [AdCandidate] = []
        for index in 0..<Int.random(in: 1...count, using: &generator) {
            let duration =
                isFine ? Int.random(in: 1...60, using: &generator) : Int.random(in: 1...6, using: &generator) * 10
            var candidate = AdCandidate(id: "ad\(index)", durationMilliseconds: duration)
            candidate.priority = Int.random(in: 1...3, using: &generator)
            candidate.weight = Int.random(in: 1...5, using: &generator)
            candidate.advertiser = ["", "A", "a", "B", "C"].randomElement(using: &generator) ?? ""
            candidate.categories = ["IAB1", "IAB1-1", "IAB1-2", "IAB2", "IAB12"].shuffled(using: &generator)
                .suffix(Int.random(in: 0...1, using: &generator) * Int.random(in: 1...2, using: &generator))
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: candidate.role = .opener
            case 1: candidate.role = .closer
            case 2, 3: candidate.role = .jingle
            case 4, 5: candidate.timesMax = 2
            case 6, 7, 8:
                candidate.lock = ["x", "y"].randomElement(using: &generator) ?? ""
                candidate.priority = 2
            case 9: candidate.from = now + Int64.random(in: -1...1, using: &generator)
            case 10: candidate.until = now + Int64.random(in: -1...1, using: &generator)
            default: break
            }
            candidates.append(candidate)
        }
        var rules = ChoosingRules(fillMilliseconds: Int.random(in: 1...16, using: &generator) * 10)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: rules.minimumMilliseconds = rules.fillMilliseconds
        case 1: rules.minimumMilliseconds = rules.fillMilliseconds * 2 / 3
        default: break
        }
        rules.adsMax = Int.random(in: 1...8, using: &generator)
        rules.jinglesMax = Int.random(in: 0...2, using: &generator)
        rules.isAdvertiserOnce = Bool.random(using: &generator)
        rules.isCategoryOnce = Bool.random(using: &generator)
        rules.adGapMilliseconds = Int.random(in: 0...2, using: &generator) * 100
        rules.advertiserGapMilliseconds = Int.random(in: 0...1, using: &generator) * 100
        rules.categoryGapMilliseconds = Int.random(in: 0...1, using: &generator) * 100
        let played = (0..<Int.random(in: 0...2, using: &generator))
            .map { _ in
                PlayedAd(
                    milliseconds: now + Int64.random(in: -250...250, using: &generator),
                    id: "ad\(Int.random(in: 0..<count, using: &generator))",
                    advertiser: ["", "B"].randomElement(using: &generator) ?? "",
                    categories: Bool.random(using: &generator) ? ["IAB2"] : []
                )
            }
        return ChoosingSample(
            candidates: candidates,
            rules: rules,
            occasion: ChoosingOccasion(
                milliseconds: now,
                seed: "radio1/\(UInt64.random(in: 0..<99, using: &generator))",
                played: played
            )
        )
    }

    // MARK: The rules, once more

    func mayPlay(_ index: Int) -> Bool {
        let candidate = self.candidates[index]
        let now = self.occasion.milliseconds
        if let from = candidate.from, now < from { return false }
        if let until = candidate.until, now >= until { return false }
        guard candidate.role == .ad else { return true }
        for played in self.occasion.played {
            let distance = Int(abs(played.milliseconds - now))
            if played.id == candidate.id, distance < self.rules.adGapMilliseconds { return false }
            if candidate.advertiser.lowercased() == played.advertiser.lowercased(), !played.advertiser.isEmpty,
                distance < self.rules.advertiserGapMilliseconds
            {
                return false
            }
            if distance < self.rules.categoryGapMilliseconds, Self.share(candidate.categories, played.categories) {
                return false
            }
        }
        return true
    }

    static func share(_ left: [String], _ right: [String]) -> Bool {
        left.contains { one in
            right.contains { $0 == one || $0.hasPrefix("\(one)-") || one.hasPrefix("\($0)-") }
        }
    }

    func mayBeTogether(_ left: Int, _ right: Int) -> Bool {
        let (one, other) = (self.candidates[left], self.candidates[right])
        if left == right || (!one.lock.isEmpty && one.lock == other.lock) { return true }
        if self.rules.isAdvertiserOnce, !one.advertiser.isEmpty,
            one.advertiser.lowercased() == other.advertiser.lowercased()
        {
            return false
        }
        return !self.rules.isCategoryOnce || !Self.share(one.categories, other.categories)
    }

    /// The rules that a choice breaks.
    func faults(of choice: AdChoice) -> [String] {
        var faults: [String] = []
        let ads = choice.places.map { self.candidates[$0.candidate] }
        let total = ads.reduce(0) { $0 + $1.durationMilliseconds }
        if total != choice.durationMilliseconds { faults.append("duration") }
        if total > self.rules.fillMilliseconds || total < self.rules.minimumMilliseconds { faults.append("filling") }
        if ads.count > self.rules.adsMax { faults.append("adsMax") }
        for (place, ad) in ads.enumerated() {
            let index = choice.places[place].candidate
            if !self.mayPlay(index) { faults.append("\(ad.id) may not play") }
            for other in choice.places where !self.mayBeTogether(index, other.candidate) {
                faults.append("\(ad.id) beside \(self.candidates[other.candidate].id)")
            }
            if choice.places.count(where: { $0.candidate == index }) > ad.timesMax {
                faults.append("\(ad.id) too often")
            }
            switch ad.role {
            case .opener where place > 0: faults.append("opener at \(place)")
            case .closer where place < ads.count - 1: faults.append("closer at \(place)")
            case .jingle:
                if place == 0 || place == ads.count - 1 || ads[place - 1].role != .ad || ads[place + 1].role != .ad {
                    faults.append("jingle at \(place)")
                }
            default: break
            }
            guard !ad.lock.isEmpty else { continue }
            let lock = self.candidates.indices.filter { self.candidates[$0].lock == ad.lock }
            guard let offset = lock.firstIndex(of: index) else { continue }
            let range = place - offset..<place - offset + lock.count
            if range.lowerBound < 0 || range.upperBound > ads.count
                || choice.places[range].map(\.candidate) != lock
            {
                faults.append("lock \(ad.lock)")
            }
        }
        if ads.count(where: { $0.role == .jingle }) > self.rules.jinglesMax { faults.append("jinglesMax") }
        if !ads.contains(where: { $0.role == .ad }) { faults.append("no ad") }
        return faults
    }
}

/// What plays, in no order, and how good that is.
struct Filling: Hashable {
    /// By candidate: how often.
    let times: [Int]

    init?(_ sample: ChoosingSample, _ choice: AdChoice) {
        guard !choice.places.isEmpty else { return nil }
        self.times = sample.candidates.indices.map { index in choice.places.count { $0.candidate == index } }
    }

    private init(times: [Int]) { self.times = times }

    /// The best of all fillings, each of which is looked at.
    static func best(of sample: ChoosingSample) -> Filling? {
        var best: (filling: Filling, rank: [Rank])?
        var times = [Int](repeating: 0, count: sample.candidates.count)
        func visit(_ index: Int) {
            guard index == times.count else {
                for count in 0...(sample.candidates[index].role == .ad ? sample.candidates[index].timesMax : 1) {
                    times[index] = count
                    visit(index + 1)
                }
                times[index] = 0
                return
            }
            let filling = Filling(times: times)
            guard let rank = filling.rank(sample) else { return }
            if best.map({ $0.rank.lexicographicallyPrecedes(rank) }) ?? true { best = (filling, rank) }
        }
        visit(0)
        return best?.filling
    }

    /// A number, or what was drawn.
    typealias Rank = UInt64

    /// How good it is; `nil`: it breaks a rule.
    private func rank(_ sample: ChoosingSample) -> [Rank]? {
        let chosen = self.times.indices.filter { self.times[$0] > 0 }
        let candidates = sample.candidates
        var total = 0
        var count = 0
        var units = 0
        for index in chosen {
            guard sample.mayPlay(index) else { return nil }
            for other in chosen where !sample.mayBeTogether(index, other) { return nil }
            let candidate = candidates[index]
            total += self.times[index] * candidate.durationMilliseconds
            count += self.times[index]
            guard candidate.role == .ad else { continue }
            let lock =
                candidate.lock.isEmpty ? [index] : candidates.indices.filter { candidates[$0].lock == candidate.lock }
            guard lock.allSatisfy({ self.times[$0] > 0 }) else { return nil }
            if lock[0] == index { units += self.times[index] }
        }
        let jingles = chosen.filter { candidates[$0].role == .jingle }
        let openers = chosen.filter { candidates[$0].role == .opener }
        let closers = chosen.filter { candidates[$0].role == .closer }
        guard units > 0, openers.count <= 1, closers.count <= 1, total <= sample.rules.fillMilliseconds,
            total >= sample.rules.minimumMilliseconds, count <= sample.rules.adsMax,
            jingles.count <= min(sample.rules.jinglesMax, units - 1)
        else { return nil }
        let draw = ChoosingDraw(seed: sample.occasion.seed)
        func order(_ role: AdCandidate.Role) -> [[UInt64]] {
            var all: [[UInt64]] = []
            for (index, candidate) in candidates.enumerated() where candidate.role == role {
                let isLater =
                    !candidate.lock.isEmpty
                    && candidates.firstIndex { $0.lock == candidate.lock } != index
                guard !isLater else { continue }
                for time in 1...(role == .ad ? candidate.timesMax : 1) {
                    let drawn = draw.draw(candidate.id, time: time, weight: candidate.weight)
                    all.append([UInt64(candidate.priority), UInt64(time), ~drawn, UInt64(index)])
                }
            }
            return all.sorted { $0.lexicographicallyPrecedes($1) }
        }
        // A one for each that plays: the set with the first difference in its favour is the greater one.
        func membership(_ role: AdCandidate.Role) -> [UInt64] {
            order(role).map { self.times[Int($0[3])] >= Int($0[1]) ? 1 : 0 }
        }
        let lasting = (1...3)
            .map { priority in
                UInt64(
                    chosen.filter { candidates[$0].role == .ad && candidates[$0].priority == priority }
                        .reduce(0) { $0 + self.times[$1] * candidates[$1].durationMilliseconds }
                )
            }
        let jingleTime = UInt64(jingles.reduce(0) { $0 + candidates[$1].durationMilliseconds })
        return membership(.opener) + membership(.closer) + lasting + membership(.ad) + [jingleTime]
            + membership(.jingle)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Chooses the ads of a break from candidates, by rules, and says of each candidate why it was taken or left.
///
/// It is pure: the same values give the same choice. The best choice is the first one by these, one after the other:
///
/// 1. It has an opener, the one of the highest priority, drawn first among equals; then the same for the closer. Only pairs count with
///    which at least one ad plays, and with which the break lasts as long as it must.
/// 2. The ads of priority 1 last longest together, then those of priority 2, and so on.
/// 3. Among equals it has the ad that goes first: by priority, then by the draw. If both have it, the next one counts, and so on. An
///    ad's second time in the break goes behind all first times of its priority.
/// 4. With these ads, its jingles last longest, and then go first by the same order.
///
/// Choosing is hard in general: ads that exclude each other make it a problem for which no quick way is known. The search is bounded by
/// ``ChoosingLimits/searchStepsMax`` and ``ChoosingLimits/framesMax``; ``AdChoice/limit`` says whether it came to its end.
package struct AdChooser: Sendable {
    package let rules: ChoosingRules
    package let limits: ChoosingLimits

    package init(rules: ChoosingRules, limits: ChoosingLimits = ChoosingLimits()) {
        self.rules = rules
        self.limits = limits
    }

    /// Chooses.
    ///
    /// - Parameters:
    ///   - candidates: at most ``ChoosingLimits/candidatesMax``, each with its own id; ads of one lock have the role `ad`, one priority,
    ///     and play once.
    ///   - occasion: the break.
    /// - Returns: the choice, with a decision for each candidate.
    package func choose(from candidates: [AdCandidate], for occasion: ChoosingOccasion) -> AdChoice {
        precondition(candidates.count <= self.limits.candidatesMax, "more candidates than candidatesMax")
        var candidates = candidates
        for index in candidates.indices { candidates[index].advertiser = Self.key(candidates[index].advertiser) }
        var reasons = self.reasonsBefore(candidates, occasion)
        let allowed = candidates.indices.filter { reasons[$0] == nil }
        var units = ChoosingUnit.units(
            of: candidates,
            allowed: allowed,
            longest: self.rules.fillMilliseconds,
            seed: occasion.seed
        )
        units.sort {
            let (left, right) = (Self.rank($0.role), Self.rank($1.role))
            return left != right ? left < right : $0.precedes($1)
        }
        let conflicts = UnitConflicts(units, of: candidates, self.rules)
        let problem = FillingProblem(units, conflicts, self.rules, self.limits)
        var choice = AdChoice()
        let chosen = self.search(problem, &choice)
        let played = chosen.map { PlayOrder(units: units, $0) }
        choice.places = (played?.order ?? [])
            .flatMap { index in
                units[index].members.map { AdChoice.Place(candidate: $0, time: units[index].time) }
            }
        choice.durationMilliseconds = choice.places.reduce(0) { $0 + candidates[$1.candidate].durationMilliseconds }
        if chosen == nil {
            choice.emptiness = problem.adCount == 0 ? .noCandidate : choice.isBest ? .noFilling : .searchEnded
        }
        let explanation = ChoiceExplanation(
            candidates: candidates,
            units: units,
            problem: problem,
            chosen: played?.order,
            choice: choice
        )
        for index in candidates.indices where reasons[index] == nil { reasons[index] = explanation.reason(of: index) }
        choice.decisions = candidates.indices.map { index in
            let places = choice.places.indices.filter { choice.places[$0].candidate == index }.map { $0 + 1 }
            guard places.isEmpty else { return .taken(places: places) }
            return .left(reasons[index] ?? .notSearched)
        }
        return choice
    }

    /// An advertiser's name as it is compared.
    package static func key(_ name: String) -> String { name.lowercased() }

    /// Ads first, as the search wants them.
    private static func rank(_ role: AdCandidate.Role) -> Int {
        switch role {
        case .ad: 0
        case .jingle: 1
        case .opener: 2
        case .closer: 3
        }
    }

    // MARK: Rules for one candidate

    private func reasonsBefore(_ candidates: [AdCandidate], _ occasion: ChoosingOccasion) -> [AdChoice.LeftReason?] {
        let others = PlayedIndex(occasion, self.rules)
        let local = occasion.milliseconds + occasion.offsetMilliseconds
        let days = local.dividedDown(by: 86_400_000)
        // 1970-01-01 was a Thursday.
        let weekday = Int((days + 3).remainderUp(of: 7))
        let time = Int(local - days * 86_400_000)
        var lengths: [String: Int] = [:]
        for each in candidates where !each.lock.isEmpty { lengths[each.lock, default: 0] += each.durationMilliseconds }
        var reasons = candidates.map { candidate -> AdChoice.LeftReason? in
            if let from = candidate.from, occasion.milliseconds < from { return .notYet(from: from) }
            if let until = candidate.until, occasion.milliseconds >= until { return .expired(until: until) }
            if !candidate.dayparts.isEmpty,
                !candidate.dayparts.contains(where: { $0.contains(weekday: weekday, millisecond: time) })
            {
                return .outsideDayparts
            }
            if lengths[candidate.lock] ?? candidate.durationMilliseconds > self.rules.fillMilliseconds {
                return .longerThanBreak
            }
            return others.reason(against: candidate)
        }
        var missing: [String: Int] = [:]
        for (index, candidate) in candidates.enumerated() where !candidate.lock.isEmpty && reasons[index] != nil {
            missing[candidate.lock] = missing[candidate.lock] ?? index
        }
        for (index, candidate) in candidates.enumerated() where reasons[index] == nil {
            if let other = missing[candidate.lock] { reasons[index] = .lockPartnerLeft(other: candidates[other].id) }
        }
        return reasons
    }

    // MARK: Opener and closer

    /// The units of the best choice; `nil`: there is none.
    private func search(_ problem: FillingProblem, _ choice: inout AdChoice) -> [Int]? {
        let openers = problem.units.indices.filter { problem.units[$0].role == .opener }.map { Optional($0) } + [nil]
        let closers = problem.units.indices.filter { problem.units[$0].role == .closer }.map { Optional($0) } + [nil]
        guard problem.adCount > 0 else { return nil }
        /// The frames that have failed, by the time that they leave and the units that they exclude.
        var failed: Set<[UInt64]> = []
        for opener in openers {
            for closer in closers {
                if let opener, let closer, problem.conflicts.exclude(opener, closer) { continue }
                let frame = [opener, closer].compactMap { $0 }
                let left = choice.steps < self.limits.searchStepsMax ? self.limits.searchStepsMax - choice.steps : 0
                let key = self.key(of: frame, problem)
                guard !failed.contains(key) else { continue }
                guard failed.count < self.limits.framesMax else {
                    choice.limit = .framesMax
                    return nil
                }
                var search = FillingSearch(problem, frame: frame, stepsMax: left)
                let found = search.run()
                choice.steps += search.steps
                if search.isCut { choice.limit = .searchStepsMax }
                if let found { return (opener.map { [$0] } ?? []) + found + (closer.map { [$0] } ?? []) }
                failed.insert(key)
            }
        }
        return nil
    }

    private func key(of frame: [Int], _ problem: FillingProblem) -> [UInt64] {
        let words = problem.conflicts.words
        var key = [UInt64](repeating: 0, count: words)
        for unit in frame {
            for word in 0..<words { key[word] |= problem.conflicts.rows[unit * words + word] }
        }
        let length = frame.reduce(0) { $0 + problem.units[$1].durationMilliseconds }
        return key + [UInt64(length), UInt64(frame.count)]
    }
}

/// The ads of other breaks that are too near for some rule.
private struct PlayedIndex {
    private let occasion: ChoosingOccasion
    private let rules: ChoosingRules
    private let near: [PlayedAd]

    init(_ occasion: ChoosingOccasion, _ rules: ChoosingRules) {
        self.occasion = occasion
        self.rules = rules
        let longest = max(
            rules.adGapMilliseconds,
            rules.advertiserGapMilliseconds,
            rules.categoryGapMilliseconds
        )
        self.near = occasion.played
            .filter { Self.distance($0, occasion) < longest }
            .map { played in
                var played = played
                played.advertiser = AdChooser.key(played.advertiser)
                return played
            }
            .sorted { Self.distance($0, occasion) < Self.distance($1, occasion) }
    }

    private static func distance(_ played: PlayedAd, _ occasion: ChoosingOccasion) -> Int64 {
        abs(played.milliseconds - occasion.milliseconds)
    }

    private func isNear(_ played: PlayedAd, _ gap: Int) -> Bool { Self.distance(played, self.occasion) < Int64(gap) }

    /// The rule that keeps a candidate away from the nearest ad for which one does.
    func reason(against candidate: AdCandidate) -> AdChoice.LeftReason? {
        // What frames a break plays in each.
        guard candidate.role == .ad else { return nil }
        for played in self.near {
            if played.id == candidate.id, self.isNear(played, self.rules.adGapMilliseconds) {
                return .adTooSoon(milliseconds: played.milliseconds)
            }
            if !candidate.advertiser.isEmpty, played.advertiser == candidate.advertiser,
                self.isNear(played, self.rules.advertiserGapMilliseconds)
            {
                return .advertiserTooSoon(other: played.id, milliseconds: played.milliseconds)
            }
            guard self.isNear(played, self.rules.categoryGapMilliseconds) else { continue }
            for code in candidate.categories
            where played.categories.contains(where: { ChoosingRules.overlap($0, code) }) {
                return .categoryTooSoon(code: code, other: played.id, milliseconds: played.milliseconds)
            }
        }
        return nil
    }
}

extension Int64 {
    fileprivate func dividedDown(by divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : (self - divisor + 1) / divisor
    }

    fileprivate func remainderUp(of divisor: Int64) -> Int64 { ((self % divisor) + divisor) % divisor }
}

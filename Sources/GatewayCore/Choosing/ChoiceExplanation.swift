// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The order in which chosen units play.
struct PlayOrder {
    /// The units, first to last.
    let order: [Int]

    /// - Parameters:
    ///   - units: all units.
    ///   - chosen: the opener if there is one, the ads in their order, the jingles, the closer if there is one.
    init(units: [ChoosingUnit], _ chosen: [Int]) {
        var ads = chosen.filter { units[$0].role == .ad }
        // An ad is not followed by itself where another one can be between.
        for place in ads.indices.dropFirst() where units[ads[place]].members == units[ads[place - 1]].members {
            guard let other = ads[place...].firstIndex(where: { units[$0].members != units[ads[place]].members })
            else { break }
            ads.insert(ads.remove(at: other), at: place)
        }
        let jingles = chosen.filter { units[$0].role == .jingle }
        var order = chosen.filter { units[$0].role == .opener }
        var next = 0
        for (place, ad) in ads.enumerated() {
            // As even as can be: so many ads go before each jingle.
            while next < jingles.count, place > 0, place == (next + 1) * ads.count / (jingles.count + 1) {
                order.append(jingles[next])
                next += 1
            }
            order.append(ad)
        }
        order += chosen.filter { units[$0].role == .closer }
        self.order = order
    }
}

/// Says why a candidate was left that may play.
struct ChoiceExplanation {
    let candidates: [AdCandidate]
    let units: [ChoosingUnit]
    let problem: FillingProblem
    /// The units that play; `nil`: none do.
    let chosen: [Int]?
    let choice: AdChoice
    /// The first unit of each candidate.
    private let firstUnits: [Int: Int]

    init(
        candidates: [AdCandidate],
        units: [ChoosingUnit],
        problem: FillingProblem,
        chosen: [Int]?,
        choice: AdChoice
    ) {
        self.candidates = candidates
        self.units = units
        self.problem = problem
        self.chosen = chosen
        self.choice = choice
        var first: [Int: Int] = [:]
        for (index, unit) in units.enumerated() {
            for member in unit.members where first[member] == nil { first[member] = index }
        }
        self.firstUnits = first
    }

    func reason(of candidate: Int) -> AdChoice.LeftReason? {
        guard let index = self.firstUnits[candidate] else { return .longerThanBreak }
        guard let chosen = self.chosen else { return self.choice.isBest ? .noFilling : .notSearched }
        guard !chosen.contains(index) else { return nil }
        let unit = self.units[index]
        let room = self.problem.rules.fillMilliseconds - self.choice.durationMilliseconds
        if let other = chosen.first(where: { self.units[$0].role == unit.role }) {
            let id = self.candidates[self.units[other].members[0]].id
            if unit.role == .opener { return .otherOpener(other: id) }
            if unit.role == .closer { return .otherCloser(other: id) }
        }
        for other in chosen where self.problem.conflicts.exclude(index, other) {
            if let reason = self.conflict(unit, self.units[other]) { return reason }
        }
        if self.choice.places.count + unit.members.count > self.problem.rules.adsMax { return .adsFull }
        if unit.role == .jingle {
            let ads = chosen.count { self.units[$0].role == .ad }
            let jingles = chosen.count { self.units[$0].role == .jingle }
            if jingles >= min(self.problem.rules.jinglesMax, ads - 1) { return .jinglesFull }
        }
        guard unit.durationMilliseconds > room else {
            // It fits: only a search that was cut leaves it, or a least duration that an opener or closer stood against.
            return self.choice.isBest ? .noRoom(roomMilliseconds: room) : .notSearched
        }
        let lowest = chosen.map { self.units[$0] }.filter { $0.role == .ad }.map(\.priority).max() ?? 0
        return unit.role == .ad && unit.priority > lowest
            ? .lowerPriority(roomMilliseconds: room) : .noRoom(roomMilliseconds: room)
    }

    private func conflict(_ unit: ChoosingUnit, _ other: ChoosingUnit) -> AdChoice.LeftReason? {
        for mine in unit.members.map({ self.candidates[$0] }) {
            for their in other.members.map({ self.candidates[$0] }) {
                if self.problem.rules.isAdvertiserOnce, !mine.advertiser.isEmpty, mine.advertiser == their.advertiser {
                    return .sameAdvertiser(other: their.id)
                }
                guard self.problem.rules.isCategoryOnce else { continue }
                for code in mine.categories
                where their.categories.contains(where: { ChoosingRules.overlap($0, code) }) {
                    return .sameCategory(code: code, other: their.id)
                }
            }
        }
        return nil
    }
}

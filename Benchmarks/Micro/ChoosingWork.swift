// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// A break of three minutes and the five hundred candidates that it is filled from, with every rule in use.
struct ChoosingWork {
    static let fillMilliseconds = 180_000
    private static let candidateCount = 500
    private static let advertiserCount = 60
    private static let categoryCount = 26
    private static let hour: Int64 = 3_600_000
    /// 2027-01-15 08:00 UTC, a Friday.
    private static let start: Int64 = 1_799_999_999_000 / 3_600_000 * 3_600_000

    let candidates: [AdCandidate]
    private let played: [PlayedAd]

    init() {
        let candidates = (0..<Self.candidateCount).map(Self.candidate)
        self.candidates = candidates
        self.played = (0..<200)
            .map { index in
                let candidate = candidates[index * 7 % Self.candidateCount]
                return PlayedAd(
                    milliseconds: Self.start - Int64(index + 1) * Self.hour / 10,
                    id: candidate.id,
                    advertiser: candidate.advertiser,
                    categories: candidate.categories
                )
            }
    }

    private static func candidate(_ index: Int) -> AdCandidate {
        // Most are of a usual length; some are as long as their recording.
        let length = index % 5 == 0 ? 10_000 + index * 37 % 50_000 : [10, 15, 20, 30, 45, 60][index % 6] * 1_000
        var candidate = AdCandidate(id: "spot-\(index)", durationMilliseconds: length)
        switch index % 50 {
        case 0: candidate.role = .opener
        case 1: candidate.role = .closer
        case 2, 3: candidate.role = .jingle
        default: break
        }
        if candidate.role != .ad { candidate.durationMilliseconds = (3 + index % 4) * 1_000 }
        candidate.priority = 1 + index % 3
        candidate.weight = 1 + index % 10
        candidate.advertiser = "advertiser \(index * 31 % Self.advertiserCount)"
        candidate.categories = ["IAB\(1 + index * 17 % Self.categoryCount)-\(1 + index % 4)"]
        if index % 11 == 0 { candidate.until = Self.start - Self.hour }
        if index % 13 == 0 { candidate.from = Self.start + Self.hour }
        if index % 7 == 0 {
            candidate.dayparts = [Daypart(weekdays: [0, 1, 2, 3, 4], fromMinute: 360, untilMinute: 600)]
        }
        if index % 17 == 0 { candidate.dayparts = [Daypart(weekdays: [5, 6], fromMinute: 0, untilMinute: 1_440)] }
        if index % 50 == 7 || index % 50 == 8 {
            (candidate.lock, candidate.priority) = ("pair \(index / 50)", 2)
        } else if index % 19 == 0 {
            candidate.timesMax = 2
        }
        return candidate
    }

    /// Chooses so many times, with another draw each time.
    ///
    /// It says how often the search ended before it knew the best filling.
    ///
    /// - Parameters:
    ///   - count: how many times.
    ///   - isExact: whether the break must be filled to the millisecond.
    func choose(_ count: Int, isExact: Bool) {
        var rules = ChoosingRules(fillMilliseconds: Self.fillMilliseconds)
        if isExact { rules.minimumMilliseconds = Self.fillMilliseconds }
        rules.adGapMilliseconds = Int(2 * Self.hour)
        rules.advertiserGapMilliseconds = Int(Self.hour)
        rules.categoryGapMilliseconds = Int(Self.hour / 4)
        let chooser = AdChooser(rules: rules)
        var (ended, empty) = (0, 0)
        for index in 0..<count {
            let occasion = ChoosingOccasion(milliseconds: Self.start, seed: "draw \(index)", played: self.played)
            let choice = chooser.choose(from: self.candidates, for: occasion)
            if !choice.isBest { ended += 1 }
            if choice.places.isEmpty { empty += 1 }
            precondition(!choice.places.isEmpty || !choice.isBest, "there is a filling")
            precondition(choice.durationMilliseconds <= Self.fillMilliseconds, "it is no longer than the break")
            precondition(
                !isExact || choice.places.isEmpty || choice.durationMilliseconds == Self.fillMilliseconds,
                "it is filled exactly"
            )
        }
        print("of \(count) choices the search ended early in \(ended), and \(empty) are without a filling")
    }
}

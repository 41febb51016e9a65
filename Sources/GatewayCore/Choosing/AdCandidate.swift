// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An ad that may be chosen for a break, with all that the rules look at.
package struct AdCandidate: Hashable, Sendable {
    /// The part of a break that an ad is made for.
    package enum Role: String, Hashable, Sendable, CaseIterable {
        /// It plays anywhere between opener and closer.
        case ad
        /// It plays first; a break has at most one.
        case opener
        /// It plays last; a break has at most one.
        case closer
        /// It plays between two ads.
        case jingle
    }

    /// Priorities; 1 goes first.
    package static let priorities = 1...9
    /// Weights: how many lots an ad has in the draw.
    package static let weights = 1...100
    /// How often an ad may be in one break.
    package static let times = 1...8

    /// The key of the ad, unique among the candidates.
    package var id: String
    /// How long it plays, in milliseconds; at least 1.
    package var durationMilliseconds: Int
    package var role: Role = .ad
    package var priority = 5
    package var weight = 1
    /// Compared without regard to case; empty: none.
    package var advertiser = ""
    /// Codes of the IAB's taxonomy, such as `IAB2-3`, which is a part of `IAB2`.
    package var categories: [String] = []
    /// From when on it may play, in milliseconds since 1970; nil: always.
    package var from: Int64?
    /// When it may play no more, in milliseconds since 1970; nil: never.
    package var until: Int64?
    /// At which times of a week it may play; empty: at all.
    package var dayparts: [Daypart] = []
    /// Ads of one lock play one after the other, in the order of the candidates, or none of them does; empty: none.
    package var lock = ""
    /// How often it may be in one break.
    package var timesMax = 1

    package init(id: String, durationMilliseconds: Int) {
        self.id = id
        self.durationMilliseconds = durationMilliseconds
    }
}

/// A part of a day, on some days of the week, by the clocks of a place.
package struct Daypart: Hashable, Sendable {
    /// The days on which it begins; 0 is Monday.
    package var weekdays: Set<Int>
    /// When it begins, in minutes from midnight: 0 to 1,439.
    package var fromMinute: Int
    /// When it is over, in minutes from midnight: up to 1,440; below or at `fromMinute`: on the next day.
    package var untilMinute: Int

    package init(weekdays: Set<Int>, fromMinute: Int, untilMinute: Int) {
        self.weekdays = weekdays
        self.fromMinute = fromMinute
        self.untilMinute = untilMinute
    }

    /// Whether a time of the week is in it.
    ///
    /// - Parameters:
    ///   - weekday: the day; 0 is Monday.
    ///   - millisecond: the time of the day.
    /// - Returns: whether it is.
    package func contains(weekday: Int, millisecond: Int) -> Bool {
        let (from, until) = (self.fromMinute * 60_000, self.untilMinute * 60_000)
        if from < until { return self.weekdays.contains(weekday) && millisecond >= from && millisecond < until }
        return self.weekdays.contains(weekday) && millisecond >= from
            || self.weekdays.contains((weekday + 6) % 7) && millisecond < until
    }
}

/// An ad that another break of the stream has.
package struct PlayedAd: Hashable, Sendable {
    /// When its break starts or started, in milliseconds since 1970.
    package var milliseconds: Int64
    package var id: String
    /// Empty: it is not known.
    package var advertiser: String
    package var categories: [String]

    package init(milliseconds: Int64, id: String, advertiser: String = "", categories: [String] = []) {
        self.milliseconds = milliseconds
        self.id = id
        self.advertiser = advertiser
        self.categories = categories
    }
}

/// The rules by which the ads of a break are chosen.
package struct ChoosingRules: Hashable, Sendable {
    /// The most that the ads may last together, in milliseconds.
    package var fillMilliseconds: Int
    /// The least that they must last together, in milliseconds; as much as `fillMilliseconds`: exactly that.
    package var minimumMilliseconds = 0
    /// The most ads of a break, opener, closer and jingles among them.
    package var adsMax = 64
    /// The most jingles of a break.
    package var jinglesMax = 1
    /// Whether a break has one ad of an advertiser at most.
    package var isAdvertiserOnce = true
    /// Whether a break has one ad of a category at most.
    package var isCategoryOnce = true
    /// How far from each other the starts of two breaks with the same ad must be, in milliseconds; 0: it does not matter.
    package var adGapMilliseconds = 0
    /// The same for two ads of an advertiser.
    package var advertiserGapMilliseconds = 0
    /// The same for two ads of a category.
    package var categoryGapMilliseconds = 0

    package init(fillMilliseconds: Int) { self.fillMilliseconds = fillMilliseconds }

    /// Whether one code is the other, or a part of it: `IAB2-3` is a part of `IAB2`.
    package static func overlap(_ left: String, _ right: String) -> Bool {
        let (left, right) = left.utf8.count < right.utf8.count ? (left.utf8, right.utf8) : (right.utf8, left.utf8)
        guard right.starts(with: left) else { return false }
        return right.count == left.count || right.dropFirst(left.count).first == UInt8(ascii: "-")
    }
}

/// For which break ads are chosen.
package struct ChoosingOccasion: Hashable, Sendable {
    /// When it starts, in milliseconds since 1970.
    package var milliseconds: Int64
    /// By how much local clocks are ahead of UTC then, in milliseconds.
    package var offsetMilliseconds: Int64
    /// The seed of the draw: the same one gives the same draw.
    package var seed: String
    /// The ads of other breaks of the stream.
    package var played: [PlayedAd]

    package init(milliseconds: Int64, offsetMilliseconds: Int64 = 0, seed: String, played: [PlayedAd] = []) {
        self.milliseconds = milliseconds
        self.offsetMilliseconds = offsetMilliseconds
        self.seed = seed
        self.played = played
    }
}

/// The bounds of choosing.
package struct ChoosingLimits: Hashable, Sendable {
    /// The most candidates (1,000).
    package var candidatesMax = 1_000
    /// The most steps of the search for the best filling (20,000).
    ///
    /// Past it the best filling so far stands.
    package var searchStepsMax = 20_000
    /// The most pairs of an opener and a closer for which a filling is searched (20,000).
    ///
    /// A pair without any hope takes no steps, but some time.
    package var framesMax = 20_000
    /// The most words of 8 bytes for the sums that candidates can make (131,072, which are 1 MiB).
    ///
    /// It is for the ads of each priority, for the jingles, and for all. With fewer words the search knows fewer sums, and takes more steps.
    package var sumWordsMax = 131_072

    package init() {}
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The ads that were chosen for a break, and what became of each candidate.
package struct AdChoice: Hashable, Sendable {
    /// One place in the break.
    package struct Place: Hashable, Sendable {
        /// Which candidate plays, by its place among them.
        package let candidate: Int
        /// The how many-th time it plays in this break, counted from 1.
        package let time: Int
    }

    /// The fate of a candidate.
    package enum Decision: Hashable, Sendable {
        /// It plays at these places, counted from 1.
        case taken(places: [Int])
        case left(LeftReason)
    }

    /// Why a candidate was left.
    package enum LeftReason: Hashable, Sendable {
        /// It may play from this instant on, in milliseconds since 1970.
        case notYet(from: Int64)
        /// It might play until this instant.
        case expired(until: Int64)
        /// It is none of its times of the week.
        case outsideDayparts
        /// It, or its lock, is longer than the whole break.
        case longerThanBreak
        /// Another break has it, too near.
        case adTooSoon(milliseconds: Int64)
        /// Another break has an ad of its advertiser, too near.
        case advertiserTooSoon(other: String, milliseconds: Int64)
        /// Another break has an ad of its category, too near.
        case categoryTooSoon(code: String, other: String, milliseconds: Int64)
        /// An ad of its lock cannot play.
        case lockPartnerLeft(other: String)
        /// This break has another opener.
        case otherOpener(other: String)
        /// This break has another closer.
        case otherCloser(other: String)
        /// An ad of its advertiser is in this break.
        case sameAdvertiser(other: String)
        /// An ad of its category is in this break.
        case sameCategory(code: String, other: String)
        /// The break has as many ads as it may.
        case adsFull
        /// The break has as many jingles as it may, or has no place between two ads.
        case jinglesFull
        /// It is longer than what is left, and all ads that were taken have a higher priority.
        case lowerPriority(roomMilliseconds: Int)
        /// It is longer than what is left; with it the break would be filled worse, or others were drawn before it.
        case noRoom(roomMilliseconds: Int)
        /// No filling lasts as long as it must.
        case noFilling
        /// The search ended before it was tried.
        case notSearched
    }

    /// Why a break has no ads.
    package enum Emptiness: Hashable, Sendable {
        /// No ad of the candidates may play.
        case noCandidate
        /// No filling lasts as long as it must: none was missed.
        case noFilling
        /// The search reached a limit before it found one.
        case searchEnded
    }

    /// A limit that ends a search.
    package enum Limit: String, Hashable, Sendable {
        /// See ``ChoosingLimits/searchStepsMax``.
        case searchStepsMax
        /// See ``ChoosingLimits/framesMax``.
        case framesMax
    }

    /// The ads that play, first to last; empty: none.
    package var places: [Place] = []
    /// Of each candidate, in their order.
    package var decisions: [Decision] = []
    /// How long the chosen ads last together.
    package var durationMilliseconds = 0
    /// The limit at which the search ended; `nil`: it came to its end.
    package var limit: Limit?
    /// Whether no better filling exists; otherwise the search ended at ``limit``.
    package var isBest: Bool { self.limit == nil }
    /// Why there are no ads; nil: there are.
    package var emptiness: Emptiness?
    /// The steps of the search.
    package var steps = 0
}

extension AdChoice.LeftReason {
    /// For programs.
    package var name: String {
        switch self {
        case .notYet: "notYet"
        case .expired: "expired"
        case .outsideDayparts: "outsideDayparts"
        case .longerThanBreak: "longerThanBreak"
        case .adTooSoon: "adTooSoon"
        case .advertiserTooSoon: "advertiserTooSoon"
        case .categoryTooSoon: "categoryTooSoon"
        case .lockPartnerLeft: "lockPartnerLeft"
        case .otherOpener: "otherOpener"
        case .otherCloser: "otherCloser"
        case .sameAdvertiser: "sameAdvertiser"
        case .sameCategory: "sameCategory"
        case .adsFull: "adsFull"
        case .jinglesFull: "jinglesFull"
        case .lowerPriority: "lowerPriority"
        case .noRoom: "noRoom"
        case .noFilling: "noFilling"
        case .notSearched: "notSearched"
        }
    }
}

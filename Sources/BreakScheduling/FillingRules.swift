// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastBroadcast

/// How a break of a schedule gets other ads than those that it is put in with.
package enum BreakFilling: Hashable, Sendable {
    /// It gets none.
    case never
    /// This program fills it, shortly before its announcement.
    case here
    /// Another program does; this one leaves its ads as they are.
    case elsewhere
}

/// Decides when the breaks of a schedule are filled: with the ads of their ad servers, or with chosen ones.
///
/// A break is put in with the ads of a list. At a lead before its announcement it is filled, once, and what is found takes the place of
/// those. The first filling stands: a break that has other ads than the schedule's at that time was filled already.
package struct FillingRules: Hashable, Sendable {
    /// The ads that a break is to have.
    package enum Ads: Hashable, Sendable {
        /// Those of the schedule.
        case scheduled
        /// Those of a filling, unless it has other ones than the schedule's already.
        case due
        /// Those that it has.
        case kept
    }

    /// How long before the announcement breaks are filled, in milliseconds; `nil`: none is.
    package var leadMilliseconds: Int64?
    /// By id at the gateway: the start that a break had when its filling was decided.
    private var decided: [String: Int64] = [:]

    /// Rules.
    ///
    /// - Parameter leadMilliseconds: how long before the announcement breaks are filled; `nil`: none is.
    package init(leadMilliseconds: Int64? = nil) { self.leadMilliseconds = leadMilliseconds }

    /// The ads that a break is to have which the gateway has.
    ///
    /// - Parameters:
    ///   - wanted: the break of the schedule.
    ///   - present: the same at the gateway.
    ///   - now: the gateway's time, in milliseconds since 1970.
    /// - Returns: the rule for its ads at this time.
    package func ads(of wanted: WantedBreak, _ present: PresentBreak, now: Int64) -> Ads {
        if wanted.filling == .never { return .scheduled }
        // Other ads may be those with which another program has filled it. Announced ones stay.
        guard wanted.filling == .here, let lead = self.leadMilliseconds, present.state == .scheduled else {
            return .kept
        }
        // A break that moved is filled anew.
        if let start = self.decided[present.id], start == present.startMilliseconds { return .kept }
        guard let announcement = present.announcementMilliseconds, announcement - lead <= now else { return .scheduled }
        return .due
    }

    /// When a break is to be filled, in milliseconds since 1970; `nil`: not at a time that is known.
    package func time(of wanted: WantedBreak, _ present: PresentBreak) -> Int64? {
        guard wanted.filling == .here, self.ads(of: wanted, present, now: .min) == .scheduled,
            let lead = self.leadMilliseconds
        else { return nil }
        return present.announcementMilliseconds.map { $0 - lead }
    }

    /// Whether a break is not filled yet, and will be: its ads do not stay.
    ///
    /// - Parameter change: the difference between schedule and gateway.
    /// - Returns: whether it waits.
    package func awaits(_ change: ScheduleChange) -> Bool {
        guard let wanted = change.wanted, let present = change.present, wanted.filling == .here,
            !change.isFilledAlready
        else { return false }
        return self.ads(of: wanted, present, now: .min) != .kept
    }

    /// Remembers that the filling of a break is decided.
    package mutating func decide(_ present: PresentBreak) { self.decided[present.id] = present.startMilliseconds ?? 0 }

    /// Forgets the breaks that are not among these.
    package mutating func keep(_ ids: Set<String>) { self.decided = self.decided.filter { ids.contains($0.key) } }
}

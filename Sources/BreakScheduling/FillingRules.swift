// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastBroadcast

/// Decides when the breaks of a schedule get the ads of their ad servers.
///
/// A break is put in with the ads of a list. At a lead before its announcement its ad servers are asked, once, and their ads take the
/// place of those. The first filling stands: a break that has other ads than the schedule's at that time was filled already.
package struct FillingRules: Hashable, Sendable {
    /// The ads that a break is to have.
    package enum Ads: Hashable, Sendable {
        /// Those of the schedule.
        case scheduled
        /// Those of its ad servers, unless it has other ones than the schedule's already.
        case due
        /// Those that it has.
        case kept
    }

    /// How long before the announcement ad servers are asked, in milliseconds; `nil`: they are not asked.
    package var leadMilliseconds: Int64?
    /// By id at the gateway: the start that a break had when its filling was decided.
    private var decided: [String: Int64] = [:]

    /// Rules.
    ///
    /// - Parameter leadMilliseconds: how long before the announcement ad servers are asked; `nil`: they are not asked.
    package init(leadMilliseconds: Int64? = nil) { self.leadMilliseconds = leadMilliseconds }

    /// The ads that a break is to have which the gateway has.
    ///
    /// - Parameters:
    ///   - wanted: the break of the schedule.
    ///   - present: the same at the gateway.
    ///   - now: the gateway's time, in milliseconds since 1970.
    /// - Returns: the rule for its ads at this time.
    package func ads(of wanted: WantedBreak, _ present: PresentBreak, now: Int64) -> Ads {
        guard wanted.hasAdServers else { return .scheduled }
        // Other ads may be those of an ad server, which another program asked. Announced ones stay.
        guard let lead = self.leadMilliseconds, present.state == .scheduled else { return .kept }
        // A break that moved is filled anew.
        if let start = self.decided[present.id], start == present.startMilliseconds { return .kept }
        guard let announcement = present.announcementMilliseconds, announcement - lead <= now else { return .scheduled }
        return .due
    }

    /// When the ad servers of a break are to be asked, in milliseconds since 1970; `nil`: not at a time that is known.
    package func time(of wanted: WantedBreak, _ present: PresentBreak) -> Int64? {
        guard self.ads(of: wanted, present, now: .min) == .scheduled, wanted.hasAdServers,
            let lead = self.leadMilliseconds
        else { return nil }
        return present.announcementMilliseconds.map { $0 - lead }
    }

    /// Remembers that the filling of a break is decided.
    package mutating func decide(_ present: PresentBreak) { self.decided[present.id] = present.startMilliseconds ?? 0 }

    /// Forgets the breaks that are not among these.
    package mutating func keep(_ ids: Set<String>) { self.decided = self.decided.filter { ids.contains($0.key) } }
}

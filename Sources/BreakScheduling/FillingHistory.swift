// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import BreakPlanning
internal import CuecastBroadcast

/// The ads of other breaks in one pass of fillings.
///
/// A source that fails may take half a minute for it, so it is asked once in a pass. The next pass asks again.
package struct PassHistory: Sendable {
    private enum State: Sendable {
        /// It was not asked for yet, or others may have published since.
        case unread
        case known(PlayedHistory)
        /// The pass goes on without it.
        case missing
    }

    private var state = State.unread

    package init() {}

    /// The ads; they are read if they are not known.
    ///
    /// - Parameter source: reads them; `nil`: they are not known now.
    /// - Returns: the ads; `nil`: the pass goes on without them.
    package mutating func ads(from source: () async -> PlayedHistory?) async -> PlayedHistory? {
        switch self.state {
        case .known(let history): return history
        case .missing: return nil
        case .unread:
            let history = await source()
            self.state = history.map { .known($0) } ?? .missing
            return history
        }
    }

    /// Reads the ads again where they are asked for next; where they are missing, they stay so.
    package mutating func expire() {
        if case .known = self.state { self.state = .unread }
    }

    /// Puts the ads of a break in the place of those that are known of it.
    ///
    /// - Parameters:
    ///   - breakID: the break.
    ///   - milliseconds: when it starts, in milliseconds since 1970.
    ///   - ads: the ads of all its variants.
    package mutating func set(_ breakID: String, at milliseconds: Int64, _ ads: BreakAds) {
        guard case .known(var history) = self.state else { return }
        history.set(breakID, at: milliseconds, ads)
        self.state = .known(history)
    }
}

/// The ads that this program gave breaks, which the history may not have.
package struct GivenAds: Sendable {
    private var breaks: [String: (startMilliseconds: Int64, ads: BreakAds)] = [:]

    package init() {}

    /// Remembers the ads of a break.
    ///
    /// - Parameters:
    ///   - ads: the ads of all its variants.
    ///   - breakID: the break's id at the gateway.
    ///   - milliseconds: when it starts, in milliseconds since 1970.
    package mutating func give(_ ads: BreakAds, to breakID: String, at milliseconds: Int64) {
        self.breaks[breakID] = (milliseconds, ads)
    }

    /// Forgets the breaks that the gateway has no more, that do not play, and that start at another time.
    ///
    /// - Parameter changes: the difference between schedule and gateway.
    package mutating func keep(_ changes: [ScheduleChange]) {
        let changes = Dictionary(changes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.breaks = self.breaks.filter { id, given in
            guard let change = changes[id], change.kind != .gone, let present = change.present else { return false }
            switch present.state {
            case .cancelled, .expired: return false
            default: break
            }
            // It moves in this pass.
            if change.kind == .changed, change.differences.contains("start") { return false }
            return present.startMilliseconds.map { abs($0 - given.startMilliseconds) <= 1 } ?? false
        }
    }

    /// The history with the ads of these breaks.
    ///
    /// - Parameters:
    ///   - history: the ads of other breaks.
    ///   - isReport: whether it is the gateway's. The ads that it says of a break are right, but it has no advertisers; another source
    ///     knows nothing of this program.
    /// - Returns: both.
    package func added(to history: PlayedHistory, isReport: Bool) -> PlayedHistory {
        let reported = isReport ? Set(history.entries.compactMap(\.breakID)) : []
        var result = history
        for (id, given) in self.breaks {
            if reported.contains(id) {
                result.complete(id, with: given.ads)
            } else {
                result.set(id, at: given.startMilliseconds, given.ads)
            }
        }
        return result
    }
}

/// The breaks whose ads were to be chosen, and could not be yet.
package struct OwedFillings: Sendable {
    private var ids: Set<String> = []

    package init() {}

    /// A break could not be filled now.
    package mutating func owe(_ id: String) { self.ids.insert(id) }

    /// A break is filled, or stays as it is.
    package mutating func settle(_ id: String) { self.ids.remove(id) }

    /// Forgets the breaks that wait no more.
    ///
    /// - Parameter changes: the difference between schedule and gateway.
    /// - Returns: the ids of the breaks that were announced before they could be filled, in order.
    package mutating func settle(_ changes: [ScheduleChange]) -> [String] {
        let changes = Dictionary(changes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var announced: [String] = []
        for id in self.ids.sorted() {
            let change = changes[id]
            let isOurs = change?.wanted?.filling == .here && change?.isFilledAlready == false
            switch change?.present?.state {
            case .scheduled where isOurs && change?.kind != .gone: continue
            case .announced, .live, .complete: announced.append(id)
            default: break
            }
            self.ids.remove(id)
        }
        return announced
    }
}

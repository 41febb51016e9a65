// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Decides when a group of records closes: by completion, never by a timer.
///
/// An idle gateway appends the first request at once. While an append is under way requests gather, and go together when
/// it completes, or earlier when a whole group has gathered. So the group is as large as the store is slow.
package struct GroupPacer: Hashable, Sendable {
    /// A group this large does not wait for the append before it.
    package let groupRequestsMax: Int
    /// The most appends under way.
    package let groupsInFlightMax: Int
    /// How many appends are under way.
    package private(set) var inFlight = 0

    package init(groupRequestsMax: Int = 1_000, groupsInFlightMax: Int = 4) {
        precondition(groupRequestsMax > 0 && groupsInFlightMax > 0, "the limits of a group are above 0")
        self.groupRequestsMax = groupRequestsMax
        self.groupsInFlightMax = groupsInFlightMax
    }

    /// Whether a group closes now that has gathered so much.
    package func closes(gathered: Int) -> Bool {
        guard gathered > 0 else { return false }
        return self.inFlight == 0
            || (gathered >= self.groupRequestsMax && self.inFlight < self.groupsInFlightMax)
    }

    /// A group was handed to the log.
    package mutating func opened() { self.inFlight += 1 }

    /// The log has answered about one.
    package mutating func completed() {
        precondition(self.inFlight > 0, "more groups were answered than handed over")
        self.inFlight -= 1
    }
}

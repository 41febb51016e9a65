// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The breaks that are over for this listener, so that none is given twice.
struct ClosedBreaks: Sendable {
    /// How many are remembered; of more, the oldest are forgotten.
    static let rememberedMax = 1_024

    /// A break that is over for this listener, and what a batch that still arrives is ignored for.
    struct Break: Hashable, Sendable {
        let id: BreakID
        let reason: IgnoreReason
    }

    private var reasons: [BreakID: IgnoreReason] = [:]
    private var inOrder: [BreakID] = []
    private var news: [Break] = []

    /// The reason for ignoring a batch of the break; `nil`: the break is not over.
    func reason(of id: BreakID) -> IgnoreReason? { self.reasons[id] }

    /// The break is over; of several reasons the last one counts.
    mutating func add(_ id: BreakID, _ reason: IgnoreReason) {
        guard self.reasons.updateValue(reason, forKey: id) == nil else { return }
        self.inOrder.append(id)
        self.news.append(Break(id: id, reason: reason))
        if self.inOrder.count > Self.rememberedMax { self.reasons[self.inOrder.removeFirst()] = nil }
    }

    /// Breaks that an earlier run of the app closed: they are no news.
    mutating func restore(_ breaks: [Break]) {
        for each in breaks { self.add(each.id, each.reason) }
        self.news = []
    }

    /// The breaks that were closed since this was last asked.
    mutating func takeNews() -> [Break] {
        defer { self.news = [] }
        return self.news
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Actions that the core decided on and that are not performed yet.
///
/// One thread at a time performs, in the order of the decisions: the first that adds something, until nothing waits.
struct ActionQueue: Sendable {
    private var waiting: [ListenerCore.Action] = []
    private var isPerforming = false

    /// Adds what was decided.
    ///
    /// - Returns: Whether the caller is to perform what waits.
    mutating func add(_ actions: [ListenerCore.Action]) -> Bool {
        self.waiting += actions
        guard !self.isPerforming, !self.waiting.isEmpty else { return false }
        self.isPerforming = true
        return true
    }

    /// The actions to perform now; if there are none, the caller's work is over.
    mutating func take() -> [ListenerCore.Action] {
        defer { self.waiting = [] }
        if self.waiting.isEmpty { self.isPerforming = false }
        return self.waiting
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Whether a call that is reported as failed had its effect all the same.
package enum FailureEffect: Hashable, Sendable {
    /// It was not even tried.
    case nothingHappened
    /// It was done; only the answer was lost.
    case happened
}

/// Which calls of a store fail.
struct FailurePlan<Call: Hashable & Sendable>: Sendable {
    /// The failures to come, by how many calls of the kind are before them.
    private var planned: [Call: [Int: FailureEffect]] = [:]
    private var always: [Call: FailureEffect] = [:]
    private var counts: [Call: Int] = [:]

    init() {}

    mutating func fail(_ call: Call, at number: Int, _ effect: FailureEffect) {
        self.planned[call, default: [:]][self.counts[call, default: 0] + number] = effect
    }

    mutating func failEvery(_ call: Call, _ effect: FailureEffect) {
        self.always[call] = effect
    }

    mutating func heal() {
        self.planned = [:]
        self.always = [:]
    }

    /// Counts a call.
    ///
    /// - Returns: how it fails; `nil`: it does not.
    mutating func next(_ call: Call) -> FailureEffect? {
        self.counts[call, default: 0] += 1
        return self.planned[call]?.removeValue(forKey: self.counts[call, default: 0]) ?? self.always[call]
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When to load a playlist again (RFC 8216 section 6.3.4).
///
/// After a playlist that changed it is the target duration, after one that did not, half of it. After a failure it is half of it
/// too, then twice as long each time.
struct ReloadSchedule: Hashable, Sendable {
    /// The shortest wait, in milliseconds.
    static let waitMillisecondsMin = 500
    /// The longest wait after failures, in milliseconds, unless the target duration is longer.
    private static let waitMillisecondsMax = 30_000

    /// The target duration that the last playlist had, in milliseconds; before the first one, 6 s.
    private(set) var targetDurationMilliseconds = 6_000
    /// How many loads in a row failed.
    private var failures = 0
    private var isChanged = true
    /// Whether the last playlist had `EXT-X-ENDLIST`.
    private(set) var isEnded = false

    /// A playlist was loaded.
    ///
    /// - Parameters:
    ///   - targetDurationMilliseconds: What it has as target duration.
    ///   - isChanged: Whether it differs from the last one.
    ///   - isEnded: Whether it has `EXT-X-ENDLIST`.
    mutating func loaded(targetDurationMilliseconds: Int, isChanged: Bool, isEnded: Bool) {
        self.targetDurationMilliseconds = targetDurationMilliseconds
        self.isChanged = isChanged
        self.isEnded = isEnded
        self.failures = 0
    }

    /// A playlist could not be loaded, or not be read.
    mutating func failed() { self.failures = min(self.failures + 1, 32) }

    /// How long after the last load began the next one may begin; `nil`: never, the playlist has ended.
    var waitMilliseconds: Int? {
        if self.failures > 0 {
            let first = max(self.targetDurationMilliseconds / 2, Self.waitMillisecondsMin)
            let longest = max(Self.waitMillisecondsMax, self.targetDurationMilliseconds)
            return min(first << (self.failures - 1), longest)
        }
        guard !self.isEnded else { return nil }
        let wait = self.isChanged ? self.targetDurationMilliseconds : self.targetDurationMilliseconds / 2
        return max(wait, Self.waitMillisecondsMin)
    }
}

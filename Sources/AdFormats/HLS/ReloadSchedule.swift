// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When to load a playlist again (RFC 8216 section 6.3.4).
///
/// After a playlist that changed it is the target duration, after one that did not, half of it. After a failure it is half of it
/// too, then twice as long each time.
public struct ReloadSchedule: Hashable, Sendable {
    /// The shortest wait, in milliseconds.
    public static let waitMillisecondsMin = 500
    /// The longest wait after failures, in milliseconds, unless the target duration is longer.
    public static let waitMillisecondsMax = 30_000

    /// The target duration that the last playlist had, in milliseconds; before the first one, 6 s.
    public private(set) var targetDurationMilliseconds = 6_000
    /// How many loads in a row failed.
    public private(set) var failures = 0
    private var isChanged = true
    /// Whether the last playlist had `EXT-X-ENDLIST`.
    public private(set) var isEnded = false

    /// The schedule of a playlist that was not loaded yet.
    public init() {}

    /// A playlist was loaded.
    ///
    /// - Parameters:
    ///   - targetDurationMilliseconds: What it has as target duration.
    ///   - isChanged: Whether it differs from the last one.
    ///   - isEnded: Whether it has `EXT-X-ENDLIST`.
    public mutating func loaded(targetDurationMilliseconds: Int, isChanged: Bool, isEnded: Bool) {
        self.targetDurationMilliseconds = targetDurationMilliseconds
        self.isChanged = isChanged
        self.isEnded = isEnded
        self.failures = 0
    }

    /// A playlist could not be loaded, or not be read.
    public mutating func failed() { self.failures = min(self.failures + 1, 32) }

    /// How long after the last load began the next one may begin; `nil`: never, the playlist has ended.
    public var waitMilliseconds: Int? {
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

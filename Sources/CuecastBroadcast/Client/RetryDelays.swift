// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How long to wait before the next attempt: full jitter, so that clients that failed together do not come back together
/// (Brooker, "Exponential Backoff and Jitter", 2015).
struct RetryDelays: Sendable {
    /// The longest limit that can be asked for.
    static let limitMax: Duration = .seconds(3_600)

    private let longest: Duration
    /// The most that the next wait can be.
    private(set) var limit: Duration

    init(first: Duration, longest: Duration) {
        self.longest = min(max(.zero, longest), Self.limitMax)
        self.limit = min(max(.zero, first), self.longest)
    }

    /// The wait before the next attempt; the limit doubles.
    ///
    /// `least` is what the gateway asked to wait at least; the jitter comes on top.
    mutating func next(
        atLeast least: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let (seconds, attoseconds) = self.limit.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let jitter = Duration.microseconds(Int64.random(in: 0...microseconds, using: &generator))
        self.limit = min(self.limit * 2, self.longest)
        return max(.zero, least) + jitter
    }
}

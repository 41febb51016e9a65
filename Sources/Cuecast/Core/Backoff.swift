// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The source of jitter: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
///
/// It takes a seed, so that a test can repeat what it saw.
struct JitterSource: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        self.state = seed
    }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        return StableHash.mixed(self.state)
    }

    /// A duration from zero to `limit`, every one as likely, in whole microseconds.
    mutating func duration(upTo limit: Duration) -> Duration {
        let (seconds, attoseconds) = limit.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        guard microseconds > 0 else { return .zero }
        return .microseconds(Int64.random(in: 0...microseconds, using: &self))
    }
}

/// How long to wait before the next try: full jitter, so that players that lost a gateway together do not come back together
/// (Brooker, "Exponential Backoff and Jitter", 2015).
///
/// The first wait is anything up to `first`; the limit doubles with each failure up to `longest`.
struct Backoff: Hashable, Sendable {
    let first: Duration
    let longest: Duration
    private(set) var failures = 0

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    init(_ timings: ListenerTimings) {
        self.init(first: timings.retryDelayFirst, longest: timings.retryDelayMax)
    }

    /// The most that the next wait can be.
    var limit: Duration {
        var limit = self.first
        for _ in 0..<min(self.failures, 32) {
            guard limit < self.longest else { break }
            limit *= 2
        }
        return min(limit, self.longest)
    }

    /// Counts one failure and gives the wait before the next try.
    ///
    /// `least` is what the other side asked to wait at least; the jitter comes on top.
    mutating func next(using jitter: inout JitterSource, atLeast least: Duration = .zero) -> Duration {
        let wait = least + jitter.duration(upTo: self.limit)
        self.failures += 1
        return wait
    }

    mutating func reset() {
        self.failures = 0
    }
}

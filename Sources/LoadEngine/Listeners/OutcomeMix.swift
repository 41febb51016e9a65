// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Numbers that look random and are the same again for the same seed (SplitMix64).
package struct SeededSource: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        self.state = seed
    }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        return StableHash.mixed(self.state)
    }

    /// A length of time from zero to `limit`, every one as likely.
    package mutating func microseconds(upTo limit: Microseconds) -> Microseconds {
        limit > 0 ? Microseconds.random(in: 0...limit, using: &self) : 0
    }
}

/// The outcomes of advertisements: shares of played, ignored and failed.
package struct OutcomeMix: Hashable, Sendable {
    package let played: Double
    package let ignored: Double
    package let failed: Double
    private let seed: UInt64

    /// - Returns: `nil` unless all shares are from 0 to 1 and their sum is 1 (but for rounding).
    package init?(played: Double, ignored: Double, failed: Double, seed: UInt64 = 0) {
        let shares = [played, ignored, failed]
        guard shares.allSatisfy({ (0...1).contains($0) }), abs(shares.reduce(0, +) - 1) < 1e-6 else { return nil }
        self.played = played
        self.ignored = ignored
        self.failed = failed
        self.seed = seed
    }

    /// The outcome of one advertisement; always the same, so that a retry repeats it.
    package func outcome(session: SessionID, breakIndex: Int, ordinal: Int) -> Outcome.Kind {
        let where64 = UInt64(truncatingIfNeeded: breakIndex) << 8 | UInt64(truncatingIfNeeded: ordinal)
        let hash = StableHash.mixed(self.seed ^ session.low ^ StableHash.mixed(session.high &+ where64))
        let share = Double(hash >> 11) / Double(1 << 53 as UInt64)
        if share < self.played { return .played }
        return share < self.played + self.ignored ? .ignored : .failed
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Random numbers that a seed repeats.
///
/// The seed comes from `CUECAST_SEED` or is new, and is printed: run again with the printed one to see the same.
struct SeededRandom: RandomNumberGenerator {
    /// What repeats the numbers.
    let seed: UInt64
    private var state: UInt64

    init(for test: String) {
        let given = ProcessInfo.processInfo.environment["CUECAST_SEED"].flatMap { UInt64($0) }
        self.seed = given ?? UInt64.random(in: 0...(.max))
        self.state = self.seed
        print("\(test): CUECAST_SEED=\(self.seed)")
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A hash that is the same in every process, on every platform and in every release.
///
/// FNV-1a with 64 bits (draft-eastlake-fnv), then the finaliser of SplitMix64, because the high bits of FNV alone are
/// poor for short texts. It spreads; it does not protect: nothing secret and no trust depends on it.
package struct StableHash: Sendable {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    /// Adds one part.
    ///
    /// Parts are told apart: ("ab", "c") and ("a", "bc") differ.
    package mutating func add(_ part: some Sequence<UInt8>) {
        for byte in part { self.add(byte) }
        self.endPart()
    }

    /// Adds one byte of a part that `endPart()` closes.
    mutating func add(_ byte: UInt8) {
        self.state = (self.state ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    mutating func endPart() {
        // A byte that UTF-8 never holds.
        self.add(0xFF as UInt8)
    }

    /// The hash of the parts so far.
    package var value: UInt64 { Self.mixed(self.state) }

    package static func hash(_ parts: [some Sequence<UInt8>]) -> UInt64 {
        var hash = StableHash()
        for part in parts { hash.add(part) }
        return hash.value
    }

    /// The finaliser of SplitMix64: every bit of the result depends on every bit of the value.
    package static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

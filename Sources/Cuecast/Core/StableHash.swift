// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A hash that is the same in every process, on every platform and in every release.
///
/// FNV-1a with 64 bits (draft-eastlake-fnv), then the finaliser of SplitMix64, because the high bits of FNV alone are
/// poor for short texts. It spreads; it does not protect: nothing secret and no trust depends on it.
enum StableHash {
    static func hash(_ parts: [some Sequence<UInt8>]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for part in parts {
            for byte in part { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            // A byte that UTF-8 never holds, so that ("ab", "c") and ("a", "bc") differ.
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return self.mixed(hash)
    }

    static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

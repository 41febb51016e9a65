// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// SipHash-2-4 (Aumasson and Bernstein, 2012): a short hash for which collisions cannot be constructed without the key.
package struct SipHash: Hashable, Sendable {
    private let key: (UInt64, UInt64)

    package init(key low: UInt64, _ high: UInt64) {
        self.key = (low, high)
    }

    package static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.key.0)
        hasher.combine(self.key.1)
    }

    /// The hash of some bytes.
    package func callAsFunction(_ bytes: [UInt8]) -> UInt64 {
        var state = State(self.key)
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            word |= UInt64(byte) << UInt64(8 * (index % 8))
            guard index % 8 == 7 else { continue }
            state.take(word)
            word = 0
        }
        state.take(word | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.finish()
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        init(_ key: (UInt64, UInt64)) {
            self.v0 = key.0 ^ 0x736F_6D65_7073_6575
            self.v1 = key.1 ^ 0x646F_7261_6E64_6F6D
            self.v2 = key.0 ^ 0x6C79_6765_6E65_7261
            self.v3 = key.1 ^ 0x7465_6462_7974_6573
        }

        mutating func take(_ word: UInt64) {
            self.v3 ^= word
            self.round()
            self.round()
            self.v0 ^= word
        }

        mutating func finish() -> UInt64 {
            self.v2 ^= 0xFF
            for _ in 0..<4 { self.round() }
            return self.v0 ^ self.v1 ^ self.v2 ^ self.v3
        }

        private mutating func round() {
            self.v0 &+= self.v1
            self.v2 &+= self.v3
            self.v1 = self.v1 << 13 | self.v1 >> 51
            self.v3 = self.v3 << 16 | self.v3 >> 48
            self.v1 ^= self.v0
            self.v3 ^= self.v2
            self.v0 = self.v0 << 32 | self.v0 >> 32
            self.v2 &+= self.v1
            self.v0 &+= self.v3
            self.v1 = self.v1 << 17 | self.v1 >> 47
            self.v3 = self.v3 << 21 | self.v3 >> 43
            self.v1 ^= self.v2
            self.v3 ^= self.v0
            self.v2 = self.v2 << 32 | self.v2 >> 32
        }
    }
}

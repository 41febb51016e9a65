// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Random numbers that can be had again: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed of this run: `CUECAST_SEED` where it is set, else a new one.
    ///
    /// Printed, so that a failure can be repeated.
    package static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["CUECAST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("CUECAST_SEED=\(seed)")
        return seed
    }()

    private var state: UInt64

    /// The same numbers in every run.
    package init(seed: UInt64) { self.state = seed }

    /// Numbers that this run's seed repeats: own ones for each test, so that one test's appetite does not change what
    /// another sees.
    package init(for test: String) {
        // FNV-1a: `Hasher` is seeded anew in each process.
        self.state = test.utf8.reduce(Self.seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in a range, the ends more often than chance would have it.
    package mutating func number<T: FixedWidthInteger>(_ range: ClosedRange<T>) -> T {
        switch Int.random(in: 0..<8, using: &self) {
        case 0: range.lowerBound
        case 1: range.upperBound
        default: T.random(in: range, using: &self)
        }
    }

    /// True half of the time.
    package mutating func bool() -> Bool { Bool.random(using: &self) }

    /// One of a list that is not empty.
    package mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &self)] }

    /// Something half of the time.
    package mutating func maybe<T>(_ make: (inout Self) -> T) -> T? { self.bool() ? make(&self) : nil }

    /// A list of so many things.
    package mutating func list<T>(_ counts: ClosedRange<Int>, _ make: (inout Self) -> T) -> [T] {
        let count = Int.random(in: counts, using: &self)
        return (0..<count).map { _ in make(&self) }
    }

    /// So many bytes.
    package mutating func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
        self.list(counts) { UInt8.random(in: 0...255, using: &$0) }
    }
}

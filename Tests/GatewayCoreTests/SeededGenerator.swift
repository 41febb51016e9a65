// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Random numbers that can be had again: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
struct SeededGenerator: RandomNumberGenerator {
    /// The seed of this run: `CUECAST_SEED` where it is set, else a new one.
    ///
    /// Printed, so that a failure can be repeated.
    static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["CUECAST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("CUECAST_SEED=\(seed) in \(#fileID.prefix { $0 != "/" })")
        return seed
    }()

    private var state: UInt64

    /// Own numbers for each test, so that one test's appetite does not change what another sees.
    init(for test: String) {
        // FNV-1a: `Hasher` is seeded anew in each process.
        self.state = test.utf8.reduce(Self.seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in a range, the ends more often than chance would have it.
    mutating func number<T: FixedWidthInteger>(_ range: ClosedRange<T>) -> T {
        switch Int.random(in: 0..<8, using: &self) {
        case 0: range.lowerBound
        case 1: range.upperBound
        default: T.random(in: range, using: &self)
        }
    }

    mutating func bool() -> Bool { Bool.random(using: &self) }

    mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &self)] }

    mutating func maybe<T>(_ make: (inout Self) -> T) -> T? { self.bool() ? make(&self) : nil }

    mutating func list<T>(_ counts: ClosedRange<Int>, _ make: (inout Self) -> T) -> [T] {
        let count = Int.random(in: counts, using: &self)
        return (0..<count).map { _ in make(&self) }
    }

    mutating func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
        self.list(counts) { UInt8.random(in: 0...255, using: &$0) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import TestSupport
import Testing

/// Readers that are behind, and readers that come too late.
@Suite(.suiteLimit)
struct NewestKeptTests {
    private func kept(_ count: Int, of most: Int) -> NewestKept<UInt64> {
        var kept = NewestKept<UInt64>(keptMax: most)
        for _ in 0..<count { kept.append { $0 } }
        return kept
    }

    @Test func `a reader of the last removed one misses nothing, and one more is a gap`() {
        let kept = self.kept(10, of: 4)
        let whole = kept.portion(after: 6, most: 100)
        #expect(whole.elements == [7, 8, 9, 10])
        #expect(!whole.hasGap && whole.newest == 10)
        #expect(kept.portion(after: 5, most: 100).hasGap)
        #expect(kept.portion(after: 0, most: 100).hasGap)
        let nothing = kept.portion(after: 10, most: 100)
        #expect(nothing.elements.isEmpty && !nothing.hasGap && nothing.newest == 10)
    }

    @Test(arguments: [11, UInt64.max]) func `a record that was never there is a gap`(_ number: UInt64) {
        let portion = self.kept(10, of: 4).portion(after: number, most: 100)
        #expect(portion.hasGap && portion.elements.isEmpty && portion.newest == 10)
    }

    @Test func `before the first there is nothing`() {
        let portion = self.kept(0, of: 4).portion(after: 0, most: 100)
        #expect(!portion.hasGap && portion.elements.isEmpty && portion.newest == 0)
    }

    @Test func `a reader that takes few at a time gets all of them, those that it wants`() {
        for count in 0...12 {
            let kept = self.kept(count, of: 8)
            let first = UInt64(max(0, count - 8))
            var (known, heard): (UInt64, [UInt64]) = (first, [])
            while known < kept.newest {
                let portion = kept.portion(after: known, most: 2) { $0 % 3 == 0 }
                #expect(portion.elements.count <= 2 && portion.newest > known)
                heard += portion.elements
                known = portion.newest
            }
            let wanted: [UInt64] = (first..<UInt64(count)).map { $0 + 1 }.filter { $0 % 3 == 0 }
            #expect(heard == wanted)
        }
    }

    @Test func `whatever the size, whole or in part, each is there once`() {
        for most in 1...5 {
            for count in 0...17 {
                let kept = self.kept(count, of: most)
                for known in 0...UInt64(count) {
                    let portion = kept.portion(after: known, most: .max)
                    let expected = (known..<UInt64(count)).map { $0 + 1 }
                    #expect(portion.hasGap == (expected.count > most))
                    if !portion.hasGap { #expect(portion.elements == expected) }
                }
            }
        }
    }
}

/// The quantiles of a histogram.
@Suite(.suiteLimit)
struct HistogramQuantileTests {
    /// So many observations in a bucket, by its place.
    private func counts(_ observed: [Int: Int]) -> [Int] {
        (0...MetricRegistry.bucketBounds.count).map { observed[$0] ?? 0 }
    }

    @Test func `nothing was observed`() {
        #expect(HistogramQuantile.seconds(0.5, of: self.counts([:])) == nil)
        #expect(HistogramQuantile.seconds(0.5, of: []) == nil)
    }

    @Test func `within a bucket observations are spread evenly`() throws {
        // From 1 ms to 2.5 ms.
        let counts = self.counts([4: 10])
        let half = try #require(HistogramQuantile.seconds(0.5, of: counts))
        #expect(abs(half - 0.001_75) < 1e-9)
        let all = try #require(HistogramQuantile.seconds(1, of: counts))
        #expect(abs(all - 0.002_5) < 1e-9)
    }

    @Test func `most are quick and few are slow`() throws {
        // 98 up to 0.1 ms, 2 between 1 s and 2.5 s.
        let counts = self.counts([0: 98, 13: 2])
        #expect(try #require(HistogramQuantile.seconds(0.5, of: counts)) < 0.000_1)
        let most = try #require(HistogramQuantile.seconds(0.99, of: counts))
        #expect(abs(most - 1.75) < 1e-9)
    }

    @Test func `above the last bound the last bound is told`() {
        let counts = self.counts([MetricRegistry.bucketBounds.count: 1])
        #expect(HistogramQuantile.seconds(0.5, of: counts) == MetricRegistry.bucketBounds.last)
    }

    @Test func `a registry tells its buckets`() {
        let metrics = MetricRegistry()
        metrics.observe(.appendSeconds, .milliseconds(2))
        metrics.observe(.appendSeconds, .seconds(100))
        let buckets = metrics.buckets(of: .appendSeconds)
        #expect(buckets.count == MetricRegistry.bucketBounds.count + 1)
        #expect(buckets.reduce(0, +) == 2 && buckets.last == 1 && buckets[4] == 1)
        #expect(metrics.buckets(of: .listeners).isEmpty)
    }
}

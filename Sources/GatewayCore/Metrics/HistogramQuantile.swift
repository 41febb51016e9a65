// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Computes quantiles of a histogram's observations.
package enum HistogramQuantile {
    /// The value that a share of all observations does not pass, in seconds.
    ///
    /// Within a bucket they are taken as spread evenly, as Prometheus does it (`histogram_quantile`); above the last bound the last
    /// bound is told.
    ///
    /// - Parameters:
    ///   - share: from 0 to 1.
    ///   - counts: how many fell into each bucket, and above all of them.
    /// - Returns: `nil` where there are none.
    package static func seconds(_ share: Double, of counts: [Int]) -> Double? {
        let bounds = MetricRegistry.bucketBounds
        let total = counts.reduce(0, +)
        guard total > 0, counts.count == bounds.count + 1 else { return nil }
        let rank = share * Double(total)
        var below = 0
        for (index, bound) in bounds.enumerated() where counts[index] > 0 {
            guard Double(below + counts[index]) < rank else {
                let low = index == 0 ? 0 : bounds[index - 1]
                return low + (bound - low) * max(0, rank - Double(below)) / Double(counts[index])
            }
            below += counts[index]
        }
        return bounds.last
    }
}

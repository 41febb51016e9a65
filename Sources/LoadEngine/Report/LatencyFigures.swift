// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Glibc
package import Histogram

/// The figures of one histogram that people ask for; microseconds.
package struct LatencyFigures: Codable, Hashable, Sendable {
    package var p50: UInt64
    package var p90: UInt64
    package var p99: UInt64
    package var p999: UInt64
    package var max: UInt64
    package var mean: Double

    enum CodingKeys: String, CodingKey {
        case p50
        case p90
        case p99
        case p999 = "p99_9"
        case max
        case mean
    }

    /// - Parameter histogram: all figures are 0 where it is empty.
    package init(_ histogram: Histogram<UInt64>) {
        let isEmpty = histogram.totalCount == 0
        self.p50 = isEmpty ? 0 : histogram.valueAtPercentile(50)
        self.p90 = isEmpty ? 0 : histogram.valueAtPercentile(90)
        self.p99 = isEmpty ? 0 : histogram.valueAtPercentile(99)
        self.p999 = isEmpty ? 0 : histogram.valueAtPercentile(99.9)
        self.max = isEmpty ? 0 : histogram.max
        // In tenths: more digits would only make reports that are equal look different.
        self.mean = isEmpty ? 0 : (histogram.mean * 10).rounded() / 10
    }
}

extension Histogram<UInt64> {
    /// Percentiles that are evenly spaced where each nine takes as much room as the one before, with their values.
    ///
    /// It ends where less than one value would lie beyond.
    package var percentileCurve: [[Double]] {
        guard self.totalCount > 0 else { return [] }
        let stepsPerNine = 12
        var points: [[Double]] = []
        for step in 0... {
            let beyond = pow(10, -Double(step) / Double(stepsPerNine))
            guard beyond * Double(self.totalCount) >= 1 else { break }
            let percentile = 100 * (1 - beyond)
            points.append([percentile, Double(self.valueAtPercentile(percentile))])
        }
        points.append([100, Double(self.max)])
        return points
    }
}

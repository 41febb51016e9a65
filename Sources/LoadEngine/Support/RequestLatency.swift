// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Histogram

/// Latencies, kept in HdrHistogram's manner: three significant digits, from a nanosecond to a minute.
struct RequestLatencyRecorder {
    private static let nanosecondsMax: UInt64 = 60_000_000_000
    private var histogram = Histogram<UInt64>(
        highestTrackableValue: nanosecondsMax,
        numberOfSignificantValueDigits: .three
    )

    /// Records one; what is longer than a minute counts as a minute.
    mutating func record(nanoseconds: UInt64) {
        self.histogram.record(min(nanoseconds, Self.nanosecondsMax))
    }

    /// How many were recorded.
    var count: Int { Int(clamping: self.histogram.totalCount) }

    var summary: RequestLatency {
        RequestLatency(
            p50: self.percentile(50),
            p90: self.percentile(90),
            p99: self.percentile(99),
            p999: self.percentile(99.9),
            max: Double(self.histogram.max) / 1_000,
            mean: self.histogram.totalCount == 0 ? 0 : self.histogram.mean / 1_000
        )
    }

    private func percentile(_ percentile: Double) -> Double {
        self.histogram.totalCount == 0 ? 0 : Double(self.histogram.valueAtPercentile(percentile)) / 1_000
    }
}

/// Latencies in microseconds.
package struct RequestLatency: Encodable, Hashable, Sendable {
    package let p50: Double
    package let p90: Double
    package let p99: Double
    package let p999: Double
    package let max: Double
    package let mean: Double

    private enum CodingKeys: String, CodingKey {
        case p50
        case p90
        case p99
        case p999 = "p99_9"
        case max
        case mean
    }
}

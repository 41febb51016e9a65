// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Histogram

/// Latencies of one kind, in microseconds.
///
/// `intended` counts from the instant at which the thing was meant to begin, so that a slow gateway (or a slow tool)
/// cannot hide behind requests that were sent late: no coordinated omission. `service` counts from when it did begin.
package struct LatencyRecord: Sendable {
    /// Three significant digits: what HdrHistogram plots usually have.
    package private(set) var intended = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    package private(set) var service = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

    /// The longest latency that is told apart: a day.
    package static let microsecondsMax: Microseconds = 86_400_000_000

    package init() {}

    package mutating func record(intended: Microseconds, began: Microseconds, ended: Microseconds) {
        self.intended.record(Self.value(from: intended, to: ended))
        self.service.record(Self.value(from: began, to: ended))
    }

    package mutating func merge(_ other: LatencyRecord) {
        self.intended.add(other.intended)
        self.service.add(other.service)
    }

    static func value(from: Microseconds, to end: Microseconds) -> UInt64 {
        let (difference, overflow) = end.subtractingReportingOverflow(from)
        return overflow ? 0 : UInt64(min(max(difference, 0), Self.microsecondsMax))
    }
}

extension LatencyRecord: Codable {
    /// As pairs of value and count: the histograms of processes are merged without loss.
    private struct Pairs: Codable {
        var intended: [[UInt64]]
        var service: [[UInt64]]
    }

    package init(from decoder: any Decoder) throws {
        let pairs = try Pairs(from: decoder)
        for pair in pairs.intended where pair.count == 2 { self.intended.record(pair[0], count: pair[1]) }
        for pair in pairs.service where pair.count == 2 { self.service.record(pair[0], count: pair[1]) }
    }

    package func encode(to encoder: any Encoder) throws {
        let pairs = Pairs(
            intended: self.intended.recordedValues().map { [$0.value, $0.count] },
            service: self.service.recordedValues().map { [$0.value, $0.count] }
        )
        try pairs.encode(to: encoder)
    }
}

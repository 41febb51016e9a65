// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// How far the clock of another gateway is from this one's, measured by beats and their echoes.
///
/// A beat goes to the other gateway, and an echo of it comes back with one of the other's beats. What the way took is certain; how it was
/// divided is not: so the difference is known up to half of it, and the measure whose way was shortest counts.
package struct ClockOffset: Hashable, Sendable {
    package struct Measure: Hashable, Sendable {
        /// How far the other clock is ahead, in microseconds.
        package let ahead: Int64
        /// How long the two ways took together, in microseconds.
        package let way: Int64

        /// By how much the clocks differ for certain, in microseconds.
        package var certain: Int64 { max(0, abs(self.ahead) - self.way / 2) }
    }

    /// The newest so many measures count.
    package static let measuresKept = 8
    /// A way that took longer says nothing.
    package static let wayMax: Duration = .seconds(10)
    /// Clocks that differ by more for certain are an alarm (50 ms).
    package static let differenceMax: Duration = .milliseconds(50)

    private var measures: [Measure] = []

    package init() {}

    /// Takes a measure.
    ///
    /// - Parameters:
    ///   - sent: when this gateway sent a beat, by its clock.
    ///   - heardThere: when the other one heard it, by the other clock.
    ///   - sentBack: when the other one sent the beat with the echo, by the other clock.
    ///   - heard: when that was heard here, by the clock of this gateway.
    package mutating func add(sent: Timestamp, heardThere: Timestamp, sentBack: Timestamp, heard: Timestamp) {
        // Times come from outside: no sum of them may trap.
        guard let there = Self.difference(heardThere, sent), let back = Self.difference(sentBack, heard),
            let all = Self.difference(heard, sent), let stay = Self.difference(sentBack, heardThere)
        else { return }
        let (way, isTooLarge) = all.subtractingReportingOverflow(stay)
        guard !isTooLarge, (0...Self.wayMax.inMicroseconds).contains(way) else { return }
        // Half of each, so that the sum fits.
        self.measures.append(Measure(ahead: there / 2 + back / 2 + (there % 2 + back % 2) / 2, way: way))
        if self.measures.count > Self.measuresKept { self.measures.removeFirst() }
    }

    private static func difference(_ left: Timestamp, _ right: Timestamp) -> Int64? {
        let (difference, isTooLarge) = left.microseconds.subtractingReportingOverflow(right.microseconds)
        return isTooLarge || difference == .min ? nil : difference
    }

    /// The best measure; `nil`: there is none yet.
    package var best: Measure? { self.measures.min { $0.way < $1.way } }

    /// Whether the clocks differ by more than they may, for certain.
    package var isTooLarge: Bool { self.best.map { $0.certain > Self.differenceMax.inMicroseconds } ?? false }
}

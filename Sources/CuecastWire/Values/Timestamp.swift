// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An instant by the gateway's clock, in microseconds since 1970-01-01T00:00:00Z.
package struct Timestamp: Hashable, Sendable, Comparable {
    /// Microseconds since 1970.
    package let microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Later than every instant that there is.
    package static let latest = Timestamp(microseconds: .max)

    package static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

    /// Saturates instead of trapping: instants come from outside.
    package static func + (left: Self, right: Duration) -> Timestamp {
        Timestamp(microseconds: Int64(clamping: Int128(left.microseconds) + right.wholeMicroseconds))
    }

    /// The instant so many microseconds later; saturates instead of trapping.
    @inline(__always)
    package func advanced(microseconds: Int64) -> Timestamp {
        let (sum, overflows) = self.microseconds.addingReportingOverflow(microseconds)
        return Timestamp(microseconds: overflows ? (microseconds < 0 ? .min : .max) : sum)
    }

    /// Saturates instead of trapping: instants come from outside.
    package static func - (left: Self, right: Duration) -> Timestamp {
        Timestamp(microseconds: Int64(clamping: Int128(left.microseconds) - right.wholeMicroseconds))
    }

    /// Saturates instead of trapping: instants come from outside.
    package static func - (left: Self, right: Self) -> Duration {
        let (difference, overflow) = left.microseconds.subtractingReportingOverflow(right.microseconds)
        return .microseconds(overflow ? (left < right ? .min : .max) : difference)
    }
}

extension Duration {
    /// Whole microseconds, towards zero.
    ///
    /// Not from `components`, which trap where the seconds do not fit into 64 bits.
    fileprivate var wholeMicroseconds: Int128 { self.attoseconds / 1_000_000_000_000 }

    /// Whole microseconds, towards zero, saturating.
    package var inMicroseconds: Int64 { Int64(clamping: self.wholeMicroseconds) }

    /// Whole milliseconds, towards zero, clamped to what the wire's 32 bits hold.
    package var inMilliseconds: UInt32 {
        UInt32(clamping: self.inMicroseconds / 1_000)
    }

    /// The same as a duration: what of it the wire can hold.
    package var cutToMilliseconds: Duration { .milliseconds(self.inMilliseconds) }

    /// The whole milliseconds of a duration that was given from outside.
    ///
    /// - Parameter field: the name of the value, for the fault.
    /// - Returns: the whole milliseconds.
    /// - Throws: where it is negative, or longer than the wire's 32 bits hold.
    package func wholeMilliseconds(field: String) throws(WireError) -> Duration {
        let milliseconds = self.inMicroseconds / 1_000
        guard self >= .zero else { throw .invalid(field: field, rule: "it is negative") }
        try requireAtMost(Int(UInt32.max), Int(clamping: milliseconds), limit: "\(field) ms")
        return .milliseconds(milliseconds)
    }

    /// Seconds with a fraction, for people and for metrics.
    package var inSeconds: Double {
        Double(self.attoseconds) / 1e18
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC with microseconds, by the proleptic Gregorian calendar.
    ///
    /// RFC 3339 ends at the years 0000 and 9999; beyond them the year has a sign, as ISO 8601 writes it.
    package var description: String {
        let day = 86_400_000_000 as Int64
        var days = self.microseconds / day
        var rest = self.microseconds % day
        if rest < 0 {
            rest += day
            days -= 1
        }
        // Civil date from a day count: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let seconds = rest / 1_000_000
        let sign = year < 0 ? "-" : year > 9_999 ? "+" : ""
        let date = sign + padded(abs(year), 4) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2)
        let time = padded(seconds / 3_600, 2) + ":" + padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2)
        return date + "T" + time + "." + padded(rest % 1_000_000, 6) + "Z"
    }
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

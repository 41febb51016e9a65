// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension Timestamp {
    /// An instant as RFC 3339 section 5.6 writes it, such as `2026-11-21T12:00:00.5+01:00`; `nil`: the text is none.
    ///
    /// `T` and `Z` may be small letters. A fraction has 1 to 9 digits; what is finer than microseconds is cut off. The day must be one
    /// of its month. A second 60 is refused: the gateway's clock, like that of POSIX, has no leap seconds, and the instant would be
    /// another one.
    package init?(rfc3339 text: String) {
        // The longest that is read has nine digits of fraction and an offset.
        guard text.utf8.count <= 35 else { return nil }
        var rest = TextReader(rest: Array(text.utf8)[...])
        guard let year = rest.number(4), rest.take("-"), let month = rest.number(2), rest.take("-"),
            let day = rest.number(2), rest.take("T") || rest.take("t"),
            let hour = rest.number(2), rest.take(":"), let minute = rest.number(2), rest.take(":"),
            let second = rest.number(2), let fraction = rest.fractionInMicroseconds(),
            let offset = rest.offsetInMinutes(), rest.rest.isEmpty
        else { return nil }
        guard (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), hour <= 23, minute <= 59,
            second <= 59
        else { return nil }
        let minutes = (Self.days(to: year, month, day) * 24 + hour) * 60 + minute - offset
        self.init(microseconds: (minutes * 60 + second) * 1_000_000 + fraction)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// How many days a date of the proleptic Gregorian calendar is after 1970-01-01.
    private static func days(to year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil: years begin in March there.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// Reads a text of ASCII from its beginning.
private struct TextReader {
    var rest: ArraySlice<UInt8>

    /// Whether this character comes next; it is passed then.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = self.rest.first, UInt32(byte) == character.value else { return false }
        self.rest.removeFirst()
        return true
    }

    /// A digit from 0 to 9.
    private mutating func digit() -> Int64? {
        guard let byte = self.rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        self.rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    /// A number of exactly so many digits.
    mutating func number(_ digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = self.digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// A point and digits behind it; 0 where there is no point.
    mutating func fractionInMicroseconds() -> Int64? {
        guard self.take(".") else { return 0 }
        var (microseconds, scale, digits) = (0 as Int64, 100_000 as Int64, 0)
        while let digit = self.digit() {
            microseconds += digit * scale
            scale /= 10
            digits += 1
        }
        return (1...9).contains(digits) ? microseconds : nil
    }

    /// How far the time of day is ahead of UTC.
    mutating func offsetInMinutes() -> Int64? {
        if self.take("Z") || self.take("z") { return 0 }
        let sign: Int64
        if self.take("+") { sign = 1 } else if self.take("-") { sign = -1 } else { return nil }
        guard let hours = self.number(2), self.take(":"), let minutes = self.number(2), hours <= 23, minutes <= 59
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}

extension Timestamp {
    /// An instant as RFC 3339 in UTC, to the millisecond.
    ///
    /// - Parameter milliseconds: since 1970.
    /// - Returns: for instance `2026-11-21T12:00:10.000Z`.
    package static func text(ofMilliseconds milliseconds: some BinaryInteger) -> String {
        let (microseconds, overflows) = Int64(clamping: milliseconds).multipliedReportingOverflow(by: 1_000)
        let text = Timestamp(microseconds: overflows ? .max : microseconds).description
        // Whole milliseconds: the last three digits before the Z are zeros.
        return overflows ? text : String(text.dropLast(4)) + "Z"
    }
}

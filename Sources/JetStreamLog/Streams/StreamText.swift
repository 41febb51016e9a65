// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// An append's writer and number, as they stand beside a record: `WRITER-NUMBER`, the writer in hexadecimal digits.
enum AppendHeader {
    static let name = "Cuecast-Append"

    static func text(_ id: AppendID) -> String { "\(String(id.origin, radix: 16))-\(id.number)" }

    /// - Returns: `nil` where it is not as `text` writes it.
    static func id(_ text: String) -> AppendID? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let origin = UInt64(parts[0], radix: 16), let number = UInt64(parts[1]),
            Self.text(AppendID(origin: origin, number: number)) == text
        else { return nil }
        return AppendID(origin: origin, number: number)
    }
}

/// Reads an instant as NATS writes it: RFC 3339 in UTC, with up to nine digits of a second.
enum ServerTime {
    /// - Returns: `nil` where it is something else.
    static func instant(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        // 2026-11-28T04:36:07Z is the shortest.
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
        for (place, mark) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[place] != mark { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        var microseconds: Int64 = 0
        if bytes.count > 20 {
            let digits = 20..<bytes.count - 1
            guard bytes[19] == UInt8(ascii: "."), (1...9).contains(digits.count), let fraction = number(digits) else {
                return nil
            }
            var scaled = fraction
            for _ in digits.count..<9 { scaled *= 10 }
            microseconds = scaled / 1_000
        }
        let seconds = Self.days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        return Timestamp(microseconds: seconds * 1_000_000 + microseconds)
    }

    /// Days since 1970 of a date of the Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

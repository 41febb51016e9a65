// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Dates, times of the day and lengths as people and traffic systems write them.
package enum ScheduleText {
    /// The order of the numbers of a date.
    package enum DateOrder: String, Hashable, Sendable, CaseIterable {
        /// `2026-11-21`, `2026/11/21` or `20261121`.
        case ymd
        /// `21.11.2026`, `21/11/2026` or `21-11-2026`.
        case dmy
        /// `11/21/2026` or `11-21-2026`.
        case mdy
    }

    private static let bytesMax = 32

    /// A date; `nil`: it is none in this order.
    package static func date(_ text: String, order: DateOrder) -> CivilDate? {
        let digits = text.utf8
        guard digits.count <= self.bytesMax else { return nil }
        if order == .ymd, digits.count == 8, let number = self.number(text[...], digits: 8...8) {
            return CivilDate(year: number / 10_000, month: number / 100 % 100, day: number % 100)
        }
        guard let separator = text.first(where: { "-./".contains($0) }) else { return nil }
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let places =
            switch order {
            case .ymd: (0, 1, 2)
            case .dmy: (2, 1, 0)
            case .mdy: (2, 0, 1)
            }
        guard let year = self.number(parts[places.0], digits: 4...4), let month = self.number(parts[places.1]),
            let day = self.number(parts[places.2])
        else { return nil }
        return CivilDate(year: year, month: month, day: day)
    }

    /// A time of the day, in milliseconds; `nil`: it is none.
    ///
    /// Forms: `12:00`, `12:00:00`, `12:00:00.5`, `01:30:00 PM`; up to `29:59:59`, since a day of a traffic system may end after midnight.
    package static func timeOfDay(_ text: String) -> Int64? {
        guard text.utf8.count <= self.bytesMax else { return nil }
        var digits = text[...]
        var half: Character?
        let upper = text.uppercased()
        if upper.hasSuffix("AM") || upper.hasSuffix("PM") {
            half = upper.dropLast().last
            digits = digits.dropLast(2)
            while digits.last == " " { digits = digits.dropLast() }
        }
        let parts = digits.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, var hours = self.number(parts[0]),
            let minutes = self.number(parts[1], digits: 2...2), minutes < 60
        else { return nil }
        var milliseconds: Int64 = 0
        if parts.count == 3 {
            guard let read = self.seconds(parts[2], digits: 2...2), read < 60_000 else { return nil }
            milliseconds = read
        }
        if let half {
            guard (1...12).contains(hours) else { return nil }
            hours = hours % 12 + (half == "P" ? 12 : 0)
        }
        guard hours < 30 else { return nil }
        return Int64(hours * 60 + minutes) * 60_000 + milliseconds
    }

    /// A length, in milliseconds; `nil`: it is none, or zero.
    ///
    /// Forms: `00:01:30`, `1:30`, `:30`, `90` and `90.5` in seconds, `90s`.
    package static func duration(_ text: String) -> Int64? {
        guard text.utf8.count <= self.bytesMax else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count <= 3 else { return nil }
        if parts.count == 1 {
            let digits = last.hasSuffix("s") ? last.dropLast() : last
            guard let milliseconds = self.seconds(digits, digits: 1...6), milliseconds > 0 else { return nil }
            return milliseconds
        }
        guard var milliseconds = self.seconds(last, digits: 2...2), milliseconds < 60_000 else { return nil }
        let front = parts.dropLast()
        for (index, part) in front.enumerated() {
            // `:30` is what some traffic systems write for half a minute.
            let isOmitted = part.isEmpty && front.count == 1
            guard let number = isOmitted ? 0 : self.number(part), front.count == 1 || index == 0 || number < 60
            else { return nil }
            milliseconds += Int64(number) * (index == front.count - 1 ? 60_000 : 3_600_000)
        }
        return milliseconds > 0 ? milliseconds : nil
    }

    /// An instant with its offset (RFC 3339), in milliseconds since 1970; `nil`: it is none.
    package static func instant(_ text: String) -> Int64? {
        guard text.utf8.count <= 40 else { return nil }
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == "t" || $0 == " " }
        guard parts.count == 2, let date = self.date(String(parts[0]), order: .ymd) else { return nil }
        let rest = parts[1]
        guard let place = rest.lastIndex(where: { "Zz+-".contains($0) }) else { return nil }
        guard let time = self.timeOfDay(String(rest[..<place])), time < CivilDate.dayMilliseconds else { return nil }
        let local = Int64(date.days) * CivilDate.dayMilliseconds + time
        let zone = rest[place...]
        if zone == "Z" || zone == "z" { return local }
        let digits = zone.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard digits.count == 2, let hours = self.number(digits[0], digits: 2...2), hours < 24,
            let minutes = self.number(digits[1], digits: 2...2), minutes < 60
        else { return nil }
        let offset = Int64(hours * 60 + minutes) * 60_000
        return zone.first == "-" ? local + offset : local - offset
    }

    /// `hh:mm:ss.mmm` of a programme, in milliseconds (VMAP 1.0.1 section 2.3.1, `timeOffset`).
    static func offset(_ text: some StringProtocol) -> Int64? {
        VASTTime.milliseconds(String(text)).map { Int64($0) }
    }

    /// Seconds with a fraction, in milliseconds; what is finer is cut off.
    private static func seconds(_ text: Substring, digits: ClosedRange<Int>) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = self.number(parts[0], digits: digits) else { return nil }
        guard parts.count == 2 else { return Int64(whole) * 1_000 }
        guard let fraction = self.number(parts[1].prefix(3), digits: 1...3), parts[1].allSatisfy(\.isASCII),
            parts[1].allSatisfy(\.isNumber)
        else { return nil }
        let scale = [100, 10, 1][parts[1].prefix(3).count - 1]
        return Int64(whole * 1_000 + fraction * scale)
    }

    /// Digits of ASCII only.
    private static func number(_ text: Substring, digits: ClosedRange<Int> = 1...2) -> Int? {
        guard digits.contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }
}

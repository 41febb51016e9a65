// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A day of the Gregorian calendar, from 1970 to 2199.
package struct CivilDate: Hashable, Sendable, Comparable, CustomStringConvertible {
    package static let years = 1970...2199
    package static let dayMilliseconds: Int64 = 86_400_000

    /// Days since 1970-01-01.
    package let days: Int

    /// A day; `nil`: there is none of these numbers.
    package init?(year: Int, month: Int, day: Int) {
        guard Self.years.contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        // Days by eras of 400 years that begin with March, so that a leap day is the last one of its year.
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let yearOfEra = shifted % 400
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        self.days = shifted / 400 * 146_097 + dayOfEra - 719_468
        let (back, backMonth, backDay) = self.parts
        guard (back, backMonth, backDay) == (year, month, day) else { return nil }
    }

    /// The day that many days after 1970-01-01; `nil`: it is beyond the years.
    package init?(days: Int) {
        // 2199-12-31 is day 84,005.
        guard (0...84_005).contains(days) else { return nil }
        self.days = days
    }

    /// The day of an instant in UTC, in milliseconds since 1970; `nil`: it is beyond the years.
    package init?(milliseconds: Int64) {
        guard milliseconds >= 0, let days = Int(exactly: milliseconds / Self.dayMilliseconds) else { return nil }
        self.init(days: days)
    }

    /// Year, month and day.
    package var parts: (year: Int, month: Int, day: Int) {
        let shifted = self.days + 719_468
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + shifted / 146_097 * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    /// The day of the week: 0 is Monday.
    package var weekday: Int { (self.days + 3) % 7 }

    /// As in `20261121`.
    package var compact: String { self.description.filter { $0 != "-" } }

    /// As in `2026-11-21`.
    package var description: String {
        let (year, month, day) = self.parts
        return "\(year)-\(twoDigits(month))-\(twoDigits(day))"
    }

    package static func < (left: Self, right: Self) -> Bool { left.days < right.days }
}

/// A number below 100 with two digits.
func twoDigits(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }

/// The time of a clock on a wall, in milliseconds as if it were UTC; one instant, none or two have it.
package struct CivilTime: Hashable, Sendable, CustomStringConvertible {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package init(_ date: CivilDate, milliseconds: Int64) {
        self.milliseconds = Int64(date.days) * CivilDate.dayMilliseconds + milliseconds
    }

    /// As in `2026-11-21 12:00:00`, with a fraction where there is one.
    package var description: String {
        guard let date = CivilDate(milliseconds: self.milliseconds) else { return "\(self.milliseconds) ms" }
        let rest = self.milliseconds % CivilDate.dayMilliseconds
        let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60)
        let fraction = rest % 1_000 == 0 ? "" : "." + String("\(1_000 + rest % 1_000)".dropFirst())
        return "\(date) \(twoDigits(hours)):\(twoDigits(minutes)):\(twoDigits(rest / 1_000 % 60))\(fraction)"
    }
}

/// The instants of local times, from a time zone's offsets.
package struct ScheduleZone: Sendable {
    /// The fate of a local time that no instant has, or two.
    package enum ClockChange: String, Hashable, Sendable, CaseIterable {
        /// It is a fault.
        case refuse
        /// The first of two; one that no instant has is read by the offset before the change (RFC 5545 section 3.3.5).
        case first
        /// The second of two; one that no instant has is read by the offset before the change.
        case second
    }

    /// For people.
    package let name: String
    /// The fate of a local time that no instant has, or two.
    package let clockChange: ClockChange
    private let offset: @Sendable (_ seconds: Int64) -> Int

    /// A time zone.
    ///
    /// - Parameters:
    ///   - name: for people.
    ///   - clockChange: the fate of a local time that no instant has, or two.
    ///   - offset: the seconds that clocks are ahead of UTC, at an instant in seconds since 1970.
    package init(
        name: String,
        clockChange: ClockChange,
        offset: @escaping @Sendable (_ seconds: Int64) -> Int
    ) {
        self.name = name
        self.clockChange = clockChange
        self.offset = offset
    }

    /// UTC, in which each time is one instant.
    package static let utc = ScheduleZone(name: "UTC", clockChange: .refuse) { _ in 0 }

    /// The instant of a local time, in milliseconds since 1970.
    ///
    /// - Throws: where no instant has it, or two, and nothing says which one counts.
    package func instant(of time: CivilTime, line: Int?) throws(ScheduleFault) -> Int64 {
        let candidates = self.instants(of: time)
        if let first = candidates.first, candidates.count == 1 { return first }
        if let first = candidates.first, let last = candidates.last {
            switch self.clockChange {
            case .first: return first
            case .second: return last
            case .refuse:
                throw ScheduleFault(
                    "the time \(time) is there twice in \(self.name), because clocks are put back;"
                        + " say which one counts with --clock-change",
                    line: line
                )
            }
        }
        guard self.clockChange != .refuse else {
            throw ScheduleFault(
                "the time \(time) is not there in \(self.name), because clocks are put forward;"
                    + " --clock-change reads it by the offset before the change",
                line: line
            )
        }
        return time.milliseconds - self.offsetBefore(time) * 1_000
    }

    /// Every instant that has a local time, first to last: none, one or two.
    package func instants(of time: CivilTime) -> [Int64] {
        // An offset changes at most once in two days around.
        let offsets = [self.offsetBefore(time), self.offsetAfter(time)]
        return Set(offsets.map { time.milliseconds - $0 * 1_000 })
            .filter { Int64(self.offset(Self.seconds($0))) * 1_000 == time.milliseconds - $0 }
            .sorted()
    }

    /// The local time of an instant.
    package func local(_ milliseconds: Int64) -> CivilTime {
        CivilTime(milliseconds: milliseconds + Int64(self.offset(Self.seconds(milliseconds))) * 1_000)
    }

    /// How many hours a day has, where that is not 24.
    package func unusualHours(of date: CivilDate) -> String? {
        let midnight = CivilTime(date, milliseconds: 0)
        let seconds =
            CivilDate.dayMilliseconds / 1_000 - (self.offsetOfDay(midnight, 1) - self.offsetOfDay(midnight, 0))
        guard seconds != CivilDate.dayMilliseconds / 1_000 else { return nil }
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        return minutes == 0 ? "\(hours)" : "\(hours):\(twoDigits(minutes))"
    }

    /// The offset at the beginning of a day that many days later.
    private func offsetOfDay(_ midnight: CivilTime, _ days: Int64) -> Int64 {
        let time = CivilTime(milliseconds: midnight.milliseconds + days * CivilDate.dayMilliseconds)
        return Int64(self.offset(Self.seconds(time.milliseconds - self.offsetBefore(time) * 1_000)))
    }

    private func offsetBefore(_ time: CivilTime) -> Int64 {
        Int64(self.offset(Self.seconds(time.milliseconds - CivilDate.dayMilliseconds)))
    }

    private func offsetAfter(_ time: CivilTime) -> Int64 {
        Int64(self.offset(Self.seconds(time.milliseconds + CivilDate.dayMilliseconds)))
    }

    private static func seconds(_ milliseconds: Int64) -> Int64 {
        milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
    }
}

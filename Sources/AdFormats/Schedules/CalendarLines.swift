// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One content line of a calendar (RFC 5545 section 3.1): a name, parameters and a value.
struct CalendarLine: Hashable, Sendable {
    /// The line on which it begins, counted from 1.
    let line: Int
    /// In upper case.
    let name: String
    /// By their names in upper case, without quotation marks.
    let parameters: [String: String]
    /// As it is written.
    let value: String

    /// The lines of a calendar, unfolded.
    ///
    /// - Throws: where the bytes are no UTF-8, a line is no content line, or a limit is passed; it names the line.
    static func read(_ document: [UInt8]) throws(ScheduleFault) -> [CalendarLine] {
        guard document.count <= ScheduleLimits.scheduleBytesMax else {
            throw ScheduleFault(limit: "scheduleBytesMax", ScheduleLimits.scheduleBytesMax)
        }
        var lines: [CalendarLine] = []
        var pending: (line: Int, bytes: [UInt8])?
        var number = 0
        for var line in document.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            if line.last == 0x0D { line = line.dropLast() }
            if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
            if let first = line.first, first == 0x20 || first == 0x09, let folded = pending {
                // A character may be cut in two by a fold: bytes are put together first.
                pending = (folded.line, folded.bytes + line.dropFirst())
            } else {
                if let whole = pending { lines.append(try CalendarLine(whole.bytes, line: whole.line)) }
                pending = line.isEmpty ? nil : (number, Array(line))
            }
            guard (pending?.bytes.count ?? 0) <= ScheduleLimits.scheduleFieldBytesMax else {
                throw ScheduleFault(limit: "scheduleFieldBytesMax", ScheduleLimits.scheduleFieldBytesMax, line: number)
            }
        }
        if let whole = pending { lines.append(try CalendarLine(whole.bytes, line: whole.line)) }
        return lines
    }

    private init(_ bytes: [UInt8], line: Int) throws(ScheduleFault) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ScheduleFault("the bytes are not UTF-8", line: line)
        }
        var parts: [String] = [""]
        var isQuoted = false
        var value: Substring?
        for index in text.unicodeScalars.indices {
            let scalar = text.unicodeScalars[index]
            if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == ":", !isQuoted {
                value = text[text.unicodeScalars.index(after: index)...]
                break
            } else if scalar == ";", !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        let isName: (UInt8) -> Bool = { byte in
            byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
        }
        guard let value, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isName) else {
            throw ScheduleFault("this is no line of a calendar: \(quoted(text))", line: line)
        }
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, parameters[pair[0].uppercased()] == nil else {
                throw ScheduleFault("\(quoted(part)) is no parameter, or is there twice", line: line)
            }
            parameters[pair[0].uppercased()] = String(pair[1])
        }
        self.line = line
        self.name = parts[0].uppercased()
        self.parameters = parameters
        self.value = String(value)
    }

    /// The value as text (section 3.3.11).
    var text: String {
        var result = ""
        var isEscaped = false
        for scalar in self.value.unicodeScalars {
            if isEscaped {
                result.unicodeScalars.append(scalar == "n" || scalar == "N" ? "\n" : scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result.trimmed
    }
}

/// Values of a calendar, without a time zone.
enum CalendarValue {
    /// `20261121T120000` or `20261121T120000Z` (section 3.3.5); `nil`: it is neither.
    static func dateTime(_ text: String) -> (time: CivilTime, isUTC: Bool)? {
        let isUTC = text.hasSuffix("Z")
        let digits = isUTC ? text.dropLast() : text[...]
        guard digits.utf8.count == 15, digits.dropFirst(8).first == "T",
            let date = ScheduleText.date(String(digits.prefix(8)), order: .ymd)
        else { return nil }
        let clock = digits.suffix(6)
        guard clock.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(clock)
        else { return nil }
        let (hours, minutes, seconds) = (number / 10_000, number / 100 % 100, number % 100)
        guard hours < 24, minutes < 60, seconds < 60 else { return nil }
        return (CivilTime(date, milliseconds: Int64((hours * 60 + minutes) * 60 + seconds) * 1_000), isUTC)
    }

    /// `PT1M30S` in milliseconds (section 3.3.6); `nil`: it is none, or not above zero.
    static func duration(_ text: String) -> Int64? {
        var rest = text[...]
        if rest.first == "+" { rest = rest.dropFirst() }
        guard rest.first == "P", rest.utf8.count <= 32 else { return nil }
        rest = rest.dropFirst()
        var total: Int64 = 0
        var isTime = false
        var digits = ""
        var lastUnit = -1
        for character in rest {
            if character == "T", digits.isEmpty, !isTime {
                isTime = true
                continue
            }
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            let units: [(Character, Bool, Int64)] = [
                ("W", false, 604_800), ("D", false, 86_400), ("H", true, 3_600), ("M", true, 60), ("S", true, 1),
            ]
            guard let unit = units.firstIndex(where: { $0.0 == character && $0.1 == isTime }), unit > lastUnit,
                digits.utf8.count <= 6, let number = Int64(digits)
            else { return nil }
            total += number * units[unit].2
            lastUnit = unit
            digits = ""
        }
        guard digits.isEmpty, total > 0 else { return nil }
        return total * 1_000
    }
}

/// The days on which an event of a calendar is again: `RRULE` with `DAILY` or `WEEKLY` (section 3.3.10).
struct CalendarRule: Hashable, Sendable {
    private enum Until: Hashable {
        case count(Int)
        case date(CivilDate)
        case instant(Int64)
        case local(CivilTime)
    }

    private static let intervalMax = 366

    private var step = 1
    private var isWeekly = false
    private var weekdays: Set<Int> = []
    private var weekStart = 0
    private var until: Until?
    private let line: Int

    init(_ source: CalendarLine) throws(ScheduleFault) {
        self.line = source.line
        var frequency: String?
        var seen: Set<String> = []
        for part in source.value.split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.uppercased() }
            guard pair.count == 2, seen.insert(pair[0]).inserted else {
                throw ScheduleFault("\(quoted(String(part))) is no part of a rule, or is there twice", line: self.line)
            }
            switch pair[0] {
            case "FREQ": frequency = pair[1]
            case "INTERVAL":
                guard let number = Int(pair[1]), (1...Self.intervalMax).contains(number) else {
                    throw ScheduleFault("INTERVAL is a number from 1 to \(Self.intervalMax)", line: self.line)
                }
                self.step = number
            case "COUNT":
                guard self.until == nil, let count = Int(pair[1]), count >= 1 else {
                    throw ScheduleFault("COUNT is a number of at least 1, and excludes UNTIL", line: self.line)
                }
                guard count <= ScheduleLimits.scheduleOccurrencesMax else {
                    throw ScheduleFault(
                        limit: "scheduleOccurrencesMax",
                        ScheduleLimits.scheduleOccurrencesMax,
                        line: self.line
                    )
                }
                self.until = .count(count)
            case "UNTIL":
                guard self.until == nil else { throw ScheduleFault("UNTIL excludes COUNT", line: self.line) }
                self.until = try Self.until(pair[1], line: self.line)
            case "BYDAY":
                for day in pair[1].split(separator: ",", omittingEmptySubsequences: false) {
                    guard let number = Self.weekdayNames.firstIndex(of: String(day)) else {
                        throw ScheduleFault(
                            "BYDAY has \(quoted(String(day))); only MO to SU without numbers are read",
                            line: self.line
                        )
                    }
                    self.weekdays.insert(number)
                }
            case "WKST":
                guard let number = Self.weekdayNames.firstIndex(of: pair[1]) else {
                    throw ScheduleFault("WKST is MO to SU", line: self.line)
                }
                self.weekStart = number
            default:
                throw ScheduleFault(
                    "the rule has \(quoted(pair[0])); only FREQ, INTERVAL, COUNT, UNTIL, BYDAY and WKST are read",
                    line: self.line
                )
            }
        }
        switch frequency {
        case "DAILY": self.isWeekly = false
        case "WEEKLY": self.isWeekly = true
        default:
            throw ScheduleFault(
                "the rule's FREQ is \(quoted(frequency ?? "")); only DAILY and WEEKLY are read",
                line: self.line
            )
        }
    }

    private static let weekdayNames = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

    private static func until(_ text: String, line: Int) throws(ScheduleFault) -> Until {
        if let (time, isUTC) = CalendarValue.dateTime(text) {
            return isUTC ? .instant(time.milliseconds) : .local(time)
        }
        guard text.utf8.count == 8, let date = ScheduleText.date(text, order: .ymd) else {
            throw ScheduleFault("\(quoted(text)) is no UNTIL; write 20261231T235959Z or 20261231", line: line)
        }
        return .date(date)
    }

    /// The occurrences in a period, as local times; the first one is the event itself (section 3.8.5.3).
    ///
    /// - Parameters:
    ///   - start: of the event.
    ///   - zone: of the event.
    ///   - period: the instants that count, in milliseconds since 1970.
    /// - Returns: the occurrences, and whether there are later ones.
    /// - Throws: where the event's own day is none of the rule's, or a limit is passed.
    func occurrences(
        of start: CivilTime,
        zone: ScheduleZone,
        in period: Range<Int64>
    ) throws(ScheduleFault) -> (times: [CivilTime], isCut: Bool) {
        guard let first = CivilDate(milliseconds: start.milliseconds) else { return ([], false) }
        let clock = start.milliseconds % CivilDate.dayMilliseconds
        let days = self.weekdays.isEmpty && self.isWeekly ? [first.weekday] : self.weekdays
        guard days.isEmpty || days.contains(first.weekday) else {
            throw ScheduleFault("the event's own day is none of the rule's", line: self.line)
        }
        let day = CivilDate.dayMilliseconds
        // A day of tolerance on both sides: local time is not UTC.
        let lastDay = Int((period.upperBound + day) / day)
        var from = first.days
        if case .count = self.until {
        } else {
            // Nothing counts what was before.
            from = max(from, Int((period.lowerBound - day) / day))
        }
        var times: [CivilTime] = []
        var number = 0
        var date = from
        while date <= lastDay, let today = CivilDate(days: date) {
            let isOn = self.isOn(today, since: first) && (days.isEmpty || days.contains(today.weekday))
            defer { date += 1 }
            guard isOn else { continue }
            number += 1
            let time = CivilTime(today, milliseconds: clock)
            if self.isOver(time, number: number, zone: zone) { return (times, false) }
            // What is near the period: a time that no instant has is told by the caller.
            let instant = zone.instants(of: time).first ?? time.milliseconds
            if instant >= period.upperBound { return (times, true) }
            guard instant >= period.lowerBound else { continue }
            guard times.count < ScheduleLimits.scheduleOccurrencesMax else {
                throw ScheduleFault(
                    limit: "scheduleOccurrencesMax",
                    ScheduleLimits.scheduleOccurrencesMax,
                    line: self.line
                )
            }
            times.append(time)
        }
        return (times, true)
    }

    private func isOn(_ date: CivilDate, since first: CivilDate) -> Bool {
        guard date >= first else { return false }
        guard self.isWeekly else { return (date.days - first.days) % self.step == 0 }
        func week(_ date: CivilDate) -> Int {
            // Days since a Monday long before, and from there to the first day of a week.
            (date.days + 3 + 7 - self.weekStart) / 7
        }
        return (week(date) - week(first)) % self.step == 0
    }

    private func isOver(_ time: CivilTime, number: Int, zone: ScheduleZone) -> Bool {
        switch self.until {
        case nil: false
        case .count(let count): number > count
        case .date(let date): (CivilDate(milliseconds: time.milliseconds).map { $0 > date }) ?? true
        case .local(let last): time.milliseconds > last.milliseconds
        case .instant(let last): (zone.instants(of: time).first ?? time.milliseconds) > last
        }
    }
}

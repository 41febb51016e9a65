// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads a calendar (iCalendar, RFC 5545): each event is a break.
package struct CalendarReader {
    /// The time zone of times without one; `nil`: they are faults.
    private let zone: ScheduleZone?
    /// A time zone by its name; `nil`: it is not known.
    private let zoneNamed: (String) -> ScheduleZone?
    /// The instants of which occurrences of rules count.
    private let period: Range<Int64>
    private var result = ScheduleDocument()
    private var breaks: [ScheduledBreak] = []
    private var changedDays: Set<String> = []

    /// The breaks of a calendar.
    ///
    /// A break has the id of its event's `UID`; where a rule repeats the event, the local time of the occurrence stands before it. Its
    /// ads are those of the list that `X-CUECAST-LIST` names, of the file that `X-CUECAST-ADS` names, of the ad server that
    /// `X-CUECAST-VAST-URL` names, or of the list with the name of its only category. A cancelled event is no break.
    ///
    /// - Parameters:
    ///   - document: its bytes.
    ///   - zone: the time zone of times that name none (section 3.3.5, form 1); `nil`: they are faults.
    ///   - zoneNamed: the time zone of a `TZID`; `nil`: it is not known.
    ///   - period: of rules, only occurrences in it count; in milliseconds since 1970.
    /// - Returns: the breaks, and a fault for each event that cannot be read.
    /// - Throws: where the whole of it cannot be read.
    package static func read(
        _ document: [UInt8],
        zone: ScheduleZone?,
        zoneNamed: (String) -> ScheduleZone?,
        period: Range<Int64>
    ) throws(ScheduleFault) -> ScheduleDocument {
        let events = try Self.events(try CalendarLine.read(document))
        guard events.count <= ScheduleLimits.scheduleBreaksMax else {
            throw ScheduleFault(limit: "scheduleBreaksMax", ScheduleLimits.scheduleBreaksMax)
        }
        return try withoutActuallyEscaping(zoneNamed) { (zoneNamed) throws(ScheduleFault) in
            var reader = CalendarReader(zone: zone, zoneNamed: zoneNamed, period: period)
            for event in events {
                do throws(ScheduleFault) {
                    try reader.take(event)
                } catch {
                    reader.result.add(error)
                }
                guard reader.breaks.count <= ScheduleLimits.scheduleBreaksMax else {
                    throw ScheduleFault(limit: "scheduleBreaksMax", ScheduleLimits.scheduleBreaksMax, line: event.line)
                }
            }
            try reader.result.finish(reader.breaks)
            return reader.result
        }
    }

    private init(zone: ScheduleZone?, zoneNamed: @escaping (String) -> ScheduleZone?, period: Range<Int64>) {
        self.zone = zone
        self.zoneNamed = zoneNamed
        self.period = period
    }

    /// The properties of an event, without those of components in it.
    private struct Event {
        let line: Int
        var properties: [CalendarLine] = []

        func all(_ name: String) -> [CalendarLine] { self.properties.filter { $0.name == name } }

        /// The only property of a name.
        func only(_ name: String) throws(ScheduleFault) -> CalendarLine? {
            let found = self.all(name)
            guard found.count <= 1 else { throw ScheduleFault("\(name) is there twice", line: found[1].line) }
            return found.first
        }
    }

    /// Sections 3.4 and 3.6: components in each other, each with its end.
    private static func events(_ lines: [CalendarLine]) throws(ScheduleFault) -> [Event] {
        guard let first = lines.first, first.name == "BEGIN", first.value.uppercased() == "VCALENDAR" else {
            throw ScheduleFault("this is no calendar: it does not begin with BEGIN:VCALENDAR", line: lines.first?.line)
        }
        var events: [Event] = []
        var open: [String] = []
        for line in lines {
            switch line.name {
            case "BEGIN":
                let name = line.value.uppercased()
                guard open.isEmpty == (name == "VCALENDAR"), open.count < 8 else {
                    throw ScheduleFault("BEGIN:\(quoted(line.value)) may not be here", line: line.line)
                }
                open.append(name)
                if open == ["VCALENDAR", "VEVENT"] { events.append(Event(line: line.line)) }
            case "END":
                guard let last = open.popLast(), last == line.value.uppercased() else {
                    throw ScheduleFault("END:\(quoted(line.value)) ends nothing that is open", line: line.line)
                }
            default:
                guard !open.isEmpty else { throw ScheduleFault("text behind END:VCALENDAR", line: line.line) }
                if open == ["VCALENDAR", "VEVENT"] { events[events.count - 1].properties.append(line) }
            }
        }
        guard open.isEmpty else {
            throw ScheduleFault("the document ends inside \(open.last ?? "")", line: lines.last?.line)
        }
        return events
    }

    private mutating func take(_ event: Event) throws(ScheduleFault) {
        if let status = try event.only("STATUS"), status.value.uppercased() == "CANCELLED" { return }
        for name in ["RECURRENCE-ID", "RDATE", "EXRULE"] {
            if let unread = event.all(name).first {
                throw ScheduleFault(
                    "\(name) is not read; write the occurrence as an event of its own",
                    line: unread.line
                )
            }
        }
        guard let uid = try event.only("UID")?.text, !uid.isEmpty else {
            throw ScheduleFault("the event has no UID", line: event.line)
        }
        guard let begin = try event.only("DTSTART") else {
            throw ScheduleFault("the event has no DTSTART", line: event.line)
        }
        let (start, zone) = try self.time(begin)
        let duration = try self.duration(event, start: start, zone: zone, line: begin.line)
        let ads = try Self.ads(event)
        let title = try event.only("SUMMARY")?.text ?? ""
        var times = [start]
        let rules = event.all("RRULE")
        guard rules.count <= 1 else { throw ScheduleFault("the event has two RRULE", line: rules[1].line) }
        let excluded = try self.excluded(event)
        if let rule = rules.first {
            let found = try CalendarRule(rule).occurrences(of: start, zone: zone, in: self.period)
            times = found.times
            if found.isCut {
                let end = CivilTime(milliseconds: self.period.upperBound)
                self.result.add(ScheduleNote("Occurrences of the rule count until \(end) UTC.", line: rule.line))
            }
        } else if let exception = event.all("EXDATE").first {
            throw ScheduleFault("EXDATE without RRULE", line: exception.line)
        }
        for time in times {
            let instant = try zone.instant(of: time, line: begin.line)
            if excluded.contains(instant) { continue }
            self.noteChange(of: time, zone: zone)
            let stamp =
                rules.isEmpty ? nil : time.description.filter { $0 != "-" && $0 != ":" }.map { $0 == " " ? "T" : $0 }
            var each = ScheduledBreak(
                id: ScheduleID.id(from: uid, stamp: stamp.map { String($0) }),
                startMilliseconds: instant,
                title: title,
                ads: ads,
                line: event.line
            )
            each.durationMilliseconds = duration
            self.breaks.append(each)
        }
    }

    /// Section 3.3.5: in UTC, in a time zone by name, or local to the reader.
    private func time(_ property: CalendarLine) throws(ScheduleFault) -> (CivilTime, ScheduleZone) {
        if property.parameters["VALUE"]?.uppercased() == "DATE" {
            throw ScheduleFault("the event lasts all day, and a break has a time", line: property.line)
        }
        guard let (time, isUTC) = CalendarValue.dateTime(property.value) else {
            throw ScheduleFault("\(quoted(property.value)) is no time; write 20261121T120000Z", line: property.line)
        }
        guard !isUTC else { return (time, .utc) }
        if let name = property.parameters["TZID"] {
            guard let zone = self.zoneNamed(name.hasPrefix("/") ? String(name.dropFirst()) : name) else {
                throw ScheduleFault(
                    "the time zone \(quoted(name)) is not known; only names such as Europe/Oslo are read",
                    line: property.line
                )
            }
            return (time, zone)
        }
        guard let zone = self.zone else {
            throw ScheduleFault("the time names no time zone; give one with --time-zone", line: property.line)
        }
        return (time, zone)
    }

    private func duration(
        _ event: Event,
        start: CivilTime,
        zone: ScheduleZone,
        line: Int
    ) throws(ScheduleFault) -> Int64? {
        let milliseconds: Int64
        switch (try event.only("DTEND"), try event.only("DURATION")) {
        case (nil, nil): return nil
        case (let end?, nil):
            let (time, endZone) = try self.time(end)
            milliseconds = try endZone.instant(of: time, line: end.line) - zone.instant(of: start, line: line)
            guard milliseconds > 0 else { throw ScheduleFault("the event ends before it starts", line: end.line) }
        case (nil, let length?):
            guard let read = CalendarValue.duration(length.value) else {
                throw ScheduleFault("\(quoted(length.value)) is no duration above zero; write PT90S", line: length.line)
            }
            milliseconds = read
        case (_?, let length?): throw ScheduleFault("DURATION excludes DTEND", line: length.line)
        }
        guard milliseconds <= ScheduleLimits.breakMillisecondsMax else {
            throw ScheduleFault(limit: "breakMillisecondsMax", ScheduleLimits.breakMillisecondsMax, line: line)
        }
        return milliseconds
    }

    private func excluded(_ event: Event) throws(ScheduleFault) -> Set<Int64> {
        var instants: Set<Int64> = []
        for property in event.all("EXDATE") {
            for value in property.value.split(separator: ",", omittingEmptySubsequences: false) {
                let one = property.with(value: String(value))
                let (time, zone) = try self.time(one)
                instants.insert(try zone.instant(of: time, line: property.line))
            }
        }
        return instants
    }

    private static func ads(_ event: Event) throws(ScheduleFault) -> [ScheduledAds] {
        let list = try event.only("X-CUECAST-LIST")
        let file = try event.only("X-CUECAST-ADS")
        if let list, file != nil { throw ScheduleFault("it names both a list and a file of ads", line: list.line) }
        if let server = try event.only("X-CUECAST-VAST-URL") {
            guard list == nil, file == nil else {
                throw ScheduleFault(
                    "it names an ad server, and a list or a file of ads beside it",
                    line: server.line
                )
            }
            // Its value is a URI, in which nothing is escaped (section 3.3.13).
            guard let tag = ScheduledTag(text: server.value) else {
                throw ScheduleFault(
                    "\(quoted(server.value)) is no absolute http or https address",
                    line: server.line
                )
            }
            return [.tag(tag)]
        }
        if let list { return [.list(list.text)] }
        if let file { return [.file(file.text)] }
        let categories = event.all("CATEGORIES")
        guard let first = categories.first else { return [] }
        // Section 3.8.1.2: several stand in one property, or in several.
        guard categories.count == 1, !first.value.replacing("\\,", with: "").contains(",") else {
            throw ScheduleFault("the event has several categories; name the list with X-CUECAST-LIST", line: first.line)
        }
        return first.text.isEmpty ? [] : [.list(first.text)]
    }

    private mutating func noteChange(of time: CivilTime, zone: ScheduleZone) {
        guard let date = CivilDate(milliseconds: time.milliseconds), let hours = zone.unusualHours(of: date),
            self.changedDays.insert("\(zone.name) \(date)").inserted
        else { return }
        self.result.add(ScheduleNote("The clocks of \(zone.name) change on \(date): that day has \(hours) hours."))
    }
}

extension CalendarLine {
    fileprivate func with(value: String) -> CalendarLine {
        CalendarLine(line: self.line, name: self.name, parameters: self.parameters, value: value)
    }

    private init(line: Int, name: String, parameters: [String: String], value: String) {
        self.line = line
        self.name = name
        self.parameters = parameters
        self.value = value
    }
}

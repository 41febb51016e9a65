// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How a traffic log names what its columns have.
package struct TrafficLogMapping: Hashable, Sendable {
    /// The kind of values of a column.
    package enum Column: String, Hashable, Sendable, CaseIterable {
        /// The day.
        case date
        /// The time of the day.
        case time
        /// Day and time together, in local time or with an offset (RFC 3339).
        case start
        /// How long the break, or the spot, lasts.
        case duration
        /// The name of the break; rows of one day with the same id are spots of one break.
        case id
        /// The name of a list that the gateway keeps.
        case list
        /// A file of ads.
        case ads
        /// The address of an ad server.
        case vastURL = "vast-url"
        /// A title for people.
        case title
    }

    /// The columns that were named, by name or, as in `#2`, by number; the others have their own name.
    package var names: [Column: String] = [:]
    /// Whether the first row has the names.
    package var hasHeader = true
    /// The byte between fields; `nil`: the one of `,`, `;` and tab the first row has most of.
    package var delimiter: UInt8?
    /// The order of the numbers of a date.
    package var dateOrder = ScheduleText.DateOrder.ymd
    /// The day of rows without one; `nil`: each row has its own.
    package var date: CivilDate?

    package init() {}

    /// Names a column, as in `time=Air Time` or `time=#2`.
    ///
    /// - Throws: where that is not its form, or the column was named before.
    package mutating func name(_ text: String, line: Int? = nil) throws(ScheduleFault) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
        let known = Column.allCases.map(\.rawValue).joined(separator: ", ")
        guard parts.count == 2, !parts[1].isEmpty, let column = Column(rawValue: parts[0]) else {
            throw ScheduleFault(
                "\(quoted(text)) names no column; write for instance time=Air Time, with one of: \(known)",
                line: line
            )
        }
        guard self.names[column] == nil else {
            throw ScheduleFault("the column \(column.rawValue) is named twice", line: line)
        }
        self.names[column] = parts[1]
    }

    /// Names columns as a file has it: one on each line; empty lines, and lines that begin with `#`, say nothing.
    ///
    /// - Throws: as ``name(_:line:)`` does, with the line.
    package mutating func read(_ document: [UInt8]) throws(ScheduleFault) {
        guard document.count <= ScheduleLimits.scheduleFieldBytesMax else {
            throw ScheduleFault(limit: "scheduleFieldBytesMax", ScheduleLimits.scheduleFieldBytesMax)
        }
        guard let text = String(validating: document, as: UTF8.self) else {
            throw ScheduleFault("the bytes are not UTF-8")
        }
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let content = line.trimmed
            if content.isEmpty || content.hasPrefix("#") { continue }
            try self.name(content, line: index + 1)
        }
    }

    /// The place of each column that is there.
    func places(in header: [String]?, count: Int, line: Int) throws(ScheduleFault) -> [Column: Int] {
        var places: [Column: Int] = [:]
        let names = header?.map { $0.trimmed.lowercased() }
        for column in Column.allCases {
            let asked = self.names[column]
            if let asked, asked.hasPrefix("#"), let number = Int(asked.dropFirst()) {
                guard (1...count).contains(number) else {
                    throw ScheduleFault("the column \(column.rawValue) is \(asked), and there are \(count)", line: line)
                }
                places[column] = number - 1
                continue
            }
            let name = (asked ?? column.rawValue).lowercased()
            let found = names?.indices.filter { names?[$0] == name } ?? []
            guard found.count <= 1 else {
                throw ScheduleFault(
                    "there are several columns \(quoted(name)); name one by its number, as in #2",
                    line: line
                )
            }
            if asked != nil, found.isEmpty {
                throw ScheduleFault("there is no column \(quoted(asked ?? ""))", line: line)
            }
            if let place = found.first { places[column] = place }
        }
        if places[.time] == nil, places[.start] == nil {
            let said = names.map { "; there are: \($0.joined(separator: ", "))" } ?? ""
            throw ScheduleFault("no column has the time; name it with --column time=NAME\(said)", line: line)
        }
        return places
    }
}

/// Reads the log of a traffic system: rows with the breaks of one day or more.
package enum TrafficLog {
    /// A row with its values.
    private struct Row {
        let line: Int
        /// The day that is in its id.
        let date: CivilDate
        let start: Int64
        let duration: Int64?
        let id: String?
        let ads: ScheduledAds?
        let title: String
    }

    /// The breaks of a log.
    ///
    /// Rows with the same id on one day are spots of one break: it starts with the first of them, its ads are theirs in the order of
    /// their times, and it lasts as long as they together where each says how long it lasts.
    ///
    /// - Parameters:
    ///   - document: its bytes, in UTF-8.
    ///   - mapping: the kinds of its columns.
    ///   - zone: the time zone of its times.
    /// - Returns: the breaks, and a fault for each row that cannot be read.
    /// - Throws: where the whole of it cannot be read.
    package static func read(
        _ document: [UInt8],
        mapping: TrafficLogMapping,
        zone: ScheduleZone
    ) throws(ScheduleFault) -> ScheduleDocument {
        var records = try CSVRecords.read(document, delimiter: mapping.delimiter)[...]
        guard let first = records.first else { throw ScheduleFault("there is no row in it") }
        if mapping.hasHeader { records = records.dropFirst() }
        let header = mapping.hasHeader ? first.fields : nil
        let places = try mapping.places(in: header, count: first.fields.count, line: first.line)
        var result = ScheduleDocument()
        var groups: [String: [Row]] = [:]
        var spoiled: Set<String> = []
        var dates: Set<CivilDate> = []
        for record in records {
            func text(_ column: TrafficLogMapping.Column) -> String {
                places[column].flatMap { record.fields.indices.contains($0) ? record.fields[$0].trimmed : nil } ?? ""
            }
            do throws(ScheduleFault) {
                guard record.fields.count == first.fields.count else {
                    let found = record.fields.count
                    throw ScheduleFault(
                        "the row has \(found) fields, and the first one \(first.fields.count)",
                        line: record.line
                    )
                }
                let row = try Self.row(text, line: record.line, mapping: mapping, zone: zone)
                dates.insert(row.date)
                groups[Self.id(of: row, zone: zone), default: []].append(row)
            } catch {
                result.add(error)
                // The other spots of the same break are not the break.
                if let date = ScheduleText.date(text(.date), order: mapping.dateOrder) ?? mapping.date,
                    !text(.id).isEmpty
                {
                    spoiled.insert(ScheduleID.id(from: text(.id), stamp: date.compact))
                }
            }
        }
        var breaks: [ScheduledBreak] = []
        for (id, rows) in groups where !spoiled.contains(id) {
            do throws(ScheduleFault) {
                breaks.append(try Self.scheduled(id, rows))
            } catch {
                result.add(error)
            }
        }
        for date in dates.sorted() {
            guard let hours = zone.unusualHours(of: date) else { continue }
            result.add(ScheduleNote("The clocks of \(zone.name) change on \(date): that day has \(hours) hours."))
        }
        result.idPrefixes = Set(dates.map { "\($0.compact)-" })
        try result.finish(breaks)
        return result
    }

    private static func id(of row: Row, zone: ScheduleZone) -> String {
        if let id = row.id { return ScheduleID.id(from: id, stamp: row.date.compact) }
        // The instant in UTC: a local time may be there twice.
        let time = CivilTime(milliseconds: row.start).description.dropFirst(11).filter { $0 != ":" && $0 != "." }
        return ScheduleID.id(from: time + "Z", stamp: row.date.compact)
    }

    private static func row(
        _ text: (TrafficLogMapping.Column) -> String,
        line: Int,
        mapping: TrafficLogMapping,
        zone: ScheduleZone
    ) throws(ScheduleFault) -> Row {
        let (date, start) = try Self.start(text, line: line, mapping: mapping, zone: zone)
        var duration: Int64?
        if !text(.duration).isEmpty {
            guard let read = ScheduleText.duration(text(.duration)) else {
                throw ScheduleFault(
                    "\(quoted(text(.duration))) is no duration; write 00:01:30, 1:30, :30 or seconds such as 90",
                    line: line
                )
            }
            guard read <= ScheduleLimits.breakMillisecondsMax else {
                throw ScheduleFault(limit: "breakMillisecondsMax", ScheduleLimits.breakMillisecondsMax, line: line)
            }
            duration = read
        }
        let ads: ScheduledAds?
        switch (text(.list), text(.ads), text(.vastURL)) {
        case ("", "", ""): ads = nil
        case (let list, "", ""): ads = .list(list)
        case ("", let file, ""): ads = .file(file)
        case ("", "", let address):
            guard let tag = ScheduledTag(text: address) else {
                throw ScheduleFault("\(quoted(address)) is no absolute http or https address", line: line)
            }
            ads = .tag(tag)
        case (_, _, ""): throw ScheduleFault("it names both a list and a file of ads", line: line)
        default: throw ScheduleFault("it names an ad server, and a list or a file of ads beside it", line: line)
        }
        return Row(
            line: line,
            date: date,
            start: start,
            duration: duration,
            id: text(.id).isEmpty ? nil : text(.id),
            ads: ads,
            title: text(.title)
        )
    }

    private static func start(
        _ text: (TrafficLogMapping.Column) -> String,
        line: Int,
        mapping: TrafficLogMapping,
        zone: ScheduleZone
    ) throws(ScheduleFault) -> (CivilDate, Int64) {
        if !text(.start).isEmpty {
            let said = text(.start)
            if let instant = ScheduleText.instant(said) {
                guard let date = CivilDate(milliseconds: zone.local(instant).milliseconds) else {
                    throw ScheduleFault("the start \(quoted(said)) is beyond the years that are read", line: line)
                }
                return (date, instant)
            }
            let parts = said.split(maxSplits: 1, whereSeparator: { $0 == "T" || $0 == " " }).map(\.trimmed)
            guard parts.count == 2, let date = ScheduleText.date(parts[0], order: mapping.dateOrder),
                let time = ScheduleText.timeOfDay(parts[1])
            else {
                throw ScheduleFault("\(quoted(said)) is no start; write 2026-11-21 12:00:00", line: line)
            }
            return (date, try zone.instant(of: CivilTime(date, milliseconds: time), line: line))
        }
        guard let time = ScheduleText.timeOfDay(text(.time)) else {
            let hint = text(.time).split(separator: ":").count == 4 ? "; frames are not read" : "; write 12:00:00"
            throw ScheduleFault("\(quoted(text(.time))) is no time of the day\(hint)", line: line)
        }
        if text(.date).isEmpty {
            guard let date = mapping.date else {
                throw ScheduleFault("the row has no date; give the day with --date", line: line)
            }
            return (date, try zone.instant(of: CivilTime(date, milliseconds: time), line: line))
        }
        guard let date = ScheduleText.date(text(.date), order: mapping.dateOrder) else {
            throw ScheduleFault(
                "\(quoted(text(.date))) is no date in the order \(mapping.dateOrder.rawValue) (--date-order)",
                line: line
            )
        }
        return (date, try zone.instant(of: CivilTime(date, milliseconds: time), line: line))
    }

    private static func scheduled(_ id: String, _ unsorted: [Row]) throws(ScheduleFault) -> ScheduledBreak {
        let rows = unsorted.sorted { ($0.start, $0.line) < ($1.start, $1.line) }
        for (former, next) in zip(rows, rows.dropFirst()) where former.start == next.start {
            let line = max(former.line, next.line)
            throw ScheduleFault(
                "the break \(id) has another row with this time, on line \(min(former.line, next.line))",
                line: line
            )
        }
        guard rows.count <= ScheduleLimits.scheduleSourcesPerBreakMax, let first = rows.first else {
            throw ScheduleFault(
                limit: "scheduleSourcesPerBreakMax",
                ScheduleLimits.scheduleSourcesPerBreakMax,
                line: unsorted.first?.line
            )
        }
        let ads = rows.compactMap(\.ads)
        if let without = rows.first(where: { $0.ads == nil }), !ads.isEmpty {
            throw ScheduleFault("the spot has no ads, and others of the break \(id) have some", line: without.line)
        }
        var result = ScheduledBreak(
            id: id,
            startMilliseconds: first.start,
            title: rows.first { !$0.title.isEmpty }?.title ?? "",
            ads: ads,
            line: rows.map(\.line).min() ?? first.line
        )
        let durations = rows.compactMap(\.duration)
        if durations.count == rows.count {
            let sum = durations.reduce(0, +)
            guard sum <= ScheduleLimits.breakMillisecondsMax else {
                throw ScheduleFault(
                    limit: "breakMillisecondsMax",
                    ScheduleLimits.breakMillisecondsMax,
                    line: first.line
                )
            }
            result.durationMilliseconds = sum
        }
        return result
    }
}

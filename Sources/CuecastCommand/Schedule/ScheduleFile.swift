// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import BreakScheduling
import CommandSupport
import CuecastWire
import Foundation
import Gateway

/// The file of a schedule, and how it is read.
struct ScheduleFile: ParsableArguments {
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case csv
        case ical
        case vmap
    }

    @Argument(help: "The file: a traffic log (.csv), a calendar (.ics) or VMAP (.xml, .vmap).")
    var file: String

    @Option(
        name: .customLong("from"),
        help: "The form of the file: csv, ical or vmap. (default: by the end of its name)"
    )
    var form: Form?

    @Option(
        help: """
            The schedule's name: 1 to 24 characters A–Z, a–z, 0–9, '_' or '-'. The ids of its breaks begin with it and a point; it \
            changes no other break. (default: the file's name)
            """
    )
    var name: String?

    @Option(help: "The list of ads, kept by the gateway, for breaks that name no ads, or whose ad server gives none.")
    var list: String?

    @Option(help: "The folder in which files of ads are. (default: the folder of the schedule)")
    var adsFolder: String?

    @Flag(help: "Go on without rows that cannot be read; nothing is cancelled then.")
    var skipFaulty = false

    @OptionGroup(title: "Times") var times: ScheduleTimes
    @OptionGroup(title: "Traffic logs") var log: TrafficLogOptions
    @OptionGroup(title: "VMAP") var programme: ProgrammeOptions

    func validate() throws {
        if let name = self.name, !ScheduleID.isName(name) {
            throw ValidationError("--name: '\(name)' is not 1 to 24 characters A–Z, a–z, 0–9, '_' or '-'.")
        }
        guard self.chosenForm != nil else {
            throw ValidationError("The end of '\(self.file)' is none of .csv, .ics, .xml and .vmap: give --from.")
        }
        if let list = self.list, (try? AdListName(list)) == nil {
            throw ValidationError("--list: '\(list)' is not 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'.")
        }
        if self.chosenForm == .vmap, self.programme.programmeStart == nil {
            throw ValidationError("VMAP has the breaks of a programme: say when it starts with --programme-start.")
        }
        if self.chosenForm == .csv, self.times.timeZone == nil {
            throw ValidationError(
                "A traffic log has local times: give their zone with --time-zone, for instance Europe/Oslo or UTC."
            )
        }
        _ = try self.times.zone()
        _ = try self.log.mapping()
    }

    /// The schedule's name.
    var scheduleName: String {
        self.name ?? ScheduleID.name(from: URL(fileURLWithPath: self.file).deletingPathExtension().lastPathComponent)
    }

    /// Whether it has more breaks as time goes on.
    var isEndless: Bool { self.chosenForm == .ical }

    private var chosenForm: Form? {
        if let form = self.form { return form }
        switch URL(fileURLWithPath: self.file).pathExtension.lowercased() {
        case "csv", "tsv", "txt": return .csv
        case "ics", "ical", "ifb": return .ical
        case "xml", "vmap": return .vmap
        default: return nil
        }
    }

    /// Reads the file.
    ///
    /// - Parameter now: in milliseconds since 1970.
    /// - Returns: its breaks and faults.
    /// - Throws: where the whole of it cannot be read.
    func read(now: Int64) throws(ScheduleFault) -> ScheduleDocument {
        var document = try self.readDocument(now: now)
        guard self.list == nil else { return document }
        for each in document.breaks where !each.tags.isEmpty {
            let reason = "its ads are at an ad server; name a list with --list, whose ads play if the server gives none"
            document.refuse(each.id, ScheduleFault(reason, line: each.line))
        }
        return document
    }

    private func readDocument(now: Int64) throws(ScheduleFault) -> ScheduleDocument {
        let document = try Self.contents(of: self.file)
        let (zone, mapping): (ScheduleZone?, TrafficLogMapping)
        do {
            (zone, mapping) = (try self.times.zone(), try self.log.mapping())
        } catch {
            throw ScheduleFault("\(error)")
        }
        switch self.chosenForm {
        case .ical:
            // Rules go on for ever; breaks are put in hours ahead at most. Whole days, so that it is told once a day.
            let today = now - now % CivilDate.dayMilliseconds
            return try CalendarReader.read(
                document,
                zone: zone,
                zoneNamed: { ScheduleTimes.zone(named: $0, self.times.clockChange) },
                period: today - CivilDate.dayMilliseconds..<today + 8 * CivilDate.dayMilliseconds
            )
        case .vmap:
            return try VMAPReader.read(document, programme: self.programme.programme())
        case .csv, nil:
            return try TrafficLog.read(document, mapping: mapping, zone: zone ?? .utc)
        }
    }

    /// The bytes of a file; of a larger one than is read, one byte more than the limit.
    static func contents(of path: String) throws(ScheduleFault) -> [UInt8] {
        do throws(InputFile.Fault) {
            return try InputFile.bytes(of: path, upTo: ScheduleLimits.scheduleBytesMax)
        } catch {
            throw ScheduleFault(error.reason)
        }
    }
}

/// The time zone of a schedule's local times.
struct ScheduleTimes: ParsableArguments {
    @Option(help: "The time zone of local times, for instance Europe/Oslo or UTC.")
    var timeZone: String?

    @Option(
        help: """
            What to do with a local time that is not there, or there twice, because clocks change: refuse, first or second; one that \
            is not there is read by the offset before the change.
            """
    )
    var clockChange = ScheduleZone.ClockChange.refuse

    /// The zone; `nil`: none was given.
    func zone() throws -> ScheduleZone? {
        guard let name = self.timeZone else { return nil }
        guard let zone = Self.zone(named: name, self.clockChange) else {
            throw ValidationError("--time-zone: '\(name)' is not known; write a name such as Europe/Oslo, or UTC.")
        }
        return zone
    }

    static func zone(named name: String, _ clockChange: ScheduleZone.ClockChange) -> ScheduleZone? {
        // Abbreviations such as CST mean several zones.
        guard name.contains("/") || name == "UTC", let zone = TimeZone(identifier: name) else { return nil }
        return ScheduleZone(name: name, clockChange: clockChange) { seconds in
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds)))
        }
    }
}

extension ScheduleZone.ClockChange: ExpressibleByArgument {}
extension ScheduleText.DateOrder: ExpressibleByArgument {}

/// The columns of a traffic log.
struct TrafficLogOptions: ParsableArguments {
    @Option(
        name: .customLong("column"),
        help: """
            The name of a column, for instance time='Air Time', or its number: time=#2. Columns: date, time, start, duration, id, \
            list, ads, vast-url, title. Repeat it. (default: these names)
            """
    )
    var columns: [String] = []

    @Option(help: "A file with the names of columns, one on each line: time = Air Time.")
    var columnsFile: String?

    @Flag(help: "The first row has values, and no names.")
    var noHeader = false

    @Option(help: "What stands between fields: ',', ';' or 'tab'. (default: what the first row has most of)")
    var delimiter: String?

    @Option(help: "The order of the numbers of a date: ymd, dmy or mdy.")
    var dateOrder = ScheduleText.DateOrder.ymd

    @Option(help: "The day of rows without a date, for instance 2026-11-21.")
    var date: String?

    func mapping() throws -> TrafficLogMapping {
        var mapping = TrafficLogMapping()
        mapping.hasHeader = !self.noHeader
        mapping.dateOrder = self.dateOrder
        switch self.delimiter {
        case nil: break
        case ",": mapping.delimiter = UInt8(ascii: ",")
        case ";": mapping.delimiter = UInt8(ascii: ";")
        case "tab": mapping.delimiter = UInt8(ascii: "\t")
        default: throw ValidationError("--delimiter is ',', ';' or 'tab'.")
        }
        if let text = self.date {
            guard let date = ScheduleText.date(text, order: .ymd) else {
                throw ValidationError("--date: '\(text)' is no day; write 2026-11-21.")
            }
            mapping.date = date
        }
        do throws(ScheduleFault) {
            for each in self.columns { try mapping.name(each) }
        } catch {
            throw ValidationError("--column: \(error)")
        }
        if let path = self.columnsFile {
            do throws(ScheduleFault) {
                try mapping.read(try ScheduleFile.contents(of: path))
            } catch {
                throw ValidationError("--columns-file: \(path): \(error)")
            }
        }
        return mapping
    }
}

/// The programme of a VMAP document.
struct ProgrammeOptions: ParsableArguments {
    @Option(
        help: "When the programme starts (RFC 3339), for instance 2026-11-21T12:00:00Z.",
        transform: TimeArgument.read
    )
    var programmeStart: TimeArgument?

    @Option(help: "How long the programme lasts, for instance 45m.", transform: DurationArgument.read)
    var programmeDuration: DurationArgument?

    @Option(
        name: .customLong("position"),
        help:
            "The place of a break in the programme, for instance 12m30s, for the offsets #1, #2 and so on. Repeat it.",
        transform: DurationArgument.read
    )
    var positions: [DurationArgument] = []

    func programme() -> Programme {
        func milliseconds(_ each: DurationArgument) -> Int64 { each.duration.inMicroseconds / 1_000 }
        return Programme(
            startMilliseconds: Int64(((self.programmeStart?.date.timeIntervalSince1970 ?? 0) * 1_000).rounded()),
            durationMilliseconds: self.programmeDuration.map(milliseconds),
            positionsMilliseconds: self.positions.map(milliseconds).sorted()
        )
    }
}

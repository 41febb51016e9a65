// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport

extension FuzzTarget {
    /// Logs of traffic systems.
    static let trafficLog = FuzzTarget(
        name: "traffic-log",
        sample: { generator in
            let rows = generator.list(1...6) { generator in
                [generator.pick(dates), generator.pick(times), generator.pick(lengths), generator.pick(names), "spots"]
                    .joined(separator: ",")
            }
            return Array(("date,time,duration,id,list\n" + rows.joined(separator: "\n")).utf8)
        },
        change: { input, generator in changed(input, pieces: pieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                for zone in [ScheduleZone.utc, shifting] {
                    let read = { try? TrafficLog.read(input, mapping: TrafficLogMapping(), zone: zone) }
                    try check(read)
                }
            }
        }
    )

    /// Calendars.
    static let calendar = FuzzTarget(
        name: "calendar",
        sample: { generator in
            let events = generator.list(1...3) { generator in
                """
                BEGIN:VEVENT\r\nUID:\(generator.pick(names))\r\nDTSTART\(generator.pick(starts))\r\n\(generator.pick(properties))\r
                \(generator.pick(rules))\r\nEND:VEVENT\r\n
                """
            }
            return Array(("BEGIN:VCALENDAR\r\n" + events.joined() + "END:VCALENDAR\r\n").utf8)
        },
        change: { input, generator in changed(input, pieces: pieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                let day = CivilDate.dayMilliseconds
                let period = 20_000 * day..<20_010 * day
                let read = {
                    try? CalendarReader.read(
                        input,
                        zone: shifting,
                        zoneNamed: { $0 == "UTC" ? .utc : nil },
                        period: period
                    )
                }
                try check(read)
            }
        }
    )

    /// VMAP documents.
    static let vmap = FuzzTarget(
        name: "vmap",
        sample: { generator in
            let breaks = generator.list(1...4) { generator in
                let more = generator.pick(["", " breakId='a'", " repeatAfter='00:10:00'", " breakId='x y'"])
                return
                    "<AdBreak breakType='linear' timeOffset='\(generator.pick(offsets))'\(more)>\(generator.pick(sources))</AdBreak>"
            }
            return Array(("<VMAP version='1.0'>" + breaks.joined() + "</VMAP>").utf8)
        },
        change: { input, generator in changed(input, pieces: pieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                for length in [nil, 3_600_000] as [Int64?] {
                    let programme = Programme(
                        startMilliseconds: 1_795_780_800_000,
                        durationMilliseconds: length,
                        positionsMilliseconds: [600_000]
                    )
                    let read = { try? VMAPReader.read(input, programme: programme) }
                    try check(read)
                }
            }
        }
    )
}

/// Insists on what holds for every schedule: it is read twice alike, its breaks are in order, their ids differ and fit, its limits hold.
private func check(_ read: () -> ScheduleDocument?) throws(Broken) {
    guard let document = read() else { return }
    try insist(read() == document, "read twice it differs")
    try insist(document.breaks.count <= ScheduleLimits.scheduleBreaksMax, "\(document.breaks.count) breaks")
    try insist(document.faults.count <= ScheduleLimits.scheduleFaultsMax, "\(document.faults.count) faults")
    try insist(Set(document.breaks.map(\.id)).count == document.breaks.count, "an id is there twice")
    for (former, next) in zip(document.breaks, document.breaks.dropFirst()) {
        try insist(
            (former.startMilliseconds, former.id) < (next.startMilliseconds, next.id),
            "\(former.id) stands before \(next.id)"
        )
    }
    for each in document.breaks {
        let isSafe = each.id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ".") }
        try insist(isSafe && (1...ScheduleID.bytesMax).contains(each.id.utf8.count), "the id \(each.id)")
        let length = each.durationMilliseconds ?? 1
        try insist((1...ScheduleLimits.breakMillisecondsMax).contains(length), "\(each.id) lasts \(length) ms")
        try insist(each.ads.count <= ScheduleLimits.scheduleSourcesPerBreakMax, "\(each.ads.count) sources of ads")
    }
}

/// Clocks that are put forward and back every few days.
private let shifting = ScheduleZone(name: "Test/Shifting", clockChange: .first) { seconds in
    seconds / 604_800 % 2 == 0 ? 3_600 : 7_200
}

private let dates = ["2026-11-21", "20261122", "2026-02-30", "1970-01-01", "2199-12-31", "21.11.2026", ""]
private let times = ["12:00", "02:30:00", "25:30:00.5", "01:00 PM", "29:59:59.999", "12:00:00:10", "x"]
private let lengths = ["30", ":30", "1:30", "06:00:00", "00:00:00", "", "90.25"]
private let names = [
    "a", "B-1", "noon break", "ä", "", "uid@example.com", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
]
private let starts = [
    ":20241005T120000Z", ";TZID=UTC:20241005T120000", ":20241005T023000", ";VALUE=DATE:20241005", ":19700101T000000Z",
]
private let properties = [
    "DURATION:PT30S", "DTEND:20241005T120100Z", "SUMMARY:x\\, y\r\n z", "CATEGORIES:spots", "STATUS:CANCELLED",
]
private let rules = [
    "RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY;BYDAY=SA,SU;INTERVAL=2", "RRULE:FREQ=DAILY;COUNT=1000",
    "X-CUECAST-LIST:spots",
    "RRULE:FREQ=DAILY;UNTIL=21991231\r\nEXDATE:20241006T120000Z",
]
private let offsets = ["start", "end", "00:10:00", "50%", "#1", "99:59:59.999", "#2", "100.5%"]
private let sources = [
    "", "<AdSource><AdTagURI>https://ads.example/v</AdTagURI></AdSource>", "<AdSource><CustomAdData/></AdSource>",
    "<AdSource allowMultipleAds='false'><VASTAdData><VAST version='3.0'><Ad><InLine><Creatives><Creative><Linear><Duration>00:00:30</Duration>"
        + "<MediaFiles><MediaFile delivery='progressive' type='audio/mpeg'>https://a.example/a.mp3</MediaFile></MediaFiles></Linear></Creative>"
        + "</Creatives></InLine></Ad></VAST></VASTAdData></AdSource>",
]
private let pieces = [
    ",", ";", "\"", "\"\"", "\r\n", "\n", "\r\n ", ":", "T", "Z", "%", "#", "<", ">", "&amp;", "BEGIN:VEVENT\r\n",
    "END:VEVENT\r\n",
    "INTERVAL=366;", "COUNT=1;", "0", "9999999999", "\u{FEFF}", "<![CDATA[", "é",
]

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Calendars of breaks (RFC 5545).
@Suite(.suiteLimit)
struct CalendarReaderTests {
    private static let period = instant("2026-11-20T00:00:00Z")..<instant("2026-11-30T00:00:00Z")

    private func read(
        _ event: String,
        zone: ScheduleZone? = nil,
        period: Range<Int64> = Self.period
    ) throws(ScheduleFault) -> ScheduleDocument {
        let text =
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + event.replacing("\n", with: "\r\n")
            + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        return try CalendarReader.read(
            Array(text.utf8),
            zone: zone,
            zoneNamed: { $0 == "Europe/Oslo" ? .oslo() : nil },
            period: period
        )
    }

    private func faults(_ event: String) -> [String] {
        do throws(ScheduleFault) {
            return try self.read(event).faults.map(\.description)
        } catch {
            return [error.description]
        }
    }

    private func starts(_ rule: String, from start: String = "20261123T120000Z") throws -> [String] {
        let document = try self.read("UID:u\nDTSTART:\(start)\nDURATION:PT30S\nRRULE:\(rule)")
        #expect(document.faults.isEmpty)
        return document.breaks.map { String(CivilTime(milliseconds: $0.startMilliseconds).description.dropFirst(5)) }
    }

    @Test func `an event is a break`() throws {
        let document = try self.read(
            "UID:noon-1\nSUMMARY:Noon\\, with a lo\n ng title\nDTSTART:20261121T120000Z\nDTEND:20261121T120130Z\nCATEGORIES:spots"
        )
        let each = try #require(document.breaks.first)
        #expect(each.id == "noon-1" && each.title == "Noon, with a long title" && each.ads == [.list("spots")])
        #expect(each.startMilliseconds == instant("2026-11-21T12:00:00Z") && each.durationMilliseconds == 90_000)
        #expect(document.idPrefixes == nil && each.line == 2)
    }

    @Test func `time zones are by name, by option, or missing`() throws {
        let named = try self.read("UID:a\nDTSTART;TZID=\"Europe/Oslo\":20261121T120000\nDURATION:P0DT1M")
        #expect(named.breaks.map(\.startMilliseconds) == [instant("2026-11-21T11:00:00Z")])
        let floating = "UID:a\nDTSTART:20261121T120000"
        #expect(
            try self.read(floating, zone: .oslo()).breaks.map(\.startMilliseconds) == [instant("2026-11-21T11:00:00Z")]
        )
        #expect(self.faults(floating) == ["line 4: the time names no time zone; give one with --time-zone"])
        let change = try self.read("UID:a\nDTSTART;TZID=Europe/Oslo:20261025T120000")
        #expect(change.notes.map(\.text) == ["The clocks of Europe/Oslo change on 2026-10-25: that day has 25 hours."])
    }

    @Test func `ads are by property, before the category`() throws {
        let start = "UID:a\nDTSTART:20261121T120000Z\n"
        #expect(try self.read(start + "X-CUECAST-LIST:x\nCATEGORIES:a,b").breaks.map(\.ads) == [[.list("x")]])
        #expect(try self.read(start + "X-CUECAST-ADS:a.xml").breaks.map(\.ads) == [[.file("a.xml")]])
        let server = "X-CUECAST-VAST-URL:https://ads.example/v?a=1,2\\;b"
        #expect(
            try self.read(start + server).breaks.map(\.ads) == [
                [.tag(ScheduledTag(address: "https://ads.example/v?a=1,2\\;b"))]
            ]
        )
        for (lines, reason) in [
            (server + "\nX-CUECAST-LIST:x", "it names an ad server, and a list or a file of ads beside it"),
            ("X-CUECAST-VAST-URL:ftp://a.example/", "“ftp://a.example/” is no absolute http or https address"),
        ] {
            #expect(try self.read(start + lines).faults.map(\.reason) == [reason])
        }
        #expect(try self.read(start + "STATUS:CONFIRMED").breaks.map(\.ads) == [[]])
    }

    @Test func `daily and weekly rules are followed`() throws {
        #expect(try self.starts("FREQ=DAILY;COUNT=3") == ["11-23 12:00:00", "11-24 12:00:00", "11-25 12:00:00"])
        #expect(
            try self.starts("FREQ=DAILY;INTERVAL=2;UNTIL=20261127T115959Z") == ["11-23 12:00:00", "11-25 12:00:00"]
        )
        #expect(try self.starts("FREQ=DAILY;UNTIL=20261124") == ["11-23 12:00:00", "11-24 12:00:00"])
        #expect(try self.starts("FREQ=DAILY;BYDAY=MO,WE;COUNT=3") == ["11-23 12:00:00", "11-25 12:00:00"])
        #expect(try self.starts("FREQ=WEEKLY;BYDAY=MO,SU;COUNT=2") == ["11-23 12:00:00", "11-29 12:00:00"])
        // Every other week, where the week begins on Sunday: the next Sunday is in the week that is left out.
        #expect(try self.starts("FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,SU;COUNT=2") == ["11-23 12:00:00"])
        // Rules count from their beginning, long before.
        #expect(try self.starts("FREQ=WEEKLY;COUNT=3", from: "20261109T120000Z") == ["11-23 12:00:00"])
    }

    @Test func `a rule without an end is followed for a while, and that is told`() throws {
        let document = try self.read(
            "UID:u\nDTSTART;TZID=Europe/Oslo:20200101T130000\nRRULE:FREQ=DAILY\nEXDATE;TZID=Europe/Oslo:20261122T130000,20261124T130000"
        )
        let days = document.breaks.map {
            CivilTime(milliseconds: $0.startMilliseconds).description.dropFirst(8).prefix(2)
        }
        #expect(days == ["20", "21", "23", "25", "26", "27", "28", "29"])
        #expect(document.breaks.first?.id == "20261120T130000-u")
        #expect(document.notes.map(\.text) == ["Occurrences of the rule count until 2026-11-30 00:00:00 UTC."])
    }

    @Test(arguments: [
        ("DTSTART:20261121T120000Z", "line 2: the event has no UID"),
        ("UID:a", "line 2: the event has no DTSTART"),
        ("UID:a\nDTSTART;VALUE=DATE:20261121", "line 4: the event lasts all day, and a break has a time"),
        ("UID:a\nDTSTART:20261121", "line 4: “20261121” is no time; write 20261121T120000Z"),
        (
            "UID:a\nDTSTART;TZID=W. Europe Standard Time:20261121T120000",
            "line 4: the time zone “W. Europe Standard Time” is not known; only names such as Europe/Oslo are read"
        ),
        ("UID:a\nDTSTART:20261121T120000Z\nDTEND:20261121T120000Z", "line 5: the event ends before it starts"),
        ("UID:a\nDTSTART:20261121T120000Z\nDURATION:PT0S", "line 5: “PT0S” is no duration above zero; write PT90S"),
        ("UID:a\nDTSTART:20261121T120000Z\nDURATION:PT1S\nDTEND:20261121T130000Z", "line 5: DURATION excludes DTEND"),
        (
            "UID:a\nDTSTART:20261121T120000Z\nDURATION:PT6H1S",
            "line 4: the limit breakMillisecondsMax is 21600000, and there is more"
        ),
        (
            "UID:a\nDTSTART:20261121T120000Z\nRRULE:FREQ=MONTHLY",
            "line 5: the rule's FREQ is “MONTHLY”; only DAILY and WEEKLY are read"
        ),
        (
            "UID:a\nDTSTART:20261121T120000Z\nRRULE:FREQ=DAILY;BYHOUR=1",
            "line 5: the rule has “BYHOUR”; only FREQ, INTERVAL, COUNT, UNTIL, BYDAY and WKST are read"
        ),
        (
            "UID:a\nDTSTART:20261121T120000Z\nRRULE:FREQ=WEEKLY;BYDAY=1MO",
            "line 5: BYDAY has “1MO”; only MO to SU without numbers are read"
        ),
        (
            "UID:a\nDTSTART:20261121T120000Z\nRRULE:FREQ=WEEKLY;BYDAY=MO",
            "line 5: the event's own day is none of the rule's"
        ),
        (
            "UID:a\nDTSTART:20261121T120000Z\nRRULE:FREQ=DAILY;COUNT=1001",
            "line 5: the limit scheduleOccurrencesMax is 1000, and there is more"
        ),
        (
            "UID:a\nDTSTART:20261121T120000Z\nRDATE:20261122T120000Z",
            "line 5: RDATE is not read; write the occurrence as an event of its own"
        ),
        (
            "UID:a\nRECURRENCE-ID:20261121T120000Z\nDTSTART:20261121T120000Z",
            "line 4: RECURRENCE-ID is not read; write the occurrence as an event of its own"
        ),
        (
            "UID:a\nDTSTART:20261121T120000Z\nCATEGORIES:a,b",
            "line 5: the event has several categories; name the list with X-CUECAST-LIST"
        ),
        ("UID:a\nUID:b\nDTSTART:20261121T120000Z", "line 4: UID is there twice"),
        ("UID:a\nDTSTART:20261121T120000Z\nno line", "line 5: this is no line of a calendar: “no line”"),
        ("UID:a\nEND:VALARM", "line 4: END:“VALARM” ends nothing that is open"),
        ("STATUS:CANCELLED", "there is no break in it; to take breaks back, cancel them"),
    ])
    func `a fault names its line`(event: String, expected: String) {
        #expect(self.faults(event) == [expected])
    }

    @Test func `what is no calendar is refused, and ids are there once`() throws {
        let read = { (text: String) in
            fault { () throws(ScheduleFault) in
                try CalendarReader.read(Array(text.utf8), zone: nil, zoneNamed: { _ in nil }, period: Self.period)
            }
        }
        #expect(read("hello: you")?.reason.contains("no calendar") ?? false)
        #expect(read("")?.reason.contains("no calendar") ?? false)
        #expect(read("BEGIN:VCALENDAR\nBEGIN:VEVENT")?.reason == "the document ends inside VEVENT")
        #expect(read("BEGIN:VCALENDAR\nEND:VCALENDAR\nX:1")?.line == 3)
        let event = "UID:a\nDTSTART:20261121T120000Z"
        let twice = try self.read(event + "\nEND:VEVENT\nBEGIN:VEVENT\n" + event)
        #expect(twice.faults.map(\.description) == ["line 6: the break a is there already, on line 2"])
        let long = String(repeating: "x", count: ScheduleLimits.scheduleFieldBytesMax - 8)
        #expect(try self.read(event + "\nSUMMARY:" + long).breaks.count == 1)
        #expect(self.faults(event + "\nSUMMARY:x" + long).first?.contains("scheduleFieldBytesMax") ?? false)
    }
}

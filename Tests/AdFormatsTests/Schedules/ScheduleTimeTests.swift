// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Dates, times and time zones of schedules.
@Suite(.suiteLimit)
struct ScheduleTimeTests {
    @Test func `every day from 1970 to 2199 is itself again`() throws {
        var days = 0
        for year in CivilDate.years {
            for month in 1...12 {
                for day in 1...31 {
                    guard let date = CivilDate(year: year, month: month, day: day) else { continue }
                    try #require(date.days == days)
                    try #require(date.parts == (year, month, day))
                    try #require(date.weekday == (days + 3) % 7)
                    days += 1
                }
            }
        }
        #expect(days == 84_006)
        #expect(CivilDate(days: 84_006) == nil && CivilDate(days: 84_005)?.description == "2199-12-31")
        #expect(CivilDate(year: 2100, month: 2, day: 29) == nil)
        #expect(CivilDate(year: 2000, month: 2, day: 29)?.weekday == 1)
    }

    @Test(
        arguments: [
            ("2026-11-21", ScheduleText.DateOrder.ymd, "2026-11-21"), ("2026/1/2", .ymd, "2026-01-02"),
            ("20261121", .ymd, "2026-11-21"), ("21.11.2026", .dmy, "2026-11-21"), ("3/4/2026", .dmy, "2026-04-03"),
            ("3/4/2026", .mdy, "2026-03-04"), ("21.11.2026", .ymd, nil), ("21.11.26", .dmy, nil),
            ("2026-02-30", .ymd, nil),
            ("", .ymd, nil), ("١٢-١١-٢٠٢٦", .dmy, nil), ("2026-11", .ymd, nil),
        ] as [(String, ScheduleText.DateOrder, String?)]
    )
    func `a date is read in its order`(text: String, order: ScheduleText.DateOrder, date: String?) {
        #expect(ScheduleText.date(text, order: order)?.description == date)
    }

    @Test(
        arguments: [
            ("12:00", 43_200_000), ("12:00:00.5", 43_200_500), ("0:00", 0), ("25:30:00", 91_800_000),
            ("29:59:59", 107_999_000),
            ("30:00", nil), ("01:30:00 PM", 48_600_000), ("12:00 am", 0), ("13:00 PM", nil), ("12:60", nil),
            ("12", nil),
            ("12:00:00:12", nil), ("-1:00", nil), ("12:00:00.", nil),
        ] as [(String, Int64?)]
    )
    func `a time of the day is read`(text: String, milliseconds: Int64?) {
        #expect(ScheduleText.timeOfDay(text) == milliseconds)
    }

    @Test(
        arguments: [
            ("90", 90_000), ("90.25", 90_250), ("90s", 90_000), (":30", 30_000), ("1:30", 90_000), ("00:01:30", 90_000),
            ("90:00", 5_400_000), ("00:90:00", nil), ("0", nil), ("1:60", nil), ("abc", nil), ("", nil),
            ("1:2:3:4", nil),
        ] as [(String, Int64?)]
    )
    func `a length is read`(text: String, milliseconds: Int64?) {
        #expect(ScheduleText.duration(text) == milliseconds)
    }

    @Test func `an instant has its offset`() {
        #expect(instant("2026-11-21T13:00:00+01:00") == instant("2026-11-21T12:00:00Z"))
        #expect(instant("2026-11-21 11:30:00.250-00:30") == instant("2026-11-21T12:00:00.250Z"))
        #expect(ScheduleText.instant("2026-11-21T12:00:00") == nil)
    }

    @Test func `a local time that is not there, or there twice, is refused or resolved as asked`() throws {
        let gap = try #require(CivilDate(year: 2026, month: 3, day: 29))
        let fold = try #require(CivilDate(year: 2026, month: 10, day: 25))
        let half = Int64(9_000_000)
        #expect(
            fault { () throws(ScheduleFault) in
                try ScheduleZone.oslo().instant(of: CivilTime(gap, milliseconds: half), line: 4)
            }?
            .description.hasPrefix("line 4: the time 2026-03-29 02:30:00 is not there") ?? false
        )
        #expect(
            fault { () throws(ScheduleFault) in
                try ScheduleZone.oslo().instant(of: CivilTime(fold, milliseconds: half), line: 4)
            }?
            .description.contains("there twice") ?? false
        )
        let (first, second) = (ScheduleZone.oslo(.first), ScheduleZone.oslo(.second))
        #expect(
            try first.instant(of: CivilTime(fold, milliseconds: half), line: nil) == instant("2026-10-25T00:30:00Z")
        )
        #expect(
            try second.instant(of: CivilTime(fold, milliseconds: half), line: nil) == instant("2026-10-25T01:30:00Z")
        )
        #expect(try first.instant(of: CivilTime(gap, milliseconds: half), line: nil) == instant("2026-03-29T01:30:00Z"))
        #expect(ScheduleZone.oslo().unusualHours(of: gap) == "23" && ScheduleZone.oslo().unusualHours(of: fold) == "25")
        #expect(ScheduleZone.oslo().unusualHours(of: try #require(CivilDate(year: 2026, month: 3, day: 28))) == nil)
    }

    @Test func `names become ids that differ where they differ`() {
        #expect(ScheduleID.name(from: "traffic-1") == "traffic-1")
        let names = [
            "a b", "a.b", "a/b", "ä b", "", String(repeating: "x", count: 30), String(repeating: "x", count: 31),
        ]
        let made = names.map { ScheduleID.name(from: $0) }
        #expect(Set(made).count == names.count && made.allSatisfy(ScheduleID.isName))
        #expect(
            !ScheduleID.isName("a.b") && !ScheduleID.isName("") && !ScheduleID.isName(String(repeating: "x", count: 25))
        )
    }
}

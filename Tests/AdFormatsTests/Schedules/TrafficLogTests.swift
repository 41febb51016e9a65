// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Logs of traffic systems.
@Suite(.suiteLimit)
struct TrafficLogTests {
    private func read(
        _ text: String,
        zone: ScheduleZone = .utc,
        _ change: (inout TrafficLogMapping) throws(ScheduleFault) -> Void = { _ in }
    ) throws(ScheduleFault) -> ScheduleDocument {
        var mapping = TrafficLogMapping()
        try change(&mapping)
        return try TrafficLog.read(Array(text.utf8), mapping: mapping, zone: zone)
    }

    private func faults(_ text: String) -> [String] {
        do throws(ScheduleFault) {
            return try self.read(text).faults.map(\.description)
        } catch {
            return [error.description]
        }
    }

    @Test func `a log has its breaks by start, with their columns`() throws {
        let document = try self.read(
            #"""
            date,time,duration,id,list,ads,title
            2026-11-21,13:00,:30,12B,,spots/a.xml,"Noon, ""late"""
            2026-11-21,12:00:00,00:01:30,12A,spots,,
            """#
        )
        #expect(document.faults.isEmpty && document.notes.isEmpty)
        #expect(document.breaks.map(\.id) == ["20261121-12A", "20261121-12B"])
        #expect(document.breaks[0].startMilliseconds == instant("2026-11-21T12:00:00Z"))
        #expect(document.breaks[0].durationMilliseconds == 90_000 && document.breaks[0].ads == [.list("spots")])
        #expect(document.breaks[1].ads == [.file("spots/a.xml")] && document.breaks[1].title == "Noon, \"late\"")
        #expect(document.breaks[1].line == 2 && document.idPrefixes == ["20261121-"])
    }

    @Test func `byte order mark, semicolons, other names, numbers and no header are read`() throws {
        let semicolons = try self.read("\u{FEFF}Air Date;Air Time;Len\r\n21.11.2026;01:00 PM;60\r\n") {
            (mapping) throws(ScheduleFault) in
            try mapping.read(Array("# ours\n\ndate = Air Date\ntime = air time\nduration=#3".utf8))
            mapping.dateOrder = .dmy
        }
        #expect(semicolons.breaks.map(\.startMilliseconds) == [instant("2026-11-21T13:00:00Z")])
        #expect(semicolons.breaks.map(\.durationMilliseconds) == [60_000])
        let bare = try self.read("x\t12:00\ny\t13:00\n") { (mapping) throws(ScheduleFault) in
            mapping.hasHeader = false
            try mapping.name("time=#2")
            try mapping.name("id=#1")
            mapping.date = CivilDate(year: 2026, month: 11, day: 21)
        }
        #expect(bare.breaks.map(\.id) == ["20261121-x", "20261121-y"])
    }

    @Test func `spots with one id are one break, whatever their order`() throws {
        let rows = ["12:00:00,30,A,one", "12:00:30,15,A,two", "12:00:45,15,A,three"]
        for order in [rows, rows.reversed(), [rows[1], rows[2], rows[0]]] {
            let document = try self.read("time,duration,id,list\n" + order.joined(separator: "\n")) {
                (mapping) throws(ScheduleFault) in
                mapping.date = CivilDate(year: 2026, month: 11, day: 21)
            }
            #expect(document.breaks.count == 1 && document.breaks[0].durationMilliseconds == 60_000)
            #expect(document.breaks[0].ads == [.list("one"), .list("two"), .list("three")])
        }
    }

    @Test(arguments: [
        ("date,time\n2026-11-21,12:00\n2026-11-21,12:0", "line 3: “12:0” is no time of the day; write 12:00:00"),
        ("date,time\n2026-11-21,12:00:00:10", "line 2: “12:00:00:10” is no time of the day; frames are not read"),
        ("date,time\n21.11.2026,12:00", "line 2: “21.11.2026” is no date in the order ymd (--date-order)"),
        ("time\n12:00", "line 2: the row has no date; give the day with --date"),
        (
            "date,time,duration\n2026-11-21,12:00,0",
            "line 2: “0” is no duration; write 00:01:30, 1:30, :30 or seconds such as 90"
        ),
        (
            "date,time,duration\n2026-11-21,12:00,6:00:01",
            "line 2: the limit breakMillisecondsMax is 21600000, and there is more"
        ),
        ("date,time,list,ads\n2026-11-21,12:00,a,b", "line 2: it names both a list and a file of ads"),
        (
            "date,time,list,vast-url\n2026-11-21,12:00,a,https://b.example/",
            "line 2: it names an ad server, and a list or a file of ads beside it"
        ),
        (
            "date,time,vast-url\n2026-11-21,12:00,b.example",
            "line 2: “b.example” is no absolute http or https address"
        ),
        ("date,time\n2026-11-21,12:00,x", "line 2: the row has 3 fields, and the first one 2"),
        (
            "date,time\n2026-11-21,12:00\n2026-11-21,12:00:00",
            "line 3: the break 20261121-120000Z has another row with this time, on line 2"
        ),
        (
            "date,time,id,list\n2026-11-21,12:00,A,x\n2026-11-21,12:01,A,",
            "line 3: the spot has no ads, and others of the break 20261121-A have some"
        ),
        ("start\n2026-11-21", "line 2: “2026-11-21” is no start; write 2026-11-21 12:00:00"),
        ("date,when\n1,2", "line 1: no column has the time; name it with --column time=NAME; there are: date, when"),
        ("time,time\n1,2", "line 1: there are several columns “time”; name one by its number, as in #2"),
        ("", "there is no row in it"),
        ("date,time\n", "there is no break in it; to take breaks back, cancel them"),
        ("date,time\n2026-11-21,\"12:00", "line 2: a field in quotation marks that does not end"),
        ("date,time\n2026-11-21,\"12:00\"x", "line 2: text behind a field in quotation marks"),
        ("date,time\n2026-11-21,12\"00", "line 2: a quotation mark in a field without quotation marks around it"),
        ("date,time\r2026-11-21,12:00", "line 1: a carriage return without a line feed"),
    ])
    func `a fault names its line`(text: String, expected: String) {
        #expect(self.faults(text) == [expected])
    }

    @Test func `a quoted field counts its lines, and bytes that are no text are refused`() {
        #expect(
            self.faults("date,time,title\n2026-11-21,12:00,\"a\nb\"\n2026-11-21,x,c").first?.hasPrefix("line 4:")
                ?? false
        )
        let bytes = Array("date,time\n2026-11-21,".utf8) + [0xE4]
        let error = fault { () throws(ScheduleFault) in
            try TrafficLog.read(bytes, mapping: TrafficLogMapping(), zone: .utc)
        }
        #expect(error?.line == 2 && error?.reason.contains("UTF-8") ?? false)
    }

    @Test func `a break of which one spot is faulty is not there`() throws {
        let document = try self.read(
            "date,time,id,list\n2026-11-21,12:00,A,x\n2026-11-21,12:99,A,y\n2026-11-21,13:00,B,x"
        )
        #expect(document.faults.map(\.line) == [3] && document.breaks.map(\.id) == ["20261121-B"])
    }

    @Test func `days with a change of clocks are told, and times of them refused by line`() throws {
        let text = "date,time\n2026-03-29,01:30\n2026-03-29,02:30\n2026-03-29,03:30"
        let document = try self.read(text, zone: .oslo())
        #expect(
            document.notes.map(\.text) == ["The clocks of Europe/Oslo change on 2026-03-29: that day has 23 hours."]
        )
        #expect(document.faults.map(\.line) == [3] && document.breaks.count == 2)
        #expect(try self.read(text, zone: .oslo(.first)).faults.map(\.line) == [4])
        let twice = try self.read("date,time\n2026-10-25,02:30\n2026-10-25,25:30", zone: .oslo(.second))
        #expect(
            twice.breaks.map(\.startMilliseconds) == [instant("2026-10-25T01:30:00Z"), instant("2026-10-26T00:30:00Z")]
        )
    }

    @Test func `limits hold, and one more is refused`() throws {
        let rows = { (count: Int) in
            "date,start,id\n" + (0..<count).map { "2026-11-21,2026-11-21T12:00:00Z,\($0)\n" }.joined()
        }
        #expect(try self.read(rows(ScheduleLimits.scheduleBreaksMax)).breaks.count == ScheduleLimits.scheduleBreaksMax)
        let breaks = fault { () throws(ScheduleFault) in try self.read(rows(ScheduleLimits.scheduleBreaksMax + 1)) }
        #expect(breaks?.limit == "scheduleBreaksMax")
        let lines = fault { () throws(ScheduleFault) in
            try self.read("time\n" + String(repeating: "x\n", count: ScheduleLimits.scheduleRowsMax + 1))
        }
        #expect(lines?.limit == "scheduleRowsMax" && lines?.line == ScheduleLimits.scheduleRowsMax + 2)
        let most = try self.read("time\n" + String(repeating: "x\n", count: ScheduleLimits.scheduleRowsMax))
        #expect(most.faults.count == ScheduleLimits.scheduleFaultsMax)
        #expect(most.moreFaults == ScheduleLimits.scheduleRowsMax - ScheduleLimits.scheduleFaultsMax)
        let field = String(repeating: "x", count: ScheduleLimits.scheduleFieldBytesMax)
        #expect(try self.read("date,time,title\n2026-11-21,12:00,\(field)").breaks.count == 1)
        let long = fault { () throws(ScheduleFault) in try self.read("date,time,title\n2026-11-21,12:00,\(field)x") }
        #expect(long?.limit == "scheduleFieldBytesMax" && long?.line == 2)
        let wide = String(repeating: ",", count: ScheduleLimits.scheduleFieldsMax - 1)
        #expect(fault { () throws(ScheduleFault) in try self.read("time\(wide)") }?.limit == nil)
        #expect(fault { () throws(ScheduleFault) in try self.read("time\(wide),") }?.limit == "scheduleFieldsMax")
        let large = fault { () throws(ScheduleFault) in
            try self.read(String(repeating: "\n", count: ScheduleLimits.scheduleBytesMax + 1))
        }
        #expect(large?.limit == "scheduleBytesMax")
    }

    @Test func `spots of a break are at most so many`() throws {
        let spots = { (count: Int) in
            "start,id,list\n" + (0..<count).map { "2026-11-21T12:00:00.\(100 + $0)Z,A,x\n" }.joined()
        }
        let maximum = ScheduleLimits.scheduleSourcesPerBreakMax
        #expect(try self.read(spots(maximum)).breaks.first?.ads.count == maximum)
        #expect(try self.read(spots(maximum + 1)).faults.map(\.limit) == ["scheduleSourcesPerBreakMax"])
    }
}

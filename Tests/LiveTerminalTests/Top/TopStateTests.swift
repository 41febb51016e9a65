// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayDocuments
import LiveTerminal
import TestSupport
import Testing

@Suite(.suiteLimit)
struct TopStateTests {
    private static let size = ScreenSize(columns: 140, rows: 24)

    /// A view that has a page of streams of 100.
    private func state(_ order: TopState.Order = .stream) throws -> TopState {
        var state = TopState(order: order, size: Self.size)
        state.apply(.gateway(try Said.gateway()))
        let request = try #require(state.request)
        state.apply(.streams(try Said.streams(1..<25, of: 100, running: [2]), request))
        return state
    }

    // MARK: - What is asked

    @Test func `no more is asked for than is shown`() throws {
        var state = try self.state()
        #expect(try #require(state.request).limit == 24)
        let rows = state.watched.count
        #expect(rows > 5 && rows < 24)
        #expect(state.watched == (1...rows).map { "r\($0)" })
        state.apply(.resized(ScreenSize(columns: 80, rows: 1_000)))
        #expect(try #require(state.request).limit == TopState.pageStreamsMax)
    }

    @Test func `counts are wanted of no more streams than a gateway tells one reader`() throws {
        var state = TopState(size: ScreenSize(columns: 80, rows: 100))
        state.apply(.streams(try Said.streams(1..<80, of: 79), try #require(state.request)))
        #expect(state.watched.count == TopState.countedStreamsMax)
    }

    @Test func `the ids whose counts are wanted fit into a request`() throws {
        // Each with its comma has 38 bytes, and 50 of these are the limit.
        for (beyond, count) in [(0, 50), (1, 49)] {
            var state = TopState(size: ScreenSize(columns: 80, rows: 100))
            let width = TopState.countedStreamsBytesMax / TopState.countedStreamsMax - 1
            var list = try Said.streams(1..<61, of: 60)
            for index in list.streams.indices { list.streams[index].stream = String(repeating: "x", count: width) }
            list.streams[0].stream += String(repeating: "x", count: beyond)
            state.apply(.streams(list, try #require(state.request)))
            #expect(state.watched.count == count)
        }
    }

    @Test func `counts of streams that are not shown are not kept`() throws {
        var state = try self.state()
        state.apply(.counts(try Said.counts("r1")))
        state.apply(.counts(try Said.counts("r99")))
        #expect(state.line("r1 ")?.contains("noon") == true)
        state.press(.pageDown)
        let request = try #require(state.request)
        state.apply(.streams(try Said.streams(20..<44, of: 100), request))
        state.press(.pageUp)
        state.apply(.streams(try Said.streams(1..<25, of: 100), try #require(state.request)))
        // What was heard before is old.
        #expect(state.line("r1 ")?.contains("noon") == false)
    }

    @Test func `counts that a connection tells once are kept while it lasts`() throws {
        var state = try self.state()
        func turn(_ key: Key, _ range: Range<Int>) throws {
            state.press(key)
            state.apply(.streams(try Said.streams(range, of: 100), try #require(state.request)))
        }
        state.apply(.following(["r1", "r99"]))
        state.apply(.counts(try Said.counts("r1")))
        try turn(.pageDown, 20..<44)
        try turn(.pageUp, 1..<25)
        #expect(state.line("r1 ")?.contains("noon") == true)
        // Another connection tells what it follows anew.
        try turn(.pageDown, 20..<44)
        state.apply(.following(["r20"]))
        try turn(.pageUp, 1..<25)
        #expect(state.line("r1 ")?.contains("noon") == false)
    }

    @Test func `a page that is not wanted any more is not shown`() throws {
        var state = try self.state()
        let old = try #require(state.request)
        #expect(state.press(.character("s")) == .load)
        state.apply(.streams(try Said.streams(1..<25, of: 100), old))
        #expect(state.line("asking for streams") != nil)
    }

    // MARK: - Keys

    @Test func `pages go on behind the last stream that was shown, and back`() throws {
        var state = try self.state()
        let first = try #require(state.request)
        let last = try #require(state.watched.last)
        #expect(state.press(.pageDown) == .load)
        let second = try #require(state.request)
        #expect(second.after == last && first.after == nil)
        let count = Int(last.dropFirst()) ?? 0
        state.apply(.streams(try Said.streams((count + 1)..<(count + 25), of: 100), second))
        #expect(state.line("streams \(count + 1) to \(count * 2) of 100") != nil)
        #expect(state.press(.pageUp) == .load && state.request == first)
        // There is none before the first.
        state.apply(.streams(try Said.streams(1..<25, of: 100), first))
        #expect(state.press(.pageUp) == nil && state.request == first)
    }

    @Test func `a page that is empty by now gives way to the one before`() throws {
        var state = try self.state()
        let first = try #require(state.request)
        state.press(.pageDown)
        state.apply(.streams(try Said.streams(1..<1, of: 0), try #require(state.request)))
        #expect(state.request == first)
    }

    @Test func `the last page is the last`() throws {
        var state = TopState(size: Self.size)
        state.apply(.streams(try Said.streams(1..<4, of: 3), try #require(state.request)))
        #expect(state.press(.pageDown) == nil)
        #expect(state.press(.down, .down, .down) == nil && state.line("r3 ") != nil)
    }

    @Test func `the order is by stream or by listeners, which has one page`() throws {
        var state = try self.state()
        state.press(.pageDown)
        #expect(state.press(.character("s")) == .load)
        let request = try #require(state.request)
        #expect(request.order == .listeners && request.after == nil)
        state.apply(.streams(try Said.streams(1..<25, of: 100), request))
        #expect(state.line("streams with most listeners of 100, by listeners") != nil)
        #expect(state.press(.pageDown) == nil)
        state.press(.character("s"))
        #expect(try #require(state.request).order == .stream)
    }

    @Test func `typed text is searched for`() throws {
        var state = try self.state()
        // While typing, letters are no commands.
        #expect(state.press(.character("/"), .character("q"), .character("s"), .backspace) == nil)
        #expect(state.line("only streams with: q_") != nil)
        #expect(state.press(.enter) == .load)
        #expect(try #require(state.request).search == "q")
        state.apply(.streams(try Said.streams(1..<1, of: 0), try #require(state.request)))
        #expect(state.line("no stream has 'q' in its id") != nil)
        // Escape leaves what is typed as it was, and then takes the filter away.
        #expect(state.press(.character("/"), .control("u"), .character("x"), .escape) == nil)
        #expect(try #require(state.request).search == "q")
        #expect(state.press(.escape) == .load)
        #expect(try #require(state.request).search == nil)
    }

    @Test(arguments: [0, 1])
    func `no more can be typed than an id has`(beyond: Int) throws {
        var state = try self.state()
        state.press(.character("/"))
        for _ in 0..<(TopState.searchCharactersMax + beyond) { state.press(.character("x")) }
        state.press(.enter)
        #expect(try #require(state.request).search?.count == TopState.searchCharactersMax)
    }

    @Test func `one stream is looked at closely`() throws {
        var state = try self.state()
        #expect(state.press(.down, .enter) == .load)
        #expect(try #require(state.request).detail == "r2" && state.watched == ["r2"])
        state.apply(.breaks(try Said.breaks(), stream: "r1"))
        #expect(state.line("asking for breaks") != nil)
        state.apply(.breaks(try Said.breaks(), stream: "r2"))
        state.apply(.counts(try Said.counts("r2")))
        #expect(state.line("Tea")?.contains("live      20s left") == true)
        // What a title would do to a terminal it does not do.
        #expect(state.line("Tea")?.contains("Tea \u{FFFD}[2J") == true)
        let bars = Dictionary(
            uniqueKeysWithValues: state.screen().filter { $0.hasPrefix("  ") }
                .map { ($0.split(separator: " ")[0], $0.count { $0 == "█" }) }
        )
        let whole = try #require(bars["delivered"])
        #expect(whole == Self.size.columns - 26)
        #expect(bars["played"] == Int((Double(whole) * 0.6).rounded()))
        #expect(bars["asked"] == whole && bars["notified"] == 0)
        #expect(state.press(.escape) == .load && state.watched.count > 1)
    }

    @Test func `the watchers of the stream that is looked at have a line each`() throws {
        var state = try self.state()
        state.press(.down, .enter)
        state.apply(.breaks(try Said.breaks(), stream: "r2"))
        state.apply(.watchers(try Said.watchers(1), stream: "r1"))
        #expect(state.line("watched by") == nil, "of another stream")
        state.apply(.watchers(try Said.watchers(1), stream: "r2"))
        let line = try #require(state.line("watched by w1 for encoder (hls)"))
        #expect(line.contains("heard 8s ago") && line.contains("https://a.example/x"))
        state.apply(.watchers(try Said.watchers(2), stream: "r2"))
        let gone = try #require(state.line("watched by w2 for encoder (hls)"))
        #expect(gone.contains("GONE, reported 10s ago") && gone.contains("nothing came yet"))
        state.apply(.watchers(try Said.watchers(5), stream: "r2"))
        #expect(state.line("and 3 more watchers") != nil && state.line("GONE") != nil)
        state.press(.escape)
        state.press(.enter)
        #expect(state.line("watched by") == nil)
    }

    @Test func `keys that end, stop and draw anew`() throws {
        var state = try self.state()
        #expect(state.press(.character("q")) == .quit)
        #expect(state.press(.control("c")) == .quit)
        #expect(state.press(.control("z")) == .suspend)
        #expect(state.press(.control("l")) == .redraw)
        #expect(state.press(.character("/"), .control("c")) == .quit)
        state.press(.escape)
        #expect(state.press(.character("?")) == nil && state.line("Keys") != nil)
        #expect(state.press(.character("x")) == nil && state.line("Keys") == nil)
        #expect(state.press(.enter, .character("q")) == .quit)
    }

    // MARK: - The shown content

    @Test func `of several gateways it shows how many listen at this one`() throws {
        var state = try self.state()
        state.apply(.gateway(try Said.gateway(here: 404, gateways: 3)))
        #expect(state.line("1,204 listeners (at 3 gateways, 404 here, 3 by HTTP)   10,000 streams") != nil)
    }

    @Test func `the gateway's figures stand above`() throws {
        let state = try self.state()
        #expect(state.line("cuecast top  127.0.0.1:7480  2026-05-01 12:00:10 UTC  version 0.1.0") != nil)
        #expect(state.line("1,204 listeners (3 by HTTP)   10,000 streams   12 breaks running") != nil)
        #expect(state.line("1 notices   40.3 batches   1,235 acknowledgements") != nil)
        #expect(state.line("notice 1.2 / 3.4 ms   log append -   timers late -") != nil)
        #expect(state.line("17 records behind, for 0.5 s") != nil)
        #expect(state.line("disk 12 MiB, 20 GiB free   memory 61 MiB   descriptors 40 of 1,048,576") != nil)
    }

    @Test func `a row has the break, the time and the counts`() throws {
        var state = try self.state()
        state.apply(.counts(try Said.counts("r2")))
        let row = try #require(state.line("r2 "))
        #expect(
            row.split(separator: " ") == [
                "r2", "7", "noon", "live", "20s", "left", "-", "50", "100", "60", "25", "5", "10",
            ]
        )
        // Our clock goes on between two answers.
        #expect(state.line("r2 ", at: .seconds(12))?.contains("8s left") == true)
        let other = try #require(state.line("r3 "))
        #expect(other.split(separator: " ").prefix(6) == ["r3", "3,000", "later", "scheduled", "in", "4:50"])
        // Counted is the break before, which is over, and the time is that of the next.
        state.apply(.counts(try Said.counts("r3", break: "morning")))
        #expect(state.line("r3 ")?.split(separator: " ").prefix(6) == ["r3", "7", "morning", "over", "in", "4:50"])
    }

    @Test(arguments: [
        (135, ["BREAK", "STATE", "TIME", "NOTIFIED", "ASKED", "DELIVERED", "PLAYED", "IGNORED", "FAILED", "UNKNOWN"]),
        (120, ["BREAK", "STATE", "TIME", "NOTIFIED", "ASKED", "DELIVERED", "PLAYED", "IGNORED", "FAILED", "UNKNOWN"]),
        (80, ["BREAK", "STATE", "TIME", "DELIV", "PLAYED", "IGNOR", "FAILED", "UNKN"]),
        (40, ["STATE", "TIME"]),
    ])
    func `the most important columns are shown, however long names are`(columns: Int, shown: [String]) throws {
        var state = TopState(order: .stream, size: ScreenSize(columns: columns, rows: 40))
        state.apply(.gateway(try Said.gateway()))
        let request = try #require(state.request)
        // Names as long as they may be.
        let names = String(repeating: "r", count: 64)
        state.apply(.streams(try Said.streams(1..<3, of: 2, running: [2], prefix: names), request))
        state.apply(.counts(try Said.counts(names + "2", break: String(repeating: "b", count: 64))))
        let head = try #require(state.line("STREAM"))
        #expect(
            head.split(separator: " ").map { "\($0)" } == ["STREAM", columns < 110 ? "LISTEN" : "LISTENERS"] + shown
        )
        for line in state.screen() where line.hasPrefix("r") || line.hasPrefix("STREAM") {
            #expect(line.trimmingSuffixSpaces.count <= columns)
        }
        #expect(state.line("left") != nil)
        let keys = try #require(state.line("q quit"))
        #expect(keys.count <= columns && keys.contains("? keys"))
    }

    @Test func `a large terminal shows what became of ads side by side`() throws {
        var state = TopState(order: .stream, size: ScreenSize(columns: 200, rows: 50))
        state.apply(.gateway(try Said.gateway()))
        state.apply(.streams(try Said.streams(1..<6, of: 5, running: [4]), try #require(state.request)))
        for number in 1..<6 { state.apply(.counts(try Said.counts("r\(number)"))) }
        let screen = state.screen()
        #expect(screen.count == 50)
        // The one on air comes first; three stand side by side, and the other two below them.
        let titles = screen.filter { $0.contains("break noon") }.map { $0.split(separator: " ") }
        #expect(titles.map { $0.filter { $0.hasPrefix("r") } } == [["r4", "r1", "r2"], ["r3", "r5"]])
        #expect(screen.filter { $0.contains("played") && $0.contains("█") }.count == 2)
        for line in screen { #expect(line.count <= 200) }
        // Without the room the table has it all.
        state.apply(.resized(ScreenSize(columns: 200, rows: 20)))
        #expect(state.line("break noon") == nil)
        state.apply(.resized(ScreenSize(columns: 50, rows: 50)))
        #expect(state.line("break noon") == nil)
    }

    @Test func `the help fits on a terminal of 80 columns`() throws {
        var state = try self.state()
        state.press(.character("?"))
        for line in state.screen().dropFirst(6) { #expect(line.trimmingSuffixSpaces.count <= 80) }
        #expect(state.line("delivered = played + ignored + failed + unknown.") != nil)
    }

    @Test func `one of a kind is told as one`() throws {
        var state = TopState(order: .listeners, size: Self.size)
        state.apply(.gateway(try Said.gateway(listeners: 1, streams: 1, running: 1)))
        let request = try #require(state.request)
        state.apply(.streams(try Said.streams(1..<2, of: 1), request))
        #expect(state.line("1 listener (3 by HTTP)   1 stream   1 break running") != nil)
        #expect(state.line("the stream with most listeners of 1, by listeners") != nil)
    }

    @Test func `alarms, limits and a gateway that stops are said`() throws {
        var state = try self.state()
        let alarms = (1...5).map { ("a\($0)", "It is bad.") }
        state.apply(.gateway(try Said.gateway(alarms: alarms, limits: [("x", 2), ("y", 1_000)], draining: true)))
        #expect(state.line("ALARM a1: It is bad.") != nil && state.line("ALARM a4") == nil)
        #expect(state.line("and 2 more alarms") != nil)
        #expect(state.line("limits hit since the start: y 1,000, x 2") != nil)
        #expect(state.line("DRAINING") != nil)
    }

    @Test func `a gateway that is gone is said, and forgotten when it is back`() throws {
        var state = try self.state()
        state.apply(.failed(.events, TopState.Fault(sentence: "the gateway does not answer", isRefusal: false)))
        #expect(state.line("GONE: the gateway does not answer. It is asked again.") != nil)
        // Its last content is still shown.
        #expect(state.line("1,204 listeners") != nil)
        state.apply(.reached(.streams))
        #expect(state.fault != nil)
        state.apply(.reached(.events))
        #expect(state.fault == nil && state.line("GONE") == nil)
    }

    @Test func `a gateway that refuses access is not reported as down`() throws {
        var state = try self.state()
        state.apply(.failed(.streams, TopState.Fault(sentence: "The token has expired.", isRefusal: true)))
        #expect(state.line("REFUSED: The token has expired. It is asked again.") != nil && state.line("GONE") == nil)
        #expect(state.line("1,204 listeners") != nil)
        state.apply(.reached(.streams))
        #expect(state.fault == nil && state.line("REFUSED") == nil)
    }

    @Test func `whatever happens, a screen has as many lines as rows at most`() throws {
        var random = SeededGenerator(for: "sizes")
        let keys: [Key] = [
            .up, .down, .pageUp, .pageDown, .home, .enter, .escape, .backspace, .character("s"), .character("/"),
            .character("x"), .character("?"), .control("u"),
        ]
        var state = try self.state()
        var rows = Self.size.rows
        for _ in 0..<1_000 {
            switch random.number(0...6) {
            case 0:
                rows = random.number(1...60)
                state.apply(.resized(ScreenSize(columns: random.number(1...200), rows: rows)))
            case 1:
                guard let request = state.request else { break }
                let first = random.number(1...90)
                state.apply(
                    .streams(
                        try Said.streams(first..<min(101, first + request.limit), of: 100, running: [first]),
                        request
                    )
                )
            case 2: state.apply(.counts(try Said.counts("r\(random.number(1...99))")))
            case 3: state.apply(random.bool() ? .failed(.streams, Said.fault) : .reached(.streams))
            default: state.press(random.pick(keys))
            }
            #expect(state.watched.count <= TopState.countedStreamsMax)
            #expect((1...rows).contains(state.screen().count))
            let request = try #require(state.request)
            #expect((1...TopState.pageStreamsMax).contains(request.limit))
        }
    }
}

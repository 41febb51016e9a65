// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import FoundationXML
import LoadEngine
import Testing

@Suite(.suiteLimit)
struct LoadReportTests {
    /// A run that never was, with something in every part of the report.
    static func sample(findings: Bool = false, listeners: Int = 9_000) throws -> LoadReport {
        var source = SeededSource(seed: 4)
        let stream = try StreamID("radio1")
        var world = LoadWorld(
            behaviour: ListenerBehaviour(mix: try .of(0.7, 0.25, 0.05)),
            streams: [StreamKnowledge(id: stream)],
            began: 1_000_000
        )
        func latency(_ typical: Double) -> Microseconds {
            // Mostly near the typical value, now and then far above it.
            let share = Double.random(in: 0.000_01..<1, using: &source)
            return Microseconds(typical * (0.6 + 0.4 / share.squareRoot()))
        }
        for number in 0..<listeners {
            let now = 2_000_000 + Microseconds(number) * 300
            let parts: [(WritableKeyPath<RunStatistics, LatencyRecord>, Double)] = [
                (\.connect, 700), (\.handshake, 600), (\.join, 26_000), (\.notice, 9_000), (\.batch, 1_500),
                (\.acknowledge, 4_000),
                (\.lag, 120),
            ]
            for (part, typical) in parts {
                let service = latency(typical)
                world.statistics[keyPath: part]
                    .record(intended: now - service - latency(typical / 8), began: now - service, ended: now)
            }
            world.statistics.second(now) { ($0.joins, $0.handshakes) = ($0.joins + 1, $0.handshakes + 1) }
        }
        for number in 0..<3 {
            let index = world.streams[0].add(try BreakID("load-\(number)"), content: [], planned: 0)
            let opens = Int64(1_700_000_010_000_000 + number * 10_000_000)
            world.streams[0]
                .update(index) {
                    $0.isDue = true
                    $0.tally.notices = listeners
                    $0.tally.batches = listeners
                    $0.tally.batchesBeforeStart = listeners - number
                    $0.tally.delivered = listeners * 3
                    $0.tally.played = listeners * 2
                    $0.tally.ignored = listeners
                    ($0.tally.windowFrom, $0.tally.windowBy) = (opens, opens + 4_500_000)
                    $0.tally.start = opens + 8_000_000
                    for _ in 0..<listeners {
                        let offset = Int64.random(in: 0..<4_500_000, using: &source)
                        $0.tally.asked(at: Timestamp(microseconds: opens + offset))
                    }
                }
            let when = Microseconds(6_000_000 + number * 10_000_000)
            world.statistics.second(when) { $0.notices += listeners }
            for second in 0..<5 {
                world.statistics.second(when + Microseconds(second) * 1_000_000) {
                    $0.batches += listeners / 5
                    $0.acknowledgements += listeners / 5
                }
            }
        }
        world.statistics.counts.notices = listeners * 3
        world.statistics.counts.batches = listeners * 3
        world.statistics.counts.acknowledgements = listeners * 3
        world.statistics.counts.outcomes = listeners * 9
        world.statistics.counts.published = 3
        world.statistics.counts.handshakes = listeners
        world.statistics.handshakesUntilAllConnected = listeners
        world.statistics.allConnected = 4_000_000
        world.statistics.allJoined = 4_700_000
        if findings {
            world.statistics.refusals = ["TOO_LATE": 2]
            world.statistics.findings.add(.noticesLost, count: 3, "listener 7 on radio1: 3 up to e90c:12")
            world.statistics.findings.add(.wrongContent, "listener 9, break <b> & \"c\"\u{1}: other")
        }
        return LoadReport(
            RunOutcome(world, cpuSeconds: 3.2, isComplete: true, ended: 39_000_000),
            isComplete: true,
            listeners: listeners,
            streams: 1,
            books: .init(state: .equal, breaks: 3, sentence: "The gateway's books say the same of all 3 breaks."),
            facts: .init(
                machine: [.init("System", "Linux 6.1"), .init("Cores", "2")],
                options: [.init("--listeners", "\(listeners)"), .init("--breaks", "3")],
                gateway: [.init("Notices", "tcp://127.0.0.1:7400")],
                began: Timestamp(microseconds: 1_700_000_000_000_000),
                processes: 1,
                ownCPUSeconds: 3.2
            )
        )
    }

    /// All keys of a document, with their places; an array counts as its first element.
    static func keys(of value: Any, at place: String = "") -> Set<String> {
        if let object = value as? [String: Any] {
            return object.reduce(into: []) { keys, pair in
                keys.insert(place + pair.key)
                keys.formUnion(Self.keys(of: pair.value, at: place + pair.key + "."))
            }
        }
        if let list = value as? [Any], let first = list.first { return Self.keys(of: first, at: place) }
        return []
    }

    @Test func `the keys of the JSON document are those that scripts rely on`() throws {
        let data = try JSONEncoder().encode(try Self.sample(findings: true))
        let keys = Self.keys(of: try JSONSerialization.jsonObject(with: data))
        var expected: Set<String> = [
            "mode", "passed", "complete", "streams", "listeners", "seconds", "all_joined_seconds",
            "all_connected_seconds", "handshakes_per_second", "joins_per_second", "per_second.handshakes", "lost",
            "repeated",
            "out_of_order", "latency", "counts", "refused", "refused.TOO_LATE", "per_second", "per_second.joins",
            "per_second.notices", "per_second.batches", "per_second.acknowledgements", "breaks", "breaks.stream",
            "breaks.break", "breaks.ours", "breaks.notices", "breaks.batches", "breaks.delivered", "breaks.played",
            "breaks.ignored", "breaks.failed", "breaks.window_ms", "breaks.start_ms", "breaks.requests_per_100ms",
            "breaks.peak_over_mean", "breaks.share_before_start", "findings", "findings.kind", "findings.count",
            "findings.sentence", "findings.examples", "books", "books.state", "books.breaks", "books.sentence",
            "facts", "facts.machine", "facts.machine.name", "facts.machine.value", "facts.options",
            "facts.options.name", "facts.options.value", "facts.gateway", "facts.gateway.name", "facts.gateway.value",
            "facts.began", "facts.processes", "facts.own_cpu_seconds",
        ]
        for kind in ["connect", "handshake", "join", "away", "notice", "batch", "acknowledge", "publish", "tool_lag"] {
            let place = "latency.\(kind)"
            expected.formUnion([place, "\(place).count", "\(place).curve", "\(place).service_curve"])
            for measure in ["intended_us", "service_us"] {
                expected.insert("\(place).\(measure)")
                for figure in ["p50", "p90", "p99", "p99_9", "max", "mean"] {
                    expected.insert("\(place).\(measure).\(figure)")
                }
            }
        }
        for count in [
            "connected", "handshakes", "connections_lost", "joined", "pushed", "fell_back", "rejoined", "moved", "left",
            "notices", "heads",
            "notices_recovered",
            "notices_missed_while_stalled", "batches", "batch_bytes", "acknowledgements", "outcomes", "published",
            "timeouts", "retries", "stalls",
        ] { expected.insert("counts.\(count)") }
        #expect(keys.subtracting(expected).isEmpty)
        #expect(expected.subtracting(keys).isEmpty)
    }

    @Test func `a report survives JSON`() throws {
        let report = try Self.sample(findings: true)
        let again = try JSONDecoder().decode(LoadReport.self, from: JSONEncoder().encode(report))
        #expect(again == report)
    }

    @Test func `any finding makes it fail`() throws {
        #expect(try Self.sample().passed)
        let failed = try Self.sample(findings: true)
        #expect(!failed.passed && failed.lost == 3)
        #expect(failed.text.contains("3 notices were lost on the way:\n    listener 7 on radio1"))
        #expect(failed.text.contains("FAILED"))
        #expect(failed.findings.map(\.kind) == ["noticesLost", "wrongContent"])
    }

    @Test func `the text has one row for each kind of latency, and fits the width of a terminal`() throws {
        let text = try Self.sample().text
        for kind in ["connect", "handshake", "join", "notice", "batch", "acknowledge", "tool lag"] {
            #expect(text.contains("\n\(kind) "), "\(kind)")
        }
        #expect(text.contains("PASSED"))
        #expect(text.contains("all connected after 3.00 s, 3\u{202F}000 handshakes a second"))
        #expect(text.contains("all joined after 3.70 s, 2\u{202F}432 joins a second"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 110 })
    }

    @Test(arguments: [true, false])
    func `the page is well-formed and needs nothing from elsewhere`(findings: Bool) throws {
        let page = try Self.sample(findings: findings).html
        let parser = XMLParser(data: Data(page.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
        for word in ["<script", "src=", "@import", "url(", "<link"] { #expect(!page.contains(word), "\(word)") }
        let outside = page.replacing("http://www.w3.org/1999/xhtml", with: "")
        #expect(!outside.contains("http://") && !outside.contains("https://"))
        #expect(page.contains("prefers-color-scheme: dark"))
        #expect(page.contains("&lt;b&gt; &amp; &quot;c&quot;\u{FFFD}") == findings)
        if let folder = ProcessInfo.processInfo.environment["CUECAST_PAGES"] {
            try page.write(toFile: "\(folder)/page-\(findings).html", atomically: true, encoding: .utf8)
        }
    }

    @Test func `a report of nothing has a text and a page`() throws {
        let world = LoadWorld(behaviour: ListenerBehaviour(mix: .allPlayed), streams: [], began: 0)
        let report = LoadReport(
            RunOutcome(world, cpuSeconds: 0, isComplete: false, ended: 0),
            isComplete: false,
            listeners: 0,
            streams: 0,
            books: .init(state: .notCompared, breaks: 0, sentence: "The books were not compared."),
            facts: .init(
                machine: [],
                options: [],
                gateway: [],
                began: Timestamp(microseconds: 0),
                processes: 1,
                ownCPUSeconds: 0
            )
        )
        #expect(report.text.contains("interrupted"))
        #expect(XMLParser(data: Data(report.html.utf8)).parse())
    }
}

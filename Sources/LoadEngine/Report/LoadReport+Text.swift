// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension LoadReport {
    /// The report as text of at most 100 columns.
    package var text: String {
        var lines: [String] = [self.headline, ""]
        lines += self.latencyTable
        lines += [""] + self.totals
        if !self.breaks.isEmpty { lines += [""] + self.breakTable }
        if !self.findings.isEmpty { lines += [""] + self.findingLines }
        lines += ["", self.books.sentence, self.verdict]
        return lines.joined(separator: "\n")
    }

    var headline: String {
        let ours = self.breaks.count { $0.isOurs }
        let breaks = ours > 0 || self.breaks.isEmpty ? ours : self.breaks.count
        return """
            \(Figures.plural(self.listeners, "listener")) on \(Figures.plural(self.streams, "stream")), \
            \(Figures.plural(breaks, "break")), \(Figures.fixed(self.seconds, 1)) s\
            \(self.isComplete ? "" : ", interrupted")
            """
    }

    var verdict: String {
        guard self.passed else {
            let kinds = Figures.plural(self.findings.count, "kind")
            return "FAILED: \(kinds) of findings, \(Figures.count(self.findings.reduce(0) { $0 + $1.count })) in all"
        }
        return self.isComplete
            ? "PASSED: nothing lost, nothing twice, nothing out of order, nothing wrong, nothing unconfirmed"
            : "nothing lost, nothing twice and nothing wrong until it was interrupted"
    }

    /// Those kinds of latency that occurred.
    var latencies: [(name: String, meaning: String, latency: Latency)] {
        [
            ("connect", "from its turn until both connections are there", self.latency.connect),
            ("handshake", "from when a connection was begun until TLS and ZMTP are done", self.latency.handshake),
            ("join", "from then until the gateway has let it join", self.latency.join),
            ("away", "from a lost connection until the listener has joined again", self.latency.away),
            ("notice", "from when it was to be sent until a listener has it", self.latency.notice),
            ("batch", "from the listener's slot until it has its batch", self.latency.batch),
            ("acknowledge", "from when it was planned until it is confirmed", self.latency.acknowledge),
            ("publish", "from its time until the gateway has confirmed the break", self.latency.publish),
            ("tool lag", "how late the tool itself was with what it had planned", self.latency.toolLag),
        ]
        .filter { $0.latency.count > 0 }
    }

    private var latencyTable: [String] {
        var table = ReportTable(["LATENCY, ms", "COUNT", "P50", "P90", "P99", "P99.9", "MAX", "SERVICE P99"])
        for (name, _, latency) in self.latencies {
            let from = latency.intendedMicroseconds
            table.add(
                [name, Figures.count(latency.count)]
                    + [from.p50, from.p90, from.p99, from.p999, from.max, latency.serviceMicroseconds.p99]
                    .map { Figures.milliseconds($0) }
            )
        }
        return table.lines
    }

    private var totals: [String] {
        let counts = self.counts
        var lines: [String] = []
        if let connected = self.allConnectedSeconds {
            let rate = self.handshakesPerSecond.map { ", \(Figures.fixed($0, 0)) handshakes a second" } ?? ""
            lines.append("all connected after \(Figures.fixed(connected, 2)) s\(rate)")
        }
        if let joined = self.allJoinedSeconds {
            let rate = self.joinsPerSecond.map { ", \(Figures.fixed($0, 0)) joins a second" } ?? ""
            lines.append("all joined after \(Figures.fixed(joined, 2)) s\(rate)")
        }
        lines.append(
            """
            notices \(Figures.count(counts.notices)), batches \(Figures.count(counts.batches)), \
            acknowledgements \(Figures.count(counts.acknowledgements)) with \
            \(Figures.plural(counts.outcomes, "outcome"))
            """
        )
        lines.append(
            """
            in the busiest second: \(Figures.count(self.busiest(\.notices))) notices, \
            \(Figures.count(self.busiest(\.batches))) batches, \
            \(Figures.count(self.busiest(\.acknowledgements))) acknowledgements
            """
        )
        let seldom = [
            ("joined with one connection", counts.pushed), ("fell back to two", counts.fellBack),
            ("rejoins", counts.rejoined), ("moved to another gateway", counts.moved), ("sessions left", counts.left),
            ("notices recovered", counts.noticesRecovered),
            ("missed while stalled", counts.noticesMissedWhileStalled), ("stalls", counts.stalls),
            ("connections lost", counts.connectionsLost), ("timeouts", counts.timeouts),
            ("retries", counts.retries),
        ]
        .filter { $0.1 > 0 }.map { "\($0.0) \(Figures.count($0.1))" }
        if !seldom.isEmpty { lines.append(seldom.joined(separator: ", ")) }
        if !self.refused.isEmpty {
            let refusals = self.refused.sorted { $0.key < $1.key }.map { "\($0.key) \(Figures.count($0.value))" }
            lines.append("refused: " + refusals.joined(separator: ", "))
        }
        lines.append(
            """
            the tool used \(Figures.fixed(self.facts.ownCPUSeconds, 2)) s of CPU, \
            \(Figures.percent(self.ownCPUShare)) of one core\
            \(self.facts.processes > 1 ? ", in \(self.facts.processes) processes" : "")
            """
        )
        return lines
    }

    func busiest(_ kind: KeyPath<RunStatistics.Second, Int>) -> Int {
        self.perSecond.map { $0[keyPath: kind] }.max() ?? 0
    }

    var ownCPUShare: Double { self.seconds > 0 ? self.facts.ownCPUSeconds / self.seconds : 0 }

    private var breakTable: [String] {
        var table = ReportTable(
            ["BREAK", "NOTICES", "BATCHES", "IN TIME", "WINDOW", "PEAK/MEAN", "PLAYED", "IGNORED", "FAILED"]
        )
        for each in self.breaks.prefix(Self.breakRowsMax) {
            table.add(
                [
                    "\(each.stream)/\(each.id)", Figures.count(each.notices), Figures.count(each.batches),
                    each.shareBeforeStart.map { Figures.percent($0) } ?? "–",
                    each.windowMilliseconds.map { "\(Figures.count($0)) ms" } ?? "–",
                    each.peakOverMean.map { Figures.fixed($0, 2) } ?? "–",
                    Figures.count(each.played), Figures.count(each.ignored), Figures.count(each.failed),
                ]
            )
        }
        let more = self.breaks.count - Self.breakRowsMax
        return table.lines + (more > 0 ? ["… and \(Figures.plural(more, "more break"))"] : [])
    }

    /// The most breaks that text and page list; JSON has all.
    static let breakRowsMax = 30

    private var findingLines: [String] {
        self.findings.flatMap { finding in
            ["\(Figures.count(finding.count)) \(finding.sentence):"] + finding.examples.map { "    \($0)" }
        }
    }
}

/// Columns of text: the first to the left, numbers to the right.
private struct ReportTable {
    private var rows: [[String]]

    init(_ header: [String]) {
        self.rows = [header]
    }

    mutating func add(_ row: [String]) {
        self.rows.append(row)
    }

    var lines: [String] {
        let widths = (self.rows.first ?? []).indices
            .map { column in
                self.rows.map { $0[column].count }.max() ?? 0
            }
        return self.rows.map { row in
            row.indices
                .map { column in
                    let padding = String(repeating: " ", count: widths[column] - row[column].count)
                    return column == 0 ? row[column] + padding : padding + row[column]
                }
                .joined(separator: "  ")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Glibc
import Histogram

extension LoadReport {
    /// The report as one page that needs nothing else: plots are inline SVG, there is no script.
    ///
    /// It is well-formed XML too.
    package var html: String {
        """
        <!DOCTYPE html>
        <html lang="en" xmlns="http://www.w3.org/1999/xhtml">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <title>Cuecast load: \(escaped(self.headline))</title>
        <style>
        \(PageStyle.css)
        </style>
        </head>
        <body>
        <main>
        \(self.pageHead)
        \(self.findings.isEmpty ? "" : self.findingSection)
        \(self.latencySection)
        \(self.fetchSection)
        \(self.timelineSection)
        \(self.breakSection)
        \(self.factSection)
        </main>
        </body>
        </html>

        """
    }

    private var pageHead: String {
        let began = self.facts.began.prefix(19).replacing("T", with: " ")
        let badge = self.passed ? (self.isComplete ? "passed" : "interrupted") : "failed"
        var tiles: [(label: String, value: String, note: String)] = [
            ("Listeners", Figures.count(self.listeners), "on \(Figures.plural(self.streams, "stream"))"),
            ("Notices", Figures.count(self.counts.notices), "received"),
            ("Batches", Figures.count(self.counts.batches), "checked"),
            ("Outcomes", Figures.count(self.counts.outcomes), "confirmed"),
        ]
        if let rate = self.handshakesPerSecond {
            tiles.append(("Handshakes", Figures.fixed(rate, 0), "a second, until all were connected"))
        }
        if let joined = self.allJoinedSeconds {
            tiles.append(("All joined", Figures.fixed(joined, 2) + "\u{202F}s", "after the first connection"))
        }
        for (name, latency) in [("Notice", self.latency.notice), ("Batch", self.latency.batch)]
        where latency.count > 0 {
            let text = Figures.latency(Double(latency.intendedMicroseconds.p99))
            tiles.append(("\(name), p99", text, "from the intended instant"))
        }
        tiles.append(("Tool", Figures.percent(self.ownCPUShare), "of one core"))
        let cells = tiles.map {
            """
            <div class="tile"><div class="label">\(escaped($0.label))</div>\
            <div class="value">\(escaped($0.value))</div><div class="note">\(escaped($0.note))</div></div>
            """
        }
        return """
            <header>
            <h1>Load of a Cuecast gateway <span class="badge \(badge)">\(badge)</span></h1>
            <p class="lead">\(escaped(self.headline)) · \(escaped(String(began))) UTC</p>
            <p>\(escaped(self.verdict)). \(escaped(self.books.sentence))</p>
            <div class="tiles">
            \(cells.joined(separator: "\n"))
            </div>
            </header>
            """
    }

    private var findingSection: String {
        let rows = self.findings.map { finding in
            """
            <tr><th scope="row">\(escaped(finding.sentence))</th><td>\(Figures.count(finding.count))</td>\
            <td class="text">\(finding.examples.map { escaped($0) }.joined(separator: "<br/>"))</td></tr>
            """
        }
        return """
            <section class="findings">
            <h2>Findings</h2>
            <div class="scroll"><table><thead><tr><th scope="col">What</th><th scope="col">How many</th>\
            <th class="text" scope="col">The first of them</th></tr></thead><tbody>
            \(rows.joined(separator: "\n"))
            </tbody></table></div>
            </section>
            """
    }

    private var latencySection: String {
        guard !self.latencies.isEmpty else { return "" }
        let rows = self.latencies.map { name, meaning, latency in
            let from = latency.intendedMicroseconds
            let cells = [from.p50, from.p90, from.p99, from.p999, from.max, latency.serviceMicroseconds.p99]
            return """
                <tr><th scope="row"><span class="key \(Self.className(name))"></span>\(escaped(name))\
                <span class="meaning">\(escaped(meaning))</span></th>\
                <td>\(Figures.count(latency.count))</td>\
                \(cells.map { "<td>\(escaped(Figures.latency(Double($0))))</td>" }.joined())</tr>
                """
        }
        let heads = ["Count", "p50", "p90", "p99", "p99.9", "Max", "Service p99"]
        return """
            <section>
            <h2>Latency</h2>
            <p>Counted from the instant at which each thing was meant to happen, so that nothing that was sent late \
            hides a wait (no coordinated omission). Service counts from when it was sent.</p>
            \(self.percentilePlot)
            \(self.legend)
            <div class="scroll"><table><thead><tr><th scope="col">Latency</th>\
            \(heads.map { "<th scope=\"col\">\($0)</th>" }.joined())</tr></thead><tbody>
            \(rows.joined(separator: "\n"))
            </tbody></table></div>
            </section>
            """
    }

    private var legend: String {
        let entries = self.plotted.map { name, _ in
            "<li><span class=\"key \(Self.className(name))\"></span>\(escaped(name))</li>"
        }
        return """
            <ul class="legend">\(entries.joined())<li><span class="key dashed"></span>service time, dashed</li></ul>
            """
    }

    private static func className(_ name: String) -> String { "s-" + name.replacing(" ", with: "-") }

    private var plotted: [(name: String, latency: Latency)] {
        self.latencies.filter { $0.name != "tool lag" && $0.name != "publish" }.map { ($0.name, $0.latency) }
    }

    /// Both axes are logarithmic: each nine of the percentile takes as much room as the one before.
    private var percentilePlot: String {
        var plot = Plot(width: 920, height: 380)
        let values = self.plotted.flatMap { ($0.latency.curve + $0.latency.serviceCurve).compactMap(\.last) }
        let powers = Self.powers(of: values.filter { $0 > 0 })
        let nines = Self.nines(of: self.plotted.map(\.latency.count).max() ?? 1)
        for power in powers {
            let share = Double(power - powers.lowerBound) / Double(powers.count - 1)
            plot.gridline(atHeight: share, label: Figures.latency(pow(10, Double(power))))
        }
        for nine in 0...nines {
            let label =
                nine == 0
                ? "0 %"
                : nine == 1
                    ? "90 %"
                    : "99" + (nine > 2 ? "." : "")
                        + String(repeating: "9", count: max(0, nine - 2)) + " %"
            plot.tick(atWidth: Double(nine) / (Double(nines) + 0.3), label: label, line: nine > 0)
        }
        plot.baseline()
        plot.axisTitle("share of all that were at most as slow")
        for (name, latency) in self.plotted {
            for (curve, kind) in [(latency.serviceCurve, "service"), (latency.curve, "intended")] {
                let points = curve.compactMap { point -> (x: Double, y: Double)? in
                    guard point.count == 2 else { return nil }
                    let x = Self.place(ofPercentile: point[0], nines: nines)
                    let y = (log10(max(point[1], 1)) - Double(powers.lowerBound)) / Double(powers.count - 1)
                    return (x, min(max(y, 0), 1))
                }
                plot.line(points, className: "line \(kind) \(Self.className(name))")
            }
        }
        return plot.svg(label: "Latency by percentile, both on logarithmic scales")
    }

    private static func place(ofPercentile percentile: Double, nines: Int) -> Double {
        let room = Double(nines) + 0.3
        guard percentile < 100 else { return 1 }
        return min(1, -log10(1 - percentile / 100) / room)
    }

    /// The powers of ten from below the least value to above the greatest.
    private static func powers(of values: [Double]) -> ClosedRange<Int> {
        let low = Int(log10(max(1, values.min() ?? 1)).rounded(.down))
        let high = Int(log10(max(10, values.max() ?? 1_000)).rounded(.up))
        return low...max(high, low + 1)
    }

    /// How many nines a percentile can have with so many values.
    private static func nines(of count: UInt64) -> Int {
        min(6, max(2, Int(log10(Double(max(1, count))).rounded(.down))))
    }
}

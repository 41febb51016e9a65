// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The parts of the page about breaks, time and facts.
extension LoadReport {
    /// When listeners asked for their batches: the sum over all breaks that have a window.
    var fetchSection: String {
        let measured = self.breaks.filter { !$0.requestsPer100Milliseconds.isEmpty }
        guard !measured.isEmpty else { return "" }
        var bins: [Int] = []
        for each in measured {
            while bins.count < each.requestsPer100Milliseconds.count { bins.append(0) }
            for (bin, count) in each.requestsPer100Milliseconds.enumerated() { bins[bin] += count }
        }
        let window = measured.compactMap(\.windowMilliseconds).max() ?? 0
        let start = measured.compactMap(\.startMilliseconds).max()
        let shares = measured.compactMap(\.shareBeforeStart)
        let peaks = measured.compactMap(\.peakOverMean).sorted()
        var sentences = [
            "Requests for a batch in each tenth of a second after the window opened, on average of the breaks."
        ]
        if let least = shares.min() {
            sentences.append(
                "Before the start, \(Figures.percent(least)) of the listeners had their batch\(shares.count > 1 ? " in the worst break" : "")."
            )
        }
        if let median = peaks.isEmpty ? nil : peaks[peaks.count / 2], let worst = peaks.last {
            sentences.append(
                "The busiest tenth had \(Figures.fixed(median, 2)) times the mean of the window (median of the breaks; at most \(Figures.fixed(worst, 2)))."
            )
        }
        let means = bins.map { Double($0) / Double(measured.count) }
        return """
            <section>
            <h2>Batch requests over the window</h2>
            <p>\(escaped(sentences.joined(separator: " ")))</p>
            \(Self.fetchPlot(means, window: Double(window) / 1_000, start: start.map { Double($0) / 1_000 }))
            </section>
            """
    }

    private static func fetchPlot(_ bins: [Double], window: Double, start: Double?) -> String {
        var plot = Plot(width: 920, height: 260)
        let asked = Double(bins.count) / 10
        // Show the start unless it is so far away that the window would vanish.
        let showsStart = start.map { $0 > 0 && $0 <= max(asked, window) * 12 } ?? false
        let length = max(asked, window, showsStart ? (start ?? 0) * 1.04 : 0, 0.5)
        let ticks = Ticks.upTo(bins.max() ?? 1)
        let top = ticks.last ?? 1
        if window > 0 { plot.band(from: 0, to: min(1, window / length), className: "window") }
        for tick in ticks {
            plot.gridline(
                atHeight: tick / top,
                label: tick == tick.rounded() ? Figures.fixed(tick, 0) : Figures.fixed(tick, 1)
            )
        }
        for (bin, mean) in bins.enumerated() where mean > 0 {
            plot.bar(
                from: Double(bin) / 10 / length,
                to: Double(bin + 1) / 10 / length,
                height: mean / top,
                className: "bar",
                title:
                    "\(Figures.fixed(Double(bin) / 10, 1)) s to \(Figures.fixed(Double(bin + 1) / 10, 1)) s: \(Figures.decimal(mean)) requests"
            )
        }
        for tick in Ticks.upTo(length) where tick <= length {
            plot.tick(atWidth: tick / length, label: Figures.decimal(tick).trimmedZeros + " s")
        }
        plot.baseline()
        if window > 0 {
            plot.marker(
                atWidth: min(1, window / length),
                label: "window ends",
                className: "edge",
                onLeft: window / length > 0.8
            )
        }
        if showsStart, let start {
            plot.marker(atWidth: start / length, label: "start", className: "start", onLeft: true)
        }
        plot.axisTitle(
            "since the window opened"
                + (start.map { showsStart ? "" : "; the break starts at \(Figures.decimal($0)) s" } ?? "")
        )
        return plot.svg(label: "Requests for batches over the request window")
    }

    /// The events in each second of the run, one small plot for each kind.
    var timelineSection: String {
        guard self.perSecond.count > 1 else { return "" }
        let kinds: [(String, String, KeyPath<RunStatistics.Second, Int>)] = [
            ("Handshakes", "s-handshake", \.handshakes),
            ("Joins", "s-join", \.joins), ("Notices", "s-notice", \.notices), ("Batches", "s-batch", \.batches),
            ("Acknowledgements", "s-acknowledge", \.acknowledgements),
        ]
        let plots = kinds.filter { self.busiest($0.2) > 0 }
            .map { name, className, kind in
                """
                <figure><figcaption>\(name) a second</figcaption>
                \(self.timeline(kind, className: className, label: "\(name) a second"))</figure>
                """
            }
        return """
            <section>
            <h2>Rates over the run</h2>
            <div class="multiples">
            \(plots.joined(separator: "\n"))
            </div>
            </section>
            """
    }

    private func timeline(_ kind: KeyPath<RunStatistics.Second, Int>, className: String, label: String) -> String {
        var plot = Plot(width: 448, height: 170, left: 60, right: 12, top: 10, bottom: 26)
        let values = self.condensed(kind)
        let ticks = Ticks.upTo(values.map(\.rate).max() ?? 1)
        let top = ticks.last ?? 1
        let length = Double(max(1, self.perSecond.count))
        for tick in ticks.enumerated() where tick.offset.isMultiple(of: ticks.count > 5 ? 2 : 1) {
            plot.gridline(
                atHeight: tick.element / top,
                label: Figures.fixed(tick.element, tick.element.rounded() == tick.element ? 0 : 1)
            )
        }
        var points: [(x: Double, y: Double)] = []
        for value in values {
            points.append((value.from / length, value.rate / top))
            points.append((value.to / length, value.rate / top))
        }
        plot.area(points, className: "area \(className)")
        plot.line(points, className: "line \(className)")
        for tick in Ticks.upTo(length) where tick <= length {
            plot.tick(atWidth: tick / length, label: Figures.decimal(tick).trimmedZeros + " s")
        }
        plot.baseline()
        return plot.svg(label: label)
    }

    /// At most a few hundred steps: of a long run each is the mean of several seconds.
    private func condensed(_ kind: KeyPath<RunStatistics.Second, Int>) -> [(from: Double, to: Double, rate: Double)] {
        let width = (self.perSecond.count + 299) / 300
        return stride(from: 0, to: self.perSecond.count, by: width)
            .map { from in
                let part = self.perSecond[from..<min(from + width, self.perSecond.count)]
                let sum = part.reduce(0) { $0 + $1[keyPath: kind] }
                return (Double(from), Double(from + part.count), Double(sum) / Double(part.count))
            }
    }

    var breakSection: String {
        guard !self.breaks.isEmpty else { return "" }
        let rows = self.breaks.prefix(Self.breakRowsMax)
            .map { each in
                let cells = [
                    Figures.count(each.notices), Figures.count(each.batches),
                    each.shareBeforeStart.map { Figures.percent($0) } ?? "–",
                    each.windowMilliseconds.map { Figures.count($0) + "\u{202F}ms" } ?? "–",
                    each.peakOverMean.map { Figures.fixed($0, 2) } ?? "–", Figures.count(each.delivered),
                    Figures.count(each.played), Figures.count(each.ignored), Figures.count(each.failed),
                ]
                return """
                    <tr><th scope="row">\(escaped("\(each.stream)/\(each.id)"))</th>\
                    \(cells.map { "<td>\(escaped($0))</td>" }.joined())</tr>
                    """
            }
        let heads = [
            "Notices", "Batches", "In time", "Window", "Peak / mean", "Delivered", "Played", "Ignored", "Failed",
        ]
        let more = self.breaks.count - Self.breakRowsMax
        return """
            <section>
            <h2>Breaks</h2>
            <div class="scroll"><table><thead><tr><th scope="col">Break</th>\
            \(heads.map { "<th scope=\"col\">\($0)</th>" }.joined())</tr></thead><tbody>
            \(rows.joined(separator: "\n"))
            </tbody></table></div>
            \(more > 0 ? "<p>… and \(Figures.plural(more, "more break")).</p>" : "")
            </section>
            """
    }

    var factSection: String {
        var run: [Facts.Pair] = [
            Facts.Pair("Duration", Figures.fixed(self.seconds, 1) + " s"),
            Facts.Pair("Processes", Figures.count(self.facts.processes)),
            Facts.Pair("CPU of the tool", Figures.fixed(self.facts.ownCPUSeconds, 2) + " s"),
            Facts.Pair("Joined with one connection", Figures.count(self.counts.pushed)),
            Facts.Pair("Fell back to two", Figures.count(self.counts.fellBack)),
            Facts.Pair("Connections lost", Figures.count(self.counts.connectionsLost)),
            Facts.Pair("Rejoins", Figures.count(self.counts.rejoined)),
            Facts.Pair("Moved to another gateway", Figures.count(self.counts.moved)),
            Facts.Pair("Timeouts and retries", "\(self.counts.timeouts) and \(self.counts.retries)"),
        ]
        if !self.refused.isEmpty {
            let refusals = self.refused.sorted { $0.key < $1.key }.map { "\($0.key) \(Figures.count($0.value))" }
            run.append(Facts.Pair("Refused", refusals.joined(separator: ", ")))
        }
        let groups = [
            ("Run", run), ("Gateway", self.facts.gateway), ("Options", self.facts.options),
            ("Machine", self.facts.machine),
        ]
        let lists = groups.filter { !$0.1.isEmpty }
            .map { title, pairs in
                """
                <div><h3>\(title)</h3><dl>
                \(pairs.map { "<dt>\(escaped($0.name))</dt><dd>\(escaped($0.value))</dd>" }.joined(separator: "\n"))
                </dl></div>
                """
            }
        return """
            <section>
            <h2>Facts</h2>
            <div class="facts">
            \(lists.joined(separator: "\n"))
            </div>
            </section>
            """
    }
}

extension String {
    /// Without zeros at the end of its decimals.
    fileprivate var trimmedZeros: String {
        guard self.contains(".") else { return self }
        var text = self[...]
        while text.hasSuffix("0") { text = text.dropLast() }
        return String(text.hasSuffix(".") ? text.dropLast() : text)
    }
}

/// How the page looks, on light and on dark screens.
enum PageStyle {
    static let css = """
        :root { color-scheme: light dark;
          --page: #f6f6f3; --card: #fdfdfb; --ink: #16160f; --soft: #5c5c54; --grid: #e4e4dd; --base: #b9b9b0;
          --blue: #2a78d6; --aqua: #128a6a; --gold: #b97a00; --violet: #6a4fc4; --red: #d0433c; --band: #2a78d614;
          --good: #0b7a3b; --bad: #c22f2f; --warn: #9a6400; }
        @media (prefers-color-scheme: dark) { :root {
          --page: #131312; --card: #1c1c1a; --ink: #f3f3ee; --soft: #a9a99f; --grid: #30302c; --base: #56564f;
          --blue: #4a93ec; --aqua: #25b28c; --gold: #d79a25; --violet: #9b86ee; --red: #ec6a63; --band: #4a93ec22;
          --good: #37b06a; --bad: #ef6b6b; --warn: #d79a25; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
        main { max-width: 1000px; margin: 0 auto; padding: 28px 16px 56px; }
        h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; } h2 { font-size: 18px; margin: 0 0 6px; }
        h3 { font-size: 14px; margin: 0 0 6px; color: var(--soft); font-weight: 600; }
        p { margin: 0 0 12px; max-width: 78ch; } .lead { color: var(--soft); }
        section { background: var(--card); border: 1px solid var(--grid); border-radius: 10px; padding: 18px 20px;
          margin-top: 16px; }
        .badge { font-size: 13px; font-weight: 600; padding: 3px 10px; border-radius: 999px; vertical-align: 5px;
          border: 1px solid currentColor; }
        .passed { color: var(--good); } .failed { color: var(--bad); } .interrupted { color: var(--warn); }
        .findings { border-color: var(--bad); }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 10px; }
        .tile { background: var(--card); border: 1px solid var(--grid); border-radius: 10px; padding: 10px 14px; }
        .label, .note { color: var(--soft); font-size: 12.5px; } .value { font-size: 23px; font-weight: 600;
          line-height: 1.25; }
        .scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 13.5px;
          font-variant-numeric: tabular-nums; }
        th, td { text-align: right; padding: 6px 0 6px 14px; border-top: 1px solid var(--grid); white-space: nowrap;
          vertical-align: top; }
        thead th { border-top: 0; color: var(--soft); font-weight: 500; } th:first-child { text-align: left;
          padding-left: 0; font-weight: 500; }
        td.text, th.text { text-align: left; white-space: normal; }
        .meaning { display: block; color: var(--soft); font-size: 12px; font-weight: 400; padding-left: 19px; }
        svg { display: block; width: 100%; height: auto; margin: 6px 0; } svg text { font-size: 12px;
          fill: var(--soft); } .axis { font-size: 12px; } .mark { fill: var(--ink); }
        .grid { stroke: var(--grid); } .base { stroke: var(--base); }
        .line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
        .service { stroke-width: 1.5; stroke-dasharray: 3 4; opacity: 0.75; }
        .area { fill: currentColor; opacity: 0.16; } .bar { fill: var(--blue); } .window { fill: var(--band); }
        .edge { stroke: var(--blue); stroke-dasharray: 4 4; } .start { stroke: var(--red); stroke-width: 2; }
        .s-connect { color: var(--soft); } .s-handshake { color: var(--ink); } .s-join { color: var(--violet); } .s-notice { color: var(--blue); }
        .s-batch { color: var(--aqua); } .s-acknowledge { color: var(--gold); } .s-publish { color: var(--red); }
        .s-tool-lag { color: var(--base); }
        .key { display: inline-block; width: 12px; height: 3px; border-radius: 2px; background: currentColor;
          margin-right: 7px; vertical-align: 4px; }
        .dashed { background: none; border-top: 2px dashed var(--soft); height: 0; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 10px; padding: 0;
          font-size: 13px; color: var(--soft); }
        .multiples { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 8px 20px; }
        figure { margin: 0; } figcaption { font-size: 13px; color: var(--soft); }
        .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 16px 28px; }
        dl { margin: 0; display: grid; grid-template-columns: minmax(96px, auto) 1fr; gap: 2px 14px;
          font-size: 13.5px; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
        """
}

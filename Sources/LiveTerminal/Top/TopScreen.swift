// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import GatewayDocuments

/// The lines that a screen shows.
package struct TopScreen {
    private typealias Line = StreamListDocument.Stream

    /// A column of the table of streams.
    private struct Column {
        let title: String
        let width: Int
        var isNumber = true
        let text: (Line, CountsEventDocument?) -> String
    }

    /// Where there are fewer rows, the figures of the gateway take one.
    private static let rowsForFiguresMin = 16
    private static let alarmsMax = 3
    /// The widest that a name gets.
    private static let streamColumnsMax = 24
    private static let breakColumnsMax = 18
    /// Where there are fewer columns, names get less, so that what became of ads fits; below the next, so that state and time do.
    private static let columnsForNamesMin = 135
    private static let columnsForCountsMin = 80
    /// Where there are fewer columns, titles are short.
    private static let columnsForTitlesMin = 110

    let state: TopState

    package init(_ state: TopState) {
        self.state = state
    }

    /// How many streams have a row.
    package var streamRows: Int {
        // An empty line and the table's head above, the place and the keys below.
        max(1, self.state.size.rows - self.head(nil, at: "").count - 4)
    }

    /// The screen.
    ///
    /// - Parameters:
    ///   - own: our clock.
    ///   - address: the gateway's.
    /// - Returns: at most as many lines as it has rows.
    package func lines(at own: Duration, address: String) -> [ScreenLine] {
        let now = self.state.now(own)
        var lines = self.head(now, at: address)
        lines.append(ScreenLine())
        let room = max(0, self.state.size.rows - lines.count - 2)
        var body: [ScreenLine]
        switch self.state.face {
        case .streams:
            body = self.streams(now)
            body += self.funnels(room: room - body.count)
        case .detail(let stream): body = self.detail(stream, now)
        case .help: body = Self.help
        }
        body = Array(body.prefix(room))
        body += Array(repeating: ScreenLine(), count: room - body.count)
        return Array((lines + body + self.foot).prefix(self.state.size.rows))
    }

    // MARK: - The gateway

    private func head(_ now: Double?, at address: String) -> [ScreenLine] {
        let gateway = self.state.gateway
        var title = " cuecast top  \(address)"
        if let gateway { title += "  \(gateway.at.prefix(10)) \(Self.clock(now) ?? "")  version \(gateway.version)" }
        if gateway?.draining == true { title += "  DRAINING" }
        var lines = [ScreenLine(title).filled(to: self.state.size.columns, TextStyle(isReversed: true))]
        // The screen shows the last state.
        let style = TextStyle(isDim: self.state.fault != nil)
        if let gateway {
            let hasRoom = self.state.size.rows >= Self.rowsForFiguresMin
            lines += Self.figures(gateway).prefix(hasRoom ? .max : 1).map { ScreenLine($0, style) }
        } else {
            lines.append(ScreenLine("waiting for the gateway's figures"))
        }
        if let fault = self.state.fault {
            // The gateway's sentences end with a full stop, others do not.
            let sentence = fault.sentence.hasSuffix(".") ? fault.sentence : fault.sentence + "."
            let text = "\(fault.isRefusal ? "REFUSED" : "GONE"): \(sentence) It is asked again."
            lines.append(ScreenLine(text, TextStyle(.red, isBold: true)))
        }
        let alarms = gateway?.alarms ?? []
        for alarm in alarms.prefix(Self.alarmsMax) {
            lines.append(ScreenLine("ALARM \(alarm.alarm): \(alarm.sentence)", TextStyle(.yellow, isBold: true)))
        }
        if alarms.count > Self.alarmsMax {
            lines.append(ScreenLine("and \(alarms.count - Self.alarmsMax) more alarms", TextStyle(.yellow)))
        }
        let limits = (gateway?.limits ?? []).sorted { $0.refused > $1.refused }
        if !limits.isEmpty {
            let text = limits.map { "\($0.limit) \(TopText.count($0.refused))" }.joined(separator: ", ")
            lines.append(ScreenLine("limits hit since the start: \(text)", TextStyle(.yellow)))
        }
        return lines
    }

    private static func figures(_ gateway: GatewayEventDocument) -> [String] {
        func percentiles(_ name: String, _ found: GatewayEventDocument.Percentiles?) -> String {
            guard let found else { return "\(name) -" }
            return "\(name) \(TopText.milliseconds(found.p50)) / \(TopText.milliseconds(found.p99)) ms"
        }
        let rates = gateway.rates
        let latency = gateway.latency
        let here = "\(TopText.count(gateway.listenersHTTP)) by HTTP"
        // Of a log that several gateways share, most may listen at the others.
        let place =
            gateway.gateways > 1
            ? "at \(TopText.count(gateway.gateways)) gateways, \(TopText.count(gateway.listenersHere)) here, \(here)"
            : here
        return [
            "\(TopText.count(gateway.listeners)) \(gateway.listeners == 1 ? "listener" : "listeners") (\(place))   "
                + "\(TopText.count(gateway.streams)) \(gateway.streams == 1 ? "stream" : "streams")   \(TopText.count(gateway.breaksRunning)) \(gateway.breaksRunning == 1 ? "break" : "breaks") running",
            "a second   \(TopText.rate(rates.notices)) notices   \(TopText.rate(rates.batches)) batches   "
                + "\(TopText.rate(rates.acknowledgements)) acknowledgements",
            "p50 / p99  "
                + [
                    percentiles("notice", latency.noticeMicroseconds),
                    percentiles("log append", latency.appendMicroseconds),
                    percentiles("timers late", latency.scheduleLateMicroseconds),
                ]
                .joined(separator: "   "),
            "ledger     \(TopText.count(gateway.ledgerLagRecords)) records behind, for \(TopText.rate(gateway.ledgerLagSeconds)) s",
            "disk \(TopText.bytes(gateway.disk.bytes)), \(TopText.bytes(gateway.disk.free)) free   "
                + "memory \(TopText.bytes(gateway.memoryBytes))   descriptors \(TopText.count(gateway.descriptors.open)) of "
                + TopText.count(gateway.descriptors.max),
        ]
    }

    /// The time of day.
    private static func clock(_ now: Double?) -> String? {
        now.map { now in
            let second = Int(now) % 86_400
            return [second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
                .joined(separator: ":") + " UTC"
        }
    }

    // MARK: - Streams

    private func streams(_ now: Double?) -> [ScreenLine] {
        guard let list = self.state.list else { return [ScreenLine("asking for streams", TextStyle(isDim: true))] }
        let columns = self.columns(now)
        var head = ""
        for column in columns {
            head += TextWidth.cell(column.title, column.width, isNumber: column.isNumber) + " "
        }
        var lines = [ScreenLine(head, TextStyle(isBold: true))]
        for each in self.state.shown {
            let counts = self.state.counts[each.stream]
            var style = TextStyle.plain
            if each.running != nil { style.color = .green }
            style.isReversed = each.stream == self.state.selected
            let text = columns.map { TextWidth.cell($0.text(each, counts), $0.width, isNumber: $0.isNumber) }
                .joined(separator: " ")
            lines.append(
                style.isReversed ? ScreenLine(text).filled(to: self.state.size.columns, style) : ScreenLine(text, style)
            )
        }
        if list.streams.isEmpty {
            let text = self.state.search.map { "no stream has '\($0)' in its id" }
            lines.append(ScreenLine(text ?? "no streams: one is here with its first listener or break"))
        }
        return lines
    }

    /// As many columns as there is room for.
    private func columns(_ now: Double?) -> [Column] {
        let shown = self.state.shown
        func width(_ title: String, _ most: Int, _ text: (Line) -> String) -> Int {
            min(most, max(title.count, shown.map { TextWidth.columns(of: text($0)) }.max() ?? 0))
        }
        func name(_ line: Line, _ counts: CountsEventDocument?) -> String { Self.focus(of: line, counts).name ?? "-" }
        func funnel(_ number: @escaping (CountsEventDocument.Funnel) -> Int64?) -> (Line, CountsEventDocument?) ->
            String
        {
            { _, counts in counts?.funnel.flatMap(number).map { TopText.count($0) } ?? "-" }
        }
        let size = self.state.size.columns
        let isNarrow = size < Self.columnsForNamesMin
        let isTiny = size < Self.columnsForCountsMin
        // What became of ads comes first where not all fits, then the listeners that were notified and asked.
        let streamsMax = isTiny ? 9 : isNarrow ? (size < 120 ? 12 : 16) : Self.streamColumnsMax
        let breaksMax = isTiny ? 8 : isNarrow ? (size < 120 ? 8 : 12) : Self.breakColumnsMax
        let streams = Column(title: "STREAM", width: width("STREAM", streamsMax, \.stream), isNumber: false) {
            line,
            _ in
            line.stream
        }
        let breaks = Column(
            title: "BREAK",
            width: width("BREAK", breaksMax) { name($0, self.state.counts[$0.stream]) },
            isNumber: false,
            text: name
        )
        // Where there is little room a column is as wide as what it shows, and its title is short.
        let isCompact = size < Self.columnsForTitlesMin
        func column(
            _ title: String,
            _ short: String,
            _ usual: Int,
            isNumber: Bool = true,
            _ text: @escaping (Line, CountsEventDocument?) -> String
        ) -> Column {
            guard isCompact else { return Column(title: title, width: usual, isNumber: isNumber, text: text) }
            let widest = width(short, usual) { text($0, self.state.counts[$0.stream]) }
            return Column(title: short, width: widest, isNumber: isNumber, text: text)
        }
        let before = [
            column("NOTIFIED", "NOTIF", 8, funnel { $0.notified.map { Int64($0) } }),
            column("ASKED", "ASKED", 7, funnel(\.asked)),
        ]
        let outcomes = [
            column("DELIVERED", "DELIV", 9, funnel(\.delivered)), column("PLAYED", "PLAYED", 7, funnel(\.played)),
            column("IGNORED", "IGNOR", 7, funnel(\.ignored)), column("FAILED", "FAILED", 7, funnel(\.failed)),
            column("UNKNOWN", "UNKN", 7, funnel(\.unknown)),
        ]
        let all = [
            streams, column("LISTENERS", "LISTEN", 9) { TopText.count($1?.listeners ?? $0.listeners) }, breaks,
            column("STATE", "STATE", 9, isNumber: false) { Self.focus(of: $0, $1).state },
            column("TIME", "TIME", isNarrow ? 10 : 12, isNumber: false) { line, _ in Self.time(of: line, now) },
        ]
        let funnels = size < 120 ? outcomes + before : before + outcomes
        var shownColumns = all + funnels
        // The break's name is the first to go where its state and time would not fit.
        if isTiny { shownColumns.removeAll { $0.title == "BREAK" } }
        var room = self.state.size.columns + 1
        return Array(
            shownColumns.prefix { column in
                room -= column.width + 1
                return room >= 0
            }
        )
    }

    /// The break that a row tells of: the one that is counted, else the one that runs, else the next.
    private static func focus(of line: Line, _ counts: CountsEventDocument?) -> (name: String?, state: String) {
        guard let counted = counts?.break else {
            let each = line.running ?? line.next
            return (each?.break, each?.state ?? "-")
        }
        let known = [line.running, line.next].lazy.compactMap(\.self).first { $0.break == counted }
        return (counted, known?.state ?? "over")
    }

    private static func time(of line: Line, _ now: Double?) -> String {
        self.time(from: line.running?.start, to: line.running?.end, now)
            ?? self.time(from: line.next?.start, to: line.next?.end, now) ?? "-"
    }

    /// How long it lasts still, or when it comes.
    private static func time(from start: String?, to end: String?, _ now: Double?) -> String? {
        guard let now, let start = start.flatMap(TopText.seconds) else { return nil }
        if start > now { return "in \(TopText.duration(start - now))" }
        guard let end = end.flatMap(TopText.seconds) else { return nil }
        return end > now ? "\(TopText.duration(end - now)) left" : "over"
    }

    // MARK: - One stream

    private func detail(_ stream: String, _ now: Double?) -> [ScreenLine] {
        let counts = self.state.counts[stream]
        let bold = TextStyle(isBold: true)
        var title = ScreenLine(stream, bold)
        let unit = counts?.listeners == 1 ? "listener" : "listeners"
        title.add("   \(counts.map { TopText.count($0.listeners) } ?? "-") \(unit)")
        var lines = [title, ScreenLine()]
        if let funnel = counts?.funnel {
            lines.append(ScreenLine("break \(counts?.break ?? "")", bold))
            lines += self.bars(funnel, columns: self.state.size.columns)
        } else {
            lines.append(ScreenLine(counts == nil ? "asking for counts" : "nothing was counted"))
        }
        lines.append(ScreenLine())
        // The breaks may be more than there is room for.
        lines += self.watchers(now)
        guard let breaks = self.state.breaks else { return lines + [ScreenLine("asking for breaks")] }
        guard !breaks.isEmpty else { return lines + [ScreenLine("no break runs or is planned")] }
        let widths = [Self.breakColumnsMax, 9, 12, 7, 4]
        func row(_ cells: [String]) -> String {
            zip(cells, widths).enumerated()
                .map { index, pair in TextWidth.cell(pair.0, pair.1, isNumber: index > 2) }
                .joined(separator: " ") + " " + (cells.last ?? "")
        }
        lines.append(ScreenLine(row(["BREAK", "STATE", "TIME", "SECONDS", "ADS", "FIRST AD"]), bold))
        for each in breaks {
            let cells = [
                each.break, each.state, Self.time(from: each.start, to: each.end, now) ?? "-",
                each.durationMilliseconds.map { TopText.rate(Double($0) / 1_000) } ?? "-", "\(each.ads)",
                each.firstAdTitle,
            ]
            lines.append(ScreenLine(row(cells), TextStyle(each.state == "live" ? .green : nil)))
        }
        return lines
    }

    // MARK: - Below

    private static let help = [
        ScreenLine("Keys", TextStyle(isBold: true)),
        ScreenLine("  q, Ctrl-C         quit"),
        ScreenLine("  up, down, k, j    select a stream"),
        ScreenLine("  space, PgDn       next page; b, PgUp: the one before; g, Home: the first"),
        ScreenLine("  enter             look at the stream: what became of its break,"),
        ScreenLine("                    and what is planned; esc: back"),
        ScreenLine("  s                 sort by stream, or by listeners"),
        ScreenLine("  /                 only streams with this in their id; esc: all"),
        ScreenLine("  Ctrl-L            draw anew; Ctrl-Z: let the shell have the terminal"),
        ScreenLine(),
        ScreenLine("notified and asked count listeners, the rest counts ads:"),
        ScreenLine("delivered = played + ignored + failed + unknown."),
        ScreenLine("In a narrow terminal their names are short: DELIV, IGNOR, UNKN."),
        ScreenLine("Latencies are of the last minute, in milliseconds."),
    ]

    private var foot: [ScreenLine] {
        if let typed = self.state.typed {
            return [ScreenLine("only streams with: \(typed)_"), ScreenLine("enter takes it   esc leaves it")]
        }
        var place = ""
        if let list = self.state.list {
            let shown = self.state.shown.count
            let start = self.state.pages.last?.start ?? 0
            switch self.state.order {
            case .stream:
                place = "streams \(TopText.count(min(start + 1, start + shown))) to \(TopText.count(start + shown)) "
            case .listeners:
                let streams = shown == 1 ? "stream" : "\(TopText.count(shown)) streams"
                place = "the \(streams) with most listeners "
            }
            place += "of \(TopText.count(list.total)), by \(self.state.order.rawValue)"
            if let search = self.state.search { place += ", with '\(search)'" }
        }
        let keys: String
        switch self.state.face {
        case .streams:
            keys =
                self.state.size.columns < Self.columnsForCountsMin
                ? "q quit  s sort  / filter  ? keys"
                : "q quit   s sort   / filter   enter look closer   space, b pages   ? keys"
        case .detail: keys = "q quit   esc back   ? keys"
        case .help: keys = "any key goes back"
        }
        return [ScreenLine(place, TextStyle(isDim: true)), ScreenLine(keys, TextStyle(isDim: true))]
    }
}

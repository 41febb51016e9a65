// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import LiveTerminal

/// Prints breaks as the gateway has them.
struct BreakPrinter {
    let format: OutputFormat

    /// So many breaks, in words.
    static func breaks(_ count: Int) -> String { count == 1 ? "1 break" : "\(count) breaks" }

    /// A break as scripts read it.
    ///
    /// Keys that do not apply are absent.
    struct Line: Encodable {
        let stream: String
        let `break`: String
        let state: String
        let start: String?
        let end: String?
        let durationSeconds: Double?
        let advertisements: Int
        let firstAdvertisement: String
        let preStream: Bool
        let exact: Bool
        let position: String?
        let announcement: String?
        let holdUntil: String?
        let published: String
        let broadcaster: String?
        let revision: UInt64
        let signals: [Signal]?
        let publishedAs: String?
        let variants: [Variant]?

        init(_ status: BreakStatus) {
            self.stream = status.stream
            self.break = status.id
            self.state = status.state.rawValue
            self.start = status.start.map(BreakPrinter.text)
            self.end = status.end.map(BreakPrinter.text)
            self.durationSeconds = status.duration?.inSeconds
            self.advertisements = status.advertisementCount
            self.firstAdvertisement = status.firstAdvertisementTitle
            self.preStream = status.isPreStream
            self.exact = status.isExact
            self.position = status.position?.description
            self.announcement = status.announcement.map(BreakPrinter.text)
            self.holdUntil = status.holdUntil.map(BreakPrinter.text)
            self.published = BreakPrinter.text(status.published)
            self.broadcaster = status.broadcaster
            self.revision = status.revision
            self.signals = status.signals.isEmpty ? nil : status.signals.map { Signal($0) }
            self.publishedAs = status.publishedAs
            self.variants = status.variants.isEmpty ? nil : status.variants.map { Variant($0) }
        }
    }

    /// Other ads of a break, for some listeners.
    struct Variant: Encodable {
        let name: String
        let conditions: [String]
        let advertisements: Int

        init(_ variant: BreakStatus.Variant) {
            self.name = variant.name
            self.conditions = variant.conditions.map(\.description)
            self.advertisements = variant.advertisementCount
        }
    }

    /// The signals of one event about a break.
    struct Signal: Encodable {
        let source: String
        let event: String
        let start: String
        let durationSeconds: Double?
        let end: String?
        let cancelled: Bool?

        init(_ signal: BreakStatus.Signal) {
            self.source = signal.source
            self.event = signal.eventID
            self.start = BreakPrinter.text(signal.start)
            self.durationSeconds = signal.duration?.inSeconds
            self.end = signal.end.map(BreakPrinter.text)
            self.cancelled = signal.isCancelled ? true : nil
        }
    }

    func print(_ status: BreakStatus) {
        switch self.format {
        case .json: Self.printJSON(Line(status))
        case .table:
            var facts = ["\(status.stream)/\(status.id): \(status.state.rawValue)"]
            if let start = status.start { facts.append("starts \(Self.text(start))") }
            if let duration = status.duration { facts.append("lasts \(duration.inSecondsText)") }
            facts.append("\(status.advertisementCount) ads")
            for each in status.variants {
                let conditions = each.conditions.map(\.description).joined(separator: " and ")
                facts.append("\(each.advertisementCount) ads of the variant \(each.name) (\(conditions))")
            }
            if let holdUntil = status.holdUntil { facts.append("held until \(Self.text(holdUntil))") }
            if let position = status.position { facts.append("position \(position)") }
            facts.append("revision \(status.revision)")
            if let id = status.publishedAs { facts.append("published as \(id)") }
            if let broadcaster = status.broadcaster { facts.append("by \(broadcaster)") }
            if !status.signals.isEmpty {
                let names = status.signals.map { signal in
                    "\(signal.source) (\(signal.eventID)\(signal.isCancelled ? ", taken back" : ""))"
                }
                facts.append("signalled by \(names.joined(separator: " and "))")
            }
            // Values come from broadcasters.
            CommandOutput.say(TextWidth.shown(facts.joined(separator: ", ")))
        }
    }

    func print(_ breaks: [BreakStatus]) {
        switch self.format {
        case .json: Self.printJSON(breaks.map { Line($0) })
        case .table:
            var table = TextTable(
                ["STREAM", "BREAK", "STATE", "START", "SECONDS", "ADS", "FIRST AD"],
                numbers: [4, 5]
            )
            for each in breaks {
                table.add([
                    each.stream, each.id, each.state.rawValue, each.start.map(Self.text) ?? "-",
                    each.duration.map { $0.inSecondsText.replacing(" s", with: "") } ?? "-",
                    String(each.advertisementCount), each.firstAdvertisementTitle,
                ])
            }
            CommandOutput.say(table.text)
        }
    }

    static func printJSON(_ value: some Encodable) {
        try? CommandOutput.say(json: value, isPretty: true)
    }

    static func text(_ date: Date) -> String {
        // Foundation's own format cuts a date to the millisecond below. Half of all whole milliseconds are a little less as a date.
        Timestamp.text(ofMilliseconds: Int((date.timeIntervalSince1970 * 1_000).rounded()))
    }
}

/// Columns of text, as wide as their widest cell.
struct TextTable {
    private var rows: [[String]]
    private let numbers: Set<Int>

    /// - Parameters:
    ///   - header: the names of the columns.
    ///   - numbers: the columns that stand to the right.
    init(_ header: [String], numbers: Set<Int> = []) {
        self.rows = [header]
        self.numbers = numbers
    }

    /// Adds a line, as it may be shown: what broadcasters say may neither command the terminal nor turn its direction of writing.
    mutating func add(_ row: [String]) {
        self.rows.append(row.map { Self.shown($0) })
    }

    /// A text as it may be shown.
    static func shown(_ text: String) -> String { TextWidth.shown(text) }

    var text: String {
        let widths = (self.rows.first ?? []).indices
            .map { column in
                self.rows.map { $0[column].count }.max() ?? 0
            }
        return self.rows
            .map { row in
                row.enumerated()
                    .map { column, cell in
                        let space = String(repeating: " ", count: widths[column] - cell.count)
                        return self.numbers.contains(column) ? space + cell : cell + space
                    }
                    .joined(separator: "  ").trimmingSuffix { $0 == " " }
            }
            .joined(separator: "\n")
    }
}

extension String {
    fileprivate func trimmingSuffix(while matches: (Character) -> Bool) -> String {
        var end = self.endIndex
        while end > self.startIndex, matches(self[self.index(before: end)]) { end = self.index(before: end) }
        return String(self[..<end])
    }
}

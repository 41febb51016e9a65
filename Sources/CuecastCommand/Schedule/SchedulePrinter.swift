// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire

/// Prints schedules and what they change.
struct SchedulePrinter {
    let format: OutputFormat

    /// A change as programs read it.
    private struct Line: Encodable {
        let change: String
        let `break`: String
        let start: String?
        let durationSeconds: Double?
        let advertisements: Int?
        /// How many ads each variant beside `default` has, by its name.
        let variants: [String: Int]?
        let title: String?
        let line: Int?
        let differences: [String]?
        let reason: String?

        init(_ change: ScheduleChange) {
            self.change = change.kind.rawValue
            self.break = change.id
            let start = change.wanted?.startMilliseconds ?? change.present?.startMilliseconds
            self.start = start.map { Timestamp.text(ofMilliseconds: $0) }
            let duration = change.wanted?.durationMilliseconds ?? change.present?.durationMilliseconds
            self.durationSeconds = duration.map { Double($0) / 1_000 }
            self.advertisements = change.wanted?.advertisements.count ?? change.present?.advertisementCount
            self.variants = change.wanted?.variants
                .flatMap { variants in
                    variants.isEmpty
                        ? nil
                        : Dictionary(
                            variants.map { ($0.name, $0.advertisements.count) },
                            uniquingKeysWith: { first, _ in first }
                        )
                }
            self.title = change.wanted.flatMap { $0.title.isEmpty ? nil : $0.title }
            self.line = change.wanted?.line
            self.differences = change.differences.isEmpty ? nil : change.differences
            self.reason = change.reason.isEmpty ? nil : change.reason
        }
    }

    private struct Difference: Encodable {
        let schedule: String
        let stream: String
        let applied: Bool
        let counts: [String: Int]
        let faults: Int
        let breaks: [Line]
    }

    private struct Row: Encodable {
        let `break`: String
        let start: String
        let durationSeconds: Double?
        let ads: [String]
        let title: String?
        let line: Int
    }

    func print(_ changes: [ScheduleChange], name: String, stream: String, isApplied: Bool, faults: Int) {
        let counts = Self.counts(changes)
        guard self.format == .table else {
            let all = Difference(
                schedule: name,
                stream: stream,
                applied: isApplied,
                counts: counts,
                faults: faults,
                breaks: changes.map { Line($0) }
            )
            try? CommandOutput.say(json: all, isPretty: true)
            return
        }
        for each in changes { if let text = Self.text(each) { CommandOutput.say(text) } }
        CommandOutput.say(Self.summary(changes, isApplied: isApplied))
    }

    /// One change, for a follower: a line of text, or of JSON.
    func print(_ change: ScheduleChange) {
        guard self.format == .table else {
            try? CommandOutput.say(json: Line(change))
            return
        }
        if let text = Self.text(change) { CommandOutput.say(text) }
    }

    func print(_ document: ScheduleDocument, name: String, list: String?) {
        let ads = { (each: ScheduledBreak) -> [String] in
            let own = each.ads.map { Self.text($0, list: list) }
            return own.isEmpty ? [list.map { "list \($0)" } ?? "none"] : own
        }
        guard self.format == .table else {
            let rows = document.breaks.map { each in
                Row(
                    break: "\(name).\(each.id)",
                    start: Timestamp.text(ofMilliseconds: each.startMilliseconds),
                    durationSeconds: each.durationMilliseconds.map { Double($0) / 1_000 },
                    ads: ads(each),
                    title: each.title.isEmpty ? nil : each.title,
                    line: each.line
                )
            }
            try? CommandOutput.say(json: rows, isPretty: true)
            return
        }
        var table = TextTable(["START", "SECONDS", "BREAK", "ADS", "TITLE", "LINE"], numbers: [1, 5])
        for each in document.breaks {
            table.add([
                Timestamp.text(ofMilliseconds: each.startMilliseconds),
                each.durationMilliseconds.map(Self.seconds) ?? "-", "\(name).\(each.id)",
                ads(each).joined(separator: ", "), each.title, String(each.line),
            ])
        }
        CommandOutput.say(table.text)
    }

    static func counts(_ changes: [ScheduleChange]) -> [String: Int] {
        var counts = Dictionary(uniqueKeysWithValues: ScheduleChange.Kind.allCases.map { ($0.rawValue, 0) })
        for each in changes { counts[each.kind.rawValue, default: 0] += 1 }
        return counts
    }

    private static func summary(_ changes: [ScheduleChange], isApplied: Bool) -> String {
        func count(_ kind: ScheduleChange.Kind) -> Int { changes.count { $0.kind == kind } }
        var parts = [
            "\(count(.new)) new", "\(count(.changed)) changed", "\(count(.gone)) cancelled",
            "\(count(.unchanged)) unchanged",
        ]
        if count(.refused) > 0 { parts.append("\(count(.refused)) refused") }
        if let first = changes.first(where: { $0.kind == .later }) {
            parts.append(
                "\(count(.later)) later, the first at \(Timestamp.text(ofMilliseconds: first.startMilliseconds))"
            )
        }
        if count(.past) > 0 { parts.append("\(count(.past)) past") }
        let isWork = count(.new) + count(.changed) + count(.gone) > 0
        let end = isApplied || !isWork ? "." : ". Nothing was changed: --apply does it."
        return parts.joined(separator: ", ") + end
    }

    /// A line with a sign; `nil`: there is nothing to do.
    private static func text(_ change: ScheduleChange) -> String? {
        let start = Timestamp.text(ofMilliseconds: change.startMilliseconds)
        let line = change.wanted.map { "line \($0.line): " } ?? ""
        let text: String
        switch change.kind {
        case .unchanged, .later, .past: return nil
        case .new:
            let wanted = change.wanted
            let length = wanted.map { Self.seconds($0.durationMilliseconds) } ?? "-"
            let variants = wanted?.variants.flatMap { $0.isEmpty ? nil : ", \($0.count) variants" } ?? ""
            let ads = "\(wanted?.advertisements.count ?? 0) ads\(variants)"
            text = "+ \(change.id)  \(start)  \(length) s, \(ads)  \(wanted?.title ?? "")"
        case .changed: text = "~ \(change.id)  \(Self.differences(change).joined(separator: ", "))"
        case .gone: text = "- \(change.id)  \(start)"
        case .refused: text = "! \(change.id)  \(start)  \(line)\(change.reason)"
        case .filled:
            let ads = change.wanted?.advertisements ?? []
            text = "* \(change.id)  \(start)  \(ads.count) ads, \(ads.playingTime.inSecondsText), from \(change.reason)"
        }
        // Titles come from other systems.
        return TextTable.shown(text)
    }

    private static func differences(_ change: ScheduleChange) -> [String] {
        change.differences.map { name in
            switch (name, change.present, change.wanted) {
            case ("start", let present?, let wanted?):
                let old = present.startMilliseconds.map { Timestamp.text(ofMilliseconds: $0) } ?? "none"
                return "start \(old) → \(Timestamp.text(ofMilliseconds: wanted.startMilliseconds))"
            case ("duration", let present?, let wanted?):
                let old = present.durationMilliseconds.map { "\(Self.seconds($0)) s" } ?? "none"
                return "duration \(old) → \(Self.seconds(wanted.durationMilliseconds)) s"
            case ("ads", let present?, let wanted?):
                return "ads \(present.advertisementCount) → \(wanted.advertisements.count)"
                    + (present.advertisementCount == wanted.advertisements.count ? " others" : "")
            default: return name
            }
        }
    }

    private static func text(_ ads: ScheduledAds, list: String?) -> String {
        switch ads {
        case .list(let name): "list \(name)"
        case .file(let name): "file \(name)"
        case .inline(let contents): "\(contents.count) inline"
        case .tag(let tag): "ad server \(AdServerLines.shown(tag.address)), else list \(list ?? "-")"
        }
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        Duration.milliseconds(milliseconds).inSecondsText.replacing(" s", with: "")
    }
}

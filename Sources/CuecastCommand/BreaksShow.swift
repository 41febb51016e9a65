// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import GatewayDocuments

struct BreaksShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a break: the sources that made it, and the signals about it that did not count, and why.",
        discussion: """
            The gateway keeps the newest signals of each stream in memory: those of a break that was long ago are in the audit \
            ('cuecast audit'). Signals that no break is known of are shown where they came from 10 min before the break was \
            published to 10 min after its end.

            The gateway may ask for a token with the scope read, as 'cuecast report' does.

            Example: cuecast breaks show radio1/cue-7
            """
    )

    /// A break and what was signalled about it, for scripts.
    private struct Shown: Encodable {
        let `break`: BreakListDocument.Break
        let signals: [SignalListDocument.Signal]
    }

    @Argument(help: "The stream and the break: STREAM/BREAK.") var key: String
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    /// How far from a break a signal may lie that names none.
    private static let nearby: Duration = .seconds(600)

    func validate() throws { _ = try self.parsedKey() }

    func run() async throws {
        let key = try self.parsedKey()
        let gateway = try OperatorGateway(self.gateway, self.access, for: "A break")
        let shown: Shown
        do throws(OperatorGateway.Fault) {
            let path = "/v1/streams/\(key.stream)"
            let each = try await gateway.document(BreakListDocument.Break.self, "\(path)/breaks/\(key.id)")
            let list = try await gateway.document(SignalListDocument.self, "\(path)/signals")
            shown = Shown(break: each, signals: list.signals.filter { Self.isAbout(each, $0) })
        } catch {
            throw error.told()
        }
        switch self.output.format {
        case .json: BreakPrinter.printJSON(shown)
        case .table: CommandOutput.say(Self.text(shown.break, shown.signals))
        }
    }

    private func parsedKey() throws -> BreakKey {
        let parts = self.key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw ValidationError("Write STREAM/BREAK, for instance radio1/cue-7.") }
        do {
            return BreakKey(stream: try StreamID(String(parts[0])), id: try BreakID(String(parts[1])))
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Whether a signal is about a break, or came at its time and is about none.
    static func isAbout(_ each: BreakListDocument.Break, _ signal: SignalListDocument.Signal) -> Bool {
        if let id = signal.break { return id == each.break || id == each.publishedAs }
        guard let last = Timestamp(rfc3339: signal.last), let published = Timestamp(rfc3339: each.published),
            last >= published - Self.nearby
        else { return false }
        return each.end.flatMap { Timestamp(rfc3339: $0) }.map { last <= $0 + Self.nearby } ?? true
    }

    /// A break for people.
    static func text(_ each: BreakListDocument.Break, _ signals: [SignalListDocument.Signal]) -> String {
        var facts = ["\(each.stream)/\(each.break): \(each.state)"]
        if let start = each.start { facts.append("starts \(start)") }
        if let end = each.end { facts.append("ends \(end)") }
        facts.append("\(each.ads) ads")
        facts.append("revision \(each.revision)")
        if let id = each.publishedAs { facts.append("published as \(id)") }
        if let broadcaster = each.broadcaster { facts.append("by \(broadcaster)") }
        var lines = [TextTable.shown(facts.joined(separator: ", "))]
        let sources = each.signals ?? []
        lines += ["", sources.isEmpty ? "No signal is about it." : "Sources, the one that goes first at the top:"]
        if !sources.isEmpty {
            var table = TextTable(["SOURCE", "EVENT", "START", "SECONDS", "IN AT", ""], numbers: [3])
            for claim in sources {
                table.add([
                    claim.source, claim.event, claim.start, claim.durationMilliseconds.map(Self.seconds) ?? "-",
                    claim.end ?? "-", claim.cancelled == true ? "taken back" : "",
                ])
            }
            lines.append(table.text)
        }
        lines += Self.part("Signals that changed it:", signals.filter { $0.result == "changed" })
        lines += Self.part("Signals that did not count:", signals.filter { $0.result != "changed" })
        return lines.joined(separator: "\n")
    }

    private static func part(_ title: String, _ signals: [SignalListDocument.Signal]) -> [String] {
        guard !signals.isEmpty else { return [] }
        var table = TextTable(["LAST SEEN", "TIMES", "SOURCE", "EVENT", "KIND", "RESULT", "WHY"], numbers: [1])
        for each in signals {
            let why = [each.code.map { "\($0):" }, each.reason ?? each.decoded].compactMap(\.self)
            table.add([
                each.last, "\(each.times)", each.source, each.event ?? "-", each.kind ?? "-",
                each.effect ?? each.result, why.joined(separator: " "),
            ])
        }
        return ["", title, table.text]
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        Duration.milliseconds(milliseconds).inSecondsText.replacing(" s", with: "")
    }
}

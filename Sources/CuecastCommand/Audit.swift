// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import GatewayDocuments

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the requested changes: who asked, when, from where, and the result.",
        discussion: """
            The audit lists every request for a change, refused ones too, the newest first: changes of breaks by ZeroMQ and HTTP, \
            reloads, and the commands of the gateway's machine that change something.

            Each gateway keeps what it was asked itself. One of several on a shared log asks all of them, and names those that do not \
            answer within 3 s; --this-gateway asks no other one.

            The gateway may ask for a token with the scope read, as 'cuecast report' does.

            --since and --until are about when a change was asked for, by the gateway's clock.

            Example: cuecast audit --since 24h
            Example: cuecast audit --stream radio1 --break noon-1 --format json
            """
    )

    @Option(help: "Only breaks of this stream.") var stream: String?
    @Option(name: .customLong("break"), help: "Only breaks of this name.") var breakID: String?
    @Option(help: "Only what this broadcaster asked for.") var broadcaster: String?
    @OptionGroup var period: PeriodOptions
    @Option(help: "At most so many lines, the newest first; 1 to 100000.") var limit = 100
    @Flag(help: "Several gateways: only what this one was asked.") var thisGateway = false
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    func validate() throws {
        guard (1...100_000).contains(self.limit) else { throw ValidationError("--limit is a number from 1 to 100000.") }
    }

    func run() async throws {
        let gateway = try OperatorGateway(self.gateway, self.access, for: "The audit")
        let document: AuditDocument
        do throws(OperatorGateway.Fault) {
            document = try await self.fetch(gateway)
        } catch {
            throw error.told()
        }
        switch self.output.format {
        case .json: BreakPrinter.printJSON(document)
        case .table: CommandOutput.say(Self.table(document))
        }
        for each in document.unanswered ?? [] { complain("the lines of \(each.gateway) are missing: \(each.reason)") }
        if !(document.unanswered ?? []).isEmpty { throw CommandExit.checkFailed }
    }

    /// As many pages as it takes.
    private func fetch(_ gateway: OperatorGateway) async throws(OperatorGateway.Fault) -> AuditDocument {
        var all: AuditDocument?
        while true {
            let missing = self.limit - (all?.entries.count ?? 0)
            var query: [(String, String?)] = [
                ("stream", self.stream), ("break", self.breakID), ("broadcaster", self.broadcaster),
                ("before", all?.before.map { String($0) }), ("limit", String(min(missing, 500))),
                ("allGateways", self.thisGateway ? nil : "true"),
            ]
            for (name, value) in self.period.query {
                // Of several gateways, the next page begins at an instant.
                let isEnd = name == "to"
                query.append((name, (isEnd ? all?.to : nil) ?? value))
            }
            let page = try await gateway.document(AuditDocument.self, OperatorGateway.target("/v1/audit", query))
            var document = all ?? page
            if all != nil { document.entries += page.entries }
            (document.before, document.to) = (page.before, page.to)
            // A gateway whose lines are missing on one page counts as one that did not answer.
            document.unanswered = Self.joined(all?.unanswered, page.unanswered)
            guard document.before != nil || document.to != nil, document.entries.count < self.limit,
                !page.entries.isEmpty
            else {
                return document
            }
            all = document
        }
    }

    private static func joined(
        _ before: [AuditDocument.Unanswered]?,
        _ now: [AuditDocument.Unanswered]?
    ) -> [AuditDocument.Unanswered]? {
        guard let now else { return before }
        let known = before ?? []
        return known + now.filter { each in !known.contains { $0.gateway == each.gateway } }
    }

    static func table(_ document: AuditDocument) -> String {
        // One of several gateways says which one was asked.
        let isOfSeveral = document.gateways ?? 1 > 1
        var table = TextTable(
            (isOfSeveral ? ["GATEWAY"] : [])
                + ["AT", "BY", "FROM", "ACTION", "STREAM", "BREAK", "OUTCOME", "REVISION", "SENTENCE"],
            numbers: [isOfSeveral ? 8 : 7]
        )
        for each in document.entries {
            var row = isOfSeveral ? [each.gateway ?? "-"] : []
            row += [
                each.at, each.by ?? "-", each.entrance + (each.address.map { " \($0)" } ?? ""), each.action,
                each.stream ?? "-", each.break ?? "-", each.code ?? each.outcome, each.revision.map { "\($0)" } ?? "-",
                each.sentence ?? "",
            ]
            table.add(row)
        }
        return table.text
            + (document.before == nil && document.to == nil ? "" : "\nthere are older lines: raise --limit")
    }
}

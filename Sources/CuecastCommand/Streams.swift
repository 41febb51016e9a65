// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import GatewayDocuments

struct Streams: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the streams that have a listener or a break: how many listen, what plays, what comes next.",
        discussion: """
            In the order of their ids, all of them: the gateway gives them in pages, and this asks for one after the other. What changes \
            meanwhile may show on a later page only. 'cuecast top' shows them as they change.

            The gateway may ask for a token with the scope read, as 'cuecast report' does.

            Example: cuecast streams --search radio --json
            """
    )

    /// The most streams that the gateway puts on one page.
    private static let pageStreamsMax = 200

    @Option(help: "Only streams with this in their id; upper and lower case are the same.") var search: String?
    @Option(help: "At most so many streams; 1 to 1000000. (default: all)") var limit: Int?
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    func validate() throws {
        guard self.limit.map({ (1...1_000_000).contains($0) }) ?? true else {
            throw ValidationError("--limit is a number from 1 to 1000000.")
        }
        guard self.search != "" else { throw ValidationError("--search takes at least one character.") }
    }

    func run() async throws {
        let gateway = try OperatorGateway(self.gateway, self.access, for: "The list")
        let document: StreamListDocument
        do throws(OperatorGateway.Fault) {
            document = try await self.fetch(gateway)
        } catch {
            throw error.told()
        }
        if self.output.isJSON { BreakPrinter.printJSON(document) } else { CommandOutput.say(Self.table(document)) }
    }

    /// As many pages as it takes.
    private func fetch(_ gateway: OperatorGateway) async throws(OperatorGateway.Fault) -> StreamListDocument {
        var all: StreamListDocument?
        while true {
            let missing = self.limit.map { $0 - (all?.streams.count ?? 0) } ?? Self.pageStreamsMax
            let page = try await gateway.document(
                StreamListDocument.self,
                OperatorGateway.target(
                    "/v1/streams",
                    [
                        ("search", self.search), ("after", all?.after),
                        ("limit", String(min(missing, Self.pageStreamsMax))),
                    ]
                )
            )
            var document = all ?? page
            if all != nil { document.streams += page.streams }
            document.after = page.after
            document.total = page.total
            let isFull = self.limit.map { document.streams.count >= $0 } ?? false
            guard document.after != nil, !isFull, !page.streams.isEmpty else { return document }
            all = document
        }
    }

    static func table(_ document: StreamListDocument) -> String {
        var table = TextTable(["STREAM", "LISTENERS", "RUNNING", "UNTIL", "NEXT", "STATE", "START"], numbers: [1])
        for each in document.streams {
            table.add([
                each.stream, String(each.listeners), each.running?.break ?? "-", each.running?.end ?? "-",
                each.next?.break ?? "-", each.next?.state ?? "-", each.next?.start ?? "-",
            ])
        }
        let rest = document.total - document.streams.count
        return table.text + (document.after == nil || rest <= 0 ? "" : "\nthere are \(rest) more: raise --limit")
    }
}

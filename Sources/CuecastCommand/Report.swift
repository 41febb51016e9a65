// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import GatewayDocuments

struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the books: what was delivered, played, ignored, failed, and what is not known.",
        discussion: """
            delivered = played + ignored + failed + unknown, for every ad. 'unknown' is final (but for late outcomes) once \
            the break is settled, ten minutes after its end. 'clicked' (json and csv) counts the outcomes, of whatever kind, \
            of which the listener acted on the ad first. 'complete' says whether nothing that was recorded of the break was \
            lost before it was counted. 'repeats' counts outcomes that came again and were not known to the gateway's memory \
            of recent ones.

            --since and --until choose breaks by their start: a break counts in the period in which it starts, whole, also what its \
            listeners did later. So the periods of two reports, one after the other, count nothing twice. --since is part of the \
            period, --until is not. A break without a start is in none.

            With --by ad each ad has one line over all breaks of the period, those that were delivered most first.

            A break with variants has a line for each ad of each variant, with the name of the variant. With --variant there are only the \
            ads of one of them, by its number in its break: 0 is default.

            What was handed out just before a kill or a loss of power and never acknowledged is missing from 'delivered', \
            and so from 'unknown': a batch does not wait for its record.

            Reports may need a token with the scope read. On the gateway's machine the one in its data directory is used; elsewhere, or \
            as another user, --token-file names a file that only its owner may read. Exits with 77 if the gateway requires a token \
            and none was given.

            A gateway that serves HTTP by TLS is asked as --http https://HOST:PORT; on its own machine the data directory says so.

            Example: cuecast report --stream radio1 --format csv
            Example: cuecast report --by ad --since 2026-05-01T00:00:00Z --until 2026-06-01T00:00:00Z
            """
    )

    @Option(help: "Only this stream.") var stream: String?
    @Option(name: .customLong("break"), help: "Only breaks of this name.") var breakID: String?
    @Option(help: "Only the ads of the variant with this number; needs --stream and --break.") var variant: UInt32?
    @Option(name: .customLong("ad"), help: "Only this ad: breaks that have it, and of them its counts.")
    var advertisement: String?
    @OptionGroup var period: PeriodOptions
    @Option(help: "A line for each ad of each break (break), or for each ad over all its breaks (ad).")
    var by: Subject = .break
    @Option(help: "At most so many breaks, the newest first; with --by ad all are counted.") var limit = 100
    @Option(name: .customLong("format"), help: "table, json or csv. (default: table)") var chosen: Format?
    @Flag(help: "The same as --format json.") var json = false
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    /// The most breaks that are asked for at once.
    private static let pageMax = 500

    enum Subject: String, ExpressibleByArgument, CaseIterable {
        case `break`
        case ad
    }

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
        case csv
    }

    private var format: Format { self.json ? .json : self.chosen ?? .table }

    func validate() throws {
        guard !self.json || self.chosen.map({ $0 == .json }) ?? true else {
            throw ValidationError("--json and --format contradict each other.")
        }
        guard self.variant == nil || (self.stream != nil && self.breakID != nil) else {
            throw ValidationError("--variant is of one break: say --stream and --break too.")
        }
        guard self.variant == nil || self.by == .break else {
            throw ValidationError(
                "--variant and --by ad exclude each other: the numbers of variants are those of one break."
            )
        }
        guard self.limit > 0 else { throw ValidationError("--limit takes a number above 0.") }
    }

    func run() async throws {
        let gateway = try OperatorGateway(self.gateway, self.access, for: "A report")
        let isBalanced: Bool
        do throws(OperatorGateway.Fault) {
            isBalanced = self.by == .ad ? try await self.reportByAd(gateway) : try await self.reportByBreak(gateway)
        } catch {
            throw error.told()
        }
        guard isBalanced else {
            complain("the books do not balance")
            throw CommandExit.badData
        }
    }

    private func reportByBreak(_ gateway: OperatorGateway) async throws(OperatorGateway.Fault) -> Bool {
        var all: ReportDocument?
        try await self.fetch(gateway, "/v1/reports", limit: self.limit) { (page: ReportDocument) in
            if all == nil { all = page } else { all?.add(page) }
            return (page.before, self.limit - (all?.breaks.count ?? 0))
        }
        guard let document = all else { return true }
        switch self.format {
        case .json: BreakPrinter.printJSON(document)
        case .csv: CommandOutput.write(document.csv)
        case .table: CommandOutput.say(Self.table(document))
        }
        if document.breaks.isEmpty, let sentence = self.nothingKept { complain(sentence) }
        return document.balanced
    }

    private func reportByAd(_ gateway: OperatorGateway) async throws(OperatorGateway.Fault) -> Bool {
        var all: AdReportDocument?
        try await self.fetch(gateway, "/v1/reports/ads", limit: nil) { (page: AdReportDocument) in
            if all == nil { all = page } else { all?.add(page) }
            return (page.before, nil)
        }
        guard let document = all else { return true }
        switch self.format {
        case .json: BreakPrinter.printJSON(document)
        case .csv: CommandOutput.write(document.csv)
        case .table: CommandOutput.say(Self.table(document))
        }
        if document.breaks == 0, let sentence = self.nothingKept { complain(sentence) }
        return document.balanced
    }

    /// The message if the books have none of the requested data; `nil`: all data was requested.
    private var nothingKept: String? {
        let subject: String? =
            switch (self.stream, self.breakID) {
            case (let stream?, let id?): "the break \(id) of the stream \(stream)"
            case (let stream?, nil): "the stream \(stream)"
            case (nil, let id?): "a break \(id)"
            case (nil, nil): self.advertisement.map { "the ad \($0)" }
            }
        let isPart = self.period.since != nil || self.period.until != nil
        guard isPart else { return subject.map { "the books hold nothing of \($0)" } }
        return "the books hold nothing of \(subject ?? "any stream") in this period: it is about when breaks start"
    }

    /// As many pages as it takes.
    ///
    /// - Parameters:
    ///   - gateway: the gateway.
    ///   - path: of the report.
    ///   - limit: the most breaks; `nil`: the gateway's own limit for an answer.
    ///   - take: takes a page, and says before which break the next one begins, and how many more breaks are wanted.
    /// - Throws: why there is no such page.
    private func fetch<Document: GatewayDocument>(
        _ gateway: OperatorGateway,
        _ path: String,
        limit: Int?,
        _ take: (Document) -> (before: UInt64?, missing: Int?)
    ) async throws(OperatorGateway.Fault) {
        var before: UInt64?
        var missing = limit
        repeat {
            let page = try await gateway.document(
                Document.self,
                OperatorGateway.target(
                    path,
                    [
                        ("stream", self.stream), ("break", self.breakID), ("ad", self.advertisement),
                        ("variant", self.variant.map { String($0) }), ("before", before.map { String($0) }),
                        ("limit", missing.map { String(min($0, Self.pageMax)) }),
                    ] + self.period.query
                )
            )
            (before, missing) = take(page)
        } while before != nil && missing ?? 1 > 0
    }

    static func table(_ document: ReportDocument) -> String {
        var table = TextTable(
            [
                "STREAM", "BREAK", "AD", "TITLE", "DELIVERED", "PLAYED", "IGNORED", "FAILED", "UNKNOWN", "BALANCED",
                "SETTLED",
            ],
            numbers: [4, 5, 6, 7, 8]
        )
        for each in document.breaks {
            for advertisement in each.ads {
                let variant = advertisement.variantName.map { " (\($0))" } ?? ""
                table.add(
                    [each.stream, each.break, advertisement.id + variant, advertisement.title]
                        + advertisement.counts.columns
                        + [advertisement.counts.balanced ? "yes" : "NO", each.settled ? "yes" : "not yet"]
                )
            }
        }
        table.add(
            ["TOTAL", "", "", ""] + document.total.columns + [document.balanced ? "yes" : "NO", ""]
        )
        var text = table.text
        for (lane, state) in document.lanes.sorted(by: { $0.key < $1.key }) {
            let head = state.head.map { " of \($0)" } ?? ""
            text += "\ncounted up to record \(state.offset)\(head) of \(lane)"
        }
        for each in document.breaks where !each.complete {
            text += "\n\(each.stream)/\(each.break) is NOT COMPLETE: \(each.missing ?? "records are lost")"
        }
        for line in ReportDocument.lines(document.pending) { text += "\n\(line)" }
        if document.before != nil { text += "\nthere are older breaks: raise --limit" }
        return text
    }
}

extension Report {
    static func table(_ document: AdReportDocument) -> String {
        var table = TextTable(
            ["AD", "TITLE", "BREAKS", "DELIVERED", "PLAYED", "IGNORED", "FAILED", "UNKNOWN", "BALANCED", "SETTLED"],
            numbers: [2, 3, 4, 5, 6, 7]
        )
        for each in document.ads {
            table.add(
                [each.id, each.title, "\(each.breaks)"] + each.counts.columns
                    + [each.counts.balanced ? "yes" : "NO", each.settled ? "yes" : "not yet"]
            )
        }
        table.add(
            ["TOTAL", "", "\(document.breaks)"] + document.total.columns + [document.balanced ? "yes" : "NO", ""]
        )
        let notComplete = document.complete ? "" : "\nNOT COMPLETE: records of these breaks are lost"
        return ([table.text + notComplete] + ReportDocument.lines(document.pending)).joined(separator: "\n")
    }
}

extension ReportDocument.Counts {
    fileprivate var columns: [String] {
        [self.delivered, self.played, self.ignored, self.failed, self.unknown].map { "\($0)" }
    }
}

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
            delivered = played + ignored + failed + unknown, for every ad. 'unknown' is final (but for late outcomes) once
            the break is settled, ten minutes after its end. 'clicked' (json and csv) counts the outcomes, of whatever kind,
            of which the listener acted on the ad first. 'complete' says whether nothing that was recorded of the break was
            lost before it was counted. 'repeats' counts outcomes that came again and were not known to the gateway's memory
            of recent ones.

            With --variant the counts are those of listeners that had this choice of ads in one break (0 is the only one so far), counted from
            its rows, which are kept for 9 days after its end.

            What was handed out just before a kill or a loss of power and never acknowledged is missing from 'delivered',
            and so from 'unknown': a batch does not wait for its record.

            Reports may need a token with the scope read. On the gateway's machine the one in its data directory is used; elsewhere, or
            as another user, --token-file names a file that only its owner may read. Exits with 77 if the gateway requires a token
            and none was given.

            A gateway that serves HTTP by TLS is asked as --http https://HOST:PORT; on its own machine the data directory says so.

            Example: cuecast report --stream radio1 --format csv
            """
    )

    @Option(help: "Only this stream.") var stream: String?
    @Option(name: .customLong("break"), help: "Only breaks of this name.") var breakID: String?
    @Option(help: "Only what listeners with this choice of ads did; needs --stream and --break.") var variant: UInt32?
    @Option(help: "At most so many breaks, the newest first.") var limit = 100
    @Option(help: "table, json or csv.") var format: Format = .table
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
        case csv
    }

    func validate() throws {
        guard self.variant == nil || (self.stream != nil && self.breakID != nil) else {
            throw ValidationError("--variant is of one break: say --stream and --break too.")
        }
    }

    func run() async throws {
        let (data, document) = try await self.fetch()
        switch self.format {
        case .json: CommandOutput.write([UInt8](data))
        case .csv: CommandOutput.say(document.csvLines.joined(separator: "\n"))
        case .table: CommandOutput.say(Self.table(document))
        }
        if document.breaks.isEmpty, let sentence = self.nothingKept { complain(sentence) }
        if !document.balanced {
            complain("the books do not balance")
            throw CommandExit.badData
        }
    }

    /// The message if the books have none of the requested data; `nil`: all data was requested.
    private var nothingKept: String? {
        switch (self.stream, self.breakID) {
        case (let stream?, let id?): "the books hold nothing of the break \(id) of the stream \(stream)"
        case (let stream?, nil): "the books hold nothing of the stream \(stream)"
        case (nil, let id?): "the books hold nothing of a break \(id)"
        case (nil, nil): nil
        }
    }

    private func fetch() async throws -> (Data, ReportDocument) {
        var components = URLComponents()
        components.path = "/v1/reports"
        components.queryItems =
            [
                ("stream", self.stream), ("break", self.breakID), ("variant", self.variant.map { String($0) }),
                ("limit", String(self.limit)),
            ]
            .compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        guard let address = try self.gateway.httpAddress else {
            throw ValidationError("Reports come over HTTP, and its address is 'none'.")
        }
        guard let target = components.string else { throw ValidationError("--stream and --break are ids.") }
        let endpoint: HTTPEndpoint
        let headers: [String: String]
        do {
            endpoint = try self.access.trust.endpoint(address, isNamed: self.gateway.isHTTPNamed)
            headers = try self.access.headers(to: endpoint)
        } catch {
            complain("\(error)")
            throw CommandExit.badData
        }
        let answer: HTTPExchange.Answer
        do throws(HTTPExchange.Failure) {
            answer = try await HTTPExchange.get(target, at: endpoint, headers: headers)
        } catch {
            complain("the gateway does not answer at \(endpoint): \(error)")
            throw CommandExit.unavailable
        }
        let data = answer.body
        guard answer.status == 200 else {
            let sentence = (try? JSONDecoder().decode(ProblemDocument.self, from: data))?.detail
            complain(sentence ?? "the gateway answers with HTTP status \(answer.status)")
            switch answer.status {
            case 400, 410, 413: throw CommandExit.badData
            case 401, 403: throw CommandExit.notAllowed
            default: throw CommandExit.unavailable
            }
        }
        guard let document = try? JSONDecoder().decode(ReportDocument.self, from: data) else {
            complain("the gateway's report cannot be understood")
            throw CommandExit.unavailable
        }
        return (data, document)
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
                table.add(
                    [each.stream, each.break, advertisement.id, advertisement.title]
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
        if document.before != nil { text += "\nthere are older breaks: raise --limit" }
        return text
    }
}

extension ReportDocument.Counts {
    fileprivate var columns: [String] {
        [self.delivered, self.played, self.ignored, self.failed, self.unknown].map { "\($0)" }
    }
}

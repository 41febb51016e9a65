// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import GatewayHTTP

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print who asked for what to be changed: when, from where, and what became of it.",
        discussion: """
            Every request that would change something stands there, refused ones too, the newest first: changes of breaks by ZeroMQ and HTTP,
            reloads, and the commands of the gateway's machine that change something.

            The gateway may ask for a token with the scope read, as 'cuecast report' does.

            Example: cuecast audit --stream radio1 --break noon-1 --format json
            """
    )

    @Option(help: "Only breaks of this stream.") var stream: String?
    @Option(name: .customLong("break"), help: "Only breaks of this name.") var breakID: String?
    @Option(help: "Only what this broadcaster asked for.") var broadcaster: String?
    @Option(help: "At most so many lines, the newest first; 1 to 100000.") var limit = 100
    @Option(help: "table or json.") var format: OutputFormat = .table
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    func validate() throws {
        guard (1...100_000).contains(self.limit) else { throw ValidationError("--limit is a number from 1 to 100000.") }
    }

    func run() async throws {
        let document = try await self.fetch()
        switch self.format {
        case .json: BreakPrinter.printJSON(document)
        case .table: CommandOutput.say(Self.table(document))
        }
    }

    /// As many pages as it takes.
    private func fetch() async throws -> AuditDocument {
        guard let address = try self.gateway.httpAddress else {
            throw ValidationError("The audit comes over HTTP, and its address is 'none'.")
        }
        let endpoint: HTTPEndpoint
        let headers: [String: String]
        do {
            endpoint = try self.access.trust.endpoint(address, isNamed: self.gateway.isHTTPNamed)
            headers = try self.access.headers(to: endpoint)
        } catch {
            complain("\(error)")
            throw CommandExit.badData
        }
        var all: AuditDocument?
        while true {
            let missing = self.limit - (all?.entries.count ?? 0)
            let target = try self.target(limit: min(missing, 500), before: all?.before)
            let page = try await Self.page(target, at: endpoint, headers: headers)
            var document = all ?? page
            if all != nil { document.entries += page.entries }
            document.before = page.before
            guard document.before != nil, document.entries.count < self.limit, !page.entries.isEmpty else {
                return document
            }
            all = document
        }
    }

    private func target(limit: Int, before: Int64?) throws -> String {
        var components = URLComponents()
        components.path = "/v1/audit"
        components.queryItems =
            [
                ("stream", self.stream), ("break", self.breakID), ("broadcaster", self.broadcaster),
                ("before", before.map { String($0) }), ("limit", String(limit)),
            ]
            .compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        guard let target = components.string else { throw ValidationError("--stream and --break are ids.") }
        return target
    }

    private static func page(
        _ target: String,
        at endpoint: HTTPEndpoint,
        headers: [String: String]
    ) async throws -> AuditDocument {
        let answer: HTTPExchange.Answer
        do throws(HTTPExchange.Failure) {
            answer = try await HTTPExchange.get(target, at: endpoint, headers: headers)
        } catch {
            complain("the gateway does not answer at \(endpoint): \(error)")
            throw CommandExit.unavailable
        }
        guard answer.status == 200 else {
            struct Fault: Decodable { let detail: String }
            let sentence = (try? JSONDecoder().decode(Fault.self, from: answer.body))?.detail
            complain(sentence ?? "the gateway answers with HTTP status \(answer.status)")
            switch answer.status {
            case 400: throw CommandExit.badData
            case 401, 403: throw CommandExit.notAllowed
            default: throw CommandExit.unavailable
            }
        }
        guard let document = try? JSONDecoder().decode(AuditDocument.self, from: answer.body) else {
            complain("the gateway's audit cannot be understood")
            throw CommandExit.unavailable
        }
        return document
    }

    static func table(_ document: AuditDocument) -> String {
        var table = TextTable(
            ["AT", "BY", "FROM", "ACTION", "STREAM", "BREAK", "OUTCOME", "REVISION", "SENTENCE"],
            numbers: [7]
        )
        for each in document.entries {
            table.add([
                each.at, each.by ?? "-", each.entrance + (each.address.map { " \($0)" } ?? ""), each.action,
                each.stream ?? "-", each.break ?? "-", each.code ?? each.outcome, each.revision.map { "\($0)" } ?? "-",
                each.sentence ?? "",
            ])
        }
        return table.text + (document.before == nil ? "" : "\nthere are older lines: raise --limit")
    }
}

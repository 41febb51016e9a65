// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments
import HTTPTypes
import Hummingbird

/// The operations that report the sessions' outcomes.
func reportOperations(_ parts: HTTPParts) -> [Operation] {
    let ofBreak: @Sendable (OperationCall) async throws -> HTTPAnswer = { call in
        let key = parts.ownKey(of: try call.breakKey())
        var query = ReportQuery(stream: key.stream, breakID: key.id, limit: 1, now: call.received)
        try call.narrow(&query)
        return try await call.onReaders { [query] in
            let document = try await parts.report(query)
            guard !document.breaks.isEmpty else {
                let ad = query.advertisement.map { " with the ad \($0)" } ?? ""
                throw Problem.notFound("The ledger has no break \(key.id) of the stream \(key.stream)\(ad).")
            }
            return try call.answer(document)
        }
    }
    let refusals: [ProblemCode] = [.reason(.unsupported), .reason(.tooLarge), .reason(.breakTooOld)]
    let ofBreakParameters: [OperationParameter] = [
        .streamInPath, .breakInPath, .reportedAd, .reportedVariant, .reportFormat,
    ]
    return [
        Operation(
            .get,
            "/v1/reports",
            id: "listReports",
            tag: "Reports",
            "Report deliveries and outcomes, by break and ad.",
            details: """
                Of a page with `from`, `to` or `ad` \(ReportQuery.breaksLookedAtMax) breaks are looked at: it may have fewer breaks than were \
                asked for, or none, and `before` all the same. As CSV, the next page stands in the head: `Link`. With `variant` both `stream` and \
                `break` must be named.
                """,
            access: .read,
            parameters: [
                OperationParameter("stream", in: .query, "Only this stream.", Schema.stream, example: "radio1"),
                OperationParameter("break", in: .query, "Only breaks of this name.", Schema.breakID, example: "noon-1"),
                .reportedAd, .reportedVariant,
                .reportedFrom, .reportedTo, .reportedBefore,
                .limit(max: ReportQuery.breaksMax), .reportFormat,
            ],
            answers: [.report("One page, the newest break first.")],
            refusals: refusals
        ) { call in
            let (from, to) = try call.query.period()
            var query = ReportQuery(
                stream: try call.query.stream(),
                breakID: try call.query.breakID(),
                from: from,
                to: to,
                before: try call.query.number("before").map { BreakNumber(rawValue: $0) },
                limit: try call.query.limit(max: ReportQuery.breaksMax),
                now: call.received
            )
            query.breakID = parts.ownID(of: query.breakID, in: query.stream)
            try call.narrow(&query)
            return try await call.onReaders { [query] in try call.answer(try await parts.report(query)) }
        },
        reportByAd(parts),
        Operation(
            .get,
            "/v1/reports/{stream}/{break}",
            id: "getReport",
            tag: "Reports",
            "Tell who did what in one break.",
            access: .read,
            parameters: ofBreakParameters,
            answers: [.report("Its books.")],
            refusals: refusals,
            handle: ofBreak
        ),
        Operation(
            .get,
            "/v1/streams/{stream}/breaks/{break}/report",
            id: "getReportOfBreak",
            tag: "Reports",
            "Tell who did what in one break, as `/v1/reports` does.",
            details: "The ledger keeps a break's books for longer than the break is shown.",
            access: .read,
            parameters: ofBreakParameters,
            answers: [.report("Its books.")],
            refusals: refusals,
            handle: ofBreak
        ),
    ]
}

extension HTTPParts {
    /// The name by which the ledger knows a break, while the board knows it: a broadcaster may name it by another id.
    func ownKey(of named: BreakKey) -> BreakKey { self.breaks.board().known(named)?.key ?? named }

    /// The id by which the ledger knows a break, where its stream is named too.
    fileprivate func ownID(of named: BreakID?, in stream: StreamID?) -> BreakID? {
        guard let named, let stream else { return named }
        return self.ownKey(of: BreakKey(stream: stream, id: named)).id
    }
}

/// The totals of ads over many breaks.
private func reportByAd(_ parts: HTTPParts) -> Operation {
    Operation(
        .get,
        "/v1/reports/ads",
        id: "listReportsByAd",
        tag: "Reports",
        "Report deliveries and outcomes by ad, over all breaks that had it.",
        details: """
            One answer counts \(ReportByAdvertisement.breaksMax) breaks, the newest first, and \(ReportByAdvertisement.advertisementsMax) ads at \
            most. If it has `before`, ask again with that; the counts of both answers add up. As CSV, that request stands in the head: `Link`.
            """,
        access: .read,
        parameters: [
            OperationParameter("stream", in: .query, "Only this stream.", Schema.stream, example: "radio1"),
            OperationParameter("break", in: .query, "Only breaks of this name.", Schema.breakID, example: "noon-1"),
            .reportedAd, .reportedFrom, .reportedTo, .reportedBefore, .reportFormat,
        ],
        answers: [
            .report(
                "The ads that were delivered most first.",
                OperationContent(AdReportDocument.schema, example: AdReportDocument.example),
                "RFC 4180, a line for each ad.",
                example: AdReportDocument.csvColumns.joined(separator: ",") + "\r\n"
                    + "spring-sale-30,Spring sale,2,20,12,4,2,2,0,0,0,360000,true,2,true\r\n"
            )
        ]
    ) { call in
        let (from, to) = try call.query.period()
        var query = ReportQuery(
            stream: try call.query.stream(),
            breakID: try call.query.breakID(),
            from: from,
            to: to,
            before: try call.query.number("before").map { BreakNumber(rawValue: $0) },
            limit: ReportQuery.breaksMax,
            now: call.received
        )
        query.breakID = parts.ownID(of: query.breakID, in: query.stream)
        try call.narrow(&query)
        return try await call.onReaders { [query] in
            let document = try await parts.reportByAd(query)
            return try call.answer(document, csv: document.csv, before: document.before)
        }
    }
}

extension OperationParameter {
    fileprivate static let reportedFrom = OperationParameter(
        "from",
        in: .query,
        "Only breaks that start at this instant or later: totals have no time of their own.",
        Schema.instant(),
        example: "2026-05-01T00:00:00Z"
    )
    fileprivate static let reportedTo = OperationParameter(
        "to",
        in: .query,
        "Only breaks that start before this instant.",
        Schema.instant(),
        example: "2026-05-02T00:00:00Z"
    )
    fileprivate static let reportedBefore = OperationParameter(
        "before",
        in: .query,
        "Only breaks with a lower number: where the page before ended.",
        Schema.integer(0...Int.max),
        example: 17
    )
    fileprivate static let reportedAd = OperationParameter(
        "ad",
        in: .query,
        "Only this ad: breaks that have it, and of them its counts.",
        ["type": "string", "minLength": 1, "maxLength": .integer(Int64(WireLimits.advertisementIDBytesMax))],
        example: "spring-sale-30"
    )
    fileprivate static let reportedVariant = OperationParameter(
        "variant",
        in: .query,
        """
        Only the ads of the variant with this number in its break: 0 is default, and the others follow in the order in which they were \
        published.
        """,
        Schema.integer(0...(WireLimits.variantsPerBreakMax - 1)),
        example: 0
    )
    fileprivate static let reportFormat = OperationParameter(
        "format",
        in: .query,
        "As JSON or as CSV; absent: as `Accept` prefers.",
        Schema.oneOf(["json", "csv"]),
        example: "json"
    )
}

extension OperationAnswer {
    fileprivate static func report(_ description: String) -> OperationAnswer {
        .report(
            description,
            OperationContent(ReportDocument.schema, example: ReportDocument.example),
            "RFC 4180, a line for each ad of each break.",
            example: ReportDocument.csvColumns.joined(separator: ",") + "\r\n"
                + "radio1,noon-1,spring-sale-30,Spring sale,2026-05-01T12:00:00.000000Z,2026-05-01T12:00:30.000000Z,"
                + "10,6,2,1,1,0,0,0,180000,true,1,true,,\r\n"
        )
    }

    /// A report as JSON, and as a table.
    fileprivate static func report(
        _ description: String,
        _ json: OperationContent,
        _ table: String,
        example: String
    ) -> OperationAnswer {
        OperationAnswer(
            description,
            json,
            OperationContent(MediaType.csv, .inline(Schema.text(table)), example: .string(example))
        )
        .with([
            OperationHeader("Link", "The next page, with rel=\"next\"; absent on the last one.", ["type": "string"])
        ])
    }
}

extension OperationCall {
    /// Takes over what a report may be asked to leave out, and refuses a variant of no break.
    fileprivate func narrow(_ query: inout ReportQuery) throws(Problem) {
        if let number = try self.query.number("variant") {
            guard let variant = UInt32(exactly: number), variant < WireLimits.variantsPerBreakMax else {
                throw Problem.badRequest(
                    "The parameter variant must be a number from 0 to \(WireLimits.variantsPerBreakMax - 1)."
                )
            }
            guard query.stream != nil, query.breakID != nil else {
                throw Problem(
                    .reason(.unsupported),
                    """
                    The numbers of variants are those of one break. Name it, for instance as \
                    GET /v1/streams/STREAM/breaks/BREAK/report?variant=\(variant).
                    """
                )
            }
            query.variant = variant
        }
        guard let ad = self.query["ad"] else { return }
        query.advertisement = try Problem.check { () throws(WireError) in try AdvertisementID(ad) }
    }

    /// A report as the request wants it.
    fileprivate func answer(_ document: ReportDocument) throws(Problem) -> HTTPAnswer {
        try self.answer(document, csv: document.csv, before: document.before)
    }

    /// A document as the request wants it.
    fileprivate func answer(
        _ document: some GatewayDocument,
        csv: @autoclosure () -> String,
        before: UInt64?
    ) throws(Problem) -> HTTPAnswer {
        var headers: HTTPFields = [.vary: "Accept"]
        if let before {
            headers[.link] = "<\(self.target(with: "before", "\(before)"))>; rel=\"next\""
        }
        switch self.query["format"] {
        case "json": return .json(document, headers: headers)
        case "csv": break
        case .some: throw .badRequest("The parameter format must be json or csv.")
        case nil:
            guard MediaType.prefers("text/csv", to: MediaType.json, in: self.header(.accept) ?? "") else {
                return .json(document, headers: headers)
            }
        }
        return HTTPAnswer(type: MediaType.csv, body: .bytes(Array(csv().utf8)), headers: headers)
    }

    /// The target of this request, with another value of one parameter.
    private func target(with name: String, _ value: String) -> String {
        let path = String((self.request.head.path ?? "/").prefix { $0 != "?" })
        let values = self.query.values.merging([name: value]) { $1 }
        let query = values.sorted { $0.key < $1.key }
            .map { name, value in
                name + "=" + (value.addingPercentEncoding(withAllowedCharacters: .queryValue) ?? value)
            }
        return path + "?" + query.joined(separator: "&")
    }
}

extension CharacterSet {
    /// The characters that need no escape in an address (RFC 3986 section 2.3).
    fileprivate static let queryValue = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    )
}

extension OperationParameter {
    /// How much of a list is asked for.
    static func limit(max: Int) -> OperationParameter {
        OperationParameter(
            "limit",
            in: .query,
            "The most on one page; 100 unless told.",
            Schema.integer(1...max),
            example: 100
        )
    }
}

extension HTTPParts {
    /// Asks the ledger, and how far the log is ahead of it.
    func report(_ query: ReportQuery) async throws -> ReportDocument {
        let report = try await self.stores.ledger.report(query)
        // Read after the report, so that what it counts is never ahead of the head beside it.
        return ReportDocument(report, heads: await self.logHeads())
    }

    /// Asks the ledger for the totals of ads, page by page.
    func reportByAd(_ query: ReportQuery) async throws -> AdReportDocument {
        var totals = ReportByAdvertisement()
        var query = query
        var goesOn = true
        while goesOn {
            goesOn = totals.take(try await self.stores.ledger.report(query))
            query.before = totals.last
        }
        return AdReportDocument(totals, heads: await self.logHeads())
    }

    /// The newest record of each lane, as far as the log tells.
    private func logHeads() async -> [Lane: UInt64] {
        var heads: [Lane: UInt64] = [:]
        let lanes = [.breaks] + (0..<Lane.acknowledgementLaneCount).map { Lane.acknowledgements($0) }
        for lane in lanes {
            // The books can be read while the log is away: then its head is not told.
            heads[lane] = try? await self.stores.log.head(of: lane)
        }
        return heads
    }
}

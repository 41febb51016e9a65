// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakPlanning
import CommandSupport
import CuecastWire
import GatewayDocuments

// A forecast by what a gateway says over HTTP.

extension BreakForecast {
    private static let streamsPageMax = 200
    private static let breaksPageMax = 500
    private static let reportsPageMax = 500
    /// The most pages of a list, so that one that grows while it is read has an end.
    private static let pagesMax = 1_000

    /// Asks a gateway.
    ///
    /// - Parameters:
    ///   - gateway: the gateway.
    ///   - stream: only this stream; `nil`: all that have listeners or breaks.
    ///   - hours: how far ahead.
    ///   - days: how many days estimates look back.
    /// - Returns: the forecast.
    /// - Throws: why there is none.
    static func read(
        _ gateway: OperatorGateway,
        stream: String?,
        hours: Int,
        days: Int
    ) async throws(OperatorGateway.Fault) -> BreakForecast {
        let (now, listeners) = try await Self.listeners(gateway, of: stream)
        let period = Self.period(from: now, hours: hours)
        let coming = try await Self.breaks(gateway, of: stream).compactMap { Coming($0, in: period) }
        let result = try await Self.make(for: period, days: days, listeners: listeners, coming: coming) {
            (name, time) async throws(OperatorGateway.Fault) in
            try await Self.past(gateway, name, time, before: now)
        }
        switch result {
        case .success(let forecast): return forecast
        case .failure(let fault):
            throw OperatorGateway.Fault(
                sentence: "\(fault.sentence): name one with --stream",
                exit: CommandExit.badData
            )
        }
    }

    /// The gateway's time, and how many listen to each stream now.
    private static func listeners(
        _ gateway: OperatorGateway,
        of stream: String?
    ) async throws(OperatorGateway.Fault) -> (now: Int64, [String: Int64]) {
        var listeners: [String: Int64] = [:]
        var after: String?
        for _ in 0..<Self.pagesMax {
            let page = try await gateway.document(
                StreamListDocument.self,
                OperatorGateway.target(
                    "/v1/streams",
                    [("search", stream), ("after", after), ("limit", String(Self.streamsPageMax))]
                )
            )
            for each in page.streams where stream == nil || each.stream == stream {
                listeners[each.stream] = Int64(each.listeners)
            }
            after = page.after
            guard after == nil || page.streams.isEmpty else { continue }
            if let stream, listeners[stream] == nil { listeners[stream] = 0 }
            return (Self.milliseconds(page.now) ?? 0, listeners)
        }
        throw Self.endless
    }

    private static func breaks(
        _ gateway: OperatorGateway,
        of stream: String?
    ) async throws(OperatorGateway.Fault) -> [BreakListDocument.Break] {
        var breaks: [BreakListDocument.Break] = []
        var after: String?
        for _ in 0..<Self.pagesMax {
            let page = try await gateway.document(
                BreakListDocument.self,
                OperatorGateway.target(
                    "/v1/breaks",
                    [("stream", stream), ("after", after), ("limit", String(Self.breaksPageMax))]
                )
            )
            breaks += page.breaks
            after = page.after
            if after == nil { return breaks }
        }
        throw Self.endless
    }

    /// The breaks of a stream that started in a time and are over.
    private static func past(
        _ gateway: OperatorGateway,
        _ stream: String,
        _ time: Range<Int64>,
        before now: Int64
    ) async throws(OperatorGateway.Fault) -> [ListenerForecast.Past] {
        var past: [ListenerForecast.Past] = []
        var before: UInt64?
        for _ in 0..<Self.pagesMax {
            let page = try await gateway.document(
                ReportDocument.self,
                OperatorGateway.target(
                    "/v1/reports",
                    [
                        ("stream", stream), ("before", before.map { String($0) }),
                        ("limit", String(Self.reportsPageMax)),
                        ("from", Timestamp.text(ofMilliseconds: time.lowerBound)),
                        ("to", Timestamp.text(ofMilliseconds: time.upperBound)),
                    ]
                )
            )
            past += page.breaks.compactMap { ListenerForecast.Past($0, before: now) }
            before = page.before
            if before == nil { return past }
        }
        throw Self.endless
    }

    private static let endless = OperatorGateway.Fault(
        sentence: "the gateway's list has no end",
        exit: CommandExit.unavailable
    )

    private static func milliseconds(_ text: String) -> Int64? {
        Timestamp(rfc3339: text).map { $0.microseconds / 1_000 }
    }
}

// MARK: - Text

extension BreakForecast {
    /// For people.
    var text: String {
        var table = TextTable(
            ["STREAM", "BREAK", "START", "SECONDS", "ADS", "LISTENERS", "RANGE", "BASED ON"],
            numbers: [3, 4, 5]
        )
        for stream in self.streams {
            for each in stream.breaks {
                let range = each.estimate.range
                let basis =
                    switch each.estimate.basis {
                    case .now: "the listeners of now"
                    case .earlierDays: each.estimate.days == 1 ? "1 day" : "\(each.estimate.days) days"
                    }
                table.add([
                    stream.name, each.coming.id, Timestamp.text(ofMilliseconds: each.coming.startMilliseconds),
                    each.coming.durationMilliseconds.map { "\(Double($0) / 1_000)" } ?? "-", "\(each.coming.ads)",
                    "\(each.estimate.listeners)", "\(range.lowerBound)–\(range.upperBound)", basis,
                ])
            }
        }
        let count = self.streams.reduce(0) { $0 + $1.breaks.count }
        let listeners = self.streams.reduce(0) { $0 + $1.listeners }
        let last =
            "\(BreakPrinter.breaks(count)) until \(Timestamp.text(ofMilliseconds: self.period.upperBound)); \(listeners) listeners now"
        return count == 0 ? last : table.text + "\n" + last
    }
}

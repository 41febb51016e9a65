// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakScheduling
import CommandSupport
import CueWatching
import CuecastWire
import Foundation
import GatewayDocuments

/// The breaks of the next hours as a gateway knows them, with an estimate of the listeners of each.
struct GatewayForecast: Sendable {
    /// A break to come.
    struct Break: Sendable {
        let id: String
        let state: String
        let startMilliseconds: Int64
        /// `nil`: until it is ended.
        let durationMilliseconds: Int64?
        let ads: Int
        let estimate: ListenerForecast.Estimate
    }

    struct Stream: Sendable {
        let name: String
        /// How many listen now.
        let listeners: Int64
        /// By start.
        let breaks: [Break]
    }

    /// An event of LEAP; what is `nil` is that of the period.
    struct Event: Sendable {
        let start: Int64?
        let end: Int64?
        let title: String?
    }

    /// The most streams of a forecast.
    private static let streamsMax = 200
    private static let streamsPageMax = 200
    private static let breaksPageMax = 500
    private static let reportsPageMax = 500
    /// The most pages of a list, so that one that grows while it is read has an end.
    private static let pagesMax = 1_000

    /// The gateway's time, in milliseconds since 1970, and the end of the forecast.
    let period: Range<Int64>
    let streams: [Stream]
}

// MARK: - Reading

extension GatewayForecast {
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
    ) async throws(OperatorGateway.Fault) -> GatewayForecast {
        let (now, listeners) = try await Self.listeners(gateway, of: stream)
        let period = now..<now + Int64(hours) * 3_600_000
        var breaks: [String: [BreakListDocument.Break]] = [:]
        for each in try await Self.breaks(gateway, of: stream) {
            guard ["scheduled", "announced"].contains(each.state), let start = each.start.flatMap(Self.milliseconds),
                period.contains(start)
            else { continue }
            breaks[each.stream, default: []].append(each)
        }
        let names = Set(listeners.keys).union(breaks.keys).sorted()
        guard names.count <= Self.streamsMax else {
            throw OperatorGateway.Fault(
                sentence:
                    "the limit forecastStreamsMax is \(Self.streamsMax), and the gateway has \(names.count) streams: name one with --stream",
                exit: CommandExit.badData
            )
        }
        var streams: [Stream] = []
        for name in names {
            let own = breaks[name] ?? []
            let starts = own.compactMap { $0.start.flatMap(Self.milliseconds) }
            var past: [ListenerForecast.Past] = []
            // Only for the times of breaks: a stream without any needs no history.
            if let first = starts.min(), let last = starts.max() {
                for time in ListenerForecast.times(for: first..<last + 1, days: days) {
                    past += try await Self.past(gateway, name, time, before: now)
                }
            }
            let forecast = ListenerForecast(past: past, listeners: listeners[name] ?? 0, days: days)
            streams.append(
                Stream(
                    name: name,
                    listeners: listeners[name] ?? 0,
                    breaks: zip(own, starts)
                        .map { each, start in
                            Break(
                                id: each.break,
                                state: each.state,
                                startMilliseconds: start,
                                durationMilliseconds: each.durationMilliseconds,
                                ads: each.ads,
                                estimate: forecast.estimate(at: start)
                            )
                        }
                        .sorted { ($0.startMilliseconds, $0.id) < ($1.startMilliseconds, $1.id) }
                )
            )
        }
        return GatewayForecast(period: period, streams: streams)
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
                        ("limit", String(Self.reportsPageMax)), ("from", Self.text(time.lowerBound)),
                        ("to", Self.text(min(time.upperBound, now))),
                    ]
                )
            )
            for each in page.breaks where !each.cancelled && !each.expired && !each.preStream {
                guard let start = each.start.flatMap(Self.milliseconds), let end = each.end.flatMap(Self.milliseconds),
                    end <= now
                else { continue }
                past.append(ListenerForecast.Past(startMilliseconds: start, sessions: each.sessions))
            }
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

    private static func text(_ milliseconds: Int64) -> String {
        Timestamp(microseconds: milliseconds * 1_000).description
    }
}

// MARK: - Shapes

extension GatewayForecast {
    /// As programs read it.
    struct Document: Encodable {
        struct Break: Encodable {
            let `break`: String
            let state: String
            let start: String
            let durationSeconds: Double?
            let ads: Int
            let listeners: Int64
            let lowest: Int64
            let highest: Int64
            /// `earlierDays` or `now`.
            let basis: String
            let days: Int
        }

        struct Stream: Encodable {
            let stream: String
            let listeners: Int64
            let breaks: [Break]
        }

        let now: String
        let until: String
        let streams: [Stream]
    }

    var document: Document {
        Document(
            now: Self.shown(self.period.lowerBound),
            until: Self.shown(self.period.upperBound),
            streams: self.streams.map { stream in
                Document.Stream(
                    stream: stream.name,
                    listeners: stream.listeners,
                    breaks: stream.breaks.map {
                        Document.Break(
                            break: $0.id,
                            state: $0.state,
                            start: Self.shown($0.startMilliseconds),
                            durationSeconds: $0.durationMilliseconds.map { Double($0) / 1_000 },
                            ads: $0.ads,
                            listeners: $0.estimate.listeners,
                            lowest: $0.estimate.range.lowerBound,
                            highest: $0.estimate.range.upperBound,
                            basis: $0.estimate.basis.rawValue,
                            days: $0.estimate.days
                        )
                    }
                )
            }
        )
    }

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
                    stream.name, each.id, Self.shown(each.startMilliseconds),
                    each.durationMilliseconds.map { "\(Double($0) / 1_000)" } ?? "-", "\(each.ads)",
                    "\(each.estimate.listeners)", "\(range.lowerBound)–\(range.upperBound)", basis,
                ])
            }
        }
        let count = self.streams.reduce(0) { $0 + $1.breaks.count }
        let listeners = self.streams.reduce(0) { $0 + $1.listeners }
        let last =
            "\(count == 1 ? "1 break" : "\(count) breaks") until \(Self.shown(self.period.upperBound)); \(listeners) listeners now"
        return count == 0 ? last : table.text + "\n" + last
    }

    /// The listeners of now, as the Concurrent Streams API has them.
    func concurrentStreams(_ event: Event, provider: String?) -> ConcurrentStreamsDocument {
        ConcurrentStreamsDocument(
            timestamp: self.period.lowerBound,
            streamsdata: [
                ConcurrentStreamsDocument.StreamsData(
                    sdp: provider,
                    mediastreams: self.streams.map { stream in
                        ConcurrentStreamsDocument.MediaStream(
                            content: Self.content(stream, event),
                            eventstart: event.start ?? self.period.lowerBound,
                            eventend: event.end ?? self.period.upperBound,
                            streamcount: [
                                ConcurrentStreamsDocument.StreamCount(cstreams: Int(clamping: stream.listeners))
                            ]
                        )
                    }
                )
            ]
        )
    }

    /// The events to come, as the Forecast API has them.
    func leapForecast(_ event: Event) -> LEAPForecastDocument {
        LEAPForecastDocument(
            timestamp: self.period.lowerBound,
            events: self.streams.map { stream in
                let (start, end) = (event.start ?? self.period.lowerBound, event.end ?? self.period.upperBound)
                let breaks = stream.breaks.filter { $0.startMilliseconds >= start && $0.startMilliseconds < end }
                let total = breaks.reduce(0) { $0 + ($1.durationMilliseconds ?? 0) }
                return LEAPForecastDocument.UpcomingEvent(
                    scheduledstart: start,
                    scheduledend: end,
                    content: Self.content(stream, event),
                    streamsdata: [
                        LEAPForecastDocument.StreamsData(
                            expectedpeak: breaks.map(\.estimate.listeners).max() ?? stream.listeners,
                            lowerbound: breaks.map(\.estimate.range.lowerBound).min()
                        )
                    ],
                    inventoryconfig: LEAPForecastDocument.InventoryConfiguration(
                        totaladdurationsec: Int(total / 1_000),
                        expectedpodcount: breaks.count,
                        // Signals and broadcasters may open a break at any time.
                        unplanned: 1
                    ),
                    lastmodifieddate: self.period.lowerBound
                )
            }
        )
    }

    private static func content(_ stream: Stream, _ event: Event) -> ConcurrentStreamsDocument.Content {
        ConcurrentStreamsDocument.Content(
            id: stream.name,
            title: event.title,
            channel: ConcurrentStreamsDocument.Channel(name: stream.name)
        )
    }

    private static func shown(_ milliseconds: Int64) -> String { WatchLine.text(ofMilliseconds: Int(milliseconds)) }
}

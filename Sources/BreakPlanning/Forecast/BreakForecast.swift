// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
package import GatewayDocuments

/// The breaks of the next hours as a gateway knows them, with an estimate of the listeners of each.
package struct BreakForecast: Hashable, Sendable {
    /// A break to come, before anything is estimated.
    package struct Coming: Hashable, Sendable {
        package let stream: String
        package let id: String
        package let state: String
        package let startMilliseconds: Int64
        /// `nil`: until it is ended.
        package let durationMilliseconds: Int64?
        package let ads: Int

        package init(
            stream: String,
            id: String,
            state: String,
            startMilliseconds: Int64,
            durationMilliseconds: Int64?,
            ads: Int
        ) {
            self.stream = stream
            self.id = id
            self.state = state
            self.startMilliseconds = startMilliseconds
            self.durationMilliseconds = durationMilliseconds
            self.ads = ads
        }
    }

    /// A break to come.
    package struct Break: Hashable, Sendable {
        package let coming: Coming
        package let estimate: ListenerForecast.Estimate
    }

    package struct Stream: Hashable, Sendable {
        package let name: String
        /// How many listen now.
        package let listeners: Int64
        /// By start.
        package let breaks: [Break]
    }

    /// An event of LEAP; what is `nil` is that of the period.
    package struct Event: Hashable, Sendable {
        /// Why an event cannot be.
        package enum Fault: Hashable, Sendable {
            /// It starts when the period is over, and has no end of its own.
            case startsAfterPeriod
            /// It ends before the period begins, and has no start of its own.
            case endsBeforePeriod
            /// Its end is not after its start.
            case endsBeforeStart
        }

        package let start: Int64?
        package let end: Int64?
        package let title: String?

        package init(start: Int64? = nil, end: Int64? = nil, title: String? = nil) {
            self.start = start
            self.end = end
            self.title = title
        }

        /// Why it has no length in a period; `nil`: it has one.
        package func fault(in period: Range<Int64>) -> Fault? {
            guard self.end ?? period.upperBound <= self.start ?? period.lowerBound else { return nil }
            if self.end == nil { return .startsAfterPeriod }
            return self.start == nil ? .endsBeforePeriod : .endsBeforeStart
        }
    }

    /// There are more than ``streamsMax`` streams.
    package struct TooManyStreams: Error, Hashable, Sendable {
        package let count: Int

        package init(count: Int) { self.count = count }

        /// One sentence for people, without its stop.
        package var sentence: String {
            "the limit forecastStreamsMax is \(BreakForecast.streamsMax), and the gateway has \(self.count) streams"
        }
    }

    /// The most streams of a forecast.
    package static let streamsMax = 200
    /// How many hours ahead a forecast may look.
    package static let hours = 1...24
    package static let hoursUsual = 6
    /// How many days back an estimate may look.
    package static let days = 0...ListenerForecast.daysMax
    package static let daysUsual = 7

    /// The gateway's time, in milliseconds since 1970, and the end of the forecast.
    package let period: Range<Int64>
    package let streams: [Stream]
}

// MARK: - Making

extension BreakForecast {
    /// The period of a forecast.
    package static func period(from now: Int64, hours: Int) -> Range<Int64> { now..<now + Int64(hours) * 3_600_000 }

    /// Makes a forecast.
    ///
    /// - Parameters:
    ///   - period: its time.
    ///   - days: how many days estimates look back.
    ///   - listeners: how many listen to each stream now.
    ///   - coming: the breaks of the period.
    ///   - past: gives the breaks of a stream that started in a time and are over.
    /// - Returns: the forecast, unless there are too many streams.
    /// - Throws: the errors of `past`.
    package static func make<Failure>(
        for period: Range<Int64>,
        days: Int,
        listeners: [String: Int64],
        coming: [Coming],
        past: (_ stream: String, _ time: Range<Int64>) async throws(Failure) -> [ListenerForecast.Past]
    ) async throws(Failure) -> Result<BreakForecast, TooManyStreams> {
        let breaks = Dictionary(grouping: coming, by: \.stream)
        let names = Set(listeners.keys).union(breaks.keys).sorted()
        guard names.count <= Self.streamsMax else { return .failure(TooManyStreams(count: names.count)) }
        var streams: [Stream] = []
        for name in names {
            let own = breaks[name] ?? []
            var known: [ListenerForecast.Past] = []
            // Only for the times of breaks: a stream without any needs no history.
            if let first = own.map(\.startMilliseconds).min(), let last = own.map(\.startMilliseconds).max() {
                for time in ListenerForecast.times(for: first..<last + 1, days: days) {
                    // Only breaks that are over count.
                    let time = time.clamped(to: .min..<period.lowerBound)
                    if !time.isEmpty { known += try await past(name, time) }
                }
            }
            let forecast = ListenerForecast(past: known, listeners: listeners[name] ?? 0, days: days)
            streams.append(
                Stream(
                    name: name,
                    listeners: listeners[name] ?? 0,
                    breaks: own.map { Break(coming: $0, estimate: forecast.estimate(at: $0.startMilliseconds)) }
                        .sorted {
                            ($0.coming.startMilliseconds, $0.coming.id) < ($1.coming.startMilliseconds, $1.coming.id)
                        }
                )
            )
        }
        return .success(BreakForecast(period: period, streams: streams))
    }
}

extension BreakForecast.Coming {
    /// A break of the gateway's list; `nil`: it does not start in the period, or has started.
    ///
    /// - Parameters:
    ///   - each: the break.
    ///   - period: the time of the forecast.
    package init?(_ each: BreakListDocument.Break, in period: Range<Int64>) {
        guard ["scheduled", "announced"].contains(each.state), let text = each.start,
            let start = Timestamp(rfc3339: text)?.inMilliseconds, period.contains(start)
        else { return nil }
        self.init(
            stream: each.stream,
            id: each.break,
            state: each.state,
            startMilliseconds: start,
            durationMilliseconds: each.durationMilliseconds,
            ads: each.ads
        )
    }
}

extension ListenerForecast.Past {
    /// A break of a report; `nil`: it is not over, it did not play, or it played before the stream.
    ///
    /// - Parameters:
    ///   - each: the break.
    ///   - now: the gateway's time, in milliseconds since 1970.
    package init?(_ each: ReportDocument.Break, before now: Int64) {
        guard !each.cancelled, !each.expired, !each.preStream,
            let start = each.start.flatMap({ Timestamp(rfc3339: $0) }),
            let end = each.end.flatMap({ Timestamp(rfc3339: $0) }), end.inMilliseconds <= now
        else { return nil }
        self.init(startMilliseconds: start.inMilliseconds, sessions: each.sessions)
    }
}

extension Timestamp {
    fileprivate var inMilliseconds: Int64 { self.microseconds / 1_000 }
}

// MARK: - Shapes

extension BreakForecast {
    /// As programs read it.
    package var document: ForecastDocument {
        ForecastDocument(
            now: Timestamp.text(ofMilliseconds: self.period.lowerBound),
            until: Timestamp.text(ofMilliseconds: self.period.upperBound),
            streams: self.streams.map { stream in
                ForecastDocument.Stream(
                    stream: stream.name,
                    listeners: stream.listeners,
                    breaks: stream.breaks.map {
                        ForecastDocument.Break(
                            break: $0.coming.id,
                            state: $0.coming.state,
                            start: Timestamp.text(ofMilliseconds: $0.coming.startMilliseconds),
                            durationSeconds: $0.coming.durationMilliseconds.map { Double($0) / 1_000 },
                            ads: $0.coming.ads,
                            listeners: $0.estimate.listeners,
                            range: $0.estimate.range,
                            basis: $0.estimate.basis.rawValue,
                            days: $0.estimate.days
                        )
                    }
                )
            }
        )
    }

    /// The listeners of now, as the Concurrent Streams API has them.
    ///
    /// - Parameters:
    ///   - event: the event of each stream.
    ///   - provider: the name of the provider of the data; `nil`: it is not said.
    /// - Returns: the document.
    package func concurrentStreams(_ event: Event, provider: String?) -> ConcurrentStreamsDocument {
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
    ///
    /// - Parameter event: the event of each stream.
    /// - Returns: the document.
    package func leapForecast(_ event: Event) -> LEAPForecastDocument {
        LEAPForecastDocument(
            timestamp: self.period.lowerBound,
            events: self.streams.map { stream in
                let (start, end) = (event.start ?? self.period.lowerBound, event.end ?? self.period.upperBound)
                let breaks = stream.breaks
                    .filter { $0.coming.startMilliseconds >= start && $0.coming.startMilliseconds < end }
                let total = breaks.reduce(0) { $0 + ($1.coming.durationMilliseconds ?? 0) }
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
}

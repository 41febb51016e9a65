// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakPlanning
import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// The breaks of the next hours, and how many listeners each may have.
///
/// The arithmetic is that of `cuecast forecast`, in `BreakPlanning`.
func forecastOperations(_ parts: HTTPParts, _ desk: PlanningDesk) -> [Operation] {
    guard let overview = parts.breaks.overview else { return [] }
    return [
        Operation(
            .get,
            "/v1/forecast",
            id: "getForecast",
            tag: "Planning",
            "Forecast the breaks of the next hours, and how many listeners each may have.",
            details: """
                The estimate is the median of the sessions that got the break nearest to the same time of day, at most 30 min away, on each of the \
                days before; without any, the listeners of now. Of more than \(BreakForecast.streamsMax) streams (`forecastStreamsMax`) one must \
                be named. With `leap` the answer has a shape of IAB Tech Lab's LEAP.
                """,
            access: .read,
            parameters: OperationParameter.forecast,
            answers: [
                OperationAnswer(
                    "The breaks by stream.",
                    OperationContent(
                        NamedSchema(
                            "",
                            [
                                "anyOf": [
                                    ForecastDocument.schema.place, ConcurrentStreamsDocument.schema.place,
                                    LEAPForecastDocument.schema.place,
                                ]
                            ],
                            uses: [
                                ForecastDocument.schema, ConcurrentStreamsDocument.schema, LEAPForecastDocument.schema,
                            ]
                        ),
                        example: ForecastDocument.example
                    )
                )
            ],
            refusals: [.reason(.tooLarge)]
        ) { call in
            let asked = try AskedForecast(call)
            let place = try desk.take()
            defer { withExtendedLifetime(place) {} }
            let forecast = try await parts.forecast(asked, overview, call)
            return try await call.onReaders {
                switch asked.leap {
                case nil: .json(forecast.document)
                case .streams?: .json(forecast.concurrentStreams(asked.event, provider: asked.provider))
                case .forecast?: .json(forecast.leapForecast(asked.event))
                }
            }
        }
    ]
}

/// The parameters of a forecast.
private struct AskedForecast: Sendable {
    enum Shape: String, CaseIterable {
        case streams
        case forecast
    }

    let stream: StreamID?
    /// By the gateway's clock, in milliseconds since 1970.
    let period: Range<Int64>
    let days: Int
    let leap: Shape?
    let provider: String?
    let event: BreakForecast.Event

    init(_ call: OperationCall) throws(Problem) {
        let query = call.query
        self.stream = try query.stream()
        let hours = try query.number("hours").map { Int($0) } ?? BreakForecast.hoursUsual
        let period = BreakForecast.period(from: call.received.microseconds / 1_000, hours: hours)
        self.period = period
        if let text = query["leap"] {
            guard let shape = Shape(rawValue: text) else {
                throw .badRequest("The parameter leap must be streams or forecast.")
            }
            self.leap = shape
        } else {
            self.leap = nil
        }
        // The streams of now need no history.
        self.days = self.leap == .streams ? 0 : try query.number("days").map { Int($0) } ?? BreakForecast.daysUsual
        self.provider = query["provider"]
        guard self.provider == nil || self.leap == .streams else {
            throw .badRequest("Give provider only with leap=streams.")
        }
        let event = BreakForecast.Event(
            start: try query.instant("eventStart").map { $0.microseconds / 1_000 },
            end: try query.instant("eventEnd").map { $0.microseconds / 1_000 },
            title: query["eventTitle"]
        )
        self.event = event
        guard event == BreakForecast.Event() || (self.leap != nil && self.stream != nil) else {
            throw .badRequest("Give eventStart, eventEnd and eventTitle only with leap and stream.")
        }
        switch event.fault(in: period) {
        case nil: break
        case .startsAfterPeriod?:
            throw .badRequest("eventStart is not before the end of the period: give eventEnd too.")
        case .endsBeforePeriod?:
            throw .badRequest("eventEnd is not after the beginning of the period, which is now: give eventStart too.")
        case .endsBeforeStart?: throw .badRequest("eventEnd is not after eventStart.")
        }
    }
}

extension HTTPParts {
    fileprivate func forecast(
        _ asked: AskedForecast,
        _ overview: StreamOverview,
        _ call: OperationCall
    ) async throws -> BreakForecast {
        let ids = asked.stream.map { [$0] } ?? overview.streamIDs
        guard ids.count <= BreakForecast.streamsMax else {
            throw Problem(BreakForecast.TooManyStreams(count: ids.count))
        }
        let (listeners, coming) = try await call.onReaders {
            var listeners: [String: Int64] = [:]
            var coming: [BreakForecast.Coming] = []
            let board = overview.board
            for id in ids {
                listeners[id.description] = Int64(overview.listenerCount(of: id))
                coming += (board.stream(id)?.open(at: call.received) ?? [])
                    .compactMap {
                        BreakForecast.Coming(BreakListDocument.Break($0.info(at: call.received)), in: asked.period)
                    }
            }
            return (listeners, coming)
        }
        let result = try await BreakForecast.make(
            for: asked.period,
            days: asked.days,
            listeners: listeners,
            coming: coming
        ) { (name, time) async throws in
            try await self.past(of: try StreamID(name), time, before: asked.period.lowerBound, call)
        }
        switch result {
        case .success(let forecast): return forecast
        case .failure(let fault): throw Problem(fault)
        }
    }

    /// The breaks of a stream that started in a time and are over, page by page: others have their turn in between.
    private func past(
        of stream: StreamID,
        _ time: Range<Int64>,
        before now: Int64,
        _ call: OperationCall
    ) async throws -> [ListenerForecast.Past] {
        var query = ReportQuery(
            stream: stream,
            from: Timestamp(microseconds: time.lowerBound * 1_000),
            to: Timestamp(microseconds: time.upperBound * 1_000),
            limit: ReportQuery.breaksMax,
            now: call.received
        )
        var past: [ListenerForecast.Past] = []
        while true {
            let (found, before) = try await call.onReaders { [query] in
                let page = try await self.report(query)
                return (page.breaks.compactMap { ListenerForecast.Past($0, before: now) }, page.before)
            }
            past += found
            guard let before else { return past }
            // Each page is of older breaks than the one before, so there is a last one.
            query.before = BreakNumber(rawValue: before)
        }
    }
}

extension Problem {
    fileprivate init(_ fault: BreakForecast.TooManyStreams) {
        self.init(
            .reason(.tooLarge),
            ReferenceText.sentence("\(fault.sentence): name one")
        )
    }
}

extension OperationParameter {
    fileprivate static let forecast: [OperationParameter] = [
        OperationParameter(
            "stream",
            in: .query,
            "Only this stream; all that have listeners or breaks, unless told.",
            Schema.stream,
            example: "radio1"
        ),
        OperationParameter(
            "hours",
            in: .query,
            "How many hours ahead; \(BreakForecast.hoursUsual) unless told.",
            Schema.integer(BreakForecast.hours),
            example: .integer(Int64(BreakForecast.hoursUsual))
        ),
        OperationParameter(
            "days",
            in: .query,
            "How many days back an estimate looks; \(BreakForecast.daysUsual) unless told. 0: the listeners of now count.",
            Schema.integer(BreakForecast.days),
            example: .integer(Int64(BreakForecast.daysUsual))
        ),
        OperationParameter(
            "leap",
            in: .query,
            "`streams`: as the Concurrent Streams API 1.0 of LEAP; `forecast`: as its Forecast API 1.0.0.",
            Schema.oneOf(AskedForecast.Shape.allCases.map(\.rawValue)),
            example: "forecast",
            isAlternative: true
        ),
        OperationParameter(
            "provider",
            in: .query,
            "With `leap=streams`: the name of the provider of the data (`sdp`).",
            Schema.text(charactersMax: 256),
            example: "Network",
            isAlternative: true
        ),
        OperationParameter(
            "eventStart",
            in: .query,
            "With `leap` and `stream`: when the event starts.",
            Schema.instant(),
            example: "2026-05-01T19:00:00Z",
            isAlternative: true
        ),
        OperationParameter(
            "eventEnd",
            in: .query,
            "With `leap` and `stream`: when the event ends.",
            Schema.instant(),
            example: "2026-05-01T21:30:00Z",
            isAlternative: true
        ),
        OperationParameter(
            "eventTitle",
            in: .query,
            "With `leap` and `stream`: the title of the event.",
            Schema.text(charactersMax: 256),
            example: "Cup final",
            isAlternative: true
        ),
    ]
}

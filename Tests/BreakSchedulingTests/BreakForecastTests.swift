// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakPlanning
import GatewayDocuments
import TestSupport
import Testing

/// The forecast of many streams, from what the gateway says of them.
@Suite(.suiteLimit)
struct BreakForecastTests {
    static let now: Int64 = 1_795_780_800_000

    private static func make(
        _ streams: [String: Int64],
        coming: [BreakForecast.Coming] = [],
        days: Int = 7,
        past: (String, Range<Int64>) -> [ListenerForecast.Past] = { _, _ in [] }
    ) async -> Result<BreakForecast, BreakForecast.TooManyStreams> {
        await BreakForecast.make(
            for: BreakForecast.period(from: Self.now, hours: 6),
            days: days,
            listeners: streams,
            coming: coming
        ) { past($0, $1) }
    }

    private static func coming(_ id: String, on stream: String, minutes: Int64) -> BreakForecast.Coming {
        BreakForecast.Coming(
            stream: stream,
            id: id,
            state: "scheduled",
            startMilliseconds: Self.now + minutes * 60_000,
            durationMilliseconds: 30_000,
            ads: 2
        )
    }

    @Test func `as many streams as forecastStreamsMax are taken, and one more is too many`() async throws {
        func streams(_ count: Int) -> [String: Int64] {
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("radio\($0)", Int64($0)) })
        }
        #expect(BreakForecast.streamsMax == 200)
        #expect(try await Self.make(streams(200)).get().streams.count == 200)
        // A stream without listeners counts too.
        let fault = BreakForecast.TooManyStreams(count: 201)
        #expect(await Self.make(streams(201)) == .failure(fault))
        #expect(await Self.make(streams(200), coming: [Self.coming("a", on: "tv", minutes: 1)]) == .failure(fault))
        #expect(fault.sentence == "the limit forecastStreamsMax is 200, and the gateway has 201 streams")
    }

    @Test func `only times of breaks are looked up, and only what is over`() async throws {
        var asked: [(stream: String, time: Range<Int64>)] = []
        let day = ListenerForecast.dayMilliseconds
        let nearby = ListenerForecast.nearbyMilliseconds
        let forecast =
            try await Self.make(
                ["radio1": 5, "tv": 3],
                coming: [Self.coming("b", on: "radio1", minutes: 60), Self.coming("a", on: "radio1", minutes: 10)],
                days: 2
            ) { stream, time in
                asked.append((stream, time))
                return [ListenerForecast.Past(startMilliseconds: Self.now + 600_000 - day, sessions: 9)]
            }
            .get()
        #expect(asked.map(\.stream) == ["radio1", "radio1"])
        #expect(
            asked.map(\.time)
                == [1, 2]
                .map { back in
                    Self.now + 600_000 - back * day - nearby..<Self.now + 3_600_001 - back * day + nearby
                }
        )
        let document = forecast.document
        #expect(document.streams.map(\.stream) == ["radio1", "tv"] && document.streams[1].breaks.isEmpty)
        #expect(document.streams[0].breaks.map(\.break) == ["a", "b"])
        #expect(document.streams[0].breaks.map(\.listeners) == [9, 5])
        #expect(document.streams[0].breaks.map(\.basis) == ["earlierDays", "now"])
        #expect(document.now == "2026-11-27T12:00:00.000Z" && document.until == "2026-11-27T18:00:00.000Z")

        asked = []
        let late = [Self.coming("a", on: "radio1", minutes: 24 * 60 - 1)]
        _ = await Self.make(["radio1": 5], coming: late, days: 1) { stream, time in
            asked.append((stream, time))
            return []
        }
        #expect(asked.map(\.time.upperBound) == [Self.now], "a break that runs has no number yet")
    }

    @Test func `an event has a length in the period, or it is told why not`() {
        let period: Range<Int64> = 100..<200
        for (start, end, fault) in [
            (nil, nil, nil), (150, nil, nil), (199, nil, nil), (200, nil, .startsAfterPeriod), (200, 201, nil),
            (nil, 101, nil), (nil, 100, .endsBeforePeriod), (50, 100, nil), (50, 50, .endsBeforeStart),
        ] as [(Int64?, Int64?, BreakForecast.Event.Fault?)] {
            #expect(BreakForecast.Event(start: start, end: end).fault(in: period) == fault)
        }
    }
}

/// How long chosen ads are to last together.
@Suite(.suiteLimit)
struct WantedFillingTests {
    private static let names = WantedFilling.Names(most: "fill", exactly: "exactly", least: "least")

    @Test func `a filling lasts at most six hours, and its wishes fit together`() {
        let tick = Duration.milliseconds(1)
        for (filling, sentence) in [
            (WantedFilling(), nil), (WantedFilling(most: .seconds(21_600)), nil),
            (
                WantedFilling(most: .seconds(21_600) + tick),
                "fill must be more than 0s and at most 6h, which are 21600s."
            ),
            (WantedFilling(exactly: .zero), "exactly must be more than 0s and at most 6h, which are 21600s."),
            (WantedFilling(least: .zero), "least must be more than 0s and at most 6h, which are 21600s."),
            (WantedFilling(most: tick, exactly: tick), "Give one of fill and exactly."),
            (WantedFilling(exactly: tick, least: tick), "least and exactly contradict each other."),
            (WantedFilling(most: tick, least: tick), nil),
            (WantedFilling(most: tick, least: tick + tick), "least is more than fill."),
        ] as [(WantedFilling, String?)] {
            #expect(filling.fault(Self.names) == sentence)
        }
    }
}

/// The wait for a ledger that reads the log a moment later.
@Suite(.suiteLimit)
struct HistoryReadingTests {
    private static func page(offset: UInt64, head: UInt64?) -> HistoryPage {
        var page = HistoryPage(entries: [], breakCount: 0, next: nil)
        page.lane = HistoryPage.Progress(offset: offset, head: head)
        return page
    }

    @Test func `the head that there was at first is waited for, and no later one`() async {
        var pages = [Self.page(offset: 1, head: 3), Self.page(offset: 2, head: 9), Self.page(offset: 3, head: 12)]
        var pauses = 0
        let result = await PlayedHistory.upToDate { _ in
            pages.removeFirst()
        } pause: {
            pauses += 1
        }
        #expect(result == .success(PlayedHistory()) && pages.isEmpty && pauses == 2)
    }

    @Test func `a ledger that stays behind, or lacks older breaks, is a fault`() async {
        var pauses = 0
        let behind = await PlayedHistory.upToDate { _ in
            Self.page(offset: 1, head: 2)
        } pause: {
            pauses += 1
        }
        #expect(behind == .failure(.behind) && pauses == PlayedHistory.attemptsMax)
        let partial = await PlayedHistory.upToDate { _ in
            var page = Self.page(offset: 2, head: 2)
            page.isPartial = true
            return page
        } pause: {
        }
        #expect(partial == .failure(.olderBreaks))
        let many = await PlayedHistory.upToDate { _ in
            HistoryPage(entries: [], breakCount: 5_001, next: nil)
        } pause: {
        }
        #expect(many == .failure(.tooMany))
        // While the log is away, its head is not known: what the ledger has is what there is.
        let away = await PlayedHistory.upToDate { _ in
            Self.page(offset: 2, head: nil)
        } pause: {
        }
        #expect(away == .success(PlayedHistory()))
    }
}

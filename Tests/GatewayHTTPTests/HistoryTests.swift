// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayDocuments
import GatewayHTTP
import Testing

/// The samples that a gateway keeps of itself, and the tone for test breaks.
@Suite(.suiteLimit)
struct HistoryTests {
    /// Readings in equal intervals, with ten notices and 30 played ads in each.
    private static func history(readings: Int, listeners: (Int) -> Int = { _ in 5 }) -> GatewayHistory {
        var history = GatewayHistory()
        for number in 0..<readings {
            let elapsed = GatewayHistory.interval * number
            var reading = GatewayHistory.Reading(at: Timestamp(microseconds: 0) + elapsed, elapsed: elapsed)
            reading.listeners = listeners(number)
            reading.notices = 10 * number
            reading.played = 30 * number
            history.take(reading)
        }
        return history
    }

    @Test func `a sample has the rates of its time, from the second reading on`() throws {
        #expect(Self.history(readings: 1).samples(of: .hour).isEmpty)
        let samples = Self.history(readings: 3).samples(of: .hour)
        #expect(samples.count == 2)
        let last = try #require(samples.last)
        #expect(last.at == (Timestamp(microseconds: 0) + .seconds(20)).description)
        #expect((last.listeners, last.notices, last.played, last.failed) == (5, 1, 3, 0))
    }

    @Test func `a coarse sample has the same rates, and the most listeners of its time`() throws {
        let history = Self.history(readings: 25) { $0 == 3 ? 900 : 5 }
        let minutes = history.samples(of: .sixHours)
        #expect(minutes.map(\.listeners) == [900, 5, 5, 5])
        #expect(minutes.allSatisfy { $0.notices == 1 && $0.played == 3 })
        #expect(history.samples(of: .day).map(\.listeners) == [900])
    }

    @Test func `each span keeps its newest samples, and no more`() throws {
        let hour = Self.history(readings: GatewayHistory.samplesMax + 1).samples(of: .hour)
        #expect(hour.count == GatewayHistory.samplesMax)
        let more = Self.history(readings: GatewayHistory.samplesMax + 2).samples(of: .hour)
        #expect(more.count == GatewayHistory.samplesMax)
        #expect(more.first == hour.dropFirst().first)
        let long = Self.history(readings: 24 * (GatewayHistory.samplesMax + 5))
        for span in GatewayHistory.Span.allCases {
            #expect(long.samples(of: span).count == GatewayHistory.samplesMax, "\(span)")
        }
    }

    @Test func `counters that begin again give no negative rates`() throws {
        var history = Self.history(readings: 2)
        history.take(GatewayHistory.Reading(at: Timestamp(microseconds: 20_000_000), elapsed: .seconds(20)))
        #expect(history.samples(of: .hour).map(\.played) == [3, 0])
    }

    @Test(arguments: [("", "1h"), ("?span=1h", "1h"), ("?span=6h", "6h"), ("?span=24h", "24h")])
    func `a gateway tells its history`(query: String, span: String) async throws {
        try await Parts()
            .serve { peer in
                let document: HistoryDocument = try await peer.get("/v1/history" + query).decoded()
                #expect(document.span == span)
                #expect(document.stepSeconds == ["1h": 10, "6h": 60, "24h": 240][span])
            }
    }

    @Test func `another span is refused`() async throws {
        try await Parts()
            .serve { peer in
                let answer = try await peer.get("/v1/history?span=2h")
                #expect(answer.status == 400)
            }
    }

    @Test(arguments: [("", 15), ("?seconds=1", 1), ("?seconds=60", 60)])
    func `a tone lasts as long as was asked for`(query: String, seconds: Int) async throws {
        try await Parts()
            .serve { peer in
                let answer = try await peer.get("/v1/test-tone" + query)
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == "audio/wav")
                #expect(answer.headers["content-length"] == "\(44 + 8_000 * seconds)")
            }
    }

    @Test(arguments: ["0", "61", "-1", "x", ""])
    func `a tone of any other length is refused`(seconds: String) async throws {
        try await Parts()
            .serve { peer in
                let answer = try await peer.get("/v1/test-tone?seconds=" + seconds)
                #expect(answer.status == 400)
            }
    }
}

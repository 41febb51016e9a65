// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayDocuments
import LiveTerminal
import Testing

@Suite(.suiteLimit)
struct TopReportTests {
    @Test func `there is no line before everything is here`() throws {
        var state = TopState(rows: 2)
        #expect(TopReport(state) == nil)
        state.apply(.gateway(try Said.gateway()))
        #expect(TopReport(state) == nil)
        state.apply(.streams(try Said.streams(1..<3, of: 9), try #require(state.request)))
        #expect(TopReport(state) == nil)
        state.apply(.counts(try Said.counts("r1")))
        #expect(TopReport(state) == nil)
        state.apply(.counts(try Said.counts("r2", break: nil)))
        #expect(TopReport(state) != nil)
        state.apply(.failed(.streams, Said.fault))
        #expect(TopReport(state) == nil)
    }

    @Test func `without streams the gateway's figures are all`() throws {
        var state = TopState(rows: 0)
        #expect(state.request == nil && state.watched.isEmpty)
        state.apply(.gateway(try Said.gateway()))
        #expect(
            try #require(TopReport(state)).line
                == "2026-05-01T12:00:10.000000Z  listeners 1204  streams 10000  running 12  notices/s 1  batches/s 40.3  "
                + "acknowledgements/s 1,235  notice p99 3.4 ms  ledger behind 17"
        )
        state.apply(.gateway(try Said.gateway(alarms: [("clock", "x"), ("log", "y")], draining: true, notice: "null")))
        #expect(
            try #require(TopReport(state)).line.hasSuffix("notice p99 -  ledger behind 17  draining  alarms clock,log")
        )
    }

    @Test func `a document has the same members whatever there is`() throws {
        var state = TopState(rows: 2)
        state.apply(.gateway(try Said.gateway()))
        state.apply(.streams(try Said.streams(1..<3, of: 9, running: [1]), try #require(state.request)))
        state.apply(.counts(try Said.counts("r1")))
        state.apply(.counts(try Said.counts("r2", break: nil)))
        let data = try JSONEncoder().encode(try #require(TopReport(state)).document)
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(Set(document.keys) == ["gateway", "streams", "streamsTotal"])
        #expect(document["streamsTotal"] as? Int == 9)
        let streams = try #require(document["streams"] as? [[String: Any]])
        let members: Set = ["stream", "listeners", "running", "next", "break", "funnel"]
        #expect(streams.count == 2 && streams.allSatisfy { Set($0.keys) == members })
        #expect((streams[0]["funnel"] as? [String: Any])?["played"] as? Int == 60)
        #expect(streams[1]["funnel"] is NSNull && streams[1]["running"] is NSNull)
    }
}

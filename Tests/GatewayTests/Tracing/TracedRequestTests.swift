// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayTestKit
import Logging
import TestSupport
import Testing

/// A request that is traced, from the broadcasters' socket to the notice.
@Suite(.suiteLimit)
struct TracedRequestTests {
    var station = Station()
    var clock: ManualClock { self.station.clock }

    private static func header(_ number: Int, flags: String = "01") -> String {
        "00-4bf92f3577b34da6\(TraceContext.hexadecimal(UInt64(number)))-00f067aa0ba902b7-\(flags)"
    }

    init() {
        self.station.configuration.tracing.isEnabled = true
    }

    private func publication(_ id: String, start: BreakStart? = .now) throws -> BroadcastRequest.Kind {
        try .publication(of: .of("radio1", id), start: start, duration: nil)
    }

    @Test func `unless it is switched on nothing is traced, and nothing costs a byte`() async throws {
        var station = self.station
        station.configuration = .forTests
        #expect(!GatewayConfiguration().tracing.isEnabled)
        try await station.runByHand { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            let broadcaster = try await running.broadcaster()
            let reply = try await broadcaster.ask(self.publication("b"), traceparent: Self.header(7))
            #expect(reply.body.info != nil && reply.trace == nil)
            #expect(try await listener.notice().trace == nil)
            #expect(running.metrics.value(.traces, .traced) == 0 && running.metrics.value(.traces, .invalid) == 0)
            #expect(!running.logs.entries.contains { $0.metadata["trace_id"] != nil })
            #expect(try await station.memory.breakGroups().flatMap(\.entries).allSatisfy { $0.trace == nil })
        }
    }

    @Test func `one trace goes from the request to the reply, the log, the lines about it, and every notice`()
        async throws
    {
        let expected = try #require(TraceParent(Self.header(7)))
        let context = try await self.station.runByHand { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            let pushed = try await RawListener(
                of: StreamID("radio1"),
                at: running.endpoints,
                session: .random(),
                in: running.network
            )
            _ = try await pushed.joinPushed()
            let broadcaster = try await running.broadcaster()
            let reply = try await broadcaster.ask(self.publication("b"), traceparent: Self.header(7))
            let context = try #require(reply.trace)
            #expect(context.traceID == expected.context.traceID)
            #expect(context.spanID != expected.context.spanID, "the gateway has its own span")
            #expect(try await listener.notice().trace == context)
            #expect(try await pushed.pushedNotice().trace == context)
            let line = try #require(running.logs.entries.first { $0.message == "a broadcaster changed a break" })
            #expect(line.metadata["trace_id"] == "\(context.traceID)")
            #expect(line.metadata["span_id"] == "\(context.spanID)")
            #expect(running.metrics.value(.traces, .traced) == 1)
            return context
        }
        #expect(try await self.station.memory.breakGroups().flatMap(\.entries).compactMap(\.trace) == [context])
        // After a restart, a later listener is told the same.
        try await self.station.runByHand { running in
            let joined = try await running.listener().join()
            #expect(joined.notices.map(\.trace) == [context])
            // An untraced change is told without one.
            let broadcaster = try await running.broadcaster()
            try await broadcaster.do(.cancel(.of("radio1", "b")))
            try await until("it is told") { running.metrics.value(.noticesSent) == 1 }
            let recent = try #require(try running.board.stream(StreamID("radio1"))?.recent.suffix(8))
            #expect(recent.map(\.trace) == [context, nil])
        }
    }

    @Test func `a timer's announcement after a restart has the trace of the publication`() async throws {
        let context = try await self.station.runByHand { running in
            let reply = try await running.broadcaster()
                .ask(self.publication("later", start: .after(.seconds(60))), traceparent: Self.header(7))
            #expect(reply.body.info?.state == .scheduled)
            return try #require(reply.trace)
        }
        // It may be switched off by then: what is in the log stays what it was.
        var station = self.station
        station.configuration.tracing.isEnabled = false
        self.clock.advance(by: .seconds(55))
        try await station.runByHand { running in
            try await until("it is announced") { running.metrics.value(.noticesSent) == 1 }
            #expect(try await running.listener().join().notices.map(\.trace) == [context])
        }
    }

    @Test func `records and snapshots from before traces are read as they were`() async throws {
        var station = self.station
        station.configuration = .forTests
        let board = try await station.runByHand { running in
            try await running.broadcaster().publish("old", start: .after(.seconds(60)))
            return running.board
        }
        #expect(try await self.station.runByHand { $0.board } == board)
        // And what was traced is read where nothing is traced.
        let traced = try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            _ = try await broadcaster.ask(
                .update(.init(key: .of("radio1", "old"), duration: .seconds(20))),
                traceparent: Self.header(9)
            )
            return running.board
        }
        #expect(try traced[.of("radio1", "old")]?.record.trace?.traceLow == 9)
        #expect(try await station.runByHand { $0.board } == traced)
    }

    @Test(arguments: [
        (TracedRequestTests.header(1, flags: "00"), MetricLabel.notSampled),
        (TracedRequestTests.header(1) + "x", .invalid), ("nonsense", .invalid),
        (TracedRequestTests.header(0).replacingOccurrences(of: "4bf92f3577b34da6", with: "0000000000000000"), .invalid),
        ("00-4bf92f3577b34da6ffffffffffffffff-00f067aa0ba902b7-01", .leftOut),
    ])
    func `unsampled, invalid and missing traces are counted, and the request is served`(
        header: String,
        label: MetricLabel
    ) async throws {
        var station = self.station
        station.configuration.tracing.ratio = 0.5
        try await station.runByHand { running in
            let reply = try await running.broadcaster().ask(self.publication("b"), traceparent: header)
            #expect(reply.body.info != nil && reply.trace == nil)
            #expect(running.metrics.value(.traces, label) == 1)
            #expect(running.metrics.value(.traces, .traced) == 0)
            #expect(try await station.memory.breakGroups().flatMap(\.entries).allSatisfy { $0.trace == nil })
        }
    }

    @Test func `lists, and what is not told as a trace, take no place`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            #expect(try await broadcaster.ask(.list(.init()), traceparent: Self.header(1)).trace == nil)
            #expect(try await broadcaster.ask(self.publication("b"), traceparent: "").trace == nil)
            for label in [MetricLabel.traced, .notSampled, .leftOut, .overLimit, .invalid] {
                #expect(running.metrics.value(.traces, label) == 0)
            }
        }
    }

    @Test func `a refused request is traced too, and not recorded`() async throws {
        try await self.station.runByHand { running in
            let reply = try await running.broadcaster()
                .ask(.cancel(.of("radio1", "none")), traceparent: Self.header(1))
            #expect(reply.body.refusal?.status == .notFound)
            #expect(reply.trace?.traceLow == 1)
            let line = try #require(running.logs.entries.first { $0.message == "a broadcaster's request was refused" })
            #expect(line.metadata["trace_id"] == "4bf92f3577b34da60000000000000001")
        }
    }

    @Test func `a reload switches it on and off, and changes its bounds`() async throws {
        var station = self.station
        station.configuration = .forTests
        try await station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            func isTraced(_ id: String) async throws -> Bool {
                try await broadcaster.ask(self.publication(id, start: nil), traceparent: Self.header(1)).trace != nil
            }
            #expect(try await !isTraced("b1"))
            var configuration = station.configuration
            configuration.tracing.isEnabled = true
            await running.gateway.reload(configuration, nil)
            #expect(try await isTraced("b2"))
            configuration.tracing.ratio = 0
            await running.gateway.reload(configuration, nil)
            #expect(try await !isTraced("b3"))
            #expect(running.metrics.value(.traces, .leftOut) == 1)
            configuration.tracing.isEnabled = false
            await running.gateway.reload(configuration, nil)
            #expect(try await !isTraced("b4"))
            #expect(running.metrics.value(.traces, .leftOut) == 1)
        }
    }

    @Test func `the spans of a request are in the file, each with its parent`() async throws {
        let folder = NSTemporaryDirectory() + "cuecast-traces-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var station = self.station
        station.configuration.tracing.file = folder + "/traces.jsonl"
        let context = try await station.runByHand { running in
            let reply = try await running.broadcaster().ask(self.publication("b"), traceparent: Self.header(7))
            try await until("it is told") { running.metrics.value(.noticesSent) == 1 }
            return try #require(reply.trace)
        }
        let text = try String(contentsOfFile: folder + "/traces.jsonl", encoding: .utf8)
        struct Request: Decodable {
            struct Resource: Decodable {
                struct Scope: Decodable {
                    let spans: [Span]
                }

                let scopeSpans: [Scope]
            }

            struct Span: Decodable {
                let traceId: String
                let spanId: String
                let parentSpanId: String
                let name: String
                let kind: Int
                let startTimeUnixNano: String
                let endTimeUnixNano: String
            }

            let resourceSpans: [Resource]
        }
        let spans = try text.split(separator: "\n")
            .flatMap { line in
                try JSONDecoder().decode(Request.self, from: Data(line.utf8)).resourceSpans
                    .flatMap { $0.scopeSpans.flatMap(\.spans) }
            }
        #expect(Set(spans.map(\.name)) == ["zeromq request", "decide", "log commit", "notice published"])
        #expect(spans.count == 4 && Set(spans.map(\.spanId)).count == 4)
        #expect(spans.allSatisfy { $0.traceId == context.traceID })
        let root = try #require(spans.first { $0.name == "zeromq request" })
        #expect(root.spanId == context.spanID && root.parentSpanId == "00f067aa0ba902b7" && root.kind == 2)
        #expect(spans.filter { $0.name != root.name }.allSatisfy { $0.parentSpanId == root.spanId })
        let now = "\(self.clock.now().microseconds)000"
        #expect(spans.allSatisfy { $0.startTimeUnixNano == now && $0.endTimeUnixNano == now }, "by the gateway's clock")
    }
}

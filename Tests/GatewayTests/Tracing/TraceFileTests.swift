// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import Gateway

#if canImport(Glibc)
import Glibc
#endif

/// The file of spans: what stands in it, how large it grows, and what becomes of a disk that takes nothing.
@Suite(.suiteLimit)
final class TraceFileTests {
    let folder: String

    init() throws {
        self.folder = NSTemporaryDirectory() + "cuecast-traces-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private var path: String { self.folder + "/traces.jsonl" }

    private func text(_ name: String = "traces.jsonl") -> String? {
        try? String(contentsOfFile: self.folder + "/" + name, encoding: .utf8)
    }

    /// A disk with little room, in bytes.
    private final class Disk: Sendable {
        let room = Atomic(15)
    }

    private static func line(_ character: Character, _ count: Int = 10) -> [UInt8] {
        Array((String(repeating: character, count: count - 1) + "\n").utf8)
    }

    @Test func `it is made for its owner only, and goes on where it ended`() throws {
        var file = TraceFile(path: self.path, bytesMax: 1_000)
        let begun1 = try file.append(Self.line("a"))
        #expect(!begun1)
        let mode = try FileManager.default.attributesOfItem(atPath: self.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        var again = TraceFile(path: self.path, bytesMax: 1_000)
        let begun2 = try again.append(Self.line("b"))
        #expect(!begun2)
        #expect(self.text() == "aaaaaaaaa\nbbbbbbbbb\n")
    }

    @Test func `at its bound it is full, and one byte more begins a new one, beside one older one`() throws {
        var file = TraceFile(path: self.path, bytesMax: 20)
        let begun3 = try file.append(Self.line("a"))
        #expect(!begun3)
        let begun4 = try file.append(Self.line("b"))
        #expect(!begun4, "20 bytes fit")
        #expect(self.text("traces.jsonl.1") == nil)
        let begun5 = try file.append(Self.line("c", 1))
        #expect(begun5, "the 21st does not")
        #expect(self.text() == "\n")
        #expect(self.text("traces.jsonl.1") == "aaaaaaaaa\nbbbbbbbbb\n")
        let begun6 = try file.append(Self.line("d", 20))
        #expect(begun6)
        #expect(self.text("traces.jsonl.1") == "\n", "one older one is kept")
        // One that was there before counts too.
        var again = TraceFile(path: self.path, bytesMax: 20)
        let begun7 = try again.append(Self.line("e"))
        #expect(begun7)
        #expect(self.text("traces.jsonl.1") == String(decoding: Self.line("d", 20), as: UTF8.self))
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder).count == 2)
    }

    @Test func `a path that is no plain file is not written`() throws {
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        var folder = TraceFile(path: self.path, bytesMax: 1_000)
        #expect(throws: TraceFile.Fault.self) { try folder.append(Self.line("a")) }
        // An unread pipe delays no caller.
        let pipe = self.folder + "/pipe"
        let made = unsafe mkfifo(pipe, 0o600)
        #expect(made == 0)
        var second = TraceFile(path: pipe, bytesMax: 1_000)
        #expect(throws: TraceFile.Fault.self) { try second.append(Self.line("a")) }
        let link = self.folder + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: self.folder + "/other")
        var third = TraceFile(path: link, bytesMax: 1_000)
        #expect(throws: TraceFile.Fault.self) { try third.append(Self.line("a")) }
        #expect(self.text("other") == nil)
    }

    @Test func `a failed write is retried`() throws {
        let place = self.folder + "/later"
        var file = TraceFile(path: place + "/traces.jsonl", bytesMax: 1_000)
        #expect(throws: TraceFile.Fault.self) { try file.append(Self.line("a")) }
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let begun8 = try file.append(Self.line("b"))
        #expect(!begun8)
        #expect(self.text("later/traces.jsonl") == "bbbbbbbbb\n")
    }

    // MARK: - Spans in it

    private static func span(
        _ name: String = "decide",
        _ attributes: [(name: String, value: TraceSpan.Value)] = [],
        fault: String? = nil
    ) throws -> TraceSpan {
        TraceSpan(
            name,
            try #require(TraceContext(traceHigh: 0xAB, traceLow: 0xCD, span: 0xEF)),
            parent: 0x12,
            from: Timestamp(microseconds: 1_700_000_000_000_001),
            to: Timestamp(microseconds: 1_700_000_000_000_002),
            attributes: attributes,
            fault: fault
        )
    }

    @Test func `a line is one request of OTLP in JSON`() throws {
        let spans = [
            try Self.span("a \"quoted\" \\ name\n\u{1}é", [("text", .text("x")), ("number", .number(-7))]),
            try Self.span("b", fault: "No."),
        ]
        let line = TraceDocument.line(spans, instance: 0x2A)
        #expect(line.last == UInt8(ascii: "\n") && line.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        let expected = """
            {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"cuecast"}},\
            {"key":"service.instance.id","value":{"stringValue":"000000000000002a"}}]},\
            "scopeSpans":[{"scope":{"name":"cuecast"},"spans":[\
            {"traceId":"00000000000000ab00000000000000cd","spanId":"00000000000000ef","parentSpanId":"0000000000000012",\
            "flags":257,"name":"a \\"quoted\\" \\\\ name\\u000a\\u0001é","kind":1,\
            "startTimeUnixNano":"1700000000000001000","endTimeUnixNano":"1700000000000002000",\
            "attributes":[{"key":"text","value":{"stringValue":"x"}},{"key":"number","value":{"intValue":"-7"}}],\
            "status":{}},\
            {"traceId":"00000000000000ab00000000000000cd","spanId":"00000000000000ef","parentSpanId":"0000000000000012",\
            "flags":257,"name":"b","kind":1,\
            "startTimeUnixNano":"1700000000000001000","endTimeUnixNano":"1700000000000002000",\
            "attributes":[],"status":{"code":2,"message":"No."}}]}]}]}

            """
        #expect(String(decoding: line, as: UTF8.self) == expected)
        _ = try JSONSerialization.jsonObject(with: Data(line))
    }

    // MARK: - Who writes it

    private struct Bench {
        let writer: TraceWriter
        let metrics: MetricRegistry
        let readiness: ReadinessBoard
    }

    private func bench(_ settings: TracingSettings) throws -> Bench {
        let metrics = MetricRegistry()
        let readiness = ReadinessBoard(metrics: metrics)
        let writer = TraceWriter(
            settings,
            instance: 1,
            thread: try WorkerThreads(name: "test-traces", count: 1),
            metrics: metrics,
            readiness: readiness,
            logger: LogCapture().logger
        )
        return Bench(writer: writer, metrics: metrics, readiness: readiness)
    }

    private func settings(_ file: String? = nil) -> TracingSettings {
        var settings = TracingSettings()
        settings.isEnabled = true
        settings.endTimeout = waitMax
        settings.file = file ?? self.path
        return settings
    }

    /// Runs the writer while `body` does, and ends it as the end of the gateway does.
    private func run(_ bench: Bench, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await bench.writer.runUntilEnd() }
            defer { bench.writer.end() }
            try await body()
        }
    }

    @Test func `as many spans wait as may, and one more is lost and counted`() async throws {
        var settings = self.settings()
        settings.spansWaitingMax = 3
        let bench = try self.bench(settings)
        bench.writer.note([try Self.span(), try Self.span()])
        bench.writer.note([try Self.span()])
        #expect(bench.metrics.value(.spansWaiting) == 3)
        #expect(bench.metrics.value(.spans, .lost) == 0)
        bench.writer.note([try Self.span()])
        #expect(bench.metrics.value(.spansWaiting) == 3)
        #expect(bench.metrics.value(.spans, .lost) == 1)
        #expect(bench.metrics.value(.limitsHit, .limit(.spansWaitingMax)) == 1)
        try await self.run(bench) {
            try await until("they are written") { bench.metrics.value(.spans, .kept) == 3 }
        }
        #expect(bench.metrics.value(.spansWaiting) == 0)
        #expect(self.text()?.split(separator: "\n").count == 1, "they stand in one line")
    }

    @Test func `a file that holds as much as it may is no event, and a span more is one`() async throws {
        var settings = self.settings()
        settings.fileBytesMax = 2 * TraceDocument.line([try Self.span()], instance: 1).count
        let bench = try self.bench(settings)
        try await self.run(bench) {
            for count in 1...2 {
                bench.writer.note([try Self.span()])
                try await until("it is written") { bench.metrics.value(.spans, .kept) == count }
            }
            #expect(bench.metrics.value(.limitsHit, .limit(.traceFileBytesMax)) == 0)
            bench.writer.note([try Self.span()])
            try await until("it is written") { bench.metrics.value(.spans, .kept) == 3 }
            #expect(bench.metrics.value(.limitsHit, .limit(.traceFileBytesMax)) == 1)
        }
        #expect(self.text("traces.jsonl.1")?.split(separator: "\n").count == 2)
    }

    @Test func `spans that wait at the end are written, and none after it`() async throws {
        let bench = try self.bench(self.settings())
        try await self.run(bench) { bench.writer.note([try Self.span()]) }
        #expect(bench.metrics.value(.spans, .kept) == 1)
        #expect(!bench.writer.isOn)
        bench.writer.note([try Self.span()])
        #expect(bench.metrics.value(.spans, .lost) == 1)
    }

    @Test func `a file that takes nothing is an alarm, and spans are lost and counted until it does`() async throws {
        let place = self.folder + "/later"
        let bench = try self.bench(self.settings(place + "/traces.jsonl"))
        try await self.run(bench) {
            bench.writer.note([try Self.span()])
            try await until("it is lost") { bench.metrics.value(.spans, .lost) == 1 }
            try await until("it is an alarm") { bench.metrics.value(.alarm, .alarm(.traceFile)) == 1 }
            #expect(bench.readiness.alarms.first?.sentence.contains(place) == true)
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            bench.writer.note([try Self.span()])
            try await until("it is written") { bench.metrics.value(.spans, .kept) == 1 }
            try await until("all is well") { bench.readiness.alarms.isEmpty }
        }
    }

    @Test func `a disk that fills up takes no half of a line`() throws {
        let disk = Disk()
        var file = TraceFile(path: self.path, bytesMax: 1_000) { descriptor, bytes in
            let left = disk.room.load(ordering: .relaxed)
            guard left > 0 else { return -Int(ENOSPC) }
            let count = TraceFile.writeSome(descriptor, bytes.prefix(left))
            disk.room.wrappingSubtract(count, ordering: .relaxed)
            return count
        }
        let begun9 = try file.append(Self.line("a"))
        #expect(!begun9)
        let fault = #expect(throws: TraceFile.Fault.self) { try file.append(Self.line("b")) }
        #expect(fault?.description == "\(self.path) cannot be written: No space left on device")
        #expect(self.text() == "aaaaaaaaa\n")
        disk.room.store(100, ordering: .relaxed)
        let begun10 = try file.append(Self.line("c"))
        #expect(!begun10)
        #expect(self.text() == "aaaaaaaaa\nccccccccc\n")
    }

    @Test func `a reload opens the file anew, and another one where that is said`() async throws {
        let bench = try self.bench(self.settings())
        try await self.run(bench) {
            bench.writer.note([try Self.span("one")])
            try await until("it is written") { bench.metrics.value(.spans, .kept) == 1 }
            try FileManager.default.moveItem(atPath: self.path, toPath: self.path + ".moved")
            bench.writer.reload(self.settings())
            bench.writer.note([try Self.span("two")])
            try await until("it is written") { bench.metrics.value(.spans, .kept) == 2 }
            #expect(self.text()?.contains("two") == true && self.text()?.contains("one") == false)
            bench.writer.reload(self.settings(self.path + ".other"))
            bench.writer.note([try Self.span("three")])
            try await until("it is written") { bench.metrics.value(.spans, .kept) == 3 }
            #expect(self.text("traces.jsonl.other")?.contains("three") == true)
            var off = TracingSettings()
            off.endTimeout = waitMax
            bench.writer.reload(off)
            #expect(!bench.writer.isOn)
        }
    }
}

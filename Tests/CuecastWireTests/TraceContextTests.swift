// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// The example of the standard.
private let exampleTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
private let exampleSpan = "00f067aa0ba902b7"
private let exampleHeader = "00-\(exampleTrace)-\(exampleSpan)-01"

/// The header `traceparent`, read as W3C Trace Context, section 3.2, says; and traces as the wire and the log have them.
@Suite(.suiteLimit)
struct TraceContextTests {
    @Test func `the example of the standard is read, and written as it was`() throws {
        let parent = try #require(TraceParent(exampleHeader))
        #expect(parent.isSampled)
        #expect(parent.context.traceID == exampleTrace)
        #expect(parent.context.spanID == exampleSpan)
        #expect(parent.context.header == exampleHeader)
        #expect(parent.context.bytes.count == TraceContext.byteCount)
        #expect(parent.context.bytes[0] == 0x4B && parent.context.bytes[15] == 0x36)
        #expect(parent.context.bytes[16] == 0x00 && parent.context.bytes[23] == 0xB7)
    }

    @Test(arguments: [
        ("00", false), ("01", true), ("02", false), ("03", true), ("09", true), ("fe", false), ("ff", true),
    ])
    func `only the lowest bit of the flags says something`(flags: String, isSampled: Bool) {
        #expect(TraceParent("00-\(exampleTrace)-\(exampleSpan)-\(flags)")?.isSampled == isSampled)
    }

    @Test(arguments: [
        "", "0", "00", "00-", "00-\(exampleTrace)-\(exampleSpan)-0", "00-\(exampleTrace)-\(exampleSpan)-011",
        "00-\(exampleTrace)-\(exampleSpan)-01-",
        "00-\(exampleTrace)-\(exampleSpan)-01-more", "00-\(exampleTrace)-\(exampleSpan)-01 ",
        " 00-\(exampleTrace)-\(exampleSpan)-01",
        "0-\(exampleTrace)-\(exampleSpan)-01", "000-\(exampleTrace)-\(exampleSpan)-01",
        "00_\(exampleTrace)-\(exampleSpan)-01", "00-\(exampleTrace)_\(exampleSpan)-01",
        "00-\(exampleTrace)-\(exampleSpan)_01", "00-\(exampleTrace)\(exampleSpan)-01",
        "00-\(exampleTrace.dropLast())-\(exampleSpan)-01",
        "00-\(exampleTrace)0-\(exampleSpan)-01", "00-\(exampleTrace)-\(exampleSpan)0-01",
        "00-\(exampleTrace)-\(exampleSpan.dropLast())-01",
        "00-\(exampleTrace.uppercased())-\(exampleSpan)-01", "00-\(exampleTrace)-\(exampleSpan.uppercased())-01",
        "00-\(exampleTrace)-\(exampleSpan)-0A",
        "00-\(exampleTrace)-\(exampleSpan)-0g", "0g-\(exampleTrace)-\(exampleSpan)-01",
        "0A-\(exampleTrace)-\(exampleSpan)-01", "+1-\(exampleTrace)-\(exampleSpan)-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-\(exampleSpan)-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473٣-\(exampleSpan)-01",
        "00-00000000000000000000000000000000-\(exampleSpan)-01", "00-\(exampleTrace)-0000000000000000-01",
        "ff-\(exampleTrace)-\(exampleSpan)-01",
        "ff-\(exampleTrace)-\(exampleSpan)-01-more", "\(exampleHeader),\(exampleHeader)",
        "\(exampleHeader), \(exampleHeader)",
    ])
    func `another notation is no trace`(text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test func `of a later version the first 55 characters are read, and what follows begins with a dash`() throws {
        let known = try #require(TraceParent(exampleHeader))
        for version in ["01", "cc", "fe"] {
            let later = "\(version)-\(exampleTrace)-\(exampleSpan)-01"
            #expect(TraceParent(later) == known)
            #expect(TraceParent(later + "-") == known)
            #expect(TraceParent(later + "-what-the-future-will-be-like") == known)
            #expect(TraceParent(later + String(repeating: "-x", count: 100_000)) == known)
            for wrong in [".", "0", " ", ",", "what-the-future-will-be-like"] {
                #expect(TraceParent(later + wrong) == nil, "\(version) \(wrong)")
            }
            #expect(TraceParent("\(version)-\(exampleTrace)-0000000000000000-01-x") == nil)
            #expect(TraceParent(String(later.dropLast())) == nil)
        }
    }

    @Test func `each trace is written so that it is read as the same`() {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<1_000 {
            let trace = generator.trace()
            #expect(TraceParent(trace.header)?.context == trace, "CUECAST_SEED=\(SeededGenerator.seed)")
            #expect(trace.traceID.utf8.count == 32 && trace.spanID.utf8.count == 16)
            let next = trace.newSpan()
            #expect(next.traceID == trace.traceID && next.span != 0)
        }
    }

    @Test func `a header with one other character is none, or says so`() {
        var generator = SeededGenerator(for: #function)
        let all = Array("0123456789abcdefABCDEFg- \u{0}\u{7F}é".unicodeScalars)
        for _ in 0..<5_000 {
            let trace = generator.trace()
            var scalars = Array(trace.header.unicodeScalars)
            let place = Int.random(in: 0..<scalars.count, using: &generator)
            scalars[place] = generator.pick(all)
            let text = String(String.UnicodeScalarView(scalars))
            guard let parent = TraceParent(text) else { continue }
            // An accepted field has the required length, and is complete.
            #expect(text.utf8.count == TraceParent.byteCount, "CUECAST_SEED=\(SeededGenerator.seed) \(text)")
            #expect(text.contains(parent.context.traceID) && text.contains(parent.context.spanID))
        }
    }

    @Test func `an invalid trace is ignored if the rest is valid`() throws {
        var generator = SeededGenerator(for: #function)
        let notice = generator.notice(.available)
        let frame = NoticeFrame.notice(notice, stream: try StreamID("radio1"))
        var plain = notice
        plain.trace = nil
        // The field as it is not meant: too short, too long, of zeros.
        for bytes in [1, 23, 25, 24] {
            let wrong = ProtoWriter { $0.bytes(14, [UInt8](repeating: bytes == 24 ? 0 : 7, count: bytes)) }.bytes
            let read = try NoticeFrame(decoding: frame.encoded() + wrong)
            #expect(read == .notice(plain, stream: try StreamID("radio1")))
        }
    }

    @Test func `an untraced request costs no byte, and an older reader skips a trace`() throws {
        var generator = SeededGenerator(for: #function)
        var notice = generator.notice(.available)
        notice.trace = nil
        let stream = try StreamID("radio1")
        let without = NoticeFrame.notice(notice, stream: stream).encoded()
        notice.trace = generator.trace()
        let with = NoticeFrame.notice(notice, stream: stream).encoded()
        // A field of its own at the end: its tag and its length take two bytes.
        #expect(with.count == without.count + TraceContext.byteCount + 2)
        #expect(Array(with.prefix(without.count)) == without)

        var entry = generator.breakEntry()
        entry.trace = nil
        let plain = BreakGroup(entries: [entry]).encoded()
        #expect(try BreakGroup(decoding: plain).entries.map(\.trace) == [nil])
        entry.trace = generator.trace()
        let traced = BreakGroup(entries: [entry]).encoded()
        #expect(try BreakGroup(decoding: traced).entries == [entry])
        #expect(traced.count <= plain.count + TraceContext.byteCount + 4)
    }

    @Test func `whatever a broadcaster sends as a trace refuses nothing`() throws {
        let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID("b1"))
        for said in ["", exampleHeader, "nonsense", "\u{0}\n", String(repeating: "0", count: 5_000)] {
            let request = BroadcastRequest(id: 7, traceparent: said, kind: .cancel(key))
            #expect(try BroadcastRequest(decoding: request.encoded()) == request)
        }
    }
}

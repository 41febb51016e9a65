// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// The report of a watcher and the cue rule that is its answer: limits, secrets, and what newer versions may say.
@Suite(.suiteLimit)
struct WatchReportWireTests {
    private static func report(
        _ change: (inout BroadcastRequest.WatchReport) -> Void = { _ in }
    ) throws -> BroadcastRequest {
        var report = BroadcastRequest.WatchReport(
            stream: try StreamID("radio1"),
            source: try SignalSource("encoder"),
            watcher: try SignalSource("w1"),
            kind: .hls,
            address: "https://encoder.example/live.m3u8",
            number: 1
        )
        change(&report)
        return BroadcastRequest(id: 1, kind: .watchReport(report))
    }

    private static func isTaken(_ request: BroadcastRequest) -> Bool {
        let byFrame = (try? BroadcastRequest(decoding: request.encoded())) != nil
        let byValue = (try? request.checked()) != nil
        #expect(byFrame == byValue, "\(request)")
        return byFrame
    }

    @Test(arguments: [0, 1])
    func `as much as the limits say is taken, and one more is refused`(beyond: Int) throws {
        let cue = BroadcastRequest.WatchReport.Cue(isUnusable: false, seen: "s", reason: "r")
        let line = String(repeating: "x", count: WireLimits.watchTextBytesMax + beyond)
        let requests = [
            try Self.report {
                $0.ignored = 100
                $0.cues = Array(repeating: cue, count: WireLimits.watchedCuesPerReportMax + beyond)
            },
            try Self.report { $0.address = line }, try Self.report { $0.problem = line },
            try Self.report {
                $0.ignored = 1
                $0.cues = [.init(isUnusable: false, seen: line, reason: "r")]
            },
            try Self.report {
                $0.ignored = 1
                $0.cues = [.init(isUnusable: false, seen: "s", reason: line)]
            },
            try Self.report {
                $0.unusable = 7
                $0.cues = [.init(isUnusable: true, seen: "s", reason: "r", times: UInt32(7 + beyond))]
            },
            try Self.report { $0.number = UInt64(1 - beyond) },
        ]
        for request in requests { #expect(Self.isTaken(request) == (beyond == 0), "\(request)") }
    }

    @Test(arguments: [
        "https://u:p@a.example/", "https://u@a.example/", "https://a.example/?t=1", "https://a.example/x#t", "a\nb",
        "/a http://u@b/",
    ])
    func `an address with a secret or a second line is refused`(address: String) throws {
        #expect(!Self.isTaken(try Self.report { $0.address = address }))
    }

    @Test(arguments: [
        "", "udp://@239.1.1.1:5000", "/srv/a?b.ts", "https://a.example/x@y https://b.example/z", "standard input",
    ])
    func `other addresses are taken`(address: String) throws {
        #expect(Self.isTaken(try Self.report { $0.address = address }))
    }

    @Test func `an age is cut to thirty days, and a problem's age needs the problem`() throws {
        let longest = Duration.milliseconds(WireLimits.watchAgeMillisecondsMax)
        for age in [longest, longest + .milliseconds(1)] {
            let request = try Self.report {
                $0.heardAge = age
                ($0.problem, $0.problemAge) = ("p", age)
            }
            guard case .watchReport(let read) = try BroadcastRequest(decoding: request.encoded()).kind else {
                return #expect(Bool(false))
            }
            #expect(read.heardAge == longest && read.problemAge == longest)
        }
        #expect(!Self.isTaken(try Self.report { $0.problemAge = .zero }))
    }

    @Test func `a revision does not go with a report`() throws {
        var request = try Self.report()
        request.expectedRevision = 1
        #expect(!Self.isTaken(request))
    }

    @Test func `segments that only a newer gateway knows are passed over`() throws {
        let frame = ProtoWriter {
            $0.varint(2, UInt64(StatusCode.ok.rawValue))
            $0.message(16) { rule in
                rule.varint(1, 1)
                rule.message(2) { types in
                    for type in [0x34, 0x77, 900] as [UInt64] { types.varint(1, type) }
                }
                rule.varint(5, 9_999_999)
                rule.varint(6, 30_000)
            }
        }
        let reply = try BroadcastReply(decoding: frame.bytes)
        guard case .cueRule(let read) = reply.body else { return #expect(Bool(false)) }
        #expect(read.isKnown && read.segments.openingTypes == [0x34] && read.segments.endingTypes == nil)
        #expect(read.programmeLateMax == .seconds(3_600) && read.reportInterval == .seconds(30))
    }

    @Test func `a rule has at most as many types as a byte has values`() throws {
        func reply(types: Int) throws -> BroadcastReply {
            let frame = ProtoWriter {
                $0.varint(2, UInt64(StatusCode.ok.rawValue))
                $0.message(16) { rule in
                    rule.message(2) { list in
                        for _ in 0..<types { list.varint(1, 0x34) }
                    }
                }
            }
            return try BroadcastReply(decoding: frame.bytes)
        }
        guard case .cueRule(let read) = try reply(types: 256).body else { return #expect(Bool(false)) }
        #expect(read.segments.openingTypes == [0x34])
        #expect(throws: WireError.tooLarge(limit: "segmentTypesMax", maximum: 256, found: 257)) {
            try reply(types: 257)
        }
    }

    @Test(
        arguments: [
            ("0x22,34", [0x22, 0x34]), ("0X10", [0x10]), ("2", [0x02]), ("", nil), ("0x22,", nil), ("+2", nil),
            ("0x100", nil),
            ("2 2", nil), ("-1", nil),
        ] as [(String, Set<UInt8>?)]
    )
    func `types are read in hexadecimal`(text: String, types: Set<UInt8>?) {
        #expect(SegmentPolicy.types(text) == types)
        if let types { #expect(SegmentPolicy.types(SegmentPolicy.text(of: types).replacing(" ", with: "")) == types) }
    }

    @Test func `what is taken out of an address is out, however it is written`() {
        var generator = SeededGenerator(for: #function)
        let pieces = ["://", ":", "/", "@", "?", "#", " ", "\"", "”", "user", "a.example", "é", "https", "\u{301}"]
        for _ in 0..<5_000 {
            let text = generator.list(0...14) { $0.pick(pieces) }.joined()
            let shown = AddressSecrets.removed(from: text)
            #expect(AddressSecrets.removed(from: shown) == shown, "\(text)")
        }
    }
}

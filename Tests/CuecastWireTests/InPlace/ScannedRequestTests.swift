// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Reading in place agrees with the generated code, or leaves the request to it.
@Suite(.suiteLimit)
struct ScannedRequestTests {
    /// The content by which both ways of reading are compared.
    private struct Content: Equatable {
        var id: UInt64
        var session: SessionID
        var stream: String
        var breakID: String
        var delay: Duration = .zero
        var delivery: [UInt8] = []
        var advertisementIDs: [String] = []
        var outcomes: [OutcomeDetails] = []

        init?(decoded request: ListenerRequest) {
            self.id = request.id
            self.session = request.session
            let key: BreakKey
            switch request.kind {
            case .getBatch(let get):
                key = get.key
                self.delay = get.delay.now
            case .acknowledge(let acknowledge):
                key = acknowledge.key
                self.delivery = acknowledge.delivery
                self.advertisementIDs = acknowledge.outcomes.map(\.advertisementID.description)
                self.outcomes = acknowledge.outcomes.map(\.details)
            default: return nil
            }
            (self.stream, self.breakID) = (key.stream.description, key.id.description)
        }

        init(_ scanner: Scanner, in frame: [UInt8]) {
            let scanned = scanner.request
            func text(_ range: Range<Int>) -> String { String(decoding: frame[range], as: UTF8.self) }
            self.id = scanned.id
            self.session = scanned.session
            (self.stream, self.breakID) = (text(scanned.stream), text(scanned.breakID))
            switch scanned.kind {
            case .getBatch: self.delay = scanned.delay
            case .acknowledge:
                self.delivery = Array(frame[scanned.delivery])
                self.advertisementIDs = scanner.outcomes.map { text($0.advertisementID) }
                self.outcomes = scanner.outcomes.map(\.details)
            }
        }
    }

    /// Reads one request after another, with the same memory.
    private struct Scanner {
        private(set) var request = ScannedRequest()
        private(set) var outcomes: [ScannedRequest.Outcome] = []

        mutating func scan(_ frame: Span<UInt8>) -> Bool { self.request.scan(frame, outcomes: &self.outcomes) }
    }

    private var said: Comment { "CUECAST_SEED=\(SeededGenerator.seed)" }

    @Test func `every batch request and acknowledgement is read in place, and read right`() throws {
        var generator = SeededGenerator(for: #function)
        var scanned = Scanner()
        var inPlace = 0
        for _ in 0..<1_500 {
            let request = generator.listenerRequest()
            let frame = request.encoded()
            let found = scanned.scan(frame.span)
            guard let expected = Content(decoded: request) else {
                #expect(!found, "other requests are decoded in full")
                continue
            }
            try #require(found, self.said)
            inPlace += 1
            try #require(Content(scanned, in: frame) == expected, self.said)
        }
        #expect(inPlace > 100)
    }

    @Test func `whatever is read in place the generated code accepts too, but for the ids, and finds the same`() throws
    {
        var generator = SeededGenerator(for: #function)
        var scanned = Scanner()
        var both = 0
        for _ in 0..<20_000 {
            let frame = HostileBytesTests.damage(
                generator.listenerRequest().encoded(),
                generator.listenerRequest().encoded(),
                &generator
            )
            guard scanned.scan(frame.span) else { continue }
            let content = Content(scanned, in: frame)
            // Those who use it compare ids with ids that are valid.
            guard (try? StreamID(content.stream)) != nil, (try? BreakID(content.breakID)) != nil,
                content.advertisementIDs.allSatisfy({ (try? AdvertisementID($0)) != nil }),
                content.advertisementIDs.allSatisfy({ !$0.contains("\u{FFFD}") })
            else { continue }
            let decoded = try #require(try? ListenerRequest(decoding: frame), "\(self.said) \(frame)")
            try #require(Content(decoded: decoded) == content, "\(self.said) \(frame)")
            both += 1
        }
        #expect(both > 0, self.said)
    }

    @Test(arguments: [nil, 0, 1] as [UInt64?])
    func `a click is read in place, and where nothing is said of it there was none`(clicked: UInt64?) throws {
        let outcome = Raw.outcome("ad") { if let clicked { $0.varint(10, clicked) } }
        let frame = Raw.acknowledge(outcomes: [outcome, Raw.outcome("other")])
        var scanned = Scanner()
        // What was read before must not shine through.
        let before = scanned.scan(Raw.acknowledge(outcomes: [Raw.outcome("ad") { $0.varint(10, 1) }]).span)
        let found = scanned.scan(frame.span)
        try #require(before && found)
        #expect(scanned.outcomes.map(\.details.clicked) == [clicked == 1, false])
        #expect(Content(decoded: try ListenerRequest(decoding: frame)) == Content(scanned, in: frame))
    }

    @Test func `a click that is no yes or no is left to the generated code`() throws {
        let frame = Raw.acknowledge(outcomes: [Raw.outcome("ad") { $0.varint(10, 2) }])
        var scanned = Scanner()
        let found = scanned.scan(frame.span)
        #expect(!found)
        guard case .acknowledge(let acknowledge) = try ListenerRequest(decoding: frame).kind else {
            Issue.record("this is an acknowledgement")
            return
        }
        #expect(acknowledge.outcomes.map(\.clicked) == [true])
    }

    @Test(arguments: [[99, 1], [1, 99], [1, 2], [0, 3], [3, 0], [1, 1 << 32], [UInt64.max, 4]])
    func `a field that is there twice is left to the generated code`(reasons: [UInt64]) throws {
        let outcome = Raw.outcome {
            $0.varint(2, UInt64(Outcome.Kind.ignored.rawValue))
            for reason in reasons { $0.varint(4, reason) }
        }
        let frame = Raw.acknowledge(outcomes: [outcome])
        var scanned = Scanner()
        let found = scanned.scan(frame.span)
        #expect(!found, "what is kept as it came holds nothing but what was read")
    }

    @Test func `a request for a batch that says something twice is left to the generated code`() throws {
        let usual = Raw.request(kind: 11) {
            $0.string(1, "radio1")
            $0.string(2, "b1")
            $0.varint(3, 5)
        }
        var scanned = Scanner()
        let isUsual = scanned.scan(usual.span)
        #expect(isUsual && scanned.request.delay == .milliseconds(5))
        // The last one counts, and the first one is looked at too: this one is no text.
        let twice = Raw.request(kind: 11) {
            $0.bytes(1, [0xC3, 0x28])
            $0.string(1, "radio1")
            $0.string(2, "b1")
        }
        let again = Raw.request(kind: 11) {
            $0.string(1, "radio1")
            $0.string(2, "b1")
            $0.varint(3, 5)
            $0.varint(3, 6)
        }
        for frame in [twice, again] {
            let found = scanned.scan(frame.span)
            #expect(!found)
        }
        #expect(throws: WireError.malformed(what: "a request")) { try ListenerRequest(decoding: twice) }
        guard case .getBatch(let get) = try ListenerRequest(decoding: again).kind else {
            Issue.record("this is a request for a batch")
            return
        }
        #expect(get.delay.now == .milliseconds(6))
    }

    @Test func `fields in another order are left to the generated code`() throws {
        let usual = Raw.acknowledge(outcomes: [Raw.outcome("ad")])
        let frames = [
            Raw.acknowledge(outcomes: [Raw.outcome("ad") { $0.varint(2, 1) }]),
            usual + ProtoWriter { $0.varint(1, 5) }.bytes,
            usual + ProtoWriter { $0.bytes(2, Raw.session) }.bytes,
        ]
        var scanned = Scanner()
        let isUsual = scanned.scan(usual.span)
        #expect(isUsual)
        for frame in frames {
            let found = scanned.scan(frame.span)
            #expect(!found)
            #expect(throws: Never.self) { try ListenerRequest(decoding: frame) }
        }
    }

    @Test func `random bytes and cut frames never trap`() {
        var generator = SeededGenerator(for: #function)
        var scanned = Scanner()
        for _ in 0..<3_000 { _ = scanned.scan(generator.bytes(0...80).span) }
        let frame = generator.listenerRequest().encoded()
        for count in 0...frame.count { _ = scanned.scan(Array(frame.prefix(count)).span) }
    }

    @Test func `a frame one past the limit is not read in place`() throws {
        let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID("b1"))
        let request = ListenerRequest(id: 1, session: .random(), kind: .getBatch(.init(key: key))).encoded()
        // A field of a later version makes the frame as long as allowed: decoded in full, and one byte more not even that.
        var scanned = Scanner()
        for (count, isRead) in [(WireLimits.requestFrameBytesMax, true), (WireLimits.requestFrameBytesMax + 1, false)] {
            let frame = ProtoWriter.padding(request, to: count)
            let found = scanned.scan(frame.span)
            #expect(!found)
            #expect(((try? ListenerRequest(decoding: frame)) != nil) == isRead)
        }
    }

    @Test func `a gathered group is read as what was gathered`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<200 {
            let expected = generator.acknowledgementGroup()
            var gathered = GatheredGroup()
            for request in expected.requests {
                gathered.accept(
                    request.request,
                    received: request.received,
                    breakNumber: request.breakNumber,
                    ordinals: request.ordinals
                )
            }
            gathered.deliveries = expected.deliveries
            #expect(gathered.isEmpty == expected.isEmpty)
            #expect(gathered.requestCount == expected.requests.count)
            try #require(try AcknowledgementGroup(decoding: gathered.encoded()) == expected, self.said)
        }
    }

    @Test func `the answer to an acknowledgement is read as one`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<200 {
            let (id, time) = (generator.number(0...UInt64.max), generator.timestamp())
            let recorded = generator.number(0...70)
            let whole = ListenerReply(requestID: id, gatewayTime: time, body: .acknowledged(recorded: recorded))
            let reply = ListenerReply.acknowledged(requestID: id, gatewayTime: time, recorded: recorded)
            try #require(reply == whole.encoded(), self.said)
        }
    }
}

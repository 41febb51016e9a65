// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// A request that never was a frame keeps the same rules as one that was.
@Suite(.suiteLimit)
struct CheckedRequestTests {
    private static func read(_ request: BroadcastRequest) -> Result<BroadcastRequest, WireError> {
        Result { () throws(WireError) in try BroadcastRequest(decoding: request.encoded()) }
    }

    private static func checked(_ request: BroadcastRequest) -> Result<BroadcastRequest, WireError> {
        Result { () throws(WireError) in try request.checked() }
    }

    @Test func `a request within the rules is as its frame is read`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<400 {
            let request = generator.broadcastRequest()
            try #require(try request.checked() == request, "CUECAST_SEED=\(SeededGenerator.seed)")
            try #require(
                request.encodedByteCount == request.encoded().count,
                "CUECAST_SEED=\(SeededGenerator.seed): \(request)"
            )
        }
    }

    @Test func `a request that breaks a rule is refused as its frame is`() throws {
        var generator = SeededGenerator(for: #function)
        var sentences: Set<String> = []
        for _ in 0..<2_000 {
            var request = generator.broadcastRequest()
            for _ in 0..<generator.number(1...2) { generator.spoil(&request) }
            let found = Self.checked(request)
            try #require(found == Self.read(request), "CUECAST_SEED=\(SeededGenerator.seed): \(request)")
            try #require(
                request.encodedByteCount == request.encoded().count,
                "CUECAST_SEED=\(SeededGenerator.seed): \(request)"
            )
            if case .failure(let error) = found {
                switch error {
                case .invalid(let field, _): sentences.insert(field)
                case .tooLarge(let limit, _, _): sentences.insert(limit)
                case .malformed, .unsupported: Issue.record("\(error)")
                }
            }
        }
        // That many rules were broken, so that the comparison says something.
        #expect(sentences.count > 20, "\(sentences.sorted())")
    }

    @Test func `a request is as large as a frame may be, and no larger`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<20 {
            var request = generator.broadcastRequest()
            request.traceparent = "x"
            let room = WireLimits.broadcastFrameBytesMax - request.encodedByteCount
            // The length of a text takes one byte more from 128 on, and one more from 16,384 on.
            request.traceparent = String(repeating: "x", count: 1 + room - 2)
            #expect(request.encoded().count == WireLimits.broadcastFrameBytesMax)
            #expect(try request.checked() == request)
            request.traceparent += "x"
            #expect(
                throws: WireError.tooLarge(
                    limit: "broadcastFrameBytesMax",
                    maximum: WireLimits.broadcastFrameBytesMax,
                    found: WireLimits.broadcastFrameBytesMax + 1
                )
            ) { try request.checked() }
        }
    }

    @Test func `addresses are kept as URIs`() throws {
        var generator = SeededGenerator(for: #function)
        var ad = generator.advertisement()
        ad.clickThroughURL = "https://shop.example/grün?[CACHEBUSTING]"
        #expect(try ad.checked().clickThroughURL == "https://shop.example/gr%C3%BCn?[CACHEBUSTING]")
        #expect(try ad.checked().checked() == ad.checked())
    }
}

extension SeededGenerator {
    /// Some duration that the wire does not hold as it is, or that is too short or too long.
    private mutating func oddDuration() -> Duration {
        self.pick([
            .zero, .microseconds(999), .microseconds(1_500), .seconds(-1), .milliseconds(3_600_001), .seconds(21_601),
            .seconds(86_401), .seconds(5_000_000), .seconds(1 << 60), .nanoseconds(1),
        ])
    }

    private mutating func oddText() -> String {
        self.pick(["\u{7}", "a\u{85}b", String(repeating: "ä", count: WireLimits.textBytesMax / 2 + 1), ""])
    }

    private mutating func oddURL() -> String {
        self.pick([
            "", "ftp://a/", "https://", "https:///a", "http://a b/", "https://ä.example/\"ö\"", "https://h/\u{85}",
            "https://h/" + String(repeating: "ü", count: WireLimits.urlBytesMax / 6),
            "https://h/" + String(repeating: "x", count: WireLimits.urlBytesMax),
        ])
    }

    private mutating func spoil(_ ad: inout AdvertisementContent) {
        switch self.number(0...15) {
        case 0: ad.id = AdvertisementID(unchecked: self.pick(["", "a\n", String(repeating: "x", count: 129)]))
        case 1: ad.title = self.oddText()
        case 2: ad.text = self.oddText()
        case 3: ad.advertiser = self.oddText()
        case 4: ad.duration = self.oddDuration()
        case 5: ad.skipOffset = self.oddDuration()
        case 6: ad.media = self.bool() ? [] : Array(repeating: .init(url: "http://a/", type: ""), count: 33)
        case 7: if !ad.media.isEmpty { ad.media[0].url = self.oddURL() }
        case 8: if !ad.media.isEmpty { ad.media[0].type = self.oddText() }
        case 9: if !ad.media.isEmpty { ad.media[0].codec = self.oddText() }
        case 10: ad.clickThroughURL = self.oddURL()
        case 11: ad.banner?.imageURL = self.oddURL()
        case 12: ad.banner?.targetURL = self.oddURL()
        case 13: ad.banner?.alternativeText = self.oddText()
        case 14: ad.banner?.type = self.oddText()
        default:
            var tracker = ad.trackers.first ?? .init(event: "start", url: "https://t.example/")
            switch self.number(0...3) {
            case 0: tracker.event = self.oddText()
            case 1: tracker.url = self.oddURL()
            case 2: tracker.offset = self.oddDuration()
            default: ad.trackers = Array(repeating: tracker, count: 129)
            }
            ad.trackers.append(tracker)
        }
    }

    private mutating func spoil(_ ads: inout [AdvertisementContent]) {
        switch self.number(0...7) {
        case 0: ads = []
        case 1: ads = (0...64).map { _ in self.advertisement() }
        case 2: ads += ads.prefix(1)
        default: if !ads.isEmpty { self.spoil(&ads[ads.count - 1]) }
        }
    }

    /// Breaks a rule, or comes near it.
    fileprivate mutating func spoil(_ request: inout BroadcastRequest) {
        switch self.number(0...9) {
        case 0: request.token = self.pick(["a\n", String(repeating: "x", count: WireLimits.tokenBytesMax + 1)])
        case 1: request.expectedRevision = self.pick([nil, 0, ExpectedRevision.any, .max])
        default: self.spoil(&request.kind)
        }
    }

    private mutating func spoil(_ kind: inout BroadcastRequest.Kind) {
        switch kind {
        case .publish(var publish):
            switch self.number(0...5) {
            case 0: publish.duration = self.oddDuration()
            case 1: publish.hold = self.oddDuration()
            case 2: publish.start = .after(self.oddDuration())
            case 3: publish.preStream.toggle()
            default: self.spoil(&publish.advertisements)
            }
            kind = .publish(publish)
        case .punch(var punch):
            punch.start = .after(self.oddDuration())
            kind = .punch(punch)
        case .update(var update):
            switch self.number(0...3) {
            case 0: update.duration = self.oddDuration()
            case 1: update.start = .after(self.oddDuration())
            case 2: update = BroadcastRequest.Update(key: update.key)
            default:
                var ads = update.advertisements ?? self.advertisements()
                self.spoil(&ads)
                update.advertisements = ads
            }
            kind = .update(update)
        case .postpone(var postpone):
            if self.bool() { postpone.by = self.oddDuration() } else { postpone.from = nil }
            kind = .postpone(postpone)
        case .list(var list):
            list.after = Array(repeating: 1, count: WireLimits.pageTokenBytesMax + 1)
            kind = .list(list)
        case .signal(var signal):
            switch self.number(0...3) {
            case 0: signal.duration = self.oddDuration()
            case 1: signal.start = .after(self.oddDuration())
            case 2: signal.raw = Array(repeating: 1, count: WireLimits.signalRawBytesMax + 1)
            default: signal.kind = self.pick(SignalKind.allCases)
            }
            kind = .signal(signal)
        case .putList(var list):
            self.spoil(&list.advertisements)
            kind = .putList(list)
        case .watchReport(var report):
            switch self.number(0...6) {
            case 0: report.number = 0
            case 1: report.address = "https://user:secret@encoder.example/live.m3u8"
            case 2: report.address = "https://encoder.example/live.m3u8?token=1"
            case 3: report.problem = String(repeating: "p", count: WireLimits.watchTextBytesMax + 1)
            case 4: report.cues.append(.init(isUnusable: true, seen: "\n", reason: "r"))
            case 5: report.cues.append(.init(isUnusable: true, seen: "s", reason: "r", times: .max))
            default: (report.heardAge, report.problemAge) = (self.oddDuration(), self.maybe { $0.oddDuration() })
            }
            kind = .watchReport(report)
        case .end, .cancel, .removeList, .lists: kind = .punch(BroadcastRequest.Punch(key: self.key()))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

/// Fields that break a rule are refused by name.
@Suite(.suiteLimit)
struct FieldRuleTests {
    private func refuses(
        _ field: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ read: () throws -> Void
    ) {
        let error = #expect(throws: WireError.self, sourceLocation: sourceLocation) { try read() }
        guard case .invalid(let found, let rule) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(found == field, sourceLocation: sourceLocation)
        #expect(!rule.isEmpty, sourceLocation: sourceLocation)
        #expect(error?.status == .invalid, sourceLocation: sourceLocation)
    }

    private func publishing(_ fill: (inout ProtoWriter) -> Void) throws {
        _ = try BroadcastRequest(decoding: Raw.publish(fill))
    }

    private func advertising(_ fill: (inout ProtoWriter) -> Void) throws {
        _ = try BroadcastRequest(decoding: Raw.publish(advertisements: [Raw.advertisement("ad", fill)]))
    }

    private func acknowledging(_ fill: (inout ProtoWriter) -> Void) throws {
        _ = try ListenerRequest(decoding: Raw.acknowledge(outcomes: [Raw.outcome("ad", fill)]))
    }

    @Test func `a break lasts and is held for more than nothing`() {
        self.refuses("duration_ms") { try self.publishing { $0.varint(4, 0) } }
        self.refuses("hold_ms") { try self.publishing { $0.varint(9, 0) } }
        self.refuses("duration_ms") {
            _ = try BroadcastRequest(decoding: Raw.broadcast(kind: 12) { $0.varint(4, 0) })
        }
    }

    @Test func `a start says a time`() {
        self.refuses("start") { try self.publishing { $0.message(3) { _ in } } }
        self.refuses("start") { try self.publishing { $0.message(3) { $0.varint(3, 0) } } }
    }

    @Test func `only cued and pre-stream breaks are held, and pre-stream breaks have no start`() {
        self.refuses("start") {
            try self.publishing {
                $0.message(3) { $0.varint(3, 1) }
                $0.varint(6, 1)
            }
        }
        self.refuses("hold_ms") {
            try self.publishing {
                $0.message(3) { $0.varint(3, 1) }
                $0.varint(9, 1_000)
            }
        }
    }

    @Test func `a break has advertisements, and none twice`() {
        self.refuses("advertisements") { _ = try BroadcastRequest(decoding: Raw.publish(advertisements: [])) }
        self.refuses("advertisements") {
            let same = [Raw.advertisement("a"), Raw.advertisement("a")]
            _ = try BroadcastRequest(decoding: Raw.publish(advertisements: same))
        }
        self.refuses("advertisements") {
            _ = try BroadcastRequest(decoding: Raw.broadcast(kind: 12) { $0.varint(6, 1) })
        }
    }

    @Test func `an advertisement has a duration, media and trackers with a name`() {
        self.refuses("duration_ms") { try self.advertising { $0.varint(5, 0) } }
        self.refuses("media") {
            _ = try BroadcastRequest(decoding: Raw.publish(advertisements: [Raw.advertisement(media: 0)]))
        }
        self.refuses("tracker event") { try self.advertising { $0.message(10) { $0.string(2, "http://h/") } } }
        self.refuses("advertisement id") { try self.advertising { $0.string(1, "") } }
    }

    @Test func `an update changes something`() {
        self.refuses("update") { _ = try BroadcastRequest(decoding: Raw.broadcast(kind: 12)) }
    }

    @Test func `an acknowledgement has outcomes that make sense`() {
        self.refuses("outcomes") { _ = try ListenerRequest(decoding: Raw.acknowledge(outcomes: [])) }
        self.refuses("outcome kind") { try self.acknowledging { $0.varint(2, 0) } }
        self.refuses("outcome kind") { try self.acknowledging { $0.varint(2, 4) } }
        self.refuses("evidence") { try self.acknowledging { $0.varint(3, 0) } }
        self.refuses("evidence") { try self.acknowledging { $0.varint(3, 3) } }
        self.refuses("quartiles") { try self.acknowledging { $0.varint(6, 5) } }
        self.refuses("vast_error") { try self.acknowledging { $0.varint(8, 1_000) } }
    }

    @Test(arguments: Outcome.Kind.allCases)
    func `an ignored ad has a known reason, and no other outcome has one`(kind: Outcome.Kind) throws {
        for reason in 0...9 as ClosedRange<UInt64> {
            let frame = Raw.acknowledge(
                outcomes: [
                    Raw.outcome {
                        $0.varint(2, UInt64(kind.rawValue))
                        $0.varint(4, reason)
                    }
                ]
            )
            // 9 is of no version so far: it counts as no reason at all.
            if (kind == .ignored) == (1...8).contains(reason) {
                _ = try ListenerRequest(decoding: frame)
            } else {
                self.refuses("reason") { _ = try ListenerRequest(decoding: frame) }
            }
        }
    }

    @Test func `replies and notices of unknown kinds are refused`() {
        self.refuses("join kind") { _ = try ListenerReply(decoding: Raw.joined(kind: 0)) }
        self.refuses("join kind") { _ = try ListenerReply(decoding: Raw.joined(kind: 4)) }
        self.refuses("state") { _ = try BroadcastReply(decoding: Raw.reply { $0.bytes(10, Raw.info(state: 8)) }) }
        for kind in [0, 6] as [UInt64] {
            self.refuses("kind") {
                _ = try NoticeFrame(decoding: Array("radio1\0".utf8) + Raw.notice(kind: kind))
            }
        }
    }

    @Test func `a reply to a broadcaster has a body`() {
        #expect(throws: WireError.self) { try BroadcastReply(decoding: Raw.reply { _ in }) }
    }

    @Test func `text has no control characters, but lines and tabs`() throws {
        for code in Array(0...0x1F as ClosedRange<UInt8>) + Array(0x7F...0x9F) {
            let character = Character(UnicodeScalar(code))
            if code == 0x09 || code == 0x0A {
                try self.advertising { $0.string(2, "a\(character)b") }
            } else {
                self.refuses("title") { try self.advertising { $0.string(2, "a\(character)b") } }
            }
            self.refuses("advertisement id") { try self.advertising { $0.string(1, "a\(character)b") } }
            self.refuses("media url") {
                try self.advertising { $0.message(7) { $0.string(1, "http://h/\(character)") } }
            }
        }
        // Letters whose encoding has the same last bytes as a control character.
        try self.advertising { $0.string(2, "\u{A0}\u{C0}\u{10C0}\u{100C0}") }
    }

    @Test(arguments: [
        "", "x", "://h", "http", "http:", "http:/h", "http://", "ftp://h/", "javascript:alert(1)", "http:///path",
        "http://?q", "http://#f", "http://h/a b", "https:h//", " http://h/", "//h/", "http//h:",
    ])
    func `a URL that is not an absolute http or https URL is refused`(url: String) {
        self.refuses("media url") { try self.advertising { $0.message(7) { $0.string(1, url) } } }
    }

    @Test(arguments: [
        "http://h", "HTTP://h/", "hTTps://h/[CACHEBUSTING]?x={y}&z=%%A%%", "https://[::1]:8/", "http://h:80/a:b",
        "http://h/%C3%A4?q=%20+|~!$'()*,;",
    ])
    func `an absolute URL is taken as it is, macros and all`(url: String) throws {
        try self.advertising { $0.message(7) { $0.string(1, url) } }
    }
}

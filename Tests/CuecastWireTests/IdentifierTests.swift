// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

@Suite(.suiteLimit)
struct IdentifierTests {
    @Test func `a stream id has letters, digits, dot, underscore and hyphen`() {
        let allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
        for code in 0...0x2FF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(code) else { continue }
            let text = String(Character(scalar))
            for text in text == "." ? ["a.b"] : [text, "a\(text)b"] {
                let isAllowed = allowed.contains(Character(scalar))
                #expect(((try? StreamID(text)) != nil) == isAllowed, "U+\(String(code, radix: 16))")
                #expect(((try? BreakID(text)) != nil) == isAllowed, "U+\(String(code, radix: 16))")
            }
        }
    }

    @Test(arguments: ["Noon_2", "5F2A0C9E-8D1B-4E7C-9C55-0A1B2C3D4E5F", "splice.1207959694", "...", "a.", ".a"])
    func `ids as playout and cues give them are taken, and their case counts`(_ text: String) throws {
        #expect(try BreakID(text).description == text && StreamID(text).description == text)
        #expect(try text == text.lowercased() || BreakID(text) != BreakID(text.lowercased()))
    }

    /// RFC 3986 section 5.2.4: clients remove them from a path.
    @Test(arguments: [".", ".."])
    func `no id is a name that clients remove from a path`(_ text: String) {
        #expect(throws: WireError.self) { try StreamID(text) }
        #expect(throws: WireError.self) { try BreakID(text) }
    }

    @Test func `no id is empty`() {
        #expect(throws: WireError.self) { try StreamID("") }
        #expect(throws: WireError.self) { try BreakID("") }
        #expect(throws: WireError.self) { try AdvertisementID("") }
    }

    @Test func `ids of advertisements count bytes and not characters`() throws {
        _ = try AdvertisementID(String(repeating: "ä", count: 64))
        #expect(throws: WireError.self) { try AdvertisementID(String(repeating: "ä", count: 64) + "x") }
    }

    @Test func `letters that only look alike are not allowed`() {
        // Kelvin sign, full-width a, combining dot: some comparisons fold them.
        for text in ["\u{212A}", "\u{FF41}", "a\u{307}"] {
            #expect(throws: WireError.self) { try StreamID(text) }
            #expect(throws: WireError.self) { try BreakID(text) }
        }
    }

    @Test func `a session id is sixteen bytes, first byte first`() throws {
        let bytes = Array(0..<16 as Range<UInt8>)
        let session = try SessionID(bytes: bytes)
        #expect(session.high == 0x0001_0203_0405_0607)
        #expect(session.low == 0x0809_0A0B_0C0D_0E0F)
        #expect(session.bytes == bytes)
        #expect(session.description == "000102030405060708090a0b0c0d0e0f")
        #expect(SessionID.random() != SessionID.random())
    }

    @Test func `keys are ordered by stream, then by break`() throws {
        let keys = try [("a", "z"), ("a1", "a"), ("b", "a"), ("b", "b")]
            .map { BreakKey(stream: try StreamID($0.0), id: try BreakID($0.1)) }
        #expect(keys.shuffled().sorted() == keys)
        #expect(keys[0].description == "a/z")
    }
}

/// Topics decide who receives what, and in which order subscriptions are sent.
@Suite(.suiteLimit)
struct TopicTests {
    @Test func `the topic of ticks sorts after the topic of every stream`() throws {
        var generator = SeededGenerator(for: #function)
        var streams = (0..<500).map { _ in generator.streamID() }
        streams.append(try StreamID(String(repeating: "z", count: 64)))
        for stream in streams {
            #expect(NoticeFrame.topic(of: stream).lexicographicallyPrecedes(NoticeFrame.syncTopic))
        }
        #expect(throws: WireError.self) { try StreamID("~sync") }
    }

    @Test func `no topic begins with another one`() throws {
        var generator = SeededGenerator(for: #function)
        let radio1 = NoticeFrame.topic(of: try StreamID("radio1"))
        let radio10 = NoticeFrame.topic(of: try StreamID("radio10"))
        #expect(radio1 == Array("radio1\0".utf8))
        #expect(!radio10.starts(with: radio1))
        for _ in 0..<300 {
            let stream = generator.streamID()
            guard let longer = try? StreamID(stream.description + generator.streamID().description) else { continue }
            #expect(!NoticeFrame.topic(of: longer).starts(with: NoticeFrame.topic(of: stream)))
            #expect(!NoticeFrame.topic(of: stream).starts(with: NoticeFrame.topic(of: longer)))
        }
    }

    @Test func `a frame begins with its topic`() {
        var generator = SeededGenerator(for: #function)
        let stream = generator.streamID()
        let notice = NoticeFrame.notice(generator.notice(), stream: stream).encoded()
        #expect(notice.starts(with: NoticeFrame.topic(of: stream)))
        let tick = NoticeFrame.tick(SyncTick(instance: 1, counter: 2)).encoded()
        #expect(tick.starts(with: NoticeFrame.syncTopic))
    }

    @Test func `a frame without a topic, or of a stream that cannot be, is refused`() {
        #expect(throws: WireError.self) { try NoticeFrame(decoding: []) }
        #expect(throws: WireError.self) { try NoticeFrame(decoding: Array("radio1".utf8)) }
        for topic in ["", "~sync2", "~", "a b", "ä"] {
            #expect(throws: WireError.self) { try NoticeFrame(decoding: Array(topic.utf8) + [0] + Raw.notice()) }
        }
    }
}

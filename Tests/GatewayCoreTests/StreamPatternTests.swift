// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Which streams a pattern means.
@Suite(.suiteLimit)
struct StreamPatternTests {
    @Test(arguments: [
        ("radio1", "radio1", true), ("radio1", "radio10", false), ("radio1", "Radio1", false),
        ("radio*", "radio1", true), ("radio*", "radio", true), ("radio*", "radi", false),
        ("radio*", "my-radio1", false),
        ("RADIO*", "radio1", false), ("*", "anything.at-all_9", true), ("a.b-c_d*", "a.b-c_d", true),
    ])
    func `a pattern is an id, or the beginning of ids`(pattern: String, stream: String, matches: Bool) throws {
        let read = try #require(StreamPattern(pattern))
        #expect(try read.matches(StreamID(stream)) == matches)
        #expect(read.description == pattern)
    }

    @Test(arguments: [
        "", "**", "*radio", "ra*dio", "radio**", "radio?", "radio 1", " radio1", "radio1\n", "~sync", "radio\u{301}*",
        "ràdio*", "radio*\u{301}", "radio\0*",
    ])
    func `anything else is no pattern`(text: String) {
        #expect(StreamPattern(text) == nil)
    }

    @Test func `the text before the asterisk is at most as long as an id`() throws {
        let longest = String(repeating: "a", count: WireLimits.streamIDBytesMax)
        #expect(try StreamPattern(longest)?.matches(StreamID(longest)) == true)
        #expect(try StreamPattern(longest + "*")?.matches(StreamID(longest)) == true)
        #expect(StreamPattern(longest + "a") == nil)
        #expect(StreamPattern(longest + "a*") == nil)
    }
}

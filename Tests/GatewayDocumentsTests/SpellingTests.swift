// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayDocuments
import Testing

/// Which name a misspelt one stands for.
@Suite(.suiteLimit)
struct SpellingTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abxc", 1),
        ("kitten", "sitting", 3),
    ])
    func `letters are counted`(_ left: String, _ right: String, _ letters: Int) {
        #expect(Spelling.distance(left, right) == letters)
    }

    @Test(arguments: [
        ("brake", "break"), ("steam", "stream"), ("STREAM", "stream"), ("htpp", "http"), ("data", "data-dir"),
        ("vats", "vast"), ("a", nil), ("xy", nil), ("speed", nil), ("streams-of-others", nil), ("", nil),
    ])
    func `the nearest name is meant, and none if all are far`(_ word: String, _ meant: String?) {
        let names = ["stream", "break", "vast", "ads", "data-dir", "http"]
        #expect(Spelling.nearest(to: word, among: names) == meant)
    }

    @Test func `a word of 256 bytes is compared, and a longer one is not`() {
        let name = String(repeating: "n", count: 257)
        #expect(Spelling.nearest(to: String(name.dropLast()), among: [name]) == name)
        #expect(Spelling.nearest(to: name, among: [name]) == nil)
    }

    @Test func `the case decides between two names that are equally near`() {
        #expect(Spelling.nearest(to: "AB1", among: ["ab2", "AB2"]) == "AB2")
    }
}

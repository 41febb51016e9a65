// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import LiveTerminal
import TestSupport
import Testing

@Suite(.suiteLimit)
struct TextWidthTests {
    @Test(arguments: [
        ("", 0), ("radio1", 6), ("e\u{301}", 1), ("日本", 4), ("ｗ", 2), ("한", 2), ("🎧", 2), ("👩‍👧", 2), ("☂\u{FE0F}", 2),
        ("█", 1), ("…", 1), ("ﷺ", 1),
    ])
    func `a text takes so many columns`(text: String, columns: Int) {
        #expect(TextWidth.columns(of: text) == columns)
    }

    @Test func `terminal commands in texts are not shown`() {
        #expect(TextWidth.shown("a\u{1B}[2Jb\u{7}\n\u{9B}c") == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}c")
        // What turns the direction of writing, and what ends a line elsewhere.
        #expect(TextWidth.shown("\u{202E}x\u{2028}") == "\u{FFFD}x\u{FFFD}")
        #expect(TextWidth.shown("Grüße 👩‍👧") == "Grüße 👩‍👧")
    }

    @Test func `a text that is too long ends with an ellipsis`() {
        #expect(TextWidth.cut("radio1", to: 6) == "radio1")
        #expect(TextWidth.cut("radio1", to: 5) == "radi…")
        #expect(TextWidth.cut("日本語", to: 5) == "日本…")
        #expect(TextWidth.cut("日本語", to: 4) == "日…")
        #expect(TextWidth.cut("radio1", to: 1) == "…")
        #expect(TextWidth.cut("radio1", to: 0) == "")
    }

    @Test func `a cell has its width whatever stands in it`() {
        var random = SeededGenerator(for: "cells")
        let characters: [Character] = ["a", "日", "e\u{301}", "🎧", " ", "█", "\u{301}"]
        for _ in 0..<2_000 {
            let text = String(random.list(0...12) { $0.pick(characters) })
            let columns = random.number(0...10)
            let cell = TextWidth.cell(text, columns, isNumber: random.bool())
            #expect(TextWidth.columns(of: cell) == columns, "'\(text)' in \(columns)")
        }
    }
}

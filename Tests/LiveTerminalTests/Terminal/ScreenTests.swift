// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import LiveTerminal
import TestSupport
import Testing

@Suite(.suiteLimit)
struct ScreenTests {
    private let size = ScreenSize(columns: 20, rows: 4)

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `only lines that have changed are written`() {
        var screen = Screen(hasColor: true)
        _ = screen.draw([ScreenLine("one"), ScreenLine("two")], in: self.size)
        #expect(screen.draw([ScreenLine("one"), ScreenLine("two")], in: self.size).isEmpty)
        #expect(
            self.text(screen.draw([ScreenLine("one"), ScreenLine("three")], in: self.size))
                == "\u{1B}[2;1Hthree\u{1B}[K"
        )
        #expect(self.text(screen.draw([ScreenLine("one")], in: self.size)) == "\u{1B}[2;1H\u{1B}[K")
    }

    @Test func `everything is written after another program wrote, and where the size is another`() {
        var screen = Screen(hasColor: true)
        let lines = [ScreenLine("one")]
        let first = screen.draw(lines, in: self.size)
        #expect(self.text(first) == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1Hone\u{1B}[K")
        screen.forget()
        #expect(screen.draw(lines, in: self.size) == first)
        #expect(screen.draw(lines, in: ScreenSize(columns: 21, rows: 4)) == first)
    }

    @Test func `there are no colors if they are not wanted`() {
        let line = ScreenLine("on air", TextStyle(.red, isBold: true))
        for (hasColor, sequence) in [(true, "\u{1B}[1;31m"), (false, "\u{1B}[1m")] {
            var screen = Screen(hasColor: hasColor)
            #expect(self.text(screen.draw([line], in: self.size)).contains("\(sequence)on air\u{1B}[0m"))
        }
        #expect(Screen.hasColor([:]) && Screen.hasColor(["NO_COLOR": ""]) && !Screen.hasColor(["NO_COLOR": "1"]))
    }

    @Test func `a line is cut where the screen ends`() {
        var line = ScreenLine("0123456789", TextStyle(isBold: true))
        line.add("0123456789")
        #expect(line.cut(to: 20) == line)
        #expect(line.cut(to: 19).text == "012345678901234567…")
        #expect(line.cut(to: 10).text == "012345678…")
        #expect(line.cut(to: 1).text == "…" && line.cut(to: 0).text == "")
    }

    /// Whatever was shown before, a terminal shows the lines that were drawn last.
    @Test func `a terminal shows what is drawn`() {
        var random = SeededGenerator(for: "screens")
        let words = ["radio", "日本", "e\u{301}", "🎧", " ", "1,204", "\u{1B}[2J", ""]
        let styles = [TextStyle.plain, TextStyle(.green), TextStyle(isReversed: true), TextStyle(.red, isBold: true)]
        for _ in 0..<50 {
            var screen = Screen(hasColor: random.bool())
            var terminal = TerminalModel(self.size)
            for _ in 0..<20 {
                if random.number(0...9) == 0 {
                    terminal = TerminalModel(ScreenSize(columns: random.number(1...30), rows: random.number(1...8)))
                    screen.forget()
                }
                let lines = random.list(0...9) { random in
                    random.list(0...5) { ($0.pick(words), $0.pick(styles)) }
                        .reduce(into: ScreenLine()) { $0.add($1.0, $1.1) }
                }
                terminal.take(screen.draw(lines, in: terminal.size))
                for row in 0..<terminal.size.rows {
                    let wanted = row < lines.count ? lines[row].cut(to: terminal.size.columns).text : ""
                    let padded = TextWidth.cell(wanted, terminal.size.columns)
                    #expect(terminal.text(row) == padded)
                }
            }
        }
    }
}

/// As much of a terminal as our screens use; fails on everything else.
private struct TerminalModel {
    let size: ScreenSize
    private var rows: [[String]]
    private var row = 0
    private var column = 0

    init(_ size: ScreenSize) {
        self.size = size
        self.rows = Array(repeating: Array(repeating: "?", count: size.columns), count: size.rows)
    }

    func text(_ row: Int) -> String { self.rows[row].joined() }

    mutating func take(_ bytes: [UInt8]) {
        var rest = Substring(String(decoding: bytes, as: UTF8.self))
        while let first = rest.first {
            if first == "\u{1B}" {
                let sequence = rest.dropFirst(2)
                let numbers = sequence.prefix { $0.isNumber || $0 == ";" }
                guard rest.dropFirst().first == "[", let end = sequence.dropFirst(numbers.count).first else {
                    Issue.record("a sequence that ends nowhere")
                    return
                }
                self.command(end, numbers.split(separator: ";").compactMap { Int($0) })
                rest = sequence.dropFirst(numbers.count + 1)
            } else {
                self.put(first)
                rest = rest.dropFirst()
            }
        }
    }

    private mutating func command(_ end: Character, _ numbers: [Int]) {
        let empty = Array(repeating: " ", count: self.size.columns)
        switch (end, numbers) {
        case ("m", _): break
        case ("J", [2]): self.rows = Array(repeating: empty, count: self.size.rows)
        case ("H", _) where numbers.count == 2: (self.row, self.column) = (numbers[0] - 1, numbers[1] - 1)
        case ("K", []): self.rows[self.row][self.column...] = empty[self.column...]
        default: Issue.record("no screen of ours says \(numbers) \(end)")
        }
    }

    private mutating func put(_ character: Character) {
        let columns = TextWidth.columns(of: character)
        guard columns > 0 else {
            // It stands on the one before.
            let before = max(0, self.column - 1)
            self.rows[self.row][before] =
                self.column > 0
                ? self.rows[self.row][before] + String(character) : String(character) + self.rows[self.row][before]
            return
        }
        guard self.column + columns <= self.size.columns else {
            Issue.record("'\(character)' is written behind the end of a line")
            return
        }
        self.rows[self.row][self.column] = String(character)
        if columns == 2 { self.rows[self.row][self.column + 1] = "" }
        self.column += columns
    }
}

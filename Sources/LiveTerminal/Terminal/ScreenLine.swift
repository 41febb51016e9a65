// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How text looks.
package struct TextStyle: Hashable, Sendable {
    /// The terminal's own colors, which its user has chosen.
    package enum Color: Int, Hashable, Sendable {
        case red = 31
        case green = 32
        case yellow = 33
        case cyan = 36
    }

    package var color: Color?
    package var isBold = false
    package var isDim = false
    /// Foreground and background are exchanged.
    package var isReversed = false

    package init(_ color: Color? = nil, isBold: Bool = false, isDim: Bool = false, isReversed: Bool = false) {
        self.color = color
        self.isBold = isBold
        self.isDim = isDim
        self.isReversed = isReversed
    }

    package static let plain = TextStyle()

    /// The sequence that switches a terminal from plain to this style (ECMA-48, SGR).
    func sequence(hasColor: Bool) -> String {
        var codes: [Int] = []
        if self.isBold { codes.append(1) }
        if self.isDim { codes.append(2) }
        if self.isReversed { codes.append(7) }
        if hasColor, let color { codes.append(color.rawValue) }
        return codes.isEmpty ? "" : "\u{1B}[" + codes.map { "\($0)" }.joined(separator: ";") + "m"
    }
}

/// One line of a screen: pieces of text, each with its look.
package struct ScreenLine: Hashable, Sendable {
    package struct Piece: Hashable, Sendable {
        package let text: String
        package let style: TextStyle
    }

    package private(set) var pieces: [Piece] = []

    package init() {}

    /// A line with one look.
    package init(_ text: String, _ style: TextStyle = .plain) { self.add(text, style) }

    /// Adds text, without what would command the terminal.
    package mutating func add(_ text: String, _ style: TextStyle = .plain) {
        guard !text.isEmpty else { return }
        self.pieces.append(Piece(text: TextWidth.shown(text), style: style))
    }

    /// Adds the pieces of another line.
    package mutating func add(_ line: ScreenLine) { self.pieces += line.pieces }

    /// Makes it so wide with spaces; a wider one stays as it is.
    package mutating func pad(to columns: Int) {
        self.add(String(repeating: " ", count: max(0, columns - self.columns)))
    }

    /// The text alone.
    package var text: String { self.pieces.map(\.text).joined() }

    package var columns: Int { self.pieces.reduce(0) { $0 + TextWidth.columns(of: $1.text) } }

    /// The line, or as much of its beginning as fits.
    package func cut(to columns: Int) -> ScreenLine {
        guard self.columns > columns else { return self }
        var line = ScreenLine()
        var room = columns
        for piece in self.pieces where room > 0 {
            // The piece that ends the line says that there is more.
            let isLast = TextWidth.columns(of: piece.text) >= room
            let text = isLast ? TextWidth.cut(piece.text + " ", to: room) : piece.text
            line.pieces.append(Piece(text: text, style: piece.style))
            room -= TextWidth.columns(of: text)
            if isLast { break }
        }
        return line
    }

    /// The line with one look in all of its width.
    package func filled(to columns: Int, _ style: TextStyle) -> ScreenLine {
        ScreenLine(TextWidth.cell(self.text, columns), style)
    }
}

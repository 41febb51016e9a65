// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How many columns and rows a terminal has.
package struct ScreenSize: Hashable, Sendable {
    package let columns: Int
    package let rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// The size if a terminal does not state its own.
    package static let usual = ScreenSize(columns: 80, rows: 24)
}

/// The content of a terminal: it knows the bytes that change it to other content.
///
/// It writes only lines that have changed, each from its beginning, so that what a terminal took to be wider or narrower than
/// we do disturbs one line at most.
package struct Screen: Sendable {
    private let hasColor: Bool
    private var size: ScreenSize?
    private var drawn: [ScreenLine] = []

    /// - Parameter hasColor: whether colors are wanted.
    package init(hasColor: Bool) {
        self.hasColor = hasColor
    }

    /// Whether colors are wanted: not where NO_COLOR says something (https://no-color.org).
    package static func hasColor(_ environment: [String: String]) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Draws everything anew next time, because other output was written there.
    package mutating func forget() {
        self.size = nil
    }

    /// Shows lines, from the first row on.
    ///
    /// - Parameters:
    ///   - lines: those for which there is no row are not shown.
    ///   - size: the terminal's.
    /// - Returns: the bytes to write; none where nothing changed.
    package mutating func draw(_ lines: [ScreenLine], in size: ScreenSize) -> [UInt8] {
        var text = ""
        if self.size != size {
            // All plain, and nothing there.
            text += "\u{1B}[0m\u{1B}[2J"
            self.size = size
            self.drawn = Array(repeating: ScreenLine(), count: size.rows)
        }
        for row in 0..<size.rows {
            let line = row < lines.count ? lines[row].cut(to: size.columns) : ScreenLine()
            guard line != self.drawn[row] else { continue }
            self.drawn[row] = line
            text += "\u{1B}[\(row + 1);1H"
            for piece in line.pieces {
                let sequence = piece.style.sequence(hasColor: self.hasColor)
                text += sequence + piece.text + (sequence.isEmpty ? "" : "\u{1B}[0m")
            }
            // At the end of a full line the cursor stands on its last character still.
            if line.columns < size.columns { text += "\u{1B}[K" }
        }
        return Array(text.utf8)
    }
}

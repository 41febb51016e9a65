// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How many columns text takes on a terminal, and what of it may be shown there.
package enum TextWidth {
    /// The wide and full characters of Unicode's East Asian Width (UAX #11), but for emoji, which have a property of their own.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]
    /// Asks for the picture of a character that has one.
    private static let pictureSelector: UInt32 = 0xFE0F
    private static let joiner: UInt32 = 0x200D

    /// The columns of one character: 0, 1 or 2.
    package static func columns(of character: Character) -> Int {
        var columns = 0
        for scalar in character.unicodeScalars {
            columns = max(columns, scalar.value == self.pictureSelector ? 2 : self.columns(of: scalar))
        }
        return columns
    }

    /// The columns of a text without line breaks.
    package static func columns(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + self.columns(of: $1) }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        // Most text, without a look at tables.
        if (0x20...0x7E).contains(scalar.value) { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        let isWide = scalar.properties.isEmojiPresentation || self.wide.contains { $0.contains(scalar.value) }
        return isWide ? 2 : 1
    }

    /// The text as it may be shown: what would command the terminal, or turn the direction of writing, is a replacement character.
    package static func shown(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .format where scalar.value == self.joiner: shown.append(scalar)
            case .control, .format, .lineSeparator, .paragraphSeparator: shown.append("\u{FFFD}")
            default: shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// The text, or as much of its beginning as fits with an ellipsis.
    ///
    /// - Parameters:
    ///   - text: without line breaks.
    ///   - columns: how many there are.
    /// - Returns: a text that takes at most so many.
    package static func cut(_ text: String, to columns: Int) -> String {
        guard self.columns(of: text) > columns else { return text }
        guard columns > 0 else { return "" }
        var cut = ""
        var room = columns - 1
        for character in text {
            room -= self.columns(of: character)
            guard room >= 0 else { break }
            cut.append(character)
        }
        return cut + "…"
    }

    /// The text in a cell of so many columns, cut where it is longer.
    ///
    /// - Parameters:
    ///   - text: without line breaks.
    ///   - columns: the cell's width.
    ///   - isNumber: whether it stands to the right.
    /// - Returns: a text that takes exactly so many.
    package static func cell(_ text: String, _ columns: Int, isNumber: Bool = false) -> String {
        let text = self.cut(text, to: columns)
        let space = String(repeating: " ", count: max(0, columns - self.columns(of: text)))
        return isNumber ? space + text : text + space
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats

/// Cuts bytes into lines, however they come.
struct LineSplitter: Hashable, Sendable {
    /// A line, without its end.
    enum Piece: Hashable, Sendable {
        case line([UInt8])
        /// A line with more bytes than lines may have; they are passed over.
        case tooLong
    }

    /// The longest line, in bytes.
    static let lineBytesMax = AutomationLimits.lineBytesMax

    private var line: [UInt8] = []
    private var isTooLong = false

    /// Takes the next bytes.
    ///
    /// - Parameter bytes: What follows the bytes before.
    /// - Returns: The lines that are complete now, in order.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Piece] {
        var pieces: [Piece] = []
        for byte in bytes {
            guard byte != UInt8(ascii: "\n") else {
                if let piece = self.finish() { pieces.append(piece) }
                continue
            }
            if self.line.count < Self.lineBytesMax {
                self.line.append(byte)
            } else {
                self.isTooLong = true
            }
        }
        return pieces
    }

    /// Ends the line that is open.
    ///
    /// - Returns: The line; `nil`: there is none.
    mutating func finish() -> Piece? {
        defer {
            self.line = []
            self.isTooLong = false
        }
        if self.isTooLong { return .tooLong }
        if self.line.last == UInt8(ascii: "\r") { self.line.removeLast() }
        return self.line.isEmpty ? nil : .line(self.line)
    }
}

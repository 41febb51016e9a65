// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The terminal while the player owns it: keys come one by one and unseen, and the screen is drawn over.
///
/// Its owner gives it back by ``restore()``, which may be called twice.
final class Terminal {
    private static let enterScreen = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leaveScreen = "\u{1B}[?25h\u{1B}[?1049l"

    private let before: termios
    private var isTaken = true

    /// Whether both sides of the player are a terminal.
    static var isThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// Takes the terminal; `nil` where there is none.
    init?() {
        var settings = termios()
        // Unsafe: the call fills the structure that it is given, and keeps nothing of it.
        guard Self.isThere, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        self.before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        Self.write(Self.enterScreen)
    }

    deinit { Self.giveBack(self.before, if: self.isTaken) }

    /// Gives the terminal back as it was.
    func restore() {
        Self.giveBack(self.before, if: self.isTaken)
        self.isTaken = false
    }

    private static func giveBack(_ before: termios, if isTaken: Bool) {
        guard isTaken else { return }
        var before = before
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before)
        Self.write(Self.leaveScreen)
    }

    /// Draws the lines over what was there.
    func draw(_ lines: [String]) {
        let end = "\u{1B}[K\r\n"
        Self.write("\u{1B}[H" + lines.prefix(self.size.rows - 1).map { $0 + end }.joined() + "\u{1B}[J")
    }

    /// How many columns and rows there are.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes text, all of it.
    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}

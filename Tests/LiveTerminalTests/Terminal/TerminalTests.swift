// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Glibc
import LiveTerminal
import Synchronization
import Testing

/// A pseudo terminal: what a program takes for a terminal, and its other side.
private final class PseudoTerminal: Sendable {
    let looker: Int32
    let program: Int32

    init() throws {
        self.looker = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(self.looker >= 0)
        // TIOCSPTLCK and TIOCGPTN of Linux (ioctl_tty(2)): it may be opened, and its number.
        var lock: Int32 = 0
        var number: UInt32 = 0
        try #require(
            unsafe ioctl(self.looker, 0x4004_5431, &lock) == 0 && ioctl(self.looker, 0x8004_5430, &number) == 0
        )
        self.program = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(self.program >= 0)
    }

    deinit {
        close(self.looker)
        close(self.program)
    }

    /// The flags of the terminal that the program has set.
    var flags: [tcflag_t] {
        var settings = termios()
        _ = unsafe tcgetattr(self.program, &settings)
        return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
    }

    /// Reads until this is shown.
    func read(to end: String) -> String {
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 1_024)
        while !text.hasSuffix(end) {
            let count = unsafe Glibc.read(self.looker, &bytes, bytes.count)
            guard count > 0 else { break }
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        return text
    }

    func type(_ text: String) {
        _ = unsafe write(self.looker, Array(text.utf8), text.utf8.count)
    }
}

/// One at a time, because a crash gives one terminal back.
@Suite(.serialized, .suiteLimit)
struct TerminalTests {
    private let pseudo: PseudoTerminal
    private let terminal: Terminal

    init() throws {
        self.pseudo = try PseudoTerminal()
        self.terminal = Terminal(input: self.pseudo.program, output: self.pseudo.program)
    }

    @Test func `a terminal is given back as it was`() throws {
        let before = self.pseudo.flags
        try self.terminal.begin()
        #expect(self.pseudo.flags != before)
        #expect(self.pseudo.flags[3] & tcflag_t(ECHO | ICANON | ISIG) == 0)
        #expect(self.pseudo.read(to: "\u{1B}[?7l") == "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
        // Again, as after another program had it.
        try self.terminal.begin()
        _ = self.pseudo.read(to: "\u{1B}[?7l")
        #expect(self.terminal.write(Array("on air".utf8)))
        #expect(self.pseudo.read(to: "air") == "on air")
        self.terminal.end()
        #expect(self.pseudo.flags == before)
        #expect(self.pseudo.read(to: "[?1049l") == "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    }

    @Test func `nothing is written to a terminal that was given back`() throws {
        try self.terminal.begin()
        self.terminal.end()
        self.terminal.end()
        _ = self.pseudo.read(to: "[?1049l")
        #expect(self.terminal.write(Array("late".utf8)))
        try self.terminal.begin()
        #expect(!self.pseudo.read(to: "\u{1B}[?7l").contains("late"))
        self.terminal.end()
    }

    @Test func `the size is the window's`() {
        var size = winsize()
        #expect(self.terminal.size == .usual)
        (size.ws_col, size.ws_row) = (132, 43)
        _ = unsafe ioctl(self.pseudo.looker, UInt(TIOCSWINSZ), &size)
        #expect(self.terminal.size == ScreenSize(columns: 132, rows: 43))
    }

    @Test func `only a terminal that can move its cursor is one`() throws {
        #expect(self.terminal.isUsable(["TERM": "xterm-256color"]))
        for environment in [[:], ["TERM": ""], ["TERM": "dumb"]] { #expect(!self.terminal.isUsable(environment)) }
        let file = unsafe open("/dev/null", O_RDWR)
        defer { close(file) }
        for terminal in [
            Terminal(input: file, output: self.pseudo.program), Terminal(input: self.pseudo.program, output: file),
        ] {
            #expect(!terminal.isUsable(["TERM": "xterm"]))
        }
        #expect(throws: Terminal.Fault.self) { try Terminal(input: file, output: file).begin() }
    }

    @Test func `keys come as they are pressed, and the end of the terminal once`() async throws {
        let (keys, sink) = AsyncStream.makeStream(of: [Key].self, bufferingPolicy: .bufferingNewest(100))
        var pseudo: PseudoTerminal? = try PseudoTerminal()
        let descriptor = try #require(pseudo).program
        let own = dup(descriptor)
        defer { close(own) }
        try Terminal(input: own, output: own).begin()
        let reader = KeyReader(own) { sink.yield($0 ?? []) }
        defer { reader.stop() }
        var iterator = keys.makeAsyncIterator()
        pseudo?.type("q")
        #expect(await iterator.next() == [.character("q")])
        pseudo?.type("\u{1B}")
        #expect(await iterator.next() == [.escape])
        pseudo?.type("\u{1B}[A")
        #expect(await iterator.next() == [.up])
        // The user has closed the window.
        pseudo = nil
        #expect(await iterator.next() == [])
    }
}

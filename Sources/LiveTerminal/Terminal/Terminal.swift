// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A terminal that a program has for itself for a while: a screen of its own, keys as they are pressed, nothing echoed.
///
/// Whatever ends the program gives the terminal back: ``end()``, which is harmless where nothing was begun, and a crash by itself
/// (``TerminalRescue``). Signals that end a program are for the program to take.
package final class Terminal: Sendable {
    /// The terminal cannot be had: the system's number of the error.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let code: Int32

        package var description: String {
            "the terminal cannot be used: \(unsafe String(cString: strerror(self.code)))"
        }
    }

    /// The other screen, no cursor, and no new line at the end of one. (xterm's control sequences, DECSET)
    private static let entrance: StaticString = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    /// All of that back.
    private static let exit: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let input: Int32
    private let output: Int32
    /// How the terminal was; `nil`: it is so.
    private let saved = Mutex<termios?>(nil)

    /// - Parameters:
    ///   - input: where keys come from.
    ///   - output: where the screen is.
    package init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
        self.input = input
        self.output = output
    }

    /// Whether input and output are an interactive terminal that can move its cursor.
    package func isUsable(_ environment: [String: String]) -> Bool {
        guard isatty(self.input) == 1, isatty(self.output) == 1 else { return false }
        let kind = environment["TERM"] ?? ""
        return !kind.isEmpty && kind != "dumb"
    }

    /// How large it is now.
    package var size: ScreenSize {
        var size = winsize()
        guard unsafe ioctl(self.output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return .usual
        }
        return ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Takes the terminal; again where another program had it meanwhile.
    ///
    /// - Throws: where it is none.
    package func begin() throws(Fault) {
        let code = self.saved.withLock { saved in
            var settings = termios()
            if let known = saved {
                settings = known
            } else {
                guard unsafe tcgetattr(self.input, &settings) == 0 else { return errno }
                saved = settings
                TerminalRescue.arm(settings, exit: Self.exit, input: self.input, output: self.output)
            }
            unsafe cfmakeraw(&settings)
            guard unsafe tcsetattr(self.input, TCSANOW, &settings) == 0 else { return errno }
            self.put(Self.entrance)
            return 0
        }
        guard code == 0 else {
            self.end()
            throw Fault(code: code)
        }
    }

    /// Gives the terminal back as it was.
    package func end() {
        self.saved.withLock { saved in
            guard var settings = saved else { return }
            self.put(Self.exit)
            _ = unsafe tcsetattr(self.input, TCSANOW, &settings)
            TerminalRescue.disarm()
            saved = nil
        }
    }

    /// Does what Ctrl-Z does elsewhere: the shell has the terminal until it lets this program go on.
    ///
    /// - Throws: where the terminal is gone by then.
    package func suspend() throws(Fault) {
        self.end()
        // For this thread, so that everything stands still before it returns; threads of queues block most signals.
        var signals = sigset_t()
        var blocked = sigset_t()
        _ = unsafe sigemptyset(&signals)
        _ = unsafe sigaddset(&signals, SIGTSTP)
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &blocked)
        _ = raise(SIGTSTP)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
        try self.begin()
    }

    /// Writes all of it; nothing while another program has the terminal.
    ///
    /// - Parameter bytes: text and sequences.
    /// - Returns: whether the terminal is still there.
    package func write(_ bytes: [UInt8]) -> Bool {
        self.saved.withLock { saved in
            guard saved != nil else { return true }
            return unsafe bytes.withUnsafeBytes { unsafe self.put($0) }
        }
    }

    private func put(_ text: StaticString) {
        _ = unsafe self.put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private func put(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe systemWrite(
                self.output,
                bytes.baseAddress.map { unsafe $0 + offset },
                bytes.count - offset
            )
            if count >= 0 {
                offset += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another program on the same terminal may have made it non-blocking.
                var wish = pollfd(fd: self.output, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&wish, 1, -1)
            default: return false
            }
        }
        return true
    }
}

/// The system's write, whose name methods have too.
func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
    unsafe Glibc.write(descriptor, bytes, count)
    #elseif canImport(Musl)
    unsafe Musl.write(descriptor, bytes, count)
    #else
    unsafe Darwin.write(descriptor, bytes, count)
    #endif
}

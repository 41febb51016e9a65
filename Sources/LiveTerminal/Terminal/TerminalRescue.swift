// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Restores the terminal's modes when the program crashes.
///
/// Otherwise the user would type blindly into the shell afterwards.
///
/// What a handler of a signal may do is little (signal-safety(7)): it writes, and sets the terminal's modes; then the crash takes its way
/// as it would have without.
enum TerminalRescue {
    /// A terminal that is to be given back.
    @unsafe private struct Taken {
        var settings: termios
        let input: Int32
        let output: Int32
        /// The bytes to write; kept here, because a signal handler must not be the first to initialise them.
        let exit: StaticString
        /// The former action of each signal.
        let previous: UnsafeMutablePointer<sigaction>
    }

    /// The signals of a crash.
    private static let signals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGSYS]

    /// Larger than each of them, wherever we run.
    private static let signalNumberMax = 64

    // Safety: set while the terminal's lock is held; a handler only reads it, on whatever thread has crashed.
    private nonisolated(unsafe) static var terminal: UnsafeMutablePointer<Taken>?

    /// Watches from now on.
    ///
    /// - Parameters:
    ///   - settings: how the terminal was.
    ///   - exit: the sequence that restores the screen.
    ///   - input: the terminal.
    ///   - output: the terminal.
    static func arm(_ settings: termios, exit: StaticString, input: Int32, output: Int32) {
        guard unsafe self.terminal == nil else { return }
        // Never given back: a handler may be at it.
        let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: self.signalNumberMax + 1)
        let terminal = UnsafeMutablePointer<Taken>.allocate(capacity: 1)
        unsafe terminal.initialize(
            to: Taken(settings: settings, input: input, output: output, exit: exit, previous: previous)
        )
        for number in self.signals { _ = unsafe sigaction(number, nil, previous + Int(number)) }
        unsafe self.terminal = unsafe terminal
        for number in self.signals { _ = signal(number) { number in TerminalRescue.save(number) } }
    }

    /// Watches no more.
    static func disarm() {
        guard let terminal = unsafe self.terminal else { return }
        for number in self.signals { _ = unsafe sigaction(number, terminal.pointee.previous + Int(number), nil) }
        unsafe self.terminal = nil
    }

    private static func save(_ number: Int32) {
        if let terminal = unsafe self.terminal {
            let exit = unsafe terminal.pointee.exit
            _ = unsafe systemWrite(terminal.pointee.output, exit.utf8Start, exit.utf8CodeUnitCount)
            _ = unsafe tcsetattr(terminal.pointee.input, TCSANOW, &terminal.pointee.settings)
            // The handler that was set before runs now.
            _ = unsafe sigaction(number, terminal.pointee.previous + Int(number), nil)
        } else {
            _ = signal(number, SIG_DFL)
        }
        _ = raise(number)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The output of a command: the one way to write to standard output and standard error.
///
/// A command continues if its output cannot be written, and ends with an exit code of its own: at the end ``failure`` says
/// whether everything was written. A reader that has closed the pipe early is no failure.
package enum CommandOutput {
    /// Why output could not be written.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The error code of the system.
        package let code: Int32

        package var description: String {
            "standard output cannot be written: \(unsafe String(cString: strerror(self.code)))"
        }
    }

    private struct State {
        var failure: Failure?
        var isReaderGone = false
    }

    private static let state = Mutex(State())

    /// Why something could not be written to standard output; `nil`: everything was.
    package static var failure: Failure? { self.state.withLock(\.failure) }

    /// Whether no more output is needed: the reader has closed the pipe, or writing has failed.
    package static var isOver: Bool { self.state.withLock { $0.isReaderGone || $0.failure != nil } }

    /// Prints a line.
    package static func say(_ line: String) {
        self.write(line + "\n")
    }

    /// Writes to standard output, at once.
    package static func write(_ text: String) {
        self.write(Array(text.utf8))
    }

    /// Writes to standard output, at once.
    package static func write(_ bytes: [UInt8]) {
        // One after the other, so that lines stay whole.
        self.state.withLock { state in
            guard !state.isReaderGone, state.failure == nil else { return }
            switch self.put(bytes, to: STDOUT_FILENO) {
            case 0: break
            case EPIPE: state.isReaderGone = true
            case let code: state.failure = Failure(code: code)
            }
        }
    }

    /// Writes a sentence for people to standard error; a failure is ignored.
    package static func complain(_ sentence: String, program: String) {
        _ = self.put(Array("\(program): \(sentence)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes to standard error as it is.
    package static func writeToError(_ text: String) {
        _ = self.put(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Writes to standard error as it is.
    package static func writeToError(_ bytes: [UInt8]) {
        _ = self.put(bytes, to: STDERR_FILENO)
    }

    /// Prepares a process.
    ///
    /// A reader that closes the pipe does not end it, and no file of its own takes the number of a closed output.
    package static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // Opened for the opposite direction, so that every use fails. The lowest free number is this one.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all of it.
    ///
    /// - Returns: 0, or what the system said.
    private static func put(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Self.write(descriptor, $0) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares it made it non-blocking.
                var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&wish, 1, -1)
            case let code: return code
            }
        }
        return 0
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}

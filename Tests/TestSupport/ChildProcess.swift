// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A command that a test runs beside itself.
///
/// Not by `Foundation.Process`: up to Swift 6.3 that reads past the end of a list of descriptors, so a test process with a thousand of them
/// dies now and then where it starts a command (swift-corelibs-foundation, pull request 5472).
package final class ChildProcess: Sendable {
    /// The system's error, by its number.
    package struct Failure: Error {
        package let errorNumber: Int32
    }

    /// The files of the command in place of a terminal.
    package enum Stream: Sendable {
        /// Nothing to read, and what is written is dropped.
        case nothing
        /// The test's own end is at hand.
        case pipe
        /// A descriptor that the test gives; it is not closed.
        case descriptor(Int32)
    }

    package let identifier: Int32
    private let input: Descriptor?
    private let output: Descriptor?
    private let errors: Descriptor?
    /// How it ended, once it was awaited.
    private let status = Mutex<Int32?>(nil)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - command: the command, which is looked for on PATH, and its arguments.
    ///   - input: what it reads.
    ///   - output: where it writes.
    ///   - errors: where it writes what went wrong.
    /// - Throws: ``Failure``; there is no such command, for instance.
    package init(
        _ command: [String],
        input: Stream = .nothing,
        output: Stream = .nothing,
        errors: Stream = .nothing
    ) throws {
        let streams = [try Ends(input, 0), try Ends(output, 1), try Ends(errors, 2)]
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        // Safety: zeros, which are filled below.
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        // Safety: both are made here, and ended when they are no longer used; strings are copied and freed below.
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        for (number, stream) in streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream.theirs.number, Int32(number))
        }
        #if canImport(Darwin)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
        let flags = POSIX_SPAWN_SETSIGMASK
        guard let closeOthers = unsafe Self.closeOthers else { throw Failure(errorNumber: ENOSYS) }
        _ = unsafe closeOthers(&actions, 3)
        #endif
        // Threads of a pool hold signals back, and who is started by one would do so too.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { while let each = unsafe arguments.popLast() { unsafe free(each) } }
        var identifier: pid_t = 0
        let error = unsafe posix_spawnp(&identifier, command[0], &actions, &attributes, &arguments, environ)
        guard error == 0 else { throw Failure(errorNumber: error) }
        self.identifier = identifier
        (self.input, self.output, self.errors) = (streams[0].ours, streams[1].ours, streams[2].ours)
    }

    deinit {
        self.terminate()
        _ = self.wait()
    }

    /// Its input ends.
    package func closeInput() { self.input?.shut() }

    /// Waits until it says something.
    ///
    /// - Parameter count: how many bytes, unless it ends before.
    /// - Returns: what it said.
    package func said(_ count: Int) -> String { String(decoding: self.output?.take(count) ?? [], as: UTF8.self) }

    /// Waits until it says no more.
    ///
    /// - Returns: all that it said of what went wrong.
    package func allErrors() -> String { String(decoding: self.errors?.take(.max) ?? [], as: UTF8.self) }

    /// Waits until it says no more.
    ///
    /// - Returns: all that it said.
    package func allSaid() -> String { self.said(.max) }

    /// Ends it at once, if it has not ended.
    package func terminate() {
        self.status.withLock { status in
            if status == nil { kill(self.identifier, SIGKILL) }
        }
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit code, or 128 and the signal that ended it.
    package func wait() -> Int32 {
        self.status.withLock { status in
            if let status { return status }
            var how: Int32 = 0
            // Safety: the kernel writes one number during the call.
            while unsafe waitpid(self.identifier, &how, 0) == -1 && errno == EINTR {}
            let signal = how & 0x7f
            let result = signal == 0 ? (how >> 8) & 0xff : 128 + signal
            status = result
            return result
        }
    }

    #if !canImport(Darwin)
    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// Has the command begin without descriptors from a number on. The module of the C library leaves it out.
    // Safety: the C library of Debian 11 and later has it, with these parameters (spawn.h).
    private static let closeOthers: CloseFrom? = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np")
        .map { unsafe unsafeBitCast($0, to: CloseFrom.self) }
    #endif

    /// Both ends of one stream.
    private struct Ends {
        let theirs: Descriptor
        let ours: Descriptor?

        init(_ stream: Stream, _ number: Int32) throws {
            switch stream {
            case .nothing:
                // Safety: the path ends with a zero.
                let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
                guard null >= 0 else { throw Failure(errorNumber: errno) }
                (self.theirs, self.ours) = (Descriptor(null), nil)
            case .descriptor(let given):
                let copy = fcntl(given, F_DUPFD_CLOEXEC, 3)
                guard copy >= 0 else { throw Failure(errorNumber: errno) }
                (self.theirs, self.ours) = (Descriptor(copy), nil)
            case .pipe:
                var pair: [Int32] = [0, 0]
                // Safety: the kernel writes two numbers during the call.
                guard unsafe pipe(&pair) == 0 else { throw Failure(errorNumber: errno) }
                for each in pair { _ = fcntl(each, F_SETFD, FD_CLOEXEC) }
                let (reading, writing) = (Descriptor(pair[0]), Descriptor(pair[1]))
                (self.theirs, self.ours) = number == 0 ? (reading, writing) : (writing, reading)
            }
        }
    }

    /// A descriptor that is closed once.
    private final class Descriptor: Sendable {
        let number: Int32
        private let isOpen = Mutex(true)

        init(_ number: Int32) { self.number = number }

        deinit { self.shut() }

        func shut() {
            self.isOpen.withLock { isOpen in
                if isOpen { close(self.number) }
                isOpen = false
            }
        }

        /// Reads so many bytes, or all until the end.
        func take(_ count: Int) -> [UInt8] {
            var all: [UInt8] = []
            var part = [UInt8](repeating: 0, count: min(count, 65_536))
            while all.count < count {
                // Safety: the kernel writes at most as many bytes as the array holds, during the call.
                let length = unsafe read(self.number, &part, min(part.count, count - all.count))
                if length > 0 { all += part.prefix(length) } else if length == 0 || errno != EINTR { break }
            }
            return all
        }
    }
}

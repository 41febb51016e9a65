// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

#if os(Linux)
/// A counter of the operating system that a poll can wait on (eventfd(2)).
struct WakeUp: ~Copyable, Sendable {
    let descriptor: CInt

    init() throws(ZeroMQError) {
        self.descriptor = try SystemCall.perform("eventfd") { eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC)) }
    }

    deinit {
        // Whatever it answers, the descriptor is gone.
        _ = close(self.descriptor)
    }

    /// Makes the descriptor readable.
    borrowing func signal() {
        var one: UInt64 = 1
        // Only a counter near 2^64 would block, and then it is readable.
        SystemCall.mustSucceed("write") { unsafe CInt(write(self.descriptor, &one, 8)) }
    }

    /// Makes the descriptor unreadable.
    borrowing func reset() {
        var count: UInt64 = 0
        while unsafe read(self.descriptor, &count, 8) < 0, errno == EINTR {}
    }
}
#else
/// A pipe that a poll can wait on, for systems without eventfd.
struct WakeUp: ~Copyable, Sendable {
    let descriptor: CInt
    private let writing: CInt

    init() throws(ZeroMQError) {
        var ends: [CInt] = [-1, -1]
        try SystemCall.perform("pipe") { unsafe pipe(&ends) }
        self.descriptor = ends[0]
        self.writing = ends[1]
        for end in ends {
            try SystemCall.perform("fcntl") { fcntl(end, F_SETFL, O_NONBLOCK) }
            try SystemCall.perform("fcntl") { fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
    }

    deinit {
        // Whatever they answer, the descriptors are gone.
        _ = close(self.descriptor)
        _ = close(self.writing)
    }

    /// Makes the descriptor readable.
    borrowing func signal() {
        var one: UInt8 = 1
        // A pipe that is full would block, and then it is readable.
        while unsafe write(self.writing, &one, 1) < 0, errno == EINTR {}
    }

    /// Makes the descriptor unreadable.
    borrowing func reset() {
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            let count = unsafe read(self.descriptor, &bytes, bytes.count)
            guard count == bytes.count || (count < 0 && errno == EINTR) else { return }
        }
    }
}
#endif

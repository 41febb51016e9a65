// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if os(Linux)
internal import CSystemSupport
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

#if os(Linux)
/// A counter of the operating system that a thread can poll, and that other threads make readable (eventfd(2)).
package struct WakeUp: ~Copyable, Sendable {
    package let descriptor: Int32

    /// - Throws: when there are too many descriptors.
    package init() throws(SystemCallError) {
        let descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard descriptor >= 0 else { throw SystemCallError(operation: "eventfd", code: errno) }
        self.descriptor = descriptor
    }

    deinit {
        // Whatever it answers, the descriptor is gone.
        _ = close(self.descriptor)
    }

    /// Makes the descriptor readable.
    package borrowing func signal() {
        var one: UInt64 = 1
        // Only a counter near 2^64 would block, and then it is readable.
        // Safety: the kernel reads the one value during the call.
        while unsafe write(self.descriptor, &one, 8) < 0 {
            let code = errno
            precondition(code == EINTR, "write to an eventfd answered \(code)")
        }
    }

    /// Makes the descriptor unreadable.
    package borrowing func reset() {
        var count: UInt64 = 0
        // Safety: the kernel writes the one value during the call.
        while unsafe read(self.descriptor, &count, 8) < 0, errno == EINTR {}
    }
}
#else
/// A pipe that a thread can poll, and that other threads make readable, for systems without eventfd.
package struct WakeUp: ~Copyable, Sendable {
    package let descriptor: Int32
    private let writing: Int32

    /// - Throws: when there are too many descriptors.
    package init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        // Safety: the kernel writes the two descriptors during the call.
        guard unsafe pipe(&ends) == 0 else { throw SystemCallError(operation: "pipe", code: errno) }
        for end in ends where fcntl(end, F_SETFL, O_NONBLOCK) < 0 || fcntl(end, F_SETFD, FD_CLOEXEC) < 0 {
            let code = errno
            for each in ends { _ = close(each) }
            throw SystemCallError(operation: "fcntl", code: code)
        }
        self.descriptor = ends[0]
        self.writing = ends[1]
    }

    deinit {
        // Whatever they answer, the descriptors are gone.
        _ = close(self.descriptor)
        _ = close(self.writing)
    }

    /// Makes the descriptor readable.
    package borrowing func signal() {
        var one: UInt8 = 1
        // A pipe that is full would block, and then it is readable.
        // Safety: the kernel reads the one byte during the call.
        while unsafe write(self.writing, &one, 1) < 0, errno == EINTR {}
    }

    /// Makes the descriptor unreadable.
    package borrowing func reset() {
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            // Safety: the kernel writes at most as many bytes as the array has, during the call.
            let count = unsafe read(self.descriptor, &bytes, bytes.count)
            guard count == bytes.count || (count < 0 && errno == EINTR) else { return }
        }
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ
internal import Glibc

/// A counter of the operating system that a poll can wait on.
///
/// Linux only.
struct WakeUp: ~Copyable, Sendable {
    let descriptor: CInt

    init() throws(ZeroMQError) {
        self.descriptor = try SystemCall.perform("eventfd") { eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC)) }
    }

    deinit {
        // Whatever it answers, the descriptor is gone.
        _ = Glibc.close(self.descriptor)
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CSystemSupport

/// The memory of the whole process.
package enum ProcessMemory {
    /// Gives memory that is free inside the allocator back to the system; with another C library than GNU's nothing.
    ///
    /// libzmq takes and frees the memory of a connection on different threads, and glibc keeps what lies between pieces that
    /// are in use: after thousands of connections came and went, the process holds several times what it needs. It takes
    /// some milliseconds, in which threads that allocate wait: to be called rarely, and never on a thread with sockets.
    ///
    /// - Returns: whether anything was given back.
    package static func giveBack() -> Bool {
        cuecast_malloc_trim() != 0
    }
}

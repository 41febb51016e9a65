// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOPosix
import Synchronization

/// The threads of servers: each serves one at a time, and none ends before the process does.
///
/// The library's server ends by a task of its own, for which nobody can wait, and which has its loop do something at its very end. A loop that
/// had ended by then would complain on standard error and drop it. So a server gives its loop back, and the next one takes it.
enum ServerLoops {
    private static let free = Mutex<[MultiThreadedEventLoopGroup]>([])

    /// A loop on a thread of its own.
    static func take() -> MultiThreadedEventLoopGroup {
        Self.free.withLock { $0.popLast() } ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// The server that took it has ended.
    static func giveBack(_ loop: MultiThreadedEventLoopGroup) {
        Self.free.withLock { $0.append(loop) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOCore
import NIOPosix
import Synchronization
import SystemSupport

/// The threads of servers: each serves one at a time, and none ends before the process does.
///
/// The library's server ends by a task of its own, for which nobody can wait, and which has its loop do something at its very end. A loop that
/// had ended by then would complain on standard error and drop it. So a server gives its loop back, and the next one takes it.
enum ServerLoops {
    private static let free = Mutex<[MultiThreadedEventLoopGroup]>([])

    /// How much they stand back behind the threads of listeners that are connected by ZeroMQ (`man 2 nice`).
    ///
    /// A notice goes to thousands of readers over HTTP, and each costs many times what a listener by ZeroMQ does. Those ask for their
    /// batches in the same moment, and must not wait for that. A quarter of a core stays for this thread where the cores are busy.
    private static let niceness: Int32 = 5

    /// A loop on a thread of its own.
    static func take() -> MultiThreadedEventLoopGroup {
        if let loop = Self.free.withLock({ $0.popLast() }) { return loop }
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop.next().execute { System.lowerPriority(by: Self.niceness) }
        return loop
    }

    /// The server that took it has ended.
    static func giveBack(_ loop: MultiThreadedEventLoopGroup) {
        Self.free.withLock { $0.append(loop) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOCore
import NIOPosix
import Synchronization
import SystemSupport

/// The threads of servers: each serves one server at a time, and none ends before the process does.
///
/// The library's server ends in a task of its own, which cannot be awaited and uses its loop at its very end. If the loop had ended
/// before, it would report an error and drop that work. So a server gives its loop back, and the next server uses it.
enum ServerLoops {
    private static let free = Mutex<[MultiThreadedEventLoopGroup]>([])

    /// The niceness of these threads below those of listeners by ZeroMQ (`man 2 nice`).
    ///
    /// A notice goes to thousands of readers over HTTP, and each costs many times what a listener by ZeroMQ does. Those request
    /// their batches in the same moment, and must not wait for that. If all cores are busy, this thread still has a quarter of one.
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

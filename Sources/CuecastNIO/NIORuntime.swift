// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore
internal import Synchronization

/// The resources that the connections of a process share: one loop on one thread; on Apple's systems a queue of the system's.
///
/// ``shared`` serves most processes: any number of clients cost one thread together. It starts with the first connection and
/// then lives as long as the process. Make one of your own to end its thread with ``shutDown()``. Nothing that could wait runs on
/// the loop: names of hosts are looked up and certificates are read elsewhere.
public final class NIORuntime: Sendable {
    /// The runtime that transports use unless they are given another.
    public static let shared = NIORuntime()

    private struct State {
        var group: (any EventLoopGroup)?
        var isShutDown = false
    }

    private let state = Mutex(State())

    /// A runtime whose thread starts with the first connection.
    public init() {}

    deinit {
        self.state.withLock { $0.group }?.shutdownGracefully { _ in }
    }

    /// The loop, which is made now where it is not yet; `nil`: it is shut down.
    func loop() -> (any EventLoop)? {
        self.state.withLock { state in
            guard !state.isShutDown else { return nil }
            let group = state.group ?? PlatformConnector.makeGroup()
            state.group = group
            return group.next()
        }
    }

    /// Ends the thread.
    ///
    /// Stop the clients first: connections that are still open end now, and new ones are refused.
    public func shutDown() async {
        let group = self.state.withLock { state in
            state.isShutDown = true
            return state.group.take()
        }
        // It fails only where it was shut down before, which only this does.
        try? await group?.shutdownGracefully()
    }
}

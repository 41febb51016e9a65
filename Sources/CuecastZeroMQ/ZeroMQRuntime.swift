// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization
internal import ZeroMQ

/// The resources that the connections of a process share: a libzmq context with its I/O thread, and a thread that polls sockets.
///
/// ``shared`` serves most processes: any number of clients cost two threads together. It starts with the first
/// connection and then lives as long as the process. Make one of your own to end its threads with ``shutDown()``.
public final class ZeroMQRuntime: Sendable {
    /// The most sockets of one context: each connection of a listener takes three, with those that watch it, and
    /// six where it subscribes.
    static let socketsMax = 65_536

    /// The runtime that transports use unless they are given another.
    public static let shared = ZeroMQRuntime()

    /// Used by all connections.
    struct Resources: Sendable {
        let context: Context
        let thread: PollingThread
    }

    private struct State {
        var resources: Resources?
        var isShutDown = false
    }

    private let name: String
    private let state = Mutex(State())

    /// A runtime whose threads start with the first connection.
    ///
    /// - Parameter name: the name of its polling thread; tools show its first 15 bytes.
    public init(name: String = "cuecast") {
        self.name = name
    }

    deinit {
        self.state.withLock { $0.resources }?.thread.requestStop()
    }

    /// The context and the thread, which are made now where they are not yet.
    func resources() throws(ZeroMQError) -> Resources {
        try self.state.withLock { (state) throws(ZeroMQError) in
            guard !state.isShutDown else {
                throw ZeroMQError(operation: "connect", code: .terminated, detail: "the runtime is shut down")
            }
            if let resources = state.resources { return resources }
            let resources = Resources(
                context: try Context(socketsMax: Self.socketsMax),
                thread: try PollingThread(name: self.name)
            )
            state.resources = resources
            return resources
        }
    }

    /// Ends the threads.
    ///
    /// Stop the clients first: connections that are still open are of no use afterwards, and new ones are refused.
    public func shutDown() async {
        let resources = self.state.withLock { state in
            state.isShutDown = true
            return state.resources.take()
        }
        await resources?.thread.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization
internal import SystemSupport

/// Reports what happens to the connections of one socket.
///
/// ```swift
/// let monitor = try socket.startMonitor(.acceptance, threadName: "requests-watch") { event in
///     if case .handshakeSucceeded = event.change { connections.increment() }
/// }
/// …
/// socket.stopMonitor()  // or close the socket
/// await monitor.waitForEnd()
/// ```
///
/// The events are taken out of libzmq as fast as they come and queued there without a limit: libzmq blocks its I/O thread, and
/// with it every connection, while a monitor's queue is full. Handlers should be short all the same.
///
/// Monitoring ends with ``Socket/stopMonitor()`` or when the socket is closed. The last event is always
/// `monitorStopped`; events of the closing itself are not reported.
package final class SocketMonitor: Sendable {
    private let state = Mutex(State())

    private struct State {
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var handle: OSThread.Handle?
    }

    fileprivate init() {}

    deinit {
        self.state.withLock { $0.handle.take() }?.detach()
    }

    /// Waits until the last event was handled, and until the monitor's own thread, if it has one, is gone.
    package func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = self.state.withLock { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        self.state.withLock { $0.handle.take() }?.join()
    }

    /// Resumes the waiters for the end.
    func end() {
        let waiters = self.state.withLock { state in
            defer { state.waiters = [] }
            state.hasEnded = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    fileprivate func setHandle(_ handle: OSThread.Handle) {
        self.state.withLock { $0.handle = handle }
    }
}

/// Tells monitors, and their inner endpoints, apart.
private let monitorNumber = Atomic<UInt64>(0)

extension Socket {
    /// Reports events of this socket's connections to `handler`, on a thread of the monitor's own.
    ///
    /// `top -H` shows that thread by the first 15 bytes of its name.
    ///
    /// - Throws: `tooManyFileDescriptors` or `resourceUnavailable` when a limit on sockets, descriptors or threads is
    ///   reached.
    @discardableResult
    package borrowing func startMonitor(
        _ kinds: SocketEvent.Kinds,
        threadName: String,
        handler: @escaping @Sendable (SocketEvent) -> Void
    ) throws(ZeroMQError) -> SocketMonitor {
        let monitor = SocketMonitor()
        let events = try self.startMonitorSocket(kinds)
        let reader = Mutex<MonitorReader?>(MonitorReader(events, of: nil, for: monitor, handler: handler))
        do throws(SystemCallError) {
            let handle = try OSThread.start(name: threadName) {
                reader.withLock { $0.take() }?.readToEnd()
            }
            monitor.setHandle(handle)
            return monitor
        } catch {
            self.core.stopMonitor()
            throw ZeroMQError(error)
        }
    }

    /// Reports events of this socket's connections to `handler`, on the polling thread.
    ///
    /// Call it on that thread.
    ///
    /// One thread can read the monitors of many sockets. The handler is kept until the monitoring ends.
    ///
    /// - Throws: `tooManyFileDescriptors` when a limit on sockets or descriptors is reached.
    @discardableResult
    package borrowing func startMonitor(
        _ kinds: SocketEvent.Kinds,
        on thread: PollingThread,
        handler: @escaping (SocketEvent) -> Void
    ) throws(ZeroMQError) -> SocketMonitor {
        _ = thread.loop("startMonitor(_:on:handler:)")
        let monitor = SocketMonitor()
        let events = try self.startMonitorSocket(kinds)
        MonitorReader(events, of: self.core, for: monitor, handler: handler).attach(to: thread)
        return monitor
    }

    /// As ``startMonitor(_:on:handler:)``, with a handler that runs isolated to `owner`, an actor of that thread that is
    /// not retained.
    @discardableResult
    package borrowing func startMonitor<Owner: Actor>(
        _ kinds: SocketEvent.Kinds,
        on thread: PollingThread,
        for owner: Owner,
        handler: @escaping @Sendable (isolated Owner, SocketEvent) -> Void
    ) throws(ZeroMQError) -> SocketMonitor {
        try self.startMonitor(kinds, on: thread) { [weak owner] event in
            owner?.assumeIsolated { handler($0, event) }
        }
    }

    /// Ends the monitoring.
    ///
    /// Events that happened before are still reported, then `monitorStopped`. Does nothing when there is no monitor.
    package borrowing func stopMonitor() {
        self.core.checkThread("stopMonitor()")
        self.core.stopMonitor()
    }

    /// Starts the monitoring and returns the socket that its events come from.
    private borrowing func startMonitorSocket(_ kinds: SocketEvent.Kinds) throws(ZeroMQError) -> sending Socket {
        self.core.checkThread("startMonitor(_:)")
        precondition(self.core.monitorNumber == nil, "the socket has a monitor already")
        let number = monitorNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let endpoint = "inproc://monitor-\(number)"
        let events = try Socket(.pair, in: self.core.context)
        // No limit, and before connecting: a full queue would block the I/O thread.
        try events.set(.receiveHighWaterMark, to: 0)
        try self.core.startMonitor(number, endpoint: endpoint, events: kinds.union(.monitorStopped).rawValue)
        // Nothing but a lack of memory can refuse this, and there is no way back: a monitor without a reader blocks.
        do throws(ZeroMQError) {
            try events.connect(endpoint)
        } catch {
            fatalError("the events of a socket monitor cannot be reached: \(error)")
        }
        return events
    }
}

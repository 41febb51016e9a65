// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// A session's way to the gateway: the current connection, and the watch of the device's network.
final class GatewayLink: Sendable {
    private enum Watching {
        case none
        case by(any NetworkWatch)
        case ended
    }

    private struct State {
        var connection: (any ListenerConnection)?
        var watching = Watching.none
    }

    private let transport: any ListenerTransport
    private let state = Mutex(State())

    init(_ transport: any ListenerTransport) {
        self.transport = transport
    }

    deinit {
        self.disconnect()
        self.endWatch()
    }

    /// The current connection.
    var connection: (any ListenerConnection)? { self.state.withLock { $0.connection } }

    /// Makes a connection, which becomes the current one before this returns.
    ///
    /// `receive` is told everything about it, perhaps before.
    func connect(to gateway: GatewayAddress, receive: @escaping @Sendable (ListenerConnectionEvent) -> Void) {
        // Not under the lock: it may tell at once.
        let connection = self.transport.connect(to: gateway, receive: receive)
        self.state.withLock { $0.connection = connection }
    }

    /// Gives up the current connection.
    func disconnect() {
        self.state.withLock { $0.connection.take() }?.close()
    }

    /// Hears of changes of the network from now on, where the transport knows of them.
    func watchNetwork(changed: @escaping @Sendable (_ isAvailable: Bool) -> Void) {
        // Not under the lock: it may tell at once.
        guard let watch = self.transport.watchNetwork(changed: changed) else { return }
        let isLate = self.state.withLock { state in
            if case .ended = state.watching { return true }
            state.watching = .by(watch)
            return false
        }
        if isLate { watch.end() }
    }

    /// Hears of no change of the network any more.
    func endWatch() {
        let last = self.state.withLock { state in
            defer { state.watching = .ended }
            return state.watching
        }
        if case .by(let watch) = last { watch.end() }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import SystemSupport
import ZeroMQ

/// The two sockets of the broadcasters' endpoint: the ROUTER, and the socket at which libzmq asks who may connect.
///
/// They have one owner. An endpoint takes both, and closes them on its thread.
struct BroadcastSockets: ~Copyable {
    /// The ROUTER.
    let requests: Socket
    /// Bound before the other one: libzmq lets every peer in while it has no handler to ask.
    let authentication: Socket
    /// Knows which connections have brought no request.
    let connections: BroadcastConnections
    /// Counts the connections of the ROUTER.
    let monitor: SocketMonitor

    /// Makes both sockets; the ROUTER is not bound yet.
    ///
    /// - Parameters:
    ///   - context: where they live.
    ///   - configuration: checked.
    ///   - keys: the gateway's own; `nil`: nothing is encrypted, and broadcasters are not told apart.
    ///   - budget: how many may connect.
    ///   - common: the parts that every part uses.
    /// - Throws: where there are too many sockets or descriptors, or where libzmq cannot watch the ROUTER.
    init(
        in context: Context,
        _ configuration: GatewayConfiguration,
        keys: CurveKeyPair?,
        budget: ConnectionBudget,
        common: CommonParts
    ) throws {
        let authentication = try AuthenticationSocket.bound(in: context)
        let requests = try Self.makeRouter(
            in: context,
            backlog: budget.backlog,
            handshakeTimeout: configuration.handshakeTimeout,
            keys: keys
        )
        let connections = BroadcastConnections(
            unusedTimeout: configuration.unusedTimeout,
            handshakeTimeout: configuration.handshakeTimeout
        )
        let (metrics, peers) = (common.metrics, common.peers)
        let failed: @Sendable () -> Void = { AuthenticationSocket.handshakeFailed(metrics, peers) }
        self.monitor = try budget.limit.watch(
            requests,
            .broadcast,
            connections: connections,
            handshakeFailed: keys == nil ? nil : failed
        )
        self.connections = connections
        self.authentication = authentication
        self.requests = requests
    }

    /// Makes the ROUTER with the settings that keep it safe; not bound yet.
    ///
    /// `docs/internals/zeromq-settings.md` gives the reason for each.
    ///
    /// - Parameters:
    ///   - context: where it lives.
    ///   - backlog: how many connections wait to be accepted at most.
    ///   - handshakeTimeout: how long a connection may take for its greeting and handshake.
    ///   - keys: the gateway's own; `nil`: connections are not encrypted, and peers need not authenticate.
    /// - Returns: the socket.
    /// - Throws: when there are too many sockets or descriptors.
    private static func makeRouter(
        in context: Context,
        backlog: Int,
        handshakeTimeout: Duration,
        keys: CurveKeyPair?
    ) throws -> sending Socket {
        let socket = try Socket(.router, in: context)
        try socket.set(.linger, to: .seconds(1))
        try socket.set(.backlog, to: Int32(clamping: backlog))
        try socket.set(.handshakeInterval, to: handshakeTimeout)
        // A peer that vanished is gone after 25 s, whether the gateway had sent it something or not: until then no connection with
        // the same routing id is served. Heartbeats would be no quicker way (``SocketOption/heartbeatInterval``).
        try socket.set(.tcpKeepalive, to: true)
        try socket.set(.tcpKeepaliveIdle, to: .seconds(10))
        try socket.set(.tcpKeepaliveInterval, to: .seconds(5))
        try socket.set(.tcpKeepaliveCount, to: 3)
        try socket.set(.tcpRetransmissionTimeout, to: .seconds(25))
        try socket.set(.messageBytesMax, to: Int64(WireLimits.broadcastFrameBytesMax))
        // Broadcasters are few, and some send all their updates before they read an answer.
        try socket.set(.sendHighWaterMark, to: 1_000)
        try socket.set(.receiveHighWaterMark, to: 16)
        try socket.set(.routerMandatory, to: true)
        if let keys {
            try socket.set(.zapDomain, to: AuthenticationSocket.domain)
            try socket.secureAsServer(keys)
        }
        return socket
    }
}

extension Socket {
    /// Binds to an endpoint of the configuration, which may say `localhost`: libzmq binds to numbers and interfaces only.
    borrowing func bind(configured endpoint: String) throws(ZeroMQError) -> String {
        let name = "tcp://localhost:"
        return try self.bind(
            endpoint.hasPrefix(name) ? "tcp://127.0.0.1:" + endpoint.dropFirst(name.count) : endpoint
        )
    }
}

extension ConnectionLimit {
    /// Counts the connections of a socket from now on, and holds up new ones when all are too many.
    ///
    /// - Parameters:
    ///   - socket: the socket, not bound yet.
    ///   - label: its name in metrics.
    ///   - connections: gets each connection's begin and end.
    ///   - handshakeFailed: is called, on the monitor's thread, for each peer that failed before it showed its key;
    ///     `nil`: peers need no keys.
    /// - Returns: the monitor.
    /// - Throws: where libzmq cannot watch the socket.
    func watch(
        _ socket: borrowing Socket,
        _ label: MetricLabel,
        connections: BroadcastConnections,
        handshakeFailed: (@Sendable () -> Void)?
    ) throws -> SocketMonitor {
        var kinds: SocketEvent.Kinds = [.listening, .accepted, .acceptFailed, .disconnected]
        if handshakeFailed != nil { kinds.formUnion([.handshakeFailedNoDetail, .handshakeFailedProtocol]) }
        return try socket.startMonitor(
            kinds,
            threadName: "cuecast-monitor"
        ) { event in
            switch event.change {
            case .listening(let descriptor): self.listening(descriptor, socket: label)
            case .accepted(let descriptor):
                self.accepted(on: label)
                if let peer = System.peer(of: descriptor) { connections.accepted(descriptor, from: peer, at: .now) }
            case .acceptFailed: self.acceptFailed()
            case .disconnected(let descriptor):
                self.ended(on: label)
                connections.ended(descriptor, at: .now)
            case .handshakeFailedNoDetail, .handshakeFailedProtocol: handshakeFailed?()
            case .monitorStopped: self.stopped(socket: label)
            default: break
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import NetworkIO
import ServiceLifecycle
import ZeroMQ

/// The broadcasters' socket, with the settings that keep it safe.
///
/// `docs/internals/zeromq-settings.md` gives the reason for each.
enum GatewaySocket {
    /// Makes the socket with its settings; not bound yet.
    ///
    /// - Parameters:
    ///   - context: where it lives.
    ///   - backlog: how many connections wait to be accepted at most.
    ///   - handshakeTimeout: how long a connection may take for its greeting and handshake.
    ///   - keys: the gateway's own; `nil`: nothing is encrypted, and nobody asked who they are.
    /// - Returns: the socket.
    /// - Throws: when there are too many sockets or descriptors.
    static func makeBroadcast(
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

extension EdgeDoor {
    /// How many connections wait at a door to be accepted: they take no descriptor yet.
    private static let backlog: Int32 = 4_096

    /// Opens doors for listeners: all, or none.
    ///
    /// - Parameters:
    ///   - wanted: where, as the configuration says it (`tcp://HOST:PORT`), and the metric label of its connections.
    ///   - identity: the certificate, where they speak TLS.
    ///   - balancers: who stands before them; `nil`: nobody.
    /// - Returns: the doors, and where they are: a port that was left to the system is filled in.
    /// - Throws: for instance where an address is in use.
    static func open(
        _ wanted: [(configured: String, label: MetricLabel)],
        identity: DoorIdentity?,
        balancers: Balancers?
    ) throws -> [(door: EdgeDoor, endpoint: String)] {
        var doors: [(door: EdgeDoor, endpoint: String)] = []
        do {
            for each in wanted { doors.append(try Self.open(each.configured, label: each.label, identity, balancers)) }
        } catch {
            for each in doors { each.door.close() }
            throw error
        }
        return doors
    }

    private static func open(
        _ configured: String,
        label: MetricLabel,
        _ identity: DoorIdentity?,
        _ balancers: Balancers?
    ) throws -> (door: EdgeDoor, endpoint: String) {
        let address = try NetworkAddress(endpoint: configured, for: .bind)
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try System.listen(
                host: address.host,
                port: address.port,
                backlog: Self.backlog
            )
        } catch {
            throw SystemCallError(operation: "binding \(configured)", code: error.code)
        }
        let host = address.host == "*" ? "0.0.0.0" : address.host == "localhost" ? "127.0.0.1" : address.host
        let written = host.contains(":") ? "[\(host)]" : host
        return (
            EdgeDoor(descriptor: descriptor, label: label, identity: identity, balancers: balancers),
            "tcp://\(written):\(System.port(of: descriptor))"
        )
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
    ///   - connections: is told of each that comes and goes.
    ///   - handshakeFailed: is told, on the monitor's thread, of each peer that did not get so far as to show whose key it has;
    ///     `nil`: nobody asks for keys.
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

/// Holds what the other services use, and closes it after all of them have ended.
struct ResourceService: Service {
    let log: any EventLog
    let ledger: any Ledger
    let threads: [PollingThread]
    let workers: [WorkerThreads]
    let monitors: [SocketMonitor]

    func run() async throws {
        try? await gracefulShutdown()
        await self.log.close()
        await self.ledger.close()
        for thread in self.threads { await thread.stop() }
        for each in self.workers { each.stop() }
        // Their sockets are closed by now. The last one to go waits until what was answered is sent.
        for monitor in self.monitors { await monitor.waitForEnd() }
    }
}

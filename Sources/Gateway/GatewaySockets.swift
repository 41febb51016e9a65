// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import ServiceLifecycle
import ZeroMQ

/// The gateway's three sockets, each with the settings that keep it safe.
///
/// `docs/sockets.md` says why, line by line.
enum GatewaySocket {
    case notices
    case requests
    case broadcast

    /// Makes the socket with its settings; not bound yet.
    ///
    /// - Parameters:
    ///   - context: where it lives.
    ///   - backlog: how many connections wait to be accepted at most.
    /// - Returns: the socket.
    /// - Throws: when there are too many sockets or descriptors.
    func make(in context: Context, backlog: Int) throws -> sending Socket {
        let socket = try Socket(self == .notices ? .xpub : .router, in: context)
        try socket.set(.linger, to: .seconds(1))
        try socket.set(.backlog, to: Int32(clamping: backlog))
        try socket.set(.handshakeInterval, to: .seconds(3))
        try socket.set(.tcpKeepalive, to: true)
        try socket.set(.tcpKeepaliveIdle, to: .seconds(60))
        try socket.set(.tcpKeepaliveInterval, to: .seconds(15))
        try socket.set(.tcpKeepaliveCount, to: 4)
        switch self {
        case .notices:
            try socket.set(.messageBytesMax, to: 4_096)
            try socket.set(.sendHighWaterMark, to: 1_000)
            try socket.set(.xpubNoDrop, to: false)
            try socket.set(.xpubVerbose, to: false)
        case .requests, .broadcast:
            try socket.set(
                .messageBytesMax,
                to: Int64(self == .requests ? WireLimits.requestFrameBytesMax : WireLimits.broadcastFrameBytesMax)
            )
            if self == .requests {
                try socket.set(.sendHighWaterMark, to: 64)
            } else {
                // Broadcasters are few, and some send all their updates before they read an answer.
                try socket.set(.sendHighWaterMark, to: 1_000)
            }
            try socket.set(.receiveHighWaterMark, to: 16)
            try socket.set(.routerMandatory, to: true)
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
    func watch(_ socket: borrowing Socket, _ label: MetricLabel) throws -> SocketMonitor {
        try socket.startMonitor(
            [.listening, .accepted, .acceptFailed, .disconnected],
            threadName: "cuecast-monitor"
        ) { event in
            switch event.change {
            case .listening(let descriptor): self.listening(descriptor, socket: label)
            case .accepted: self.accepted(on: label)
            case .acceptFailed: self.acceptFailed()
            case .disconnected: self.ended(on: label)
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZeroMQ

extension Socket {
    /// Sets what every socket of a client has in common, before it connects.
    ///
    /// A peer that sends a frame of more than `frameBytesMax` is disconnected; `receivedMax` messages wait to be read.
    borrowing func configureClient(frameBytesMax: Int, receivedMax: Int32) throws(ZeroMQError) {
        // Connections are made anew by the client, with jitter of its own and a new proof of its subscriptions: libzmq
        // must not reconnect behind its back.
        try self.set(.reconnectInterval, to: nil)
        try self.set(.linger, to: .zero)
        try self.set(.messageBytesMax, to: Int64(frameBytesMax))
        try self.set(.receiveHighWaterMark, to: receivedMax)
        // Half-open connections, as phones leave them, are found by both sides.
        try self.set(.heartbeatInterval, to: .seconds(20))
        try self.set(.heartbeatTimeToLive, to: .seconds(60))
        try self.set(.heartbeatTimeout, to: .seconds(20))
        try self.set(.handshakeInterval, to: .seconds(10))
        try self.set(.tcpKeepalive, to: true)
        try self.set(.tcpKeepaliveIdle, to: .seconds(60))
        try self.set(.tcpKeepaliveInterval, to: .seconds(15))
        try self.set(.tcpKeepaliveCount, to: 4)
    }
}

extension SocketEvent.Change {
    /// Why there is no connection any more, in a few words; `nil` where this does not end it.
    var lossReason: String? {
        switch self {
        case .disconnected: "the gateway closed the connection"
        case .closed: "the gateway cannot be reached"
        case .closeFailed(let code): "the connection failed: \(code)"
        case .handshakeFailedNoDetail(let code): "the handshake failed: \(code)"
        case .handshakeFailedProtocol(let failure): "the handshake failed: protocol error \(failure)"
        case .handshakeFailedAuthentication(let status): "the gateway refuses the connection: \(status)"
        case .connected, .connectDelayed, .connectRetried, .listening, .bindFailed, .accepted, .acceptFailed,
            .handshakeSucceeded, .monitorStopped, .unknown:
            nil
        }
    }
}

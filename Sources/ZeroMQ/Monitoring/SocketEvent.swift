// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// Something that happened to a connection or listener of a monitored socket.
package struct SocketEvent: Hashable, Sendable {
    /// The change.
    package let change: Change

    /// The endpoint that it happened to.
    ///
    /// For accepted connections the local one.
    package let address: String

    package init(_ change: Change, address: String) {
        self.change = change
        self.address = address
    }

    /// A change, with libzmq's data about it.
    package enum Change: Hashable, Sendable {
        /// A connection was made; the handshake comes next.
        case connected(descriptor: Int32)
        /// A connection attempt is under way.
        case connectDelayed(ZeroMQError.Code)
        /// The next connection attempt comes after the pause.
        case connectRetried(after: Duration)
        case listening(descriptor: Int32)
        case bindFailed(ZeroMQError.Code)
        /// A peer's connection was accepted; the handshake comes next.
        case accepted(descriptor: Int32)
        case acceptFailed(ZeroMQError.Code)
        /// A connection or listener was closed by this side.
        case closed(descriptor: Int32)
        case closeFailed(ZeroMQError.Code)
        /// The connection was lost or the peer closed it.
        case disconnected(descriptor: Int32)
        /// Messages can flow.
        case handshakeSucceeded
        /// The handshake failed; for instance the peer went away during it.
        case handshakeFailedNoDetail(ZeroMQError.Code)
        /// The peer does not speak the protocol, or not as it should.
        case handshakeFailedProtocol(ProtocolFailure)
        /// The ZAP handler refused, with this status: 300, 400 or 500.
        case handshakeFailedAuthentication(status: Int32)
        /// The last event of all.
        case monitorStopped
        /// An event that this module does not know.
        case unknown(event: UInt16, value: Int32)
    }

    /// How a peer broke the protocol, as libzmq numbers it.
    package struct ProtocolFailure: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// A CURVE message that cannot be decrypted: most often a wrong server key.
        package static let cryptographic = Self(rawValue: UInt32(ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC))
        /// The peers are not secured in the same way.
        package static let mechanismMismatch = Self(rawValue: UInt32(ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH))
    }
}

extension SocketEvent.ProtocolFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cryptographic: "cryptographic"
        case .mechanismMismatch: "mechanismMismatch"
        default: "0x" + String(self.rawValue, radix: 16)
        }
    }
}

extension SocketEvent {
    /// The kinds of events that a monitor asks for.
    ///
    /// Each costs work on the I/O thread: ask for those that are needed.
    package struct Kinds: OptionSet, Hashable, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        package static let connected = Kinds(rawValue: ZMQ_EVENT_CONNECTED)
        package static let connectDelayed = Kinds(rawValue: ZMQ_EVENT_CONNECT_DELAYED)
        package static let connectRetried = Kinds(rawValue: ZMQ_EVENT_CONNECT_RETRIED)
        package static let listening = Kinds(rawValue: ZMQ_EVENT_LISTENING)
        package static let bindFailed = Kinds(rawValue: ZMQ_EVENT_BIND_FAILED)
        package static let accepted = Kinds(rawValue: ZMQ_EVENT_ACCEPTED)
        package static let acceptFailed = Kinds(rawValue: ZMQ_EVENT_ACCEPT_FAILED)
        package static let closed = Kinds(rawValue: ZMQ_EVENT_CLOSED)
        package static let closeFailed = Kinds(rawValue: ZMQ_EVENT_CLOSE_FAILED)
        package static let disconnected = Kinds(rawValue: ZMQ_EVENT_DISCONNECTED)
        package static let handshakeSucceeded = Kinds(rawValue: ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
        package static let handshakeFailedNoDetail = Kinds(rawValue: ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)
        package static let handshakeFailedProtocol = Kinds(rawValue: ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
        package static let handshakeFailedAuthentication = Kinds(rawValue: ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)

        /// Every way in which a handshake fails.
        package static let handshakeFailed: Kinds = [
            .handshakeFailedNoDetail, .handshakeFailedProtocol, .handshakeFailedAuthentication,
        ]

        /// The events that tell a client whether it is connected.
        package static let connection: Kinds = [
            .connected, .connectRetried, .handshakeSucceeded, .handshakeFailed, .disconnected, .closed,
        ]

        /// The events that let a server count connections.
        package static let acceptance: Kinds = [
            .accepted, .acceptFailed, .handshakeSucceeded, .handshakeFailed, .disconnected, .closed,
        ]

        /// Always asked for: it is how the reader of the events knows that it is through.
        static let monitorStopped = Kinds(rawValue: ZMQ_EVENT_MONITOR_STOPPED)
    }

    /// The event of a first frame of 6 bytes (a 16-bit number and a 32-bit value in this machine's order) and of a
    /// second frame, the address.
    ///
    /// `nil` for anything else.
    init?(number frame: RawSpan, address: String) {
        guard frame.byteCount == 6 else { return nil }
        let (number, bits) = unsafe frame.withUnsafeBytes { bytes in
            unsafe (
                bytes.loadUnaligned(fromByteOffset: 0, as: UInt16.self),
                bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
            )
        }
        self.init(Change(number: number, bits: bits), address: address)
    }
}

extension SocketEvent.Change {
    fileprivate init(number: UInt16, bits: UInt32) {
        let value = Int32(bitPattern: bits)
        let code = ZeroMQError.Code(rawValue: value)
        self =
            switch Int32(number) {
            case ZMQ_EVENT_CONNECTED: .connected(descriptor: value)
            case ZMQ_EVENT_CONNECT_DELAYED: .connectDelayed(code)
            case ZMQ_EVENT_CONNECT_RETRIED: .connectRetried(after: .milliseconds(value))
            case ZMQ_EVENT_LISTENING: .listening(descriptor: value)
            case ZMQ_EVENT_BIND_FAILED: .bindFailed(code)
            case ZMQ_EVENT_ACCEPTED: .accepted(descriptor: value)
            case ZMQ_EVENT_ACCEPT_FAILED: .acceptFailed(code)
            case ZMQ_EVENT_CLOSED: .closed(descriptor: value)
            case ZMQ_EVENT_CLOSE_FAILED: .closeFailed(code)
            case ZMQ_EVENT_DISCONNECTED: .disconnected(descriptor: value)
            case ZMQ_EVENT_MONITOR_STOPPED: .monitorStopped
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: .handshakeSucceeded
            case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: .handshakeFailedNoDetail(code)
            case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: .handshakeFailedProtocol(.init(rawValue: bits))
            case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: .handshakeFailedAuthentication(status: value)
            default: .unknown(event: number, value: value)
            }
    }
}

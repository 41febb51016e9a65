// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

// Every option that this project uses, by the type of its value.
//
// Options marked "write only" cannot be read back: libzmq answers `invalidArgument`. Those marked "read only" cannot be
// set.
//
// Left out on purpose:
// - `ZMQ_CONFLATE`: keeps only the newest message, and so would drop a cancel or an update behind another notice.
// - `ZMQ_XPUB_MANUAL`, `ZMQ_XPUB_MANUAL_LAST_VALUE`: in 4.3.4 a client that connects, subscribes and drops can put a dead
//   pipe back into the subscription trie (fixed by libzmq pull request 4137).
// - `ZMQ_ROUTER_HANDOVER`: leaks file descriptors (libzmq issue 4407), and lets any peer take over another's routing id.
//   Without it a router ignores a second connection with the routing id of an open one: the service ends such connections.
// - Draft options: Debian's build does not have them.

// MARK: - Queues and limits

extension SocketOption where Value == Int32 {
    /// The most messages queued per peer for sending.
    ///
    /// 0: no limit. Default 1000.
    package static var sendHighWaterMark: Self { .integer(ZMQ_SNDHWM, "ZMQ_SNDHWM", in: 0...Int32.max) }

    /// The most received messages queued per peer.
    ///
    /// 0: no limit. Default 1000.
    package static var receiveHighWaterMark: Self { .integer(ZMQ_RCVHWM, "ZMQ_RCVHWM", in: 0...Int32.max) }

    /// The most connections that wait for being accepted.
    ///
    /// Default 100.
    package static var backlog: Self { .integer(ZMQ_BACKLOG, "ZMQ_BACKLOG", in: 0...Int32.max) }
}

extension SocketOption where Value == Int64 {
    /// The most bytes in one received frame; a peer that sends more is disconnected.
    ///
    /// -1: no limit, the default.
    ///
    /// It bounds subscriptions too.
    package static var messageBytesMax: Self { .integer(ZMQ_MAXMSGSIZE, "ZMQ_MAXMSGSIZE", in: -1...Int64.max) }
}

extension SocketOption where Value == Duration {
    /// How long closing waits until queued messages are sent, in milliseconds.
    ///
    /// Default 0 in our ``Context``.
    ///
    /// Waiting without end is not offered: one stalled peer would hang the shutdown.
    package static var linger: Self { .time(ZMQ_LINGER, "ZMQ_LINGER") }
}

// MARK: - Publishers

extension SocketOption where Value == Bool {
    /// Whether sending to a full subscriber blocks everybody instead of dropping for it.
    ///
    /// Default false. Write only.
    package static var xpubNoDrop: Self { .flag(ZMQ_XPUB_NODROP, "ZMQ_XPUB_NODROP") }

    /// Whether repeated subscriptions are passed on too.
    ///
    /// Default false; true queues without bound. Write only.
    package static var xpubVerbose: Self { .flag(ZMQ_XPUB_VERBOSE, "ZMQ_XPUB_VERBOSE") }

    /// As ``xpubVerbose``, and repeated unsubscriptions too.
    ///
    /// Default false. Write only.
    package static var xpubVerboser: Self { .flag(ZMQ_XPUB_VERBOSER, "ZMQ_XPUB_VERBOSER") }
}

// MARK: - Requests

extension SocketOption where Value == Bool {
    /// Whether a message for an unknown or full peer is refused instead of dropped without a sign.
    ///
    /// Default false. Write only.
    package static var routerMandatory: Self { .flag(ZMQ_ROUTER_MANDATORY, "ZMQ_ROUTER_MANDATORY") }

    /// Whether a `req` socket may ask again without an answer.
    ///
    /// Default false. Write only.
    package static var requestRelaxed: Self { .flag(ZMQ_REQ_RELAXED, "ZMQ_REQ_RELAXED") }

    /// Whether a `req` socket tells answers to earlier requests apart.
    ///
    /// Default false. Write only.
    package static var requestCorrelate: Self { .flag(ZMQ_REQ_CORRELATE, "ZMQ_REQ_CORRELATE") }

    /// Whether an empty message goes to each new router peer.
    ///
    /// Default false. Write only.
    package static var probeRouter: Self { .flag(ZMQ_PROBE_ROUTER, "ZMQ_PROBE_ROUTER") }
}

extension SocketOption where Value == [UInt8] {
    /// The name that this socket has at routers, 1 to 255 bytes, not starting with a zero byte.
    ///
    /// Leave it to the router wherever possible: two peers with one name disturb each other.
    package static var routingID: Self { .routingID(ZMQ_ROUTING_ID, "ZMQ_ROUTING_ID", count: 1...255) }
}

// MARK: - Connections

extension SocketOption where Value == Bool {
    /// Whether messages are queued only for connections that are established.
    ///
    /// Default false.
    package static var immediate: Self { .flag(ZMQ_IMMEDIATE, "ZMQ_IMMEDIATE") }

    /// Whether IPv6 is used beside IPv4.
    ///
    /// Default false.
    package static var ipv6: Self { .flag(ZMQ_IPV6, "ZMQ_IPV6") }
}

extension SocketOption where Value == Duration {
    /// The longest time for a handshake, in milliseconds.
    ///
    /// 0: no limit. Default 30 s.
    package static var handshakeInterval: Self { .time(ZMQ_HANDSHAKE_IVL, "ZMQ_HANDSHAKE_IVL") }

    /// The longest time for a TCP connection to be made, in milliseconds.
    ///
    /// 0: as the operating system has it, the default.
    package static var connectTimeout: Self { .time(ZMQ_CONNECT_TIMEOUT, "ZMQ_CONNECT_TIMEOUT") }

    /// The time between heartbeats, in milliseconds.
    ///
    /// 0: none, the default.
    ///
    /// Never on a socket that listens: 4.3.4 ends the process by an assertion (`stream_engine_base.cpp:331`, `!_io_error`) when a
    /// heartbeat falls due on a connection that its peer has reset while the socket's queue was full.
    package static var heartbeatInterval: Self { .time(ZMQ_HEARTBEAT_IVL, "ZMQ_HEARTBEAT_IVL") }

    /// How long the peer waits for a sign of life before it drops us, in steps of 0.1 s, at most
    /// ``heartbeatTimeToLiveMax``.
    ///
    /// 0: for ever, the default.
    package static var heartbeatTimeToLive: Self {
        .time(ZMQ_HEARTBEAT_TTL, "ZMQ_HEARTBEAT_TTL", limit: Self.heartbeatTimeToLiveMax)
    }

    /// The longest ``heartbeatTimeToLive``: the receiver of a longer one multiplies it in 16 bits, which wraps.
    package static var heartbeatTimeToLiveMax: Duration { .seconds(65) }

    /// How long the peer may leave sent bytes unacknowledged before the connection ends, in milliseconds.
    ///
    /// 0: as the operating system has it (about a quarter of an hour on Linux), the default.
    ///
    /// TCP sends no probes while bytes are unacknowledged, so ``tcpKeepalive`` alone does not find a peer that vanished then.
    package static var tcpRetransmissionTimeout: Self { .time(ZMQ_TCP_MAXRT, "ZMQ_TCP_MAXRT") }

    /// The longest pause that growing pauses between attempts to reconnect reach, in milliseconds.
    ///
    /// 0: they do not grow, the default.
    package static var reconnectIntervalMax: Self { .time(ZMQ_RECONNECT_IVL_MAX, "ZMQ_RECONNECT_IVL_MAX") }
}

extension SocketOption where Value == Duration? {
    /// The pause before an attempt to reconnect, in milliseconds.
    ///
    /// `nil`: no attempt is made. Default 100 ms.
    package static var reconnectInterval: Self { .optionalTime(ZMQ_RECONNECT_IVL, "ZMQ_RECONNECT_IVL") }

    /// How long to wait for a heartbeat's answer, in milliseconds.
    ///
    /// `nil`: the heartbeat interval, the default; it cannot be set back to that.
    package static var heartbeatTimeout: Self {
        .optionalTime(ZMQ_HEARTBEAT_TIMEOUT, "ZMQ_HEARTBEAT_TIMEOUT", canBeUnset: false)
    }

    /// How long a connection is idle before TCP probes it, in seconds.
    ///
    /// `nil`: as the operating system has it.
    package static var tcpKeepaliveIdle: Self {
        .optionalTime(ZMQ_TCP_KEEPALIVE_IDLE, "ZMQ_TCP_KEEPALIVE_IDLE", .seconds)
    }

    /// The time between TCP's probes, in seconds.
    ///
    /// `nil`: as the operating system has it.
    package static var tcpKeepaliveInterval: Self {
        .optionalTime(ZMQ_TCP_KEEPALIVE_INTVL, "ZMQ_TCP_KEEPALIVE_INTVL", .seconds)
    }
}

extension SocketOption where Value == Bool? {
    /// Whether TCP probes idle connections.
    ///
    /// `nil`: as the operating system has it, the default.
    package static var tcpKeepalive: Self { .optionalFlag(ZMQ_TCP_KEEPALIVE, "ZMQ_TCP_KEEPALIVE") }
}

extension SocketOption where Value == Int32? {
    /// The number of unanswered probes that end a connection.
    ///
    /// `nil`: as the operating system has it, the default.
    package static var tcpKeepaliveCount: Self { .optionalCount(ZMQ_TCP_KEEPALIVE_CNT, "ZMQ_TCP_KEEPALIVE_CNT") }
}

// MARK: - Security

extension SocketOption where Value == String {
    /// The domain that connections to this socket are asked for at the ZAP handler, at most 255 bytes.
    ///
    /// Default empty.
    ///
    /// Without a domain the handler is not asked about plain connections at all.
    package static var zapDomain: Self { .text(ZMQ_ZAP_DOMAIN, "ZMQ_ZAP_DOMAIN", bytesMax: 255) }
}

extension SocketOption where Value == Bool {
    /// Whether this socket is the server of CURVE handshakes.
    ///
    /// Default false.
    package static var curveServer: Self { .flag(ZMQ_CURVE_SERVER, "ZMQ_CURVE_SERVER") }
}

extension SocketOption where Value == CurvePublicKey {
    /// This client's public key.
    package static var curvePublicKey: Self { .curveKey(ZMQ_CURVE_PUBLICKEY, "ZMQ_CURVE_PUBLICKEY") }

    /// The public key of the server that this client connects to.
    package static var curveServerKey: Self { .curveKey(ZMQ_CURVE_SERVERKEY, "ZMQ_CURVE_SERVERKEY") }

    private static func curveKey(_ number: CInt, _ name: String) -> Self {
        Self(number, name, bytesMax: CurvePublicKey.byteCount) {
            $0.bytes
        } decode: {
            CurvePublicKey(bytes: $0)
        }
    }
}

extension SocketOption where Value == CurveSecretKey {
    /// This socket's secret key.
    package static var curveSecretKey: Self {
        Self(ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", bytesMax: CurveSecretKey.byteCount) { key in
            key.bytes
        } decode: { bytes in
            CurveSecretKey(bytes: bytes)
        }
    }
}

// MARK: - Read only

extension SocketOption where Value == SecurityMechanism {
    /// How connections of this socket are secured.
    ///
    /// Read only.
    package static var mechanism: Self {
        Self(ZMQ_MECHANISM, "ZMQ_MECHANISM", bytesMax: 4) { _ in
            nil
        } decode: { bytes in
            bytes.first.flatMap { SecurityMechanism(rawValue: CInt($0)) }
        }
    }
}

extension SocketOption where Value == String {
    /// The endpoint that was bound or connected last, in full.
    ///
    /// Read only.
    package static var lastEndpoint: Self { .text(ZMQ_LAST_ENDPOINT, "ZMQ_LAST_ENDPOINT", bytesMax: 1023) }
}

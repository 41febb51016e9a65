// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import ZeroMQ

/// The socket at which libzmq asks whether a peer may connect: a ZAP handler (ZeroMQ RFC 27).
///
/// A peer first shows that it has the secret key of the public key that it names. Then libzmq looks for this socket at one address
/// within the process. The socket must be bound before any socket that asks. If libzmq does not ask it, no peer gains a right: a
/// connection that was not checked carries no key, and each of its requests is refused.
struct AuthenticationSocket: ~Copyable {
    /// The ZAP domain of the broadcasters' socket; without a domain, libzmq asks no handler.
    static let domain = "cuecast-broadcasters"
    /// Where libzmq looks.
    private static let endpoint = "inproc://zeromq.zap.01"
    /// Version, request, domain, address, routing id, mechanism, key.
    private static let framesOfCurve = 7

    private var socket: Socket?
    private var frames = FrameBuffer(framesMax: AuthenticationSocket.framesOfCurve)
    private let metrics: MetricRegistry
    private let peers: PeerLog

    init(_ socket: consuming Socket, metrics: MetricRegistry, peers: PeerLog) {
        self.socket = consume socket
        self.metrics = metrics
        self.peers = peers
    }

    /// Makes and binds the socket; to be called before any other socket of the context.
    static func bound(in context: Context) throws -> sending Socket {
        let socket = try Socket(.rep, in: context)
        try socket.bind(Self.endpoint)
        return socket
    }

    /// Has `onReadable` called on the thread whenever libzmq asks.
    mutating func attach<Owner: Actor>(
        to thread: PollingThread,
        for owner: Owner,
        onReadable: @escaping @Sendable (isolated Owner) -> Void
    ) {
        guard let socket = self.socket.take() else { return }
        thread.attach(socket, for: owner, onReadable: onReadable)
        self.socket = consume socket
    }

    /// Closes it; to be called after the sockets that ask.
    mutating func close() {
        self.socket = nil
    }

    /// Answers the next question.
    ///
    /// The answer carries the key itself and no name: whose it is, and what it may do, is looked up for each request.
    ///
    /// - Parameters:
    ///   - directory: the known broadcasters.
    ///   - now: the gateway's clock.
    /// - Returns: whether there was one.
    mutating func answer(by directory: BroadcasterDirectory, at now: Timestamp) -> Bool {
        do throws(ZeroMQError) {
            guard let outcome = try self.socket?.receive(into: &self.frames), outcome != .nothing else { return false }
            let decision = self.decision(isWhole: outcome == .message, directory, now)
            let request = self.frames.count > 1 ? self.frames.bytes(at: 1) : []
            // 400, never 300: after that libzmq would hold the connection until the handshake's time is over.
            let reply: [[UInt8]] = [
                Array("1.0".utf8), request, Array((decision.key == nil ? "400" : "200").utf8), [],
                Array((decision.key ?? "").utf8), [],
            ]
            for (index, frame) in reply.enumerated() {
                _ = try self.socket?.send(frame, more: index < reply.count - 1)
            }
            self.report(decision)
            return true
        } catch {
            // Without this socket no broadcaster could connect any more, and an operator would not learn why.
            fatalError("the socket that authenticates broadcasters failed: \(error)")
        }
    }

    /// A peer did not get so far that libzmq would ask about it; libzmq does not tell its address.
    static func handshakeFailed(_ metrics: MetricRegistry, _ peers: PeerLog) {
        metrics.count(.broadcastAuthentications, .handshake)
        peers.log(
            .authentication,
            .notice,
            "the handshake of a broadcaster failed: it has no key, or another public key than this gateway's",
            [:]
        )
    }

    private struct Decision {
        /// The key that is let in; `nil`: it is not.
        var key: String?
        var result: MetricLabel
        var reason = ""
        var address = ""
        /// The broadcaster of the key, if it is known.
        var name: String?
    }

    private func decision(isWhole: Bool, _ directory: BroadcasterDirectory, _ now: Timestamp) -> Decision {
        guard isWhole, self.frames.count == Self.framesOfCurve, self.text(at: 0) == "1.0",
            self.text(at: 2) == Self.domain,
            self.text(at: 5) == "CURVE", let key = CurvePublicKey(bytes: self.frames.bytes(at: 6))
        else { return Decision(result: .mechanism, reason: "it is no question about a key") }
        let address = self.text(at: 3)
        switch directory.standing(of: key.z85, at: now) {
        case .known(let principal):
            return Decision(key: key.z85, result: .admitted, address: address, name: principal.name)
        case .expired(let name, let notAfter):
            return Decision(
                result: .expiredKey,
                reason: "its key was accepted until \(notAfter)",
                address: address,
                name: name
            )
        case .unknown:
            // A public key is no secret; it tells an operator which one to list.
            return Decision(result: .unknownKey, reason: "no broadcaster has the key \(key.z85)", address: address)
        }
    }

    private func text(at index: Int) -> String {
        String(decoding: self.frames.bytes(at: index).prefix(255), as: UTF8.self)
    }

    private func report(_ decision: Decision) {
        self.metrics.count(.broadcastAuthentications, decision.result)
        guard decision.key == nil else {
            self.peers.log(
                .authentication,
                .info,
                "a broadcaster connected",
                ["by": "\(decision.name ?? "")", "address": "\(decision.address)"]
            )
            return
        }
        self.peers.log(
            .authentication,
            .notice,
            "a broadcaster was not let in",
            [
                "address": "\(decision.address)", "reason": "\(decision.reason)",
                "by": "\(decision.name ?? "unknown")",
            ]
        )
    }
}

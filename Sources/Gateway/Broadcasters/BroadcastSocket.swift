// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import SystemSupport
import ZeroMQ

/// The ROUTER socket of broadcasters, and what goes wrong on it.
struct BroadcastSocket: ~Copyable {
    /// The result of a receive.
    enum Received {
        case nothing
        /// A message that is not a request; it was counted.
        case refused
        /// A request, and where its answer goes; its bytes are `body`.
        case request(RequestReturn)
    }

    private var socket: Socket?
    private var frames = FrameBuffer(framesMax: FrameBuffer.requestFramesMax)
    private let connections: BroadcastConnections
    private let metrics: MetricRegistry
    private let peers: PeerLog

    init(
        _ socket: consuming Socket,
        connections: BroadcastConnections,
        metrics: MetricRegistry,
        peers: PeerLog
    ) {
        self.socket = consume socket
        self.connections = connections
        self.metrics = metrics
        self.peers = peers
    }

    /// Has `onReadable` called on the thread whenever something has come.
    mutating func attach<Owner: Actor>(
        to thread: PollingThread,
        for owner: Owner,
        onReadable: @escaping @Sendable (isolated Owner) -> Void
    ) {
        guard let socket = self.socket.take() else { return }
        thread.attach(socket, for: owner, onReadable: onReadable)
        self.socket = consume socket
    }

    /// Closes it; what was answered is still sent.
    mutating func close() {
        self.socket = nil
    }

    /// The next message.
    mutating func receive() -> Received {
        do throws(ZeroMQError) {
            let outcome = try self.socket?.receive(into: &self.frames)
            if let descriptor = self.frames.sourceDescriptor { self.connections.brought(descriptor) }
            switch outcome {
            case .nothing, nil: return .nothing
            case .message:
                if let place = self.frames.requestReturn {
                    self.frames.copyBytes(at: self.frames.count - 1, into: &self.body)
                    self.key = self.frames.property("User-Id")
                    self.address = self.frames.property("Peer-Address")
                    return .request(place)
                }
                if self.frames.count == FrameBuffer.requestFramesMax {
                    self.refuse(.tooManyFrames, "it has too many frames")
                } else {
                    self.refuse(.noEnvelope, "it is not an empty frame and one more")
                }
            case .tooManyFrames: self.refuse(.tooManyFrames, "it has too many frames")
            }
            return .refused
        } catch {
            self.peers.log(.sockets, .error, "could not receive requests", ["error": "\(error)"])
            return .nothing
        }
    }

    /// Ends the connections that have brought no request for too long.
    func endUnused() {
        for each in self.connections.takeUnused(at: .now) where System.shutDown(each.descriptor, to: each.peer) {
            self.metrics.count(.connectionsClosed, .unused)
            self.peers.log(
                .authentication,
                each.isLate ? .notice : .debug,
                "a broadcaster's connection was closed: it has brought no request; if it has sent some, another open connection has its ROUTING_ID",
                ["address": "\(each.peer)"]
            )
        }
    }

    private func refuse(_ label: MetricLabel, _ reason: String) {
        self.metrics.count(.framesRefused, label)
        self.peers.log(
            .frames,
            .notice,
            "a message is no request, and has no answer",
            ["socket": "broadcast", "reason": "\(reason)"]
        )
    }

    /// The bytes of the request received last.
    private(set) var body: [UInt8] = []
    /// The public key that the connection of that request has proved; `nil`: none was asked for.
    private(set) var key: String?
    /// The host that the connection of that request comes from; `nil`: libzmq does not tell.
    private(set) var address: String?

    /// Sends a reply without waiting; one that its peer cannot take is dropped and counted.
    func send(_ reply: [UInt8], to place: RequestReturn) {
        do throws(ZeroMQError) {
            switch try self.socket?.sendReply(to: place, reply) {
            case .sent, nil: break
            case .wouldBlock: self.metrics.count(.repliesDropped, .peerSlow)
            case .unreachable: self.metrics.count(.repliesDropped, .peerGone)
            }
        } catch {
            self.peers.log(.sockets, .error, "could not reply", ["error": "\(error)"])
        }
    }
}

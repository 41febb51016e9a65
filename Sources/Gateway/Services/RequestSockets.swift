// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import ZeroMQ

/// The two ROUTER sockets of the request thread, and what goes wrong on them.
struct RequestSockets: ~Copyable {
    /// Who is at the other end.
    enum Side: Sendable {
        case listeners
        case broadcasters

        /// The socket's name in the configuration.
        var socketName: String { self == .listeners ? "requests" : "broadcast" }
    }

    /// What a socket had.
    enum Received {
        case nothing
        /// A message that is not a request; it was counted.
        case refused
        /// A request of this peer; its bytes are `body`.
        case request(RoutingID)
    }

    private var listeners: Socket?
    private var broadcasters: Socket?
    private var frames = FrameBuffer(framesMax: 3)
    private let metrics: MetricRegistry
    private let peers: PeerLog

    init(
        listeners: consuming sending Socket,
        broadcasters: consuming sending Socket,
        metrics: MetricRegistry,
        peers: PeerLog
    ) {
        self.listeners = consume listeners
        self.broadcasters = consume broadcasters
        self.metrics = metrics
        self.peers = peers
    }

    /// Has `onReadable` called on the thread whenever something has come.
    mutating func attach<Owner: Actor>(
        _ side: Side,
        to thread: PollingThread,
        for owner: Owner,
        onReadable: @escaping @Sendable (isolated Owner) -> Void
    ) {
        switch side {
        case .listeners:
            guard let socket = self.listeners.take() else { return }
            thread.attach(socket, for: owner, onReadable: onReadable)
            self.listeners = consume socket
        case .broadcasters:
            guard let socket = self.broadcasters.take() else { return }
            thread.attach(socket, for: owner, onReadable: onReadable)
            self.broadcasters = consume socket
        }
    }

    /// Closes both; what was answered is still sent.
    mutating func close() {
        self.listeners = nil
        self.broadcasters = nil
    }

    /// The next message of a socket.
    mutating func receive(from side: Side) -> Received {
        do throws(ZeroMQError) {
            let outcome: MultipartOutcome?
            switch side {
            case .listeners: outcome = try self.listeners?.receive(into: &self.frames)
            case .broadcasters: outcome = try self.broadcasters?.receive(into: &self.frames)
            }
            switch outcome {
            case .nothing, nil: return .nothing
            case .message where self.frames.isRequest:
                self.frames.copyBytes(at: 2, into: &self.body)
                return .request(self.frames.routingID)
            case .message: self.refuse(.noEnvelope, on: side, "it is not an empty frame and one more")
            case .tooManyFrames: self.refuse(.tooManyFrames, on: side, "it has too many frames")
            }
            return .refused
        } catch {
            self.peers.log(.sockets, .error, "could not receive requests", ["error": "\(error)"])
            return .nothing
        }
    }

    private func refuse(_ label: MetricLabel, on side: Side, _ reason: String) {
        self.metrics.count(.framesRefused, label)
        self.peers.log(
            .frames,
            .notice,
            "a message is no request, and has no answer",
            ["socket": "\(side.socketName)", "reason": "\(reason)"]
        )
    }

    /// The bytes of the request received last.
    private(set) var body: [UInt8] = []

    /// Sends a reply without waiting; one that its peer cannot take is dropped and counted.
    func send(_ reply: ReplyBytes, to peer: RoutingID, by side: Side) {
        do throws(ZeroMQError) {
            let outcome: SendOutcome? =
                try reply.withSpans { (head, tail) throws(ZeroMQError) in
                    switch side {
                    case .listeners: try self.listeners?.sendReply(to: peer, head: head, tail: tail)
                    case .broadcasters: try self.broadcasters?.sendReply(to: peer, head: head, tail: tail)
                    }
                }
            switch outcome {
            case .sent, nil: break
            case .wouldBlock: self.metrics.count(.repliesDropped, .peerSlow)
            case .unreachable: self.metrics.count(.repliesDropped, .peerGone)
            }
        } catch {
            self.peers.log(.sockets, .error, "could not reply", ["error": "\(error)"])
        }
    }
}

extension ReplyBytes {
    /// Lends both parts without copying.
    fileprivate func withSpans<Result, Failure: Error>(
        _ body: (RawSpan, RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safety: the spans are used inside the call only.
        try unsafe body(self.head.span.bytes, self.tail.span.bytes)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import ServiceLifecycle
import ZeroMQ

/// The broadcasters' ROUTER socket, and the socket at which libzmq asks which of them may connect.
///
/// It reads requests, finds the broadcaster that the connection's key belongs to, and brings both to the desk, on whose thread it runs. It
/// decides nothing.
actor BroadcastEndpoint: Service {
    /// How long a pass goes on; the request that reaches it is finished.
    private static let passTimeMax: Duration = .milliseconds(2)
    /// How many messages a pass takes.
    private static let passMessagesMax = 256
    /// How often connections are looked at that bring no request.
    private static let lookInterval: Duration = .seconds(1)

    private let desk: BreakDesk
    private let readiness: ReadinessBoard
    private var socket: BroadcastSocket
    private var authentication: AuthenticationSocket
    /// The broadcasters that may publish; `nil`: broadcasters are not told apart.
    private var directory: BroadcasterDirectory?

    private var tools: BreakDesk.Tools { self.desk.tools }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.desk.tools.thread.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - sockets: bound; closed when the endpoint ends.
    ///   - directory: the broadcasters that may publish; `nil`: they are not told apart.
    ///   - desk: decides; the endpoint runs on its thread.
    ///   - readiness: shows whether the sockets are served.
    init(
        _ sockets: consuming sending BroadcastSockets,
        directory: BroadcasterDirectory?,
        desk: BreakDesk,
        readiness: ReadinessBoard
    ) {
        let (metrics, peers) = (desk.tools.metrics, desk.tools.recorder.peers)
        let connections = sockets.connections
        self.socket = BroadcastSocket(sockets.requests, connections: connections, metrics: metrics, peers: peers)
        self.authentication = AuthenticationSocket(sockets.authentication, metrics: metrics, peers: peers)
        self.directory = directory
        self.desk = desk
        self.readiness = readiness
    }

    isolated deinit {}  // The sockets are closed on their thread.

    /// Takes over the broadcasters that may publish from now on.
    ///
    /// Whether they are told apart stays: the socket is bound with a key, or without one.
    func reload(_ directory: BroadcasterDirectory?) {
        if self.directory != nil, let directory { self.take(directory) }
    }

    func run() async throws {
        let thread = self.tools.thread
        self.authentication.attach(to: thread, for: self) { $0.authenticate() }
        self.socket.attach(to: thread, for: self) { $0.pass() }
        if let directory = self.directory { self.take(directory) }
        let look = thread.tick(every: Self.lookInterval, for: self) { $0.lookAtConnections() }
        self.readiness.set(.sockets, isReady: true)
        try? await gracefulShutdown()
        look.cancel()
        self.socket.close()
        self.authentication.close()
    }

    /// From the next request and the next connection on.
    private func take(_ directory: BroadcasterDirectory) {
        self.directory = directory
        self.tools.metrics.set(.broadcasterKeys, to: directory.keyCount)
    }

    private func lookAtConnections() {
        self.tools.recorder.peers.reportSuppressed()
        self.socket.endUnused()
    }

    /// Answers libzmq who may connect, as often as in a pass.
    private func authenticate() {
        guard let directory = self.directory else { return }
        let end = ContinuousClock.now + Self.passTimeMax
        while self.authentication.answer(by: directory, at: self.tools.clock.now()), ContinuousClock.now < end {}
    }

    /// Takes what the socket has, up to a bound, so that timers and answers do not wait for long.
    private func pass() {
        self.desk.assumeIsolated { $0.beginPass() }
        let end = ContinuousClock.now + Self.passTimeMax
        var messages = 0
        repeat {
            switch self.socket.receive() {
            case .nothing: messages = Self.passMessagesMax
            case .refused: messages += 1
            case .request(let place):
                self.take(self.socket.body, from: place)
                messages += 1
            }
        } while messages < Self.passMessagesMax && ContinuousClock.now < end
        self.desk.assumeIsolated { $0.endPass() }
    }

    private func take(_ frame: [UInt8], from place: RequestReturn) {
        let reading = self.tools.clock.reading()
        let origin = RequestOrigin(.zeromq, address: self.socket.address ?? "")
        let request: BroadcastRequest
        do throws(WireError) {
            request = try BroadcastRequest(decoding: frame)
        } catch {
            let waiting = WaitingBroadcaster(
                requestID: BroadcastRequest.requestID(of: frame),
                kind: .undecodable,
                key: nil,
                origin: origin,
                answer: self.answer(to: place)
            )
            let refusal = RequestEnvelope.refusal(of: error, in: frame, on: .broadcasters)
            return self.desk.assumeIsolated { $0.refuseUnread(refusal, to: waiting) }
        }
        var principal = Result<BroadcastPrincipal, Refusal>.success(.anybody)
        do throws(Refusal) {
            if let directory { principal = .success(try directory.principal(of: self.socket.key, at: reading.now)) }
        } catch {
            principal = .failure(error)
        }
        let trace = self.trace(of: request, by: principal, at: reading.now)
        let incoming = IncomingRequest(
            request: request,
            principal: principal,
            bytes: frame.count,
            origin: origin,
            trace: trace,
            reading: reading,
            answer: trace.map { self.answer(to: place, $0, request.kind) } ?? self.answer(to: place)
        )
        self.desk.assumeIsolated { $0.take(incoming) }
    }

    // MARK: - Answers

    private func answer(to place: RequestReturn) -> @Sendable (BroadcastReply) -> Void {
        { [weak self] reply in self?.assumeIsolated { $0.socket.send(reply.encoded(), to: place) } }
    }

    /// The same for a traced request, with its span.
    private func answer(
        to place: RequestReturn,
        _ trace: RequestTrace,
        _ kind: BroadcastRequest.Kind
    ) -> @Sendable (BroadcastReply) -> Void {
        let (traces, answer) = (self.tools.recorder.traces, self.answer(to: place))
        return { reply in
            traces.keep([TraceSpan(of: trace, kind, reply)])
            answer(reply)
        }
    }

    /// A request without rights is not traced, nor one that changes no break.
    private func trace(
        of request: BroadcastRequest,
        by principal: Result<BroadcastPrincipal, Refusal>,
        at now: Timestamp
    ) -> RequestTrace? {
        let traces = self.tools.recorder.traces
        guard traces.isOn, case .success = principal, !request.traceparent.isEmpty, request.kind.changedStream != nil
        else {
            return nil
        }
        return traces.begin([request.traceparent], from: .broadcasters, at: now)
    }
}

extension TraceSpan {
    /// The span of a request that came by the broadcasters' socket.
    fileprivate init(of trace: RequestTrace, _ kind: BroadcastRequest.Kind, _ reply: BroadcastReply) {
        var fault: String?
        if case .refused(let refusal) = reply.body, refusal.status == .unavailable { fault = refusal.sentence }
        self.init(
            "zeromq request",
            kind: .server,
            trace.context,
            parent: trace.parent,
            from: trace.start,
            to: reply.gatewayTime,
            attributes: Self.attributes(of: kind.metricLabel, kind.key),
            fault: fault
        )
    }

    /// The attributes of a broadcaster's request in spans.
    static func attributes(of kind: MetricLabel, _ key: BreakKey?) -> [(name: String, value: Value)] {
        var attributes: [(name: String, value: Value)] = [("cuecast.kind", .text(kind.text))]
        if let key {
            attributes.append(("cuecast.stream", .text(key.stream.description)))
            attributes.append(("cuecast.break", .text(key.id.description)))
        }
        return attributes
    }
}

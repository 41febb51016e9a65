// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Edge
import GatewayCore
import Logging
import Synchronization
import ZeroMQ

/// Counts the connections of all sockets, and takes no more when the descriptors come to an end.
///
/// At the last descriptor libzmq tries to accept over and over and uses a core for it, files cannot be opened any more, and
/// libdispatch ends the process. So some are kept back (``DescriptorReserve``); the connections of HTTP, which has a limit of
/// its own, are among these and not counted here.
final class ConnectionLimit: ConnectionCounting {
    /// How many broadcasters' connections wait at most to be accepted: as many again may be accepted before they are counted, and
    /// all of them fit into what is kept back.
    static func backlog(limit: Int) -> Int { min(4_096, DescriptorReserve.uncounted(of: limit) / 2) }

    private struct State {
        /// Of each socket.
        var open: [MetricLabel: Int] = [:]
        /// Those of all sockets together.
        var connections = 0
        var ended = 0
        /// The function that shuts (`true`) or opens each socket, and returns whether it has that state now.
        var gates: [MetricLabel: @Sendable (Bool) -> Bool] = [:]
        var isFull = false
        /// How many connections were open when it became full: fewer than may be, where the system had no descriptor.
        var fullAt = 0
    }

    /// The most connections of all sockets together.
    let connectionsMax: Int
    /// The most listeners that hear notices over HTTP, which have connections of their own.
    private let httpListenersMax: Int
    private let state = Mutex(State())
    private let metrics: MetricRegistry
    private let readiness: ReadinessBoard
    private let logger: Logger

    init(
        connectionsMax: Int,
        httpListenersMax: Int = 0,
        metrics: MetricRegistry,
        readiness: ReadinessBoard,
        logger: Logger
    ) {
        self.connectionsMax = max(1, connectionsMax)
        self.httpListenersMax = httpListenersMax
        self.metrics = metrics
        self.readiness = readiness
        self.logger = logger
    }

    /// The most sessions (`listeners.max`) for the number that is configured; 0 follows from the descriptors.
    func listenersMax(_ configured: Int) -> Int {
        DescriptorReserve.listenersMax(configured, connections: self.connectionsMax + self.httpListenersMax)
    }

    /// Says how many descriptors there are, and how many listeners follow from that; warns where too many listeners are configured.
    ///
    /// - Parameters:
    ///   - configured: `listeners.max`; 0: it follows from the descriptors.
    ///   - descriptors: the limit on open files.
    func compare(withListenersMax configured: Int, descriptors: Int) {
        self.logger.info(
            configured > 0 ? "descriptors" : "descriptors: listeners.max follows from the limit on open files",
            metadata: [
                "limit": "\(descriptors)", "connectionsMax": "\(self.connectionsMax)",
                "listeners.max": "\(self.listenersMax(configured))",
            ]
        )
        // A listener may have two connections: one for notices, one for requests.
        let (needed, overflows) = configured.multipliedReportingOverflow(by: 2)
        guard overflows || needed > self.connectionsMax else { return }
        self.logger.warning(
            "the limit on open files leaves \(self.connectionsMax) connections: fewer than two for each of \(configured) listeners (listeners.max); raise it (ulimit -n) or lower listeners.max"
        )
    }

    /// A socket of libzmq listens, with this descriptor.
    func listening(_ descriptor: Int32, socket: MetricLabel) {
        guard let gate = AcceptGate(listening: descriptor) else { return }
        self.add(socket) { gate.set(isShut: $0) }
    }

    /// Adds an endpoint of the edge that listens; `accept` starts or stops accepting its connections.
    func opened(_ endpoint: MetricLabel, accept: @escaping @Sendable (Bool) -> Void) {
        self.add(endpoint) {
            accept(!$0)
            return true
        }
    }

    private func add(_ socket: MetricLabel, gate: @escaping @Sendable (Bool) -> Bool) {
        self.state.withLock { state in
            state.gates[socket] = gate
            if state.isFull { _ = gate(true) }
        }
    }

    /// A socket is about to be closed.
    func stopped(socket: MetricLabel) {
        self.state.withLock { $0.gates[socket] = nil }
    }

    /// How many connections are open on all sockets, and how many have ended.
    var counts: (open: Int, ended: Int) { self.state.withLock { ($0.connections, $0.ended) } }

    /// How many connections are open on some of the sockets.
    func openCount(on sockets: [MetricLabel]) -> Int {
        self.state.withLock { state in Set(sockets).reduce(0) { $0 + state.open[$1, default: 0] } }
    }

    /// A connection was accepted.
    ///
    /// - Returns: whether there is room for another one.
    @discardableResult
    func accepted(on socket: MetricLabel) -> Bool { self.add(1, socket) }

    /// Takes a place for a connection that another server accepts, and that goes on as one of these.
    ///
    /// - Returns: `nil` where there is no room.
    func takePlace(on socket: MetricLabel) -> ConnectionPlace? {
        let isTaken = self.state.withLock { state in
            guard !state.isFull, state.connections < self.connectionsMax else { return false }
            self.change(&state, by: 1, socket)
            return true
        }
        guard isTaken else {
            self.metrics.count(.limitsHit, .limit(.connectionsMax))
            return nil
        }
        return ConnectionPlace(on: socket, of: self)
    }

    /// A connection has ended.
    func ended(on socket: MetricLabel) {
        self.add(-1, socket)
        self.metrics.count(.connectionsEnded, socket)
    }

    /// - Returns: whether there is room for another one.
    @discardableResult
    private func add(_ change: Int, _ socket: MetricLabel) -> Bool {
        self.state.withLock { state in
            self.change(&state, by: change, socket)
            return !state.isFull
        }
    }

    private func change(_ state: inout State, by change: Int, _ socket: MetricLabel) {
        state.connections += change
        state.open[socket, default: 0] += change
        if change < 0 { state.ended -= change }
        self.metrics.set(.connections, socket, to: state.open[socket] ?? 0)
        if state.connections >= self.connectionsMax, !state.isFull {
            self.fill(&state)
        } else if state.isFull, state.connections < Self.reopening(after: state.fullAt) {
            self.reopen(&state)
        }
    }

    /// The system had no descriptor for a connection, whatever was counted.
    func acceptFailed() {
        self.state.withLock { state in
            if !state.isFull { self.fill(&state) }
        }
    }

    /// Takes connections again that the system had no descriptor for: what took them may be gone, and that is counted nowhere.
    ///
    /// To be called now and then.
    func tryAgain() {
        self.state.withLock { state in
            if state.isFull, state.fullAt < self.connectionsMax, state.connections < self.connectionsMax {
                self.reopen(&state)
            }
        }
    }

    /// A little below what was open then, so that one that comes and goes does not open and shut the gates all the time.
    private static func reopening(after fullAt: Int) -> Int { fullAt - fullAt / 64 }

    private func reopen(_ state: inout State) {
        state.isFull = false
        for gate in state.gates.values { _ = gate(false) }
        self.readiness.clear(.connections)
        self.logger.notice("there is room for connections again", metadata: ["open": "\(state.connections)"])
    }

    private func fill(_ state: inout State) {
        state.isFull = true
        state.fullAt = state.connections
        let isShut = state.gates.values.map { $0(true) }.allSatisfy { $0 }
        self.metrics.count(.limitsHit, .limit(.connectionsMax))
        let sentence =
            "\(state.connections) connections are open and descriptors come to an end: no more are accepted until some have ended. Raise the limit on open files (ulimit -n)."
        self.readiness.raise(.connections, sentence)
        self.logger.error(
            "no more connections are accepted",
            metadata: [
                "open": "\(state.connections)", "connectionsMax": "\(self.connectionsMax)",
                "held up": "\(isShut)",
            ]
        )
    }
}

/// A place among the connections of all sockets, until the last reference is released.
final class ConnectionPlace: Sendable {
    private let socket: MetricLabel
    private let limit: ConnectionLimit

    fileprivate init(on socket: MetricLabel, of limit: ConnectionLimit) {
        self.socket = socket
        self.limit = limit
    }

    deinit { self.limit.ended(on: self.socket) }
}

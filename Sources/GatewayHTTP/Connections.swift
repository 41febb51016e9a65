// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import HummingbirdCore
import NIOCore
import Synchronization

/// The open connections of a server; closes those that the book gives up.
final class Connections: Sendable {
    private struct State {
        var book: ConnectionBook<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]

        mutating func take(_ victims: [ObjectIdentifier]) -> [any Channel] {
            victims.compactMap { self.channels.removeValue(forKey: $0) }
        }
    }

    private let state: Mutex<State>
    private let metrics: MetricRegistry

    init(connectionsMax: Int, answerBytesMax: Int, metrics: MetricRegistry) {
        self.state = Mutex(
            State(book: ConnectionBook(connectionsMax: connectionsMax, answerBytesMax: answerBytesMax))
        )
        self.metrics = metrics
    }

    func opened(_ channel: any Channel) {
        self.close(.limit(.httpConnectionsMax)) { state in
            let id = ObjectIdentifier(channel)
            state.channels[id] = channel
            return state.book.opened(id)
        }
        self.metrics.set(.connections, .http, to: self.state.withLock { $0.book.count })
    }

    func began(_ channel: any Channel) {
        self.state.withLock { $0.book.began(ObjectIdentifier(channel)) }
    }

    func answering(_ channel: any Channel, bytes: Int) {
        self.close(.limit(.httpAnswerBytesMax)) { $0.book.answering(ObjectIdentifier(channel), bytes: bytes) }
    }

    func sent(_ channel: any Channel, bytes: Int) {
        self.state.withLock { $0.book.sent(ObjectIdentifier(channel), bytes: bytes) }
    }

    func answered(_ channel: any Channel, bytes: Int) {
        self.close(.limit(.httpConnectionsMax)) { $0.book.answered(ObjectIdentifier(channel), bytes: bytes) }
    }

    func closed(_ channel: any Channel) {
        let count = self.state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.channels[id] = nil
            state.book.closed(id)
            return state.book.count
        }
        self.metrics.set(.connections, .http, to: count)
        self.metrics.count(.connectionsEnded, .http)
    }

    /// An exchange ends before its answer does.
    func cut(_ reason: MetricLabel) {
        self.metrics.count(.httpExchangesCut, reason)
    }

    /// Whether a further connection is accepted.
    func mayOpen() -> Bool {
        let may = self.state.withLock { $0.book.mayOpen() }
        if !may { self.metrics.count(.limitsHit, .limit(.httpConnectionsMax)) }
        return may
    }

    /// Closes what the book gives up, outside the lock: a channel that closes tells its handlers at once.
    private func close(_ limit: MetricLabel, _ change: (inout State) -> [ObjectIdentifier]) {
        for channel in self.state.withLock({ state in state.take(change(&state)) }) {
            self.metrics.count(.limitsHit, limit)
            Self.end(channel)
        }
    }

    /// Ends a connection without waiting for anything: with TLS its peer would have a moment to say goodbye, and would take a place
    /// for as long.
    private static func end(_ channel: any Channel) {
        guard channel.eventLoop.inEventLoop else { return channel.eventLoop.execute { Self.end(channel) } }
        guard let context = try? channel.pipeline.syncOperations.context(handlerType: TLSDetectionHandler.self) else {
            return channel.close(promise: nil)
        }
        context.close(promise: nil)
    }
}

/// Asks the book before a connection is accepted.
struct AcceptedConnections: AvailableConnectionsDelegate {
    let connections: Connections

    func connectionOpened() {}
    func connectionClosed() {}
    func isAcceptingNewConnections() -> Bool { self.connections.mayOpen() }
}

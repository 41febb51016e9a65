// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// The recent reports by tracking URLs, so that a repeated call changes nothing.
///
/// What ends an ad is pending while it is told, and known once it is durable; what was refused leaves nothing behind.
///
/// It spares the log repeats, and the metrics: what is counted once, whatever is forgotten here, the ledger decides. The oldest goes first.
package final class TrackingMemory: Sendable {
    /// The report of a tracking URL, by any delivery.
    package struct Key: Hashable, Sendable {
        let session: SessionID
        let breakNumber: BreakNumber
        let ordinal: UInt8
        let kind: TrackingKind

        package init(_ token: TrackingToken) {
            self.session = token.delivery.session
            self.breakNumber = token.delivery.breakNumber
            self.ordinal = token.ordinal
            self.kind = token.kind
        }
    }

    private struct State {
        /// The reports that are being recorded, and the requests that wait for them: at most as many as there are requests.
        var pending: [Key: [CheckedContinuation<Void, Never>]] = [:]
        /// The durable reports, and their times.
        var known: [Key: Timestamp] = [:]
        /// In the order in which they came; the next one takes the place at `next` once all places are taken.
        var order: [Key] = []
        var next = 0
    }

    /// The most that is remembered.
    package static let trackingsRememberedMax = LimitName.trackingsRememberedMax.value
    /// Forgetting something younger than this means that the limit is reached.
    private static let young: Duration = .seconds(60)

    private let most: Int
    private let metrics: MetricRegistry
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: so many are remembered.
    ///   - metrics: counts the limit.
    package init(most: Int = TrackingMemory.trackingsRememberedMax, metrics: MetricRegistry) {
        self.most = most
        self.metrics = metrics
    }

    /// Remembers what only measures, unless it is known.
    ///
    /// - Parameters:
    ///   - key: the outcome to tell.
    ///   - now: the gateway's clock.
    /// - Returns: whether it is told for the first time.
    package func note(_ key: Key, at now: Timestamp) -> Bool {
        let (isNew, isYoung) = self.state.withLock { state in
            guard state.known[key] == nil else { return (false, false) }
            return (true, self.keep(key, at: now, in: &state))
        }
        if isYoung { self.metrics.count(.limitsHit, .limit(.trackingsRememberedMax)) }
        return isNew
    }

    /// Begins to tell what is to be recorded; while another tells the same, waits for what becomes of that.
    ///
    /// - Parameter key: the outcome to tell.
    /// - Returns: whether it is to be told now, and `finish` to be called then; otherwise it is durable already.
    package func begin(_ key: Key) async -> Bool {
        while true {
            switch self.state.withLock({ Self.turn(of: key, in: &$0) }) {
            case .telling: return true
            case .durable: return false
            case .waiting: break
            }
            await withCheckedContinuation { continuation in
                let isOver = self.state.withLock { state in
                    guard state.pending[key] != nil else { return true }
                    state.pending[key]?.append(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        }
    }

    /// It is told, or it is not: then the next who tells it is the first.
    ///
    /// - Parameters:
    ///   - key: the key that `begin` admitted.
    ///   - isDurable: whether it is recorded.
    ///   - now: the gateway's clock.
    package func finish(_ key: Key, isDurable: Bool, at now: Timestamp) {
        let (waiting, isYoung) = self.state.withLock { state in
            let waiting = state.pending.removeValue(forKey: key) ?? []
            guard isDurable, state.known[key] == nil else { return (waiting, false) }
            return (waiting, self.keep(key, at: now, in: &state))
        }
        for each in waiting { each.resume() }
        if isYoung { self.metrics.count(.limitsHit, .limit(.trackingsRememberedMax)) }
    }

    private enum Turn {
        case telling
        case durable
        case waiting
    }

    private static func turn(of key: Key, in state: inout State) -> Turn {
        if state.known[key] != nil { return .durable }
        guard state.pending[key] == nil else { return .waiting }
        state.pending[key] = []
        return .telling
    }

    /// Remembers a key that is not known, in the place of the oldest once all are taken.
    ///
    /// - Returns: whether the oldest was young.
    private func keep(_ key: Key, at now: Timestamp, in state: inout State) -> Bool {
        state.known[key] = now
        guard state.order.count == self.most else {
            state.order.append(key)
            return false
        }
        let oldest = state.known.removeValue(forKey: state.order[state.next])
        state.order[state.next] = key
        state.next = (state.next + 1) % self.most
        return oldest.map { now < $0 + Self.young } ?? false
    }
}

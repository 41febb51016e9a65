// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// What tracking URLs told lately, so that calling one again says the same again.
///
/// It spares the log repeats, and the metrics: what is counted once, whatever is forgotten here, the ledger decides. The oldest goes first.
package final class TrackingMemory: Sendable {
    /// What a tracking URL tells, by whichever delivery.
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
        var known: [Key: Timestamp] = [:]
        /// In the order in which they came; the next one takes the place at `next` once all places are taken.
        var order: [Key] = []
        var next = 0
    }

    /// The most that is remembered.
    package static let trackingsRememberedMax = 65_536
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

    /// Remembers what is told, unless it is known.
    ///
    /// - Parameters:
    ///   - key: what.
    ///   - now: the gateway's clock.
    /// - Returns: when it was told first, and whether that is now.
    package func note(_ key: Key, at now: Timestamp) -> (first: Timestamp, isNew: Bool) {
        let (first, isNew, isYoung) = self.state.withLock { state in
            if let first = state.known[key] { return (first, false, false) }
            guard state.order.count == self.most else {
                state.known[key] = now
                state.order.append(key)
                return (now, true, false)
            }
            let isYoung =
                state.known.removeValue(forKey: state.order[state.next]).map { now < $0 + Self.young } ?? false
            state.known[key] = now
            state.order[state.next] = key
            state.next = (state.next + 1) % self.most
            return (now, true, isYoung)
        }
        if isYoung { self.metrics.count(.limitsHit, .limit(.trackingsRememberedMax)) }
        return (first, isNew)
    }

    /// It did not come to be recorded: when it is told again, that is the first time.
    package func forget(_ key: Key) { self.state.withLock { $0.known[key] = nil } }
}

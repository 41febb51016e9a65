// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayDocuments
import Synchronization

/// The kind of reader of a streamed answer: each kind has its own limit, so that one cannot lock out the other.
package enum StreamKind: Hashable, Sendable, CaseIterable {
    /// Operators' programs: outcomes.
    case operators
    /// Those who watch events.
    case viewers
    /// Listeners, for as long as they listen, or until a loop of the edge has their connections.
    case listeners
}

/// The number of streamed answers at present.
final class HTTPStreams: Sendable {
    /// One of them, from before its head is sent until the last reference is released.
    ///
    /// An answer whose head cannot be sent is never written: so its end is when the last reference goes.
    final class Slot: Sendable {
        private let kind: StreamKind
        private let streams: HTTPStreams

        fileprivate init(_ kind: StreamKind, of streams: HTTPStreams) {
            self.kind = kind
            self.streams = streams
        }

        deinit { self.streams.ended(self.kind) }
    }

    private let configuration: GatewayHTTPConfiguration
    private let metrics: MetricRegistry
    private let counts = Mutex<[StreamKind: Int]>([:])

    init(_ configuration: GatewayHTTPConfiguration, metrics: MetricRegistry) {
        self.configuration = configuration
        self.metrics = metrics
    }

    /// Takes a place.
    ///
    /// - Throws: `LIMIT_REACHED` where there is none.
    func take(_ kind: StreamKind) throws(Problem) -> Slot {
        let (maximum, name, key): (Int, LimitName, String) =
            switch kind {
            case .operators: (self.configuration.streamsMax, .httpStreamsMax, "streamsMax")
            case .viewers: (self.configuration.eventReadersMax, .httpEventReadersMax, "httpEventReadersMax")
            case .listeners:
                self.configuration.handsListenersOver
                    ? (self.configuration.listenersMax, .httpHandOversMax, "httpHandOversMax")
                    : (self.configuration.listenersMax, .httpListenersMax, "http.listenersMax")
            }
        let isTaken = self.counts.withLock { counts in
            guard counts[kind, default: 0] < maximum else { return false }
            counts[kind, default: 0] += 1
            return true
        }
        guard isTaken else {
            self.metrics.count(.limitsHit, .limit(name))
            throw Problem(.reason(.limitReached), "The limit \(key) is \(maximum) and is reached.")
        }
        return Slot(kind, of: self)
    }

    /// How many there are of a kind.
    func count(_ kind: StreamKind) -> Int { self.counts.withLock { $0[kind, default: 0] } }

    private func ended(_ kind: StreamKind) {
        self.counts.withLock { $0[kind, default: 0] -= 1 }
    }
}

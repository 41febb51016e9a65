// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayDocuments

/// The listeners and rates of the gateway in the last hour, six hours and day, in memory of a fixed size.
///
/// It is given the counters in equal intervals. Each span keeps samples of its own, the longer ones coarser ones.
package struct GatewayHistory: Hashable, Sendable {
    /// A time that is kept.
    package enum Span: String, CaseIterable, Sendable {
        case hour = "1h"
        case sixHours = "6h"
        case day = "24h"

        /// How much time one sample stands for.
        package var step: Duration {
            switch self {
            case .hour: GatewayHistory.interval
            case .sixHours: .seconds(60)
            case .day: .seconds(240)
            }
        }
    }

    /// How often the counters are looked at.
    package static let interval: Duration = .seconds(10)
    /// The samples of each span.
    package static let samplesMax = 360

    /// The counters at one moment.
    package struct Reading: Hashable, Sendable {
        /// The gateway's clock.
        package var at: Timestamp
        /// A clock that is never set.
        package var elapsed: Duration
        package var listeners = 0
        /// Since the start of the gateway, in the order of `HistoryDocument.Sample`.
        package var notices = 0
        package var batches = 0
        package var played = 0
        package var ignored = 0
        package var failed = 0

        package init(at: Timestamp, elapsed: Duration) {
            self.at = at
            self.elapsed = elapsed
        }
    }

    private struct Series: Hashable, Sendable {
        let span: Span
        /// The beginning of the sample that is being made.
        var first: Reading?
        /// The most listeners since then.
        var listenersMax = 0
        var samples: [HistoryDocument.Sample] = []

        mutating func take(_ reading: Reading) {
            guard let first = self.first else {
                self.first = reading
                self.listenersMax = reading.listeners
                return
            }
            self.listenersMax = max(self.listenersMax, reading.listeners)
            // Readings come a little late, never early: half an interval decides to which sample one belongs.
            guard reading.elapsed - first.elapsed >= self.span.step - GatewayHistory.interval / 2 else { return }
            self.samples.append(HistoryDocument.Sample(from: first, to: reading, listenersMax: self.listenersMax))
            if self.samples.count > GatewayHistory.samplesMax { self.samples.removeFirst() }
            self.first = reading
            self.listenersMax = reading.listeners
        }
    }

    private var series = Span.allCases.map { Series(span: $0) }

    package init() {}

    /// Takes the counters of now.
    package mutating func take(_ reading: Reading) {
        for place in self.series.indices { self.series[place].take(reading) }
    }

    /// The samples of a span, the oldest first.
    package func samples(of span: Span) -> [HistoryDocument.Sample] {
        self.series.first { $0.span == span }?.samples ?? []
    }
}

extension HistoryDocument.Sample {
    /// The rates between two readings, per second.
    fileprivate init(from first: GatewayHistory.Reading, to last: GatewayHistory.Reading, listenersMax: Int) {
        let seconds = max((last.elapsed - first.elapsed).inSeconds, 0.001)
        func rate(_ count: KeyPath<GatewayHistory.Reading, Int>) -> Double {
            // Two digits behind the point say enough. A ledger that is counted anew begins again: then nothing is known.
            (max(0, Double(last[keyPath: count] - first[keyPath: count])) / seconds * 100).rounded() / 100
        }
        self.init(
            at: last.at.description,
            listeners: listenersMax,
            notices: rate(\.notices),
            batches: rate(\.batches),
            played: rate(\.played),
            ignored: rate(\.ignored),
            failed: rate(\.failed)
        )
    }
}

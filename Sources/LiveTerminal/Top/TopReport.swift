// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import GatewayDocuments

/// The output without a screen: a line for people, or a document for programs.
package struct TopReport {
    private let gateway: GatewayEventDocument
    private let state: TopState

    /// `nil`: not everything is here yet.
    package init?(_ state: TopState) {
        guard state.isComplete, let gateway = state.gateway else { return nil }
        self.gateway = gateway
        self.state = state
    }

    /// One line.
    package var line: String {
        let gateway = self.gateway
        let p99 = gateway.latency.noticeMicroseconds.map { "\(TopText.milliseconds($0.p99)) ms" } ?? "-"
        var parts = [
            gateway.at, "listeners \(gateway.listeners)", "streams \(gateway.streams)",
            "running \(gateway.breaksRunning)", "notices/s \(TopText.rate(gateway.rates.notices))",
            "batches/s \(TopText.rate(gateway.rates.batches))",
            "acknowledgements/s \(TopText.rate(gateway.rates.acknowledgements))", "notice p99 \(p99)",
            "ledger behind \(gateway.ledgerLagRecords)",
        ]
        if gateway.draining { parts.append("draining") }
        if !gateway.alarms.isEmpty { parts.append("alarms \(gateway.alarms.map(\.alarm).joined(separator: ","))") }
        return parts.joined(separator: "  ")
    }

    /// The same, and the streams that are shown, as JSON; members that have no value are `null`.
    package struct Document: Encodable {
        package struct Stream: Encodable {
            let stream: String
            let listeners: Int
            @OrNull var running: StreamListDocument.Break?
            @OrNull var next: StreamListDocument.Break?
            /// The break that the funnel is of.
            @OrNull var `break`: String?
            @OrNull var funnel: CountsEventDocument.Funnel?
        }

        let gateway: GatewayEventDocument
        let streams: [Stream]
        /// How many there are that fit.
        let streamsTotal: Int
    }

    package var document: Document {
        Document(
            gateway: self.gateway,
            streams: self.state.shown.map { line in
                let counts = self.state.counts[line.stream]
                return Document.Stream(
                    stream: line.stream,
                    listeners: counts?.listeners ?? line.listeners,
                    running: line.running,
                    next: line.next,
                    break: counts?.break,
                    funnel: counts?.funnel
                )
            },
            streamsTotal: self.state.list?.total ?? self.gateway.streams
        )
    }
}

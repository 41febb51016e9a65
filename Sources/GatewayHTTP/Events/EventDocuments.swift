// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// How the gateway is, as JSON: the event `gateway` of `GET /v1/events`, once a second.
///
/// Members that have no value are `null`; the names are a contract.
package struct GatewayEventDocument: Codable, Hashable, Sendable {
    /// The events in a second.
    package struct Rates: Codable, Hashable, Sendable {
        package var notices: Double
        package var batches: Double
        package var acknowledgements: Double
    }

    /// Half of all times were at most `p50`, and 99 of 100 at most `p99`.
    package struct Percentiles: Codable, Hashable, Sendable {
        package var p50: Int
        package var p99: Int
    }

    /// Times of the last minute; `null`: nothing was measured in it.
    package struct Latency: Codable, Hashable, Sendable {
        /// From a publish to its notice.
        @OrNull package var noticeMicroseconds: Percentiles?
        /// The time of an append to the event log: an acknowledgement waits for it.
        @OrNull package var appendMicroseconds: Percentiles?
        /// By how much announcements are late.
        @OrNull package var scheduleLateMicroseconds: Percentiles?
    }

    package struct Disk: Codable, Hashable, Sendable {
        /// The bytes that the stores use.
        package var bytes: Int
        package var free: Int
    }

    package struct Descriptors: Codable, Hashable, Sendable {
        package var open: Int
        package var max: Int
    }

    /// A limit that was hit since the gateway started.
    package struct Limit: Codable, Hashable, Sendable {
        package var limit: String
        /// How often.
        package var refused: Int
        /// Where it is, where that is known here.
        @OrNull package var max: Int?
    }

    /// The gateway's clock.
    package var at: String
    package var listeners: Int
    /// Of `listeners`: who hears notices over HTTP.
    package var listenersHTTP: Int
    /// Those with a listener or a break.
    package var streams: Int
    package var breaksRunning: Int
    package var rates: Rates
    package var latency: Latency
    package var ledgerLagRecords: Int
    /// For how long the ledger has been behind, as far as the gateway has watched it.
    package var ledgerLagSeconds: Double
    package var disk: Disk
    package var memoryBytes: Int
    package var descriptors: Descriptors
    package var limits: [Limit]
    package var alarms: [RaisedAlarm]
    package var draining: Bool
    package var version: String
}

/// The number of a stream's listeners, and the outcomes of a break, as JSON: the event `counts` of `GET /v1/events`.
package struct CountsEventDocument: Codable, Hashable, Sendable {
    /// As the report's totals, which count each ad; `notified` and `asked` count sessions.
    package struct Funnel: Codable, Hashable, Sendable {
        /// How many listened when it was announced; `null`: it was not, or before this start of the gateway.
        @OrNull package var notified: Int?
        /// How many were handed a batch or acknowledged something.
        package var asked: Int64
        package var delivered: Int64
        package var played: Int64
        package var ignored: Int64
        package var failed: Int64
        package var unknown: Int64
    }

    package var stream: String
    package var listeners: Int
    /// The break that runs, the next where listeners know of it, else the one that was over last, else the next.
    @OrNull package var `break`: String?
    /// The break's outcomes.
    @OrNull package var funnel: Funnel?
}

/// A ticket for events, as JSON: what `POST /v1/event-tickets` answers.
package struct EventTicketDocument: Codable, Hashable, Sendable {
    package var ticket: String
    /// By the gateway's clock.
    package var expires: String
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// How the gateway is, as JSON: the event `gateway` of `GET /v1/events`, once a second.
///
/// Fields that have no value are `null`; the names are a contract.
package struct GatewayEventDocument: GatewayDocument {
    /// The rates per second.
    package struct Rates: GatewayDocument {
        package var notices: Double
        package var batches: Double
        package var acknowledgements: Double

        package init(notices: Double, batches: Double, acknowledgements: Double) {
            self.notices = notices
            self.batches = batches
            self.acknowledgements = acknowledgements
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("notices", .number), DocumentField("batches", .number),
            DocumentField("acknowledgements", .number),
        ])
    }

    /// Times in microseconds.
    package struct Percentiles: GatewayDocument {
        package var p50: Int
        package var p99: Int

        package init(p50: Int, p99: Int) {
            self.p50 = p50
            self.p99 = p99
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("p50", .count, "Half of all times were at most this."),
            DocumentField("p99", .count, "99 of 100 times were at most this."),
        ])
    }

    /// Times of the last minute; `null`: nothing was measured in it.
    package struct Latency: GatewayDocument {
        @OrNull package var noticeMicroseconds: Percentiles?
        @OrNull package var appendMicroseconds: Percentiles?
        @OrNull package var scheduleLateMicroseconds: Percentiles?

        package init(
            noticeMicroseconds: Percentiles?,
            appendMicroseconds: Percentiles?,
            scheduleLateMicroseconds: Percentiles?
        ) {
            self.noticeMicroseconds = noticeMicroseconds
            self.appendMicroseconds = appendMicroseconds
            self.scheduleLateMicroseconds = scheduleLateMicroseconds
        }

        package static let documentDescription = DocumentDescription(fields: [
            .orNull("noticeMicroseconds", .document(Percentiles.self), "From a publish to its notice."),
            .orNull(
                "appendMicroseconds",
                .document(Percentiles.self),
                "The time of an append to the event log: an acknowledgement waits for it."
            ),
            .orNull("scheduleLateMicroseconds", .document(Percentiles.self), "By how much announcements are late."),
        ])
    }

    package struct Disk: GatewayDocument {
        package var bytes: Int
        package var free: Int

        package init(bytes: Int, free: Int) {
            self.bytes = bytes
            self.free = free
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("bytes", .count, "The size of the stores."), DocumentField("free", .count),
        ])
    }

    package struct Descriptors: GatewayDocument {
        package var open: Int
        package var max: Int

        package init(open: Int, max: Int) {
            self.open = open
            self.max = max
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("open", .count), DocumentField("max", .count),
        ])
    }

    /// A limit that was hit since the gateway started.
    package struct Limit: GatewayDocument {
        package var limit: String
        package var refused: Int
        @OrNull package var max: Int?

        package init(_ limit: LimitName, refused: Int, max: Int?) {
            self.limit = limit.rawValue
            self.refused = refused
            self.max = max
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("limit", .oneOf(LimitName.allCases.map(\.rawValue))),
            DocumentField("refused", .count, "How often."),
            .orNull("max", .count, "Where it is, where that is known here."),
        ])
    }

    package var at: String
    package var listeners: Int
    package var listenersHere: Int
    package var listenersHTTP: Int
    package var gateways: Int
    package var streams: Int
    package var breaksRunning: Int
    package var rates: Rates
    package var latency: Latency
    package var ledgerLagRecords: Int
    package var ledgerLagSeconds: Double
    package var disk: Disk
    package var memoryBytes: Int
    package var descriptors: Descriptors
    package var limits: [Limit]
    package var alarms: [RaisedAlarm]
    package var draining: Bool
    package var version: String

    package init(
        at: Timestamp,
        listeners: Int,
        listenersHere: Int,
        listenersHTTP: Int,
        gateways: Int,
        streams: Int,
        breaksRunning: Int,
        rates: Rates,
        latency: Latency,
        ledgerLagRecords: Int,
        ledgerLagSeconds: Double,
        disk: Disk,
        memoryBytes: Int,
        descriptors: Descriptors,
        limits: [Limit],
        alarms: [RaisedAlarm],
        draining: Bool,
        version: String
    ) {
        self.at = at.description
        self.listeners = listeners
        self.listenersHere = listenersHere
        self.listenersHTTP = listenersHTTP
        self.gateways = gateways
        self.streams = streams
        self.breaksRunning = breaksRunning
        self.rates = rates
        self.latency = latency
        self.ledgerLagRecords = ledgerLagRecords
        self.ledgerLagSeconds = ledgerLagSeconds
        self.disk = disk
        self.memoryBytes = memoryBytes
        self.descriptors = descriptors
        self.limits = limits
        self.alarms = alarms
        self.draining = draining
        self.version = version
    }

    package static let documentDescription = DocumentDescription(
        name: "GatewayEvent",
        fields: [
            DocumentField("at", .instant, "The gateway's clock."),
            DocumentField("listeners", .count, "At all gateways of the log."),
            DocumentField("listenersHere", .count, "Of `listeners`: how many listen at this gateway."),
            DocumentField("listenersHTTP", .count, "Of `listenersHere`: how many hear notices over HTTP."),
            DocumentField("gateways", .count, "Of the log, with this one; 0: it has the log for itself."),
            DocumentField("streams", .count, "Those with a listener or a break."),
            DocumentField("breaksRunning", .count),
            DocumentField("rates", .document(Rates.self)),
            DocumentField("latency", .document(Latency.self)),
            DocumentField("ledgerLagRecords", .count),
            DocumentField(
                "ledgerLagSeconds",
                .number,
                "For how long the ledger has been behind, measured only while events are read."
            ),
            DocumentField("disk", .document(Disk.self)),
            DocumentField("memoryBytes", .count),
            DocumentField("descriptors", .document(Descriptors.self)),
            DocumentField("limits", .array(of: .document(Limit.self)), "Those hit since the gateway started."),
            DocumentField("alarms", .array(of: .document(RaisedAlarm.self))),
            DocumentField("draining", .flag),
            DocumentField("version", .text),
        ]
    )
}

/// The number of a stream's listeners and the outcomes of a break, as JSON: the event `counts` of `GET /v1/events`.
package struct CountsEventDocument: GatewayDocument {
    /// As the report's totals, which count each ad; `notified` and `asked` count sessions.
    package struct Funnel: GatewayDocument {
        @OrNull package var notified: Int?
        package var asked: Int64
        package var delivered: Int64
        package var played: Int64
        package var ignored: Int64
        package var failed: Int64
        package var unknown: Int64

        package init(
            notified: Int?,
            asked: Int64,
            delivered: Int64,
            played: Int64,
            ignored: Int64,
            failed: Int64,
            unknown: Int64
        ) {
            self.notified = notified
            self.asked = asked
            self.delivered = delivered
            self.played = played
            self.ignored = ignored
            self.failed = failed
            self.unknown = unknown
        }

        package static let documentDescription = DocumentDescription(fields: [
            .orNull(
                "notified",
                .count,
                "How many listened when it was announced; null: it was not, or before this start of the gateway."
            ),
            DocumentField("asked", .count, "How many were handed a batch or acknowledged something."),
            DocumentField("delivered", .count),
            DocumentField("played", .count),
            DocumentField("ignored", .count),
            DocumentField("failed", .count),
            DocumentField("unknown", .count),
        ])
    }

    package var stream: String
    package var listeners: Int
    @OrNull package var `break`: String?
    @OrNull package var funnel: Funnel?

    package static let documentDescription = DocumentDescription(
        name: "CountsEvent",
        fields: [
            DocumentField("stream", .stream),
            DocumentField("listeners", .count),
            .orNull(
                "break",
                .breakID,
                "The break that runs, the next where listeners know of it, else the one that was over last, else the next."
            ),
            .orNull("funnel", .document(Funnel.self), "The outcomes of the break."),
        ]
    )
}

/// A ticket for events, as JSON: what `POST /v1/event-tickets` answers.
package struct EventTicketDocument: GatewayDocument {
    package var ticket: String
    package var expires: String

    package init(ticket: String, expires: String) {
        self.ticket = ticket
        self.expires = expires
    }

    package static let documentDescription = DocumentDescription(
        name: "EventTicket",
        fields: [
            DocumentField("ticket", .text, "The ticket for `readEvents`; it must not be logged."),
            DocumentField("expires", .instant, "Until when it must be used, by the gateway's clock."),
        ]
    )
}

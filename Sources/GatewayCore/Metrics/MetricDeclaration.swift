// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// What a metric is.
struct MetricDeclaration: Sendable {
    let kind: Metric.Kind
    let help: String
    /// The name of its label; `nil`: it has none.
    let label: String?
    /// The values of its label that are shown from the start, as 0.
    ///
    /// A counter that appears with its first event has no rate then, and an alert on it stays silent. Lanes are missing:
    /// they are shown when their offsets are known.
    let labelsShownAtFirst: [MetricLabel]
    /// Whether a gauge is kept in microseconds and shown in seconds.
    var isInMicroseconds = false

    static func counter(_ help: String, by label: String? = nil, _ shown: [MetricLabel] = []) -> Self {
        Self(kind: .counter, help: help, label: label, labelsShownAtFirst: shown)
    }

    static func gauge(_ help: String, by label: String? = nil, _ shown: [MetricLabel] = []) -> Self {
        Self(kind: .gauge, help: help, label: label, labelsShownAtFirst: shown)
    }

    static func gaugeInMicroseconds(_ help: String) -> Self {
        var gauge = Self.gauge(help)
        gauge.isInMicroseconds = true
        return gauge
    }

    static func histogram(_ help: String) -> Self {
        Self(kind: .histogram, help: help, label: nil, labelsShownAtFirst: [])
    }
}

extension Metric {
    /// The one place where it is declared: its kind, its help, its label, and the label's values that are shown at first.
    var declaration: MetricDeclaration {
        switch self {
        case .listenerRequests:
            .counter(
                "Requests of listeners, by kind.",
                by: "kind",
                [.join, .batch, .acknowledge, .time, .leave, .undecodable]
            )
        case .broadcastRequests:
            .counter(
                "Requests of broadcasters, by kind.",
                by: "kind",
                [
                    .publish, .punch, .update, .postpone, .end, .cancel, .list, .signal, .putList, .removeList, .lists,
                    .undecodable,
                ]
            )
        case .broadcastAuthentications:
            .counter(
                "Connections of broadcasters that showed a key, or did not, by what became of them.",
                by: "result",
                [.admitted, .unknownKey, .expiredKey, .mechanism, .handshake]
            )
        case .joinTokens:
            .counter(
                "Tokens of joins that were checked, by what became of them.",
                by: "result",
                [
                    .granted, .malformed, .unknownKey, .revokedKey, .wrongAlgorithm, .wrongSignature, .wrongIssuer,
                    .wrongAudience, .expired, .notYetValid,
                ]
            )
        case .httpAuthorizations:
            .counter(
                "Requests over HTTP that needed a right, or came by a wrong name, by what became of them.",
                by: "result",
                [
                    .granted, .noToken, .malformed, .unknownKey, .revokedKey, .wrongAlgorithm, .wrongSignature,
                    .wrongIssuer, .wrongAudience, .expired, .notYetValid, .scope, .host, .origin, .ticket,
                ]
            )
        case .broadcasterKeys: .gauge("Public keys of broadcasters that the gateway knows.")
        case .refusals:
            .counter(
                "Requests that were refused, by status.",
                by: "status",
                StatusCode.allCases.filter { $0 != .ok }.map(MetricLabel.status)
            )
        case .auditRecords: .counter("Lines of the audit, by what became of them.", by: "result", [.kept, .lost])
        case .traces:
            .counter(
                "Requests that came with a trace while tracing was on, by what became of that.",
                by: "result",
                [.traced, .notSampled, .leftOut, .overLimit, .invalid]
            )
        case .spans: .counter("Spans for the trace file, by what became of them.", by: "result", [.kept, .lost])
        case .spansWaiting: .gauge("Spans that wait for the trace file.")
        case .joins:
            .counter(
                "Joins, by what the listener had missed.",
                by: "result",
                [.current, .recovered, .snapshot, .ahead]
            )
        case .batches: .counter("Batches handed out.")
        case .deliveredAdvertisements: .counter("Advertisements of batches that are recorded as delivered.")
        case .acknowledgedOutcomes: .counter("Outcomes confirmed as durable (repeats included).")
        case .repeatedOutcomes: .counter("Outcomes that memory knew: confirmed without being logged again.")
        case .trackings:
            .counter(
                "Tracking URLs of the gateway that were called, by what they tell; the same one again is not counted.",
                by: "kind",
                TrackingKind.allCases.map(\.metricLabel)
            )
        case .trackingsRefused:
            .counter(
                "Calls of tracking URLs that no gateway made, or not for this, by what is wrong.",
                by: "reason",
                [.malformed, .unknownKey, .revokedKey, .forged, .otherBreak]
            )
        case .acknowledgementGroups: .counter("Groups of acknowledgements and deliveries appended to the event log.")
        case .countedOutcomes:
            .counter(
                "Outcomes that the ledger counted as the first of their session, by kind.",
                by: "outcome",
                [.played, .ignored, .failed]
            )
        case .noticesSent: .counter("Notices published (head notices and ticks not counted).")
        case .notifiedListeners: .counter("Sessions that listened to a stream when one of its breaks was announced.")
        case .headsSent: .counter("Head notices published.")
        case .repliesDropped:
            .counter("Replies that could not be sent, by reason.", by: "reason", [.peerGone, .peerSlow])
        case .framesRefused:
            .counter(
                "Messages on a socket that are not requests, by reason.",
                by: "reason",
                [.noEnvelope, .tooManyFrames, .notSubscription, .unknownTopic, .protectedTopic]
            )
        case .limitsHit:
            .counter("How often each named limit was reached.", by: "limit", LimitName.allCases.map(MetricLabel.limit))
        case .logFailures: .counter("Appends that the event log failed.")
        case .ledgerFailures: .counter("Times that the ledger failed to apply records.")
        case .breakEntries:
            .counter(
                "Entries of the lane of breaks, by what became of them.",
                by: "result",
                [.changed, .unchanged, .refused]
            )
        case .listeners: .gauge("Sessions with a live lease.")
        case .connections:
            .gauge("Open connections, by socket.", by: "socket", [.notices, .requests, .broadcast, .http])
        case .connectionsEnded:
            .counter("Connections that ended, by socket.", by: "socket", [.notices, .requests, .broadcast, .http])
        case .connectionsClosed:
            .counter(
                "Connections of listeners that the gateway closed, by reason.",
                by: "reason",
                [
                    .handshake, .unused, .stalled, .slow, .violation, .encryption, .encrypted, .proxy, .expired,
                    .limit(.framesPerMessageMax), .limit(.subscriptionsPerConnectionMax),
                    .limit(.connectionsPerAddressMax), .limit(.bytesWaitingMax),
                ]
            )
        case .bytesWaiting: .gauge("Bytes that wait until listeners' connections take them.")
        case .ringBytes: .gauge("Bytes of notices that wait, once for all connections that hear their stream.")
        case .pushedConnections: .gauge("Connections that have notices pushed beside their answers.")
        case .httpListeners: .gauge("Listeners that hear their stream's notices over HTTP now.")
        case .httpListenersEnded:
            .counter(
                "Listeners whose notices over HTTP came to an end, by reason.",
                by: "reason",
                NoticeReaderEnd.allCases.map(\.metricLabel)
            )
        case .httpExchangesCut:
            .counter(
                "Exchanges over HTTP that the gateway ended before their answers were sent, by reason.",
                by: "reason",
                [.late, .stalled]
            )
        case .encryptionHandshakes:
            .counter(
                "Handshakes of TLS with listeners, by what became of them, and what ended a session after its handshake.",
                by: "result",
                [
                    .done, .plaintext, .version, .cipher, .alert, .tooLong, .renegotiation, .keyUpdates, .violation,
                    .late, .gone, .refused,
                ]
            )
        case .encryptedConnections: .gauge("Open connections of listeners that are encrypted by the gateway.")
        case .certificateExpiry:
            .gauge(
                "Until when a certificate is valid, by whom it is shown to, in seconds since 1970; 0: there is none.",
                by: "socket",
                [.listeners, .http]
            )
        case .httpHandshakes:
            .counter(
                "Handshakes of TLS over HTTP's port, by what became of them.",
                by: "result",
                [.done, .plaintext, .failed, .gone]
            )
        case .proxyHeaders:
            .counter(
                "Connections that a balancer passed on, by what became of what it says about them.",
                by: "result",
                [
                    .client, .balancer, .untrusted, .noSignature, .version, .tooLong, .family, .malformed, .checksum,
                    .unencrypted, .late, .gone, .refused,
                ]
            )
        case .memoryReturns:
            .counter("Times that memory of ended connections, and of the stores' caches, was given back to the system.")
        case .storeCacheBytes: .gauge("What the stores hold in memory only to be faster.")
        case .subscribedStreams: .gauge("Streams that at least one connection subscribes to.")
        case .streams: .gauge("Streams on the board.")
        case .boardBytes:
            .gauge("What the streams and breaks on the board come to in memory, as its limit counts them.")
        case .logOffset: .gauge("The offset of the newest record, by lane.", by: "lane")
        case .ledgerOffset: .gauge("The offset up to which the ledger counts, by lane.", by: "lane")
        case .ledgerLag: .gauge("Records that the ledger is behind, by lane.", by: "lane")
        case .ledgerCopies: .counter("Copies of the ledger, by what became of them.", by: "result", [.made, .failed])
        case .ledgerCopyTime: .gauge("When the newest checked copy of the ledger was made, in seconds since 1970.")
        case .ledgerCopyBytes: .gauge("The size of the newest checked copy of the ledger.")
        case .ledgerCopySeconds: .histogram("From beginning a copy of the ledger until it is checked, in seconds.")
        case .ledgerRecoveries: .counter("Times that the ledger was lost or damaged and counted anew.")
        case .ledgerGaps: .gauge("Stretches of records that were lost before the ledger counted them.")
        case .acknowledgementsWaiting: .gauge("Acknowledgements that wait for the event log.")
        case .logLinesSuppressed:
            .counter(
                "Lines that were left out of the log because there were too many of their kind, or because nobody took them.",
                by: "kind",
                [.changes, .refusals, .authentication, .unreadable, .frames, .sockets, .http, .unread]
            )
        case .alarm: .gauge("1 while an alarm is raised, by alarm.", by: "alarm", Alarm.allCases.map(MetricLabel.alarm))
        case .ready:
            .gauge(
                "1 while a part works that requests need, by part; the gateway is ready when all do.",
                by: "part",
                [.log, .board, .sockets]
            )
        case .startTime: .gauge("When the gateway started, by its clock, in seconds since 1970.")
        case .logBytes: .gauge("The bytes of the event log's file, with what is on its way into it.")
        case .logUsedBytes: .gauge("What records and snapshots take in the event log.")
        case .logUsedBytesMax: .gauge("What they may take before new work is refused (log.bytesMax).")
        case .ledgerBytes: .gauge("The bytes of the ledger's file, with what is on its way into it.")
        case .diskFreeBytes: .gauge("The bytes that are free for the gateway where its data directory is.")
        case .openDescriptors: .gauge("Open file descriptors.")
        case .descriptorsMax: .gauge("The most file descriptors that the process may have.")
        case .residentMemory: .gauge("The memory that the process has at present.")
        case .clockDifferenceSeconds:
            .gaugeInMicroseconds("How far the wall clock is ahead of the gateway's clock, in seconds.")
        case .appendSeconds: .histogram("From handing a group to the event log until it is durable, in seconds.")
        case .noticeSeconds: .histogram("From receiving a publication until its notice is sent, in seconds.")
        case .scheduleLateSeconds: .histogram("How late an announcement was recorded after it fell due, in seconds.")
        }
    }
}

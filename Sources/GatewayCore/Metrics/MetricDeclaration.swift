// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The declaration of a metric.
struct MetricDeclaration: Sendable {
    let kind: Metric.Kind
    /// The meaning of the metric and of each value of its label, in Markdown.
    let meaning: String
    /// The name of its label; `nil`: it has none.
    let label: String?
    /// The values of its label that are shown from the start, as 0.
    ///
    /// A counter that appears with its first event has no rate then, and an alert on it stays silent. Lanes are missing:
    /// they are shown when their offsets are known.
    let labelsShownAtFirst: [MetricLabel]
    /// Whether a gauge is kept in microseconds and shown in seconds.
    var isInMicroseconds = false
    /// The name of its second label; `nil`: it has one at most.
    var secondLabel: String?

    static func counter(_ meaning: String, by label: String? = nil, _ shown: [MetricLabel] = []) -> Self {
        Self(kind: .counter, meaning: meaning, label: label, labelsShownAtFirst: shown)
    }

    static func counter(
        _ meaning: String,
        by label: String,
        and secondLabel: String,
        _ shown: [MetricLabel]
    ) -> Self {
        var counter = Self.counter(meaning, by: label, shown)
        counter.secondLabel = secondLabel
        return counter
    }

    static func gauge(_ meaning: String, by label: String? = nil, _ shown: [MetricLabel] = []) -> Self {
        Self(kind: .gauge, meaning: meaning, label: label, labelsShownAtFirst: shown)
    }

    static func gaugeInMicroseconds(_ meaning: String, by label: String? = nil) -> Self {
        var gauge = Self.gauge(meaning, by: label)
        gauge.isInMicroseconds = true
        return gauge
    }

    static func histogram(_ meaning: String) -> Self {
        Self(kind: .histogram, meaning: meaning, label: nil, labelsShownAtFirst: [])
    }
}

extension Metric {
    /// The one place where it is declared: its kind, its meaning, its label, and the label's values that are shown at first.
    var declaration: MetricDeclaration {
        switch self {
        case .listenerRequests:
            .counter(
                "requests of listeners",
                by: "kind",
                [.join, .batch, .acknowledge, .time, .leave, .undecodable]
            )
        case .broadcastRequests:
            .counter(
                "requests of broadcasters",
                by: "kind",
                [
                    .publish, .punch, .update, .postpone, .end, .cancel, .list, .signal, .putList, .removeList, .lists,
                    .watchReport, .undecodable,
                ]
            )
        case .signals:
            .counter(
                "signals of broadcasters: those that changed a break, those that changed nothing, and those that were refused",
                by: "result",
                [.changed, .unchanged, .refused]
            )
        case .sourceSignals:
            .counter(
                "signals by source: `changed` a break, `unchanged`, `refused`; what watchers of the source saw and did not send: `ignored`, `unusable`; sources beyond `signalSourcesMax` count as `(other)`",
                by: "source",
                and: "result",
                [.changed, .unchanged, .refused, .ignored, .unusable].map { .source(MetricLabel.otherSources, $0) }
            )
        case .oddSignals:
            .counter(
                "signals without their other half: `out_without_in` (the break lasted until its safety limit), `in_without_out`, `second_out` (while a break ran, or at a time that a break has)",
                by: "kind",
                [.outWithoutIn, .inWithoutOut, .secondOut]
            )
        case .broadcastAuthentications:
            .counter(
                "connections of broadcasters if keys are required: `admitted`, `unknown_key`, `expired_key`, `mechanism`, `handshake` ([Refused broadcasters](../operations/broadcaster-keys.md#refused-broadcasters))",
                by: "result",
                [.admitted, .unknownKey, .expiredKey, .mechanism, .handshake]
            )
        case .joinTokens:
            .counter(
                "checked tokens of joins: `granted`, or the reason of the refusal as for HTTP",
                by: "result",
                [
                    .granted, .malformed, .unknownKey, .revokedKey, .wrongAlgorithm, .wrongSignature, .wrongIssuer,
                    .wrongAudience, .expired, .notYetValid,
                ]
            )
        case .httpAuthorizations:
            .counter(
                "requests over HTTP that needed a token, or used a wrong name: `granted`; `no_token`, `malformed`, `unknown_key`, `revoked_key`, `wrong_algorithm`, `wrong_signature`, `wrong_issuer`, `wrong_audience`, `expired`, `not_yet_valid`; `scope`; `host`, `origin`; `ticket` (for events: used, expired or invalid) ([Tokens](../operations/tokens.md#refusals))",
                by: "result",
                [
                    .granted, .noToken, .malformed, .unknownKey, .revokedKey, .wrongAlgorithm, .wrongSignature,
                    .wrongIssuer, .wrongAudience, .expired, .notYetValid, .scope, .host, .origin, .ticket,
                ]
            )
        case .broadcasterKeys: .gauge("public keys in the file of broadcasters")
        case .refusals:
            .counter(
                "refused requests",
                by: "status",
                StatusCode.allCases.filter { $0 != .ok }.map(MetricLabel.status)
            )
        case .auditRecords:
            .counter(
                "lines of the [audit](../operations/audit.md): `kept`; `lost`: there was no room for them",
                by: "result",
                [.kept, .lost]
            )
        case .traces:
            .counter(
                "requests with a `traceparent` while tracing is on: `traced`; `not_sampled` by the caller; `left_out` by `tracing.ratio`; `over_limit`: `tracing.tracesPerSecondMax`; `invalid` ([Traces](../operations/traces.md))",
                by: "result",
                [.traced, .notSampled, .leftOut, .overLimit, .invalid]
            )
        case .spans:
            .counter(
                "spans for the trace file: `kept`; `lost`: there was no room for them, or the file could not be written",
                by: "result",
                [.kept, .lost]
            )
        case .spansWaiting: .gauge("spans that wait for the trace file")
        case .joins:
            .counter(
                "joins by what the player had missed: `current` (nothing), `recovered`, `snapshot`; `ahead`: the player knew more than the gateway, and got a snapshot",
                by: "result",
                [.current, .recovered, .snapshot, .ahead]
            )
        case .batches: .counter("batches handed out")
        case .deliveredAdvertisements:
            .counter(
                "advertisements of batches that are recorded as delivered: once for each session and break, and again if it gets a larger batch"
            )
        case .acknowledgedOutcomes: .counter("outcomes confirmed as durable, repeats included")
        case .repeatedOutcomes: .counter("repeated outcomes answered from memory, without another record")
        case .trackings:
            .counter(
                "called tracking URLs of the gateway by their event; repeats are not counted ([players](../players/hls-and-vast.md#tracking-urls))",
                by: "kind",
                TrackingKind.allCases.map(\.metricLabel)
            )
        case .trackingsRefused:
            .counter(
                "refused tracking URLs: `malformed`, `forged` (wrong code), `unknown_key`, `revoked_key`, `other_break` (made for another break)",
                by: "reason",
                [.malformed, .unknownKey, .revokedKey, .forged, .otherBreak]
            )
        case .acknowledgementGroups: .counter("groups of acknowledgements and deliveries appended to the log")
        case .countedOutcomes:
            .counter(
                "outcomes that the ledger counted: the first of their session, each once; counted again after the loss of the ledger",
                by: "outcome",
                [.played, .ignored, .failed]
            )
        case .noticesSent:
            .counter("notices, without head notices and ticks; each once, however many threads serve listeners")
        case .notifiedListeners: .counter("sessions that listened to a stream when one of its breaks was announced")
        case .headsSent: .counter("head notices, of each thread that has subscribers of the stream")
        case .repliesDropped:
            .counter(
                "replies to peers that disconnected (`peer_gone`), or to broadcasters that did not read (`peer_slow`)",
                by: "reason",
                [.peerGone, .peerSlow]
            )
        case .framesRefused:
            .counter(
                "messages that are not requests (`no_envelope`, `too_many_frames`) or not subscriptions (`not_a_subscription`); subscriptions to an invalid topic (`unknown_topic`), or to a stream that requires a token (`protected_topic`)",
                by: "reason",
                [.noEnvelope, .tooManyFrames, .notSubscription, .unknownTopic, .protectedTopic]
            )
        case .limitsHit:
            .counter(
                "how often each [limit](limits.md) was reached",
                by: "limit",
                LimitName.allCases.map(MetricLabel.limit)
            )
        case .logFailures: .counter("failed appends to the log")
        case .ledgerFailures: .counter("how often the ledger failed to apply records")
        case .breakEntries:
            .counter(
                "entries in the lane of breaks",
                by: "result",
                [.changed, .unchanged, .refused]
            )
        case .listeners: .gauge("sessions with a live lease")
        case .connections:
            .gauge("open connections", by: "socket", [.notices, .requests, .webSocket, .broadcast, .http, .events])
        case .connectionsEnded:
            .counter(
                "connections that ended",
                by: "socket",
                [.notices, .requests, .webSocket, .broadcast, .http, .events]
            )
        case .connectionsClosed:
            .counter(
                "listeners' connections that the gateway closed ([Closed connections](../operations/connections.md#closed-connections)), and those of broadcasters, as `unused`",
                by: "reason",
                [
                    .handshake, .unused, .stalled, .slow, .violation, .encryption, .encrypted, .proxy, .upgrade,
                    .webSocket, .expired, .limit(.fragmentsPerMessageMax), .limit(.framesPerMessageMax),
                    .limit(.subscriptionsPerConnectionMax), .limit(.connectionsPerAddressMax),
                    .limit(.bytesWaitingMax),
                ]
            )
        case .bytesWaiting:
            .gauge(
                "bytes buffered for listeners' connections until they read them, or until the rest of a message arrives; without rings"
            )
        case .ringBytes: .gauge("bytes of notices in the rings of all streams, once for all connections")
        case .pushedConnections: .gauge("connections that get notices beside their answers")
        case .httpListeners: .gauge("listeners that get their stream's notices over HTTP now")
        case .httpListenersEnded:
            .counter(
                "listeners whose notices over HTTP ended: `slow` (too many notices pending), `stalled` (read nothing), `replaced` (the session listens elsewhere), `left`, `expired` (the token expired, its key was revoked, or the session was forgotten), `stopping`, `gone`",
                by: "reason",
                NoticeReaderEnd.allCases.map(\.metricLabel)
            )
        case .httpExchangesCut:
            .counter(
                "HTTP exchanges that the gateway ended before their answers were sent: `late` (longer than 30 s since the request's head), `stalled` (a stream such as events whose peer read nothing for 30 s)",
                by: "reason",
                [.late, .stalled]
            )
        case .encryptionHandshakes:
            .counter(
                "TLS handshakes with listeners ([results](../operations/tls.md#tls-for-listeners))",
                by: "result",
                [
                    .done, .plaintext, .version, .cipher, .alert, .tooLong, .renegotiation, .keyUpdates, .violation,
                    .late, .gone, .refused,
                ]
            )
        case .encryptedConnections: .gauge("open listeners' connections that the gateway encrypts")
        case .certificateExpiry:
            .gauge(
                "end of the certificate of the `listeners`' ports or of `http`, in seconds since 1970; 0: no certificate",
                by: "socket",
                [.listeners, .http]
            )
        case .httpHandshakes:
            .counter(
                "TLS handshakes over HTTP's port ([results](../operations/tls.md#tls-for-http))",
                by: "result",
                [.done, .plaintext, .failed, .gone]
            )
        case .proxyHeaders:
            .counter(
                "connections with a PROXY header ([results](../operations/balancers.md))",
                by: "result",
                [
                    .client, .balancer, .untrusted, .noSignature, .version, .tooLong, .family, .malformed, .checksum,
                    .unencrypted, .late, .gone, .refused,
                ]
            )
        case .webSocketUpgrades:
            .counter(
                "requests for WebSocket ([results](../operations/connections.md#websocket))",
                by: "result",
                [
                    .done, .malformed, .tooLong, .noUpgrade, .version, .subprotocol, .path, .origin, .late, .gone,
                    .refused,
                ]
            )
        case .memoryReturns:
            .counter("how often memory of ended connections, and of the stores' caches, was returned to the system")
        case .storeCacheBytes:
            .gauge(
                "memory of the caches of event log, ledger and audit: pages, and the newest records; 98 MiB at most, beside the readers' pages. The gateway releases it after many connections have ended."
            )
        case .subscribedStreams: .gauge("streams with a subscriber")
        case .streams: .gauge("streams on the board")
        case .boardBytes:
            .gauge("memory of the streams and breaks on the board, as its limit counts it")
        case .logOffset: .gauge("newest record of the log", by: "lane")
        case .ledgerOffset: .gauge("newest record that the ledger has counted", by: "lane")
        case .ledgerLag: .gauge("records that the ledger has not counted", by: "lane")
        case .ledgerCopies: .counter("copies of the ledger: `made`, `failed`", by: "result", [.made, .failed])
        case .ledgerCopyTime: .gauge("when the newest checked copy of the ledger was made, in seconds since 1970")
        case .ledgerCopyBytes: .gauge("size of the newest checked copy of the ledger")
        case .ledgerCopySeconds: .histogram("from the beginning of a copy of the ledger until it is checked")
        case .ledgerRecoveries: .counter("how often the ledger was lost or damaged and counted anew")
        case .ledgerGaps: .gauge("gaps: records that were lost before they were counted")
        case .acknowledgementsWaiting: .gauge("acknowledgements that wait for the log")
        case .logLinesSuppressed:
            .counter(
                "dropped log lines: too many of a kind (`changes`, `refusals`, `authentication`, `unreadable`, `frames`, `sockets`, `http`), or standard error was not read (`unread`)",
                by: "kind",
                [.changes, .refusals, .authentication, .unreadable, .frames, .sockets, .http, .unread]
            )
        case .alarm:
            .gauge(
                "1 while an [alarm](alarms.md) is raised, 0 otherwise; as `/readyz`",
                by: "alarm",
                Alarm.allCases.map(MetricLabel.alarm)
            )
        case .ready:
            .gauge(
                "1 while a part works that requests need: `log`, `board`, `sockets`; `/readyz` is 200 if all are 1",
                by: "part",
                [.log, .board, .sockets]
            )
        case .startTime:
            .gauge("start of the gateway, by its clock, in seconds since 1970; it changes with each restart")
        case .logBytes: .gauge("bytes of the log's file, with `-wal`")
        case .logUsedBytes: .gauge("bytes of records and snapshots in the log's file; the rest is reused")
        case .logUsedBytesMax: .gauge("the most bytes that records and snapshots may take: `log.bytesMax`")
        case .ledgerBytes: .gauge("bytes of the ledger's file, with `-wal`")
        case .diskFreeBytes: .gauge("free bytes on the disk of the data directory")
        case .openDescriptors: .gauge("open file descriptors")
        case .descriptorsMax: .gauge("limit on open file descriptors")
        case .residentMemory: .gauge("memory of the process")
        case .clockDifferenceSeconds:
            .gaugeInMicroseconds("how far the wall clock is ahead of the gateway's clock; negative: behind")
        case .gateways: .gauge("gateways of the event log that are alive, with this one; 0: it has the log for itself")
        case .gatewayBeats:
            .counter(
                "beats of gateways of one log: `sent`; `taken`; `passed_over`: older than one that came before; `over_limit`: of more gateways than may be; `undecodable`",
                by: "result",
                [.sent, .taken, .passedOver, .overLimit, .undecodable]
            )
        case .alternativeGateways:
            .gauge("other gateways of the log that players are told, because they advertise addresses and do not drain")
        case .gatewayClockDifferenceSeconds:
            .gaugeInMicroseconds("how far the clocks of the gateways of one log are apart for certain, at most")
        case .gatewayLateRecords: .gauge("records of breaks that another gateway of the log has, and this one lacks")
        case .gatewayLateSeconds:
            .gaugeInMicroseconds("for how long this gateway has lacked the oldest of those records")
        case .appendSeconds: .histogram("from handing a group to the log until it is durable")
        case .noticeSeconds:
            .histogram("from receiving a publication until every thread that serves listeners has its notice")
        case .scheduleLateSeconds: .histogram("how late announcements were recorded")
        case .sourceHeardSeconds:
            .gaugeInMicroseconds(
                "how long ago the last playlist, packet or title came from a source, as its watchers report it; 0: it is not watched",
                by: "source"
            )
        case .watchers: .gauge("watchers whose newest report is kept")
        case .signalLateSeconds:
            .histogram("how long after the instant that they say signals came that changed a break; 0: ahead of it")
        }
    }
}

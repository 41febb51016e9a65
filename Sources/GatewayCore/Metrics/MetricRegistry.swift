// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Synchronization

/// The table of all metrics: names, kinds, labels and help in one place.
///
/// `docs/operations.md` is checked against it.
package enum Metric: String, CaseIterable, Sendable {
    case listenerRequests = "cuecast_listener_requests_total"
    case broadcastRequests = "cuecast_broadcast_requests_total"
    case broadcastAuthentications = "cuecast_broadcast_authentications_total"
    case joinTokens = "cuecast_join_tokens_total"
    case httpAuthorizations = "cuecast_http_authorizations_total"
    case broadcasterKeys = "cuecast_broadcaster_keys"
    case refusals = "cuecast_refusals_total"
    case auditRecords = "cuecast_audit_records_total"
    case traces = "cuecast_traces_total"
    case spans = "cuecast_trace_spans_total"
    case spansWaiting = "cuecast_trace_spans_waiting"
    case joins = "cuecast_joins_total"
    case batches = "cuecast_batches_total"
    case deliveredAdvertisements = "cuecast_delivered_advertisements_total"
    case acknowledgedOutcomes = "cuecast_acknowledged_outcomes_total"
    case repeatedOutcomes = "cuecast_repeated_outcomes_total"
    case unsignedDeliveries = "cuecast_unsigned_deliveries_total"
    case trackings = "cuecast_trackings_total"
    case trackingsRefused = "cuecast_trackings_refused_total"
    case acknowledgementGroups = "cuecast_acknowledgement_groups_total"
    case countedOutcomes = "cuecast_counted_outcomes_total"
    case noticesSent = "cuecast_notices_sent_total"
    case notifiedListeners = "cuecast_notified_listeners_total"
    case headsSent = "cuecast_heads_sent_total"
    case repliesDropped = "cuecast_replies_dropped_total"
    case framesRefused = "cuecast_frames_refused_total"
    case limitsHit = "cuecast_limits_hit_total"
    case logFailures = "cuecast_log_failures_total"
    case ledgerFailures = "cuecast_ledger_failures_total"
    case breakEntries = "cuecast_break_entries_total"
    case listeners = "cuecast_listeners"
    case connections = "cuecast_connections"
    case connectionsEnded = "cuecast_connections_ended_total"
    case connectionsClosed = "cuecast_connections_closed_total"
    case bytesWaiting = "cuecast_bytes_waiting"
    case ringBytes = "cuecast_ring_bytes"
    case pushedConnections = "cuecast_pushed_connections"
    case httpListeners = "cuecast_http_listeners"
    case httpListenersEnded = "cuecast_http_listeners_ended_total"
    case httpExchangesCut = "cuecast_http_exchanges_cut_total"
    case encryptionHandshakes = "cuecast_tls_handshakes_total"
    case encryptedConnections = "cuecast_tls_connections"
    case certificateExpiry = "cuecast_tls_certificate_expiry_timestamp_seconds"
    case httpHandshakes = "cuecast_http_tls_handshakes_total"
    case proxyHeaders = "cuecast_proxy_headers_total"
    case memoryReturns = "cuecast_memory_returns_total"
    case storeCacheBytes = "cuecast_store_cache_bytes"
    case subscribedStreams = "cuecast_subscribed_streams"
    case streams = "cuecast_streams"
    case boardBytes = "cuecast_board_bytes"
    case logOffset = "cuecast_log_offset"
    case ledgerOffset = "cuecast_ledger_offset"
    case ledgerLag = "cuecast_ledger_lag_records"
    case ledgerCopies = "cuecast_ledger_copies_total"
    case ledgerCopyTime = "cuecast_ledger_copy_timestamp_seconds"
    case ledgerCopyBytes = "cuecast_ledger_copy_bytes"
    case ledgerCopySeconds = "cuecast_ledger_copy_seconds"
    case ledgerRecoveries = "cuecast_ledger_recoveries_total"
    case ledgerGaps = "cuecast_ledger_gaps"
    case acknowledgementsWaiting = "cuecast_acknowledgements_waiting"
    case logLinesSuppressed = "cuecast_log_lines_suppressed_total"
    case alarm = "cuecast_alarm"
    case ready = "cuecast_ready"
    case startTime = "cuecast_start_timestamp_seconds"
    case logBytes = "cuecast_log_bytes"
    case logUsedBytes = "cuecast_log_used_bytes"
    case logUsedBytesMax = "cuecast_log_used_bytes_max"
    case ledgerBytes = "cuecast_ledger_bytes"
    case diskFreeBytes = "cuecast_disk_free_bytes"
    case openDescriptors = "cuecast_open_descriptors"
    case descriptorsMax = "cuecast_descriptors_max"
    case residentMemory = "cuecast_resident_memory_bytes"
    case clockDifferenceSeconds = "cuecast_clock_difference_seconds"
    case appendSeconds = "cuecast_log_append_seconds"
    case noticeSeconds = "cuecast_publish_to_notice_seconds"
    case scheduleLateSeconds = "cuecast_schedule_late_seconds"

    /// What Prometheus calls the type.
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package var kind: Kind {
        switch self {
        case .appendSeconds, .noticeSeconds, .scheduleLateSeconds, .ledgerCopySeconds: .histogram
        case .listeners, .broadcasterKeys, .connections, .bytesWaiting, .ringBytes, .storeCacheBytes,
            .pushedConnections, .httpListeners,
            .spansWaiting,
            .encryptedConnections, .certificateExpiry,
            .subscribedStreams, .streams,
            .boardBytes, .logOffset,
            .ledgerOffset, .ledgerLag, .ledgerCopyTime, .ledgerCopyBytes, .ledgerGaps, .logBytes, .logUsedBytes,
            .logUsedBytesMax, .ledgerBytes,
            .diskFreeBytes, .openDescriptors, .descriptorsMax, .residentMemory, .acknowledgementsWaiting, .alarm,
            .ready, .startTime,
            .clockDifferenceSeconds:
            .gauge
        default: .counter
        }
    }

    package var help: String {
        switch self {
        case .listenerRequests: "Requests of listeners, by kind."
        case .broadcastRequests: "Requests of broadcasters, by kind."
        case .broadcastAuthentications:
            "Connections of broadcasters that showed a key, or did not, by what became of them."
        case .joinTokens: "Tokens of joins that were checked, by what became of them."
        case .httpAuthorizations:
            "Requests over HTTP that needed a right, or came by a wrong name, by what became of them."
        case .broadcasterKeys: "Public keys of broadcasters that the gateway knows."
        case .refusals: "Requests that were refused, by status."
        case .auditRecords: "Lines of the audit, by what became of them."
        case .traces: "Requests that came with a trace while tracing was on, by what became of that."
        case .spans: "Spans for the trace file, by what became of them."
        case .spansWaiting: "Spans that wait for the trace file."
        case .joins: "Joins, by what the listener had missed."
        case .batches: "Batches handed out."
        case .deliveredAdvertisements: "Advertisements of batches that are recorded as delivered."
        case .acknowledgedOutcomes: "Outcomes confirmed as durable (repeats included)."
        case .repeatedOutcomes: "Outcomes that memory knew: confirmed without being logged again."
        case .unsignedDeliveries: "Deliveries taken that are not signed, because gateways before did not sign."
        case .trackings:
            "Tracking URLs of the gateway that were called, by what they tell; the same one again is not counted."
        case .trackingsRefused: "Calls of tracking URLs that no gateway made, or not for this, by what is wrong."
        case .acknowledgementGroups: "Groups of acknowledgements and deliveries appended to the event log."
        case .countedOutcomes: "Outcomes that the ledger counted as the first of their session, by kind."
        case .noticesSent: "Notices published (head notices and ticks not counted)."
        case .notifiedListeners: "Sessions that listened to a stream when one of its breaks was announced."
        case .headsSent: "Head notices published."
        case .repliesDropped: "Replies that could not be sent, by reason."
        case .framesRefused: "Messages on a socket that are not requests, by reason."
        case .limitsHit: "How often each named limit was reached."
        case .logFailures: "Appends that the event log failed."
        case .ledgerFailures: "Times that the ledger failed to apply records."
        case .breakEntries: "Entries of the lane of breaks, by what became of them."
        case .listeners: "Sessions with a live lease."
        case .connections: "Open connections, by socket."
        case .connectionsEnded: "Connections that ended, by socket."
        case .connectionsClosed: "Connections of listeners that the gateway closed, by reason."
        case .bytesWaiting: "Bytes that wait until listeners' connections take them."
        case .ringBytes: "Bytes of notices that wait, once for all connections that hear their stream."
        case .pushedConnections: "Connections that have notices pushed beside their answers."
        case .httpListeners: "Listeners that hear their stream's notices over HTTP now."
        case .httpListenersEnded: "Listeners whose notices over HTTP came to an end, by reason."
        case .httpExchangesCut: "Exchanges over HTTP that the gateway ended before their answers were sent, by reason."
        case .encryptionHandshakes:
            "Handshakes of TLS with listeners, by what became of them, and what ended a session after its handshake."
        case .encryptedConnections: "Open connections of listeners that are encrypted by the gateway."
        case .certificateExpiry:
            "Until when a certificate is valid, by whom it is shown to, in seconds since 1970; 0: there is none."
        case .httpHandshakes: "Handshakes of TLS over HTTP's port, by what became of them."
        case .proxyHeaders: "Connections that a balancer passed on, by what became of what it says about them."
        case .memoryReturns:
            "Times that memory of ended connections, and of the stores' caches, was given back to the system."
        case .storeCacheBytes: "What the stores hold in memory only to be faster."
        case .subscribedStreams: "Streams that at least one connection subscribes to."
        case .streams: "Streams on the board."
        case .boardBytes: "What the streams and breaks on the board come to in memory, as its limit counts them."
        case .logOffset: "The offset of the newest record, by lane."
        case .ledgerOffset: "The offset up to which the ledger counts, by lane."
        case .ledgerCopies: "Copies of the ledger, by what became of them."
        case .ledgerCopyTime: "When the newest checked copy of the ledger was made, in seconds since 1970."
        case .ledgerCopyBytes: "The size of the newest checked copy of the ledger."
        case .ledgerCopySeconds: "From beginning a copy of the ledger until it is checked, in seconds."
        case .ledgerRecoveries: "Times that the ledger was lost or damaged and counted anew."
        case .ledgerGaps: "Stretches of records that were lost before the ledger counted them."
        case .ledgerLag: "Records that the ledger is behind, by lane."
        case .acknowledgementsWaiting: "Acknowledgements that wait for the event log."
        case .logLinesSuppressed:
            "Lines that were left out of the log because there were too many of their kind, or because nobody took them."
        case .alarm: "1 while an alarm is raised, by alarm."
        case .ready: "1 while a part works that requests need, by part; the gateway is ready when all do."
        case .startTime: "When the gateway started, by its clock, in seconds since 1970."
        case .logBytes: "The bytes of the event log's file, with what is on its way into it."
        case .logUsedBytes: "What records and snapshots take in the event log."
        case .logUsedBytesMax: "What they may take before new work is refused (log.bytesMax)."
        case .ledgerBytes: "The bytes of the ledger's file, with what is on its way into it."
        case .diskFreeBytes: "The bytes that are free for the gateway where its data directory is."
        case .openDescriptors: "Open file descriptors."
        case .descriptorsMax: "The most file descriptors that the process may have."
        case .residentMemory: "The memory that the process has at present."
        case .clockDifferenceSeconds: "How far the wall clock is ahead of the gateway's clock, in seconds."
        case .appendSeconds: "From handing a group to the event log until it is durable, in seconds."
        case .noticeSeconds: "From receiving a publication until its notice is sent, in seconds."
        case .scheduleLateSeconds: "How late an announcement was recorded after it fell due, in seconds."
        }
    }

    /// Whether a gauge is kept in microseconds and shown in seconds.
    var isInMicroseconds: Bool { self == .clockDifferenceSeconds }

    /// The name of its label; `nil`: it has none.
    package var label: String? {
        switch self {
        case .listenerRequests, .broadcastRequests, .logLinesSuppressed, .trackings: "kind"
        case .refusals: "status"
        case .joins, .breakEntries, .auditRecords, .traces, .spans, .broadcastAuthentications, .httpAuthorizations,
            .joinTokens,
            .ledgerCopies, .encryptionHandshakes, .httpHandshakes, .proxyHeaders:
            "result"
        case .repliesDropped, .framesRefused, .connectionsClosed, .httpListenersEnded, .httpExchangesCut,
            .trackingsRefused:
            "reason"
        case .limitsHit: "limit"
        case .connections, .connectionsEnded, .certificateExpiry: "socket"
        case .logOffset, .ledgerOffset, .ledgerLag: "lane"
        case .alarm: "alarm"
        case .ready: "part"
        case .countedOutcomes: "outcome"
        default: nil
        }
    }

    /// The values of its label that are shown from the start, as 0.
    ///
    /// A counter that appears with its first event has no rate then, and an alert on it stays silent. Lanes are missing:
    /// they are shown when their offsets are known.
    var labelsShownAtFirst: [MetricLabel] {
        switch self {
        case .listenerRequests: [.join, .batch, .acknowledge, .time, .leave, .undecodable]
        case .broadcastRequests: [.publish, .punch, .update, .postpone, .end, .cancel, .list, .undecodable]
        case .broadcastAuthentications: [.admitted, .unknownKey, .expiredKey, .mechanism, .handshake]
        case .joinTokens:
            [
                .granted, .malformed, .unknownKey, .revokedKey, .wrongAlgorithm, .wrongSignature, .wrongIssuer,
                .wrongAudience, .expired, .notYetValid,
            ]
        case .httpAuthorizations:
            [
                .granted, .noToken, .malformed, .unknownKey, .revokedKey, .wrongAlgorithm, .wrongSignature,
                .wrongIssuer,
                .wrongAudience, .expired, .notYetValid, .scope, .host, .origin, .ticket,
            ]
        case .refusals: StatusCode.allCases.filter { $0 != .ok }.map(MetricLabel.status)
        case .auditRecords: [.kept, .lost]
        case .traces: [.traced, .notSampled, .leftOut, .overLimit, .invalid]
        case .spans: [.kept, .lost]
        case .joins: [.current, .recovered, .snapshot, .ahead]
        case .trackings: TrackingKind.allCases.map(\.metricLabel)
        case .trackingsRefused: [.malformed, .unknownKey, .revokedKey, .forged, .otherBreak]
        case .countedOutcomes: [.played, .ignored, .failed]
        case .repliesDropped: [.peerGone, .peerSlow]
        case .framesRefused: [.noEnvelope, .tooManyFrames, .notSubscription, .unknownTopic, .protectedTopic]
        case .connectionsClosed:
            [
                .handshake, .unused, .stalled, .slow, .violation, .encryption, .encrypted, .proxy, .expired,
                .limit(.framesPerMessageMax),
                .limit(.subscriptionsPerConnectionMax), .limit(.connectionsPerAddressMax), .limit(.bytesWaitingMax),
            ]
        case .httpListenersEnded: NoticeReaderEnd.allCases.map(\.metricLabel)
        case .httpExchangesCut: [.late, .stalled]
        case .encryptionHandshakes:
            [
                .done, .plaintext, .version, .cipher, .alert, .tooLong, .renegotiation, .keyUpdates, .violation, .late,
                .gone,
                .refused,
            ]
        case .httpHandshakes: [.done, .plaintext, .failed, .gone]
        case .certificateExpiry: [.listeners, .http]
        case .proxyHeaders:
            [
                .client, .balancer, .untrusted, .noSignature, .version, .tooLong, .family, .malformed, .checksum,
                .unencrypted,
                .late, .gone, .refused,
            ]
        case .limitsHit: LimitName.allCases.map(MetricLabel.limit)
        case .breakEntries: [.changed, .unchanged, .refused]
        case .connections, .connectionsEnded: [.notices, .requests, .broadcast, .http]
        case .ledgerCopies: [.made, .failed]
        case .logLinesSuppressed:
            [.changes, .refusals, .authentication, .unreadable, .frames, .sockets, .http, .unread]
        case .alarm: Alarm.allCases.map(MetricLabel.alarm)
        case .ready: [.log, .board, .sockets]
        default: []
        }
    }
}

/// The value of a metric's label: from a closed list, so that nobody outside can make the table grow.
package struct MetricLabel: Hashable, Sendable {
    package let text: String

    package static let none = MetricLabel(text: "")
    package static let join = MetricLabel(text: "join")
    package static let batch = MetricLabel(text: "batch")
    package static let acknowledge = MetricLabel(text: "acknowledge")
    package static let time = MetricLabel(text: "time")
    package static let leave = MetricLabel(text: "leave")
    package static let publish = MetricLabel(text: "publish")
    package static let punch = MetricLabel(text: "punch")
    package static let update = MetricLabel(text: "update")
    package static let end = MetricLabel(text: "end")
    package static let cancel = MetricLabel(text: "cancel")
    package static let postpone = MetricLabel(text: "postpone")
    package static let list = MetricLabel(text: "list")
    package static let undecodable = MetricLabel(text: "undecodable")
    package static let current = MetricLabel(text: "current")
    package static let recovered = MetricLabel(text: "recovered")
    package static let snapshot = MetricLabel(text: "snapshot")
    package static let ahead = MetricLabel(text: "ahead")
    package static let changed = MetricLabel(text: "changed")
    package static let unchanged = MetricLabel(text: "unchanged")
    package static let refused = MetricLabel(text: "refused")
    package static let peerGone = MetricLabel(text: "peer_gone")
    package static let peerSlow = MetricLabel(text: "peer_slow")
    package static let noEnvelope = MetricLabel(text: "no_envelope")
    package static let tooManyFrames = MetricLabel(text: "too_many_frames")
    package static let notSubscription = MetricLabel(text: "not_a_subscription")
    package static let unknownTopic = MetricLabel(text: "unknown_topic")
    package static let protectedTopic = MetricLabel(text: "protected_topic")
    package static let admitted = MetricLabel(text: "admitted")
    package static let unknownKey = MetricLabel(text: "unknown_key")
    package static let granted = MetricLabel(text: "granted")
    package static let noToken = MetricLabel(text: "no_token")
    package static let malformed = MetricLabel(text: "malformed")
    package static let revokedKey = MetricLabel(text: "revoked_key")
    package static let wrongAlgorithm = MetricLabel(text: "wrong_algorithm")
    package static let wrongSignature = MetricLabel(text: "wrong_signature")
    package static let wrongIssuer = MetricLabel(text: "wrong_issuer")
    package static let wrongAudience = MetricLabel(text: "wrong_audience")
    package static let expired = MetricLabel(text: "expired")
    package static let notYetValid = MetricLabel(text: "not_yet_valid")
    package static let scope = MetricLabel(text: "scope")
    package static let host = MetricLabel(text: "host")
    package static let origin = MetricLabel(text: "origin")
    package static let ticket = MetricLabel(text: "ticket")
    package static let expiredKey = MetricLabel(text: "expired_key")
    package static let mechanism = MetricLabel(text: "mechanism")
    package static let authentication = MetricLabel(text: "authentication")
    package static let handshake = MetricLabel(text: "handshake")
    package static let unused = MetricLabel(text: "unused")
    package static let stalled = MetricLabel(text: "stalled")
    package static let slow = MetricLabel(text: "slow")
    package static let replaced = MetricLabel(text: "replaced")
    package static let left = MetricLabel(text: "left")
    package static let stopping = MetricLabel(text: "stopping")
    package static let violation = MetricLabel(text: "violation")
    package static let encryption = MetricLabel(text: "tls")
    package static let encrypted = MetricLabel(text: "tls_at_plain_port")
    package static let done = MetricLabel(text: "done")
    package static let plaintext = MetricLabel(text: "plaintext")
    package static let version = MetricLabel(text: "version")
    package static let cipher = MetricLabel(text: "cipher")
    package static let alert = MetricLabel(text: "alert")
    package static let tooLong = MetricLabel(text: "too_long")
    package static let renegotiation = MetricLabel(text: "renegotiation")
    package static let keyUpdates = MetricLabel(text: "key_updates")
    package static let late = MetricLabel(text: "late")
    package static let gone = MetricLabel(text: "gone")
    package static let proxy = MetricLabel(text: "proxy")
    package static let client = MetricLabel(text: "client")
    package static let balancer = MetricLabel(text: "balancer")
    package static let untrusted = MetricLabel(text: "untrusted")
    package static let noSignature = MetricLabel(text: "no_signature")
    package static let family = MetricLabel(text: "family")
    package static let checksum = MetricLabel(text: "checksum")
    package static let unencrypted = MetricLabel(text: "unencrypted")
    package static let notices = MetricLabel(text: "notices")
    package static let listeners = MetricLabel(text: "listeners")
    package static let requests = MetricLabel(text: "requests")
    package static let broadcast = MetricLabel(text: "broadcast")
    package static let kept = MetricLabel(text: "kept")
    package static let lost = MetricLabel(text: "lost")
    package static let made = MetricLabel(text: "made")
    package static let failed = MetricLabel(text: "failed")
    package static let http = MetricLabel(text: "http")
    package static let changes = MetricLabel(text: "changes")
    package static let refusals = MetricLabel(text: "refusals")
    package static let unread = MetricLabel(text: "unread")
    package static let unreadable = MetricLabel(text: "unreadable")
    package static let frames = MetricLabel(text: "frames")
    package static let sockets = MetricLabel(text: "sockets")
    package static let log = MetricLabel(text: "log")
    package static let board = MetricLabel(text: "board")
    package static let played = MetricLabel(text: "played")
    package static let ignored = MetricLabel(text: "ignored")

    package static let traced = MetricLabel(text: "traced")
    package static let notSampled = MetricLabel(text: "not_sampled")
    package static let leftOut = MetricLabel(text: "left_out")
    package static let overLimit = MetricLabel(text: "over_limit")
    package static let invalid = MetricLabel(text: "invalid")
    package static let forged = MetricLabel(text: "forged")
    package static let otherBreak = MetricLabel(text: "other_break")

    package static func status(_ status: StatusCode) -> MetricLabel { MetricLabel(text: status.name) }
    package static func lane(_ lane: Lane) -> MetricLabel { MetricLabel(text: lane.description) }
    package static func alarm(_ alarm: Alarm) -> MetricLabel { MetricLabel(text: alarm.rawValue) }
    package static func limit(_ name: LimitName) -> MetricLabel { MetricLabel(text: name.rawValue) }
}

extension TrackingKind {
    package var metricLabel: MetricLabel { MetricLabel(text: self.event) }
}

/// Counts what happens.
///
/// Shared by all parts of a gateway; the numbers are atomics.
package final class MetricRegistry: Sendable {
    /// Upper bounds of the buckets of every histogram, in seconds.
    package static let bucketBounds: [Double] = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private struct Key: Hashable {
        let metric: Metric
        let label: MetricLabel
    }

    /// One counter or gauge, for those who count so often that they do not look it up each time.
    package final class Cell: Sendable {
        fileprivate let value = Atomic<Int>(0)

        @inline(__always)
        package func add(_ amount: Int = 1) {
            self.value.wrappingAdd(amount, ordering: .relaxed)
        }
    }

    /// One more bucket than bounds, then the sum in microseconds.
    private final class Histogram: Sendable {
        let cells = (0...MetricRegistry.bucketBounds.count + 1).map { _ in Cell() }
    }

    private let cells: Mutex<[Key: Cell]> = Mutex([:])
    private let histograms: [Metric: Histogram]

    package init() {
        self.histograms = Dictionary(
            uniqueKeysWithValues: Metric.allCases.filter { $0.kind == .histogram }.map { ($0, Histogram()) }
        )
        for metric in Metric.allCases {
            for label in metric.labelsShownAtFirst { _ = self.cell(metric, label) }
        }
    }

    /// Adds to a counter.
    package func count(_ metric: Metric, _ label: MetricLabel = .none, by amount: Int = 1) {
        self.cell(metric, label).value.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Sets a gauge.
    package func set(_ metric: Metric, _ label: MetricLabel = .none, to value: Int) {
        self.cell(metric, label).value.store(value, ordering: .relaxed)
    }

    /// What a counter or gauge stands at.
    package func value(_ metric: Metric, _ label: MetricLabel = .none) -> Int {
        self.cell(metric, label).value.load(ordering: .relaxed)
    }

    /// Adds an observation to a histogram.
    package func observe(_ metric: Metric, _ duration: Duration) {
        guard let histogram = self.histograms[metric] else { return }
        // A clock that was set back must not take anything from the sum.
        let duration = max(duration, .zero)
        let seconds = duration.inSeconds
        let bucket = Self.bucketBounds.firstIndex { seconds <= $0 } ?? Self.bucketBounds.count
        histogram.cells[bucket].value.wrappingAdd(1, ordering: .relaxed)
        histogram.cells[Self.bucketBounds.count + 1].value
            .wrappingAdd(Int(clamping: duration.inMicroseconds), ordering: .relaxed)
    }

    /// How often each bucket of a histogram was observed, in the order of `bucketBounds`, and what is above all of them; empty for
    /// other metrics.
    package func buckets(of metric: Metric) -> [Int] {
        guard let histogram = self.histograms[metric] else { return [] }
        return histogram.cells.dropLast().map { $0.value.load(ordering: .relaxed) }
    }

    /// The place of a counter or gauge; the same one at every call.
    package func cell(_ metric: Metric, _ label: MetricLabel = .none) -> Cell {
        self.cells.withLock { cells in
            let key = Key(metric: metric, label: label)
            if let cell = cells[key] { return cell }
            let cell = Cell()
            cells[key] = cell
            return cell
        }
    }

    /// Everything in the text format of Prometheus (version 0.0.4).
    package func exposition() -> String {
        let cells = self.cells.withLock { cells in cells.mapValues { $0.value.load(ordering: .relaxed) } }
        var text = ""
        for metric in Metric.allCases {
            text += "# HELP \(metric.rawValue) \(metric.help)\n# TYPE \(metric.rawValue) \(metric.kind.rawValue)\n"
            if let histogram = self.histograms[metric] {
                text += Self.exposition(of: metric, histogram.cells.map { $0.value.load(ordering: .relaxed) })
                continue
            }
            let values = cells.filter { $0.key.metric == metric }.sorted { $0.key.label.text < $1.key.label.text }
            if values.isEmpty, metric.label == nil { text += "\(metric.rawValue) 0\n" }
            for (key, value) in values {
                let label = metric.label.map { "{\($0)=\"\(Self.escaped(key.label.text))\"}" } ?? ""
                let number = metric.isInMicroseconds ? "\(Double(value) / 1e6)" : "\(value)"
                text += "\(metric.rawValue)\(label) \(number)\n"
            }
        }
        return text
    }

    /// The value of a label (Prometheus, "Text-based format", "Comments, help text, and type information").
    private static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func exposition(of metric: Metric, _ cells: [Int]) -> String {
        var text = ""
        var sum = 0
        for (bound, count) in zip(Self.bucketBounds, cells) {
            sum += count
            text += "\(metric.rawValue)_bucket{le=\"\(bound)\"} \(sum)\n"
        }
        sum += cells[Self.bucketBounds.count]
        text += "\(metric.rawValue)_bucket{le=\"+Inf\"} \(sum)\n"
        text += "\(metric.rawValue)_sum \(Double(cells[Self.bucketBounds.count + 1]) / 1e6)\n"
        return text + "\(metric.rawValue)_count \(sum)\n"
    }
}

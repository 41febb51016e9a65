// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The names of all metrics.
///
/// `docs/reference/metrics.md` is checked against it. What each of them is stands in ``declaration``.
package enum Metric: String, CaseIterable, Sendable {
    case listenerRequests = "cuecast_listener_requests_total"
    case broadcastRequests = "cuecast_broadcast_requests_total"
    case signals = "cuecast_signals_total"
    case sourceSignals = "cuecast_source_signals_total"
    case oddSignals = "cuecast_odd_signals_total"
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
    case webSocketUpgrades = "cuecast_websocket_upgrades_total"
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
    case gateways = "cuecast_gateways"
    case alternativeGateways = "cuecast_alternative_gateways"
    case gatewayBeats = "cuecast_gateway_beats_total"
    case gatewayClockDifferenceSeconds = "cuecast_gateway_clock_difference_seconds"
    case gatewayLateRecords = "cuecast_gateway_late_records"
    case gatewayLateSeconds = "cuecast_gateway_late_seconds"
    case appendSeconds = "cuecast_log_append_seconds"
    case noticeSeconds = "cuecast_publish_to_notice_seconds"
    case scheduleLateSeconds = "cuecast_schedule_late_seconds"
    case signalLateSeconds = "cuecast_signal_late_seconds"
    case sourceHeardSeconds = "cuecast_source_heard_seconds"
    case watchers = "cuecast_watchers"

    /// The types of Prometheus.
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package var kind: Kind { self.declaration.kind }

    /// The meaning of the metric, in Markdown, as the reference page shows it.
    package var meaning: String { self.declaration.meaning }

    /// The same as a sentence of plain text, as Prometheus shows it.
    package var help: String { Self.helps[self] ?? "" }

    /// Made once, because every request for the metrics needs all of them.
    private static let helps = Dictionary(
        uniqueKeysWithValues: Metric.allCases.map { ($0, ReferenceText.sentence($0.declaration.meaning)) }
    )

    /// The name of its label; `nil`: it has none.
    package var label: String? { self.declaration.label }
    /// The name of its second label; `nil`: it has one at most.
    package var secondLabel: String? { self.declaration.secondLabel }
}

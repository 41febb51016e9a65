// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The limits that `cuecast_limits_hit_total` counts, by the names that they have in code.
///
/// To add a limit: add its case and its declaration here, and enforce it. The metric, the key of the configuration, `/v1/limits`
/// and the reference pages follow. Each limit is shown from the start, as 0: a rate over a series that appears with its first
/// hit misses that hit.
package enum LimitName: String, CaseIterable, Sendable {
    case acknowledgementBytesWaitingMax
    case acknowledgementsWaitingMax
    case answersUnderWayMax
    case auditRecordsWaitingMax
    case boardBytesMax
    case broadcastCallBytesWaitingMax
    case broadcastCallsWaitingMax
    case bytesWaitingMax
    case connectionsMax
    case connectionsPerAddressMax
    case contradictionsLoggedMax
    case controlAnswerBytesMax
    case controlConnectionsMax
    case controlIdleTimeout
    case controlLineBytesMax
    case controlReadTimeout
    case deliveriesWaitingMax
    case entriesWaitingMax
    case entryBytesWaitingMax
    case eventsMax
    case forgottenSessionsMax
    case fragmentsPerMessageMax
    case framesPerMessageMax
    case gatewayLateAfter
    case gatewayLateRecordsMax
    case gatewaysMax
    case httpAnswerBytesMax
    case httpBodyBytesMax
    case httpConnectionsMax
    case httpEventReadersMax
    case httpEventTicketsMax
    case httpHandOversMax
    case httpListenersMax
    case httpListenersPerAddressMax
    case httpNoticesWaitingMax
    case httpPlanTimeMax
    case httpPlansMax
    case httpReadersWaitingMax
    case httpRequestsWaitingMax
    case httpRequestsWaitingPerAddressMax
    case httpStreamsMax
    case lightMessagesPerSecondMax
    case listenersMax
    case logBytesMax
    case messagesPerAddressPerSecondMax
    case messagesPerConnectionPerSecondMax
    case messagesPerSecondMax
    case messagesPerTurnMax
    case questionsOpenMax
    case recordBytesMax
    case refusedTokensPerConnectionPerSecondMax
    case rememberedOutcomesMax
    case remoteCountsMax
    case requestsBehindMax
    case requestsPerSessionPerSecondMax
    case requestsWaitingPerConnectionMax
    case ringBytesMax
    case ringsBytesMax
    case sessionsPerConnectionMax
    case sessionsPerSubjectMax
    case signalSourcesMax
    case signalSourcesPerStreamMax
    case signalStreamsMax
    case snapshotChunksMax
    case spansWaitingMax
    case streamsMax
    case subscriptionsPerConnectionMax
    case tokenChecksWaitingMax
    case traceFileBytesMax
    case tracesPerSecondMax
    case trackingsRememberedMax
    case watchersMax
}

extension LimitName {
    /// The one place where it is declared: its value, its unit, its key, and what happens when it is reached.
    package var declaration: LimitDeclaration {
        switch self {
        case .acknowledgementBytesWaitingMax:
            .init(
                64 * 1_048_576,
                .bytes,
                whenReached: "acknowledgements are refused as `UNAVAILABLE`, retry in a second"
            )
        case .acknowledgementsWaitingMax:
            .init(20_000, whenReached: "acknowledgements are refused as `UNAVAILABLE`, retry in a second")
        case .answersUnderWayMax:
            .init(16, whenReached: "the question of another gateway is answered when it is repeated", alerts: false)
        case .auditRecordsWaitingMax: .init(10_000, whenReached: "lines of the audit are lost and counted")
        case .boardBytesMax:
            .init(
                1_024 * 1_048_576,
                .bytes,
                whenReached: "new breaks and larger advertisements are refused as `LIMIT_REACHED`"
            )
        case .broadcastCallBytesWaitingMax:
            .init(
                64 * 1_048_576,
                .bytes,
                whenReached: "requests of broadcasters over HTTP are refused as `LIMIT_REACHED`, retry in a second"
            )
        case .broadcastCallsWaitingMax:
            .init(
                1_024,
                whenReached: "requests of broadcasters over HTTP are refused as `LIMIT_REACHED`, retry in a second"
            )
        case .bytesWaitingMax:
            .init(
                256 * 1_048_576,
                .bytes,
                by: LimitSetting(
                    "listeners.bytesWaitingMax",
                    4_194_304...1_099_511_627_776,
                    "bytes buffered for all connections; beyond it the gateway closes the connection with most"
                ),
                whenReached: "the connection that buffers most is closed"
            )
        case .connectionsMax:
            .computed(
                "follows from the limit on open files",
                whenReached:
                    "new connections wait; alarm `connections` ([descriptors](../operations/connections.md#connections-and-descriptors))"
            )
        case .connectionsPerAddressMax:
            .init(
                4_096,
                by: LimitSetting(
                    "listeners.connectionsPerAddressMax",
                    0...10_000_000,
                    zeroIsNone: true,
                    "connections from one address (IPv6: one network of 64 bits), loopback not counted; 0: no limit"
                ),
                whenReached: "the connection is closed as soon as it is accepted",
                alerts: false
            )
        case .contradictionsLoggedMax:
            .init(
                4,
                whenReached: "further different outcomes of one session and advertisement are not logged",
                alerts: false
            )
        case .controlAnswerBytesMax: .init(4 * 1_048_576, .bytes, whenReached: "the command gets an error")
        case .controlConnectionsMax: .init(16, whenReached: "the connection is refused")
        case .controlIdleTimeout: .init(30_000, .milliseconds, whenReached: "the connection is closed")
        case .controlLineBytesMax: .init(65_536, .bytes, whenReached: "the connection is closed")
        case .controlReadTimeout: .init(30_000, .milliseconds, whenReached: "the connection is closed")
        case .deliveriesWaitingMax: .init(100_000, whenReached: "batches are refused as `UNAVAILABLE`")
        case .entriesWaitingMax:
            .init(10_000, whenReached: "requests of broadcasters are refused as `UNAVAILABLE`, retry in a second")
        case .entryBytesWaitingMax:
            .init(
                64 * 1_048_576,
                .bytes,
                whenReached: "requests of broadcasters are refused as `UNAVAILABLE`, retry in a second"
            )
        case .eventsMax:
            .init(
                65_536,
                whenReached:
                    "a fault of the gateway: an answer of the log is lost. Restart it and report the fault with its log"
            )
        case .forgottenSessionsMax: .init(10_000, whenReached: "`cuecast forget` fails")
        case .fragmentsPerMessageMax:
            .init(64, whenReached: "the connection over WebSocket is closed", alerts: false)
        case .framesPerMessageMax: .init(64, whenReached: "the connection is closed", alerts: false)
        case .gatewayLateAfter:
            .init(10_000, .milliseconds, whenReached: "the alarm `gatewayLate` is raised", alerts: false)
        case .gatewayLateRecordsMax:
            .init(10_000, of: "records", whenReached: "the alarm `gatewayLate` is raised", alerts: false)
        case .gatewaysMax: .init(1_024, whenReached: "further gateways of one log are taken for absent")
        case .httpAnswerBytesMax:
            .init(
                64 * 1_048_576,
                .bytes,
                whenReached: "the connections whose peers have not read for longest are closed"
            )
        case .httpBodyBytesMax:
            .init(32 * 1_048_576, .bytes, whenReached: "the request is refused as `LIMIT_REACHED`")
        case .httpConnectionsMax:
            .init(
                256,
                of: "and listeners (`httpHandOversMax`, or `http.listenersMax` if `http` has a certificate)",
                whenReached: "the connection that was idle longest is closed"
            )
        case .httpEventReadersMax: .init(32, whenReached: "the request is refused as `LIMIT_REACHED`")
        case .httpEventTicketsMax: .init(256, whenReached: "the request is refused as `LIMIT_REACHED`")
        case .httpHandOversMax:
            .init(
                1_000,
                of: "listeners over HTTP that are answered; an eighth of the descriptors at most",
                whenReached: "the listener is refused as `LIMIT_REACHED`"
            )
        case .httpListenersMax:
            .init(
                DescriptorReserve.listenersDefaultMax,
                of: "and one for each connection at most; by TLS 1000 and an eighth of the descriptors",
                by: LimitSetting(
                    "http.listenersMax",
                    0...1_000_000,
                    "listeners that get their notices over HTTP at a time; the default means 1000 if `http` has a certificate"
                ),
                whenReached: "the listener is refused as `LIMIT_REACHED`"
            )
        case .httpListenersPerAddressMax:
            .init(
                256,
                by: LimitSetting(
                    "http.listenersPerAddressMax",
                    1...1_000_000,
                    "listeners over HTTP from one address (IPv6: one network of 64 bits), loopback not counted"
                ),
                whenReached: "the listener is refused as `LIMIT_REACHED`",
                alerts: false
            )
        case .httpNoticesWaitingMax:
            .init(
                512,
                of: "notices of a listener",
                whenReached: "its stream of notices ends as `slow`; it reconnects and recovers",
                alerts: false
            )
        case .httpPlanTimeMax:
            .init(
                10_000,
                .milliseconds,
                of: "of choosing for one dry run",
                whenReached: "the dry run is refused as `TOO_LARGE`",
                alerts: false
            )
        case .httpPlansMax:
            .init(
                4,
                of: "dry runs and forecasts at a time",
                whenReached: "the request is refused as `LIMIT_REACHED`, retry in a second",
                alerts: false
            )
        case .httpReadersWaitingMax: .init(64, whenReached: "reports and lists get 503 with `Retry-After`")
        case .httpRequestsWaitingMax: .init(4_096, whenReached: "the request is refused")
        case .httpRequestsWaitingPerAddressMax: .init(256, whenReached: "the request is refused", alerts: false)
        case .httpStreamsMax: .init(64, whenReached: "the request is refused as `LIMIT_REACHED`")
        case .lightMessagesPerSecondMax:
            .init(32, .perSecond, whenReached: "the connection is read after quiet ones", alerts: false)
        case .listenersMax:
            .computed(
                "one for each connection, \(DescriptorReserve.listenersDefaultMax) at most",
                by: LimitSetting(
                    "listeners.max",
                    0...10_000_000,
                    isReloadable: true,
                    "largest number of sessions; 0: one for each connection that the limit on open files allows, \(DescriptorReserve.listenersDefaultMax) at most"
                ),
                whenReached: "joins are refused as `LIMIT_REACHED`"
            )
        case .logBytesMax:
            .init(
                20 * 1_073_741_824,
                .bytes,
                by: LimitSetting(
                    "log.bytesMax",
                    67_108_864...17_592_186_044_416,
                    "bytes of the event log, at which new work is refused"
                ),
                whenReached: "new work is refused as `UNAVAILABLE` ([disk failures](../operations/disk-failures.md))"
            )
        case .messagesPerAddressPerSecondMax:
            .init(
                50_000,
                .perSecond,
                by: LimitSetting(
                    "listeners.messagesPerAddressPerSecondMax",
                    0...100_000_000,
                    zeroIsNone: true,
                    "messages a second of all connections from one address (loopback is not limited); the gateway reads further ones later; 0: no limit"
                ),
                whenReached: "the gateway reads from the address's connections later",
                alerts: false
            )
        case .messagesPerConnectionPerSecondMax:
            .init(
                1_000,
                .perSecond,
                by: LimitSetting(
                    "listeners.messagesPerConnectionPerSecondMax",
                    0...1_000_000,
                    zeroIsNone: true,
                    "messages of one connection a second; the gateway reads further ones later; 0: no limit"
                ),
                whenReached: "the gateway reads from the connection later",
                alerts: false
            )
        case .messagesPerSecondMax:
            .init(
                1_000_000,
                .perSecond,
                by: LimitSetting(
                    "listeners.messagesPerSecondMax",
                    0...100_000_000,
                    zeroIsNone: true,
                    "messages a second of all connections together; the gateway reads further ones later; 0: no limit"
                ),
                whenReached: "the gateway reads from the connections later"
            )
        case .messagesPerTurnMax:
            .init(
                16,
                of: "messages in a row",
                whenReached: "the connection waits behind other busy ones",
                alerts: false
            )
        case .questionsOpenMax:
            .init(16, whenReached: "what asks all gateways is refused as `UNAVAILABLE`, retry in a second")
        case .recordBytesMax:
            .init(4 * 1_048_576, .bytes, whenReached: "the rest goes into the next record", alerts: false)
        case .refusedTokensPerConnectionPerSecondMax:
            .init(
                1,
                .perSecond,
                by: LimitSetting(
                    "listeners.refusedTokensPerConnectionPerSecondMax",
                    0...1_000_000,
                    zeroIsNone: true,
                    "refused tokens of one connection a second, twice as many at once; the gateway reads from the connection later; 0: no limit"
                ),
                whenReached: "the gateway reads from the connection later",
                alerts: false
            )
        case .rememberedOutcomesMax:
            .init(
                524_288,
                whenReached:
                    "the oldest is forgotten: a repeat of it is logged once more; counted if it was younger than a minute",
                alerts: false
            )
        case .remoteCountsMax:
            .init(
                1_000_000,
                whenReached: "request windows are sized without the counts of some streams at other gateways"
            )
        case .requestsBehindMax: .init(4_096, whenReached: "the request is refused as `UNAVAILABLE`, retry in a second")
        case .requestsPerSessionPerSecondMax:
            .init(
                1_000,
                .perSecond,
                by: LimitSetting(
                    "listeners.requestsPerSecondMax",
                    0...1_000_000,
                    zeroIsNone: true,
                    isReloadable: true,
                    "requests of one session a second; 0: no limit"
                ),
                whenReached: "the request is refused as `RATE_LIMITED`",
                alerts: false
            )
        case .requestsWaitingPerConnectionMax:
            .init(
                64,
                whenReached: "the gateway reads from the connection again when half of them are answered",
                alerts: false
            )
        case .ringBytesMax:
            .init(
                1_048_576,
                .bytes,
                of: "of a stream",
                whenReached: "a slow listener is skipped ahead and joins again",
                alerts: false
            )
        case .ringsBytesMax:
            .init(
                128 * 1_048_576,
                .bytes,
                of: "of all streams",
                whenReached:
                    "the largest rings drop their older halves; slow listeners are skipped ahead and join again"
            )
        case .sessionsPerConnectionMax:
            .init(
                100,
                of: "within a lease",
                by: LimitSetting(
                    "listeners.sessionsPerConnectionMax",
                    0...10_000_000,
                    zeroIsNone: true,
                    "sessions that one connection may begin within a lease; 0: no limit"
                ),
                whenReached:
                    "joins are refused as `LIMIT_REACHED`; those beyond `listeners.sessionsPerAddressMax` count here too",
                alerts: false
            )
        case .sessionsPerSubjectMax:
            .init(
                10,
                by: LimitSetting(
                    "listeners.sessionsPerSubjectMax",
                    0...1_000_000,
                    zeroIsNone: true,
                    isReloadable: true,
                    "sessions of a token's subject at a time, if the token has no number; 0: no limit"
                ),
                whenReached: "joins are refused as `LIMIT_REACHED`"
            )
        case .signalSourcesMax:
            .init(
                64,
                of: "sources of signals with metrics of their own",
                whenReached: "further sources count as `(other)`",
                alerts: false
            )
        case .signalSourcesPerStreamMax:
            .init(
                16,
                of: "sources of a stream's signals",
                whenReached: "the source that was heard of longest ago is no longer shown",
                alerts: false
            )
        case .signalStreamsMax:
            .init(
                1_024,
                of: "streams whose newest signals are shown",
                whenReached: "the signals of the stream that was heard of longest ago are no longer shown",
                alerts: false
            )
        case .snapshotChunksMax:
            .init(
                4_096,
                of: "messages of 1 MiB of a snapshot for gateways that begin",
                whenReached: "the snapshot is not written: gateways that begin read more of the log"
            )
        case .spansWaitingMax: .init(10_000, whenReached: "further spans are lost and counted", alerts: false)
        case .streamsMax: .init(10_000, whenReached: "new streams are refused as `LIMIT_REACHED`")
        case .subscriptionsPerConnectionMax:
            .init(16, of: "streams", whenReached: "the connection is closed", alerts: false)
        case .tokenChecksWaitingMax: .init(1_024, whenReached: "joins are refused as `LIMIT_REACHED`")
        case .traceFileBytesMax:
            .init(
                64 * 1_048_576,
                .bytes,
                by: LimitSetting(
                    "tracing.fileBytesMax",
                    1_048_576...1_099_511_627_776,
                    isReloadable: true,
                    "size at which the trace file becomes `FILE.1` and a new one begins"
                ),
                whenReached: "a new file begins; one older file is kept",
                alerts: false
            )
        case .tracesPerSecondMax:
            .init(
                100,
                .perSecond,
                by: LimitSetting(
                    "tracing.tracesPerSecondMax",
                    1...100_000,
                    isReloadable: true,
                    "traces a second, of broadcasters and of listeners each"
                ),
                whenReached: "further requests are handled without tracing",
                alerts: false
            )
        case .trackingsRememberedMax:
            .init(
                65_536,
                whenReached: "the oldest tracking URL is forgotten: a repeat of it counts again",
                alerts: false
            )
        case .watchersMax:
            .init(
                4_096,
                of: "watchers whose newest report is kept, one for each of their sources",
                whenReached: "the watcher that reported longest ago is forgotten, and makes no alarm",
                alerts: false
            )
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The limits that `cuecast_limits_hit_total` counts, by the names that they have in code.
///
/// Each of them is shown from the start, as 0: a rate over a series that appears with its first hit misses that hit.
package enum LimitName: String, CaseIterable, Sendable {
    case acknowledgementBytesWaitingMax
    case acknowledgementsWaitingMax
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
    case framesPerMessageMax
    case httpAnswerBytesMax
    case httpBodyBytesMax
    case httpConnectionsMax
    case httpEventReadersMax
    case httpEventTicketsMax
    case httpListenersMax
    case httpListenersPerAddressMax
    case httpNoticesWaitingMax
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
    case recordBytesMax
    case refusedTokensPerConnectionPerSecondMax
    case rememberedOutcomesMax
    case reportRowsMax
    case requestsPerSessionPerSecondMax
    case requestsWaitingPerConnectionMax
    case ringBytesMax
    case ringsBytesMax
    case sessionsPerConnectionMax
    case sessionsPerSubjectMax
    case spansWaitingMax
    case streamsMax
    case subscriptionsPerConnectionMax
    case tokenChecksWaitingMax
    case traceFileBytesMax
    case tracesPerSecondMax
    case trackingsRememberedMax
}

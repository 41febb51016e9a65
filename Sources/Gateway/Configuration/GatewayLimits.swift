// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
package import GatewayCore

/// A limit as it is in force.
package struct LimitState: Hashable, Sendable {
    /// As `cuecast_limits_hit_total` has it.
    package let name: LimitName
    /// The most that may be; `nil`: no limit.
    package let maximum: Int?
    package let unit: LimitUnit
    /// The key of the configuration that sets it; `nil`: none does.
    package let key: String?
    /// How much is used at present, where it is one thing for the whole gateway that is counted.
    package let use: Int?

    package init(_ name: LimitName, _ maximum: Int?, _ unit: LimitUnit = .count, key: String? = nil, use: Int? = nil) {
        self.name = name
        self.maximum = maximum
        self.unit = unit
        self.key = key
        self.use = use
    }

    /// A limit of which 0 says that there is none.
    fileprivate init(orNone name: LimitName, _ maximum: Int, _ unit: LimitUnit = .count, key: String) {
        self.init(name, maximum == 0 ? nil : maximum, unit, key: key)
    }
}

extension Gateway {
    /// The limits of the gateway without those of HTTP's server.
    ///
    /// - Parameter configuration: what holds at present.
    /// - Returns: each limit once.
    package func limits(_ configuration: GatewayConfiguration) -> [LimitState] {
        self.limitsOfWaiting(configuration) + self.limitsOfListeners(configuration) + self.limitsOfStores(configuration)
            + Self.limitsOfControl
    }

    private func limitsOfWaiting(_ configuration: GatewayConfiguration) -> [LimitState] {
        [
            LimitState(.acknowledgementBytesWaitingMax, configuration.acknowledgementBytesWaitingMax, .bytes),
            LimitState(
                .acknowledgementsWaitingMax,
                configuration.acknowledgementsWaitingMax,
                use: self.metrics.value(.acknowledgementsWaiting)
            ),
            LimitState(.auditRecordsWaitingMax, configuration.auditRecordsWaitingMax),
            LimitState(.broadcastCallBytesWaitingMax, configuration.broadcastCallBytesWaitingMax, .bytes),
            LimitState(
                .broadcastCallsWaitingMax,
                configuration.broadcastCallsWaitingMax,
                use: self.breakDesk.callsWaiting
            ),
            LimitState(.deliveriesWaitingMax, configuration.deliveriesWaitingMax),
            LimitState(.entriesWaitingMax, configuration.entriesWaitingMax),
            LimitState(.entryBytesWaitingMax, configuration.entryBytesWaitingMax, .bytes),
            LimitState(.eventsMax, BreakDesk.eventsMax),
            LimitState(.httpNoticesWaitingMax, NoticeHub.Settings(epoch: 0).noticesWaitingMax),
            LimitState(.httpRequestsWaitingMax, ListenerEntrance.Limits().requestsWaitingMax),
            LimitState(.httpRequestsWaitingPerAddressMax, ListenerEntrance.Limits().requestsWaitingPerAddressMax),
            LimitState(
                .spansWaitingMax,
                configuration.tracing.spansWaitingMax,
                use: self.metrics.value(.spansWaiting)
            ),
            LimitState(.tokenChecksWaitingMax, TokenChecks.tokenChecksWaitingMax),
            LimitState(
                .traceFileBytesMax,
                configuration.tracing.fileBytesMax,
                .bytes,
                key: "tracing.fileBytesMax"
            ),
            LimitState(
                .tracesPerSecondMax,
                configuration.tracing.tracesPerSecondMax,
                .perSecond,
                key: "tracing.tracesPerSecondMax"
            ),
        ]
    }

    private func limitsOfListeners(_ configuration: GatewayConfiguration) -> [LimitState] {
        let edge = EdgeSettings(instance: 0, epoch: 0)
        let sockets: [MetricLabel] = [.notices, .requests, .broadcast]
        return [
            LimitState(
                .bytesWaitingMax,
                configuration.listenerBytesWaitingMax,
                .bytes,
                key: "listeners.bytesWaitingMax",
                use: self.metrics.value(.bytesWaiting)
            ),
            LimitState(
                .connectionsMax,
                self.connectionsMax,
                use: sockets.reduce(0) { $0 + self.metrics.value(.connections, $1) }
            ),
            LimitState(
                orNone: .connectionsPerAddressMax,
                configuration.connectionsPerAddressMax,
                key: "listeners.connectionsPerAddressMax"
            ),
            LimitState(.framesPerMessageMax, EdgeSettings.framesPerMessageMax),
            LimitState(
                .httpListenersMax,
                self.httpListenersMax,
                key: "http.listenersMax",
                use: self.metrics.value(.httpListeners)
            ),
            LimitState(
                .httpListenersPerAddressMax,
                configuration.httpListenersPerAddressMax,
                key: "http.listenersPerAddressMax"
            ),
            LimitState(
                .listenersMax,
                self.listenerService.listenersMax,
                key: "listeners.max",
                use: self.metrics.value(.listeners)
            ),
            LimitState(
                orNone: .messagesPerAddressPerSecondMax,
                configuration.messagesPerAddressPerSecondMax,
                .perSecond,
                key: "listeners.messagesPerAddressPerSecondMax"
            ),
            LimitState(
                orNone: .messagesPerConnectionPerSecondMax,
                configuration.messagesPerConnectionPerSecondMax,
                .perSecond,
                key: "listeners.messagesPerConnectionPerSecondMax"
            ),
            LimitState(
                orNone: .messagesPerSecondMax,
                configuration.messagesPerSecondMax,
                .perSecond,
                key: "listeners.messagesPerSecondMax"
            ),
            LimitState(.messagesPerTurnMax, EdgeSettings.messagesPerTurnMax),
            LimitState(.lightMessagesPerSecondMax, EdgeSettings.lightMessagesPerSecondMax, .perSecond),
            LimitState(
                orNone: .refusedTokensPerConnectionPerSecondMax,
                configuration.refusedTokensPerConnectionPerSecondMax,
                .perSecond,
                key: "listeners.refusedTokensPerConnectionPerSecondMax"
            ),
            LimitState(
                orNone: .requestsPerSessionPerSecondMax,
                configuration.requestsPerSessionPerSecondMax,
                .perSecond,
                key: "listeners.requestsPerSecondMax"
            ),
            LimitState(.requestsWaitingPerConnectionMax, edge.requestsWaitingPerConnectionMax),
            LimitState(.ringBytesMax, edge.ringBytesMax, .bytes),
            LimitState(.ringsBytesMax, edge.ringsBytesMax, .bytes, use: self.metrics.value(.ringBytes)),
            LimitState(
                orNone: .sessionsPerConnectionMax,
                configuration.sessionsPerConnectionMax,
                key: "listeners.sessionsPerConnectionMax"
            ),
            LimitState(
                orNone: .sessionsPerSubjectMax,
                configuration.sessionsPerSubjectMax,
                key: "listeners.sessionsPerSubjectMax"
            ),
            LimitState(.subscriptionsPerConnectionMax, edge.subscriptionsPerConnectionMax),
        ]
    }

    private func limitsOfStores(_ configuration: GatewayConfiguration) -> [LimitState] {
        [
            LimitState(.boardBytesMax, BoardLimits.boardBytesMax, .bytes, use: self.metrics.value(.boardBytes)),
            LimitState(.contradictionsLoggedMax, RecentOutcomes.contradictionsLoggedMax),
            LimitState(.forgottenSessionsMax, ForgottenSessions.forgottenSessionsMax),
            LimitState(
                .logBytesMax,
                configuration.logBytesMax,
                .bytes,
                key: "log.bytesMax",
                use: self.metrics.value(.logUsedBytes)
            ),
            LimitState(.recordBytesMax, EventLogLimits.recordBytesMax, .bytes),
            LimitState(.rememberedOutcomesMax, configuration.rememberedOutcomesMax),
            LimitState(.streamsMax, BoardLimits.streamsMax, use: self.metrics.value(.streams)),
        ]
    }

    private static var limitsOfControl: [LimitState] {
        let times = ControlTimes()
        return [
            LimitState(.controlAnswerBytesMax, ControlLimits.answerBytesMax, .bytes),
            LimitState(.controlConnectionsMax, ControlLimits.connectionsMax),
            LimitState(.controlIdleTimeout, Int(times.idleTimeout.inMilliseconds), .milliseconds),
            LimitState(.controlLineBytesMax, ControlLimits.lineBytesMax, .bytes),
            LimitState(.controlReadTimeout, Int(times.readTimeout.inMilliseconds), .milliseconds),
        ]
    }
}

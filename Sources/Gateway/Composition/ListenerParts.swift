// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Edge
import GatewayCore
import GatewayDocuments

/// The parts that serve listeners, by every transport.
struct ListenerParts: Sendable {
    /// Runs the edge's loops.
    let service: ListenerService
    /// Notices for readers over HTTP.
    let hub: NoticeHub
    /// Carries boards and notices to the loops.
    let edge: EdgeShared
    /// How many listen to each stream.
    let live: LiveListeners
    /// The other gateways that joins are told.
    let alternatives: AlternativesHolder
    /// Where requests come in that no connection of the edge carries.
    let entrance: ListenerEntrance
    /// The streams with what is known of them now.
    let overview: StreamOverview

    /// - Parameters:
    ///   - configuration: checked.
    ///   - endpoints: open; the first loop of the edge closes them.
    ///   - log: loaded.
    ///   - keys: sign, check, and tell which sessions are refused.
    ///   - budget: how many may connect.
    ///   - common: the parts that every part uses.
    /// - Throws: where there are too many descriptors.
    init(
        _ configuration: GatewayConfiguration,
        endpoints: [EdgeEndpoint],
        log: LoadedLog,
        keys: KeyParts,
        budget: ConnectionBudget,
        common: CommonParts
    ) throws {
        let epoch = log.board.epoch
        self.live = LiveListeners(metrics: common.metrics)
        self.edge = try EdgeShared(
            threads: configuration.edgeThreadCount,
            endpoints: endpoints,
            settings: configuration.edgeSettings(instance: common.instance, epoch: epoch),
            metrics: common.metrics,
            counting: budget.limit,
            clock: common.now,
            eventText: ListenerEventText.notice
        )
        let settings = configuration.requestSettings(instance: common.instance, checksTokens: keys.tokens != nil)
        let leases = SharedLeases(
            length: configuration.lease,
            listenersMax: budget.limit.listenersMax(configuration.limits[.listenersMax]),
            requestsPerSecondMax: Double(configuration.limits[.requestsPerSessionPerSecondMax]),
            live: self.live
        )
        self.hub = NoticeHub(
            settings: configuration.hubSettings(listenersMax: budget.httpListenersMax, epoch: epoch),
            tools: NoticeHub.Tools(
                keys: keys.messages,
                rules: keys.rules,
                leases: leases,
                clock: common.clock,
                metrics: common.metrics
            )
        )
        self.alternatives = AlternativesHolder()
        self.service = try ListenerService(
            edge: self.edge,
            settings: settings,
            leases: leases,
            counting: budget.limit,
            hub: self.hub,
            tools: ListenerDesk.Tools(
                log: log.health,
                holder: log.holder,
                catchUp: log.catchUp,
                keys: keys.messages,
                rules: keys.rules,
                alternatives: self.alternatives,
                tokens: keys.tokens,
                clock: common.clock,
                metrics: common.metrics,
                peers: common.peers,
                logger: common.logger
            )
        )
        self.entrance = ListenerEntrance(
            self.service.mailboxes,
            edge: self.edge,
            hub: self.hub,
            places: configuration.handsListenersOver ? budget.limit : nil,
            keys: keys.messages,
            metrics: common.metrics,
            now: common.now
        )
        self.overview = StreamOverview(log.holder, self.live)
    }
}

extension ListenerParts {
    /// The sinks of notices, in this order.
    ///
    /// A listener that a loop takes over from the hub has everything that the loop has sent: so the hub comes first where
    /// connections are handed over. Else it has hundreds of readers, and those of the edge do not wait for them.
    func sinks(_ configuration: GatewayConfiguration) -> [any NoticeSink] {
        configuration.handsListenersOver ? [self.hub, self.edge] : [self.edge, self.hub]
    }
}

extension GatewayConfiguration {
    fileprivate func edgeSettings(instance: UInt64, epoch: UInt64) -> EdgeSettings {
        var settings = EdgeSettings(instance: instance, epoch: epoch, limits: self.limits)
        settings.headInterval = self.headInterval
        settings.lease = self.lease
        settings.sessionsPerAddressMax = self.sessionsPerAddressMax
        settings.handshakeTimeout = self.handshakeTimeout
        settings.unusedTimeout = self.unusedTimeout
        settings.stalledTimeout = self.stalledTimeout
        return settings
    }

    fileprivate func requestSettings(instance: UInt64, checksTokens: Bool) -> ListenerRequestHandler.Settings {
        var settings = ListenerRequestHandler.Settings(instance: instance, limits: self.limits)
        settings.headInterval = self.headInterval
        settings.lease = self.lease
        settings.tickets = TicketRule(protectedStreams: self.protectedStreams, checksTokens: checksTokens)
        settings.audiences = self.audiencePolicy
        return settings
    }

    fileprivate func hubSettings(listenersMax: Int, epoch: UInt64) -> NoticeHub.Settings {
        var settings = NoticeHub.Settings(epoch: epoch, limits: self.limits)
        settings.readersMax = listenersMax
        settings.stalledTimeout = self.stalledTimeout
        settings.headInterval = self.headInterval
        settings.lease = self.lease
        return settings
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import SystemSupport

/// How many connections the process's descriptors allow, by transport.
struct ConnectionBudget: Sendable {
    /// How many descriptors are kept for connections over HTTP.
    let httpConnectionsMax: Int
    /// How many listeners may hear their notices over HTTP.
    let httpListenersMax: Int
    /// How many descriptors are kept beside those for listeners at the HTTP server: all of them, or those on their way to a loop.
    let httpListenersServedMax: Int
    /// Counts the connections of listeners and broadcasters.
    let limit: ConnectionLimit
    /// How many broadcasters' connections wait at most to be accepted.
    let backlog: Int

    /// Raises the process's limit, and divides it.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - common: the parts that every part uses.
    init(_ configuration: GatewayConfiguration, common: CommonParts) {
        let descriptors = ProcessDescriptors.raiseLimit()
        ProcessDescriptors.makeRoom(for: descriptors)
        self.httpConnectionsMax = DescriptorReserve.httpConnectionsMax(of: descriptors)
        let handsOver = configuration.handsListenersOver
        let wantedListeners = configuration.limits[.httpListenersMax]
        self.httpListenersServedMax = DescriptorReserve.httpListenersMax(
            handsOver
                ? min(wantedListeners, LimitName.httpHandOversMax.value)
                : DescriptorReserve.encryptedListenersMax(wantedListeners),
            of: descriptors
        )
        // Without HTTP its connections need no share.
        let httpListeners = configuration.http == nil ? 0 : self.httpListenersServedMax
        // Each thread of listeners will have its poller and what wakes it.
        let open = ProcessDescriptors.openCount() + 2 * configuration.edgeThreadCount
        let wanted = configuration.limits[.connectionsMax]
        self.limit = ConnectionLimit(
            connectionsMax: wanted > 0
                ? wanted : descriptors - open - DescriptorReserve.reserve(of: descriptors) - httpListeners,
            httpListenersMax: handsOver ? 0 : httpListeners,
            metrics: common.metrics,
            readiness: common.readiness,
            logger: common.logger
        )
        self.httpListenersMax =
            handsOver ? min(wantedListeners, self.limit.connectionsMax) : self.httpListenersServedMax
        self.limit.compare(withListenersMax: configuration.limits[.listenersMax], descriptors: descriptors)
        self.backlog = ConnectionLimit.backlog(limit: descriptors)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

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

    package init(_ name: LimitName, _ value: Int, use: Int? = nil) {
        let declaration = name.declaration
        self.name = name
        self.maximum = declaration.maximum(value)
        self.unit = declaration.unit
        self.key = declaration.setting?.key
        self.use = use
    }
}

extension Gateway {
    /// The limits of the gateway.
    ///
    /// HTTP's server knows better how many connections and readers it has.
    ///
    /// - Parameter configuration: the present one.
    /// - Returns: each limit once.
    package func limits(_ configuration: GatewayConfiguration) -> [LimitState] {
        LimitName.allCases.map { name in
            LimitState(name, self.computedValue(of: name) ?? configuration.limits[name], use: self.use(of: name))
        }
    }

    /// The value of a limit that follows from others, and from the machine; `nil`: the configuration has it.
    private func computedValue(of name: LimitName) -> Int? {
        switch name {
        case .connectionsMax: self.connectionsMax
        case .httpHandOversMax: self.httpListenersServedMax
        case .httpListenersMax: self.httpListenersMax
        case .listenersMax: self.listenerService.listenersMax
        default: nil
        }
    }

    /// How much of a limit is used; `nil`: it is counted for each connection, address or message.
    private func use(of name: LimitName) -> Int? {
        switch name {
        case .acknowledgementsWaitingMax: self.metrics.value(.acknowledgementsWaiting)
        case .boardBytesMax: self.metrics.value(.boardBytes)
        case .broadcastCallsWaitingMax: self.breakDesk.callsWaiting
        case .bytesWaitingMax: self.metrics.value(.bytesWaiting)
        case .connectionsMax:
            [MetricLabel.notices, .requests, .webSocket, .broadcast, .events]
                .reduce(0) { $0 + self.metrics.value(.connections, $1) }
        case .httpListenersMax: self.metrics.value(.httpListeners)
        case .listenersMax: self.metrics.value(.listeners)
        case .logBytesMax: self.metrics.value(.logUsedBytes)
        case .ringsBytesMax: self.metrics.value(.ringBytes)
        case .spansWaitingMax: self.metrics.value(.spansWaiting)
        case .streamsMax: self.metrics.value(.streams)
        default: nil
        }
    }
}

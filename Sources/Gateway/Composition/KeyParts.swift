// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import TLS

/// The keys, certificates and rights that a gateway runs with.
struct KeyParts: Sendable {
    /// Tells broadcasters apart; `nil`: they are not told apart.
    let broadcasters: BroadcasterAccess?
    /// The certificate that listeners are shown; `nil`: their ports are plain.
    let listeners: EndpointIdentity?
    /// The keys that sign deliveries.
    let messages: KeyHolder
    /// Which streams ask for a token, and which sessions are refused.
    let rules: ListenerRulesHolder
    /// Checks the tokens of joins; `nil`: no token is checked.
    let tokens: TokenChecks?
    /// Which pages may listen by WebSocket.
    let webSocketOrigins: WebSocketOrigins

    /// Reads the files of broadcasters and of the listeners' certificate.
    ///
    /// - Parameters:
    ///   - configuration: names the files.
    ///   - keys: the keys that sign and check.
    ///   - forgotten: sessions that are refused.
    ///   - common: the parts that every part uses.
    /// - Throws: `ConfigurationFaults` where the files are not as they must be.
    init(
        _ configuration: GatewayConfiguration,
        keys: GatewayKeys,
        forgotten: ForgottenSessions,
        common: CommonParts
    ) throws(ConfigurationFaults) {
        self.broadcasters = try BroadcasterAccess.read(for: configuration)
        let identity = try ListenerEncryption.read(for: configuration)
        common.metrics.set(.certificateExpiry, .listeners, to: Int(clamping: identity?.notAfter ?? 0))
        self.listeners = identity.map { EndpointIdentity($0) }
        self.messages = KeyHolder(keys.messages)
        self.rules = ListenerRulesHolder(
            ListenerRules(
                protectedStreams: configuration.protectedStreams,
                forgotten: forgotten,
                audiences: configuration.audiencePolicy
            )
        )
        self.webSocketOrigins = WebSocketOrigins(configuration.webSocketOriginPatterns)
        self.tokens = keys.tokens.map { TokenChecks(now: common.now, check: $0) }
    }

    /// Takes over what may change while the gateway runs.
    ///
    /// - Parameters:
    ///   - keys: sign and check from the next request on; `nil`: as before.
    ///   - identity: the certificate that listeners who connect from now on are shown; ports without one stay plain.
    ///   - metrics: show when the certificate ends.
    func reload(_ keys: MessageKeys?, _ identity: TLSIdentity?, metrics: MetricRegistry) {
        if let keys, keys.ring != self.messages.keys.ring { self.messages.swap(keys) }
        if let identity, let listeners {
            listeners.replace(by: identity)
            metrics.set(.certificateExpiry, .listeners, to: Int(clamping: identity.notAfter))
        }
    }
}

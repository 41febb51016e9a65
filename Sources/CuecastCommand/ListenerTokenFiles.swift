// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import TokenFormats
import Tokens

/// The keys that check listeners' tokens, from the files that a configuration names.
enum ListenerTokenFiles {
    /// Reads the keys.
    ///
    /// - Returns: `nil` if the configuration names no file: then tokens are not checked.
    /// - Throws: `ConfigurationFaults` with a sentence for each fault, and no secret in any of them.
    static func rules(
        for configuration: GatewayConfiguration
    ) async throws(ConfigurationFaults) -> ListenerTokens.Rules? {
        guard !configuration.listenerTokenKeysFile.isEmpty else { return nil }
        do throws(TokenKeyFaults) {
            return ListenerTokens.Rules(
                verifier: TokenVerifier(
                    keys: try await TokenKeySet(path: configuration.listenerTokenKeysFile),
                    issuer: configuration.listenerTokenIssuer,
                    audience: configuration.listenerTokenAudience
                ),
                sessionsPerSubjectMax: configuration.limits[.sessionsPerSubjectMax]
            )
        } catch {
            throw ConfigurationFaults(
                error.sentences.map { ConfigurationFault(key: "listeners.tokenKeysFile", reason: $0) }
            )
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization
import TokenFormats

/// Checks listeners' tokens by the present keys, and returns their grants.
package final class ListenerTokens: Sendable {
    /// The rules that check tokens.
    package struct Rules: Sendable {
        package let verifier: TokenVerifier
        /// The most sessions of a subject at a time, where its token says no number; 0: no limit.
        package let sessionsPerSubjectMax: Int

        package init(verifier: TokenVerifier, sessionsPerSubjectMax: Int) {
            self.verifier = verifier
            self.sessionsPerSubjectMax = sessionsPerSubjectMax
        }
    }

    private let rules: Mutex<Rules>
    private let metrics: MetricRegistry

    package init(_ rules: Rules, metrics: MetricRegistry) {
        self.rules = Mutex(rules)
        self.metrics = metrics
    }

    /// Checks a token by the rules that hold then.
    package var check: @Sendable (_ token: String, _ now: Timestamp) -> Result<ListenerGrant, Refusal> {
        { self.grant($0, at: $1) }
    }

    /// Lets other rules hold for the next token.
    package func reload(_ rules: Rules) {
        self.rules.withLock { $0 = rules }
    }

    /// Checks the token of a join, and counts what became of it.
    package func grant(_ token: String, at now: Timestamp) -> Result<ListenerGrant, Refusal> {
        let rules = self.rules.withLock(\.self)
        do throws(TokenRefusal) {
            let claims = try rules.verifier.verify(token, at: now)
            self.metrics.count(.joinTokens, .granted)
            return .success(
                ListenerGrant(
                    subject: claims.subject,
                    streams: claims.streams,
                    attributes: claims.attributes ?? [:],
                    // A token is not taken at the instant at which it expires.
                    until: claims.expires.advanced(microseconds: -1),
                    sessionsMax: claims.sessionsMax ?? rules.sessionsPerSubjectMax
                )
            )
        } catch {
            self.metrics.count(.joinTokens, error.label)
            return .failure(Refusal(.notAllowed, error.sentence))
        }
    }
}

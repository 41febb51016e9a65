// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// The keys with which a gateway signs and checks.
package struct GatewayKeys: Sendable {
    /// Sign deliveries, and check those that come back.
    package let messages: MessageKeys
    /// Tells whether the token of a join is true, and what it grants; `nil`: no token is checked, and streams that ask for one are closed.
    package let tokens: ListenerTokenCheck?

    package init(_ messages: MessageKeys, tokens: ListenerTokenCheck? = nil) {
        self.messages = messages
        self.tokens = tokens
    }
}

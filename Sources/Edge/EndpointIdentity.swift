// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization
package import TLS

/// The certificate that an endpoint shows.
///
/// Another certificate can replace it at any time. New connections see the new one; open connections go on with theirs.
package final class EndpointIdentity: Sendable {
    private let identity: Mutex<TLSIdentity>

    package init(_ identity: TLSIdentity) {
        self.identity = Mutex(identity)
    }

    /// The certificate for the next connection.
    package var current: TLSIdentity { self.identity.withLock { $0 } }

    /// Replaces the certificate, from the next connection on.
    package func replace(by identity: TLSIdentity) { self.identity.withLock { $0 = identity } }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization
package import TLS

/// The certificate that a door shows.
///
/// Another certificate can replace it at any time. New connections see the new one; open connections go on with theirs.
package final class DoorIdentity: Sendable {
    private let identity: Mutex<TLSIdentity>

    package init(_ identity: TLSIdentity) {
        self.identity = Mutex(identity)
    }

    /// What the next connection sees.
    package var current: TLSIdentity { self.identity.withLock { $0 } }

    /// The next connection sees another one.
    package func replace(by identity: TLSIdentity) { self.identity.withLock { $0 = identity } }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization
package import TLS

/// The certificate that a door shows.
///
/// Another one can take its place at any time: whoever connects after that sees the new one, and connections that are open go on
/// with theirs.
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

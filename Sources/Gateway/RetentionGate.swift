// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// Whether the log's own time may go on: shut while the gateway's clock is not to be trusted.
///
/// While it is shut nothing becomes too old; everything else goes on.
package final class RetentionGate: Sendable {
    private let open: Atomic<Bool>

    /// - Parameter isOpen: whether it begins open.
    package init(isOpen: Bool = true) {
        self.open = Atomic(isOpen)
    }

    package var isOpen: Bool { self.open.load(ordering: .acquiring) }

    package func set(isOpen: Bool) { self.open.store(isOpen, ordering: .releasing) }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
import Synchronization

/// The keys that sign now, for everybody who signs or checks.
///
/// Its one writer swaps them whole; a reader keeps what it took.
package final class KeyHolder: Sendable {
    private let state: Mutex<MessageKeys>
    private let number = Atomic<Int>(0)

    package init(_ keys: MessageKeys) {
        self.state = Mutex(keys)
    }

    package var keys: MessageKeys { self.state.withLock { $0 } }

    /// How often they were swapped, for those who look before every request whether they have the newest.
    package var swaps: Int { self.number.load(ordering: .acquiring) }

    /// Replaces the keys.
    package func swap(_ keys: MessageKeys) {
        self.state.withLock { $0 = keys }
        self.number.wrappingAdd(1, ordering: .releasing)
    }
}

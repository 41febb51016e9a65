// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Synchronization

/// The other gateways that joins are told, for all threads that answer joins.
///
/// Its one writer replaces them when another gateway comes, drains or goes.
final class AlternativesHolder: Sendable {
    private let state = Mutex(Alternatives.none)
    private let number = Atomic<Int>(0)

    var alternatives: Alternatives { self.state.withLock { $0 } }

    /// How often they were changed, for those who look before every request whether they have the newest.
    var swaps: Int { self.number.load(ordering: .acquiring) }

    /// Replaces them.
    func replace(by alternatives: Alternatives) {
        self.state.withLock { known in
            guard known != alternatives else { return }
            known = alternatives
            self.number.wrappingAdd(1, ordering: .releasing)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// What has to work before a gateway takes requests.
///
/// The ledger is not among it: it only reads, and may be behind.
package final class ReadinessBoard: Sendable {
    package enum Part: String, CaseIterable, Sendable {
        case log
        case board
        case sockets
    }

    private let ready: Mutex<Set<Part>> = Mutex([])

    package init() {}

    package func set(_ part: Part, isReady: Bool) {
        self.ready.withLock { ready in
            if isReady { ready.insert(part) } else { ready.remove(part) }
        }
    }

    /// What does not work; empty when the gateway is ready.
    package var missing: [Part] {
        self.ready.withLock { ready in Part.allCases.filter { !ready.contains($0) } }
    }
}

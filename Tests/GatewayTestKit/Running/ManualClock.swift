// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Gateway
import Synchronization

/// A clock that stands still until it is told otherwise.
package final class ManualClock: GatewayClock {
    private let time: Mutex<Timestamp>

    package init(_ now: Timestamp = SystemClock().now()) {
        self.time = Mutex(now)
    }

    package func now() -> Timestamp { self.time.withLock { $0 } }

    /// Moves the clock forward, or back where the duration is negative.
    package func advance(by duration: Duration) {
        self.time.withLock { $0 = $0 + duration }
    }

    /// Sets the clock.
    package func set(to now: Timestamp) {
        self.time.withLock { $0 = now }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GatewayCore
import Logging
import ServiceLifecycle
import Synchronization

/// How many listen to each stream, from the thread that counts them to the service that keeps the numbers.
package final class ListenerCounts: Sendable {
    private let counts: Mutex<[StreamID: Int]> = Mutex([:])

    package init() {}

    package var current: [StreamID: Int] { self.counts.withLock { $0 } }

    package func set(_ counts: [StreamID: Int]) { self.counts.withLock { $0 = counts } }
}

/// Leaves, every second and at the end, what the next run of the gateway begins with.
struct StateService: Service {
    private static let interval: Duration = .seconds(1)
    /// How many times only the clock is kept before the listeners are kept again.
    private static let timesOnly = 10

    let store: any GatewayStateStore
    let clock: any GatewayClock
    let acceptedNewest: Timestamp?
    let counts: ListenerCounts
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var left = 0
            repeat {
                if left > 0, self.store.save(time: self.clock.now()) {
                    left -= 1
                } else {
                    self.save()
                    left = Self.timesOnly
                }
            } while (try? await Task.sleep(for: Self.interval)) != nil
        }
        // The services that show the time have ended by now.
        self.save()
    }

    private func save() {
        let state = GatewayState(
            time: self.clock.now(),
            acceptedNewest: self.acceptedNewest,
            listeners: self.counts.current
        )
        if !self.store.save(state) { self.logger.debug("could not keep the gateway's state") }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// The bus to the other gateways of a log, and what this one is called there.
package struct GatewayBusParts: Sendable {
    package let bus: any GatewayBus
    /// The run as the log knows it: the origin of the ids of its appends.
    package let writer: UInt64
    /// Of the program.
    package let version: String

    package init(bus: any GatewayBus, writer: UInt64, version: String) {
        self.bus = bus
        self.writer = writer
        self.version = version
    }
}

/// The other gateways of the log, as far as they are known, for the threads that plan breaks and the service that speaks with them.
///
/// Its counts of listeners are those of all gateways together: leases stay where their listeners are.
package final class ClusterHolder: Presence {
    private let own: any Presence
    private let state: Mutex<GatewayCluster>

    /// - Parameters:
    ///   - cluster: before the first beat.
    ///   - own: how many listen at this gateway.
    package init(_ cluster: GatewayCluster, own: any Presence) {
        self.own = own
        self.state = Mutex(cluster)
    }

    package func withLock<Value: Sendable>(_ body: (inout GatewayCluster) -> Value) -> Value {
        self.state.withLock { body(&$0) }
    }

    /// How many listen at the other gateways.
    package var otherListeners: Int {
        self.state.withLock { cluster in cluster.table.alive.reduce(0) { $0 + min($1.listeners, Int(UInt32.max)) } }
    }

    /// The streams that have listeners at the other gateways, and as of which version that is so.
    package var otherStreams: (ids: [StreamID], version: UInt64) {
        self.state.withLock { (Array($0.counts.sums.keys), $0.counts.version) }
    }

    /// While it stays, the same streams have listeners at the other gateways.
    package var otherStreamsVersion: UInt64 { self.state.withLock(\.counts.version) }

    package func count(of stream: StreamID) -> Int {
        self.own.count(of: stream) + self.state.withLock { $0.counts.sums[stream] ?? 0 }
    }

    package var counts: [StreamID: Int] {
        self.own.counts.merging(self.state.withLock { $0.counts.sums }) { $0 + $1 }
    }
}

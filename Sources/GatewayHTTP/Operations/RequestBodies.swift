// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayDocuments
import Synchronization

/// Bounds the bodies that are being read, of all requests together.
final class RequestBodies: Sendable {
    /// The share of one request; given back when the last reference is released.
    final class Share: Sendable {
        private let bodies: RequestBodies
        private let bytes = Mutex(0)

        fileprivate init(_ bodies: RequestBodies) {
            self.bodies = bodies
        }

        deinit { self.bodies.give(back: self.bytes.withLock(\.self)) }

        /// More of it has come.
        ///
        /// - Throws: `LIMIT_REACHED` where there is no room.
        func add(_ count: Int) throws(Problem) {
            try self.bodies.take(count)
            self.bytes.withLock { $0 += count }
        }
    }

    private let bytesMax: Int
    private let metrics: MetricRegistry
    private let bytes = Mutex(0)

    init(bytesMax: Int, metrics: MetricRegistry) {
        self.bytesMax = bytesMax
        self.metrics = metrics
    }

    func share() -> Share { Share(self) }

    private func take(_ count: Int) throws(Problem) {
        let isTaken = self.bytes.withLock { bytes in
            guard bytes + count <= self.bytesMax else { return false }
            bytes += count
            return true
        }
        guard !isTaken else { return }
        self.metrics.count(.limitsHit, .limit(.httpBodyBytesMax))
        throw Problem(.reason(.limitReached), "The limit bodyBytesMax is \(self.bytesMax) bytes and is reached.")
    }

    private func give(back count: Int) {
        self.bytes.withLock { $0 -= count }
    }
}

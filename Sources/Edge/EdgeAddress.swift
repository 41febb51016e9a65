// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NetworkIO

/// What the connections from one address have taken together.
final class EdgeAddress {
    /// How many connections it has.
    var connectionCount = 0
    var messages: RateBucket
    var sessions: RateBucket
    /// When its last connection ended, in nanoseconds.
    var leftAt: UInt64 = 0

    init(messages: RateBucket, sessions: RateBucket) {
        self.messages = messages
        self.sessions = sessions
    }
}

/// The addresses that connections come from.
///
/// One that has gone is remembered for a while, so that coming again resets none of its limits.
struct EdgeAddresses {
    /// So many that have gone are remembered at most.
    static let goneMax = 65_536

    private var addresses: [PeerAddress: EdgeAddress] = [:]
    private var goneCount = 0
    private let messages: RateBucket.Limit
    private let sessions: RateBucket.Limit
    /// How long one that has gone is remembered, in nanoseconds.
    private let memory: UInt64

    init(messages: RateBucket.Limit, sessions: RateBucket.Limit, memory: Duration) {
        self.messages = messages
        self.sessions = sessions
        self.memory = UInt64(max(0, memory.components.seconds)) * 1_000_000_000
    }

    /// How many are remembered.
    var count: Int { self.addresses.count }

    /// A connection comes from an address.
    ///
    /// - Parameters:
    ///   - address: which.
    ///   - connectionsMax: how many an address may have; 0: no limit.
    ///   - now: the time, in nanoseconds.
    /// - Returns: what its connections have taken; `nil`: it has as many connections as it may.
    mutating func admit(_ address: PeerAddress, connectionsMax: Int, at now: UInt64) -> EdgeAddress? {
        if let known = self.addresses[address] {
            guard connectionsMax == 0 || known.connectionCount < connectionsMax else { return nil }
            if known.connectionCount == 0 { self.goneCount -= 1 }
            known.connectionCount += 1
            return known
        }
        let new = EdgeAddress(
            messages: RateBucket(self.messages, at: now),
            sessions: RateBucket(self.sessions, at: now)
        )
        new.connectionCount = 1
        self.addresses[address] = new
        return new
    }

    /// A connection from an address has ended.
    mutating func leave(_ address: PeerAddress, _ known: EdgeAddress, at now: UInt64) {
        known.connectionCount -= 1
        guard known.connectionCount == 0 else { return }
        known.leftAt = now
        self.goneCount += 1
        if self.goneCount > Self.goneMax { self.forget { _ in true } }
    }

    /// Forgets those that have gone for long.
    mutating func forgetOld(at now: UInt64) {
        guard self.goneCount > 0 else { return }
        let memory = self.memory
        self.forget { now >= $0.leftAt + memory }
    }

    private mutating func forget(_ isOld: (EdgeAddress) -> Bool) {
        self.addresses = self.addresses.filter { $0.value.connectionCount > 0 || !isOld($0.value) }
        self.goneCount = self.addresses.values.count { $0.connectionCount == 0 }
    }
}

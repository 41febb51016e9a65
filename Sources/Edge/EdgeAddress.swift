// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport

/// The rate limits' counters of all connections from one address, whichever loops they belong to.
final class EdgeAddress: Sendable {
    let messages: SharedRateBucket
    let sessions: SharedRateBucket

    init(messages: RateBucket.Limit, sessions: RateBucket.Limit) {
        self.messages = SharedRateBucket(messages)
        self.sessions = SharedRateBucket(sessions)
    }
}

/// The addresses that connections come from.
///
/// One that has gone is remembered for a while, so that coming again resets none of its limits.
struct EdgeAddresses {
    private struct Entry {
        let shared: EdgeAddress
        var connectionCount = 0
        /// When its last connection ended, in nanoseconds.
        var leftAt: UInt64 = 0
    }

    /// So many that have gone are remembered at most.
    static let goneMax = 65_536

    private var entries: [PeerAddress: Entry] = [:]
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
    var count: Int { self.entries.count }

    /// How many connections an address has.
    func connectionCount(of address: PeerAddress) -> Int { self.entries[address]?.connectionCount ?? 0 }

    /// A connection comes from an address.
    ///
    /// - Parameters:
    ///   - address: which.
    ///   - connectionsMax: how many an address may have; 0: no limit.
    /// - Returns: the rate limits' counters of its connections; `nil`: it has as many connections as it may.
    mutating func admit(_ address: PeerAddress, connectionsMax: Int) -> EdgeAddress? {
        if let known = self.entries[address] {
            guard connectionsMax == 0 || known.connectionCount < connectionsMax else { return nil }
            if known.connectionCount == 0 { self.goneCount -= 1 }
            self.entries[address]?.connectionCount += 1
            return known.shared
        }
        let new = Entry(shared: EdgeAddress(messages: self.messages, sessions: self.sessions), connectionCount: 1)
        self.entries[address] = new
        return new.shared
    }

    /// A connection from an address has ended.
    mutating func leave(_ address: PeerAddress, at now: UInt64) {
        guard var known = self.entries[address] else { return }
        known.connectionCount -= 1
        if known.connectionCount == 0 { known.leftAt = now }
        self.entries[address] = known
        guard known.connectionCount == 0 else { return }
        self.goneCount += 1
        if self.goneCount > Self.goneMax { self.forget { _ in true } }
    }

    /// Forgets those that have gone for long.
    mutating func forgetOld(at now: UInt64) {
        guard self.goneCount > 0 else { return }
        let memory = self.memory
        self.forget { now >= $0.leftAt + memory }
    }

    private mutating func forget(_ isOld: (Entry) -> Bool) {
        self.entries = self.entries.filter { $0.value.connectionCount > 0 || !isOld($0.value) }
        self.goneCount = self.entries.values.count { $0.connectionCount == 0 }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Which request is out, so that its reply finds its way and one that stays away is noticed.
///
/// Every try has an id of its own: a reply that comes after its request was given up finds nothing here and is ignored.
struct RequestTable: Sendable {
    /// The most requests that this side has open on one connection.
    static let inFlightMax = 32

    enum Purpose: Hashable, Sendable {
        case join
        case batch(BreakID)
        case acknowledge(AcknowledgementQueue.GroupKey)
        case time
        case leave
    }

    struct Entry: Hashable, Sendable {
        let id: UInt64
        let purpose: Purpose
        let sent: LocalInstant
        let deadline: LocalInstant
    }

    private var entries: [UInt64: Entry] = [:]
    private var lastID: UInt64 = 0

    var count: Int { self.entries.count }

    /// When the oldest open request runs out of time.
    var nextDeadline: LocalInstant? { self.entries.values.lazy.map(\.deadline).min() }

    /// Makes room for one more request and gives its id; `nil` when too many are open.
    mutating func open(_ purpose: Purpose, now: LocalInstant, timeout: Duration) -> UInt64? {
        guard self.entries.count < Self.inFlightMax else { return nil }
        self.lastID += 1
        self.entries[self.lastID] = Entry(id: self.lastID, purpose: purpose, sent: now, deadline: now + timeout)
        return self.lastID
    }

    /// Takes out the request that a reply answers; `nil` for a reply that no request waits for.
    mutating func close(_ id: UInt64) -> Entry? {
        self.entries.removeValue(forKey: id)
    }

    func isOpen(_ purpose: Purpose) -> Bool {
        self.entries.values.contains { $0.purpose == purpose }
    }

    /// Takes out what got no reply in time, oldest first.
    mutating func expire(now: LocalInstant) -> [Entry] {
        let expired = self.entries.values.filter { $0.deadline <= now }.sorted { $0.id < $1.id }
        for entry in expired { self.entries[entry.id] = nil }
        return expired
    }

    /// Takes out everything, oldest first, because the connection is gone.
    mutating func abandonAll() -> [Entry] {
        let all = self.entries.values.sorted { $0.id < $1.id }
        self.entries = [:]
        return all
    }
}

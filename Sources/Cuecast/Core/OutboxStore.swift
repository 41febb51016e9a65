// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// Where outcomes are kept until the gateway has confirmed them.
///
/// Calls come from any thread, in order, and must not block: a store that writes to disk queues what it is given.
protocol OutboxStore: Sendable {
    /// What was kept and not discarded.
    func load() -> [OutboxRecord]
    /// Keeps a record.
    func keep(_ record: OutboxRecord)
    /// Forgets the records with these numbers: they are confirmed, or given up.
    func discard(_ numbers: [UInt64])
}

/// Keeps outcomes as long as the client lives, from one listening to the next.
final class MemoryOutboxStore: OutboxStore {
    private let records = Mutex<[UInt64: OutboxRecord]>([:])

    init() {}

    func load() -> [OutboxRecord] {
        self.records.withLock { $0.values.sorted { $0.number < $1.number } }
    }

    func keep(_ record: OutboxRecord) {
        self.records.withLock { $0[record.number] = record }
    }

    func discard(_ numbers: [UInt64]) {
        self.records.withLock { records in
            for number in numbers { records[number] = nil }
        }
    }
}

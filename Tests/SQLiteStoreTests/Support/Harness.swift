// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GatewayCore
import GatewayTestKit
import TestSupport

@testable import SQLiteStore

/// The stores that keep one contract.
enum StoreKind: String, CaseIterable, Sendable {
    case inMemory
    case sqlite
    /// SQLite behind the wrapper that can fail, which does not.
    case wrapped
}

/// The event logs that keep one contract.
enum LogKind: String, CaseIterable, Sendable {
    case inMemory
    case sqlite
    /// SQLite behind the wrapper that can fail, which does not.
    case wrapped
    /// Far away: slow, and nothing is lost.
    case far
}

/// Opens an event log, closes it, and opens it again.
struct LogHarness: ~Copyable {
    private let kind: LogKind
    private let directory: TemporaryDirectory
    private var inMemory: InMemoryEventLog?
    private var far: FarServer?
    private var current: (any LocalEventLog)?

    init(_ kind: LogKind) throws {
        self.kind = kind
        self.directory = try TemporaryDirectory()
    }

    /// Closes the log that is open, and opens it anew.
    mutating func open() async throws -> any LocalEventLog {
        await self.current?.close()
        self.current = nil
        let log: any LocalEventLog
        switch self.kind {
        case .inMemory:
            let next = self.inMemory?.reopened() ?? InMemoryEventLog()
            self.inMemory = next
            log = next
        case .sqlite: log = try SQLiteEventLog(in: StoreDirectory(path: self.directory.path))
        case .wrapped:
            log = FailingEventLog(try SQLiteEventLog(in: StoreDirectory(path: self.directory.path)))
        case .far:
            let next = self.far?.reopened() ?? FarServer(.calm, seed: SeededGenerator.seed)
            self.far = next
            log = next.connect()
        }
        self.current = log
        return log
    }

    /// Closes the log, and lets its history go on in a new epoch.
    mutating func beginEpoch() async throws {
        await self.current?.close()
        self.current = nil
        if let log = self.inMemory {
            self.inMemory = log.restored()
        } else if let server = self.far {
            self.far = server.restored()
        } else {
            try await beginEpochOfLog(in: self.directory.path)
        }
    }

    consuming func close() async { await self.current?.close() }
}

/// Lets the history in a closed log's file go on in a new epoch.
func beginEpochOfLog(in directory: String) async throws {
    let queue = try DatabaseQueue(path: directory + "/events.sqlite")
    try await queue.write { database in
        let identity = try StoreIdentity.log(database)
        let lanes = try EventLogSchema.lanes(database)
        let heads = Dictionary(uniqueKeysWithValues: lanes.map { ($0.lane, $0.head) })
        let known = max(identity.current.base, heads.values.max() ?? 0)
        let next = identity.continued(
            epoch: .random(in: 1 ... .max),
            base: known + EventLogLimits.epochOffsetStep,
            last: heads
        )
        try StoreIdentity.write(next, database)
    }
    try queue.close()
}

/// Opens a ledger, closes it, and opens it again.
struct LedgerHarness: ~Copyable {
    private let kind: StoreKind
    private let directory: TemporaryDirectory
    private var inMemory: InMemoryLedger?
    private var current: (any Ledger)?

    init(_ kind: StoreKind) throws {
        self.kind = kind
        self.directory = try TemporaryDirectory()
    }

    /// Closes the ledger that is open, and opens it anew.
    mutating func open() async throws -> any Ledger {
        await self.current?.close()
        self.current = nil
        let ledger: any Ledger
        switch self.kind {
        case .inMemory:
            let next = self.inMemory?.reopened() ?? InMemoryLedger()
            self.inMemory = next
            ledger = next
        case .sqlite: ledger = try SQLiteLedger(in: StoreDirectory(path: self.directory.path))
        case .wrapped: ledger = FailingLedger(try SQLiteLedger(in: StoreDirectory(path: self.directory.path)))
        }
        self.current = ledger
        return ledger
    }

    consuming func close() async { await self.current?.close() }
}

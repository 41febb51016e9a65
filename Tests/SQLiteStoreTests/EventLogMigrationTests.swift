// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GatewayCore
import Testing

@testable import SQLiteStore

/// Logs that earlier versions made are opened, and go on in the same epoch.
@Suite(.suiteLimit)
struct EventLogMigrationTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Writes a log of the first schema with two records of a lane.
    ///
    /// - Returns: its epoch.
    private func writeFirstVersion(in path: String) async throws -> UInt64 {
        let queue = try DatabaseQueue(path: path + "/events.sqlite")
        try EventLogSchema.migrator.migrate(queue, upTo: "log 1")
        let epoch = try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO lanes VALUES (0, 'acknowledgements/0', 1);
                    INSERT INTO records VALUES (1, x'01'), (2, x'02');
                    """
            )
            return try Int64.fetchOne(database, sql: "SELECT epoch FROM history")
        }
        try queue.close()
        return UInt64(bitPattern: try #require(epoch))
    }

    @Test func `a log from before logs had ids keeps its epoch and its records`() async throws {
        let epoch = try await self.writeFirstVersion(in: self.directory.path)
        // A copy made before the upgrade is the same log afterwards.
        let copy = try TemporaryDirectory()
        try copyStoreFiles(from: self.directory.path, to: copy.path)
        var ids: Set<LogID> = []
        for path in [self.directory.path, self.directory.path, copy.path] {
            let log = try SQLiteEventLog(in: StoreDirectory(path: path))
            #expect(log.identity.epochs == [LogIdentity.Epoch(number: epoch, base: 0, last: [:])])
            #expect(try await log.everything(in: .acknowledgements(0)).map(\.bytes) == [[1], [2]])
            ids.insert(log.identity.logID)
            await log.close()
        }
        #expect(ids.count == 1)
        let other = try TemporaryDirectory()
        _ = try await self.writeFirstVersion(in: other.path)
        let log = try SQLiteEventLog(in: StoreDirectory(path: other.path))
        #expect(!ids.contains(log.identity.logID))
        #expect(try await log.append([3], to: .acknowledgements(0)) == 3)
        await log.close()
    }

    @Test func `a snapshot of the version before is one part without a name`() async throws {
        let queue = try DatabaseQueue(path: self.directory.path + "/events.sqlite")
        try EventLogSchema.migrator.migrate(queue, upTo: "log 2: identity")
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO lanes VALUES (0, 'breaks', 1);
                    INSERT INTO records VALUES (1, x'01'), (2, x'02');
                    INSERT INTO snapshots VALUES (0, 2, x'0505');
                    """
            )
        }
        try queue.close()
        var log = try SQLiteEventLog(in: StoreDirectory(path: self.directory.path))
        #expect(try await log.snapshotOffset(of: .breaks) == 2)
        #expect(try await log.wholeSnapshot(of: .breaks) == ["": [5, 5]])
        try await log.save(.whole(2, ["a": [1]]), of: .breaks)
        await log.close()
        log = try SQLiteEventLog(in: StoreDirectory(path: self.directory.path))
        #expect(try await log.wholeSnapshot(of: .breaks) == ["a": [1]])
        await log.close()
    }

    @Test func `a damaged identity is refused`() async throws {
        let log = try SQLiteEventLog(in: StoreDirectory(path: self.directory.path))
        await log.close()
        for damage in ["UPDATE epochs SET base = 5", "DELETE FROM epochs", "DELETE FROM identity"] {
            let damaged = try TemporaryDirectory()
            try copyStoreFiles(from: self.directory.path, to: damaged.path)
            let queue = try DatabaseQueue(path: damaged.path + "/events.sqlite")
            try await queue.write { try $0.execute(sql: damage) }
            try queue.close()
            #expect(throws: StoreError.self) { try SQLiteEventLog(in: StoreDirectory(path: damaged.path)) }
        }
    }
}

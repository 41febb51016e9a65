// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
import GatewayCore
import Testing

@testable import SQLiteStore

/// A log says which one it is.
@Suite(.suiteLimit)
struct EventLogIdentityTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

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

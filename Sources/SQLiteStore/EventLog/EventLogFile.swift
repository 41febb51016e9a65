// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GRDB
package import GatewayCore

/// The event log's file, only read: a gateway may be writing to it.
///
/// Each read is short, so that the gateway's write-ahead log is not kept from being emptied.
package final class EventLogFile: RecordSource {
    private let queue: DatabaseQueue
    private let identity: LogIdentity

    /// Opens the file.
    ///
    /// - Parameter path: the file, or a URI.
    /// - Throws: where it cannot be read, or has no identity of a log.
    init(path: String) throws {
        self.queue = try StoreFiles.reader(of: path)
        self.identity = try self.queue.read { try StoreIdentity.log($0) }
    }

    package func records(
        of lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws -> [LoggedRecord] {
        let (queue, identity) = (self.queue, self.identity)
        return try await StoreFiles.onAnotherThread {
            try queue.read { database in
                let lanes = try EventLogSchema.lanes(database)
                guard let number = lanes.firstIndex(where: { $0.lane == lane }) else { return [] }
                let firstKept = lanes[number].firstKept
                guard offset >= identity.preceding(firstKept, in: lane) else {
                    throw EventLogError.pruned(lane: lane, firstKept: firstKept)
                }
                return try EventLogSchema.records(
                    database,
                    lane: (Int64(number), lane),
                    of: identity,
                    after: offset,
                    recordsMax: recordsMax,
                    bytesMax: bytesMax
                )
            }
        }
    }

    package func head(of lane: Lane) async throws -> UInt64 {
        let queue = self.queue
        return try await StoreFiles.onAnotherThread {
            try queue.read { try EventLogSchema.lanes($0).first { $0.lane == lane }?.head ?? 0 }
        }
    }

    package func preceding(_ offset: UInt64, in lane: Lane) -> UInt64 { self.identity.preceding(offset, in: lane) }

    /// Through how many epochs the log went.
    var epochCount: Int { self.identity.epochs.count }

    /// Whether it is the copy of a backup that was not restored.
    func isBackup() async throws -> Bool {
        let queue = self.queue
        return try await StoreFiles.onAnotherThread { try queue.read { try StoreIdentity.isBackup($0) } }
    }

    func close() { try? self.queue.close() }
}

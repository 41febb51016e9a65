// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// A log far away as one gateway has it.
///
/// With `FarConditions.calm` it keeps every promise of `EventLog`. With others an append may be `unanswered`: its record is in the log,
/// comes later, or never, and a later one of the same gateway may come before it.
package final class FarLog: LocalEventLog {
    private let server: FarServer
    private let gateway: Int

    init(_ server: FarServer, gateway: Int) {
        self.server = server
        self.gateway = gateway
    }

    package var identity: LogIdentity { self.server.identity }

    /// Keeps this gateway from seeing anything new, until `release`.
    package func hold() { self.server.hold(true, self.gateway) }

    /// This gateway sees again what there is.
    package func release() { self.server.hold(false, self.gateway) }

    package func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        self.server.append(record, id: id, to: lane, by: self.gateway, done: done)
    }

    package func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        while true {
            let look = self.server.look(
                lane,
                after: offset,
                by: self.gateway,
                recordsMax: max(1, recordsMax),
                bytesMax: bytesMax
            )
            switch look {
            case .records(let records): return records
            case .failed(let error): throw error
            case .nothingMore: return []
            case .nothingYet:
                if Task.isCancelled { return [] }
                await self.server.waitForRecord(in: lane, after: offset, by: self.gateway)
            }
        }
    }

    package func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        try self.requireOpen()
        return self.server.head(of: lane)
    }

    package func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {
        try self.requireOpen()
        try self.server.save(portion, of: lane, by: self.gateway)
    }

    package func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
        try self.requireOpen()
        return self.server.snapshot(of: lane).offset
    }

    package func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart] {
        try self.requireOpen()
        return self.server.snapshot(of: lane).parts(after: key, bytesMax: bytesMax)
    }

    package func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64) {
        self.server.advance(reader, in: lane, through: offset, by: self.gateway)
    }

    package func release(keeping records: UInt64) async throws(EventLogError) {
        try self.requireOpen()
        self.server.release(keeping: records)
    }

    package func prune(_ lane: Lane, through offset: UInt64) async throws(EventLogError) {
        try self.requireOpen()
        self.server.prune(lane, through: offset)
    }

    package func close() async { await self.server.close(self.gateway) }

    private func requireOpen() throws(EventLogError) {
        if self.server.isClosed(self.gateway) { throw .closed }
    }
}

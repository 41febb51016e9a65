// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
package import GatewayCore

/// Stores the records of another log at the offsets that they had there.
///
/// ```swift
/// let target = try await LogImport.open(access, names: names)
/// let head = try await target.head(of: .breaks)
/// try await target.append(records, to: .breaks)
/// ```
///
/// Each message names the sequence that it follows, so that none is stored twice, or at another place, whatever answers are lost: a try
/// that was cut off goes on behind the newest record.
package final class LogImport: Sendable {
    package let identity: LogIdentity
    private let connection: NATSConnection
    private let names: LogNames
    private let places: [Lane: LanePlaces]

    private init(_ connection: NATSConnection, names: LogNames, isRestoring: Bool) throws(NATSError) {
        try connection.requirePayload()
        let identity = try LogCluster(connection, names: names).identity()
        guard isRestoring || identity.epochs.count == 1 else {
            throw .unusable(
                "the log under the prefix \(names.prefix) was restored from a backup: it has records already"
            )
        }
        self.identity = identity
        self.places = Dictionary(uniqueKeysWithValues: LogNames.lanes.map { ($0, LanePlaces(identity, of: $0)) })
        for lane in LogNames.lanes {
            let facts = try connection.facts(of: names.stream(of: lane), in: names, lane: lane)
            if let fault = facts.faults.first { throw .unusable("the stream \(names.stream(of: lane)) \(fault)") }
            guard facts.firstSequence == 1, facts.deletedCount == 0 else {
                throw .unusable("messages of the stream \(names.stream(of: lane)) were deleted")
            }
        }
        self.connection = connection
        self.names = names
    }

    /// Opens a log that `LogCluster` has made.
    ///
    /// - Parameters:
    ///   - access: where the servers are.
    ///   - names: of the log.
    ///   - isRestoring: whether `LogCluster.makeRestored` has made it: its offsets jump behind the records that come.
    /// - Returns: the log.
    /// - Throws: where there is no such log, or its streams or servers are not as they have to be.
    package static func open(
        _ access: NATSAccess,
        names: LogNames,
        isRestoring: Bool = false
    ) async throws(NATSError) -> LogImport {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try LogImport(NATSConnection(access), names: names, isRestoring: isRestoring)
        }
    }

    /// The newest record of a lane, as its leader says.
    package func head(of lane: Lane) async throws(NATSError) -> UInt64 {
        try await NATSCall.onThreadOfItsOwn { [self] () throws(NATSError) in
            try PatientCall.answered { () throws(NATSError) in
                let facts = try self.connection.facts(of: self.names.stream(of: lane), in: self.names, lane: lane)
                return self.places[lane]?.offset(of: facts.lastSequence) ?? 0
            }
        }
    }

    /// Stores records.
    ///
    /// - Parameters:
    ///   - records: in order, the first one behind the newest record of the lane.
    ///   - lane: to which lane.
    /// - Throws: `unusable` where something else was stored meanwhile, and `noAnswer`.
    package func append(_ records: [LoggedRecord], to lane: Lane) async throws(NATSError) {
        try await NATSCall.onThreadOfItsOwn { [self] () throws(NATSError) in
            for record in records {
                try PatientCall.answered { () throws(NATSError) in try self.store(record, in: lane) }
            }
        }
    }

    private func store(_ record: LoggedRecord, in lane: Lane) throws(NATSError) {
        let stream = self.names.stream(of: lane)
        guard let sequence = self.places[lane]?.sequence(of: record.offset) else {
            throw .unusable("there is no lane \(lane)")
        }
        do throws(NATSError) {
            _ = try self.connection.store(
                record.bytes,
                headers: Self.headers(record.mark),
                on: self.names.subject(of: lane),
                in: stream,
                after: sequence - 1
            )
        } catch {
            guard error.isAnotherSequence else { throw error }
            // An answer of an earlier try was lost, or another program writes to this log.
            guard try self.connection.message(sequence, of: stream) == record.bytes else {
                throw .unusable(
                    "\(stream) has another record at offset \(record.offset): something else writes to this log"
                )
            }
        }
    }

    /// The writer of a record, and when the record was stored first.
    private static func headers(_ mark: AppendMark?) -> [(String, String)] {
        guard let mark else { return [] }
        return [(AppendHeader.name, AppendHeader.text(mark.id)), (StandInHeader.time, "\(mark.at)")]
    }
}
#endif

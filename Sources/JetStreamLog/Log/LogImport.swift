// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
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
    /// The number of the same refusal by a server that asks the others first (`server/errors.json` of nats-server,
    /// JSStreamWrongLastSequenceConstantErr).
    private static let wrongLastSequenceOfCluster: UInt32 = 10_164

    package let identity: LogIdentity
    private let connection: NATSConnection
    private let names: LogNames

    private init(_ connection: NATSConnection, names: LogNames) throws(NATSError) {
        guard connection.payloadBytesMax >= JetStreamLimits.payloadBytesMin else {
            throw .unusable(
                "the server takes messages of \(connection.payloadBytesMax) bytes at most: set max_payload to"
                    + " \(JetStreamLimits.payloadBytesMin) or more"
            )
        }
        self.identity = try LogCluster(connection, names: names).identity()
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
    /// - Returns: the log.
    /// - Throws: where there is no such log, or its streams or servers are not as they have to be.
    package static func open(_ access: NATSAccess, names: LogNames) async throws(NATSError) -> LogImport {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try LogImport(NATSConnection(access), names: names)
        }
    }

    /// The newest record of a lane, as its leader says.
    package func head(of lane: Lane) async throws(NATSError) -> UInt64 {
        try await NATSCall.onThreadOfItsOwn { [self] () throws(NATSError) in
            try PatientCall.answered { () throws(NATSError) in
                let facts = try self.connection.facts(of: self.names.stream(of: lane), in: self.names, lane: lane)
                return LogTail.offset(of: facts.lastSequence)
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
        var options = unsafe jsPubOptions()
        unsafe jsPubOptions_Init(&options)
        var code = jsErrCode(0)
        let sequence = LogTail.sequence(of: record.offset)
        let status = unsafe stream.withCString { name in
            unsafe options.ExpectStream = unsafe name
            unsafe options.ExpectLastSeq = sequence - 1
            return unsafe record.bytes.withUnsafeBytes { bytes in
                unsafe js_Publish(
                    nil,
                    self.connection.context,
                    self.names.subject(of: lane),
                    bytes.baseAddress,
                    Int32(bytes.count),
                    &options,
                    &code
                )
            }
        }
        guard status != NATS_OK else { return }
        let isAnotherPlace =
            code == JSStreamWrongLastSequenceErr || code.rawValue == Self.wrongLastSequenceOfCluster
        guard isAnotherPlace else { throw NATSCall.error(status, code, stream: stream) }
        // An answer of an earlier try was lost, or another program writes to this log.
        guard try self.connection.message(sequence, of: stream) == record.bytes else {
            throw .unusable(
                "\(stream) has another record at offset \(record.offset): something else writes to this log"
            )
        }
    }
}
#endif

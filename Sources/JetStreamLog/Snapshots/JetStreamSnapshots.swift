// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
package import GatewayCore

extension LogNames {
    /// The stream of snapshots of the board.
    package var snapshotStream: String { "\(self.prefix)-snapshots" }

    /// Everything that is in it.
    var snapshotSubjects: String { "\(self.prefix).snapshots.*" }

    var snapshotChunks: String { "\(self.prefix).snapshots.chunks" }

    var snapshotManifests: String { "\(self.prefix).snapshots.manifests" }
}

/// The snapshots of a log on JetStream: a stream beside its lanes.
///
/// It has a connection of its own, so that a snapshot under way delays nothing else.
package struct JetStreamSnapshots: SnapshotStream {
    private let connection: NATSConnection
    private let names: LogNames

    /// Opens the stream.
    ///
    /// - Parameters:
    ///   - access: where the servers are.
    ///   - names: of the log.
    /// - Returns: the stream; `nil`: the log was made without one.
    /// - Throws: where there is no answer, or the stream is not as it has to be.
    package static func open(_ access: NATSAccess, names: LogNames) async throws(NATSError) -> JetStreamSnapshots? {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            let connection = try NATSConnection(access)
            do throws(NATSError) {
                let facts = try connection.facts(of: names.snapshotStream, subject: names.snapshotSubjects)
                if let fault = facts.faults.first { throw .unusable("the stream \(names.snapshotStream) \(fault)") }
            } catch .noStream {
                return nil
            }
            return JetStreamSnapshots(connection: connection, names: names)
        }
    }

    package func append(_ bytes: [UInt8], isManifest: Bool) async throws(SnapshotFault) -> UInt64 {
        let subject = isManifest ? self.names.snapshotManifests : self.names.snapshotChunks
        return try await self.asking { connection, names throws(NATSError) in
            try connection.store(bytes, on: subject, in: names.snapshotStream)
        }
    }

    package func messages(
        from sequence: UInt64,
        manifestsOnly: Bool
    ) async throws(SnapshotFault) -> [SnapshotMessage] {
        try await self.asking { connection, names throws(NATSError) in
            try connection.messages(
                from: sequence,
                of: names.snapshotStream,
                messagesMax: JetStreamLimits.recordsPerQuestionMax,
                bytesMax: JetStreamLimits.bytesPerQuestionMax,
                on: manifestsOnly ? names.snapshotManifests : nil
            )
            .map { SnapshotMessage(sequence: $0.sequence, bytes: $0.bytes) }
        }
    }

    package func remove(below sequence: UInt64) async throws(SnapshotFault) {
        try await self.asking { connection, names throws(NATSError) in
            try connection.purge(names.snapshotStream, below: sequence)
        }
    }

    private func asking<Value: Sendable>(
        _ body: @escaping @Sendable (NATSConnection, LogNames) throws(NATSError) -> Value
    ) async throws(SnapshotFault) -> Value {
        let (connection, names) = (self.connection, self.names)
        do throws(NATSError) {
            return try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in try body(connection, names) }
        } catch {
            throw .unavailable("\(error)")
        }
    }
}

extension NATSConnection {
    /// Stores a message, and waits for it.
    ///
    /// - Returns: its sequence.
    func store(_ bytes: [UInt8], on subject: String, in stream: String) throws(NATSError) -> UInt64 {
        var options = unsafe jsPubOptions()
        unsafe jsPubOptions_Init(&options)
        var code = jsErrCode(0)
        var answer: UnsafeMutablePointer<jsPubAck>?
        let status = unsafe stream.withCString { stream in
            unsafe options.ExpectStream = unsafe stream
            return unsafe bytes.withUnsafeBytes { bytes in
                unsafe js_Publish(
                    &answer,
                    self.context,
                    subject,
                    bytes.baseAddress,
                    Int32(bytes.count),
                    &options,
                    &code
                )
            }
        }
        guard status == NATS_OK, let answer = unsafe answer else {
            throw NATSCall.error(status, code, stream: stream)
        }
        defer { unsafe jsPubAck_Destroy(answer) }
        return unsafe answer.pointee.Sequence
    }

    /// Removes the messages of a stream below a sequence.
    func purge(_ stream: String, below sequence: UInt64) throws(NATSError) {
        var options = unsafe jsOptions()
        unsafe jsOptions_Init(&options)
        unsafe options.Wait = self.access.answerWithin.wholeMilliseconds
        unsafe options.Stream.Purge.Sequence = sequence
        var code = jsErrCode(0)
        let status = unsafe js_PurgeStream(self.context, stream, &options, &code)
        guard status == NATS_OK else { throw NATSCall.error(status, code, stream: stream) }
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
package import GatewayCore

extension LogCluster {
    /// Makes the stream of snapshots of a log; a log of an earlier version has none.
    ///
    /// - Returns: whether there was none.
    /// - Throws: `noStream` where there is no log, and `refused` where the servers cannot.
    package func makeSnapshots() throws(NATSError) -> Bool {
        _ = try self.identity()
        do throws(NATSError) {
            _ = try self.snapshots()
            return false
        } catch .noStream {
            try self.connection.makeStream(
                self.names.snapshotStream,
                subject: self.names.snapshotSubjects,
                replicas: try self.replicas()
            )
            return true
        }
    }

    /// The stream of snapshots.
    ///
    /// - Throws: `noStream` where the log has none.
    package func snapshots() throws(NATSError) -> StreamFacts {
        try self.connection.facts(of: self.names.snapshotStream, subject: self.names.snapshotSubjects)
    }

    /// The newest whole snapshot of a log.
    ///
    /// Those of an epoch before a restore may be left in the stream: no gateway begins from them.
    ///
    /// - Parameter identity: of the log, with its epoch.
    /// - Returns: its manifest; `nil`: there is none.
    /// - Throws: `noStream` where the log has no stream of snapshots, and `noAnswer`.
    package func newestSnapshot(of identity: LogIdentity) throws(NATSError) -> SnapshotManifest? {
        var newest: SnapshotManifest?
        var next: UInt64 = 1
        while case let found = try self.connection.messages(
            from: next,
            of: self.names.snapshotStream,
            messagesMax: JetStreamLimits.recordsPerQuestionMax,
            bytesMax: JetStreamLimits.bytesPerQuestionMax,
            on: self.names.snapshotManifests
        ), let last = found.last {
            newest =
                found.compactMap { SnapshotManifest($0.bytes) }
                .last { $0.logID == identity.logID && $0.epoch == identity.epoch } ?? newest
            next = last.sequence + 1
        }
        return newest
    }
}
#endif

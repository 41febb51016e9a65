// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
package import GatewayCore

extension LogCluster {
    /// Makes the streams of a log that comes back from a backup, with their first records: which log it is, and its epochs.
    ///
    /// The last epoch is the one that begins now. As its records say how many records are to come before it, no gateway opens the log
    /// before the restore has stored all of them (`LanePlaces.unfinished`). Where an earlier try ended in the middle, it goes on.
    ///
    /// - Parameters:
    ///   - identity: of the log, with the epoch that begins.
    ///   - key: of the hashes of forgotten sessions; `nil`: there are none.
    ///   - replicas: how many servers keep each stream.
    /// - Returns: the identity: that of the earlier try where there was one.
    /// - Throws: `unusable` where there is another log under the prefix, where gateways have used this one, or where it has lost a stream
    ///   since; `refused` where the servers cannot.
    package func makeRestored(
        _ identity: LogIdentity,
        key: ForgottenSessions.Key?,
        replicas: Int
    ) throws(NATSError) -> LogIdentity {
        let beginning = try self.beginning()
        var known: LogIdentity?
        for lane in LogNames.lanes {
            guard let begun = beginning.identities[lane] else { continue }
            guard begun.isSameRestore(as: identity), known == nil || known == begun else {
                throw .unusable(self.refusal(of: begun, in: lane))
            }
            known = begun
        }
        if let known { try self.requireInterrupted(known, beginning) }
        let whole = known ?? identity
        let made = try self.make(whole, on: beginning, replicas: replicas, key: key ?? .random())
        guard key == nil || made == key else {
            throw .unusable("the stream \(self.names.forgottenStream) has another key than the backup: delete it")
        }
        _ = try self.makeSnapshots()
        return whole
    }

    /// Refuses streams that no try of a restore leaves behind: filled up again, they would be a log that lacks records of gateways, and
    /// would give out their offsets once more.
    ///
    /// - Parameters:
    ///   - identity: that they begin with.
    ///   - beginning: the streams as they are.
    /// - Throws: `unusable` where gateways have used the log, and where a stream is gone or went back.
    private func requireInterrupted(_ identity: LogIdentity, _ beginning: Beginning) throws(NATSError) {
        func length(_ lane: Lane) -> UInt64 { beginning.lengths[lane] ?? 0 }
        func restored(_ lane: Lane) -> UInt64 { LanePlaces(identity, of: lane).restored }
        for lane in LogNames.lanes where length(lane) > restored(lane) {
            throw .unusable(
                "the log was restored before, and gateways have used it since: the stream \(self.names.stream(of: lane)) has"
                    + " \(length(lane) - restored(lane)) records more than the backup. \(self.advice)"
            )
        }
        // All streams have their first records before any gets another one, and before that of forgotten sessions is made.
        let hasMore = beginning.hasForgotten || LogNames.lanes.contains { length($0) > 1 }
        // The last record of the last lane comes when all others are there.
        let last = (Lane.acknowledgementLanes + [.breaks]).last { identity.current.last(of: $0) > 0 }
        let isEnded = last.map { length($0) >= restored($0) } ?? false
        for lane in LogNames.lanes where hasMore && length(lane) == 0 || isEnded && length(lane) < restored(lane) {
            throw .unusable(
                "the stream \(self.names.stream(of: lane)) lacks what a restore had stored in it: it was lost or went back"
                    + " since. \(self.advice)"
            )
        }
    }

    private func refusal(of begun: LogIdentity, in lane: Lane) -> String {
        "there is a log already: the stream \(self.names.stream(of: lane)) is of the log \(begun.logID) in the epoch"
            + " \(String(begun.epoch, radix: 16)). \(self.advice)"
    }

    private var advice: String {
        "Delete the streams of \(self.names.prefix) where nothing in them is needed, or name another prefix"
    }

    /// Refuses the sessions again that were forgotten before the backup: no record of the backup names them.
    ///
    /// - Parameters:
    ///   - forgotten: as the backup has them.
    ///   - heads: the newest record of each lane.
    ///   - logID: of the log.
    /// - Throws: `noAnswer`, after which it can be done again.
    package func restoreForgotten(
        _ forgotten: ForgottenInLog,
        through heads: [Lane: UInt64],
        of logID: LogID
    ) throws(NATSError) {
        let orders = ForgettingOrders(self.connection, names: self.names, of: logID)
        let known = try orders.readHere().orders
        for (hash, at) in forgotten.sessions.sorted(by: { $0.value < $1.value }) {
            let before = known.first { $0.hash == hash }
            guard before?.erased == nil else { continue }
            let subjects = self.names.forgotten
            let erased = (ForgettingOrder.bytes(erasedThrough: heads), subjects.erased(hash))
            for (bytes, subject) in [(ForgettingOrder.bytes(at: at), subjects.session(hash)), erased] {
                try PatientCall.answered { () throws(NATSError) in
                    _ = try self.connection.store(bytes, on: subject, in: self.names.forgottenStream)
                }
            }
        }
    }

    /// The sessions that are forgotten, for a backup.
    ///
    /// - Parameter logID: of the log.
    /// - Returns: the sessions.
    /// - Throws: `unusable` while a session is being forgotten: then records still name it.
    package func forgotten(of logID: LogID) throws(NATSError) -> ForgottenInLog {
        let known = try ForgettingOrders(self.connection, names: self.names, of: logID).readHere()
        guard known.orders.allSatisfy({ $0.names == nil && $0.erased != nil }) else {
            throw .unusable(
                "a session is being forgotten: end that with 'cuecast forget --continue', and make the backup then"
            )
        }
        let sessions = Dictionary(known.orders.map { ($0.hash, $0.at) }) { $1 }
        return ForgottenInLog(key: known.key, sessions: sessions)
    }
}

extension LogIdentity {
    /// Whether both are of one backup, with an epoch that began when it was restored.
    fileprivate func isSameRestore(as other: LogIdentity) -> Bool {
        self.logID == other.logID && self.epochs.count == other.epochs.count
            && self.epochs.dropLast() == other.epochs.dropLast() && self.current.last == other.current.last
    }
}
#endif

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
    /// - Throws: `unusable` where there is another log under the prefix; `refused` where the servers cannot.
    package func makeRestored(
        _ identity: LogIdentity,
        key: ForgottenSessions.Key?,
        replicas: Int
    ) throws(NATSError) -> LogIdentity {
        guard self.connection.payloadBytesMax >= JetStreamLimits.payloadBytesMin else {
            throw .unusable(
                "the server takes messages of \(self.connection.payloadBytesMax) bytes at most: set max_payload to"
                    + " \(JetStreamLimits.payloadBytesMin) or more"
            )
        }
        var known: LogIdentity?
        var missing: [Lane] = []
        var empty: [Lane] = []
        for lane in LogNames.lanes {
            do throws(NATSError) {
                guard let begun = try self.begun(lane) else {
                    empty.append(lane)
                    continue
                }
                guard begun.isSameRestore(as: identity), known == nil || known == begun else {
                    throw .unusable(self.refusal(of: begun, in: lane))
                }
                known = begun
            } catch {
                guard case .noStream = error else { throw error }
                missing.append(lane)
            }
        }
        let hasForgotten = try self.hasForgotten()
        guard !hasForgotten || known != nil else {
            throw .unusable("the stream \(self.names.forgottenStream) is of a log that is gone: delete it")
        }
        let whole = known ?? identity
        for lane in missing {
            try self.connection.makeStream(
                self.names.stream(of: lane),
                subject: self.names.subject(of: lane),
                replicas: replicas
            )
        }
        for lane in missing + empty {
            try self.connection.storeFirst(
                IdentityRecord(whole, lane: lane).bytes,
                on: self.names.subject(of: lane),
                in: self.names.stream(of: lane)
            )
        }
        let made = try self.makeForgotten(of: whole.logID, replicas: replicas, key: key ?? .random())
        guard key == nil || made == key else {
            throw .unusable("the stream \(self.names.forgottenStream) has another key than the backup: delete it")
        }
        _ = try self.makeSnapshots()
        return whole
    }

    /// Which log the stream of a lane begins with; `nil`: it is empty.
    private func begun(_ lane: Lane) throws(NATSError) -> LogIdentity? {
        let stream = self.names.stream(of: lane)
        let facts = try self.connection.facts(of: stream, in: self.names, lane: lane)
        if let fault = facts.faults.first { throw .unusable("the stream \(stream) \(fault)") }
        return facts.lastSequence == 0 ? nil : try self.firstRecord(of: lane).identity
    }

    private func refusal(of begun: LogIdentity, in lane: Lane) -> String {
        "there is a log already: the stream \(self.names.stream(of: lane)) is of the log \(begun.logID) in the epoch"
            + " \(String(begun.epoch, radix: 16)). Delete the streams of \(self.names.prefix) where nothing in them is"
            + " needed, or name another prefix"
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

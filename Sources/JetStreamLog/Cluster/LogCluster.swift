// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
package import GatewayCore

/// The streams of a log as a whole: makes them, and says how they are.
///
/// ```swift
/// let identity = try LogCluster(connection, names: names).make(replicas: 3)
/// ```
///
/// Its calls block.
package struct LogCluster: Sendable {
    /// A lane's stream.
    package struct LaneState: Sendable {
        package let lane: Lane
        package let stream: String
        /// `nil`: there is no such stream, or no answer.
        package let facts: StreamFacts?
        /// The newest record; `nil`: it cannot be told.
        package let head: UInt64?
        /// Why the lane cannot be used yet: a restore did not end; `nil`: it can.
        package let unfinished: String?
        /// How many of its erased messages have another record in their place (`cuecast forget`).
        package let standIns: UInt64
        /// `nil`: the leader answered.
        package let error: NATSError?
    }

    let connection: NATSConnection
    let names: LogNames

    package init(_ connection: NATSConnection, names: LogNames) {
        self.connection = connection
        self.names = names
    }

    /// Makes the streams of a new log, and writes its identity into them.
    ///
    /// Where an earlier try ended in the middle, it goes on.
    ///
    /// - Parameter replicas: how many servers keep each stream.
    /// - Returns: the identity.
    /// - Throws: `unusable` where there is a log already; `refused` where the servers cannot.
    package func make(replicas: Int) throws(NATSError) -> LogIdentity {
        // Its first record alone is of the identity.
        let beginning = try self.beginning(lengthMax: 1)
        guard Set(beginning.identities.values).count <= 1 else {
            throw .unusable("the streams of \(self.names.prefix) are of different logs")
        }
        guard !beginning.isWhole || !beginning.hasForgotten else {
            throw .unusable("there is a log already under the prefix \(self.names.prefix)")
        }
        let whole = beginning.identities.values.first ?? LogIdentity()
        _ = try self.make(whole, on: beginning, replicas: replicas, key: .random())
        return whole
    }

    /// The streams of a log that are there before it is made, or of an earlier try.
    struct Beginning {
        /// The newest message of each stream; a lane without a stream has none.
        fileprivate(set) var lengths: [Lane: UInt64] = [:]
        /// That streams begin with, as far as they have a message.
        fileprivate(set) var identities: [Lane: LogIdentity] = [:]
        /// Whether the stream about forgotten sessions has its first message: it gets it after all lanes have theirs.
        fileprivate(set) var hasForgotten = false

        /// Whether all lanes have their first record.
        var isWhole: Bool { self.identities.count == LogNames.lanes.count }
    }

    /// Looks at what is there, and makes nothing.
    ///
    /// - Parameter lengthMax: the most messages that a stream may have.
    /// - Returns: the streams as they are.
    /// - Throws: `unusable` where that is no log, or has more; `noAnswer`.
    func beginning(lengthMax: UInt64 = .max) throws(NATSError) -> Beginning {
        try self.connection.requirePayload()
        var beginning = Beginning()
        for lane in LogNames.lanes {
            let stream = self.names.stream(of: lane)
            do throws(NATSError) {
                let facts = try self.connection.facts(of: stream, in: self.names, lane: lane)
                if let fault = facts.faults.first { throw .unusable("the stream \(stream) \(fault)") }
                guard facts.lastSequence <= lengthMax else {
                    throw .unusable("there is a log already: \(stream) has records")
                }
                beginning.lengths[lane] = facts.lastSequence
                if facts.lastSequence > 0 { beginning.identities[lane] = try self.firstRecord(of: lane).identity }
            } catch {
                guard case .noStream = error else { throw error }
            }
        }
        beginning.hasForgotten = try self.hasForgotten()
        guard !beginning.hasForgotten || !beginning.identities.isEmpty else {
            throw .unusable("the stream \(self.names.forgottenStream) is of a log that is gone: delete it")
        }
        return beginning
    }

    /// Makes the streams that are missing, and writes the identity into those that are empty.
    ///
    /// - Parameters:
    ///   - identity: of the log.
    ///   - beginning: the streams as they are.
    ///   - replicas: how many servers keep each stream.
    ///   - key: of the hashes of forgotten sessions, where there is none yet.
    /// - Returns: the key that the log has.
    /// - Throws: `refused` where the servers cannot; `unusable` where the stream about forgotten sessions is of another log.
    func make(
        _ identity: LogIdentity,
        on beginning: Beginning,
        replicas: Int,
        key: ForgottenSessions.Key
    ) throws(NATSError) -> ForgottenSessions.Key {
        for lane in LogNames.lanes where beginning.lengths[lane] == nil {
            try self.connection.makeStream(
                self.names.stream(of: lane),
                subject: self.names.subject(of: lane),
                replicas: replicas
            )
        }
        for lane in LogNames.lanes where beginning.identities[lane] == nil {
            try self.connection.storeFirst(
                IdentityRecord(identity, lane: lane).bytes,
                on: self.names.subject(of: lane),
                in: self.names.stream(of: lane)
            )
        }
        return try self.makeForgotten(of: identity.logID, replicas: replicas, key: key)
    }

    func hasForgotten() throws(NATSError) -> Bool {
        do throws(NATSError) {
            return try self.connection.message(1, of: self.names.forgottenStream) != nil
        } catch {
            guard case .noStream = error else { throw error }
            return false
        }
    }

    /// Makes the stream about sessions that are forgotten, unless it is there.
    ///
    /// - Parameters:
    ///   - logID: of the log.
    ///   - replicas: how many servers keep it.
    ///   - key: of a stream that is made.
    /// - Returns: the key of the hashes in it.
    /// - Throws: `unusable` where there is one of another log.
    func makeForgotten(
        of logID: LogID,
        replicas: Int,
        key: ForgottenSessions.Key = .random()
    ) throws(NATSError) -> ForgottenSessions.Key {
        let stream = self.names.forgottenStream
        func stored() throws(NATSError) -> ForgottenSessions.Key? {
            guard let bytes = try self.connection.message(1, of: stream) else { return nil }
            guard let head = ForgettingHead(bytes, of: logID) else {
                throw .unusable("the stream \(stream) is not of this log: delete it where no log needs it")
            }
            return head.key
        }
        do throws(NATSError) {
            if let key = try stored() { return key }
        } catch {
            guard case .noStream = error else { throw error }
            try self.connection.makeStream(stream, subject: self.names.forgotten.all, replicas: replicas)
        }
        do throws(NATSError) {
            let head = ForgettingHead(logID: logID, key: key)
            try self.connection.storeFirst(head.bytes, on: self.names.forgotten.head, in: stream)
        } catch {
            // Another operator was quicker, or an answer was lost.
            guard error.isAnotherSequence else { throw error }
        }
        guard let key = try stored() else { throw .noAnswer(stream) }
        return key
    }

    /// The identity that all streams of the log begin with.
    ///
    /// - Throws: `noStream` where one is missing, and `unusable` where they do not belong together.
    package func identity() throws(NATSError) -> LogIdentity {
        var identity: LogIdentity?
        for lane in LogNames.lanes {
            let known = try self.firstRecord(of: lane).identity
            guard identity == nil || identity == known else {
                throw .unusable("the streams of \(self.names.prefix) are of different logs")
            }
            identity = known
        }
        guard let identity else { throw .unusable("a log without lanes") }
        return identity
    }

    /// How many servers have each record: of the stream that fewest have.
    package func replicas() throws(NATSError) -> Int {
        var fewest = Int.max
        for lane in LogNames.lanes {
            let facts = try self.connection.facts(of: self.names.stream(of: lane), in: self.names, lane: lane)
            fewest = min(fewest, facts.replicas)
        }
        return fewest
    }

    func firstRecord(of lane: Lane) throws(NATSError) -> IdentityRecord {
        let stream = self.names.stream(of: lane)
        guard let bytes = try self.connection.message(1, of: stream), let record = IdentityRecord(bytes),
            record.lane == lane
        else { throw .unusable("the stream \(stream) does not begin with the identity of a log") }
        return record
    }

    /// How each stream is.
    ///
    /// - Returns: each lane by itself: one that is gone does not hide the others.
    package func states() -> [LaneState] {
        LogNames.lanes.map { lane in
            let stream = self.names.stream(of: lane)
            do throws(NATSError) {
                let facts = try self.connection.facts(of: stream, in: self.names, lane: lane)
                let standIns = try StandIns(self.connection, names: self.names, followed: .max)
                    .look(at: facts, of: lane)
                let places = self.places(of: lane)
                return LaneState(
                    lane: lane,
                    stream: stream,
                    facts: facts,
                    head: places?.offset(of: facts.lastSequence),
                    unfinished: places?.unfinished(at: facts.lastSequence),
                    standIns: standIns,
                    error: nil
                )
            } catch {
                return LaneState(
                    lane: lane,
                    stream: stream,
                    facts: nil,
                    head: nil,
                    unfinished: nil,
                    standIns: 0,
                    error: error
                )
            }
        }
    }

    /// Where the records of a lane stand; `nil`: its stream does not begin with an identity, or does not answer.
    private func places(of lane: Lane) -> LanePlaces? {
        do throws(NATSError) {
            return LanePlaces(try self.firstRecord(of: lane).identity, of: lane)
        } catch {
            return nil
        }
    }
}
#endif

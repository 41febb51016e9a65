// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import GatewayCore
import Synchronization

/// The records that stand for messages that were erased, because a session in them was forgotten.
///
/// A message that is missing and has none was lost. Only the operator's key may store them.
final class StandIns: Sendable {
    private struct State {
        /// How many messages of each lane were found to have one.
        var counts: [Lane: UInt64] = [:]
        /// Orders up to here are followed by the books of this gateway: records of later ones are not handed out.
        var followed: UInt64
        /// Sessions that are being forgotten have other names in all that is read.
        var names: [ForgettingNames] = []
    }

    private let connection: NATSConnection
    private let names: LogNames
    private let state: Mutex<State>

    /// - Parameters:
    ///   - connection: to the servers.
    ///   - names: of the log.
    ///   - followed: records of later orders are not handed out.
    init(_ connection: NATSConnection, names: LogNames, followed: UInt64) {
        self.connection = connection
        self.names = names
        self.state = Mutex(State(followed: followed))
    }

    /// How many messages of a lane were found to have one.
    func count(of lane: Lane) -> UInt64 { self.state.withLock { $0.counts[lane] ?? 0 } }

    /// The books of this gateway follow the orders up to one.
    func follow(through order: UInt64) { self.state.withLock { $0.followed = max($0.followed, order) } }

    /// The sessions that are being forgotten.
    func rename(_ names: [ForgettingNames]) { self.state.withLock { $0.names = names } }

    /// The record that stands for an erased message, as the leader has it.
    ///
    /// - Returns: the record, at the place of the erased one; `nil`: there is none.
    func standIn(for sequence: UInt64, of lane: Lane) throws(NATSError) -> StreamMessage? {
        do throws(NATSError) {
            let subject = self.names.forgotten.standIn(for: sequence, of: lane)
            guard var found = try self.connection.last(on: subject, of: self.names.forgottenStream),
                found.standIn != nil
            else { return nil }
            found.sequence = sequence
            return found
        } catch {
            if case .noStream = error { return nil }
            throw error
        }
    }

    /// Fills the holes of an answer.
    ///
    /// - Parameters:
    ///   - messages: in order.
    ///   - sequence: the first one that was asked for.
    ///   - end: there is a message, or was one, up to here.
    ///   - lane: of the stream.
    /// - Returns: the messages, up to the first one that this gateway may not read yet; a hole stays where a message was lost.
    /// - Throws: where the leader does not answer.
    func fill(
        _ messages: [StreamMessage],
        from sequence: UInt64,
        through end: UInt64,
        of lane: Lane
    ) throws(NATSError) -> [StreamMessage] {
        guard messages.first.map({ $0.sequence != sequence }) ?? true || Self.hasHole(messages) else { return messages }
        let followed = self.state.withLock(\.followed)
        var filled: [StreamMessage] = []
        var next = sequence
        var there: Set<UInt64>?
        for message in messages {
            while next < message.sequence {
                defer { next += 1 }
                if let there, !there.contains(next) { continue }
                guard let found = try self.standIn(for: next, of: lane) else {
                    // A message was lost. Where many were, the leader is not asked for each.
                    if there == nil { there = try self.sequences(of: lane) }
                    continue
                }
                guard found.standIn ?? 0 <= followed else { return filled }
                filled.append(found)
            }
            filled.append(message)
            next = message.sequence + 1
        }
        // None came: what was asked for is the newest, or the server that answered is behind.
        while messages.isEmpty, next <= end, filled.count < JetStreamLimits.recordsPerQuestionMax,
            let found = try self.standIn(for: next, of: lane), found.standIn ?? 0 <= followed
        {
            filled.append(found)
            next += 1
        }
        return filled
    }

    private static func hasHole(_ messages: [StreamMessage]) -> Bool {
        guard let first = messages.first?.sequence, let last = messages.last?.sequence else { return false }
        return last - first + 1 != UInt64(messages.count)
    }

    /// Looks whether each deleted message of a lane has one.
    ///
    /// - Parameters:
    ///   - facts: of the stream, as its leader says.
    ///   - lane: of the stream.
    /// - Returns: how many have one; fewer than were deleted: messages were lost.
    /// - Throws: where the leader does not answer.
    func look(at facts: StreamFacts, of lane: Lane) throws(NATSError) -> UInt64 {
        let known = self.count(of: lane)
        guard facts.deletedCount > known else { return known }
        let deleted = try self.connection.deletedSequences(of: self.names.stream(of: lane))
        let found = deleted.intersection(try self.sequences(of: lane))
        // A record whose message is there, too, stands for nothing.
        guard found.count == deleted.count else { return UInt64(found.count) }
        let count = UInt64(found.count)
        self.state.withLock { $0.counts[lane] = count }
        return count
    }

    /// The messages of a lane that have a record in their place, as the leader says.
    private func sequences(of lane: Lane) throws(NATSError) -> Set<UInt64> {
        do throws(NATSError) {
            let subjects = try self.connection.subjects(
                of: self.names.forgottenStream,
                matching: self.names.forgotten.standIns(of: lane)
            )
            return Set(subjects.compactMap { UInt64(ForgottenSubjects.last(of: $0)) })
        } catch {
            guard case .noStream = error else { throw error }
            return []
        }
    }

    /// The records of a lane as readers get them while sessions are being forgotten.
    ///
    /// - Parameters:
    ///   - records: as the servers have them.
    ///   - lane: their lane.
    ///   - passingOver: whether a record that cannot be read stays as it is: the reader finds that out.
    /// - Returns: the records.
    /// - Throws: where one cannot be read.
    func renamed(
        _ records: [LoggedRecord],
        of lane: Lane,
        passingOver: Bool = false
    ) throws(EventLogError) -> [LoggedRecord] {
        let names = self.state.withLock(\.names)
        guard !names.isEmpty, lane != .breaks else { return records }
        return try records.map { (record) throws(EventLogError) in
            do throws(WireError) {
                return try record.forgetting(names)
            } catch {
                if passingOver { return record }
                throw .failed("a record of the lane \(lane) cannot be read: \(error)")
            }
        }
    }
}
#endif

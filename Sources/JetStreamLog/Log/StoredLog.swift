// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import Dispatch
package import GatewayCore

/// A log as the servers have it, up to the records that were the newest when it was opened.
///
/// ```swift
/// let log = try await StoredLog.open(access, names: names)
/// let portion = try await log.portion(of: .breaks, after: 0, recordsMax: 512, bytesMax: 8 << 20)
/// ```
///
/// `JetStreamLog` refuses a log that lacks a record. This one is only read: it tells of what is missing, and goes on behind it.
package final class StoredLog: InspectedLog {
    /// How long servers may be silent, or behind their leader (30 s): an election takes 4 to 7 s.
    private static let answersWithin: Duration = .seconds(30)
    private static let tryAfter: Duration = .milliseconds(100)

    package let identity: LogIdentity
    private let connection: NATSConnection
    private let names: LogNames
    private let heads: [Lane: UInt64]
    private let places: [Lane: LanePlaces]
    private let standIns: StandIns
    private let questions = DispatchQueue(label: "cuecast-jetstream-inspection")

    private init(_ connection: NATSConnection, names: LogNames, isRestoring: Bool) throws(NATSError) {
        let identity = try LogCluster(connection, names: names).identity()
        self.identity = identity
        var heads: [Lane: UInt64] = [:]
        var places: [Lane: LanePlaces] = [:]
        // The breaks come last: then they are there for all acknowledgements that are.
        for lane in LogNames.lanes.reversed() {
            let (stream, place) = (names.stream(of: lane), LanePlaces(identity, of: lane))
            let last = try connection.facts(of: stream, in: names, lane: lane).lastSequence
            if !isRestoring { try place.requireFinished(at: last) }
            heads[lane] = place.offset(of: last)
            places[lane] = place
        }
        self.heads = heads
        self.places = places
        self.connection = connection
        self.names = names
        self.standIns = StandIns(connection, names: names, followed: .max)
        // Gateways read the records so while a session is being forgotten.
        let orders = ForgettingOrders(connection, names: names, of: self.identity.logID)
        self.standIns.rename(try orders.readHere().pending.compactMap(\.names))
    }

    /// Opens a log that `LogCluster` has made.
    ///
    /// - Parameters:
    ///   - access: where the servers are.
    ///   - names: of the log.
    ///   - isRestoring: whether it may lack records that a restore is about to store.
    /// - Returns: the log.
    /// - Throws: where there is no such log, its streams do not begin with its identity, or a restore did not end.
    package static func open(
        _ access: NATSAccess,
        names: LogNames,
        isRestoring: Bool = false
    ) async throws(NATSError) -> StoredLog {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try StoredLog(NATSConnection(access), names: names, isRestoring: isRestoring)
        }
    }

    package func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        guard let head = self.heads[lane] else { throw .failed("there is no lane \(lane)") }
        return head
    }

    package func portion(
        of lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> InspectedPortion {
        let head = try await self.head(of: lane)
        guard offset < head else { return InspectedPortion() }
        let begun = ContinuousClock.now
        while true {
            let answer = await withCheckedContinuation { continuation in
                self.questions.async {
                    continuation.resume(
                        returning: Result { () throws(NATSError) in
                            try self.ask(lane, after: offset, through: head, recordsMax: recordsMax, bytesMax: bytesMax)
                        }
                    )
                }
            }
            switch answer {
            case .success(var portion?):
                portion.records = try self.standIns.renamed(portion.records, of: lane, passingOver: true)
                return portion
            case .success(nil), .failure(.noAnswer): break
            case .failure(let error): throw .failed("\(error)")
            }
            guard ContinuousClock.now - begun < Self.answersWithin else { throw .unanswered }
            do {
                try await Task.sleep(for: Self.tryAfter)
            } catch {
                throw .closed
            }
        }
    }

    /// - Returns: `nil` where a server answered that does not have what the leader has.
    private func ask(
        _ lane: Lane,
        after offset: UInt64,
        through head: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) throws(NATSError) -> InspectedPortion? {
        guard let places = self.places[lane] else { return InspectedPortion() }
        let first = places.sequence(of: offset) + 1
        let answer = try self.connection.messages(
            from: first,
            of: self.names.stream(of: lane),
            messagesMax: max(1, min(recordsMax, JetStreamLimits.recordsPerQuestionMax)),
            bytesMax: max(1, min(bytesMax, JetStreamLimits.bytesPerQuestionMax))
        )
        // A record that stands for one whose message is only behind at this server is as good.
        let messages = try self.standIns.fill(answer, from: first, through: places.sequence(of: head), of: lane)
        var portion = InspectedPortion()
        // The next message, and the offset up to which everything was looked at.
        var (next, last) = (first, offset)
        for message in messages {
            let found = places.offset(of: message.sequence)
            guard message.sequence >= next, found <= head else { break }
            if message.sequence > next {
                guard try self.lacks(next, lane) else { break }
                portion.faults.append(.init(offsets: places.offset(of: next)...places.preceding(found)))
            }
            do {
                portion.records.append(try LogTail.record(message, at: places))
            } catch {
                portion.faults.append(.init(offsets: found...found, reason: error.sentence))
            }
            (next, last) = (message.sequence + 1, found)
        }
        if last > offset { return portion }
        // None came although the leader had one: nothing is there, or the server that answered is behind.
        guard try self.lacks(first, lane) else { return nil }
        let facts = try self.connection.facts(of: self.names.stream(of: lane), in: self.names, lane: lane)
        // Where everything up to the stream's first message is gone, all of it at once; else this record alone.
        let gone = places.offset(of: first)
        let lastGone = places.offset(of: max(1, facts.firstSequence) - 1)
        return InspectedPortion(faults: [.init(offsets: gone...min(head, max(gone, lastGone)))])
    }

    /// Whether the leader does not have a record either.
    private func lacks(_ sequence: UInt64, _ lane: Lane) throws(NATSError) -> Bool {
        try self.connection.message(sequence, of: self.names.stream(of: lane)) == nil
    }
}
#endif

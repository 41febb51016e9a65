// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
package import CuecastWire
import Dispatch
package import GatewayCore
import Synchronization

/// An event log on NATS JetStream: each lane is a stream that the servers keep, and several gateways share it.
///
/// ```swift
/// let log = try await JetStreamLog.open(NATSAccess(servers: ["nats://127.0.0.1:4222"]), names: LogNames())
/// let writing = try await WriterLog(over: log)
/// ```
///
/// The first message is the record of the identity; `LanePlaces` says which offset the record of each other one has. An append is answered when the servers have confirmed it and readers here have it. `WriterLog` confirms by what it reads. What the streams hold is compared all the time with
/// what was seen of them (`LogTail`, `StreamGuard`): a log that went back stops, and takes nothing more until it is opened again.
///
/// It makes no stream: `LogCluster` does, once.
package final class JetStreamLog: EventLog {
    private struct State {
        var recent = RecentAppends<@Sendable (Result<UInt64, EventLogError>) -> Void>()
        var isClosing = false
        /// Why nothing new is confirmed at present, by lane.
        var doubts: [Lane: String] = [:]
    }

    private static let begun = ContinuousClock.now
    private static var elapsed: Timestamp { Timestamp(microseconds: (ContinuousClock.now - Self.begun).inMicroseconds) }

    package let identity: LogIdentity
    package let connection: NATSConnection
    package let names: LogNames
    private let lanes: [Lane]
    private let places: [Lane: LanePlaces]
    private let followers: [Lane: LaneFollower]
    private let standIns: StandIns
    private let news: [NATSListening]
    private let writer: StreamWriter
    private let end: LogEnd
    private let state = Mutex(State())
    private let watching = DispatchQueue(label: "cuecast-jetstream-watch")
    private let watchEnd = DispatchSemaphore(value: 0)
    private let watched = DispatchGroup()
    /// Questions of callers, which block.
    private let questions = DispatchQueue(label: "cuecast-jetstream-questions", attributes: .concurrent)
    /// Answers that are certain already.
    private let answers = DispatchQueue(label: "cuecast-jetstream-answers")

    /// Opens a log that `LogCluster` has made.
    ///
    /// - Parameters:
    ///   - access: where the servers are.
    ///   - names: of the log.
    ///   - doubtfulFor: how long a stream may be shorter than it was before the log stops.
    ///   - followed: up to which order of `ForgettingOrders` all sessions are forgotten in what this gateway keeps.
    /// - Returns: the log, which follows its streams.
    /// - Throws: where there is no such log, or its streams or servers are not as they have to be.
    package static func open(
        _ access: NATSAccess,
        names: LogNames,
        doubtfulFor: Duration = JetStreamLimits.doubtfulFor,
        followed: UInt64 = .max
    ) async throws(NATSError) -> JetStreamLog {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try JetStreamLog(NATSConnection(access), names: names, doubtfulFor: doubtfulFor, followed: followed)
        }
    }

    private init(
        _ connection: NATSConnection,
        names: LogNames,
        doubtfulFor: Duration,
        followed: UInt64
    ) throws(NATSError) {
        try connection.requirePayload()
        let cluster = LogCluster(connection, names: names)
        let identity = try cluster.identity()
        self.identity = identity
        let places = Dictionary(uniqueKeysWithValues: LogNames.lanes.map { ($0, LanePlaces(identity, of: $0)) })
        self.places = places
        self.connection = connection
        self.names = names
        self.lanes = LogNames.lanes
        let end = LogEnd()
        self.end = end
        let lost: @Sendable (String) -> Void = { end.fail($0) }
        let standIns = StandIns(connection, names: names, followed: followed)
        self.standIns = standIns
        var followers: [Lane: LaneFollower] = [:]
        var news: [NATSListening] = []
        var guards: [Lane: StreamGuard] = [:]
        for (lane, place) in places {
            let facts = try connection.facts(of: names.stream(of: lane), in: names, lane: lane)
            if let fault = facts.faults.first {
                throw .unusable("the stream \(names.stream(of: lane)) \(fault)")
            }
            guard facts.firstSequence == 1, try standIns.look(at: facts, of: lane) >= facts.deletedCount else {
                throw .unusable("messages of the stream \(names.stream(of: lane)) were deleted")
            }
            try place.requireFinished(at: facts.lastSequence)
            guards[lane] = StreamGuard(place, created: facts.created, doubtfulFor: doubtfulFor)
            let follower = LaneFollower(
                place,
                names,
                after: place.offset(of: facts.lastSequence),
                connection: connection,
                standIns: standIns,
                lost: lost
            )
            followers[lane] = follower
            news.append(
                try NATSListening(connection, on: names.news(of: lane)) { [weak follower] _, bytes in
                    if let sequence = UInt64(String(decoding: bytes, as: UTF8.self)) { follower?.told(sequence) }
                }
            )
        }
        self.followers = followers
        self.news = news
        let all = followers
        self.writer = try StreamWriter(
            names,
            places,
            connection,
            stored: { lane, sequence, seen in
                guard let follower = all[lane] else { return seen(false) }
                follower.hear()
                follower.expect(sequence, seen: seen)
                connection.publish(Array("\(sequence)".utf8), on: names.news(of: lane))
            },
            lost: lost
        )
        // Where the log stops, readers get nothing more, and nothing more is confirmed.
        end.onFailure { reason in
            for follower in all.values {
                _ = follower.doubt(reason)
                follower.giveUp()
            }
        }
        for follower in followers.values { follower.start() }
        let first = guards
        self.watched.enter()
        self.watching.async {
            self.watch(first)
            self.watched.leave()
        }
    }

    // MARK: - Appending

    package func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        guard let answer = self.take(record, id: id, to: lane, done: done) else { return }
        // Never from within this call.
        self.answers.async { done(answer) }
    }

    /// - Returns: the answer, where it is certain already.
    private func take(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) -> Result<UInt64, EventLogError>? {
        if let reason = self.end.reason { return .failure(.uncertain(reason)) }
        guard let place = self.lanes.firstIndex(of: lane), let follower = self.followers[lane] else {
            return .failure(.failed("there is no lane \(lane)"))
        }
        guard record.count <= EventLogLimits.recordBytesMax else {
            return .failure(.failed("the limit recordBytesMax (\(EventLogLimits.recordBytesMax)) is passed"))
        }
        // In the lock, so that two appends of one lane are queued in the order of their calls.
        return self.state.withLock { state in
            guard !state.isClosing else { return .failure(.closed) }
            if let id {
                switch state.recent.begin(id, in: place, done) {
                case .new: break
                case .underWay: return nil
                case .durable(let offset): return .success(offset)
                }
            }
            let refusal = self.writer.append(record, id: id, to: lane, seen: follower.head) { result in
                self.answered(result, id: id, in: place, done)
            }
            guard let refusal else { return nil }
            if let id { _ = state.recent.settle(id, in: place, at: nil) }
            return .failure(refusal)
        }
    }

    private func answered(
        _ result: Result<UInt64, EventLogError>,
        id: AppendID?,
        in place: Int,
        _ done: @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let repeats = id.map { id in
            self.state.withLock { $0.recent.settle(id, in: place, at: try? result.get()) }
        }
        done(result)
        for each in repeats ?? [] { each(result) }
    }

    // MARK: - Reading

    package func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        guard let follower = self.followers[lane] else { throw .failed("there is no lane \(lane)") }
        let records = try await follower.read(after: offset, recordsMax: max(1, recordsMax), bytesMax: max(1, bytesMax))
        return try self.standIns.renamed(records, of: lane)
    }

    /// Asks the leader, which has every record that was confirmed before it was asked.
    package func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        guard !self.state.withLock(\.isClosing) else { throw .closed }
        guard let places = self.places[lane] else { throw .failed("there is no lane \(lane)") }
        let result = await withCheckedContinuation { continuation in
            self.questions.async {
                continuation.resume(
                    returning: Result { () throws(NATSError) in
                        try self.connection.facts(of: self.names.stream(of: lane), in: self.names, lane: lane)
                    }
                )
            }
        }
        guard case .success(let facts) = result else { throw .unanswered }
        return places.offset(of: facts.lastSequence)
    }

    // MARK: - Sessions that are forgotten

    /// Gives sessions that are being forgotten other names in all that is read from now on.
    package func rename(_ names: [ForgettingNames]) { self.standIns.rename(names) }

    /// Hands out records of orders up to this one: this gateway's books follow them.
    package func follow(through order: UInt64) { self.standIns.follow(through: order) }

    /// Stops: what this gateway has counted does not fit the log any more, and is counted anew by its next start.
    package func stop(_ reason: String) { self.end.fail(reason) }

    /// Keeps no record in memory: those on the servers are others where a session was forgotten.
    package func dropRecords() { for follower in self.followers.values { follower.dropRecords() } }

    // MARK: - Whether it is what it was

    package func stopped() async -> String? { await self.end.wait() }

    /// Why what it holds is not certain any more; `nil`: it is.
    package var failure: String? { self.end.reason }

    /// Why nothing new is confirmed at present: it may pass, or the log stops.
    package var doubt: String? {
        self.state.withLock { $0.doubts.min { $0.key.description < $1.key.description }?.value }
    }

    /// How long no leader of a lane has answered.
    package var silence: Duration {
        let now = ContinuousClock.now
        return self.followers.values.map { now - $0.heard }.max() ?? .zero
    }

    private func watch(_ first: [Lane: StreamGuard]) {
        var guards = first
        repeat {
            for lane in self.lanes {
                guard let follower = self.followers[lane], !self.state.withLock(\.isClosing) else { continue }
                let seen = follower.head
                let stream = self.names.stream(of: lane)
                do throws(NATSError) {
                    let facts = try self.connection.facts(of: stream, in: self.names, lane: lane)
                    follower.hear()
                    follower.told(facts.lastSequence)
                    let known = self.standIns.count(of: lane)
                    let standIns = try self.standIns.look(at: facts, of: lane)
                    if standIns > known { follower.dropRecords() }
                    self.apply(
                        guards[lane]?.look(at: facts, seen: seen, standIns: standIns, elapsed: Self.elapsed),
                        to: follower
                    )
                } catch {
                    guard case .noStream = error else { continue }
                    self.apply(guards[lane]?.look(at: nil, seen: seen, elapsed: Self.elapsed), to: follower)
                }
            }
        } while self.watchEnd.wait(
            timeout: .now() + .microseconds(Int(JetStreamLimits.lookInterval.inMicroseconds))
        ) == .timedOut
    }

    private func apply(_ verdict: StreamGuard.Verdict?, to follower: LaneFollower) {
        // A log that stopped for good stays so.
        guard let verdict, self.end.reason == nil else { return }
        switch verdict {
        case .fine:
            _ = follower.doubt(nil)
            self.state.withLock { $0.doubts[follower.lane] = nil }
        case .doubtful(let reason):
            _ = follower.doubt(reason)
            self.state.withLock { $0.doubts[follower.lane] = reason }
        case .lost(let reason):
            self.end.fail(reason)
        }
    }

    // MARK: - The end

    package func close() async {
        self.state.withLock { $0.isClosing = true }
        let hurry = Task {
            try? await Task.sleep(for: self.connection.access.answerWithin)
            for follower in self.followers.values { follower.giveUp() }
        }
        await self.writer.close()
        hurry.cancel()
        self.watchEnd.signal()
        await withCheckedContinuation { continuation in
            self.watched.notify(queue: self.answers) { continuation.resume() }
        }
        for each in self.news { each.close() }
        for follower in self.followers.values { await follower.close() }
        self.end.close()
    }
}
#endif

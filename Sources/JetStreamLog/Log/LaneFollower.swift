// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import Dispatch
import GatewayCore
import Synchronization

/// Follows the stream of a lane on a thread of its own, and answers those who read near its end.
///
/// A hint that a record was stored wakes it; where hints are lost, it looks by itself every `pollInterval`. All servers with a copy answer
/// its questions, so it reads on while a leader is elected. Each question after a pause begins with the newest record that it has: a
/// stream that was replaced meanwhile shows.
final class LaneFollower: Sendable {
    fileprivate struct Waiter {
        let offset: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State {
        var tail: LogTail
        /// The highest sequence that it was told of.
        var told: UInt64 = 0
        /// Why nothing new is taken at present.
        var doubt: String?
        var isClosing = false
        var isEnded = false
        var waiters: [UInt64: Waiter] = [:]
        /// Those who want to know when their record was read, in the order of the offsets.
        var expectations: [(offset: UInt64, seen: @Sendable (Bool) -> Void)] = []
        /// Whether it waits for no record any more.
        var hasGivenUp = false
        var counter: UInt64 = 0
        /// When the leader last answered, monotonic.
        var heard: ContinuousClock.Instant
    }

    /// How long it waits for a hint before it looks by itself.
    private static let pollInterval: Duration = .milliseconds(250)
    /// After so long without a new record, and after each failure, the newest record is read again, and compared.
    private static let comparedAfter: Duration = .seconds(2)
    private static let retryAfterMax: Duration = .milliseconds(100)

    let lane: Lane
    private let places: LanePlaces
    private let stream: String
    private let connection: NATSConnection
    private let standIns: StandIns
    private let lost: @Sendable (String) -> Void
    private let state: Mutex<State>
    /// To those who expect a record: the thread that follows, those of libnats, and one that closes find them.
    private let answers = AnswerQueue()
    private let wake = DispatchSemaphore(value: 0)
    private let thread: DispatchQueue
    /// Reads of what is not kept in memory.
    private let cold: DispatchQueue
    private let ended = DispatchGroup()

    /// - Parameters:
    ///   - places: of the lane.
    ///   - names: of the streams.
    ///   - head: it follows what is behind this offset.
    ///   - connection: to the servers.
    ///   - standIns: for messages that were erased.
    ///   - lost: is told why the log cannot be what it was.
    init(
        _ places: LanePlaces,
        _ names: LogNames,
        after head: UInt64,
        connection: NATSConnection,
        standIns: StandIns,
        lost: @escaping @Sendable (String) -> Void
    ) {
        let lane = places.lane
        (self.lane, self.places) = (lane, places)
        self.stream = names.stream(of: lane)
        self.connection = connection
        self.standIns = standIns
        self.lost = lost
        self.state = Mutex(State(tail: LogTail(head: head, places: places), heard: .now))
        self.thread = DispatchQueue(label: "cuecast-jetstream-\(lane)")
        self.cold = DispatchQueue(label: "cuecast-jetstream-read-\(lane)", attributes: .concurrent)
    }

    /// Begins to follow.
    func start() {
        self.ended.enter()
        self.thread.async {
            self.follow()
            self.ended.leave()
        }
    }

    /// The newest offset that was read.
    var head: UInt64 { self.state.withLock { $0.tail.head } }

    /// When the leader of the stream last answered.
    var heard: ContinuousClock.Instant { self.state.withLock(\.heard) }

    /// Forgets the records in memory: those on the servers may be others, since a session in them was forgotten.
    func dropRecords() { self.state.withLock { $0.tail.dropRecords() } }

    /// The leader has answered.
    func hear() { self.state.withLock { $0.heard = .now } }

    /// A record was stored at a sequence, as far as someone says.
    func told(_ sequence: UInt64) {
        let isNews = self.state.withLock { state in
            guard sequence > state.told else { return false }
            state.told = sequence
            return true
        }
        if isNews { self.wake.signal() }
    }

    /// Takes nothing new until there is no doubt any more.
    ///
    /// - Returns: whether that has changed.
    func doubt(_ reason: String?) -> Bool {
        let hasChanged = self.state.withLock { state in
            defer { state.doubt = reason }
            return (state.doubt == nil) != (reason == nil)
        }
        if hasChanged { self.wake.signal() }
        return hasChanged
    }

    /// Says when a record was read.
    ///
    /// - Parameters:
    ///   - sequence: of its message, which is stored.
    ///   - seen: called once, on any thread: with `false` where the follower waits for it no longer.
    func expect(_ sequence: UInt64, seen: @escaping @Sendable (Bool) -> Void) {
        let offset = self.places.offset(of: sequence)
        self.state.withLock { state in
            if state.tail.head >= offset {
                self.answers.add { seen(true) }
            } else if state.hasGivenUp {
                self.answers.add { seen(false) }
            } else {
                let place = state.expectations.lastIndex { $0.offset < offset }.map { $0 + 1 } ?? 0
                state.expectations.insert((offset, seen), at: place)
            }
        }
        self.answers.tell()
        self.told(sequence)
    }

    /// Waits for no record any more, and says so.
    func giveUp() {
        self.state.withLock { state in
            state.hasGivenUp = true
            for each in state.expectations { self.answers.add { each.seen(false) } }
            state.expectations = []
        }
        self.answers.tell()
    }

    // MARK: - Following

    private func follow() {
        var compared: ContinuousClock.Instant?
        var retryAfter: Duration = .milliseconds(1)
        while let (sequence, told, isHeld) = self.next(
            compares: compared.map { ContinuousClock.now - $0 > Self.comparedAfter } ?? true
        ) {
            guard !isHeld else {
                self.rest(Self.pollInterval)
                continue
            }
            do throws(NATSError) {
                let answer = try self.connection.messages(
                    from: sequence,
                    of: self.stream,
                    messagesMax: JetStreamLimits.recordsPerQuestionMax,
                    bytesMax: JetStreamLimits.bytesPerQuestionMax
                )
                let messages = try self.standIns.fill(answer, from: sequence, through: told, of: self.lane)
                guard !messages.isEmpty else {
                    // A server that is behind, or nothing new.
                    self.rest(sequence <= told ? retryAfter : Self.pollInterval)
                    retryAfter = min(retryAfter * 2, Self.retryAfterMax)
                    continue
                }
                compared = .now
                let count = self.take(messages)
                if count > 0 {
                    retryAfter = .milliseconds(1)
                } else {
                    self.rest(self.places.sequence(of: self.head) < told ? retryAfter : Self.pollInterval)
                    retryAfter = min(retryAfter * 2, Self.retryAfterMax)
                }
            } catch {
                compared = nil
                self.rest(Self.pollInterval)
            }
        }
    }

    /// The next question; `nil`: it ends.
    private func next(compares: Bool) -> (sequence: UInt64, told: UInt64, isHeld: Bool)? {
        self.state.withLock { state in
            guard !state.isClosing else { return nil }
            return (state.tail.nextSequence(compares: compares), state.told, state.doubt != nil)
        }
    }

    private func rest(_ duration: Duration) {
        _ = self.wake.wait(timeout: .now() + .microseconds(Int(duration.inMicroseconds)))
        // One look is enough for all hints that came.
        while self.wake.wait(timeout: .now()) == .success {}
    }

    /// The consequences of an answer.
    private struct News {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// - Returns: how many records are new.
    private func take(_ messages: [StreamMessage]) -> Int {
        let result = self.state.withLock { state -> Result<News, LogTail.Fault> in
            // Asked before the doubt, answered after it.
            guard state.doubt == nil else { return .success(News()) }
            do throws(LogTail.Fault) {
                let count = try state.tail.take(messages)
                guard count > 0 else { return .success(News()) }
                for seen in state.takeSeen() { self.answers.add { seen(true) } }
                return .success(News(count: count, waiters: state.takeWaiters()))
            } catch {
                state.doubt = error.sentence
                return .failure(error)
            }
        }
        switch result {
        case .success(let news):
            for each in news.waiters { each.resume() }
            self.answers.tell()
            return news.count
        case .failure(let fault):
            self.lost(fault.sentence)
            return 0
        }
    }

    // MARK: - Reading

    private enum Look {
        case records([LoggedRecord])
        case notKept(through: UInt64)
        case nothingYet
        case nothingMore
        case closed
    }

    func read(
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        while true {
            let look = self.state.withLock { state -> Look in
                guard let records = state.tail.records(after: offset, recordsMax: recordsMax, bytesMax: bytesMax) else {
                    return state.isEnded ? .closed : .notKept(through: state.tail.head)
                }
                if !records.isEmpty { return .records(records) }
                return state.isEnded ? .nothingMore : .nothingYet
            }
            switch look {
            case .records(let records): return records
            case .nothingMore: return []
            case .closed: throw .closed
            case .notKept(let head):
                return try await self.readCold(after: offset, through: head, recordsMax: recordsMax, bytesMax: bytesMax)
            case .nothingYet:
                if Task.isCancelled { return [] }
                await self.waitForRecord(after: offset)
            }
        }
    }

    private func readCold(
        after offset: UInt64,
        through head: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        let result = await withCheckedContinuation { continuation in
            self.cold.async {
                continuation.resume(
                    returning: self.ask(after: offset, through: head, recordsMax: recordsMax, bytesMax: bytesMax)
                )
            }
        }
        return try result.get()
    }

    private func ask(
        after offset: UInt64,
        through head: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) -> Result<[LoggedRecord], EventLogError> {
        do {
            let first = self.places.sequence(of: offset) + 1
            let answer = try self.connection.messages(
                from: first,
                of: self.stream,
                messagesMax: max(1, min(recordsMax, JetStreamLimits.recordsPerQuestionMax)),
                bytesMax: max(1, min(bytesMax, JetStreamLimits.bytesPerQuestionMax))
            )
            let messages = try self.standIns.fill(
                answer,
                from: first,
                through: self.places.sequence(of: head),
                of: self.lane
            )
            var records: [LoggedRecord] = []
            for message in messages {
                let record = try LogTail.record(message, at: self.places)
                guard record.offset <= head else { break }
                guard message.sequence == first + UInt64(records.count) else {
                    let missing = self.places.offset(of: first + UInt64(records.count))
                    throw LogTail.Fault(sentence: "the lane \(self.lane) has no record at offset \(missing)")
                }
                records.append(record)
            }
            // The server that answered is behind: another one is not.
            guard !records.isEmpty else { return .failure(.unanswered) }
            return .success(LogTail.portion(records, recordsMax: recordsMax, bytesMax: bytesMax))
        } catch let fault as LogTail.Fault {
            self.lost(fault.sentence)
            return .failure(.uncertain(fault.sentence))
        } catch {
            return .failure(.unanswered)
        }
    }

    private func waitForRecord(after offset: UInt64) async {
        let number = self.state.withLock { state in
            state.counter += 1
            return state.counter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    guard !state.isEnded, offset >= state.tail.head, !Task.isCancelled else { return false }
                    state.waiters[number] = Waiter(offset: offset, continuation: continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiters.removeValue(forKey: number)?.continuation }?.resume()
        }
    }

    // MARK: - The end

    /// Ends the thread, and then every wait.
    func close() async {
        self.state.withLock { $0.isClosing = true }
        self.wake.signal()
        await withCheckedContinuation { continuation in
            self.ended.notify(queue: self.cold) { continuation.resume() }
        }
        let waiters = self.state.withLock { state in
            state.isEnded = true
            return state.takeWaiters(all: true)
        }
        for each in waiters { each.resume() }
        self.giveUp()
    }
}

extension LaneFollower.State {
    /// Those whose records were read.
    fileprivate mutating func takeSeen() -> [@Sendable (Bool) -> Void] {
        let count = self.expectations.prefix { $0.offset <= self.tail.head }.count
        defer { self.expectations.removeFirst(count) }
        return self.expectations.prefix(count).map(\.seen)
    }

    /// Those who wait for no more than there is.
    fileprivate mutating func takeWaiters(all: Bool = false) -> [CheckedContinuation<Void, Never>] {
        let ready = self.waiters.filter { all || $0.value.offset < self.tail.head }
        for number in ready.keys { self.waiters[number] = nil }
        return ready.values.map(\.continuation)
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// A log that several gateways share, for the one that writes here: every append is settled.
///
/// The log behind may be far away: an append may stay without an answer, and its record may come late or never. Here it is confirmed
/// only when its record was read back, in the order of the log. It is `dropped` when a later one of this writer was read first: then no
/// reader applies it any more, and what asked for it may be decided anew. `OwnAppends` decides; this reads, and keeps the time.
///
/// A writer is cut off when the log answers nothing at all for `cutOffAfter`. Then it answers the appends that are not settled, and each
/// one that comes, with `unanswered`, until the log answers again.
///
/// ```swift
/// let log = try await WriterLog(over: shared)
/// let parts = LogParts(log: log, snapshots: …, watermarks: …, maintenance: nil)
/// ```
package final class WriterLog: EventLog {
    fileprivate typealias Done = @Sendable (Result<UInt64, EventLogError>) -> Void

    fileprivate struct Waiting: Sendable {
        let id: AppendID?
        let done: Done
    }

    fileprivate struct State {
        var lanes: [OwnAppends<Waiting>]
        var recent = RecentAppends<Done>()
        var isClosing = false
        /// Those who wait until nothing is open.
        var closers: [CheckedContinuation<Void, Never>] = []
        var tasks: [Task<Void, Never>] = []

        var isSettled: Bool { self.lanes.allSatisfy { $0.openCount == 0 } }
    }

    private static let begun = ContinuousClock.now
    /// The most records that are read back at once.
    private static let recordsPerReadMax = 256
    private static let bytesPerReadMax = 4 * 1_048_576
    /// How long after a failed read it is tried again.
    private static let readAgainAfter: Duration = .milliseconds(250)
    /// Monotonic time.
    private static var elapsed: Timestamp {
        Timestamp(microseconds: (ContinuousClock.now - Self.begun).inMicroseconds)
    }

    private let base: any EventLog
    private let lanes: [Lane]
    /// This run, as the log knows it.
    package let writer: UInt64
    private let settledAfter: Duration
    private let cutOffAfter: Duration
    private let closedWithin: Duration
    private let state: Mutex<State>

    /// Begins to write: as a writer that has never written before.
    ///
    /// - Parameters:
    ///   - base: the log that several gateways share; it keeps the ids of appends (`LoggedRecord.mark`).
    ///   - lanes: those that are written to.
    ///   - settledAfter: how long an append may stay unsettled before an empty record follows it.
    ///   - cutOffAfter: how long the log may not have answered before nothing is taken any more.
    ///   - closedWithin: how long closing waits for what is not settled.
    /// - Throws: where the log cannot be asked.
    package init(
        over base: any EventLog,
        lanes: [Lane] = [.breaks] + Lane.acknowledgementLanes,
        settledAfter: Duration = EventLogLimits.appendSettledAfter,
        cutOffAfter: Duration = EventLogLimits.cutOffAfter,
        closedWithin: Duration = .seconds(10)
    ) async throws(EventLogError) {
        let writer = UInt64.random(in: 1 ... .max)
        self.base = base
        self.lanes = lanes
        self.writer = writer
        self.settledAfter = settledAfter
        self.cutOffAfter = cutOffAfter
        self.closedWithin = closedWithin
        self.state = Mutex(
            State(lanes: lanes.map { _ in OwnAppends(writer: writer, settledAfter: settledAfter) })
        )
        // Before the first append: none of this writer's records stands at or before these.
        var heads: [UInt64] = []
        for lane in lanes { heads.append(try await base.head(of: lane)) }
        let tasks = zip(lanes.indices, heads).map { place, head in Task { await self.readBack(place, after: head) } }
        let timer = Task { await self.settleInTime() }
        self.state.withLock { $0.tasks = tasks + [timer] }
    }

    package var identity: LogIdentity { self.base.identity }

    // MARK: - Appending

    package func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let answer =
            self.isCutOff
            ? .failure(.unanswered)
            : self.state.withLock { state in self.append(record, id: id, to: lane, done: done, &state) }
        // Never from within this call.
        if let answer { Task { done(answer) } }
    }

    private var isCutOff: Bool { self.base.silence >= self.cutOffAfter }

    /// Takes an append.
    ///
    /// - Returns: its answer, where that is certain already.
    private func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping Done,
        _ state: inout State
    ) -> Result<UInt64, EventLogError>? {
        guard !state.isClosing else { return .failure(.closed) }
        guard let place = self.lanes.firstIndex(of: lane) else {
            return .failure(.failed("nothing is written to the lane \(lane)"))
        }
        guard record.count <= EventLogLimits.recordBytesMax else {
            return .failure(.failed("the limit recordBytesMax (\(EventLogLimits.recordBytesMax)) is passed"))
        }
        guard state.lanes[place].hasRoom(for: record.count) else {
            return .failure(
                .failed(
                    "the limit appendsOpenMax (\(EventLogLimits.appendsOpenMax)) or appendBytesOpenMax"
                        + " (\(EventLogLimits.appendBytesOpenMax)) is passed"
                )
            )
        }
        if let id {
            switch state.recent.begin(id, in: place, done) {
            case .new: break
            case .underWay: return nil
            case .durable(let offset): return .success(offset)
            }
        }
        let waiting = Waiting(id: id, done: done)
        let number = state.lanes[place].hand(over: waiting, bytes: record.count, at: Self.elapsed)
        // In the lock, so that the log gets the records in the order of their numbers; it answers later, from a thread of its own.
        self.base.append(record, id: AppendID(origin: self.writer, number: number), to: lane) { result in
            self.answered(number, in: place, result)
        }
        return nil
    }

    /// The log behind has answered: only a refusal that is certain means something.
    private func answered(_ number: UInt64, in place: Int, _ result: Result<UInt64, EventLogError>) {
        guard case .failure(.outOfSpace(let reason)) = result else { return }
        let settled = self.state.withLock { state in
            state.lanes[place].refused(number).map { state.settle($0, in: place, as: .failure(.outOfSpace(reason))) }
        }
        self.tell(settled ?? [])
    }

    private func tell(_ answers: [State.Answer]) {
        for answer in answers { answer.done(answer.result) }
        for each in self.state.withLock({ $0.takeClosers() }) { each.resume() }
    }

    /// How many appends to a lane are not settled.
    func openCount(of lane: Lane) -> Int {
        self.lanes.firstIndex(of: lane).map { place in self.state.withLock { $0.lanes[place].openCount } } ?? 0
    }

    // MARK: - Reading back

    private func readBack(_ place: Int, after head: UInt64) async {
        var offset = head
        while !Task.isCancelled {
            do throws(EventLogError) {
                let records = try await self.base.read(
                    self.lanes[place],
                    after: offset,
                    recordsMax: Self.recordsPerReadMax,
                    bytesMax: Self.bytesPerReadMax
                )
                guard let last = records.last else { return }
                offset = last.offset
                self.saw(records, in: place)
            } catch {
                switch error {
                case .closed: return
                case .pruned(_, let firstKept):
                    // Own records may be among those that are gone: nothing is certain about what is open.
                    offset = max(offset, firstKept - 1)
                    self.giveUp(in: place)
                default: try? await Task.sleep(for: Self.readAgainAfter)
                }
            }
        }
    }

    private func saw(_ records: [LoggedRecord], in place: Int) {
        let answers = self.state.withLock { state in
            records.flatMap { state.lanes[place].saw($0) }
                .flatMap { waiting, outcome in
                    switch outcome {
                    case .durable(let offset): state.settle(waiting, in: place, as: .success(offset))
                    case .dropped: state.settle(waiting, in: place, as: .failure(.dropped))
                    }
                }
        }
        self.tell(answers)
    }

    private func giveUp(in place: Int) {
        let answers = self.state.withLock { state in
            state.lanes[place].giveUp().flatMap { state.settle($0, in: place, as: .failure(.unanswered)) }
        }
        self.tell(answers)
    }

    private func settleInTime() async {
        while (try? await Task.sleep(for: self.settledAfter / 4)) != nil {
            // The log cannot be reached, so the appends do not wait for it. Records that still come into it have lower numbers than later
            // ones.
            guard !self.isCutOff else {
                for place in self.lanes.indices { self.giveUp(in: place) }
                continue
            }
            let elapsed = Self.elapsed
            self.state.withLock { state in
                for place in self.lanes.indices where state.lanes[place].needsSettling(at: elapsed) {
                    let number = state.lanes[place].settle(at: elapsed)
                    self.base.append([], id: AppendID(origin: self.writer, number: number), to: self.lanes[place]) {
                        _ in
                    }
                }
            }
        }
    }

    /// Reads as the log behind does; where that cannot be reached, tries again: a reader of a log far away waits for it as for records.
    package func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        while true {
            do throws(EventLogError) {
                return try await self.base.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
            } catch {
                switch error {
                case .closed, .pruned, .uncertain: throw error
                case .failed, .outOfSpace, .unanswered, .dropped: break
                }
            }
            guard (try? await Task.sleep(for: Self.readAgainAfter)) != nil else { return [] }
        }
    }

    package func head(of lane: Lane) async throws(EventLogError) -> UInt64 { try await self.base.head(of: lane) }

    package func stopped() async -> String? { await self.base.stopped() }

    package var silence: Duration { self.base.silence }

    package var doubt: String? { self.base.doubt }

    // MARK: - The end

    package func close() async {
        self.state.withLock { $0.isClosing = true }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.settled() }
            group.addTask {
                try? await Task.sleep(for: self.closedWithin)
                for each in self.state.withLock({ $0.takeClosers(all: true) }) { each.resume() }
            }
            await group.next()
            group.cancelAll()
        }
        for place in self.lanes.indices { self.giveUp(in: place) }
        for task in self.state.withLock(\.tasks) { task.cancel() }
        await self.base.close()
    }

    /// Returns when nothing is open, or `close` waits no longer.
    private func settled() async {
        await withCheckedContinuation { continuation in
            let waits = self.state.withLock { state in
                guard !state.isSettled else { return false }
                state.closers.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
    }
}

extension WriterLog.State {
    fileprivate struct Answer: Sendable {
        let done: @Sendable (Result<UInt64, EventLogError>) -> Void
        let result: Result<UInt64, EventLogError>
    }

    /// An append is settled.
    ///
    /// - Returns: the answers to it and to its repeats.
    fileprivate mutating func settle(
        _ waiting: WriterLog.Waiting,
        in place: Int,
        as result: Result<UInt64, EventLogError>
    ) -> [Answer] {
        let offset = try? result.get()
        let repeats = waiting.id.map { self.recent.settle($0, in: place, at: offset) } ?? []
        return ([waiting.done] + repeats).map { Answer(done: $0, result: result) }
    }

    fileprivate mutating func takeClosers(all: Bool = false) -> [CheckedContinuation<Void, Never>] {
        guard all || self.isSettled else { return [] }
        defer { self.closers = [] }
        return self.closers
    }
}

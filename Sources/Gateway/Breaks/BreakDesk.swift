// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Logging
import ServiceLifecycle
import ZeroMQ

/// Decides about broadcasters' requests, whatever transport brings them, and records what time makes due.
///
/// A request is planned on the newest board. What changes a break is appended to the event log in a group, comes back with the
/// log, is applied to the board (`BreakBoardService`), and is answered then. What changes nothing is answered at once, unless
/// entries of its stream are on their way: then it is parked until the board has them. The desk never waits: the log and the board
/// answer through `events`.
///
/// Adapters read and check a request once, and call `take`: the broadcasters' socket on the desk's own thread
/// (`BroadcastEndpoint`), HTTP by `ask`.
package actor BreakDesk: Service, BoardObserver {
    /// The answers of the log and the board.
    enum Event: Sendable {
        case appended(AppendID, Result<UInt64, EventLogError>)
        case applied([EntryResult], AppendID?)
        /// The board has caught up with the log for requests of a stream up to one; or, where it is `false`, not in time.
        case caughtUp(StreamID, through: UInt64, Bool)
    }

    /// The parts that a desk uses.
    struct Tools: Sendable {
        let thread: PollingThread
        let log: LogHealth
        /// Has the newest board.
        let holder: BoardHolder
        /// Tells when the board has all that the log has; `nil`: no request knows more than the board.
        let catchUp: LogCatchUp?
        let clock: any GatewayClock
        let forecast: ListenerForecast
        /// Whether the log's own time may go on.
        let retention: RetentionGate
        /// The newest version of the fold's rules that this gateway knows.
        let rulesKnown: UInt32
        let recorder: BroadcastRecorder
        /// Requests from inside the process.
        let calls: BroadcastCalls
        /// Shows the alarm of sources whose signals are refused.
        let readiness: ReadinessBoard
        /// Told when the log has failed an append.
        let logFailed: @Sendable () -> Void
        let logger: Logger

        var metrics: MetricRegistry { self.recorder.metrics }
    }

    /// The most events that wait; as many as groups can be in flight, many times over.
    static let eventsMax = LimitName.eventsMax.value
    /// How long after it came a request is still recorded that the log dropped; a later one is refused, and nothing of it happens.
    private static let recordAgainWithin: Duration = .seconds(5)
    /// How often the log's own time goes on and the log is looked at.
    private static let housekeepingInterval: Duration = .seconds(1)
    private static let begun = ContinuousClock.now
    /// Monotonic time.
    static var elapsed: Timestamp {
        Timestamp(microseconds: (ContinuousClock.now - Self.begun).inMicroseconds)
    }

    nonisolated let tools: Tools
    private var planner: BroadcastPlanner
    var timekeeper: BreakTimekeeper
    /// The newest board that this thread has seen.
    var board: Board
    var lane: BreakLane
    var parked: ParkedRequests
    /// The other gateways of the log.
    var peers: GatewayPeers
    /// Whether a record that activates rules of the fold is under way.
    var isActivating = false
    /// How many requests were taken.
    private(set) var taken: UInt64 = 0
    /// The streams with a request that waits until the board has caught up with the log.
    var behind: Set<StreamID> = []
    var timer: PollingThread.Timer?
    /// Whether the gateway is stopping.
    private(set) var isDraining = false
    /// Whether the log has no room for new work.
    private var isLogFull = false
    /// Occurs when no request waits any more after a shutdown has begun.
    private let drained = Occurrence()
    private let events: AsyncStream<Event>
    private let eventSink: AsyncStream<Event>.Continuation

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.tools.thread.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - tools: the parts that it uses.
    ///   - configuration: checked.
    init(_ tools: Tools, configuration: GatewayConfiguration) {
        let board = tools.holder.board
        self.tools = tools
        self.board = board
        self.planner = BroadcastPlanner(policy: configuration.breaks, cues: configuration.cuePolicy)
        self.planner.reportInterval = WatcherBook.reportInterval(silentAfter: configuration.sourceSilentAfter)
        tools.recorder.signals.use(silentAfter: configuration.sourceSilentAfter)
        self.timekeeper = BreakTimekeeper(
            board,
            policy: configuration.breaks,
            recheckInterval: configuration.timerRecheck,
            elapsed: Self.elapsed
        )
        self.peers = tools.log.isShared ? .unknown : .none
        self.lane = BreakLane(
            entriesWaitingMax: configuration.limits[.entriesWaitingMax],
            entryBytesWaitingMax: configuration.limits[.entryBytesWaitingMax],
            isShared: tools.log.isShared
        )
        self.parked = ParkedRequests(
            entriesWaitingMax: configuration.limits[.entriesWaitingMax],
            entryBytesWaitingMax: configuration.limits[.entryBytesWaitingMax]
        )
        (self.events, self.eventSink) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingOldest(Self.eventsMax)
        )
    }

    /// Takes over what may change while the gateway runs.
    ///
    /// What was decided before stays: decisions stand in the log.
    func reload(_ configuration: GatewayConfiguration) {
        self.planner.policy = configuration.breaks
        self.planner.cues = configuration.cuePolicy
        self.planner.reportInterval = WatcherBook.reportInterval(silentAfter: configuration.sourceSilentAfter)
        self.tools.recorder.signals.use(silentAfter: configuration.sourceSilentAfter)
        self.timekeeper.timers.policy = configuration.breaks
    }

    package func run() async throws {
        let housekeeping = self.tools.thread.tick(every: Self.housekeepingInterval, for: self) { $0.runHousekeeping() }
        self.runTimers()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.consume() }
            try? await gracefulShutdown()
            self.eventSink.finish()
            await group.waitForAll()
        }
        housekeeping.cancel()
        self.timer?.cancel()
        self.tools.calls.close(at: self.tools.clock.now())
    }

    // MARK: - What the log and the board answer

    package nonisolated func applied(_ results: [EntryResult], of id: AppendID?, board: Board) {
        self.post(.applied(results, id))
    }

    nonisolated func post(_ event: Event) {
        // At most a few groups are in flight, and the consumer only moves bytes. A full buffer is a fault of ours, and a lost
        // answer would leave a broadcaster waiting for ever.
        if case .dropped = self.eventSink.yield(event) {
            self.tools.logger.critical("an answer of the event log was lost: the limit eventsMax is passed")
            self.tools.metrics.count(.limitsHit, .limit(.eventsMax))
        }
    }

    private func consume() async {
        for await event in self.events {
            switch event {
            case .appended(let id, let result): self.appended(id, result)
            case .applied(let results, let id): self.applied(results, of: id)
            case .caughtUp(let stream, let newest, let isCaughtUp): self.caughtUp(stream, through: newest, isCaughtUp)
            }
            self.closeGroups()
            self.noteIfDrained()
        }
    }

    private func appended(_ id: AppendID, _ result: Result<UInt64, EventLogError>) {
        let recorder = self.tools.recorder
        if recorder.traces.keepsSpans { recorder.committed(self.lane.traced(id), result) }
        switch result {
        case .success: self.answer(self.lane.appended(id))
        case .failure(.dropped):
            let oldest = self.tools.clock.now() - Self.recordAgainWithin
            let dropped = self.lane.failed(id)
            // The fold decides about them anew, on the board as it is then. Timers' records fall due again.
            let again = dropped.filter { $0.waiting != nil && $0.entry.at >= oldest }
            self.lane.putBack(again)
            self.fail(dropped.filter { $0.waiting == nil || $0.entry.at < oldest })
        case .failure:
            self.tools.logFailed()
            self.fail(self.lane.failed(id))
        }
    }

    /// Nothing comes of these.
    private func fail(_ members: [BreakLane.Member]) {
        for member in members {
            self.wasNotTaken(member.entry)
            if let waiting = member.waiting { self.reply(.refused(.logUnavailable), to: waiting) }
        }
        self.release(behind: members.map(\.entry))
    }

    private func applied(_ results: [EntryResult], of id: AppendID?) {
        for result in results {
            self.timekeeper.note(result)
            if case .changed(let each, let notice) = result, notice?.kind == .available {
                self.tools.metrics.count(
                    .notifiedListeners,
                    by: self.tools.forecast.own.count(of: each.key.stream)
                )
            }
            if case .housekept = result, self.tools.log.isShared {
                self.timekeeper.sawHousekeeping(elapsed: Self.elapsed)
            }
        }
        self.answer(self.lane.applied(results, of: id))
        self.runTimers()
    }

    private func answer(_ settled: [(member: BreakLane.Member, result: EntryResult)]) {
        for (member, result) in settled {
            if let waiting = member.waiting {
                self.answer(waiting, result)
            } else {
                self.settle(member.entry, result)
            }
        }
        self.release(behind: settled.map(\.member.entry))
    }

    private func answer(_ waiting: WaitingBroadcaster, _ result: EntryResult) {
        let now = self.tools.clock.now()
        switch result {
        case .changed(let each, _): self.reply(.break(each.info(at: now)), to: waiting, isNew: true)
        case .unchanged(let each): self.reply(.break(each.info(at: now)), to: waiting)
        case .refused(let refusal): self.reply(.refused(refusal), to: waiting)
        case .list(let list, let effect): self.reply(.adList(list.info, []), to: waiting, isNew: effect != .nothing)
        case .housekept, .activated: break  // No broadcaster asks for it.
        }
    }

    /// The board has applied a record of the timekeeper.
    private func settle(_ entry: BreakEntry, _ result: EntryResult) {
        if case .housekept(let done) = result { self.housekept(done) }
        if case .activated(let version) = result { self.activated(version) }
        if case .announce = entry.kind, case .changed(let each, _) = result {
            self.tools.metrics.observe(.scheduleLateSeconds, entry.at - each.record.announce)
        }
    }

    /// - Parameters:
    ///   - body: the answer.
    ///   - waiting: the request.
    ///   - isNew: whether the request has changed something, and did not only find it done.
    func reply(_ body: BroadcastReply.Body, to waiting: WaitingBroadcaster, isNew: Bool = false) {
        let reply = BroadcastReply(
            requestID: waiting.requestID,
            gatewayTime: self.tools.clock.now(),
            trace: waiting.trace?.context,
            changed: isNew,
            body: body
        )
        var answered = waiting
        answered.signalOutcome = self.signalOutcome(reply, to: waiting)
        self.tools.recorder.replied(reply, to: answered)
        waiting.answer(reply)
    }

    /// The result of a signal; `nil`: the request is none.
    private func signalOutcome(_ reply: BroadcastReply, to waiting: WaitingBroadcaster) -> SignalOutcome? {
        guard let signal = waiting.signal else { return nil }
        switch reply.body {
        case .break(let info):
            return SignalOutcome(
                signal,
                on: info,
                changed: reply.changed,
                received: waiting.received ?? reply.gatewayTime,
                tolerance: self.planner.cues.rule(for: signal.stream)?.tolerance ?? CuePolicy.Rule.toleranceDefault
            )
        case .refused(let refusal): return SignalOutcome(refusal, of: signal)
        case .list, .adList, .adLists, .cueRule: return nil
        }
    }
}

// MARK: - Requests

extension BreakDesk {
    /// An adapter begins to bring requests; it calls `endPass` behind the last of them.
    func beginPass() { self.isLogFull = self.tools.log.checkCapacity() }

    /// The requests that a pass gathered go to the log.
    func endPass() { self.closeGroups() }

    /// Takes a request: it is decided now, or when the board has what is on its way to it.
    func take(_ incoming: IncomingRequest) {
        let kind = incoming.request.kind
        var waiting = WaitingBroadcaster(
            requestID: incoming.request.id,
            kind: kind.metricLabel,
            stream: kind.changedStream,
            key: kind.key,
            origin: incoming.origin,
            signal: kind.signal,
            report: kind.report,
            trace: incoming.trace,
            received: incoming.reading.now,
            answer: incoming.answer
        )
        self.tools.metrics.count(.broadcastRequests, waiting.kind)
        let principal: BroadcastPrincipal
        switch incoming.principal {
        case .success(let known): principal = known
        case .failure(let refusal): return self.reply(.refused(refusal), to: waiting)
        }
        waiting.by = principal.name
        guard !self.isDraining else { return self.reply(.refused(.draining), to: waiting) }
        self.taken += 1
        let admitted = AdmittedRequest(
            request: incoming.request,
            principal: principal,
            bytes: incoming.bytes,
            waiting: waiting,
            reading: incoming.reading,
            number: self.taken
        )
        // For each request, not for each pass: while a pass lasts the board may advance.
        if self.tools.holder.offset != self.board.offset { self.board = self.tools.holder.board }
        if let stream = admitted.stream, self.parked.holds(stream) {
            self.park(admitted, of: stream)
        } else if !self.decide(admitted), let stream = admitted.stream {
            self.park(admitted, of: stream)
        }
    }

    /// Refuses what is no request: an adapter could not read it.
    func refuseUnread(_ refusal: Refusal, to waiting: WaitingBroadcaster) {
        self.tools.metrics.count(.broadcastRequests, .undecodable)
        self.reply(.refused(refusal), to: waiting)
    }

    private func park(_ admitted: AdmittedRequest, of stream: StreamID) {
        guard let limit = self.parked.park(admitted, of: stream) else { return }
        self.tools.metrics.count(.limitsHit, .limit(limit))
        self.reply(.refused(.logBehind), to: admitted.waiting)
    }

    /// Decides about a request on the board as it is.
    ///
    /// What has to be recorded is decided once more when the board applies it, behind all entries before it. What needs no
    /// record is answered for good, and only by a board that has all of them.
    ///
    /// - Parameters:
    ///   - admitted: the request.
    ///   - isCaughtUp: whether the board has all that the log had when the request came.
    /// - Returns: whether it was decided; where not, it has to wait for entries of its stream, or for the board.
    func decide(_ admitted: AdmittedRequest, isCaughtUp: Bool = false) -> Bool {
        var waiting = admitted.waiting
        let reading = admitted.reading
        let forecast = self.tools.forecast
        let plan = self.planner.plan(
            admitted.request,
            by: admitted.principal,
            on: self.board,
            at: reading.now,
            listeners: admitted.request.kind.stream.map { forecast.count(of: $0, at: reading.steady) } ?? 0,
            trace: waiting.trace?.context
        )
        if case .answer = plan, let stream = admitted.stream, !self.lane.isSettled(stream) { return false }
        if !isCaughtUp, let stream = admitted.stream, self.waitsForLog(plan, of: stream) { return false }
        if waiting.trace != nil { self.tools.recorder.decided(&waiting, plan, from: reading.now) }
        switch plan {
        case .answer(let body): self.reply(body, to: waiting)
        case .append(let entry) where self.isLogFull && !entry.kind.mayUseReserve:
            self.tools.metrics.count(.limitsHit, .limit(.logBytesMax))
            self.reply(.refused(.logFull), to: waiting)
        case .append(let entry):
            if let limit = self.lane.add(BreakLane.Member(entry: entry, waiting: waiting, bytes: admitted.bytes)) {
                self.tools.metrics.count(.limitsHit, .limit(limit))
                self.reply(.refused(.logBehind), to: waiting)
            }
        }
        return true
    }

    /// Decides about what waited for these entries.
    private func release(behind entries: [BreakEntry]) {
        guard self.parked.count > 0 else { return }
        self.board = self.tools.holder.board
        for stream in Set(entries.compactMap(\.stream)) where self.lane.isSettled(stream) {
            self.parked.release(stream) { self.decide($0) }
        }
    }

    func closeGroups() {
        self.checkCapacity()
        while let (id, record) = self.lane.close(as: self.tools.log.nextID()) {
            self.tools.log.append(record, id: id, to: .breaks) { self.post(.appended(id, $0)) }
        }
    }

    /// Looks whether the log has room for new work; when it has none, what gathered is refused.
    private func checkCapacity() {
        self.isLogFull = self.tools.log.checkCapacity()
        guard self.isLogFull else { return }
        let refused = self.lane.refuseNewWork()
        for member in refused {
            self.tools.metrics.count(.limitsHit, .limit(.logBytesMax))
            if let waiting = member.waiting { self.reply(.refused(.logFull), to: waiting) }
        }
        self.release(behind: refused.map(\.entry))
    }
}

// MARK: - The end

extension BreakDesk {
    /// How many requests are not answered yet.
    var waitingCount: Int { self.lane.waitingCount + self.parked.count }

    /// Refuses every request from now on; what was taken before is still answered.
    func refuseNewRequests() {
        self.isDraining = true
        self.closeGroups()
        self.noteIfDrained()
    }

    /// Waits until everything is answered that was taken before `refuseNewRequests`.
    ///
    /// - Parameter limit: how long to wait.
    /// - Returns: whether no request waits any more.
    nonisolated func drain(atMost limit: Duration) async -> Bool { await self.drained.wait(atMost: limit) }

    func noteIfDrained() {
        if self.isDraining, self.lane.isIdle, self.parked.count == 0 { self.drained.happen() }
    }
}

extension GatewayConfiguration {
    /// The cue policy; its text was checked when the configuration was read.
    fileprivate var cuePolicy: CuePolicy { (try? CuePolicy(text: self.cues)) ?? CuePolicy() }
}

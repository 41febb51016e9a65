// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
package import Logging
import ServiceLifecycle
package import ZeroMQ

/// Answers listeners and broadcasters on two ROUTER sockets that share one polling thread, and lets timers fire.
///
/// Requests are drained in passes; each is decided synchronously on the board that is newest then, and
/// answered in the same pass unless it has to be durable first. Nothing here waits: the log and the board answer through
/// `events`.
package actor RequestService: Service, BoardObserver {
    /// What comes back from the log and from the board.
    private enum Event: Sendable {
        case acknowledgementsAppended(UInt64, Result<UInt64, EventLogError>)
        case breaksAppended(UInt64, Result<UInt64, EventLogError>)
        case applied([EntryResult], offset: UInt64)
    }

    /// The most events that wait; as many as groups can be in flight, many times over.
    private static let eventsMax = 65_536
    /// How often leases are looked at and gauges set.
    private static let housekeepingInterval: Duration = .seconds(1)

    private let thread: PollingThread
    private let log: any EventLog
    private let holder: BoardHolder
    private let clock: any GatewayClock
    private var planner: BroadcastPlanner
    private var timers: BreakTimers
    /// How often timers are looked at even when nothing is due by the clock as it was: it may have been set.
    private let recheckInterval: Duration
    /// How long a shutdown waits for answers that were promised.
    private var drainTimeout: Duration
    private let metrics: MetricRegistry
    private let logger: Logger
    private let readiness: ReadinessBoard
    private let manager: ServiceManager
    private let peers: PeerLog
    /// Whether every request of a listener is logged; looked at once a pass.
    private var tracesListeners = false
    private var silence: LogSilence

    private var sockets: RequestSockets
    private var handler: ListenerRequestHandler
    private var acknowledgements = AcknowledgementLane()
    private var breaks: BreakLane
    private var timer: PollingThread.Timer?
    private var timerQueue: TimerQueue
    /// Whether the log takes nothing until the next start.
    private var logHasFailed = false
    private let retention: RetentionGate
    /// How many listeners there were before the start.
    private let expected: ExpectedListeners
    /// Where the next start learns how many there are.
    private let counts: ListenerCounts
    private var housekeeping = HousekeepingSchedule(elapsed: RequestService.elapsed)
    private var turns = PassTurns()

    private let events: AsyncStream<Event>
    private let eventSink: AsyncStream<Event>.Continuation
    /// Tells a shutdown, once, that nobody waits any more, or (`false`) that it has waited long enough.
    private let drained: AsyncStream<Bool>
    private let drainedSink: AsyncStream<Bool>.Continuation
    /// Tells, after the log failed for good, that nobody waits any more, or (`false`) that it took too long.
    private let refused: AsyncStream<Bool>
    private let refusedSink: AsyncStream<Bool>.Continuation

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.thread.asUnownedSerialExecutor()
    }

    package init(
        thread: PollingThread,
        listeners: consuming sending Socket,
        broadcasters: consuming sending Socket,
        handler: ListenerRequestHandler,
        log: any EventLog,
        holder: BoardHolder,
        configuration: GatewayConfiguration,
        clock: any GatewayClock,
        metrics: MetricRegistry,
        readiness: ReadinessBoard,
        retention: RetentionGate,
        expected: ExpectedListeners,
        counts: ListenerCounts,
        manager: ServiceManager,
        peers: PeerLog,
        logger: Logger
    ) {
        self.manager = manager
        self.peers = peers
        self.silence = LogSilence(silenceMax: configuration.logSilenceMax)
        self.retention = retention
        self.expected = expected
        self.counts = counts
        self.thread = thread
        self.sockets = RequestSockets(
            listeners: listeners,
            broadcasters: broadcasters,
            metrics: metrics,
            peers: peers
        )
        self.breaks = BreakLane(
            entriesWaitingMax: configuration.entriesWaitingMax,
            entryBytesWaitingMax: configuration.entryBytesWaitingMax
        )
        self.handler = handler
        self.log = log
        self.holder = holder
        self.clock = clock
        self.planner = BroadcastPlanner(policy: configuration.breaks)
        self.timers = BreakTimers(policy: configuration.breaks)
        self.timerQueue = TimerQueue(handler.board)
        self.recheckInterval = configuration.timerRecheck
        self.drainTimeout = configuration.drainTimeout
        self.metrics = metrics
        self.readiness = readiness
        self.logger = logger
        (self.events, self.eventSink) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingOldest(Self.eventsMax)
        )
        (self.drained, self.drainedSink) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        (self.refused, self.refusedSink) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
    }

    isolated deinit {}  // The sockets are closed on their thread.

    package nonisolated func applied(_ results: [EntryResult], offset: UInt64, board: Board) {
        self.post(.applied(results, offset: offset))
    }

    private nonisolated func post(_ event: Event) {
        // In flight there are at most a few groups, and the consumer only moves bytes: a full buffer is a fault of ours,
        // and a lost answer would leave somebody waiting for ever.
        if case .dropped = self.eventSink.yield(event) {
            self.logger.critical("an answer of the event log was lost: the limit eventsMax is passed")
            self.metrics.count(.limitsHit, .limit(.eventsMax))
        }
    }

    /// Takes over what may change while the gateway runs.
    ///
    /// What was decided before stays: decisions stand in the log.
    package func reload(_ configuration: GatewayConfiguration) {
        self.planner.policy = configuration.breaks
        self.timers.policy = configuration.breaks
        self.drainTimeout = configuration.drainTimeout
        self.handler.setLimits(
            listenersMax: configuration.listenersMax,
            requestsPerSessionPerSecondMax: Double(configuration.requestsPerSessionPerSecondMax)
        )
    }

    package func run() async throws {
        self.sockets.attach(.listeners, to: self.thread, for: self) { $0.drainListeners() }
        self.sockets.attach(.broadcasters, to: self.thread, for: self) { $0.drainBroadcasters() }
        let housekeeping = self.thread.tick(every: Self.housekeepingInterval, for: self) { $0.keepHouse() }
        self.runTimers()
        self.giveSignOfLife()
        self.readiness.set(.sockets, isReady: true)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.consume() }
            try? await gracefulShutdown()
            await self.drain()
            self.eventSink.finish()
            await group.waitForAll()
        }
        housekeeping.cancel()
        self.timer?.cancel()
        self.sockets.close()
    }

    private func consume() async {
        for await event in self.events {
            switch event {
            case .acknowledgementsAppended, .breaksAppended: self.silence.heard(at: .now)
            case .applied: break
            }
            switch event {
            case .acknowledgementsAppended(let id, let result): await self.acknowledgementsAnswered(id, result)
            case .breaksAppended(let id, let result): self.breaksAnswered(id, result)
            case .applied(let results, let offset):
                for result in results {
                    switch result {
                    case .changed(let each, let notice):
                        self.timerQueue.note(each)
                        if notice?.kind == .available {
                            self.metrics.count(.notifiedListeners, by: self.handler.leases.count(of: each.key.stream))
                        }
                    case .unchanged(let each): self.timerQueue.note(each)
                    case .refused, .housekept: break
                    }
                }
                for (member, result) in self.breaks.applied(results, offset: offset) { self.answer(member, result) }
                self.runTimers()
            }
            self.closeGroups()
            self.tellIfDrained()
        }
    }

    private func closeGroups() {
        self.lookAtRoom()
        // At a stop what was handed out goes into the reserve: nobody asks for more.
        while !self.handler.isLogFull || self.handler.isDraining,
            let (id, group) = self.acknowledgements.close(&self.handler)
        {
            self.metrics.count(.acknowledgementGroups)
            self.append(group.encoded(), to: .acknowledgements(0)) { .acknowledgementsAppended(id, $0) }
        }
        while let (id, record) = self.breaks.close() {
            self.append(record, to: .breaks) { .breaksAppended(id, $0) }
        }
    }

    /// Hands a record to the log; the answer comes back as an event.
    private func append(
        _ record: [UInt8],
        to lane: Lane,
        as event: @escaping @Sendable (Result<UInt64, EventLogError>) -> Event
    ) {
        let metrics = self.metrics
        let handedOver = ContinuousClock.now
        self.silence.asked(at: handedOver)
        self.log.append(record, to: lane) { result in
            metrics.observe(.appendSeconds, ContinuousClock.now - handedOver)
            self.post(event(result))
        }
    }
}

// MARK: - Listeners

extension RequestService {
    /// Takes what a socket has, up to a bound, so that neither the other socket nor the timers wait for long.
    private func pass(
        over side: RequestSockets.Side,
        _ handle: (isolated RequestService, RoutingID, [UInt8]) -> Void
    ) {
        guard var pass = self.turns.begin(side, at: .now) else { return }
        self.tracesListeners = self.peers.logs(.debug)
        var hasMore = true
        var goesOn = true
        while goesOn {
            switch self.sockets.receive(from: side) {
            case .nothing:
                hasMore = false
                goesOn = false
            case .refused: goesOn = self.turns.goesOn(&pass, bytes: 0, at: .now)
            case .request(let peer):
                // Looked at for each request, not for each pass: while a pass lasts the board may advance, a notice go out,
                // and a listener that has it already ask for the break.
                if self.holder.offset != self.handler.board.offset { self.handler.board = self.holder.board }
                handle(self, peer, self.sockets.body)
                goesOn = self.turns.goesOn(&pass, bytes: self.sockets.body.count, at: .now)
            }
        }
        self.closeGroups()
        self.turns.end(pass, hasMore: hasMore, at: .now)
    }

    private func drainListeners() {
        self.pass(over: .listeners) { (service, peer, request) in
            let answer = service.handler.handle(
                request,
                from: PeerFacts(transport: "zeromq"),
                at: service.readClock().now
            )
            if service.tracesListeners || service.handler.unreadable != nil { service.tell(answer, to: request) }
            switch answer {
            case .now(let reply): service.sockets.send(reply, to: peer, by: .listeners)
            case .afterGroup(let deferred):
                service.acknowledgements.add(AcknowledgementLane.Member(peer: peer, deferred: deferred))
            }
        }
    }

    private func acknowledgementsAnswered(_ id: UInt64, _ result: Result<UInt64, EventLogError>) async {
        let isDurable = self.note(result, of: .acknowledgements(0))
        let members = self.acknowledgements.answered(id, isDurable: isDurable, handler: &self.handler)
        for (index, member) in members.enumerated() {
            self.sockets.send(
                self.handler.finish(member.deferred, isDurable: isDurable, at: self.clock.now()),
                to: member.peer,
                by: .listeners
            )
            // As many as a pass takes; then the sockets have their turn.
            if index % PassTurns.passMessagesMax == PassTurns.passMessagesMax - 1 { await Task.yield() }
        }
    }
}

// MARK: - Broadcasters

extension RequestService {
    private func drainBroadcasters() {
        self.pass(over: .broadcasters) { (service, peer, request) in
            service.broadcastRequest(request, from: peer, at: service.readClock())
        }
    }

    private func broadcastRequest(_ frame: [UInt8], from peer: RoutingID, at reading: ClockReading) {
        let now = reading.now
        let request: BroadcastRequest
        do throws(WireError) {
            request = try BroadcastRequest(decoding: frame)
        } catch {
            self.metrics.count(.broadcastRequests, .undecodable)
            let waiting = WaitingBroadcaster(
                peer: peer,
                requestID: BroadcastRequest.requestID(of: frame),
                kind: .undecodable,
                key: nil
            )
            let refusal = RequestEnvelope.misdirected(frame, on: .broadcasters) ?? Refusal(error)
            return self.reply(.refused(refusal), to: waiting)
        }
        self.metrics.count(.broadcastRequests, request.kind.metricLabel)
        let waiting = WaitingBroadcaster(
            peer: peer,
            requestID: request.id,
            kind: request.kind.metricLabel,
            key: request.kind.key
        )
        guard !self.handler.isDraining else { return self.reply(.refused(.draining), to: waiting) }
        let stream = request.kind.stream
        let listeners = stream.map { self.listeners(of: $0, at: reading.steady) } ?? 0
        let plan = self.planner.plan(request, by: "", on: self.handler.board, at: now, listeners: listeners)
        switch plan {
        case .answer(let body): self.reply(body, to: waiting)
        case .append(let entry) where self.handler.isLogFull && !entry.kind.mayUseReserve:
            self.metrics.count(.limitsHit, .limit(.logBytesMax))
            self.reply(.refused(.logFull), to: waiting)
        case .append(let entry):
            if let limit = self.breaks.add(BreakLane.Member(entry: entry, waiting: waiting, bytes: frame.count)) {
                self.metrics.count(.limitsHit, .limit(limit))
                return self.reply(.refused(.logBehind), to: waiting)
            }
        }
    }

    private func breaksAnswered(_ id: UInt64, _ result: Result<UInt64, EventLogError>) {
        switch result {
        case .success(let offset):
            _ = self.note(result, of: .breaks)
            for (member, result) in self.breaks.appended(id, offset: offset) { self.answer(member, result) }
        case .failure:
            _ = self.note(result, of: .breaks)
            self.acknowledgements.noteFailure()
            for member in self.breaks.failed(id) {
                self.waitAgain(member.entry)
                if case .housekeeping = member.entry.kind { self.housekeeping.answered(nil) }
                if let waiting = member.waiting { self.reply(.refused(.logUnavailable), to: waiting) }
            }
        }
    }

    private func answer(_ member: BreakLane.Member, _ result: EntryResult) {
        guard let waiting = member.waiting else {
            if case .housekept(let done) = result { self.housekept(done) }
            if case .announce = member.entry.kind, case .changed(let each, _) = result {
                self.metrics.observe(.scheduleLateSeconds, member.entry.at - each.record.announce)
            }
            return
        }
        switch result {
        case .changed(let each, _): self.reply(.break(each.info(at: self.clock.now())), to: waiting, isNew: true)
        case .unchanged(let each): self.reply(.break(each.info(at: self.clock.now())), to: waiting)
        case .refused(let refusal): self.reply(.refused(refusal), to: waiting)
        case .housekept: break  // Nobody asks for it.
        }
    }

    /// - Parameters:
    ///   - body: the answer.
    ///   - waiting: whose.
    ///   - isNew: whether the request has changed something, and did not only find it done.
    private func reply(_ body: BroadcastReply.Body, to waiting: WaitingBroadcaster, isNew: Bool = false) {
        self.tell(body, to: waiting, isNew: isNew)
        if case .refused(let refusal) = body {
            self.metrics.count(.refusals, .status(refusal.status))
            if refusal == .boardFull() { self.metrics.count(.limitsHit, .limit(.boardBytesMax)) }
        }
        let reply = BroadcastReply(requestID: waiting.requestID, gatewayTime: self.clock.now(), body: body)
        self.sockets.send(ReplyBytes(head: reply.encoded()), to: waiting.peer, by: .broadcasters)
    }
}

// MARK: - The log

extension RequestService {
    /// Counts and logs what the log said.
    private func note(_ result: Result<UInt64, EventLogError>, of lane: Lane) -> Bool {
        switch result {
        case .success(let offset):
            self.metrics.set(.logOffset, .lane(lane), to: Int(clamping: offset))
            self.readiness.set(.log, isReady: !self.handler.isLogFull && !self.logHasFailed)
            return true
        case .failure(let error):
            self.metrics.count(.logFailures)
            self.readiness.set(.log, isReady: false)
            self.logger.error("the event log failed", metadata: ["lane": "\(lane)", "error": "\(error)"])
            return false
        }
    }
}

extension RequestService {
    /// Looks whether the log has room for new work; when it has none, what gathered is refused.
    private func lookAtRoom() {
        let isFull = self.log.usage?.isReached ?? false
        if isFull != self.handler.isLogFull {
            self.handler.isLogFull = isFull
            self.readiness.set(.log, isReady: !isFull && !self.logHasFailed)
            self.logger.warning(isFull ? "the event log has no room for new work" : "the event log has room again")
        }
        guard isFull else { return }
        let now = self.clock.now()
        for member in self.acknowledgements.refuse(&self.handler) {
            self.metrics.count(.limitsHit, .limit(.logBytesMax))
            let reply = self.handler.finish(member.deferred, isDurable: false, at: now)
            self.sockets.send(reply, to: member.peer, by: .listeners)
        }
        for member in self.breaks.refuseNewWork() {
            self.metrics.count(.limitsHit, .limit(.logBytesMax))
            if let waiting = member.waiting { self.reply(.refused(.logFull), to: waiting) }
        }
    }
}

// MARK: - Time

extension RequestService {
    /// Records what has fallen due, and sets the timer for what falls due next.
    private func runTimers() {
        self.timer?.cancel()
        guard !self.handler.isDraining else { return }
        self.handler.board = self.holder.board
        let reading = self.readClock()
        let now = reading.now
        var wait = self.recheckInterval
        let (leases, expected) = (self.handler.leases, self.expected)
        let entries = self.timerQueue.due(on: self.handler.board, at: now, timers: self.timers) {
            expected.count(of: $0, live: leases.count(of: $0), at: reading.steady)
        }
        for entry in entries where self.breaks.add(BreakLane.Member(entry: entry, waiting: nil, bytes: 0)) != nil {
            // Looked at again at the next recheck.
            self.waitAgain(entry)
        }
        if !entries.isEmpty { self.closeGroups() }
        if let next = self.timerQueue.next, next > now { wait = min(wait, next - now) }
        self.timer = self.thread.schedule(at: .now + wait, for: self) { $0.runTimers() }
    }

    /// A timer's record was not taken: its break waits for one as before.
    private func waitAgain(_ entry: BreakEntry) {
        if let each = entry.key.flatMap({ self.holder.board[$0] }) { self.timerQueue.note(each) }
    }

    /// Looks at the clock, and tells the handler how far commands have moved it.
    private func readClock() -> ClockReading {
        let reading = self.clock.reading()
        self.handler.steppedMicroseconds = reading.steppedMicroseconds
        return reading
    }

    /// How many listeners of a stream are expected to ask for a batch.
    private func listeners(of stream: StreamID, at steady: Timestamp) -> Int {
        self.expected.count(of: stream, live: self.handler.leases.count(of: stream), at: steady)
    }

    /// Monotonic time.
    private static var elapsed: Timestamp {
        Timestamp(microseconds: (ContinuousClock.now - Self.begun).inMicroseconds)
    }
    private static let begun = ContinuousClock.now

    /// Appends a record that lets the log's own time go on, where it is time for one.
    private func letTimePass() {
        guard !self.handler.isDraining,
            let entry = self.housekeeping.entry(
                on: self.handler.board,
                at: self.clock.now(),
                elapsed: Self.elapsed,
                mayAdvance: self.retention.isOpen
            )
        else { return }
        if self.breaks.add(BreakLane.Member(entry: entry, waiting: nil, bytes: 0)) != nil {
            self.housekeeping.answered(nil)
        }
    }

    private func housekept(_ done: Housekeeping) {
        self.housekeeping.answered(done)
        if done.condensed + done.retired + done.streams > 0 {
            self.logger.info(
                "let go of what is too old",
                metadata: [
                    "condensed": "\(done.condensed)", "breaks": "\(done.retired)", "streams": "\(done.streams)",
                ]
            )
        }
        if done.hasMore { self.letTimePass() }
    }

    private func keepHouse() {
        self.peers.tellLeftOut()
        self.lookAtSilence()
        self.letTimePass()
        let reading = self.readClock()
        self.handler.expireLeases(at: reading.now)
        self.counts.set(self.expected.merged(with: self.handler.leases.countsByStream, at: reading.steady))
        self.metrics.set(.listeners, to: self.handler.leases.count)
        self.metrics.set(.acknowledgementsWaiting, to: self.acknowledgements.waitingCount)
        self.acknowledgements.retry()
        self.closeGroups()
    }

    /// Answers what was accepted; everything new is refused as `DRAINING`.
    ///
    /// Ends early when the task is cancelled: then something has failed that the answers would need.
    private func drain() async {
        self.handler.isDraining = true
        self.readiness.set(.sockets, isReady: false)
        let deadline = self.thread.schedule(at: .now + self.drainTimeout, for: self) { $0.drainedSink.yield(false) }
        self.tellIfDrained()
        // `first` gives `nil` when the task is cancelled.
        let isDrained = await self.drained.first { _ in true } == true
        let waiting = self.acknowledgements.waitingCount + self.breaks.waitingCount
        if !isDrained, waiting > 0 || !self.logHasFailed {
            self.logger.error("stopping before everything was answered", metadata: ["waiting": "\(waiting)"])
        }
        deadline.cancel()
    }

    private func tellIfDrained() {
        guard self.handler.isDraining, self.acknowledgements.isIdle, self.breaks.isIdle else { return }
        // Deliveries that the log did not take are lost with it.
        guard self.logHasFailed || self.handler.hasGatheredNothing else { return }
        self.drainedSink.yield(true)
        self.refusedSink.yield(true)
    }

    /// The log takes nothing until the next start: takes nothing new, and returns when everybody who waits was answered, at
    /// the latest after `drainTimeout`.
    func refuseWhatWaits() async {
        self.logHasFailed = true
        self.handler.isDraining = true
        self.readiness.set(.sockets, isReady: false)
        let deadline = self.thread.schedule(at: .now + self.drainTimeout, for: self) { $0.refusedSink.yield(false) }
        self.closeGroups()
        self.tellIfDrained()
        _ = await self.refused.first { _ in true }
        deadline.cancel()
    }
}

// MARK: - Signs of life

extension RequestService {
    /// Tells the service manager that this thread goes round, twice in each interval that it watches.
    ///
    /// Only from here: a thread that hangs in a handler gives none, and one that is busy has its timers after each pass.
    private func giveSignOfLife() {
        guard let interval = self.manager.watchdog else { return }
        // One that was not taken is repeated soon, so that it still comes in time.
        let wait = self.manager.giveSignOfLife() ? interval / 2 : interval / 16
        self.thread.schedule(at: .now + max(wait, .milliseconds(1)), for: self) { $0.giveSignOfLife() }
    }

    /// A log that does not answer is told of: a new start would not make its disk any faster (docs/decisions/0037).
    private func lookAtSilence() {
        switch self.silence.look(at: .now) {
        case .silent(let duration):
            let sentence =
                "The event log has not answered for \(duration.components.seconds) s: nothing is confirmed. Look at its disk."
            if self.readiness.raise(.logSilent, sentence) {
                self.logger.error("the event log does not answer", metadata: ["for": "\(duration)"])
            }
        case .answersAgain:
            if self.readiness.clear(.logSilent) { self.logger.notice("the event log answers again") }
        case .fine: break
        }
    }
}

// MARK: - The log of messages

extension RequestService {
    /// Logs what became of a broadcaster's request.
    private func tell(_ body: BroadcastReply.Body, to waiting: WaitingBroadcaster, isNew: Bool) {
        switch body {
        case .break(let info):
            self.peers.log(
                .changes,
                .info,
                isNew ? "a broadcaster changed a break" : "a broadcaster asked for what is so already",
                waiting.metadata(["state": "\(info.state)"])
            )
        case .refused(let refusal):
            self.peers.log(
                .refusals,
                .notice,
                "a broadcaster's request was refused",
                waiting.metadata(["status": "\(refusal.status.name)", "sentence": "\(refusal.sentence)"])
            )
        case .list(let breaks, _):
            self.peers.log(
                .changes,
                .debug,
                "a broadcaster asked for a list",
                waiting.metadata(["breaks": "\(breaks.count)"])
            )
        }
    }

    /// Logs what became of a listener's request: one that could not be read always, others where that is asked for.
    private func tell(_ answer: Answer<ListenerRequestHandler.Deferred>, to request: [UInt8]) {
        if let unreadable = self.handler.unreadable {
            self.handler.unreadable = nil
            self.peers.log(
                .unreadable,
                .notice,
                "a message on the listeners' socket was refused",
                [
                    "requestId": "\(unreadable.requestID)", "status": "\(unreadable.refusal.status.name)",
                    "sentence": "\(unreadable.refusal.sentence)",
                ]
            )
            return
        }
        guard let decoded = try? ListenerRequest(decoding: request) else { return }
        var metadata: Logger.Metadata = [
            "requestId": "\(decoded.id)", "kind": "\(decoded.kind.metricLabel.text)",
        ]
        guard case .now(let reply) = answer else {
            return self.logger.trace("a listener's acknowledgement waits for the log", metadata: metadata)
        }
        guard case .refused(let refusal)? = (try? ListenerReply(decoding: reply.frame))?.body else {
            return self.logger.trace("a listener's request was answered", metadata: metadata)
        }
        metadata["status"] = "\(refusal.status.name)"
        metadata["sentence"] = "\(refusal.sentence)"
        self.logger.debug("a listener's request was refused", metadata: metadata)
    }
}

extension BroadcastRequest.Kind {
    fileprivate var stream: StreamID? {
        if case .list(let list) = self { return list.stream }
        return self.key?.stream
    }

    /// The break that it is about.
    fileprivate var key: BreakKey? {
        switch self {
        case .publish(let publish): publish.key
        case .punch(let punch): punch.key
        case .update(let update): update.key
        case .end(let end): end.key
        case .cancel(let key): key
        case .list: nil
        }
    }

    fileprivate var metricLabel: MetricLabel {
        switch self {
        case .publish: .publish
        case .punch: .punch
        case .update: .update
        case .end: .end
        case .cancel: .cancel
        case .list: .list
        }
    }
}

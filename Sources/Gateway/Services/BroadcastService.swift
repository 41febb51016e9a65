// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import ServiceLifecycle
import ZeroMQ

/// Answers broadcasters on a ROUTER socket and callers inside the process (`BroadcastEntrance`), and lets timers fire.
///
/// Requests are drained in passes; each is decided synchronously on the board that is newest then, and
/// answered in the same pass unless it has to be durable first. Nothing here waits: the log and the board answer through
/// `events`.
actor BroadcastService: Service, BoardObserver {
    /// What comes back from the log and from the board.
    private enum Event: Sendable {
        case breaksAppended(UInt64, Result<UInt64, EventLogError>)
        case applied([EntryResult], offset: UInt64)
    }

    /// The most events that wait; as many as groups can be in flight, many times over.
    static let eventsMax = 65_536
    /// How often the log's own time goes on and the log is looked at.
    private static let housekeepingInterval: Duration = .seconds(1)

    private let thread: PollingThread
    private let log: LogHealth
    private let listeners: ListenerService
    private let live: LiveListeners
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
    /// Who waits for an answer inside the process.
    private let calls: BroadcastCalls
    private let audit: AuditTrail
    private let traces: RequestTraces

    private var socket: BroadcastSocket
    private var authentication: AuthenticationSocket
    /// Who may publish; `nil`: broadcasters are not told apart.
    private var directory: BroadcasterDirectory?
    /// The newest board that this thread has seen.
    private var board: Board
    private var breaks: BreakLane
    private var parked: ParkedRequests
    private var timer: PollingThread.Timer?
    private var timerQueue: TimerQueue
    /// Whether the gateway is stopping.
    private var isDraining = false
    /// Whether the log has no room for new work.
    private var isLogFull = false
    private let retention: RetentionGate
    /// How many listeners there were before the start.
    private let expected: ExpectedListeners
    /// Where the next start learns how many there are.
    private let counts: ListenerCounts
    private var housekeeping = HousekeepingSchedule(elapsed: BroadcastService.elapsed)

    private let events: AsyncStream<Event>
    private let eventSink: AsyncStream<Event>.Continuation
    /// Nobody waits any more, after a shutdown has begun.
    private let drained = Occurrence()
    /// How often each of the listeners' loops had gone round at the last sign of life.
    private var listenerRounds: [Int] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.thread.asUnownedSerialExecutor()
    }

    init(
        thread: PollingThread,
        socket: consuming sending Socket,
        connections: BroadcastConnections,
        authentication: consuming sending Socket,
        directory: BroadcasterDirectory?,
        listeners: ListenerService,
        live: LiveListeners,
        log: LogHealth,
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
        calls: BroadcastCalls,
        audit: AuditTrail,
        traces: RequestTraces,
        logger: Logger
    ) {
        self.manager = manager
        self.peers = peers
        self.calls = calls
        self.audit = audit
        self.traces = traces
        self.retention = retention
        self.expected = expected
        self.counts = counts
        self.thread = thread
        self.socket = BroadcastSocket(socket, connections: connections, metrics: metrics, peers: peers)
        self.authentication = AuthenticationSocket(authentication, metrics: metrics, peers: peers)
        self.directory = directory
        self.listeners = listeners
        self.live = live
        self.breaks = BreakLane(
            entriesWaitingMax: configuration.entriesWaitingMax,
            entryBytesWaitingMax: configuration.entryBytesWaitingMax
        )
        self.parked = ParkedRequests(
            entriesWaitingMax: configuration.entriesWaitingMax,
            entryBytesWaitingMax: configuration.entryBytesWaitingMax
        )
        self.board = holder.board
        self.log = log
        self.holder = holder
        self.clock = clock
        self.planner = BroadcastPlanner(policy: configuration.breaks)
        self.timers = BreakTimers(policy: configuration.breaks)
        self.timerQueue = TimerQueue(holder.board)
        self.recheckInterval = configuration.timerRecheck
        self.drainTimeout = configuration.drainTimeout
        self.metrics = metrics
        self.readiness = readiness
        self.logger = logger
        (self.events, self.eventSink) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingOldest(Self.eventsMax)
        )
    }

    isolated deinit {}  // The socket is closed on its thread.

    nonisolated func applied(_ results: [EntryResult], offset: UInt64, board: Board) {
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
    func reload(_ configuration: GatewayConfiguration, _ directory: BroadcasterDirectory?) {
        // Whether they are told apart stays: the socket is bound with a key, or without one.
        if self.directory != nil, let directory { self.take(directory) }
        self.planner.policy = configuration.breaks
        self.timers.policy = configuration.breaks
        self.drainTimeout = configuration.drainTimeout
        self.listeners.reload(configuration)
        self.traces.reload(configuration.tracing)
    }

    func run() async throws {
        self.authentication.attach(to: self.thread, for: self) { $0.authenticate() }
        self.socket.attach(to: self.thread, for: self) { $0.pass() }
        if let directory = self.directory { self.take(directory) }
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
        self.socket.close()
        self.authentication.close()
        self.calls.close(at: self.clock.now())
    }

    private func consume() async {
        for await event in self.events {
            switch event {
            case .breaksAppended(let id, let result): self.breaksAnswered(id, result)
            case .applied(let results, let offset):
                for result in results {
                    switch result {
                    case .changed(let each, let notice):
                        self.timerQueue.note(each)
                        if notice?.kind == .available {
                            self.metrics.count(.notifiedListeners, by: self.live.count(of: each.key.stream))
                        }
                    case .unchanged(let each): self.timerQueue.note(each)
                    case .refused, .housekept: break
                    }
                }
                self.answer(self.breaks.applied(results, offset: offset))
                self.runTimers()
            }
            self.closeGroups()
            self.tellIfDrained()
        }
    }

    private func closeGroups() {
        self.lookAtRoom()
        while let (id, record) = self.breaks.close() {
            self.log.append(record, to: .breaks) { self.post(.breaksAppended(id, $0)) }
        }
    }
}

// MARK: - Broadcasters

extension BroadcastService {
    /// How long a pass goes on; the request that reaches it is finished.
    private static let passTimeMax: Duration = .milliseconds(2)
    /// How many messages a pass takes.
    private static let passMessagesMax = 256

    /// Takes what the socket has, up to a bound, so that timers and answers do not wait for long.
    private func pass() {
        self.isLogFull = self.log.lookAtRoom()
        let end = ContinuousClock.now + Self.passTimeMax
        var messages = 0
        repeat {
            switch self.socket.receive() {
            case .nothing: messages = Self.passMessagesMax
            case .refused: messages += 1
            case .request(let peer):
                // Looked at for each request, not for each pass: while a pass lasts the board may advance.
                if self.holder.offset != self.board.offset { self.board = self.holder.board }
                self.decide(self.socket.body, from: peer, at: self.clock.reading())
                messages += 1
            }
        } while messages < Self.passMessagesMax && ContinuousClock.now < end
        self.closeGroups()
    }

    /// Answers libzmq who may connect, as often as in a pass.
    private func authenticate() {
        guard let directory = self.directory else { return }
        let end = ContinuousClock.now + Self.passTimeMax
        while self.authentication.answer(by: directory, at: self.clock.now()), ContinuousClock.now < end {}
    }

    /// From the next request and the next connection on.
    private func take(_ directory: BroadcasterDirectory) {
        self.directory = directory
        self.metrics.set(.broadcasterKeys, to: directory.keyCount)
    }

    private func decide(_ frame: [UInt8], from peer: RequestReturn, at reading: ClockReading) {
        var waiting = WaitingBroadcaster(
            side: .peer(peer),
            requestID: 0,
            kind: .undecodable,
            key: nil,
            origin: RequestOrigin(.zeromq, address: self.socket.address ?? "")
        )
        let request: BroadcastRequest
        do throws(WireError) {
            request = try BroadcastRequest(decoding: frame)
        } catch {
            waiting.requestID = BroadcastRequest.requestID(of: frame)
            let refusal = RequestEnvelope.refusal(of: error, in: frame, on: .broadcasters)
            return self.refuseUnread(refusal, to: waiting)
        }
        waiting.requestID = request.id
        var principal = Result<BroadcastPrincipal, Refusal>.success(.anybody)
        do throws(Refusal) {
            if let directory { principal = .success(try directory.principal(of: self.socket.key, at: reading.now)) }
        } catch {
            principal = .failure(error)
        }
        // Nobody who may not ask is traced.
        if self.traces.isOn, case .success = principal, !request.traceparent.isEmpty, request.kind.key != nil {
            waiting.trace = self.traces.begin([request.traceparent], from: .broadcasters, at: reading.now)
        }
        self.decide(request, by: principal, bytes: frame.count, for: waiting, at: reading)
    }

    /// What came is no request of a broadcaster.
    private func refuseUnread(_ refusal: Refusal, to waiting: WaitingBroadcaster) {
        self.metrics.count(.broadcastRequests, .undecodable)
        self.reply(.refused(refusal), to: waiting)
    }

    /// Decides about a request, by whatever entrance it came.
    ///
    /// - Parameters:
    ///   - request: what is asked.
    ///   - principal: who asks, or why that cannot be told.
    ///   - bytes: how large the request is as a frame.
    ///   - waiting: who gets the answer; what it is about is filled in.
    ///   - reading: the gateway's clock.
    private func decide(
        _ request: BroadcastRequest,
        by principal: Result<BroadcastPrincipal, Refusal>,
        bytes: Int,
        for waiting: WaitingBroadcaster,
        at reading: ClockReading
    ) {
        self.metrics.count(.broadcastRequests, request.kind.metricLabel)
        var waiting = waiting
        waiting.kind = request.kind.metricLabel
        waiting.key = request.kind.key
        let by: BroadcastPrincipal
        switch principal {
        case .success(let known): by = known
        case .failure(let refusal): return self.reply(.refused(refusal), to: waiting)
        }
        waiting.by = by.name
        guard !self.isDraining else { return self.reply(.refused(.draining), to: waiting) }
        let admitted = AdmittedRequest(
            request: request,
            principal: by,
            bytes: bytes,
            waiting: waiting,
            reading: reading
        )
        if let stream = admitted.stream, self.parked.holds(stream) {
            self.park(admitted, of: stream)
        } else if !self.decide(admitted), let stream = admitted.stream {
            self.park(admitted, of: stream)
        }
    }

    private func park(_ admitted: AdmittedRequest, of stream: StreamID) {
        guard let limit = self.parked.park(admitted, of: stream) else { return }
        self.metrics.count(.limitsHit, .limit(limit))
        self.reply(.refused(.logBehind), to: admitted.waiting)
    }

    /// Decides about a request on the board as it is.
    ///
    /// What has to be recorded is decided once more when the board applies it, behind all entries before it. What needs no
    /// record is answered for good, and only by a board that has all of them.
    ///
    /// - Returns: whether it was decided; where not, it has to wait for entries of its stream.
    private func decide(_ admitted: AdmittedRequest) -> Bool {
        var waiting = admitted.waiting
        let reading = admitted.reading
        let listeners = admitted.request.kind.stream.map { self.listeners(of: $0, at: reading.steady) } ?? 0
        let plan = self.planner.plan(
            admitted.request,
            by: admitted.principal,
            on: self.board,
            at: reading.now,
            listeners: listeners,
            trace: waiting.trace?.context
        )
        if case .answer = plan, let stream = admitted.stream, !self.breaks.isSettled(stream) { return false }
        if waiting.trace != nil { self.traceDecision(&waiting, plan, from: reading.now) }
        switch plan {
        case .answer(let body): self.reply(body, to: waiting)
        case .append(let entry) where self.isLogFull && !entry.kind.mayUseReserve:
            self.metrics.count(.limitsHit, .limit(.logBytesMax))
            self.reply(.refused(.logFull), to: waiting)
        case .append(let entry):
            if let limit = self.breaks.add(BreakLane.Member(entry: entry, waiting: waiting, bytes: admitted.bytes)) {
                self.metrics.count(.limitsHit, .limit(limit))
                self.reply(.refused(.logBehind), to: waiting)
            }
        }
        return true
    }

    /// Decides about what waited for these entries.
    private func release(behind entries: [BreakEntry]) {
        guard self.parked.count > 0 else { return }
        self.board = self.holder.board
        for stream in Set(entries.compactMap { $0.key?.stream }) where self.breaks.isSettled(stream) {
            self.parked.release(stream) { self.decide($0) }
        }
    }

    /// Decides about a request that came by a caller inside the process.
    ///
    /// - Parameters:
    ///   - call: what is asked.
    ///   - principal: who asks.
    ///   - origin: where it came from.
    func take(_ call: BroadcastCall, by principal: BroadcastPrincipal, from origin: RequestOrigin) {
        self.isLogFull = self.log.lookAtRoom()
        if self.holder.offset != self.board.offset { self.board = self.holder.board }
        let waiting = WaitingBroadcaster(
            side: .call(call.number),
            requestID: call.request.id,
            kind: .undecodable,
            key: call.request.kind.key,
            origin: origin,
            by: principal.name,
            trace: call.trace
        )
        switch call.read {
        case .success(let request):
            self.decide(
                request,
                by: .success(principal),
                bytes: call.bytes,
                for: waiting,
                at: self.clock.reading()
            )
        case .failure(let error): self.refuseUnread(Refusal(error), to: waiting)
        }
        self.closeGroups()
    }

    private func breaksAnswered(_ id: UInt64, _ result: Result<UInt64, EventLogError>) {
        if self.traces.keepsSpans { self.traceCommit(of: id, result) }
        switch result {
        case .success(let offset):
            self.answer(self.breaks.appended(id, offset: offset))
        case .failure:
            self.listeners.noteLogFailure()
            let failed = self.breaks.failed(id)
            for member in failed {
                self.waitAgain(member.entry)
                if case .housekeeping = member.entry.kind { self.housekeeping.answered(nil) }
                if let waiting = member.waiting { self.reply(.refused(.logUnavailable), to: waiting) }
            }
            self.release(behind: failed.map(\.entry))
        }
    }

    private func answer(_ settled: [(member: BreakLane.Member, result: EntryResult)]) {
        for (member, result) in settled { self.answer(member, result) }
        self.release(behind: settled.map(\.member.entry))
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
            if refusal == .tooManyStreams { self.metrics.count(.limitsHit, .limit(.streamsMax)) }
            if refusal == .boardFull() { self.metrics.count(.limitsHit, .limit(.boardBytesMax)) }
        }
        let reply = BroadcastReply(
            requestID: waiting.requestID,
            gatewayTime: self.clock.now(),
            trace: waiting.trace?.context,
            changed: isNew,
            body: body
        )
        if waiting.trace != nil { self.traceRequest(waiting, reply) }
        // Lists change nothing.
        if waiting.kind != .list { self.audit.note(waiting.auditRecord(reply, isNew: isNew)) }
        switch waiting.side {
        case .peer(let peer): self.socket.send(reply.encoded(), to: peer)
        case .call(let number): self.calls.answer(number, reply)
        }
    }
}

// MARK: - Traces

extension BroadcastService {
    /// Keeps the span of a decision.
    private func traceDecision(_ waiting: inout WaitingBroadcaster, _ plan: BroadcastPlan, from start: Timestamp) {
        guard let trace = waiting.trace else { return }
        let now = self.clock.now()
        waiting.decided = now
        let decided = waiting
        self.traces.keep([
            TraceSpan(
                "decide",
                trace.context.newSpan(),
                parent: trace.context.span,
                from: start,
                to: now,
                attributes: decided.traceAttributes + [("cuecast.plan", .text(plan.word))]
            )
        ])
    }

    /// Keeps the spans of a group that the log has answered.
    private func traceCommit(of id: UInt64, _ result: Result<UInt64, EventLogError>) {
        let now = self.clock.now()
        var fault: String?
        var more: [(name: String, value: TraceSpan.Value)] = []
        switch result {
        case .success(let offset): more = [("cuecast.log.offset", .number(Int(clamping: offset)))]
        case .failure: fault = "The event log did not take it."
        }
        let spans = self.breaks.traced(id)
            .compactMap { waiting in
                waiting.trace.map { trace in
                    TraceSpan(
                        "log commit",
                        trace.context.newSpan(),
                        parent: trace.context.span,
                        from: waiting.decided ?? trace.start,
                        to: now,
                        attributes: waiting.traceAttributes + more,
                        fault: fault
                    )
                }
            }
        self.traces.keep(spans)
    }

    /// Keeps the span of a request by the broadcasters' socket; whoever asks by another way keeps its own.
    private func traceRequest(_ waiting: WaitingBroadcaster, _ reply: BroadcastReply) {
        guard let trace = waiting.trace, case .peer = waiting.side else { return }
        var fault: String?
        if case .refused(let refusal) = reply.body, refusal.status == .unavailable { fault = refusal.sentence }
        self.traces.keep([
            TraceSpan(
                "zeromq request",
                kind: .server,
                trace.context,
                parent: trace.parent,
                from: trace.start,
                to: reply.gatewayTime,
                attributes: waiting.traceAttributes,
                fault: fault
            )
        ])
    }
}

extension WaitingBroadcaster {
    /// What spans say about the request.
    fileprivate var traceAttributes: [(name: String, value: TraceSpan.Value)] {
        var attributes: [(name: String, value: TraceSpan.Value)] = [("cuecast.kind", .text(self.kind.text))]
        if let key {
            attributes.append(("cuecast.stream", .text(key.stream.description)))
            attributes.append(("cuecast.break", .text(key.id.description)))
        }
        return attributes
    }
}

extension BroadcastPlan {
    /// What becomes of the request next.
    fileprivate var word: String {
        switch self {
        case .append: "record"
        case .answer(.refused(let refusal)): refusal.status.name
        case .answer: "unchanged"
        }
    }
}

// MARK: - The log

extension BroadcastService {
    /// Looks whether the log has room for new work; when it has none, what gathered is refused.
    private func lookAtRoom() {
        self.isLogFull = self.log.lookAtRoom()
        guard self.isLogFull else { return }
        let refused = self.breaks.refuseNewWork()
        for member in refused {
            self.metrics.count(.limitsHit, .limit(.logBytesMax))
            if let waiting = member.waiting { self.reply(.refused(.logFull), to: waiting) }
        }
        self.release(behind: refused.map(\.entry))
    }
}

// MARK: - Time

extension BroadcastService {
    /// Records what has fallen due, and sets the timer for what falls due next.
    private func runTimers() {
        self.timer?.cancel()
        guard !self.isDraining else { return }
        self.board = self.holder.board
        let reading = self.clock.reading()
        let now = reading.now
        var wait = self.recheckInterval
        let (live, expected) = (self.live, self.expected)
        let entries = self.timerQueue.due(on: self.board, at: now, timers: self.timers) {
            expected.count(of: $0, live: live.count(of: $0), at: reading.steady)
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

    /// How many listeners of a stream are expected to ask for a batch.
    private func listeners(of stream: StreamID, at steady: Timestamp) -> Int {
        self.expected.count(of: stream, live: self.live.count(of: stream), at: steady)
    }

    /// Monotonic time.
    private static var elapsed: Timestamp {
        Timestamp(microseconds: (ContinuousClock.now - Self.begun).inMicroseconds)
    }
    private static let begun = ContinuousClock.now

    /// Appends a record that lets the log's own time go on, where it is time for one.
    private func letTimePass() {
        guard !self.isDraining,
            let entry = self.housekeeping.entry(
                on: self.board,
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
        self.socket.endUnused()
        self.log.lookAtSilence()
        self.letTimePass()
        self.counts.set(self.expected.merged(with: self.live.counts, at: self.clock.reading().steady))
        self.closeGroups()
    }

    /// Answers what was accepted, on both sides; everything new is refused as `DRAINING`.
    ///
    /// Ends early when the task is cancelled: then something has failed that the answers would need.
    private func drain() async {
        self.isDraining = true
        self.listeners.refuseNewRequests()
        self.readiness.set(.sockets, isReady: false)
        let isDrained = await self.waitForAnswers()
        let waiting = self.listeners.waitingCount + self.breaks.waitingCount + self.parked.count
        if !isDrained, waiting > 0 || !self.log.hasFailed {
            self.logger.error("stopping before everything was answered", metadata: ["waiting": "\(waiting)"])
        }
    }

    /// - Returns: whether nobody waits any more.
    private func waitForAnswers() async -> Bool {
        self.closeGroups()
        self.tellIfDrained()
        let (service, limit) = (self.listeners, self.drainTimeout)
        async let listeners = service.drain(atMost: limit)
        let broadcasters = await self.drained.wait(atMost: limit)
        return await listeners && broadcasters
    }

    private func tellIfDrained() {
        if self.isDraining, self.breaks.isIdle, self.parked.count == 0 { self.drained.happen() }
    }

    /// The log takes nothing until the next start: takes nothing new, and returns when everybody who waits was answered, at
    /// the latest after `drainTimeout`.
    func refuseWhatWaits() async {
        self.log.failForGood()
        self.isDraining = true
        self.listeners.refuseNewRequests()
        self.readiness.set(.sockets, isReady: false)
        _ = await self.waitForAnswers()
    }
}

// MARK: - Signs of life

extension BroadcastService {
    /// Tells the service manager that this thread goes round, twice in each interval that it watches.
    ///
    /// Only from here: a thread that hangs in a handler gives none, and one that is busy has its timers after each pass. Nor is
    /// there one while one of the listeners' loops does not go round.
    private func giveSignOfLife() {
        guard let interval = self.manager.watchdog else { return }
        let rounds = self.listeners.roundCounts
        defer { self.listenerRounds = rounds }
        let allGoRound = zip(rounds, self.listenerRounds).allSatisfy { $0 != $1 }
        // One that was not given or not taken is repeated soon, so that it still comes in time.
        let isGiven = allGoRound && self.manager.giveSignOfLife()
        let wait = isGiven ? interval / 2 : interval / 16
        self.thread.schedule(at: .now + max(wait, .milliseconds(1)), for: self) { $0.giveSignOfLife() }
    }

}

// MARK: - The log of messages

extension BroadcastService {
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

}

extension BroadcastRequest.Kind {
    var metricLabel: MetricLabel {
        switch self {
        case .publish: .publish
        case .punch: .punch
        case .update: .update
        case .end: .end
        case .cancel: .cancel
        case .list: .list
        case .postpone: .postpone
        }
    }
}

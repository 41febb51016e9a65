// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Decides about the requests of listeners: join, batch, acknowledge, time, leave.
///
/// A request is read in place where that can be, else decoded in full. Both readers hand on the same values, and each kind of request
/// has one function that decides about them. What belongs to one request is in a ``RequestAtHand``, which ends with the answer.
package struct ListenerRequestHandler: RequestHandler, Sendable {
    /// The data for the answer to an acknowledgement once its group is durable.
    package struct Deferred: Hashable, Sendable {
        package let requestID: UInt64
        /// How many outcomes it records.
        package let outcomes: Int
        /// The number of the group that it waits for.
        package let group: UInt64
    }

    let settings: Settings
    /// The current board; the owner of the handler swaps it.
    package var board: Board {
        didSet { if self.board.offset != oldValue.offset { self.served.removeAll() } }
    }
    /// The keys that sign deliveries, and check those that come back; the owner of the handler swaps them.
    package var keys: MessageKeys
    /// Whether the gateway is stopping.
    package var isDraining = false
    /// Whether listeners are asked to move to other gateways: joins are refused, and everything else is answered.
    package var movesListeners = false
    /// The other gateways that joins are told.
    package var alternatives = Alternatives.none
    /// Whether several gateways share the log: then a request may know more than the board, and waits until the board has caught up.
    package var waitsForLog = false
    /// The tickets and tokens that listeners need.
    private(set) var tickets: TicketRule
    /// The attributes of listeners that count.
    private(set) var audiences: AudiencePolicy
    /// The breaks with a request since the board last changed.
    var served = ServedBreaks()
    var sessions: ListeningSessions
    var recorder: Recorder
    /// Outcomes that were refused or accepted, batches that were handed out, and so on.
    let metrics: MetricRegistry
    let counters: Counters
    /// Memory that one acknowledgement after another uses; between them, what lies in it means nothing.
    private var memory = FoundOutcomes()

    /// - Parameters:
    ///   - settings: limits and times.
    ///   - board: as it is.
    ///   - keys: the keys that sign deliveries.
    ///   - metrics: counts what is decided.
    ///   - leases: the current listeners, where other handlers decide about the same listeners; `nil`: the listeners that ask here.
    ///   - waiting: counts what waits for the log, where others count together with this.
    package init(
        settings: Settings,
        board: Board,
        keys: MessageKeys,
        metrics: MetricRegistry,
        leases: (any LeaseTable)? = nil,
        waiting: any WaitingCount = WaitingForLog()
    ) {
        self.settings = settings
        self.board = board
        self.keys = keys
        self.tickets = settings.tickets
        self.audiences = settings.audiences
        self.metrics = metrics
        self.counters = Counters(metrics)
        self.recorder = Recorder(settings, metrics: metrics, waiting: waiting)
        self.sessions = ListeningSessions(
            leases
                ?? Leases(
                    length: settings.lease,
                    listenersMax: settings.listenersMax,
                    requestsPerSecondMax: settings.requestsPerSessionPerSecondMax
                ),
            metrics: metrics
        )
    }

    // MARK: - Who may hear what

    /// Takes over what may change about it while the gateway runs.
    package mutating func take(_ rules: ListenerRules) {
        self.tickets.protectedStreams = rules.protectedStreams
        self.audiences = rules.audiences
        self.sessions.forgotten = rules.forgotten
        // Each of them says whether its stream asks for a token.
        self.served.removeAll()
    }

    package var leases: any LeaseTable { self.sessions.leases }

    /// Ends the leases that were not renewed.
    package mutating func expireLeases(at now: Timestamp) { self.sessions.expire(at: now) }

    /// How far commands have made the gateway's clock jump: leases and allowances do not see that.
    package var steppedMicroseconds: Int64 {
        get { self.sessions.steppedMicroseconds }
        set { self.sessions.steppedMicroseconds = newValue }
    }

    // MARK: - Readers

    package mutating func handle(
        _ request: [UInt8],
        from peer: PeerFacts,
        at now: Timestamp
    ) -> HandledRequest<Deferred> {
        // The two requests that storms consist of, for breaks that were asked for before, make no objects.
        var scanned = ScannedRequest()
        guard scanned.scan(request.span, outcomes: &self.memory.outcomes),
            let served = self.served.find(request.span, stream: scanned.stream, id: scanned.breakID),
            served.isAnnounced || !self.waitsForLog,
            scanned.kind == .getBatch || self.memory.find(in: request.span, scanned.delivery, of: served)
        else { return self.handleInFull(request, from: peer, at: now) }
        var atHand = RequestAtHand(id: scanned.id, session: scanned.session, from: peer, at: now)
        let answer: Answer<Deferred>
        do throws(Refusal) {
            answer = try self.decide(request, scanned, of: served, &atHand)
        } catch {
            answer = .now(self.refusal(error, of: atHand))
        }
        return HandledRequest(answer: answer, effects: atHand.effects)
    }

    /// Decides about a request that was read in place.
    @inline(__always)
    private mutating func decide(
        _ frame: [UInt8],
        _ scanned: ScannedRequest,
        of served: ServedBreak,
        _ request: inout RequestAtHand
    ) throws(Refusal) -> Answer<Deferred> {
        switch scanned.kind {
        case .getBatch:
            self.counters.batchRequests.add()
            try self.admit(request)
            let ticket = try self.checkTicket(frame, at: scanned.ticket, of: served, for: .fetch, request)
            let owner = LeaseOwner(ticket, in: frame, at: scanned.ticket)
            return .now(
                try self.batch(of: served, delay: scanned.delay, owner, &request) { Array(frame[scanned.ticket]) }
            )
        case .acknowledge:
            self.counters.acknowledgeRequests.add()
            try self.admit(request)
            _ = try self.checkTicket(frame, at: scanned.ticket, of: served, for: .acknowledge, request)
            var found = FoundOutcomes()
            swap(&found, &self.memory)
            defer { swap(&found, &self.memory) }
            try self.accept(found, DeliveryToken(frame.span, at: scanned.delivery), of: served, request)
            return try self.record(found, frame, leavingOut: scanned.ticketField, of: served, request)
        }
    }

    mutating func handleInFull(
        _ frame: [UInt8],
        from peer: PeerFacts,
        at now: Timestamp,
        isCaughtUp: Bool = false
    ) -> HandledRequest<Deferred> {
        let decoded: ListenerRequest
        do throws(WireError) {
            decoded = try ListenerRequest(decoding: frame)
        } catch {
            return self.refuse(frame, error, at: now)
        }
        if !isCaughtUp { self.metrics.count(.listenerRequests, decoded.kind.metricLabel) }
        var request = RequestAtHand(id: decoded.id, session: decoded.session, from: peer, at: now)
        let answer: Answer<Deferred>
        do throws(Refusal) {
            answer = try self.decide(decoded, from: peer, &request, isCaughtUp: isCaughtUp)
        } catch {
            answer = .now(self.refusal(error, of: request))
        }
        return HandledRequest(answer: answer, effects: request.effects)
    }

    /// Decides about a request that was decoded in full.
    private mutating func decide(
        _ decoded: ListenerRequest,
        from peer: PeerFacts,
        _ request: inout RequestAtHand,
        isCaughtUp: Bool
    ) throws(Refusal) -> Answer<Deferred> {
        if isCaughtUp {
            try self.checkServes(request.session)
        } else {
            try self.admit(request)
            if self.waitsForLog, self.knowsMore(decoded) { return .afterCatchUp }
        }
        switch decoded.kind {
        case .join(let join): return try self.join(join, ticket: decoded.ticket, from: peer, &request)
        case .getBatch(let get):
            let ticket = try self.checkTicket(decoded.ticket, on: get.key.stream, for: .fetch, request)
            let served = try self.serve(get.key, at: request.now)
            let owner = LeaseOwner(ticket, in: decoded.ticket)
            return .now(
                try self.batch(of: served, delay: get.delay.now, owner, &request) { decoded.ticket }
            )
        case .acknowledge(let acknowledge):
            _ = try self.checkTicket(decoded.ticket, on: acknowledge.key.stream, for: .acknowledge, request)
            let served = try self.serve(acknowledge.key, at: request.now)
            var found = FoundOutcomes()
            swap(&found, &self.memory)
            defer { swap(&found, &self.memory) }
            let token = DeliveryToken(acknowledge.delivery.span, at: acknowledge.delivery.indices)
            let unknown = found.find(acknowledge.outcomes, token, of: served)
            try self.accept(found, unknown: unknown, token, of: served, request)
            // In the gateway's own encoding: what a later version put into the request, and what came twice in it, stays out of the log.
            var understood = decoded
            understood.ticket = []
            return try self.record(found, understood.encoded(), leavingOut: 0..<0, of: served, request)
        case .getTime: return .now(self.reply(.done, to: request))
        case .leave(let stream):
            _ = try self.checkTicket(decoded.ticket, on: stream, for: .leave, request)
            return .now(self.leave(stream, from: peer, &request))
        }
    }

    /// The break of this name, ready to be answered about.
    private mutating func serve(_ key: BreakKey, at now: Timestamp) throws(Refusal) -> ServedBreak {
        guard let each = self.board[key] else { throw self.missing(key) }
        let served = ServedBreak(each, isProtected: self.tickets.protects(key.stream), at: now)
        self.served.insert(served)
        return served
    }

    // MARK: - Rules for every kind

    /// Refuses what is refused whatever it asks for.
    @inline(__always)
    private mutating func admit(_ request: RequestAtHand) throws(Refusal) {
        try self.checkServes(request.session)
        try self.sessions.takeRequest(request)
    }

    /// Refuses a session that is served nothing now.
    @inline(__always)
    func checkServes(_ session: SessionID) throws(Refusal) {
        guard !self.isDraining else { throw .draining }
        try self.sessions.checkKnown(session)
    }

    /// Decides about the ticket of a request about a break.
    @inline(__always)
    private func checkTicket(
        _ bytes: [UInt8],
        at range: Range<Int>,
        of served: ServedBreak,
        for use: TicketRule.Use,
        _ request: RequestAtHand
    ) throws(Refusal) -> TicketHead? {
        try TicketRule.check(
            bytes,
            at: range,
            of: request.session,
            on: served.key.stream,
            isProtected: served.isProtected,
            for: use,
            self.keys,
            at: request.now
        )
    }

    /// Decides about the ticket of a request about a stream: also of one about a break, before it is known whether there is such a break.
    func checkTicket(
        _ ticket: [UInt8],
        on stream: StreamID,
        for use: TicketRule.Use,
        _ request: RequestAtHand
    ) throws(Refusal) -> TicketHead? {
        try TicketRule.check(
            ticket,
            at: ticket.indices,
            of: request.session,
            on: stream,
            isProtected: self.tickets.protects(stream),
            for: use,
            self.keys,
            at: request.now
        )
    }

    func missing(_ key: BreakKey) -> Refusal {
        self.board.isRetired(key)
            ? Refusal(.breakTooOld, "The break \(key.id) is older than the gateway keeps.") : .noSuchBreak(key)
    }

    // MARK: - Replies

    func reply(_ body: ListenerReply.Body, to request: RequestAtHand) -> ReplyBytes {
        ReplyBytes(head: ListenerReply(requestID: request.id, gatewayTime: request.now, body: body).encoded())
    }

    func refusal(_ refusal: Refusal, of request: RequestAtHand) -> ReplyBytes {
        self.refusal(refusal, requestID: request.id, at: request.now)
    }

    func refusal(_ refusal: Refusal, requestID: UInt64, at now: Timestamp) -> ReplyBytes {
        self.metrics.count(.refusals, .status(refusal.status))
        return ReplyBytes(
            head: ListenerReply(requestID: requestID, gatewayTime: now, body: .refused(refusal)).encoded()
        )
    }

    /// Refuses what cannot be read as a request.
    private func refuse(_ frame: [UInt8], _ error: WireError, at now: Timestamp) -> HandledRequest<Deferred> {
        self.metrics.count(.listenerRequests, .undecodable)
        let refusal = RequestEnvelope.refusal(of: error, in: frame, on: .listeners)
        let id = ListenerRequest.requestID(of: frame)
        var effects = RequestEffects()
        effects.unreadable = UnreadableRequest(requestID: id, refusal: refusal)
        return HandledRequest(answer: .now(self.refusal(refusal, requestID: id, at: now)), effects: effects)
    }
}

extension ListenerRequestHandler {
    /// The counters of nearly every request.
    struct Counters: Sendable {
        let batchRequests: MetricRegistry.Cell
        let acknowledgeRequests: MetricRegistry.Cell
        let batches: MetricRegistry.Cell
        let deliveredAdvertisements: MetricRegistry.Cell
        let outcomes: MetricRegistry.Cell

        init(_ metrics: MetricRegistry) {
            self.batchRequests = metrics.cell(.listenerRequests, .batch)
            self.acknowledgeRequests = metrics.cell(.listenerRequests, .acknowledge)
            self.batches = metrics.cell(.batches)
            self.deliveredAdvertisements = metrics.cell(.deliveredAdvertisements)
            self.outcomes = metrics.cell(.acknowledgedOutcomes)
        }
    }
}

extension ListenerRequest.Kind {
    package var metricLabel: MetricLabel {
        switch self {
        case .join: .join
        case .getBatch: .batch
        case .acknowledge: .acknowledge
        case .getTime: .time
        case .leave: .leave
        }
    }
}

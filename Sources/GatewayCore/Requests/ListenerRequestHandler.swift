// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Decides about the requests of listeners: join, batch, acknowledge, time, leave.
package struct ListenerRequestHandler: RequestHandler, Sendable {
    /// What the answer to an acknowledgement needs once its group is durable.
    package struct Deferred: Hashable, Sendable {
        package let requestID: UInt64
        /// How many outcomes it records.
        package let outcomes: Int
        /// The number of the group that it waits for.
        package let group: UInt64
    }

    /// A message that could not be read as a request of a listener, and how it was refused.
    package struct Unreadable: Hashable, Sendable {
        /// 0 where it cannot be read either.
        package let requestID: UInt64
        package let refusal: Refusal
    }

    /// The limits and times that the configuration sets.
    package struct Settings: Hashable, Sendable {
        /// Which run of the gateway this is; random.
        package var instance: UInt64
        /// How often a stream's position is repeated to subscribers when nothing else happens.
        package var headInterval: Duration = .seconds(5)
        package var lease: Duration = .seconds(300)
        package var listenersMax = 100_000
        /// 0: no limit.
        package var requestsPerSessionPerSecondMax: Double = 1_000
        /// The most acknowledgements that wait for the log; more are refused until it has caught up.
        package var acknowledgementsWaitingMax = 20_000
        /// The most bytes of such acknowledgements.
        package var acknowledgementBytesWaitingMax = 64 * 1_048_576
        /// The most deliveries that wait for the log; batches are refused until it has caught up.
        package var deliveriesWaitingMax = 100_000
        /// The largest record that a group becomes, in bytes; what gathers beyond it becomes another.
        package var recordBytesMax = EventLogLimits.recordBytesMax
        /// The most outcomes and deliveries that are remembered so that repeats of them are not logged again; a power of two.
        package var rememberedOutcomesMax = 524_288
        /// Until when deliveries that are not signed are taken, by the log's own time; `nil`: none are.
        ///
        /// Gateways before signed none, and what they handed out is acknowledged for days.
        package var unsignedDeliveriesUntil: Timestamp?
        /// What listeners must show.
        package var tickets = TicketRule()
        /// For measurements, whose counts are not to depend on chance: what the hashes of remembered outcomes are made with;
        /// `nil`: secrets that are new with every start.
        package var fixedHashSecret: UInt64?

        package init(instance: UInt64) {
            self.instance = instance
        }
    }

    package private(set) var settings: Settings
    /// The board as it is; swapped by whoever owns the handler.
    package var board: Board {
        didSet { if self.board.offset != oldValue.offset { self.served.removeAll() } }
    }
    /// What signs deliveries, and checks those that come back; swapped by whoever owns the handler.
    package var keys: MessageKeys
    /// Sessions that are refused.
    private var forgotten = ForgottenSessions.empty()
    /// What was asked for since the board last changed.
    private var served = ServedBreaks()
    private var scanned = ScannedRequest()
    /// The ordinals of the acknowledgement at hand.
    private var ordinals: [UInt32] = []
    /// Whether the peer at hand may begin a session.
    private var mayBeginSession = true
    /// What the request at hand changed about pushing on its connection; only joins and leaves do.
    private var pushChange: PushChange?
    /// Whether the gateway is stopping.
    package var isDraining = false
    /// Whether the log has no room for new work: acknowledgements are refused, batches go on as long as deliveries may wait.
    package var isLogFull = false
    /// How far commands have made the gateway's clock jump: leases and allowances do not see that.
    package var steppedMicroseconds: Int64 = 0
    package private(set) var leases: any LeaseTable
    /// Whether a session has begun by the request at hand.
    package private(set) var hasBegunSession = false
    /// What is on its way to the log, and who waits for it.
    private var groups: PendingGroups
    /// What was logged lately.
    private var recent: RecentOutcomes
    /// The last message that could not be read, until whoever logs it has taken it.
    package var unreadable: Unreadable?
    /// Outcomes that were refused or accepted, batches that were handed out, and so on.
    private let metrics: MetricRegistry
    private let counters: Counters

    /// What is counted for nearly every request.
    private struct Counters: Sendable {
        let batchRequests: MetricRegistry.Cell
        let acknowledgeRequests: MetricRegistry.Cell
        let batches: MetricRegistry.Cell
        let deliveredAdvertisements: MetricRegistry.Cell
        let outcomes: MetricRegistry.Cell
        let repeats: MetricRegistry.Cell
        let unsignedDeliveries: MetricRegistry.Cell

        init(_ metrics: MetricRegistry) {
            self.batchRequests = metrics.cell(.listenerRequests, .batch)
            self.acknowledgeRequests = metrics.cell(.listenerRequests, .acknowledge)
            self.batches = metrics.cell(.batches)
            self.deliveredAdvertisements = metrics.cell(.deliveredAdvertisements)
            self.outcomes = metrics.cell(.acknowledgedOutcomes)
            self.repeats = metrics.cell(.repeatedOutcomes)
            self.unsignedDeliveries = metrics.cell(.unsignedDeliveries)
        }
    }

    /// - Parameters:
    ///   - settings: limits and times.
    ///   - board: as it is.
    ///   - keys: what signs deliveries.
    ///   - metrics: counts what is decided.
    ///   - leases: who listens, where other handlers decide about the same listeners; `nil`: whoever asks here.
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
        self.metrics = metrics
        self.counters = Counters(metrics)
        self.recent = RecentOutcomes(
            outcomesMax: settings.rememberedOutcomesMax,
            fixedSecret: settings.fixedHashSecret
        )
        self.groups = PendingGroups(
            number: self.recent.gathering,
            recordBytesMax: settings.recordBytesMax,
            count: waiting
        )
        self.leases =
            leases
            ?? Leases(
                length: settings.lease,
                listenersMax: settings.listenersMax,
                requestsPerSecondMax: settings.requestsPerSessionPerSecondMax
            )
    }

    // MARK: - Groups

    /// What has gathered for the next group.
    package var group: GatheredGroup { self.groups.gathering.content }

    /// How much has gathered: as many as there are of what the next group has most; a whole record is more than anything.
    package var gatheredCount: Int {
        if self.groups.hasFull { return .max }
        return max(self.groups.gathering.content.requestCount, self.groups.gathering.content.deliveries.count)
    }

    /// Whether nothing waits to be taken.
    package var hasGatheredNothing: Bool { self.groups.hasGatheredNothing }

    /// Whether somebody waits for a group that was not taken yet.
    package var hasGatheredWaiters: Bool { self.groups.hasGatheredWaiters }

    /// Whether nobody waits, and the log has answered about every group that was taken.
    package var isIdle: Bool { self.groups.isIdle }

    /// How many wait for an answer.
    package var waiterCount: Int { self.groups.waiterCount }

    /// Somebody is answered when a group is durable, or is not going to be; called as soon as `handle` has said so.
    ///
    /// - Parameters:
    ///   - peer: whose the answer is: a number of the transport's.
    ///   - deferred: as `handle` gave it.
    package mutating func wait(_ peer: UInt64, for deferred: Deferred) {
        self.groups.wait(PendingGroup.Waiter(peer: peer, deferred: deferred))
    }

    /// Takes what has gathered, for the log; `answered` tells what became of it.
    ///
    /// - Returns: the number of the group, and what it records.
    package mutating func takeGroup() -> (number: UInt64, group: GatheredGroup) {
        if !self.groups.hasClosed { _ = self.recent.close() }
        let (number, content) = self.groups.take(next: self.recent.gathering)
        if self.recent.takeDisplaced() { self.metrics.count(.limitsHit, .limit(.rememberedOutcomesMax)) }
        return (number, content)
    }

    /// The log has answered about a group.
    ///
    /// Deliveries that it did not take gather again: those batches were handed out, so they must be recorded.
    ///
    /// - Parameters:
    ///   - number: as `takeGroup` gave it.
    ///   - isDurable: whether the log has it for sure.
    /// - Returns: those who get their answer now.
    package mutating func answered(_ number: UInt64, isDurable: Bool) -> [PendingGroup.Waiter] {
        self.recent.answered(number, isDurable: isDurable)
        return self.groups.answered(number, isDurable: isDurable, leavingOut: self.forgotten)
    }

    // MARK: - Who may hear what

    /// Takes over what may change about it while the gateway runs.
    package mutating func take(_ rules: ListenerRules) {
        self.settings.tickets.protectedStreams = rules.protectedStreams
        self.forgotten = rules.forgotten
        // Each of them says whether its stream asks for a token.
        self.served.removeAll()
    }

    /// The number of the last group that may hold something of a session that was refused before this.
    package var newestGroup: UInt64 { self.groups.gathering.number }

    /// Whether the log has answered about every group up to one.
    ///
    /// - Parameter number: as `newestGroup` gave it.
    /// - Returns: `true` also where nothing has gathered for it.
    package func hasAnswered(through number: UInt64) -> Bool { self.groups.hasAnswered(through: number) }

    /// Gives up what has gathered, because the log has no room for it, where somebody waits for it; deliveries gather again.
    ///
    /// - Returns: those who get their answer now.
    package mutating func refuseGathered() -> [PendingGroup.Waiter] {
        guard self.hasGatheredWaiters else { return [] }
        var numbers: [UInt64] = []
        repeat { numbers.append(self.takeGroup().number) } while !self.hasGatheredNothing
        return numbers.flatMap { self.answered($0, isDurable: false) }
    }

    /// Begins another group where the record of this one would become too large.
    ///
    /// Whoever asks for the number of the group that gathers makes room before.
    @inline(__always)
    private mutating func makeRoom(for bytes: Int) {
        guard !self.groups.hasRoom(for: bytes) else { return }
        _ = self.recent.close()
        self.groups.closeFull(next: self.recent.gathering)
        self.metrics.count(.limitsHit, .limit(.recordBytesMax))
    }

    /// Takes what the last request changed about pushing on its connection; the transport asks after each that it let be handled.
    ///
    /// - Returns: `nil` where it changed nothing.
    @inline(__always)
    package mutating func takePushChange() -> PushChange? {
        guard self.pushChange != nil else { return nil }
        return self.pushChange.take()
    }

    /// The gateway's clock without the jumps that commands made.
    @inline(__always)
    private func steady(_ now: Timestamp) -> Timestamp { now.advanced(microseconds: -self.steppedMicroseconds) }

    /// Ends the leases that nobody renewed.
    package mutating func expireLeases(at now: Timestamp) {
        self.leases.expire(at: self.steady(now))
    }

    package mutating func handle(_ request: [UInt8], from peer: PeerFacts, at now: Timestamp) -> Answer<Deferred> {
        self.mayBeginSession = peer.mayBeginSession
        self.hasBegunSession = false
        if !self.isDraining, let answer = self.handleInPlace(request, at: now) { return answer }
        self.pushChange = nil
        let decoded: ListenerRequest
        do throws(WireError) {
            decoded = try ListenerRequest(decoding: request)
        } catch {
            self.metrics.count(.listenerRequests, .undecodable)
            let refusal = RequestEnvelope.refusal(of: error, in: request, on: .listeners)
            let id = ListenerRequest.requestID(of: request)
            self.unreadable = Unreadable(requestID: id, refusal: refusal)
            return self.refuse(refusal, requestID: id, at: now)
        }
        self.metrics.count(.listenerRequests, decoded.kind.metricLabel)
        guard !self.isDraining else { return self.refuse(.draining, requestID: decoded.id, at: now) }
        guard !self.forgotten.contains(decoded.session) else {
            return self.refuse(.forgotten, requestID: decoded.id, at: now)
        }
        guard self.leases.allows(decoded.session, at: self.steady(now)) else {
            return self.refuseRate(decoded.id, at: now)
        }
        do throws(Refusal) {
            switch decoded.kind {
            case .join(let join): return try self.join(join, of: decoded, from: peer, at: now)
            case .getBatch(let get):
                let ticket = try self.checkTicket(of: decoded, on: get.key.stream, for: .fetch, at: now)
                let served = try self.serve(get.key, at: now)
                return .now(
                    try self.batch(
                        of: served,
                        delay: get.delay.now,
                        to: decoded.session,
                        LeaseOwner(ticket, in: decoded.ticket),
                        decoded.id,
                        at: now
                    )
                )
            case .acknowledge(let acknowledge):
                _ = try self.checkTicket(of: decoded, on: acknowledge.key.stream, for: .acknowledge, at: now)
                return try self.accept(acknowledge, of: decoded, at: now)
            case .getTime: return .now(self.reply(.done, to: decoded, at: now))
            case .leave(let stream):
                _ = try self.checkTicket(of: decoded, on: stream, for: .leave, at: now)
                self.leases.end(decoded.session, on: stream)
                if peer.push == .taken(session: decoded.session, stream: stream) { self.pushChange = .ends }
                return .now(self.reply(.done, to: decoded, at: now))
            }
        } catch {
            return self.refuse(error, requestID: decoded.id, at: now)
        }
    }

    /// Answers the two requests that storms consist of, for breaks that were asked for before, without making objects.
    ///
    /// The rules are the same functions that the long way calls; what does not go smoothly goes the long way.
    ///
    /// - Returns: `nil` when the request has to be decoded in full; then nothing has changed.
    @inline(__always)
    private mutating func handleInPlace(_ request: [UInt8], at now: Timestamp) -> Answer<Deferred>? {
        let frame = request.span
        guard self.scanned.scan(frame),
            let served = self.served.find(frame, stream: self.scanned.stream, id: self.scanned.breakID)
        else { return nil }
        let (id, session) = (self.scanned.id, self.scanned.session)
        guard self.forgotten.isEmpty || !self.forgotten.contains(session) else { return nil }
        switch self.scanned.kind {
        case .getBatch:
            self.counters.batchRequests.add()
            guard self.leases.allows(session, at: self.steady(now)) else { return self.refuseRate(id, at: now) }
            do throws(Refusal) {
                let ticket = try self.checkTicket(request, of: served, for: .fetch, at: now)
                let owner = LeaseOwner(ticket, in: request, at: self.scanned.ticket)
                return .now(try self.batch(of: served, delay: self.scanned.delay, to: session, owner, id, at: now))
            } catch {
                return self.refuse(error, requestID: id, at: now)
            }
        case .acknowledge:
            guard let token = DeliveryToken(frame, at: self.scanned.delivery) else { return nil }
            let oldest = self.board.retentionTime.advanced(microseconds: -Self.acknowledgeWithinMicroseconds)
            let times = self.times(of: served, at: now)
            let key = self.recent.key(session, served.number)
            var isNew = false
            var waitsFor: UInt64?
            self.ordinals.removeAll(keepingCapacity: true)
            for outcome in self.scanned.outcomes {
                let near = (self.ordinals.last.map { Int($0) } ?? -1) + 1
                guard let ordinal = served.ordinal(of: frame, at: outcome.advertisementID, near: near),
                    !self.ordinals.contains(UInt32(ordinal)), ordinal >= Int(token.first),
                    outcome.details.occurred >= oldest, times.allows(outcome.details.occurred)
                else { return nil }
                let known = self.recent.known(key, ordinal: UInt32(ordinal), outcome.details)
                // All are new, or all are known and nothing or one group is waited for: else what is new is picked out.
                if known == .nothing {
                    guard isNew || self.ordinals.isEmpty else { return nil }
                    isNew = true
                } else {
                    guard !isNew, known != .differs else { return nil }
                    if case .waits(let group) = known {
                        guard waitsFor == nil || waitsFor == group else { return nil }
                        waitsFor = group
                    }
                }
                self.ordinals.append(UInt32(ordinal))
            }
            self.counters.acknowledgeRequests.add()
            guard self.leases.allows(session, at: self.steady(now)) else { return self.refuseRate(id, at: now) }
            do throws(Refusal) {
                _ = try self.checkTicket(request, of: served, for: .acknowledge, at: now)
                try self.check(token, of: session, for: served, at: self.board.retentionTime)
                guard isNew else { return try self.answerRepeat(self.ordinals.count, id: id, group: waitsFor, at: now) }
                // Nobody needs the ticket later, and whoever reads the log is not to have it.
                try self.gather(request, leavingOut: self.scanned.ticketField, for: served, at: now)
                for (outcome, ordinal) in zip(self.scanned.outcomes, self.ordinals) {
                    self.recent.remember(key, ordinal: ordinal, outcome.details, at: now)
                }
                return .afterGroup(
                    Deferred(requestID: id, outcomes: self.ordinals.count, group: self.recent.gathering)
                )
            } catch {
                return self.refuse(error, requestID: id, at: now)
            }
        }
    }

    /// Decides about the ticket of the request that was read in place.
    @inline(__always)
    private func checkTicket(
        _ request: [UInt8],
        of served: ServedBreak,
        for use: TicketRule.Use,
        at now: Timestamp
    ) throws(Refusal) -> TicketHead? {
        try TicketRule.check(
            request,
            at: self.scanned.ticket,
            of: self.scanned.session,
            on: served.key.stream,
            isProtected: served.isProtected,
            for: use,
            self.keys,
            at: now
        )
    }

    /// Decides about the ticket of a request that was decoded.
    private func checkTicket(
        of request: ListenerRequest,
        on stream: StreamID,
        for use: TicketRule.Use,
        at now: Timestamp
    ) throws(Refusal) -> TicketHead? {
        try TicketRule.check(
            request.ticket,
            at: request.ticket.indices,
            of: request.session,
            on: stream,
            isProtected: self.settings.tickets.protects(stream),
            for: use,
            self.keys,
            at: now
        )
    }

    private static let acknowledgeWithinMicroseconds = BoardLimits.acknowledgeWithin.inMicroseconds

    /// The answer to an acknowledgement whose group has come back from the log.
    ///
    /// Mutating, although it changes nothing: whoever has the handler in a class would copy all of it for each answer otherwise, which
    /// took two of a hundred instructions under load.
    ///
    /// - Parameters:
    ///   - deferred: what `handle` gave.
    ///   - isDurable: whether the log has it for sure.
    ///   - now: the gateway's clock.
    /// - Returns: the reply to send.
    package mutating func finish(_ deferred: Deferred, isDurable: Bool, at now: Timestamp) -> ReplyBytes {
        guard isDurable else {
            self.metrics.count(.refusals, .status(.unavailable))
            let body = ListenerReply.Body.refused(self.isLogFull ? .logFull : .logUnavailable)
            return ReplyBytes(
                head: ListenerReply(requestID: deferred.requestID, gatewayTime: now, body: body).encoded()
            )
        }
        self.counters.outcomes.add(deferred.outcomes)
        return ReplyBytes(
            head: ListenerReply.acknowledged(
                requestID: deferred.requestID,
                gatewayTime: now,
                recorded: deferred.outcomes
            )
        )
    }

    private func refuseRate(_ requestID: UInt64, at now: Timestamp) -> Answer<Deferred> {
        self.metrics.count(.limitsHit, .limit(.requestsPerSessionPerSecondMax))
        let sentence = "The limit requestsPerSessionPerSecondMax is passed."
        return self.refuse(Refusal(.rateLimited, sentence, retryAfter: .seconds(1)), requestID: requestID, at: now)
    }

    private func reply(_ body: ListenerReply.Body, to request: ListenerRequest, at now: Timestamp) -> ReplyBytes {
        ReplyBytes(head: ListenerReply(requestID: request.id, gatewayTime: now, body: body).encoded())
    }

    private func refuse(_ refusal: Refusal, requestID: UInt64, at now: Timestamp) -> Answer<Deferred> {
        .now(self.refusal(refusal, requestID: requestID, at: now))
    }

    private func refusal(_ refusal: Refusal, requestID: UInt64, at now: Timestamp) -> ReplyBytes {
        self.metrics.count(.refusals, .status(refusal.status))
        return ReplyBytes(
            head: ListenerReply(requestID: requestID, gatewayTime: now, body: .refused(refusal)).encoded()
        )
    }
}

extension ListenerRequestHandler {
    /// Answers a join whose token was found true.
    ///
    /// - Parameters:
    ///   - request: its bytes, as `handle` was given them.
    ///   - granted: what the token grants; or why it is refused.
    ///   - peer: what the transport knows now: whoever asked may have done other things meanwhile.
    ///   - now: the gateway's clock.
    /// - Returns: the answer.
    package mutating func join(
        _ request: [UInt8],
        granted: Result<ListenerGrant, Refusal>,
        from peer: PeerFacts,
        at now: Timestamp
    ) -> ReplyBytes {
        self.mayBeginSession = peer.mayBeginSession
        self.hasBegunSession = false
        self.pushChange = nil
        let decoded: ListenerRequest
        do throws(WireError) {
            decoded = try ListenerRequest(decoding: request)
        } catch {
            return self.refusal(Refusal(error), requestID: ListenerRequest.requestID(of: request), at: now)
        }
        do throws(Refusal) {
            guard !self.isDraining else { throw .draining }
            guard !self.forgotten.contains(decoded.session) else { throw .forgotten }
            guard case .join(let join) = decoded.kind else {
                throw Refusal(.invalid, "Only a join is granted by a token.")
            }
            let grant = try granted.get()
            guard grant.streams.contains(where: { $0.matches(join.stream) }) else {
                throw Refusal(.notAllowed, "The token has no right to the stream \(join.stream).")
            }
            guard now <= grant.until else {
                throw Refusal(.notAllowed, "The token ended at \(grant.until); join with a new one.")
            }
            let ticket = grant.ticket(of: decoded.session, to: join.stream)
            return try self.join(join, of: decoded, with: ticket, from: peer, at: now)
        } catch {
            return self.refusal(error, requestID: decoded.id, at: now)
        }
    }

    /// Decides about a join: with a token that somebody has to check first, with the ticket of an earlier join, or with neither.
    private mutating func join(
        _ join: ListenerRequest.Join,
        of request: ListenerRequest,
        from peer: PeerFacts,
        at now: Timestamp
    ) throws(Refusal) -> Answer<Deferred> {
        let isProtected = self.settings.tickets.protects(join.stream)
        var known: SessionTicket?
        do throws(Refusal) {
            if try self.checkTicket(of: request, on: join.stream, for: .fetch, at: now) != nil {
                known = SessionTicket(bytes: request.ticket)
            }
        } catch {
            // Where nobody needs a ticket, one that is over or another gateway's is as none: the answer has a new one.
            if isProtected, join.token.isEmpty { throw error }
        }
        if isProtected {
            guard join.push, peer.push != .none else { throw .needsPush(join.stream) }
            if known == nil {
                guard self.settings.tickets.checksTokens else { throw .cannotCheckTokens(join.stream) }
                // Before anybody spends time on the token.
                _ = try peer.push.decide(request.session, join)
                return .afterToken(join.token)
            }
        }
        let ticket = known ?? SessionTicket(session: request.session, stream: join.stream)
        return .now(try self.join(join, of: request, with: ticket, from: peer, at: now))
    }

    private mutating func join(
        _ join: ListenerRequest.Join,
        of request: ListenerRequest,
        with ticket: SessionTicket,
        from peer: PeerFacts,
        at now: Timestamp
    ) throws(Refusal) -> ReplyBytes {
        // What is refused changes nothing.
        let isPushed = try peer.push.decide(request.session, join)
        let isProtected = self.settings.tickets.protects(join.stream)
        guard isPushed || !isProtected else { throw .needsPush(join.stream) }
        guard let ticketBytes = self.keys.ticket(ticket) else {
            throw Refusal(
                .tooLarge,
                "What the token says is too long for a ticket; the limit ticketBytesMax is \(WireLimits.ticketBytesMax)."
            )
        }
        try self.renew(request.session, stream: join.stream, owner: LeaseOwner(ticket), at: now)
        let stream = self.board.streamOrNew(join.stream)
        let head = self.board.position(of: join.stream)
        let kind: ListenerReply.Joined.Kind
        let notices: [Notice]
        switch stream.recovery(
            from: join.last,
            epoch: self.board.epoch,
            at: now,
            delayMax: max(join.delay.now, join.delay.max)
        )
        {
        case .current:
            (kind, notices) = (.current, [])
            self.metrics.count(.joins, .current)
        case .missed(let missed):
            (kind, notices) = (.recovered, missed)
            self.metrics.count(.joins, .recovered)
        case .snapshot(let open):
            (kind, notices) = (.snapshot, open)
            self.metrics.count(.joins, join.last?.isAhead(of: head) == true ? .ahead : .snapshot)
        }
        let joined = ListenerReply.Joined(
            kind: kind,
            head: head,
            notices: notices,
            instance: self.settings.instance,
            headInterval: self.settings.headInterval * (isPushed ? HeadSchedule.pushedEvery : 1),
            lease: self.settings.lease,
            ticket: ticketBytes,
            pushed: isPushed
        )
        if isPushed {
            self.pushChange = .begins(
                session: request.session,
                stream: join.stream,
                after: head,
                proof: isProtected ? PushProof(key: self.keys.ring.signing.id, until: ticket.fetchUntil) : nil
            )
        } else if peer.push.isTaken(by: request.session) {
            self.pushChange = .ends
        }
        return self.reply(.joined(joined), to: request, at: now)
    }

    /// The break of this name, ready to be answered about.
    private mutating func serve(_ key: BreakKey, at now: Timestamp) throws(Refusal) -> ServedBreak {
        guard let each = self.board[key] else { throw self.missing(key) }
        let served = ServedBreak(each, isProtected: self.settings.tickets.protects(key.stream), at: now)
        self.served.insert(served)
        return served
    }

    private mutating func batch(
        of served: ServedBreak,
        delay: Duration,
        to session: SessionID,
        _ owner: LeaseOwner?,
        _ requestID: UInt64,
        at now: Timestamp
    ) throws(Refusal) -> ReplyBytes {
        guard served.isAnnounced else { throw self.missing(served.key) }
        if let withdrawn = served.withdrawn {
            throw Refusal(.tooLate, "The break \(served.key.id) is \(withdrawn).")
        }
        guard let first = served.firstPlayable(at: delay == .zero ? now : now - delay) else {
            throw Refusal(.tooLate, "Nothing of the break \(served.key.id) can be played any more.")
        }
        guard self.groups.waiting.deliveries < self.settings.deliveriesWaitingMax else {
            self.metrics.count(.limitsHit, .limit(.deliveriesWaitingMax))
            throw .logBehind
        }
        try self.renew(session, stream: served.key.stream, owner: owner, at: now)
        // Who asks again got it already: that is recorded, or will be with the next group, whatever becomes of this one.
        if self.leases.noteBatch(of: served.number, from: UInt32(first), to: session),
            self.isNewDelivery(of: served.number, from: UInt32(first), to: session, at: now)
        {
            self.counters.deliveredAdvertisements.add(served.advertisementCount - first)
            self.groups.append(
                AcknowledgementGroup.Delivery(
                    session: session,
                    breakNumber: served.number,
                    first: UInt32(first),
                    at: now
                )
            )
        }
        let batch = served.batch(from: first)
        self.counters.batches.add()
        return ReplyBytes(
            head: ListenerReply.batchHead(
                requestID: requestID,
                gatewayTime: now,
                delivery: self.keys.delivery(to: session, of: served.number, first: first, at: now),
                fields: batch.fields,
                tailBytes: batch.advertisements.count
            ),
            tail: batch.advertisements
        )
    }

    /// Whether a delivery is news also beyond the lease's memory; then there is room for it in the group that gathers.
    private mutating func isNewDelivery(
        of number: BreakNumber,
        from first: UInt32,
        to session: SessionID,
        at now: Timestamp
    ) -> Bool {
        // The room is made first: what is remembered names the group that it is in.
        self.makeRoom(for: GatheredGroup.deliveryBytesMax)
        return self.recent.noteDelivery(self.recent.key(session, number), from: first, at: now)
    }

    private mutating func accept(
        _ acknowledge: ListenerRequest.Acknowledge,
        of request: ListenerRequest,
        at now: Timestamp
    ) throws(Refusal) -> Answer<Deferred> {
        let served = try self.serve(acknowledge.key, at: now)
        let token: DeliveryToken
        do throws(WireError) {
            token = try DeliveryToken(bytes: acknowledge.delivery)
        } catch {
            throw Refusal(.deliveryInvalid, "The delivery is not one that a batch carried.")
        }
        try self.check(token, of: request.session, for: served, at: self.board.retentionTime)
        let times = self.times(of: served, at: now)
        self.ordinals.removeAll(keepingCapacity: true)
        for outcome in acknowledge.outcomes {
            let id = Array(outcome.advertisementID.description.utf8)
            guard let ordinal = served.ordinal(of: id.span, at: id.indices, near: 0) else {
                throw Refusal(
                    .notFound,
                    "The break \(acknowledge.key.id) has no advertisement \(outcome.advertisementID)."
                )
            }
            guard !self.ordinals.contains(UInt32(ordinal)) else {
                throw Refusal(.invalid, "The advertisement \(outcome.advertisementID) stands there twice.")
            }
            guard ordinal >= Int(token.first) else {
                throw Refusal(
                    .deliveryInvalid,
                    "The batch of this delivery began behind the advertisement \(outcome.advertisementID)."
                )
            }
            // An instant that cannot be says nothing about how old the break is.
            if let refusal = times.refusal(outcome.occurred, of: outcome.advertisementID) { throw refusal }
            guard outcome.occurred >= self.board.retentionTime - BoardLimits.acknowledgeWithin else {
                throw Refusal(.breakTooOld, "The outcome of \(outcome.advertisementID) is more than 8 days old.")
            }
            self.ordinals.append(UInt32(ordinal))
        }
        return try self.record(acknowledge, of: request, for: served, at: now)
    }

    /// Logs what memory does not know of an acknowledgement that was found right, in the gateway's own encoding: what a
    /// later version put into the request, and what came twice in it, stays out of the log.
    ///
    /// `ordinals` are those of its outcomes.
    private mutating func record(
        _ acknowledge: ListenerRequest.Acknowledge,
        of request: ListenerRequest,
        for served: ServedBreak,
        at now: Timestamp
    ) throws(Refusal) -> Answer<Deferred> {
        let key = self.recent.key(request.session, served.number)
        let ordinals = self.ordinals
        var news: [Int] = []
        var contradictions: [Int] = []
        var groups: [Int: UInt64] = [:]
        for (index, outcome) in acknowledge.outcomes.enumerated() {
            switch self.recent.known(key, ordinal: ordinals[index], OutcomeDetails(outcome)) {
            case .nothing: news.append(index)
            case .differs: contradictions.append(index)
            case .waits(let group): groups[index] = group
            case .durable: break
            }
        }
        if news.isEmpty && contradictions.isEmpty, Set(groups.values).count <= 1 {
            return try self.answerRepeat(ordinals.count, id: request.id, group: groups.values.first, at: now)
        }
        // The room is made first: who waits names the group that all of it is in.
        self.makeRoom(for: request.encoded().count + GatheredGroup.requestOverheadBytesMax)
        let gathering = self.recent.gathering
        // What is in a group before this one is logged once more: the answer is right only where both become durable.
        news += groups.filter { $0.value != gathering }.map(\.key)
        let left = contradictions.filter { !self.recent.mayContradict(key, ordinal: ordinals[$0]) }
        if !left.isEmpty { self.metrics.count(.limitsHit, .limit(.contradictionsLoggedMax)) }
        let logged = (news + contradictions.filter { !left.contains($0) }).sorted()
        let recorded = ordinals.count - left.count
        guard !logged.isEmpty else {
            return try self.answerRepeat(recorded, id: request.id, group: groups.values.first, at: now)
        }
        var known = request
        // Nobody needs it later, and whoever reads the log is not to have it.
        known.ticket = []
        var outcomes = acknowledge
        outcomes.outcomes = logged.map { acknowledge.outcomes[$0] }
        known.kind = .acknowledge(outcomes)
        self.ordinals = logged.map { ordinals[$0] }
        try self.gather(known.encoded(), for: served, at: now)
        for index in contradictions where !left.contains(index) {
            self.recent.countContradiction(key, ordinal: ordinals[index])
        }
        for index in news {
            self.recent.remember(
                key,
                ordinal: ordinals[index],
                OutcomeDetails(acknowledge.outcomes[index]),
                at: now
            )
        }
        self.counters.repeats.add(recorded - logged.count)
        return .afterGroup(Deferred(requestID: request.id, outcomes: recorded, group: gathering))
    }

    /// The answer to an acknowledgement of which nothing has to be logged.
    ///
    /// - Parameters:
    ///   - outcomes: how many are recorded.
    ///   - id: of the request.
    ///   - group: the group that they are in, where that is not durable yet.
    ///   - now: the gateway's clock.
    /// - Returns: the answer, now or with the group.
    /// - Throws: when too many wait already.
    private mutating func answerRepeat(
        _ outcomes: Int,
        id: UInt64,
        group: UInt64?,
        at now: Timestamp
    ) throws(Refusal) -> Answer<Deferred> {
        if let group {
            guard self.groups.waiting.repeats < self.settings.acknowledgementsWaitingMax else {
                self.metrics.count(.limitsHit, .limit(.acknowledgementsWaitingMax))
                throw .logBehind
            }
            self.groups.countRepeat(of: group)
        }
        self.counters.repeats.add(outcomes)
        let deferred = Deferred(requestID: id, outcomes: outcomes, group: group ?? 0)
        return group == nil ? .now(self.finish(deferred, isDurable: true, at: now)) : .afterGroup(deferred)
    }

    /// When outcomes of a break can have happened.
    @inline(__always)
    private func times(of served: ServedBreak, at now: Timestamp) -> OutcomeTime {
        OutcomeTime(announced: served.announced ?? now, now: now, newest: self.board.newestTime)
    }

    /// Whether listeners were told of the break, and a delivery is this session's, of this break, not too old, and not made up.
    @inline(__always)
    private func check(
        _ token: DeliveryToken,
        of session: SessionID,
        for served: ServedBreak,
        at retentionTime: Timestamp
    ) throws(Refusal) {
        // As for a batch: who guesses names learns nothing of what is planned.
        guard served.isAnnounced else { throw self.missing(served.key) }
        // There is one choice of advertisements yet: no batch carried another.
        guard token.session == session, token.breakNumber == served.number, token.variant == 0 else {
            throw Refusal(
                .deliveryInvalid,
                "The delivery is not of this session and the break \(served.key.id)."
            )
        }
        guard retentionTime <= served.acknowledgeUntil else {
            throw Refusal(.breakTooOld, "The break \(served.key.id) ended more than 8 days ago.")
        }
        guard token.signature != nil else {
            guard let until = self.settings.unsignedDeliveriesUntil, retentionTime <= until else {
                throw .unsignedDelivery
            }
            return self.counters.unsignedDeliveries.add()
        }
        if let fault = self.keys.fault(of: token) { throw Refusal(.deliveryInvalid, "The delivery \(fault.reason).") }
    }

    /// Adds an acknowledgement to the group, with the ordinals that were found for it.
    @inline(__always)
    private mutating func gather(
        _ request: [UInt8],
        leavingOut left: Range<Int> = 0..<0,
        for served: ServedBreak,
        at now: Timestamp
    ) throws(Refusal) {
        guard !self.isLogFull else {
            self.metrics.count(.limitsHit, .limit(.logBytesMax))
            throw .logFull
        }
        guard self.groups.waiting.requests < self.settings.acknowledgementsWaitingMax else {
            self.metrics.count(.limitsHit, .limit(.acknowledgementsWaitingMax))
            throw .logBehind
        }
        guard self.groups.waiting.requestBytes + request.count <= self.settings.acknowledgementBytesWaitingMax else {
            self.metrics.count(.limitsHit, .limit(.acknowledgementBytesWaitingMax))
            throw .logBehind
        }
        self.makeRoom(for: request.count + GatheredGroup.requestOverheadBytesMax)
        self.groups.accept(
            request,
            leavingOut: left,
            received: now,
            breakNumber: served.number,
            ordinals: self.ordinals
        )
    }

    private mutating func renew(
        _ session: SessionID,
        stream: StreamID,
        owner: LeaseOwner?,
        at now: Timestamp
    ) throws(Refusal) {
        switch self.leases.renew(
            session,
            stream: stream,
            owner: owner,
            at: self.steady(now),
            mayBegin: self.mayBeginSession
        ) {
        case .renewed: break
        case .ownerFull:
            self.metrics.count(.limitsHit, .limit(.sessionsPerSubjectMax))
            throw Refusal(
                .limitReached,
                "This token's subject listens with as many sessions as it may (sessionsPerSubjectMax).",
                retryAfter: .seconds(10)
            )
        case .begun: self.hasBegunSession = true
        case .notAllowed:
            self.metrics.count(.limitsHit, .limit(.sessionsPerConnectionMax))
            throw .tooManySessions
        case .full:
            self.metrics.count(.limitsHit, .limit(.listenersMax))
            throw Refusal(
                .limitReached,
                "The limit listenersMax is \(self.leases.listenersMax) and is reached.",
                retryAfter: .seconds(10)
            )
        }
    }

    private func missing(_ key: BreakKey) -> Refusal {
        self.board.isRetired(key)
            ? Refusal(.breakTooOld, "The break \(key.id) is older than the gateway keeps.") : .noSuchBreak(key)
    }
}

extension Refusal {
    /// The gateway is stopping.
    package static let draining = Refusal(
        .draining,
        "The gateway is stopping; ask again in a moment.",
        retryAfter: .seconds(1)
    )
    /// A connection, or an address, has begun as many sessions lately as it may.
    package static let tooManySessions = Refusal(
        .limitReached,
        "This connection or this address has begun as many sessions as it may (listeners.sessionsPerConnectionMax, listeners.sessionsPerAddressMax).",
        retryAfter: .seconds(10)
    )
    /// A delivery as gateways gave it that did not sign, when that is too long ago.
    static let unsignedDelivery = Refusal(
        .deliveryInvalid,
        "The delivery is not signed; those of gateways that did not sign are not taken any more."
    )
    /// The event log did not take a record.
    package static let logUnavailable = Refusal(
        .unavailable,
        "The event log does not work at present; nothing was confirmed.",
        retryAfter: .seconds(1)
    )
    /// The event log takes as much room as it may.
    package static let logFull = Refusal(
        .unavailable,
        "The event log has no room for new work (log.bytesMax); nothing was confirmed.",
        retryAfter: .seconds(10)
    )
    /// More waits for the event log than may wait.
    package static let logBehind = Refusal(
        .unavailable,
        "The event log is behind; ask again in a moment.",
        retryAfter: .seconds(1)
    )
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

extension Position {
    /// Whether a player has heard of more than there is: the machine was put back to an earlier state as a whole.
    fileprivate func isAhead(of head: Position) -> Bool { self.epoch == head.epoch && self.sequence > head.sequence }
}

extension MessageKeys.Fault {
    /// The end of a sentence about what was signed.
    var reason: String {
        switch self {
        case .unknownKey: "was signed with a key that this gateway does not have"
        case .revokedKey: "was signed with a key that was withdrawn"
        case .forged: "is not one that a gateway made"
        }
    }
}

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
    }

    /// The limits and times that the configuration sets.
    package struct Settings: Hashable, Sendable {
        /// Which run of the gateway this is; random.
        package var instance: UInt64
        /// How often a stream's position is repeated when nothing else happens.
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

        package init(instance: UInt64) {
            self.instance = instance
        }
    }

    package private(set) var settings: Settings
    /// The board as it is; swapped by whoever owns the handler.
    package var board: Board {
        didSet { if self.board.offset != oldValue.offset { self.served.removeAll() } }
    }
    /// What was asked for since the board last changed.
    private var served = ServedBreaks()
    private var scanned = ScannedRequest()
    /// The ordinals of the acknowledgement at hand.
    private var ordinals: [UInt32] = []
    /// Whether the gateway is stopping.
    package var isDraining = false
    package private(set) var leases: Leases
    /// What has gathered for the next group.
    package private(set) var group = GatheredGroup()
    /// Outcomes that were refused or accepted, batches that were handed out, and so on.
    private let metrics: MetricRegistry
    private let counters: Counters

    /// What is counted for nearly every request.
    private struct Counters: Sendable {
        let batchRequests: MetricRegistry.Cell
        let acknowledgeRequests: MetricRegistry.Cell
        let batches: MetricRegistry.Cell
        let outcomes: MetricRegistry.Cell

        init(_ metrics: MetricRegistry) {
            self.batchRequests = metrics.cell(.listenerRequests, .batch)
            self.acknowledgeRequests = metrics.cell(.listenerRequests, .acknowledge)
            self.batches = metrics.cell(.batches)
            self.outcomes = metrics.cell(.acknowledgedOutcomes)
        }
    }

    package init(settings: Settings, board: Board, metrics: MetricRegistry) {
        self.settings = settings
        self.board = board
        self.metrics = metrics
        self.counters = Counters(metrics)
        self.leases = Leases(
            length: settings.lease,
            listenersMax: settings.listenersMax,
            requestsPerSecondMax: settings.requestsPerSessionPerSecondMax
        )
    }

    /// Changes the limits of sessions; those that are there stay.
    package mutating func setLimits(listenersMax: Int, requestsPerSessionPerSecondMax: Double) {
        self.settings.listenersMax = listenersMax
        self.settings.requestsPerSessionPerSecondMax = requestsPerSessionPerSecondMax
        self.leases.listenersMax = listenersMax
        self.leases.requestsPerSecondMax = requestsPerSessionPerSecondMax
    }

    /// Takes what has gathered, for the log.
    package mutating func takeGroup() -> GatheredGroup {
        let group = self.group
        self.group = GatheredGroup(roomOf: group)
        return group
    }

    /// Gives back deliveries that the log did not take: those batches were handed out, so they must be recorded.
    package mutating func putBack(_ deliveries: [AcknowledgementGroup.Delivery]) {
        self.group.deliveries.insert(contentsOf: deliveries, at: 0)
    }

    /// Ends the leases that nobody renewed.
    package mutating func expireLeases(at now: Timestamp) {
        self.leases.expire(at: now)
    }

    package mutating func handle(_ request: [UInt8], from peer: PeerFacts, at now: Timestamp) -> Answer<Deferred> {
        if !self.isDraining, let answer = self.handleInPlace(request, at: now) { return answer }
        let decoded: ListenerRequest
        do throws(WireError) {
            decoded = try ListenerRequest(decoding: request)
        } catch {
            self.metrics.count(.listenerRequests, .undecodable)
            return self.refuse(Refusal(error), requestID: ListenerRequest.requestID(of: request), at: now)
        }
        self.metrics.count(.listenerRequests, decoded.kind.metricLabel)
        guard !self.isDraining else { return self.refuse(.draining, requestID: decoded.id, at: now) }
        guard self.leases.allows(decoded.session, at: now) else { return self.refuseRate(decoded.id, at: now) }
        do throws(Refusal) {
            switch decoded.kind {
            case .join(let join): return .now(try self.join(join, of: decoded, at: now))
            case .getBatch(let get):
                let served = try self.serve(get.key, at: now)
                return .now(
                    try self.batch(of: served, delay: get.delay.now, to: decoded.session, decoded.id, at: now)
                )
            case .acknowledge(let acknowledge):
                return .afterGroup(try self.accept(acknowledge, of: decoded, bytes: request, at: now))
            case .getTime: return .now(self.reply(.done, to: decoded, at: now))
            case .leave:
                self.leases.end(decoded.session)
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
        switch self.scanned.kind {
        case .getBatch:
            self.counters.batchRequests.add()
            guard self.leases.allows(session, at: now) else { return self.refuseRate(id, at: now) }
            do throws(Refusal) {
                return .now(try self.batch(of: served, delay: self.scanned.delay, to: session, id, at: now))
            } catch {
                return self.refuse(error, requestID: id, at: now)
            }
        case .acknowledge:
            guard let token = DeliveryToken(frame, at: self.scanned.delivery) else { return nil }
            let oldest = self.board.retentionTime.advanced(microseconds: -Self.acknowledgeWithinMicroseconds)
            self.ordinals.removeAll(keepingCapacity: true)
            for outcome in self.scanned.outcomes {
                let near = (self.ordinals.last.map { Int($0) } ?? -1) + 1
                guard let ordinal = served.ordinal(of: frame, at: outcome.advertisementID, near: near),
                    !self.ordinals.contains(UInt32(ordinal)), outcome.details.occurred >= oldest
                else { return nil }
                self.ordinals.append(UInt32(ordinal))
            }
            self.counters.acknowledgeRequests.add()
            guard self.leases.allows(session, at: now) else { return self.refuseRate(id, at: now) }
            do throws(Refusal) {
                try Self.check(token, of: session, for: served, at: self.board.retentionTime)
                return .afterGroup(try self.gather(request, id: id, for: served, at: now))
            } catch {
                return self.refuse(error, requestID: id, at: now)
            }
        }
    }

    private static let acknowledgeWithinMicroseconds = BoardLimits.acknowledgeWithin.inMicroseconds

    /// The answer to an acknowledgement whose group has come back from the log.
    ///
    /// - Parameters:
    ///   - deferred: what `handle` gave.
    ///   - isDurable: whether the log has it for sure.
    ///   - now: the gateway's clock.
    /// - Returns: the reply to send.
    package func finish(_ deferred: Deferred, isDurable: Bool, at now: Timestamp) -> ReplyBytes {
        guard isDurable else {
            self.metrics.count(.refusals, .status(.unavailable))
            let body = ListenerReply.Body.refused(.logUnavailable)
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
        self.metrics.count(.limitsHit, .limit("requestsPerSessionPerSecondMax"))
        let sentence = "The limit requestsPerSessionPerSecondMax is passed."
        return self.refuse(Refusal(.rateLimited, sentence, retryAfter: .seconds(1)), requestID: requestID, at: now)
    }

    private func reply(_ body: ListenerReply.Body, to request: ListenerRequest, at now: Timestamp) -> ReplyBytes {
        ReplyBytes(head: ListenerReply(requestID: request.id, gatewayTime: now, body: body).encoded())
    }

    private func refuse(_ refusal: Refusal, requestID: UInt64, at now: Timestamp) -> Answer<Deferred> {
        self.metrics.count(.refusals, .status(refusal.status))
        return .now(
            ReplyBytes(
                head: ListenerReply(requestID: requestID, gatewayTime: now, body: .refused(refusal)).encoded()
            )
        )
    }
}

extension ListenerRequestHandler {
    private mutating func join(
        _ join: ListenerRequest.Join,
        of request: ListenerRequest,
        at now: Timestamp
    ) throws(Refusal) -> ReplyBytes {
        try self.renew(request.session, stream: join.stream, at: now)
        let stream = self.board.stream(join.stream) ?? StreamBoard(stream: join.stream)
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
            self.metrics.count(.joins, .snapshot)
        }
        let joined = ListenerReply.Joined(
            kind: kind,
            head: self.board.position(of: join.stream),
            notices: notices,
            instance: self.settings.instance,
            headInterval: self.settings.headInterval,
            lease: self.settings.lease
        )
        return self.reply(.joined(joined), to: request, at: now)
    }

    /// The break of this name, ready to be answered about.
    private mutating func serve(_ key: BreakKey, at now: Timestamp) throws(Refusal) -> ServedBreak {
        guard let each = self.board[key] else { throw self.missing(key) }
        let served = ServedBreak(each, at: now)
        self.served.insert(served)
        return served
    }

    private mutating func batch(
        of served: ServedBreak,
        delay: Duration,
        to session: SessionID,
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
        guard self.group.deliveries.count < self.settings.deliveriesWaitingMax else {
            self.metrics.count(.limitsHit, .limit("deliveriesWaitingMax"))
            throw .logBehind
        }
        try self.renew(session, stream: served.key.stream, at: now)
        // Who asks again got it already: that is recorded, or will be with the next group, whatever becomes of this one.
        if self.leases.noteBatch(of: served.number, from: UInt32(first), to: session) {
            self.group.deliveries.append(
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
                delivery: DeliveryToken(session: session, breakNumber: served.number),
                fields: batch.fields,
                tailBytes: batch.advertisements.count
            ),
            tail: batch.advertisements
        )
    }

    private mutating func accept(
        _ acknowledge: ListenerRequest.Acknowledge,
        of request: ListenerRequest,
        bytes: [UInt8],
        at now: Timestamp
    ) throws(Refusal) -> Deferred {
        let served = try self.serve(acknowledge.key, at: now)
        let token: DeliveryToken
        do throws(WireError) {
            token = try DeliveryToken(bytes: acknowledge.delivery)
        } catch {
            throw Refusal(.deliveryInvalid, "The delivery is not one that a batch carried.")
        }
        try Self.check(token, of: request.session, for: served, at: self.board.retentionTime)
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
            guard outcome.occurred >= self.board.retentionTime - BoardLimits.acknowledgeWithin else {
                throw Refusal(.breakTooOld, "The outcome of \(outcome.advertisementID) is more than 8 days old.")
            }
            self.ordinals.append(UInt32(ordinal))
        }
        return try self.gather(bytes, id: request.id, for: served, at: now)
    }

    /// Whether a delivery is this session's, of this break, and not too old by the log's own time.
    @inline(__always)
    private static func check(
        _ token: DeliveryToken,
        of session: SessionID,
        for served: ServedBreak,
        at retentionTime: Timestamp
    ) throws(Refusal) {
        guard token.session == session, token.breakNumber == served.number else {
            throw Refusal(
                .deliveryInvalid,
                "The delivery is not of this session and the break \(served.key.id)."
            )
        }
        guard retentionTime <= served.acknowledgeUntil else {
            throw Refusal(.breakTooOld, "The break \(served.key.id) ended more than 8 days ago.")
        }
    }

    /// Adds an acknowledgement to the group, with the ordinals that were found for it.
    @inline(__always)
    private mutating func gather(
        _ request: [UInt8],
        id: UInt64,
        for served: ServedBreak,
        at now: Timestamp
    ) throws(Refusal) -> Deferred {
        guard self.group.requestCount < self.settings.acknowledgementsWaitingMax else {
            self.metrics.count(.limitsHit, .limit("acknowledgementsWaitingMax"))
            throw .logBehind
        }
        guard self.group.requestBytes + request.count <= self.settings.acknowledgementBytesWaitingMax else {
            self.metrics.count(.limitsHit, .limit("acknowledgementBytesWaitingMax"))
            throw .logBehind
        }
        self.group.accept(request, received: now, breakNumber: served.number, ordinals: self.ordinals)
        return Deferred(requestID: id, outcomes: self.ordinals.count)
    }

    private mutating func renew(_ session: SessionID, stream: StreamID, at now: Timestamp) throws(Refusal) {
        guard self.leases.renew(session, stream: stream, at: now) else {
            self.metrics.count(.limitsHit, .limit("listenersMax"))
            throw Refusal(
                .limitReached,
                "The limit listenersMax is \(self.settings.listenersMax) and is reached.",
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
    /// The event log did not take a record.
    package static let logUnavailable = Refusal(
        .unavailable,
        "The event log does not work at present; nothing was confirmed.",
        retryAfter: .seconds(1)
    )
    /// More waits for the event log than may wait.
    package static let logBehind = Refusal(
        .unavailable,
        "The event log is behind; ask again in a moment.",
        retryAfter: .seconds(1)
    )
}

extension ListenerRequest.Kind {
    fileprivate var metricLabel: MetricLabel {
        switch self {
        case .join: .join
        case .getBatch: .batch
        case .acknowledge: .acknowledge
        case .getTime: .time
        case .leave: .leave
        }
    }
}

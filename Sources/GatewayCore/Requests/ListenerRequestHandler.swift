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

    package let settings: Settings
    /// The board as it is; swapped by whoever owns the handler.
    package var board: Board
    /// Whether the gateway is stopping.
    package var isDraining = false
    package private(set) var leases: Leases
    /// What has gathered for the next group.
    package private(set) var group = AcknowledgementGroup()
    /// The bytes of its requests.
    private var groupBytes = 0
    /// Outcomes that were refused or accepted, batches that were handed out, and so on.
    private let metrics: MetricRegistry

    package init(settings: Settings, board: Board, metrics: MetricRegistry) {
        self.settings = settings
        self.board = board
        self.metrics = metrics
        self.leases = Leases(
            length: settings.lease,
            listenersMax: settings.listenersMax,
            requestsPerSecondMax: settings.requestsPerSessionPerSecondMax
        )
    }

    /// Takes what has gathered, for the log.
    package mutating func takeGroup() -> AcknowledgementGroup {
        let group = self.group
        self.group = AcknowledgementGroup()
        self.groupBytes = 0
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
        let decoded: ListenerRequest
        do throws(WireError) {
            decoded = try ListenerRequest(decoding: request)
        } catch {
            self.metrics.count(.listenerRequests, .undecodable)
            return self.refuse(Refusal(error), requestID: ListenerRequest.requestID(of: request), at: now)
        }
        self.metrics.count(.listenerRequests, decoded.kind.metricLabel)
        guard !self.isDraining else { return self.refuse(.draining, requestID: decoded.id, at: now) }
        guard self.leases.allows(decoded.session, at: now) else {
            self.metrics.count(.limitsHit, .limit("requestsPerSessionPerSecondMax"))
            return self.refuse(
                Refusal(
                    .rateLimited,
                    "The limit requestsPerSessionPerSecondMax is passed.",
                    retryAfter: .seconds(1)
                ),
                requestID: decoded.id,
                at: now
            )
        }
        do throws(Refusal) {
            switch decoded.kind {
            case .join(let join): return .now(try self.join(join, of: decoded, at: now))
            case .getBatch(let get): return .now(try self.batch(get, of: decoded, at: now))
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

    /// The answer to an acknowledgement whose group has come back from the log.
    ///
    /// - Parameters:
    ///   - deferred: what `handle` gave.
    ///   - isDurable: whether the log has it for sure.
    ///   - now: the gateway's clock.
    /// - Returns: the reply to send.
    package func finish(_ deferred: Deferred, isDurable: Bool, at now: Timestamp) -> ReplyBytes {
        let body: ListenerReply.Body
        if isDurable {
            body = .acknowledged(recorded: deferred.outcomes)
            self.metrics.count(.acknowledgedOutcomes, by: deferred.outcomes)
        } else {
            body = .refused(.logUnavailable)
            self.metrics.count(.refusals, .status(.unavailable))
        }
        return ReplyBytes(
            head: ListenerReply(requestID: deferred.requestID, gatewayTime: now, body: body).encoded()
        )
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

    private mutating func batch(
        _ get: ListenerRequest.GetBatch,
        of request: ListenerRequest,
        at now: Timestamp
    ) throws(Refusal) -> ReplyBytes {
        guard let each = self.board[get.key], each.record.lastNotice != nil else {
            throw self.missing(get.key)
        }
        if each.record.closed != nil {
            throw Refusal(.tooLate, "The break \(get.key.id) is \(each.state(at: now).name).")
        }
        guard case .from(let first) = each.playable(at: now - get.delay.now), let encoded = each.encoded else {
            throw Refusal(.tooLate, "Nothing of the break \(get.key.id) can be played any more.")
        }
        guard self.group.deliveries.count < self.settings.deliveriesWaitingMax else {
            self.metrics.count(.limitsHit, .limit("deliveriesWaitingMax"))
            throw .logBehind
        }
        try self.renew(request.session, stream: get.key.stream, at: now)
        self.group.deliveries.append(
            AcknowledgementGroup.Delivery(
                session: request.session,
                breakNumber: each.number,
                first: UInt32(first),
                at: now
            )
        )
        let tail = encoded.tail(from: first)
        let head = ListenerReply.Batch(
            delivery: DeliveryToken(session: request.session, breakNumber: each.number).bytes,
            start: each.record.start,
            duration: each.lasting,
            skipped: first,
            endMode: each.record.endMode,
            exact: each.exact,
            advertisements: []
        )
        self.metrics.count(.batches)
        return ReplyBytes(
            head: ListenerReply.batchHead(
                requestID: request.id,
                gatewayTime: now,
                batch: head,
                tailBytes: tail.count
            ),
            tail: tail
        )
    }

    private mutating func accept(
        _ acknowledge: ListenerRequest.Acknowledge,
        of request: ListenerRequest,
        bytes: [UInt8],
        at now: Timestamp
    ) throws(Refusal) -> Deferred {
        guard let each = self.board[acknowledge.key] else { throw self.missing(acknowledge.key) }
        let token: DeliveryToken
        do throws(WireError) {
            token = try DeliveryToken(bytes: acknowledge.delivery)
        } catch {
            throw Refusal(.deliveryInvalid, "The delivery is not one that a batch carried.")
        }
        guard token.session == request.session, token.breakNumber == each.number else {
            throw Refusal(
                .deliveryInvalid,
                "The delivery is not of this session and the break \(acknowledge.key.id)."
            )
        }
        guard now <= each.over + BoardLimits.acknowledgeWithin else {
            throw Refusal(.breakTooOld, "The break \(acknowledge.key.id) ended more than 8 days ago.")
        }
        var ordinals: [UInt32] = []
        for outcome in acknowledge.outcomes {
            guard let ordinal = each.record.advertisements.firstIndex(where: { $0.id == outcome.advertisementID })
            else {
                throw Refusal(
                    .notFound,
                    "The break \(acknowledge.key.id) has no advertisement \(outcome.advertisementID)."
                )
            }
            guard !ordinals.contains(UInt32(ordinal)) else {
                throw Refusal(.invalid, "The advertisement \(outcome.advertisementID) stands there twice.")
            }
            guard outcome.occurred >= now - BoardLimits.acknowledgeWithin else {
                throw Refusal(.breakTooOld, "The outcome of \(outcome.advertisementID) is more than 8 days old.")
            }
            ordinals.append(UInt32(ordinal))
        }
        guard self.group.requests.count < self.settings.acknowledgementsWaitingMax else {
            self.metrics.count(.limitsHit, .limit("acknowledgementsWaitingMax"))
            throw .logBehind
        }
        guard self.groupBytes + bytes.count <= self.settings.acknowledgementBytesWaitingMax else {
            self.metrics.count(.limitsHit, .limit("acknowledgementBytesWaitingMax"))
            throw .logBehind
        }
        self.groupBytes += bytes.count
        self.group.requests.append(
            AcknowledgementGroup.AcceptedRequest(
                request: bytes,
                received: now,
                breakNumber: each.number,
                ordinals: ordinals
            )
        )
        return Deferred(requestID: request.id, outcomes: ordinals.count)
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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The conversation of one session with its gateway: connections and joins, notices in their order, requests and their
/// replies, and the estimate of the gateway's clock.
///
/// It knows nothing of breaks and advertisements: what concerns them comes out as effects, to be dealt with in order.
struct GatewayConversation: Sendable {
    /// How many places of the request table batches and acknowledgements leave free for joins, the time and leaving.
    private static let reservedRequests = 4

    private let settings: ListenerSettings
    private(set) var connection: ConnectionMachine
    private(set) var follower = PositionFollower()
    private(set) var requests = RequestTable()
    private(set) var clock = ClockEstimator()
    private var clockSamples: ClockSampling
    private(set) var credentials: ListenerCredentials
    /// Whether no join has been answered yet: only then are breaks taken that play before the stream.
    private(set) var isFirstJoin: Bool
    private var publishedState = ConnectionState.idle
    private var droppedTold = 0
    private var jitter: JitterSource

    /// - Parameters:
    ///   - settings: the app's settings.
    ///   - session: the id of the session.
    ///   - resumed: the session as an earlier run of the app kept it.
    ///   - jitter: of its own.
    init(
        settings: ListenerSettings,
        session: SessionID,
        resumed: JournalEntry.Session?,
        jitter: JitterSource
    ) {
        self.settings = settings
        self.credentials = ListenerCredentials(session: session, ticket: resumed?.ticket ?? [])
        self.isFirstJoin = !(resumed?.streamBegun ?? false)
        self.connection = ConnectionMachine(
            stream: settings.stream,
            usesToken: settings.usesToken,
            usesPush: settings.usesPush,
            gatewayCount: settings.gatewayCount,
            timings: settings.timings
        )
        self.clockSamples = ClockSampling(timings: settings.timings)
        self.jitter = jitter
    }

    var state: ConnectionState { self.publishedState }

    /// How many batches or groups of acknowledgements may be asked for now.
    var requestRoom: Int {
        guard self.connection.canRequest else { return 0 }
        return max(0, RequestTable.inFlightMax - Self.reservedRequests - self.requests.count)
    }

    /// When `due` has something to do, whatever the app does.
    var nextDeadline: LocalInstant? { earlier(self.connection.nextDeadline, self.requests.nextDeadline) }

    /// When the silence has lasted too long.
    var silenceDeadline: LocalInstant? { self.follower.silenceDeadline }

    /// When the gateway's time is to be asked for; `nil`: not now.
    var clockDeadline: LocalInstant? {
        guard self.requestRoom > 0, !self.requests.isOpen(.time) else { return nil }
        return self.clockSamples.nextDeadline
    }

    // MARK: Life

    mutating func start(now: LocalInstant, _ output: inout ListenerCore.Output) -> [Effect] {
        self.perform(self.connection.start(now: now), &output)
    }

    mutating func stop(_ output: inout ListenerCore.Output) -> [Effect] {
        self.perform(self.connection.stop(), &output)
    }

    mutating func suspend(_ output: inout ListenerCore.Output) -> [Effect] {
        self.perform(self.connection.suspend(), &output)
    }

    mutating func resume(now: LocalInstant, _ output: inout ListenerCore.Output) -> [Effect] {
        self.perform(self.connection.resume(now: now), &output)
    }

    /// The device was asleep: what is known of the gateway's clock is old.
    mutating func woke(now: LocalInstant) {
        self.clockSamples.sampleNow(now: now)
    }

    /// The device's network came, went, or is another one.
    mutating func networkChanged(
        isAvailable: Bool,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        let change = self.connection.networkChanged(isAvailable: isAvailable, now: now, jitter: &self.jitter)
        if change.asks, !self.requests.isOpen(.time) {
            self.clockSamples.asked(now: now)
            _ = self.ask(.time, .getTime, now: now, &output)
        }
        return self.perform(change.actions, &output)
    }

    /// Does what its time has come for.
    mutating func due(now: LocalInstant, _ output: inout ListenerCore.Output) -> [Effect] {
        var effects: [Effect] = []
        for entry in self.requests.expire(now: now) {
            switch entry.purpose {
            case .join: self.joinFailed(now: now)
            case .batch, .acknowledge: effects.append(.unanswered(entry.purpose))
            case .time, .leave: break
            }
            let actions = self.connection.requestUnanswered(now: now, jitter: &self.jitter)
            effects += self.perform(actions, &output)
        }
        effects += self.perform(self.connection.due(now: now, jitter: &self.jitter), &output)
        if let silence = self.follower.silenceDeadline, silence <= now {
            effects += self.lose(.silent, now: now, &output)
        }
        return effects
    }

    /// Asks for the gateway's time where that is due.
    mutating func sampleClock(now: LocalInstant, _ output: inout ListenerCore.Output) {
        guard self.connection.canRequest, !self.requests.isOpen(.time) else { return }
        guard let due = self.clockSamples.nextDeadline, due <= now else { return }
        self.clockSamples.asked(now: now)
        _ = self.ask(.time, .getTime, now: now, &output)
    }

    /// Tells the app of a state that is new.
    mutating func publish(isStopping: Bool, _ output: inout ListenerCore.Output) {
        let state = isStopping ? .stopping : self.connection.state.published
        guard state != self.publishedState else { return }
        self.publishedState = state
        output.emit(.connectionChanged(state))
        output.log(state)
    }

    // MARK: The transport

    /// An event of the transport; notices have no effect if `takesNotices` is false.
    mutating func received(
        _ event: ListenerConnectionEvent,
        takesNotices: Bool,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        switch event {
        case .connected: return self.perform(self.connection.connected(now: now), &output)
        case .notice(let frame): return self.received(notice: frame, takesNotices, now: now, &output)
        case .reply(let frame): return self.received(reply: frame, now: now, &output)
        case .noticesDropped(let count):
            output.emit(.noticesDropped(count))
            return self.apply(self.follower.noticesDropped(), now: now, &output)
        case .messagesDropped(let count):
            output.notUnderstood("messages of the gateway that are neither notices nor replies: \(count)")
            return []
        case .closed(let reason):
            return self.perform(self.connection.disconnected(reason: reason, now: now, jitter: &self.jitter), &output)
        }
    }

    /// The app answered `askForToken`; `nil`: it could not.
    mutating func tokenGiven(_ token: String?, now: LocalInstant, _ output: inout ListenerCore.Output) -> [Effect] {
        let isGiven = self.credentials.take(token: token, &output)
        return self.perform(self.connection.token(isGiven: isGiven, now: now, jitter: &self.jitter), &output)
    }

    private mutating func perform(
        _ actions: [ConnectionMachine.Action],
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        var effects: [Effect] = []
        for action in actions {
            switch action {
            case .connect(let attempt, let gateway): output.act(.connect(attempt: attempt, gateway: gateway))
            case .disconnect:
                output.act(.disconnect)
                self.follower.disconnected()
                self.clockSamples.disconnected()
                effects += self.requests.abandonAll().map { .abandoned($0.purpose) }
            case .subscribe(let topic): output.act(.subscribe(topic))
            case .unsubscribe(let topic): output.act(.unsubscribe(topic))
            case .askForToken: output.act(.askForToken(attempt: self.connection.attempt))
            case .join(let proof): effects.append(.join(proof))
            }
        }
        return effects
    }

    /// Joins again on another connection, with a new token where the app has one: the gateway does not take the ticket any more.
    mutating func renewTicket(
        _ refusal: Refusal,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        self.credentials.ticket = []
        return self.lose(.sentAway(refusal.description), now: now, &output)
    }

    private mutating func lose(
        _ reason: ConnectionLoss,
        atLeast: Duration = .zero,
        leaves: Bool = false,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        let actions = self.connection.lose(
            reason: reason,
            atLeast: atLeast,
            leaves: leaves,
            now: now,
            jitter: &self.jitter
        )
        return self.perform(actions, &output)
    }

    // MARK: Notices

    private mutating func received(
        notice frame: [UInt8],
        _ takesNotices: Bool,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        let decoded: NoticeFrame
        do throws(WireError) {
            decoded = try NoticeFrame(decoding: frame)
        } catch {
            output.notUnderstood("a notice: \(error)")
            return []
        }
        switch decoded {
        case .tick(let tick): return self.perform(self.connection.tick(instance: tick.instance, now: now), &output)
        case .notice(let notice, let stream):
            guard takesNotices, stream == self.settings.stream else { return [] }
            if let move = notice.move { self.askedToMove(move, now: now, &output) }
            let effects = self.apply(self.follower.received(notice, now: now), now: now, &output)
            if self.follower.dropped > self.droppedTold {
                output.emit(.noticesDropped(self.follower.dropped - self.droppedTold))
                self.droppedTold = self.follower.dropped
            }
            return effects
        }
    }

    private mutating func askedToMove(_ move: Move, now: LocalInstant, _ output: inout ListenerCore.Output) {
        let stay = self.connection.askedToMove(
            within: move.within,
            to: self.settings.learning.targets(move.addresses),
            now: now,
            jitter: &self.jitter
        )
        if let stay { output.log(.info, "The gateway is stopping: going on at another one in \(stay)") }
    }

    private mutating func apply(
        _ step: PositionFollower.Step,
        isSnapshot: Bool = false,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        if let lost = step.lost {
            output.emit(.positionLost(lost.published))
            output.log(.info, "A notice is missing (\(lost)): joining again")
            self.connection.rejoin(now: now, jitter: &self.jitter)
        }
        if step.recovered { self.connection.rejoinNotNeeded() }
        guard !step.apply.isEmpty || isSnapshot else { return [] }
        return [.notices(step.apply, isSnapshot: isSnapshot, isFirst: self.isFirstJoin)]
    }

    // MARK: Requests

    /// Sends a join; `delay` is how far behind live the listener is.
    mutating func join(
        by proof: ConnectionMachine.Proof,
        delay: ListenerDelay,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) {
        let last = self.follower.last
        self.follower.joinSent()
        let join = self.credentials.join(self.settings, by: proof, last: last, delay: delay)
        _ = self.ask(.join, .join(join), now: now, &output)
    }

    /// Sends a request, in the name of an earlier session where one is given.
    ///
    /// - Returns: `false` where too many are open, which a caller that checks `requestRoom` first never sees.
    mutating func ask(
        _ purpose: RequestTable.Purpose,
        _ kind: ListenerRequest.Kind,
        as earlier: (session: SessionID, ticket: [UInt8])? = nil,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> Bool {
        let timeout = self.settings.timings.requestTimeout
        guard let id = self.requests.open(purpose, now: now, timeout: timeout) else { return false }
        let request = self.credentials.request(id, kind, as: earlier)
        output.act(.send(request.encoded()))
        return true
    }

    // MARK: Replies

    private mutating func received(
        reply frame: [UInt8],
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        let reply: ListenerReply
        do throws(WireError) {
            reply = try ListenerReply(decoding: frame)
        } catch {
            // The request that it answers runs out of time and is asked again.
            output.notUnderstood("a reply: \(error)")
            return []
        }
        guard let entry = self.requests.close(reply.requestID) else { return [] }
        self.connection.replyArrived()
        self.clock.add(sent: entry.sent, gateway: reply.gatewayTime, received: now)
        self.clockSamples.sampled(error: self.clock.errorBound(at: now) ?? .zero, now: now)
        switch entry.purpose {
        case .join: return self.joinAnswered(reply.body, now: now, &output)
        case .batch, .acknowledge: return [.answered(entry.purpose, reply.body)]
        case .time, .leave: return []
        }
    }

    private mutating func joinAnswered(
        _ body: ListenerReply.Body,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        switch body {
        case .joined(let joined):
            let answer = self.connection.joined(
                instance: joined.instance,
                pushed: joined.pushed,
                now: now,
                jitter: &self.jitter
            )
            var effects: [Effect] = []
            self.credentials.ticket = joined.ticket
            if answer.counts {
                self.connection.learn(self.settings.learning.targets(joined.alternatives))
                effects = self.joined(joined, now: now, &output)
            } else {
                self.follower.joinFailed()
            }
            return effects + self.perform(answer.actions, &output)
        case .refused(let refusal):
            self.follower.joinFailed()
            return self.joinRefused(refusal, now: now, &output)
        case .batch, .acknowledged, .done:
            output.notUnderstood("the reply to a join: it is of another kind")
            self.joinFailed(now: now)
            return []
        }
    }

    private mutating func joinFailed(now: LocalInstant) {
        self.follower.joinFailed()
        self.connection.joinFailed(now: now, jitter: &self.jitter)
    }

    private mutating func joined(
        _ joined: ListenerReply.Joined,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        self.clockSamples.leaseGranted(joined.lease, now: now)
        let step = self.follower.joined(joined, now: now)
        let isConsistent = step.lost != .inconsistentAnswer
        if isConsistent { output.emit(.joined(joined.published)) }
        let effects = self.apply(step, isSnapshot: joined.kind == .snapshot && isConsistent, now: now, &output)
        if isConsistent { self.isFirstJoin = false }
        return effects + [.joined]
    }

    private mutating func joinRefused(
        _ refusal: Refusal,
        now: LocalInstant,
        _ output: inout ListenerCore.Output
    ) -> [Effect] {
        let sentence = refusal.description
        switch refusal.status {
        case .draining:
            return self.lose(.sentAway(sentence), atLeast: refusal.retryAfter, leaves: true, now: now, &output)
        // The next connection asks the app for a new token.
        case .notAllowed where self.settings.usesToken: return self.lose(.sentAway(sentence), now: now, &output)
        case let status where status.canRetry:
            self.connection.joinFailed(atLeast: refusal.retryAfter, now: now, jitter: &self.jitter)
            return []
        case .invalid:
            let actions = self.connection.joinInvalid(now: now) ?? self.connection.refuse(reason: sentence)
            return self.perform(actions, &output)
        default: return self.perform(self.connection.refuse(reason: sentence), &output)
        }
    }
}

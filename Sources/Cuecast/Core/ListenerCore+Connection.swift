// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// What the transport says, and what goes to it.
extension ListenerCore {
    /// What the transport says about connection number `attempt`; what an earlier one still says does not count.
    mutating func transport(_ event: ListenerConnectionEvent, attempt: Int, now: LocalInstant) {
        guard attempt == self.connection.attempt, self.lifecycle != .stopped else { return }
        switch event {
        case .connected: self.perform(self.connection.connected(now: now), now: now)
        case .notice(let frame): self.received(notice: frame, now: now)
        case .reply(let frame): self.received(reply: frame, now: now)
        case .noticesDropped(let count):
            self.output.emit(.noticesDropped(count))
            self.apply(self.follower.noticesDropped(), isSnapshot: false, now: now)
        case .closed(let reason):
            let actions = self.connection.disconnected(reason: reason, now: now, jitter: &self.jitter)
            self.perform(actions, now: now)
        }
        self.settleTime(now: now)
    }

    /// The app answered `askForToken`; `nil`: it could not.
    mutating func tokenGiven(_ token: String?, attempt: Int, now: LocalInstant) {
        guard attempt == self.connection.attempt, self.lifecycle != .stopped else { return }
        var token = token
        if let given = token, given.utf8.count > WireLimits.tokenBytesMax {
            self.output.log(.error, "The token has more than \(WireLimits.tokenBytesMax) bytes")
            token = nil
        }
        self.token = token ?? ""
        self.perform(self.connection.token(isGiven: token != nil, now: now, jitter: &self.jitter), now: now)
        self.settleTime(now: now)
    }

    mutating func perform(_ actions: [ConnectionMachine.Action], now: LocalInstant) {
        for action in actions {
            switch action {
            case .connect(let attempt, let gateway): self.output.act(.connect(attempt: attempt, gateway: gateway))
            case .disconnect:
                self.output.act(.disconnect)
                self.follower.disconnected()
                self.clockSamples.disconnected()
                for entry in self.requests.abandonAll() { self.abandoned(entry.purpose) }
            case .subscribe(let topic): self.output.act(.subscribe(topic))
            case .unsubscribe(let topic): self.output.act(.unsubscribe(topic))
            case .askForToken: self.output.act(.askForToken(attempt: self.connection.attempt))
            case .join(let instance): self.sendJoin(instance: instance, now: now)
            }
        }
    }

    mutating func lose(_ reason: ConnectionLoss, atLeast: Duration = .zero, leaves: Bool = false, now: LocalInstant) {
        let actions = self.connection.lose(
            reason: reason,
            atLeast: atLeast,
            leaves: leaves,
            now: now,
            jitter: &self.jitter
        )
        self.perform(actions, now: now)
    }

    // MARK: Notices

    private mutating func received(notice frame: [UInt8], now: LocalInstant) {
        let decoded: NoticeFrame
        do throws(WireError) {
            decoded = try NoticeFrame(decoding: frame)
        } catch {
            self.notUnderstood("a notice: \(error)")
            return
        }
        switch decoded {
        case .tick(let tick): self.perform(self.connection.tick(instance: tick.instance, now: now), now: now)
        case .notice(let notice, let stream):
            guard self.isRunning, stream == self.settings.stream else { return }
            let step = self.follower.received(notice, now: now)
            self.apply(step, isSnapshot: false, now: now)
            self.tellDroppedNotices()
        }
    }

    private mutating func apply(_ step: PositionFollower.Step, isSnapshot: Bool, now: LocalInstant) {
        if self.isRunning, let moment = self.moment(at: now) {
            for notice in step.apply {
                let effects = self.book.apply(notice, takesPreStream: self.takesPreStream, at: moment)
                self.apply(effects, at: now)
            }
            if isSnapshot {
                let effects = self.book.snapshot(holds: Set(step.apply.compactMap(\.breakID)), at: moment)
                self.apply(effects, at: now)
            }
        }
        if let lost = step.lost {
            self.output.emit(.positionLost(lost.published))
            self.output.log(.info, "A notice is missing (\(lost)): joining again")
            self.connection.rejoin(now: now, jitter: &self.jitter)
        }
        if step.recovered { self.connection.rejoinNotNeeded() }
    }

    // MARK: Replies

    private mutating func received(reply frame: [UInt8], now: LocalInstant) {
        let reply: ListenerReply
        do throws(WireError) {
            reply = try ListenerReply(decoding: frame)
        } catch {
            // The request that it answers runs out of time and is asked again.
            self.notUnderstood("a reply: \(error)")
            return
        }
        guard let entry = self.requests.close(reply.requestID) else { return }
        self.connection.replyArrived()
        self.clock.add(sent: entry.sent, gateway: reply.gatewayTime, received: now)
        self.clockSamples.sampled(error: self.clock.errorBound(at: now) ?? .zero, now: now)
        switch entry.purpose {
        case .join: self.joinAnswered(reply.body, now: now)
        case .batch(let id): self.batchAnswered(id, reply.body, now: now)
        case .acknowledge(let id): self.acknowledgeAnswered(id, reply.body, now: now)
        case .time, .leave: break
        }
    }

    private mutating func joinAnswered(_ body: ListenerReply.Body, now: LocalInstant) {
        switch body {
        case .joined(let joined):
            let answer = self.connection.joined(instance: joined.instance, now: now, jitter: &self.jitter)
            if answer.counts {
                self.joined(joined, now: now)
            } else {
                self.follower.joinFailed()
            }
            self.perform(answer.actions, now: now)
        case .refused(let refusal):
            self.follower.joinFailed()
            self.joinRefused(refusal, now: now)
        case .batch, .acknowledged, .done:
            self.follower.joinFailed()
            self.notUnderstood("the reply to a join: it is of another kind")
            self.connection.joinFailed(now: now, jitter: &self.jitter)
        }
    }

    private mutating func joined(_ joined: ListenerReply.Joined, now: LocalInstant) {
        self.ticket = joined.ticket
        self.clockSamples.leaseGranted(joined.lease, now: now)
        let step = self.follower.joined(joined, now: now)
        if step.lost != .inconsistentAnswer {
            switch joined.kind {
            case .current: self.output.emit(.joined(.current))
            case .recovered: self.output.emit(.joined(.recovered(notices: joined.notices.count)))
            case .snapshot: self.output.emit(.joined(.snapshot(openBreaks: joined.notices.count)))
            }
        }
        self.apply(step, isSnapshot: joined.kind == .snapshot && step.lost != .inconsistentAnswer, now: now)
        self.takesPreStream = self.takesPreStream && step.lost == .inconsistentAnswer
        self.keepSession()
    }

    private mutating func joinRefused(_ refusal: Refusal, now: LocalInstant) {
        switch refusal.status {
        case .draining:
            self.lose(.sentAway(refusal.description), atLeast: refusal.retryAfter, leaves: true, now: now)
        case .notAllowed where self.settings.usesToken:
            // The next connection asks the app for a new token.
            self.lose(.sentAway(refusal.description), now: now)
        case let status where status.canRetry:
            self.connection.joinFailed(atLeast: refusal.retryAfter, now: now, jitter: &self.jitter)
        default:
            self.perform(self.connection.refuse(reason: refusal.description), now: now)
        }
    }

    private mutating func batchAnswered(_ id: BreakID, _ body: ListenerReply.Body, now: LocalInstant) {
        guard self.isRunning, let moment = self.moment(at: now) else { return }
        switch body {
        case .batch(let batch):
            if let entry = self.book.entries[id], entry.phase == .requested {
                let skipped = entry.skipped(batch, at: moment)
                self.output.keep(.batch(entry.notice, batch, skipped: skipped))
            }
            self.apply(self.book.batchArrived(id, batch, at: moment), at: now)
        case .refused(let refusal):
            self.apply(self.book.batchRefused(id, refusal, now: now, jitter: &self.jitter), at: now)
        case .joined, .acknowledged, .done:
            self.notUnderstood("the reply to a request for a batch: it is of another kind")
            self.book.batchUnanswered(id, now: now, jitter: &self.jitter)
        }
    }

    private mutating func acknowledgeAnswered(
        _ id: AcknowledgementQueue.GroupKey,
        _ body: ListenerReply.Body,
        now: LocalInstant
    ) {
        switch body {
        case .acknowledged(let recorded):
            let answer = self.acknowledgements.confirmed(id, recorded: recorded)
            if !answer.confirmed.isEmpty {
                self.output.keep(.settled(answer.confirmed.map(\.number), givenUp: nil))
                self.output.emit(
                    .acknowledged(
                        breakID: id.key.id.description,
                        adIDs: answer.confirmed.map(\.outcome.advertisementID.description)
                    )
                )
            }
            self.giveUp(answer.givenUp)
        case .refused(let refusal):
            self.giveUp(self.acknowledgements.refused(id, refusal, now: now, jitter: &self.jitter))
        case .joined, .batch, .done:
            self.notUnderstood("the reply to an acknowledgement: it is of another kind")
            self.acknowledgements.unanswered(id, now: now, jitter: &self.jitter)
        }
    }

    mutating func notUnderstood(_ what: String) {
        self.output.emit(.notUnderstood(what))
        self.output.log(.warning, "Not understood: \(what)")
    }
}

extension PositionFollower.Loss {
    fileprivate var published: PositionLoss {
        switch self {
        case .gap: .gap
        case .epoch: .newEpoch
        case .inconsistentAnswer: .inconsistentAnswer
        }
    }
}

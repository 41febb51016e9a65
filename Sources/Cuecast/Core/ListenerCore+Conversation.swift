// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// Messages of the gateway, and requests to it.
extension ListenerCore {
    /// An event of the transport on connection number `attempt`; events of earlier connections do not count.
    mutating func transport(_ event: ListenerConnectionEvent, attempt: Int, now: LocalInstant) {
        guard attempt == self.conversation.connection.attempt, self.lifecycle != .stopped else { return }
        let isRunning = self.isRunning
        let effects = self.conversation.received(event, takesNotices: isRunning, now: now, &self.output)
        self.apply(effects, at: now)
        self.settleTime(now: now)
    }

    /// The app answered `askForToken`; `nil`: it could not.
    mutating func tokenGiven(_ token: String?, attempt: Int, now: LocalInstant) {
        guard attempt == self.conversation.connection.attempt, self.lifecycle != .stopped else { return }
        self.apply(self.conversation.tokenGiven(token, now: now, &self.output), at: now)
        self.settleTime(now: now)
    }

    mutating func apply(_ effects: [GatewayConversation.Effect], at now: LocalInstant) {
        for effect in effects {
            switch effect {
            case .join(let proof):
                let delay = self.wireDelay(now: now)
                self.conversation.join(by: proof, delay: delay, now: now, &self.output)
            case .joined: self.keepSession()
            case .notices(let notices, let isSnapshot, let isFirst):
                self.apply(notices, isSnapshot: isSnapshot, isFirst: isFirst, at: now)
            case .answered(.batch(let id), let body): self.batchAnswered(id, body, now: now)
            case .answered(.acknowledge(let id), let body): self.acknowledgeAnswered(id, body, now: now)
            case .unanswered(.batch(let id)): self.book.batchUnanswered(id, now: now, jitter: &self.jitter)
            case .unanswered(.acknowledge(let id)):
                self.acknowledgements.unanswered(id, now: now, jitter: &self.jitter)
            case .abandoned(let purpose): self.abandoned(purpose)
            // The conversation's own.
            case .answered, .unanswered: break
            }
        }
    }

    private mutating func apply(_ notices: [Notice], isSnapshot: Bool, isFirst: Bool, at now: LocalInstant) {
        guard self.isRunning, let moment = self.moment(at: now) else { return }
        for notice in notices { self.apply(self.book.apply(notice, takesPreStream: isFirst, at: moment), at: now) }
        guard isSnapshot else { return }
        self.apply(self.book.snapshot(holds: Set(notices.compactMap(\.breakID)), at: moment), at: now)
    }

    // MARK: Batches

    mutating func requestBatch(_ id: BreakID, now: LocalInstant) {
        let key = BreakKey(stream: self.settings.stream, id: id)
        let batch = ListenerRequest.GetBatch(key: key, delay: self.wireDelay(now: now))
        if !self.conversation.ask(.batch(id), .getBatch(batch), now: now, &self.output) { self.abandoned(.batch(id)) }
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
        case .refused(let refusal) where refusal.status == .notAllowed && self.ticketRefused != id:
            // The ticket is over, or its key is gone: another join gets another one. Once for a break, so that it comes to an end.
            self.ticketRefused = id
            self.book.batchAbandoned(id)
            self.apply(self.conversation.renewTicket(refusal, now: now, &self.output), at: now)
        case .refused(let refusal):
            self.apply(self.book.batchRefused(id, refusal, now: now, jitter: &self.jitter), at: now)
        case .joined, .acknowledged, .done:
            self.output.notUnderstood("the reply to a request for a batch: it is of another kind")
            self.book.batchUnanswered(id, now: now, jitter: &self.jitter)
        }
    }

    /// The connection that the request went to is gone.
    private mutating func abandoned(_ purpose: RequestTable.Purpose) {
        switch purpose {
        case .batch(let id): self.book.batchAbandoned(id)
        case .acknowledge(let id): self.acknowledgements.abandoned(id)
        case .join, .time, .leave: break
        }
    }

    // MARK: Acknowledgements

    mutating func sendAcknowledgements(now: LocalInstant) {
        guard self.conversation.connection.canRequest else { return }
        for (id, records) in self.acknowledgements.due(now: now, room: self.conversation.requestRoom) {
            let acknowledge = ListenerRequest.Acknowledge(
                key: id.key,
                delivery: id.delivery,
                outcomes: records.map(\.outcome)
            )
            // The session and ticket of the time, which may be an earlier session's.
            let earlier = (session: id.session, ticket: records.first?.ticket ?? [])
            let kind = ListenerRequest.Kind.acknowledge(acknowledge)
            if !self.conversation.ask(.acknowledge(id), kind, as: earlier, now: now, &self.output) {
                self.acknowledgements.abandoned(id)
            }
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
            self.output.notUnderstood("the reply to an acknowledgement: it is of another kind")
            self.acknowledgements.unanswered(id, now: now, jitter: &self.jitter)
        }
    }

    /// Gives up what the gateway would not take any more.
    mutating func giveUpOldOutcomes(now: LocalInstant) {
        guard let moment = self.moment(at: now) else { return }
        let age = self.settings.timings.outboxAgeMax
        for each in self.acknowledgements.expire(before: moment.gateway - age, age: age) { self.giveUp(each) }
    }

    mutating func giveUp(_ givenUp: AcknowledgementQueue.GivenUp?) {
        guard let givenUp, let first = givenUp.records.first else { return }
        self.output.keep(.settled(givenUp.records.map(\.number), givenUp: givenUp.why))
        self.output.emit(
            .acknowledgementGivenUp(
                breakID: first.key.id.description,
                adIDs: givenUp.records.map(\.outcome.advertisementID.description),
                reason: givenUp.why.sentence
            )
        )
        let reason = givenUp.why.sentence
        self.output.log(.warning, "Gave up \(givenUp.records.count) outcomes of \(first.key): \(reason)")
    }
}

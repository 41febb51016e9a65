// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// What is asked of the gateway, and what happens when it does not answer.
extension ListenerCore {
    /// How many places of the request table batches and acknowledgements leave free for joins, the time and leaving.
    static let reservedRequests = 4

    /// How many batches or groups of acknowledgements may be asked for now.
    var requestRoom: Int {
        guard self.connection.canRequest else { return 0 }
        return max(0, RequestTable.inFlightMax - Self.reservedRequests - self.requests.count)
    }

    mutating func sendJoin(instance: UInt64, now: LocalInstant) {
        let last = self.follower.last
        self.follower.joinSent()
        let join = ListenerRequest.Join(
            stream: self.settings.stream,
            last: last,
            instance: instance,
            token: self.token,
            delay: self.wireDelay(now: now),
            attributes: self.settings.attributes,
            client: self.settings.client
        )
        self.request(.join, .join(join), now: now)
    }

    mutating func request(_ purpose: RequestTable.Purpose, _ kind: ListenerRequest.Kind, now: LocalInstant) {
        let timeout = self.settings.timings.requestTimeout
        guard let id = self.requests.open(purpose, now: now, timeout: timeout) else {
            // Not reached while every caller asks for room first and no purpose is open twice.
            self.abandoned(purpose)
            return
        }
        let request = ListenerRequest(id: id, session: self.session, ticket: self.ticket, kind: kind)
        self.output.act(.send(request.encoded()))
    }

    /// No reply came in time.
    mutating func expireRequests(now: LocalInstant) {
        for entry in self.requests.expire(now: now) {
            switch entry.purpose {
            case .join:
                self.follower.joinFailed()
                self.connection.joinFailed(now: now, jitter: &self.jitter)
            case .batch(let id): self.book.batchUnanswered(id, now: now, jitter: &self.jitter)
            case .acknowledge(let id): self.acknowledgements.unanswered(id, now: now, jitter: &self.jitter)
            case .time, .leave: break
            }
            self.perform(self.connection.requestUnanswered(now: now, jitter: &self.jitter), now: now)
        }
    }

    /// The connection that the request went to is gone.
    mutating func abandoned(_ purpose: RequestTable.Purpose) {
        switch purpose {
        case .batch(let id): self.book.batchAbandoned(id)
        case .acknowledge(let id): self.acknowledgements.abandoned(id)
        case .join, .time, .leave: break
        }
    }

    mutating func sendAcknowledgements(now: LocalInstant) {
        guard self.connection.canRequest else { return }
        for (id, records) in self.acknowledgements.due(now: now, room: self.requestRoom) {
            let acknowledge = ListenerRequest.Acknowledge(
                key: id.key,
                delivery: id.delivery,
                outcomes: records.map(\.outcome)
            )
            let timeout = self.settings.timings.requestTimeout
            guard
                let number = self.requests.open(.acknowledge(id), now: now, timeout: timeout),
                let ticket = records.first?.ticket
            else {
                self.acknowledgements.abandoned(id)
                continue
            }
            // The session and ticket of the time, which may be an earlier session's.
            let request = ListenerRequest(
                id: number,
                session: id.session,
                ticket: ticket,
                kind: .acknowledge(acknowledge)
            )
            self.output.act(.send(request.encoded()))
        }
    }

    mutating func sampleClock(now: LocalInstant) {
        guard self.isRunning, self.connection.canRequest, !self.requests.isOpen(.time) else { return }
        guard let due = self.clockSamples.nextDeadline, due <= now else { return }
        self.clockSamples.asked(now: now)
        self.request(.time, .getTime, now: now)
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
        self.output.log(.warning, "Gave up \(givenUp.records.count) outcomes of \(first.key): \(givenUp.why.sentence)")
    }
}

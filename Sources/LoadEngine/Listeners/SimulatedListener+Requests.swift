// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

// Requests: one at a time, each until it is answered for good.
extension SimulatedListener {
    /// Begins what is due next, if nothing is under way.
    mutating func pump(now: Microseconds, in world: inout LoadWorld) -> Actions {
        guard self.request == .none, self.stalledUntil == nil else { return [] }
        switch self.phase {
        case .joining, .rejoining: return now >= self.joinDue ? self.ask(.join, of: -1, now: now, in: &world) : []
        case .following: break
        case .idle, .connecting, .proving, .waiting, .gone: return []
        }
        var best: Int?
        for index in self.work.indices {
            if let chosen = best, self.work[chosen].due <= self.work[index].due { continue }
            best = index
        }
        guard let best else {
            return self.isLeaving
                ? self.ask(.leave, of: -1, now: now, in: &world) : self.renewLease(now: now, in: &world)
        }
        if self.isLeaving, self.work[best].failures == 0, self.work[best].due > now {
            // A leaving listener reports at once what became of its batches.
            (self.work[best].due, self.work[best].intended) = (now, now)
        }
        guard self.work[best].due <= now else { return self.renewLease(now: now, in: &world) }
        let kind: Request = self.work[best].state == .fetch ? .batch : .acknowledge
        if kind == .batch, self.work[best].failures == 0 {
            let gateway = world.clock.gateway(now)
            world.streams[Int(self.stream)].update(Int(self.work[best].breakIndex)) { $0.tally.asked(at: gateway) }
        }
        return self.ask(kind, of: self.work[best].breakIndex, now: now, in: &world)
    }

    /// When the time is asked for unless something else is: every request makes the session count as listening for as long again.
    var renewalDue: Microseconds {
        self.renewalMilliseconds == 0 ? .max : self.requestSent + Microseconds(self.renewalMilliseconds) * 1_000
    }

    /// Asks for the time, where the lease would end soon.
    private mutating func renewLease(now: Microseconds, in world: inout LoadWorld) -> Actions {
        now >= self.renewalDue ? self.ask(.time, of: -1, now: now, in: &world) : []
    }

    private mutating func ask(
        _ kind: Request,
        of breakIndex: Int32,
        now: Microseconds,
        in world: inout LoadWorld
    ) -> Actions {
        self.request = kind
        self.requestBreak = breakIndex
        self.requestID += 1
        self.requestSent = now
        self.requestDeadline = now + world.behaviour.requestTimeout
        return .send
    }

    /// Writes the request that `send` asked for.
    ///
    /// - Returns: `false` where there is none.
    package func write(into writer: inout RequestWriter, in world: LoadWorld) -> Bool {
        let stream = world.streams[Int(self.stream)].wireID
        switch self.request {
        case .none: return false
        case .join:
            writer.join(
                id: self.requestID,
                session: self.session,
                ticket: self.ticket,
                stream: stream,
                last: self.last,
                instance: self.instance,
                token: world.behaviour.tokens.token(of: Int(self.number)),
                client: world.behaviour.client,
                push: self.asksForPush(in: world)
            )
        case .batch:
            writer.batch(
                id: self.requestID,
                session: self.session,
                ticket: self.ticket,
                stream: stream,
                breakID: world.streams[Int(self.stream)].breaks[Int(self.requestBreak)].wireID
            )
        case .acknowledge:
            guard let work = self.work.first(where: { $0.breakIndex == self.requestBreak }) else { return false }
            self.writeAcknowledgement(of: work, into: &writer, in: world)
        case .time: writer.time(id: self.requestID, session: self.session, ticket: self.ticket)
        case .leave:
            writer.leave(id: self.requestID, session: self.session, ticket: self.ticket, stream: stream)
        }
        return true
    }

    private func writeAcknowledgement(of work: Work, into writer: inout RequestWriter, in world: LoadWorld) {
        let stream = Int(self.stream)
        let index = Int(work.breakIndex)
        let occurred = world.clock.gateway(self.requestSent)
        writer.beginAcknowledgement(
            stream: world.streams[stream].wireID,
            breakID: world.streams[stream].breaks[index].wireID,
            delivery: work.delivery
        )
        for ordinal in Int(work.first)..<Int(work.first) + Int(work.count) {
            guard let facts = world.streams[stream].breaks[index].content.advertisements[ordinal] else { continue }
            var outcome = OutcomeDetails(kind: self.outcome(of: work, ordinal: ordinal, in: world))
            outcome.occurred = occurred
            switch outcome.kind {
            case .played: (outcome.heardMilliseconds, outcome.quartiles) = (facts.durationMilliseconds, 4)
            case .ignored: outcome.reason = work.isWithdrawn ? .cancelled : .user
            // VAST 4.3 section 2.3.6.3: the media file was not found.
            case .failed: outcome.vastError = 401
            }
            writer.add(outcome, advertisement: facts.id)
        }
        writer.finishAcknowledgement(id: self.requestID, session: self.session, ticket: self.ticket)
    }

    func outcome(of work: Work, ordinal: Int, in world: LoadWorld) -> Outcome.Kind {
        // No listener heard a break that never started.
        guard !work.isWithdrawn, !work.isHeld else { return .ignored }
        return world.behaviour.mix.outcome(
            session: self.session,
            breakIndex: Int(work.breakIndex),
            ordinal: ordinal
        )
    }

    /// A request got no answer in time.
    ///
    /// - Returns: the action where the connection is given up for it.
    mutating func timedOut(now: Microseconds, in world: inout LoadWorld) -> Actions? {
        world.statistics.counts.timeouts += 1
        self.unanswered += 1
        self.mayHaveStrays = true
        guard self.unanswered < world.behaviour.unansweredMax else { return self.lose(now: now, in: &world) }
        self.tryAgain(now: now, after: 0, in: &world)
        return nil
    }

    /// The same is asked again, later.
    mutating func tryAgain(now: Microseconds, after least: Microseconds, in world: inout LoadWorld) {
        world.statistics.counts.retries += 1
        let wait = least + self.backoff(in: world)
        switch self.request {
        case .join: self.joinDue = now + wait
        case .batch, .acknowledge:
            if let index = self.work.firstIndex(where: { $0.breakIndex == self.requestBreak }) {
                self.work[index].due = now + wait
                if self.work[index].failures < .max { self.work[index].failures += 1 }
            }
        case .time: self.requestSent = now + wait - Microseconds(self.renewalMilliseconds) * 1_000
        case .leave, .none: break
        }
        self.abandonRequest()
    }

    mutating func abandonRequest() {
        self.request = .none
        self.requestBreak = -1
        self.requestDeadline = .max
    }
}

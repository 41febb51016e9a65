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
        guard let best else { return self.isLeaving ? self.ask(.leave, of: -1, now: now, in: &world) : [] }
        if self.isLeaving, self.work[best].failures == 0, self.work[best].due > now {
            // Who leaves says at once what became of the batches it has.
            (self.work[best].due, self.work[best].intended) = (now, now)
        }
        guard self.work[best].due <= now else { return [] }
        let kind: Request = self.work[best].state == .fetch ? .batch : .acknowledge
        if self.work[best].isTimed, self.work[best].failures == 0, !self.isUnmeasured {
            let due = self.work[best].due
            world.statistics.lag.record(intended: due, began: due, ended: now)
        }
        if kind == .batch, self.work[best].failures == 0 {
            let gateway = world.clock.gateway(now)
            world.streams[Int(self.stream)].update(Int(self.work[best].breakIndex)) { $0.tally.asked(at: gateway) }
        }
        return self.ask(kind, of: self.work[best].breakIndex, now: now, in: &world)
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
                client: world.behaviour.client
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
            var outcome = RequestWriter.Outcome(
                kind: self.outcome(of: work, ordinal: ordinal, in: world),
                occurred: occurred
            )
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

    private func outcome(of work: Work, ordinal: Int, in world: LoadWorld) -> Outcome.Kind {
        guard !work.isWithdrawn else { return .ignored }
        return world.behaviour.mix.outcome(
            session: self.session,
            breakIndex: Int(work.breakIndex),
            ordinal: ordinal
        )
    }

    /// A request got no answer in time.
    ///
    /// - Returns: what to do where the connection is given up for it.
    mutating func timedOut(now: Microseconds, in world: inout LoadWorld) -> Actions? {
        world.statistics.counts.timeouts += 1
        self.unanswered += 1
        self.mayHaveStrays = true
        guard self.unanswered < world.behaviour.unansweredMax else { return self.lose(now: now, in: &world) }
        self.tryAgain(now: now, after: 0, in: &world)
        return nil
    }

    /// The same is asked again, later.
    private mutating func tryAgain(now: Microseconds, after least: Microseconds, in world: inout LoadWorld) {
        world.statistics.counts.retries += 1
        let wait = least + self.backoff(in: world)
        switch self.request {
        case .join: self.joinDue = now + wait
        case .batch, .acknowledge:
            if let index = self.work.firstIndex(where: { $0.breakIndex == self.requestBreak }) {
                self.work[index].due = now + wait
                if self.work[index].failures < .max { self.work[index].failures += 1 }
            }
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

// Replies.
extension SimulatedListener {
    /// A message of the request connection.
    package mutating func received(
        reply frame: Span<UInt8>,
        now: Microseconds,
        in world: inout LoadWorld
    ) -> Actions {
        guard let reply = ScannedReply(frame) else {
            world.statistics.findings.add(.malformed, "listener \(self.number): \(frame.count) bytes are no reply")
            return []
        }
        guard self.request != .none, reply.requestID == self.requestID else {
            if !self.mayHaveStrays || reply.requestID > self.requestID {
                world.statistics.findings.add(
                    .strayReplies,
                    "listener \(self.number): a reply to request \(reply.requestID), the last is \(self.requestID)"
                )
            }
            return []
        }
        world.clock.sample(sent: self.requestSent, answered: reply.gatewayTime, received: now)
        self.unanswered = 0
        guard reply.isDone else { return self.refused(reply, now: now, in: &world) }
        switch (self.request, reply.body) {
        case (.join, .joined(let range)): return self.joined(range, in: frame, now: now, world: &world)
        case (.batch, .batch(let range)): self.gotBatch(range, in: frame, now: now, world: &world)
        case (.acknowledge, .acknowledged(let recorded)): self.confirmed(recorded, now: now, world: &world)
        case (.leave, _):
            world.statistics.counts.left += 1
            self.abandonRequest()
            return self.finishSession()
        default:
            world.statistics.findings.add(.malformed, "listener \(self.number): a reply answers something else")
            self.tryAgain(now: now, after: 0, in: &world)
        }
        return self.pump(now: now, in: &world)
    }

    private mutating func refused(_ reply: ScannedReply, now: Microseconds, in world: inout LoadWorld) -> Actions {
        let name = StatusCode(rawValue: reply.status)?.name ?? "STATUS_\(reply.status)"
        world.statistics.refusals[name, default: 0] += 1
        if reply.canRetry || self.request == .join {
            // A join has no other way; one that can never succeed is asked for seldom.
            let least = reply.canRetry ? reply.retryAfter : world.behaviour.retryMax
            self.tryAgain(now: now, after: least, in: &world)
            return self.pump(now: now, in: &world)
        }
        if self.request == .leave {
            self.abandonRequest()
            return self.finishSession()
        }
        if let index = self.work.firstIndex(where: { $0.breakIndex == self.requestBreak }) {
            let known = world.streams[Int(self.stream)]
            let id = known.breaks[Int(self.requestBreak)].id
            let text = "listener \(self.number), break \(id) of \(known.id): \(name)"
            if self.request == .acknowledge {
                world.statistics.findings.add(.acknowledgementsMissing, count: Int(self.work[index].count), text)
            } else if !self.isExcused, !self.work[index].isWithdrawn, !self.work[index].isLate {
                world.statistics.findings.add(.batchesMissing, text)
            }
            self.finish(index)
        }
        self.abandonRequest()
        return self.pump(now: now, in: &world)
    }

    private mutating func gotBatch(
        _ range: Range<Int>,
        in frame: Span<UInt8>,
        now: Microseconds,
        world: inout LoadWorld
    ) {
        let stream = Int(self.stream)
        let breakIndex = self.requestBreak
        self.abandonRequest()
        guard let index = self.work.firstIndex(where: { $0.breakIndex == breakIndex }) else { return }
        let batch = ScannedBatch(range, in: frame)
        let verdict =
            batch.map { batch in
                world.streams[stream].update(Int(breakIndex)) { $0.content.verify(batch, range, in: frame) }
            } ?? .malformed
        guard let batch, verdict == .right else {
            world.statistics.findings.add(
                .wrongContent,
                "listener \(self.number), break \(world.streams[stream].breaks[Int(breakIndex)].id): \(verdict)"
            )
            self.finish(index)
            return
        }
        world.statistics.counts.batches += 1
        world.statistics.counts.batchBytes += frame.count
        world.statistics.second(now) { $0.batches += 1 }
        if !self.isUnmeasured {
            world.statistics.batch.record(
                intended: self.work[index].intended,
                began: self.requestSent,
                ended: now
            )
        }
        let isEarly = batch.start.map { now < world.clock.local($0) } ?? true
        world.streams[stream]
            .update(Int(breakIndex)) {
                $0.tally.batches += 1
                $0.tally.delivered += batch.advertisementCount
                if isEarly { $0.tally.batchesBeforeStart += 1 }
            }
        self.work[index].state = .acknowledge
        self.work[index].first = UInt8(batch.skipped)
        self.work[index].count = UInt8(batch.advertisementCount)
        self.work[index].delivery = Delivery(batch.delivery, in: frame)
        self.work[index].failures = 0
        self.work[index].due = self.endOfPlaying(batch, of: breakIndex, now: now, in: world)
        self.work[index].intended = self.work[index].due
        self.work[index].isTimed = self.work[index].due > now
    }

    /// When all advertisements of a batch are played.
    private func endOfPlaying(
        _ batch: ScannedBatch,
        of breakIndex: Int32,
        now: Microseconds,
        in world: LoadWorld
    ) -> Microseconds {
        guard let speed = world.behaviour.speed else { return now }
        var milliseconds: Microseconds = 0
        let advertisements = world.streams[Int(self.stream)].breaks[Int(breakIndex)].content.advertisements
        for ordinal in batch.skipped..<advertisements.count {
            milliseconds += Microseconds(advertisements[ordinal]?.durationMilliseconds ?? 0)
        }
        let begins = max(now, batch.start.map { world.clock.local($0) } ?? now)
        return begins + Microseconds(Double(milliseconds) * 1_000 / speed)
    }

    private mutating func confirmed(_ recorded: Int, now: Microseconds, world: inout LoadWorld) {
        let breakIndex = self.requestBreak
        self.abandonRequest()
        guard let index = self.work.firstIndex(where: { $0.breakIndex == breakIndex }) else { return }
        let work = self.work[index]
        if recorded != Int(work.count) {
            world.statistics.findings.add(
                .acknowledgementsMissing,
                count: max(1, Int(work.count) - recorded),
                "listener \(self.number): \(recorded) of \(work.count) outcomes recorded"
            )
        }
        world.statistics.counts.acknowledgements += 1
        world.statistics.counts.outcomes += Int(work.count)
        world.statistics.second(now) { $0.acknowledgements += 1 }
        if !self.isUnmeasured {
            world.statistics.acknowledge.record(intended: work.intended, began: self.requestSent, ended: now)
        }
        for ordinal in Int(work.first)..<Int(work.first) + Int(work.count) {
            let kind = self.outcome(of: work, ordinal: ordinal, in: world)
            world.streams[Int(self.stream)]
                .update(Int(breakIndex)) {
                    switch kind {
                    case .played: $0.tally.played += 1
                    case .ignored: $0.tally.ignored += 1
                    case .failed: $0.tally.failed += 1
                    }
                }
        }
        self.finish(index)
    }
}

// Joining.
extension SimulatedListener {
    private mutating func joined(
        _ range: Range<Int>,
        in frame: Span<UInt8>,
        now: Microseconds,
        world: inout LoadWorld
    ) -> Actions {
        guard let join = ScannedJoin(range, in: frame), let notices = self.notices(of: join, in: frame) else {
            world.statistics.findings.add(.malformed, "listener \(self.number): the answer to a join")
            self.tryAgain(now: now, after: 0, in: &world)
            return self.pump(now: now, in: &world)
        }
        self.abandonRequest()
        self.failures = 0
        guard join.instance == self.instance else {
            // Another run of the gateway answered: the subscription must be proven again.
            self.phase = .proving
            self.phaseDeadline = now + world.behaviour.proofTimeout
            return .subscribeSync
        }
        guard self.isConsistent(join, notices) else {
            world.statistics.findings.add(
                .wrongJoins,
                "listener \(self.number): kind \(join.kind), head \(join.head), \(notices.count) notices"
            )
            self.last = nil
            return self.losePosition(now: now, in: &world)
        }
        self.heard = now
        self.headInterval = min(max(join.headInterval, 100_000), 600_000_000)
        if !join.ticket.isEmpty { self.ticket = join.ticket.map { frame[$0] } }
        self.count(join, now: now, world: &world)
        if case .gap(let missing) = self.order.joined(join.head) {
            self.missed(missing, before: join.head, in: &world)
        }
        world.statistics.counts.noticesRecovered += join.kind == Self.recovered ? notices.count : 0
        self.phase = .following
        self.hasJoined = true
        self.isExcused = false
        for notice in notices {
            let facts = world.streams[Int(self.stream)].facts(of: notice)
            self.take(facts, isLate: true, now: now, in: &world)
        }
        self.last = join.head
        world.streams[Int(self.stream)].saw(join.head)
        return self.takeEarly(now: now, in: &world)
    }

    private static let current = ListenerReply.Joined.Kind.current.rawValue
    private static let recovered = ListenerReply.Joined.Kind.recovered.rawValue
    private static let snapshot = ListenerReply.Joined.Kind.snapshot.rawValue

    private func notices(of join: ScannedJoin, in frame: Span<UInt8>) -> [Notice]? {
        guard join.hasNotices else { return [] }
        guard let reply = try? ListenerReply(decoding: frame.indices.map { frame[$0] }),
            case .joined(let joined) = reply.body
        else { return nil }
        return joined.notices
    }

    /// Whether an answer fits the position that was sent, and itself.
    private func isConsistent(_ join: ScannedJoin, _ notices: [Notice]) -> Bool {
        switch join.kind {
        case Self.snapshot: return true
        case Self.current: return join.head == self.last && notices.isEmpty
        case Self.recovered:
            guard var expected = self.last else { return false }
            for notice in notices {
                expected = Position(epoch: expected.epoch, sequence: expected.sequence &+ 1)
                guard notice.position == expected, notice.kind != .head else { return false }
            }
            return expected == join.head
        default: return false
        }
    }

    private func count(_ join: ScannedJoin, now: Microseconds, world: inout LoadWorld) {
        world.statistics.second(now) { $0.joins += 1 }
        guard !self.hasJoined else {
            world.statistics.counts.rejoined += 1
            return
        }
        world.statistics.counts.joined += 1
        if !self.isUnmeasured {
            world.statistics.join.record(intended: self.connectedAt, began: self.requestSent, ended: now)
        }
    }

    /// Takes what came while the join was under way, as far as it follows; a gap leads to another join.
    private mutating func takeEarly(now: Microseconds, in world: inout LoadWorld) -> Actions {
        guard !self.early.isEmpty else { return self.pump(now: now, in: &world) }
        var hasGap = false
        for notice in self.early where notice.position.epoch == self.last?.epoch {
            let sequence = self.last?.sequence ?? 0
            if notice.position.sequence <= sequence { continue }
            guard notice.position.sequence == sequence &+ 1 else {
                hasGap = true
                break
            }
            world.streams[Int(self.stream)].saw(notice.position)
            self.apply(notice, now: now, in: &world)
        }
        self.early.removeAll(keepingCapacity: true)
        if hasGap { return self.losePosition(now: now, in: &world) }
        return self.pump(now: now, in: &world)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

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
        case (.join, .joined(let range)):
            return self.joined(range, in: frame, answered: reply.gatewayTime, now: now, world: &world)
        case (.batch, .batch(let range)): self.gotBatch(range, in: frame, now: now, world: &world)
        case (.acknowledge, .acknowledged(let recorded)): self.confirmed(recorded, now: now, world: &world)
        case (.time, .none): self.abandonRequest()
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
        if self.request == .join, reply.status == StatusCode.draining.rawValue, !self.named.isEmpty {
            return self.lose(leaves: true, now: now, in: &world)
        }
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
        self.work[index].playing = self.playingTime(batch, of: breakIndex, in: world)
        self.plan(index, start: batch.start ?? self.work[index].start, now: now, in: world)
    }

    /// How long the advertisements of a batch are played.
    private func playingTime(_ batch: ScannedBatch, of breakIndex: Int32, in world: LoadWorld) -> Microseconds {
        guard let speed = world.behaviour.speed else { return 0 }
        let advertisements = world.streams[Int(self.stream)].breaks[Int(breakIndex)].content.advertisements
        let milliseconds = advertisements.dropFirst(batch.skipped)
            .reduce(0 as Microseconds) { $0 + Microseconds($1?.durationMilliseconds ?? 0) }
        return Microseconds(Double(milliseconds) * 1_000 / speed)
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

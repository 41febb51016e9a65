// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

// Notices: order, positions, and what they lead to.
extension SimulatedListener {
    /// The most notices that wait for a join; further ones are found missing by the next.
    static let earlyMax = 512
    /// A break that is announced this soon after its publication was meant to be announced at once.
    private static let announcedAtOnceWithin: Microseconds = 500_000

    /// A message of the subscription, or one that the gateway sent unasked on the connection of the requests.
    package mutating func received(
        notice frame: Span<UInt8>,
        now: Microseconds,
        in world: inout LoadWorld
    ) -> Actions {
        self.heard = now
        // An answer that came too late to count may have begun it.
        if self.asksForPush(in: world), !self.isPushed, !self.mayHaveStrays {
            world.statistics.findings.add(
                .malformed,
                "listener \(self.number): \(frame.count) bytes before the answer to the join that asks for notices"
            )
            return []
        }
        if frame.count > 0, frame[0] == UInt8(ascii: "~") { return self.ticked(frame, now: now, in: &world) }
        guard let notice = world.streams[Int(self.stream)].facts(of: frame) else {
            world.statistics.findings.add(.malformed, "listener \(self.number): \(frame.count) bytes are no notice")
            return []
        }
        if notice.kind == .head {
            world.statistics.counts.heads += 1
            if let move = notice.move { self.askedToMove(move, now: now, in: &world) }
            let actions = self.sawHead(notice.position, now: now, in: &world)
            self.forgive(upTo: notice.sent, in: world)
            return actions
        }
        world.statistics.counts.notices += 1
        world.statistics.second(now) { $0.notices += 1 }
        self.judge(self.order.received(notice.position), of: notice, in: &world)
        switch self.phase {
        case .following:
            let actions = self.follow(notice, now: now, in: &world)
            self.forgive(upTo: notice.sent, in: world)
            return actions
        case .proving, .joining, .rejoining:
            if self.early.count < Self.earlyMax { self.early.append(notice) }
            self.measure(notice, now: now, in: &world)
            return []
        case .idle, .connecting, .waiting, .gone: return []
        }
    }

    private mutating func ticked(_ frame: Span<UInt8>, now: Microseconds, in world: inout LoadWorld) -> Actions {
        // Ticks of before the unsubscription took effect still come.
        guard self.phase == .proving || self.isPushed else { return [] }
        guard !self.isPushed, let instance = tickInstance(in: frame) else {
            world.statistics.findings.add(
                .malformed,
                "listener \(self.number): a frame of ~sync is no tick, or was not subscribed"
            )
            return []
        }
        self.instance = instance
        self.phase = .joining
        self.phaseDeadline = .max
        self.joinDue = now
        return self.pump(now: now, in: &world).union(.unsubscribeSync)
    }

    private mutating func judge(_ verdict: NoticeOrder.Verdict, of notice: NoticeFacts, in world: inout LoadWorld) {
        switch verdict {
        case .next, .known, .otherEpoch: break
        case .gap(let missing): self.missed(missing, before: notice.position, in: &world)
        case .repeated:
            world.statistics.findings.add(
                .noticesRepeated,
                "listener \(self.number) on \(world.streams[Int(self.stream)].id): \(notice.position)"
            )
        case .late:
            if !self.isExcused { world.statistics.findings.remove(.noticesLost) }
            world.statistics.findings.add(
                .noticesOutOfOrder,
                "listener \(self.number) on \(world.streams[Int(self.stream)].id): \(notice.position) came late"
            )
        }
    }

    /// Some notices did not come: a fault, unless this listener had stopped reading.
    mutating func missed(_ missing: UInt64, before position: Position, in world: inout LoadWorld) {
        let count = Int(clamping: missing)
        if self.isExcused {
            world.statistics.counts.noticesMissedWhileStalled += count
        } else {
            world.statistics.findings.add(
                .noticesLost,
                count: count,
                """
                listener \(self.number) on \(world.streams[Int(self.stream)].id): \(count) up to \
                \(Position(epoch: position.epoch, sequence: position.sequence))
                """
            )
        }
    }

    /// Notices that were sent after this listener began to read again have come in order: from now on nothing excuses a loss.
    private mutating func forgive(upTo sent: Timestamp, in world: LoadWorld) {
        guard self.isExcused, self.phase == .following, world.clock.local(sent) > self.resumedAt else { return }
        self.isExcused = false
    }

    private mutating func sawHead(_ head: Position, now: Microseconds, in world: inout LoadWorld) -> Actions {
        world.streams[Int(self.stream)].saw(head)
        guard self.phase == .following else { return [] }
        if case .gap(let missing) = self.order.head(head) { self.missed(missing, before: head, in: &world) }
        guard let last, last.epoch == head.epoch, head.sequence <= last.sequence else {
            return self.losePosition(now: now, in: &world)
        }
        return []
    }

    private mutating func follow(_ notice: NoticeFacts, now: Microseconds, in world: inout LoadWorld) -> Actions {
        world.streams[Int(self.stream)].saw(notice.position)
        if let last, last.epoch == notice.position.epoch, notice.position.sequence <= last.sequence { return [] }
        self.measure(notice, now: now, in: &world)
        guard let last, last.epoch == notice.position.epoch, notice.position.sequence == last.sequence &+ 1 else {
            self.early.append(notice)
            return self.losePosition(now: now, in: &world)
        }
        self.apply(notice, now: now, in: &world)
        return self.pump(now: now, in: &world)
    }

    /// A join will tell what was missed: the first within `retryFirst`, so that not all ask in the same instant.
    mutating func losePosition(now: Microseconds, in world: inout LoadWorld) -> Actions {
        self.phase = .rejoining
        self.joinDue = now + self.backoff(in: world)
        return []
    }

    /// The time from when it was meant to be sent, for announcements.
    private func measure(_ notice: NoticeFacts, now: Microseconds, in world: inout LoadWorld) {
        guard notice.kind == .available, notice.breakIndex >= 0 else { return }
        let known = world.streams[Int(self.stream)].breaks[Int(notice.breakIndex)]
        world.streams[Int(self.stream)].update(Int(notice.breakIndex)) { $0.tally.notices += 1 }
        guard !self.isUnmeasured else { return }
        let sent = world.clock.local(notice.sent)
        let intended: Microseconds
        if let announcement = known.plannedAnnouncement {
            intended = world.clock.local(announcement)
        } else if let planned = known.plannedPublication {
            intended = self.intended(of: notice, published: planned, in: world)
        } else {
            intended = notice.window.map { world.clock.local($0.from) } ?? sent
        }
        world.statistics.notice.record(intended: intended, began: sent, ended: now)
    }

    /// Announced when it was published, unless another process publishes and the window opened clearly later.
    private func intended(
        of notice: NoticeFacts,
        published planned: Microseconds,
        in world: LoadWorld
    ) -> Microseconds {
        guard world.guessesAnnouncements, let window = notice.window else { return planned }
        let opened = world.clock.local(window.from)
        return opened - planned > Self.announcedAtOnceWithin ? opened : planned
    }

    /// Takes a notice as the next one of the stream.
    mutating func apply(_ notice: NoticeFacts, now: Microseconds, in world: inout LoadWorld) {
        self.last = notice.position
        self.take(notice, isLate: false, now: now, in: &world)
    }

    /// Does what a notice asks for; a late one came with the answer to a join.
    mutating func take(_ notice: NoticeFacts, isLate: Bool, now: Microseconds, in world: inout LoadWorld) {
        guard notice.breakIndex >= 0 else { return }
        switch notice.kind {
        case .available, .updated, .ended: self.want(notice, isLate: isLate, now: now, in: &world)
        case .cancelled: self.withdraw(notice.breakIndex, now: now)
        case .head: break
        }
    }

    private mutating func want(
        _ notice: NoticeFacts,
        isLate: Bool,
        now: Microseconds,
        in world: inout LoadWorld
    ) {
        guard !self.isDone(notice.breakIndex), !self.isLeaving else { return }
        world.streams[Int(self.stream)]
            .update(Int(notice.breakIndex)) {
                $0.tally.windowFrom = notice.window?.from.microseconds ?? $0.tally.windowFrom
                $0.tally.windowBy = notice.window?.by.microseconds ?? $0.tally.windowBy
                $0.tally.start = notice.start?.microseconds ?? $0.tally.start
            }
        let known = self.work.firstIndex { $0.breakIndex == notice.breakIndex }
        if let known {
            (self.work[known].start, self.work[known].expires) = (notice.start, notice.expires)
            if self.work[known].state == .acknowledge { return self.replan(known, by: notice, now: now, in: world) }
            if self.requestBreak == notice.breakIndex { return }
        }
        let gateway = world.clock.gateway(now)
        guard notice.expires > gateway else {
            if let known { self.finish(known) } else { self.markDone(notice.breakIndex) }
            return
        }
        var due = now
        if let window = notice.window, !notice.preStream, !world.behaviour.asksAtOnce {
            let id = world.streams[Int(self.stream)].breaks[Int(notice.breakIndex)].id
            due = max(now, world.clock.local(RequestSlot.instant(in: window, session: self.session, break: id)))
        }
        if let known {
            // The window has moved; a try again keeps its own time.
            if self.work[known].failures == 0 { (self.work[known].due, self.work[known].intended) = (due, due) }
        } else {
            self.work.append(
                Work(
                    breakIndex: notice.breakIndex,
                    due: due,
                    intended: due,
                    isLate: isLate,
                    start: notice.start,
                    expires: notice.expires,
                    isPreStream: notice.preStream
                )
            )
        }
    }

    /// A break whose batch is there starts at another time: what has not begun is told when it will have been played.
    private mutating func replan(_ index: Int, by notice: NoticeFacts, now: Microseconds, in world: LoadWorld) {
        // An outcome under way, or possibly accepted, stays as it was sent.
        guard world.behaviour.speed != nil, self.work[index].begins > now, self.work[index].failures == 0,
            self.requestBreak != notice.breakIndex
        else { return }
        if notice.kind == .ended { return self.tellAtOnce(index, now: now) }
        self.plan(index, start: notice.start, now: now, in: world)
    }

    /// Sets when playing begins and when it is told.
    mutating func plan(_ index: Int, start: Timestamp?, now: Microseconds, in world: LoadWorld) {
        let work = self.work[index]
        let due: Microseconds
        if start == nil, !work.isPreStream, world.behaviour.speed != nil {
            self.work[index].begins = .max
            // Its start was not announced by then.
            due = max(now, world.clock.local(work.expires))
        } else {
            let begins = max(now, start.map { world.clock.local($0) } ?? now)
            self.work[index].begins = begins
            due = world.behaviour.speed == nil ? now : begins + work.playing
        }
        (self.work[index].due, self.work[index].intended) = (due, due)
    }

    /// An ad that has not begun will not be played.
    private mutating func tellAtOnce(_ index: Int, now: Microseconds) {
        self.work[index].isWithdrawn = true
        (self.work[index].due, self.work[index].intended) = (now, now)
    }

    private mutating func withdraw(_ breakIndex: Int32, now: Microseconds) {
        guard let index = self.work.firstIndex(where: { $0.breakIndex == breakIndex }) else {
            self.markDone(breakIndex)
            return
        }
        if self.work[index].state == .acknowledge, self.work[index].begins > now, self.work[index].failures == 0,
            self.requestBreak != breakIndex
        {
            return self.tellAtOnce(index, now: now)
        }
        self.work[index].isWithdrawn = true
        // An answer that is missing may count at the gateway: then it is asked for until there is one.
        if self.work[index].state == .fetch, self.work[index].failures == 0, self.requestBreak != breakIndex {
            self.finish(index)
        }
    }
}

// Which breaks need nothing any more.
extension SimulatedListener {
    func isDone(_ breakIndex: Int32) -> Bool {
        let offset = breakIndex - self.doneBase
        guard offset >= 0 else { return true }
        return offset < 64 && self.doneBits >> UInt64(offset) & 1 == 1
    }

    mutating func markDone(_ breakIndex: Int32) {
        let offset = breakIndex - self.doneBase
        guard offset >= 0 else { return }
        if offset >= 64 {
            // A stream has at most 64 open breaks: those that far back are over.
            let shift = offset - 63
            self.doneBits = shift >= 64 ? 0 : self.doneBits >> UInt64(shift)
            self.doneBase += shift
        }
        self.doneBits |= 1 << UInt64(breakIndex - self.doneBase)
    }

    mutating func finish(_ index: Int) {
        self.markDone(self.work[index].breakIndex)
        self.work.swapAt(index, self.work.count - 1)
        self.work.removeLast()
    }
}

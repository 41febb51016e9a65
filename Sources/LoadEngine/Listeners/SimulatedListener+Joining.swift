// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

// Joining.
extension SimulatedListener {
    mutating func joined(
        _ range: Range<Int>,
        in frame: Span<UInt8>,
        answered: Timestamp,
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
        let asked = self.asksForPush(in: world)
        guard join.pushed || !asked else { return self.fallBack(now: now, in: &world) }
        // Its own connection is the proof: whichever gateway answers sends the notices too.
        if asked { self.instance = join.instance }
        guard join.instance == self.instance else {
            // Another run of the gateway answered: the subscription must be proven again.
            self.phase = .proving
            self.phaseDeadline = now + world.behaviour.proofTimeout
            return .subscribeSync
        }
        guard join.pushed == asked, self.isConsistent(join, notices) else {
            world.statistics.findings.add(
                .wrongJoins,
                "listener \(self.number): kind \(join.kind), head \(join.head), \(notices.count) notices"
            )
            self.last = nil
            return self.losePosition(now: now, in: &world)
        }
        self.heard = now
        self.headInterval = min(max(join.headInterval, 100_000), 600_000_000)
        self.leaseGranted(join.leaseMilliseconds)
        if !join.ticket.isEmpty { self.ticket = join.ticket.map { frame[$0] } }
        if !join.alternatives.isEmpty {
            let texts = join.alternatives.map { range in String(decoding: range.map { frame[$0] }, as: UTF8.self) }
            self.learn(PlayerAddress.readable(texts, atMost: WireLimits.alternativesMax), in: &world)
        }
        self.count(join, now: now, world: &world)
        if case .gap(let missing) = self.order.joined(join.head) {
            self.missed(missing, before: join.head, in: &world)
        }
        world.statistics.counts.noticesRecovered += join.kind == Self.recovered ? notices.count : 0
        self.phase = .following
        if self.joinedAt == nil { self.joinedAt = answered }
        self.isPushed = asked
        self.isExcused = false
        for notice in notices {
            let facts = world.streams[Int(self.stream)].facts(of: notice)
            self.take(facts, isLate: true, now: now, in: &world)
        }
        self.last = join.head
        world.streams[Int(self.stream)].saw(join.head)
        return self.takeEarly(now: now, in: &world)
    }

    /// The session counts as listening for so long after each request: at least two fit in.
    ///
    /// Up to a quarter sooner, by session, so that thousands that asked for one break together do not ask together again.
    private mutating func leaseGranted(_ milliseconds: UInt32) {
        let (half, sooner) = (milliseconds / 2, self.session.low % UInt64(milliseconds / 8 + 1))
        self.renewalMilliseconds = milliseconds > 0 ? max(half - UInt32(sooner), Self.renewalMillisecondsMin) : 0
    }

    /// However short a lease is.
    private static let renewalMillisecondsMin: UInt32 = 1_000

    /// The gateway does not push: notices need a connection of their own, whose subscription is proven before another join.
    private mutating func fallBack(now: Microseconds, in world: inout LoadWorld) -> Actions {
        world.statistics.counts.fellBack += 1
        self.fellBack = true
        self.isPushed = false
        self.phase = .connecting
        self.phaseDeadline = now + world.behaviour.connectTimeout
        return .connectNotices
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

    private mutating func count(_ join: ScannedJoin, now: Microseconds, world: inout LoadWorld) {
        world.statistics.second(now) { $0.joins += 1 }
        guard !self.hasJoined else {
            world.statistics.counts.rejoined += 1
            if self.lostAt != .max, !self.isUnmeasured {
                world.statistics.away.record(intended: self.lostAt, began: self.openBegan, ended: now)
            }
            self.lostAt = .max
            return
        }
        world.statistics.counts.joined += 1
        if join.pushed { world.statistics.counts.pushed += 1 }
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

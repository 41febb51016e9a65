// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// One simulated listener: what a player does, as decisions without clock and I/O.
///
/// The driver passes in what happened and when, does what `Actions` say in the order in which they are declared, and calls
/// `woke` when `deadline` is reached. It makes no allocation for a notice, a batch or an acknowledgement once it has done the
/// first of each: there are thousands of it in one process.
///
/// ```
/// idle → connecting → proving → joining → following ⇄ rejoining
///             ↑__________ waiting _________|__________|        following → leaving → gone
/// ```
///
/// With one connection nothing is to be proven: `connecting → joining`. A gateway that does not push answers without
/// saying so; then the second connection is made, and it goes on as with two.
package struct SimulatedListener: Sendable {
    /// The actions to perform for a listener.
    package struct Actions: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Give up all connections.
        package static let disconnect = Actions(rawValue: 1 << 0)
        /// Make both connections: one for notices, one for requests.
        package static let connect = Actions(rawValue: 1 << 1)
        /// Subscribe to the stream.
        package static let subscribe = Actions(rawValue: 1 << 2)
        /// Subscribe to `~sync`: after the stream, for that order is the proof.
        package static let subscribeSync = Actions(rawValue: 1 << 3)
        package static let unsubscribeSync = Actions(rawValue: 1 << 4)
        /// Send what `write(into:)` writes.
        package static let send = Actions(rawValue: 1 << 5)
        /// Stop reading.
        package static let pause = Actions(rawValue: 1 << 6)
        /// Read again.
        package static let resume = Actions(rawValue: 1 << 7)
        /// Make the one connection that takes requests and brings notices.
        package static let connectOne = Actions(rawValue: 1 << 8)
        /// Make a connection for notices beside the one that there is.
        package static let connectNotices = Actions(rawValue: 1 << 9)
    }

    package enum Phase: UInt8, Hashable, Sendable {
        case idle
        case connecting
        /// Both subscriptions are made; a tick is awaited.
        case proving
        case joining
        case following
        /// The position was lost; other requests wait.
        case rejoining
        /// The next try to connect waits for `phaseDeadline`.
        case waiting
        case gone
    }

    /// The work of a listener for one break.
    struct Work: Sendable {
        enum State: UInt8, Sendable {
            /// The batch is to be asked for at `due`.
            case fetch
            /// The outcomes are to be told at `due`.
            case acknowledge
        }

        var breakIndex: Int32
        var state = State.fetch
        /// When to act.
        var due: Microseconds
        /// When it was meant to happen at first; a retry does not change it.
        var intended: Microseconds
        var failures: UInt8 = 0
        /// It was learned from the answer to a join: the break may be over before its batch is asked for.
        var isLate: Bool
        /// The break was cancelled after its batch had come.
        var isWithdrawn = false
        /// The first advertisement of the batch, and how many there are.
        var first: UInt8 = 0
        var count: UInt8 = 0
        var delivery = Delivery()
        /// When the break starts and when it is over, by the last notice; a cued break has no start.
        var start: Timestamp?
        var expires: Timestamp
        /// It is played as soon as its batch is there, although it has no start.
        var isPreStream: Bool
        /// When playing begins, and how long it takes. (µs)
        var begins: Microseconds = 0
        var playing: Microseconds = 0

        /// Its batch is there, and its start is not announced yet: players hold it.
        var isHeld: Bool { self.state == .acknowledge && self.begins == .max }
    }

    enum Request: UInt8, Sendable {
        case none
        case join
        case batch
        case acknowledge
        /// The gateway's time, only so that the session goes on counting as listening.
        case time
        case leave
    }

    package let number: Int32
    package let stream: Int32
    package internal(set) var session: SessionID
    package internal(set) var phase = Phase.idle
    /// The last position that was applied.
    package internal(set) var last: Position?
    var source: SeededSource

    // The connection.
    var instance: UInt64 = 0
    /// The gateway sends notices on the connection of the requests: its last answer to a join said so.
    package internal(set) var isPushed = false
    /// The gateway was asked for it on this attempt, and does not.
    var fellBack = false
    var phaseDeadline: Microseconds = .max
    /// When it was meant to be opened, and when it was.
    var openIntended: Microseconds = 0
    var openBegan: Microseconds = 0
    var connectedAt: Microseconds = 0
    /// When it lost its connection and had joined before; `.max`: it has it, or has joined again since.
    var lostAt: Microseconds = .max
    /// The number of the gateway that it connects to, in `LoadWorld.places`.
    package internal(set) var place: UInt8 = 0
    /// The other gateways that it was told of, the one to try first at the beginning.
    var named: [UInt8] = []
    /// When it leaves for another gateway, because its own asks for that.
    var moveAt: Microseconds = .max
    var failures: UInt8 = 0
    var unanswered: UInt8 = 0
    /// How long after its last request the next one is made, so that its lease does not end; 0: it has none. (ms)
    var renewalMilliseconds: UInt32 = 0
    var heard: Microseconds = 0
    var headInterval: Microseconds = 5_000_000
    var order = NoticeOrder()
    var ticket: [UInt8] = []

    // Requests: one at a time, as REQ has it.
    var request = Request.none
    /// The break that the request is about.
    var requestBreak: Int32 = -1
    var requestID: UInt64 = 0
    var requestSent: Microseconds = 0
    var requestDeadline: Microseconds = .max
    /// A reply to an earlier request of this connection may still come.
    var mayHaveStrays = false
    var joinDue: Microseconds = 0
    var work: [Work] = []
    /// Breaks before this index, and those whose bit is set after it, need nothing any more.
    var doneBase: Int32 = 0
    var doneBits: UInt64 = 0
    /// Notices that came while a join was under way.
    var early: [NoticeFacts] = []

    // Events of a listener.
    var stalledUntil: Microseconds?
    /// It has stopped reading since the last join: what it missed is no fault of the gateway.
    var isExcused = false
    /// When it read again after it had stopped.
    var resumedAt: Microseconds = .max
    /// It belongs to those that stall: its latencies are not the gateway's.
    package var isUnmeasured = false
    package internal(set) var isLeaving = false
    /// When the gateway answered the first join of this session, by the gateway's clock.
    package internal(set) var joinedAt: Timestamp?

    /// - Parameters:
    ///   - number: its number in the process, for messages.
    ///   - stream: the number of its stream in `LoadWorld.streams`.
    ///   - seed: the seed of its session and its waits.
    package init(number: Int32, stream: Int32, seed: UInt64) {
        self.number = number
        self.stream = stream
        self.source = SeededSource(seed: StableHash.mixed(seed) ^ UInt64(truncatingIfNeeded: number))
        self.session = SessionID(high: self.source.next(), low: self.source.next())
    }

    /// Whether nothing is left to do but to follow: at its stream's head, with every batch acknowledged that is not held.
    package func isSettled(in world: LoadWorld) -> Bool {
        self.phase == .gone
            || (self.phase == .following && self.request == .none && self.work.allSatisfy(\.isHeld)
                && (world.streams[Int(self.stream)].head.map { $0 == self.last } ?? true))
    }

    /// Whether requests about breaks are still to come or under way.
    package var hasWork: Bool {
        !self.work.allSatisfy(\.isHeld) || self.request == .batch || self.request == .acknowledge
    }

    package var isStalled: Bool { self.stalledUntil != nil }

    /// Whether it has joined at least once in this session.
    package var hasJoined: Bool { self.joinedAt != nil }
}

// Opening, losing and leaving.
extension SimulatedListener {
    /// Begins to listen; `intended` says when it was meant to.
    package mutating func open(intended: Microseconds, now: Microseconds, in world: inout LoadWorld) -> Actions {
        guard self.phase == .idle || self.phase == .gone else { return [] }
        self.openIntended = intended
        return self.connect(now: now, in: &world)
    }

    private mutating func connect(now: Microseconds, in world: inout LoadWorld) -> Actions {
        self.phase = .connecting
        self.openBegan = now
        self.phaseDeadline = now + world.behaviour.connectTimeout
        self.order = NoticeOrder()
        self.isPushed = false
        self.fellBack = false
        return world.behaviour.push ? .connectOne : .connect
    }

    /// Whether the answer to the next join is to say that notices come on its connection.
    func asksForPush(in world: LoadWorld) -> Bool { world.behaviour.push && !self.fellBack }

    /// All connections are there.
    package mutating func connected(now: Microseconds, in world: inout LoadWorld) -> Actions {
        guard self.phase == .connecting else { return [] }
        if !self.fellBack {
            world.statistics.counts.connected += 1
            self.connectedAt = now
            if !self.isUnmeasured, !self.hasJoined {
                world.statistics.connect.record(intended: self.openIntended, began: self.openBegan, ended: now)
            }
        }
        guard !self.asksForPush(in: world) else {
            self.phase = .joining
            self.phaseDeadline = .max
            self.joinDue = now
            return self.pump(now: now, in: &world)
        }
        self.phase = .proving
        self.phaseDeadline = now + world.behaviour.proofTimeout
        return [.subscribe, .subscribeSync]
    }

    /// A connection is gone, or could not be made.
    package mutating func disconnected(now: Microseconds, in world: inout LoadWorld) -> Actions {
        switch self.phase {
        case .idle, .waiting, .gone: return []
        case .connecting, .proving, .joining, .following, .rejoining: return self.lose(now: now, in: &world)
        }
    }

    mutating func lose(leaves: Bool = false, now: Microseconds, in world: inout LoadWorld) -> Actions {
        world.statistics.counts.connectionsLost += 1
        // One whose connection ends before its moment moves too.
        if self.moveAt != .max { world.statistics.counts.moved += 1 }
        // A connection that is lost again before it could join makes the listener's absence no shorter.
        if self.hasJoined, self.lostAt == .max { self.lostAt = now }
        // One that was good is tried again first: it may only be restarting.
        self.choosePlace(leaves: leaves || self.failures > 0 || self.phase == .connecting)
        self.phase = .waiting
        self.phaseDeadline = self.moveAt == .max ? now + self.backoff(in: world) : max(now, self.moveAt)
        self.moveAt = .max
        self.early.removeAll(keepingCapacity: true)
        // The gateway may have taken the request all the same.
        if let index = self.work.firstIndex(where: { $0.breakIndex == self.requestBreak }) {
            self.work[index].failures = max(1, self.work[index].failures)
        }
        self.abandonRequest()
        self.unanswered = 0
        self.mayHaveStrays = false
        self.stalledUntil = nil
        return .disconnect
    }

    /// Stops reading for a while, as a player does that is suspended.
    package mutating func stall(until: Microseconds, now: Microseconds, in world: inout LoadWorld) -> Actions {
        guard self.phase == .following, self.stalledUntil == nil, until > now else { return [] }
        world.statistics.counts.stalls += 1
        self.stalledUntil = until
        self.isExcused = true
        self.resumedAt = .max
        return .pause
    }

    /// Ends this session: what is open is told first, then it says that it leaves.
    package mutating func leave(now: Microseconds, in world: inout LoadWorld) -> Actions {
        guard self.phase == .following || self.phase == .rejoining || self.phase == .joining else { return [] }
        self.isLeaving = true
        // What it never asked for, it never had; an answer that is missing may still count at the gateway.
        self.work.removeAll { each in
            each.state == .fetch && each.failures == 0 && each.breakIndex != self.requestBreak
        }
        return self.pump(now: now, in: &world)
    }

    /// Forgets the session that left, and is ready to `open` as another one.
    package mutating func renew() {
        guard self.phase == .gone else { return }
        let excused = self.isUnmeasured
        var next = SimulatedListener(number: self.number, stream: self.stream, seed: 0)
        next.source = self.source
        next.session = SessionID(high: next.source.next(), low: next.source.next())
        next.isUnmeasured = excused
        swap(&next.work, &self.work)
        next.work.removeAll(keepingCapacity: true)
        next.requestID = self.requestID
        self = next
    }

    /// Full jitter, so that listeners that lost a gateway together do not come back together (Brooker, "Exponential
    /// Backoff and Jitter", 2015).
    mutating func backoff(in world: LoadWorld) -> Microseconds {
        let limit = min(world.behaviour.retryFirst << Microseconds(min(self.failures, 20)), world.behaviour.retryMax)
        if self.failures < .max { self.failures += 1 }
        return self.source.microseconds(upTo: limit)
    }

    mutating func finishSession() -> Actions {
        self.phase = .gone
        self.phaseDeadline = .max
        self.requestDeadline = .max
        self.early.removeAll(keepingCapacity: true)
        return .disconnect
    }
}

// Time.
extension SimulatedListener {
    /// When `woke` has something to do; `.max`: when something else happens.
    package var deadline: Microseconds {
        if let stalledUntil { return stalledUntil }
        var next = self.moveAt
        switch self.phase {
        case .idle, .gone: return .max
        case .connecting, .proving, .waiting: return self.phaseDeadline
        case .joining, .rejoining:
            next = min(next, self.request == .none ? self.joinDue : self.requestDeadline)
            if self.phase == .rejoining { next = min(next, self.silenceDeadline) }
        case .following:
            next = min(next, self.silenceDeadline, self.requestDeadline)
            if self.request == .none {
                for each in self.work { next = min(next, each.due) }
                next = min(next, self.renewalDue)
            }
        }
        return next
    }

    /// 2.5 intervals without even the head: the connection is lost.
    private var silenceDeadline: Microseconds { self.heard + self.headInterval / 2 * 5 }

    /// `deadline` is reached (or later, or sooner: then nothing happens).
    package mutating func woke(now: Microseconds, in world: inout LoadWorld) -> Actions {
        if let stalledUntil {
            guard now >= stalledUntil else { return [] }
            self.stalledUntil = nil
            self.heard = now
            self.resumedAt = now
            if self.request != .none { self.requestDeadline = now + world.behaviour.requestTimeout }
            return self.pump(now: now, in: &world).union(.resume)
        }
        switch self.phase {
        case .idle, .gone: return []
        case .connecting, .proving: return now >= self.phaseDeadline ? self.lose(now: now, in: &world) : []
        case .waiting: return now >= self.phaseDeadline ? self.connect(now: now, in: &world) : []
        case .joining, .following, .rejoining:
            if now >= self.moveAt { return self.lose(now: now, in: &world) }
            if self.phase != .joining, now >= self.silenceDeadline { return self.lose(now: now, in: &world) }
            if self.request != .none, now >= self.requestDeadline {
                if let lost = self.timedOut(now: now, in: &world) { return lost }
            }
            return self.pump(now: now, in: &world)
        }
    }
}

// The end of a run.
extension SimulatedListener {
    /// Finds fault with everything that this listener has not done: there is no more time.
    package func judgeEnd(in world: inout LoadWorld) {
        let stream = world.streams[Int(self.stream)]
        if self.phase != .following || stream.head.map({ $0 != self.last }) ?? false {
            let place = self.last.map { "at \($0)" } ?? "nowhere"
            let head = stream.head.map { ", the head is \($0)" } ?? ""
            world.statistics.findings.add(
                .listenersBehind,
                "listener \(self.number) of \(stream.id) is \(self.phase), \(place)\(head)"
            )
        }
        for each in self.work where !each.isHeld {
            let text =
                "listener \(self.number), break \(stream.breaks[Int(each.breakIndex)].id) of \(stream.id): no answer"
            switch each.state {
            case .fetch: world.statistics.findings.add(.batchesMissing, text)
            case .acknowledge: world.statistics.findings.add(.acknowledgementsMissing, count: Int(each.count), text)
            }
        }
    }

    /// Finds fault with breaks of ours that this listener never heard of, although it was there when they were published.
    ///
    /// A break that was over when the gateway answered its first join is no fault: a slow machine may take longer for a join
    /// than a break lasts. Where another process publishes, a break that no listener here has seen may have been refused:
    /// that process judges it.
    package func judgeBreaks(in world: inout LoadWorld, trustsPublication: Bool) {
        let stream = world.streams[Int(self.stream)]
        for (index, each) in stream.breaks.enumerated() where each.isDue && !each.isRefused {
            guard trustsPublication || each.tally.notices > 0 || each.tally.batches > 0 else { continue }
            guard let planned = each.plannedPublication, planned > self.connectedAt, !self.isDone(Int32(index)) else {
                continue
            }
            guard !self.work.contains(where: { $0.breakIndex == Int32(index) }) else { continue }
            if let joinedAt, let expires = each.expires, expires <= joinedAt { continue }
            world.statistics.findings.add(
                .noticesLost,
                "listener \(self.number) never heard of the break \(each.id) of \(stream.id)"
            )
        }
    }

    /// Ends without another word.
    package mutating func giveUp() {
        self.work.removeAll()
        _ = self.finishSession()
    }
}

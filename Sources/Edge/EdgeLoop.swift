// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
internal import NetworkIO
internal import ZMTP

/// The listeners' connections, on one thread: ZMTP in, answers and notices out.
///
/// ```swift
/// let inbox = try EdgeInbox(clock: { clock.now() })
/// let poller = try Poller.makeDescriptor()
/// // On a thread of its own:
/// let loop = EdgeLoop(doors: doors, inbox: inbox, poller: poller, settings: settings, …)
/// loop.run(for: delegate)  // until somebody calls inbox.stop()
/// ```
///
/// All connections read into one buffer. A connection keeps only what came of a frame that is not there in full and what the
/// kernel did not take; notices wait in the ring of their stream (``NoticeRing``), once for all.
///
/// A peer can make nobody wait for longer than what one read of its bytes takes: whoever sends too much is read from later, and so is whoever
/// does not take its answers. Whoever takes nothing for long is closed (``EdgeSettings``).
///
/// Everything happens on the thread that calls `run`: a loop is not `Sendable`.
package final class EdgeLoop {
    /// A stream that a connection hears.
    struct Subscription {
        let stream: EdgeStream
        var cursor: NoticeCursor
        /// Its place among the stream's subscribers.
        var place: Int
        /// Whether the kernel did not take all that waited.
        var isBehind = false
        /// Who joined on the connection itself; `nil`: it subscribed.
        var session: SessionID?
    }

    /// Why a connection is not read from.
    struct Pause: OptionSet {
        let rawValue: UInt8
        /// It sends more than it may.
        static let throttled = Pause(rawValue: 1)
        /// It does not take its answers.
        static let unread = Pause(rawValue: 2)
        /// Too many of its requests wait for the event log.
        static let waiting = Pause(rawValue: 4)
    }

    struct Slot {
        enum Phase {
            case free
            case handshake
            case ready
        }

        var phase = Phase.free
        /// By which door it came.
        var door: UInt8 = 0
        var pause: Pause = []
        /// What the poller looks for.
        var looksForReading = true
        var looksForWriting = false
        /// Whether it has asked for anything, or subscribed to something.
        var isUsed = false
        var descriptor: Int32 = -1
        /// Counts the connections that had this slot.
        var generation: UInt32 = 0
        /// Its place among those that hear ticks; below zero: it hears none.
        var tickPlace: Int32 = -1
        /// How many of its requests are answered later.
        var waitingCount: UInt32 = 0
        /// The messages that it may send, and the sessions that it may begin.
        var messages = RateBucket(RateBucket.Limit(atOnce: 0, perSecond: 0), at: 0)
        var sessions = RateBucket(RateBucket.Limit(atOnce: 0, perSecond: 0), at: 0)
        /// What all connections of its address have taken; `nil`: those are not limited.
        var shared: EdgeAddress?
        /// When it was accepted, or its handshake was done, in nanoseconds.
        var since: UInt64 = 0
        /// Whether it takes what waits for it.
        var taking = TakingWatch()
        var address = PeerAddress()
        var connection = EdgeConnection()
        var subscriptions: [Subscription] = []
        /// What came and was not handled: of a frame that is not there in full, or while it is not read from.
        var input: [UInt8] = []
        /// What the kernel did not take yet.
        var output: [UInt8] = []
        /// How much of it is sent.
        var outputSent = 0

        /// What it has to itself, in bytes.
        var bytesHeld: Int { self.input.count + self.output.count }
    }

    /// How many bytes one read takes.
    private static let readBytesMax = 32_768
    /// For so long what came is handled before notices and timers have their turn, in nanoseconds.
    private static let readingTurn: UInt64 = 2_000_000
    /// So many writes of a round of notices are made before what came has its turn.
    private static let writesPerTurn = 512
    /// So many connections are accepted in one go.
    private static let acceptsPerTurn = 128
    private static let second: UInt64 = 1_000_000_000

    var settings: EdgeSettings
    let metrics: MetricRegistry
    let counting: any ConnectionCounting
    let inbox: EdgeInbox
    private let doors: [EdgeDoor]
    private var isAccepting = false
    private var hasStopped = false

    var poller: Poller
    var slots: [Slot] = []
    private var freeSlots: [UInt32] = []
    private var addresses: EdgeAddresses
    /// The limits of messages and sessions: of a connection, of an address, and of all.
    let connectionMessages: RateBucket.Limit
    let connectionSessions: RateBucket.Limit
    let addressMessages: RateBucket.Limit
    let addressSessions: RateBucket.Limit
    let allMessages: RateBucket.Limit
    /// What all connections have taken.
    var messages: RateBucket
    /// Looked at once a minute: addresses that have gone.
    private var nextMinute: UInt64
    /// What all connections read into.
    var buffer: [UInt8]
    /// The request at hand.
    var request: [UInt8] = []
    /// Answers to one connection, which go out as one write.
    var scratch: [UInt8] = []
    /// Whose they are.
    var scratchOwner = -1
    /// Connections that may be read from again, and have something that was not handled.
    var resumable: [EdgePeer] = []
    /// Connections that sent too much.
    var throttled: [EdgePeer] = []
    /// What waits for all peers, in bytes; beside rings.
    var bytesHeld = 0

    var streams: [StreamID: EdgeStream] = [:]
    /// What their rings hold.
    let rings = EdgeStream.Total()
    /// How much of it the metric knows.
    private var ringBytesTold = 0
    /// Those with a round to go on with.
    var rounds: [EdgeStream] = []
    /// The first of them; those before are done.
    var roundsNext = 0
    /// Slots of the connections that hear ticks.
    var ticking: [UInt32] = []
    var tickCounter: UInt64 = 0
    /// What was sent last, which is what a head notice may tell: the board may be ahead.
    var sent: [StreamID: UInt64]
    var heads: HeadSchedule
    private var nextTick: UInt64
    private var nextSecond: UInt64
    /// Monotonic time, in nanoseconds, as it was read last.
    var now = System.monotonicNanoseconds()
    let repliesGone: MetricRegistry.Cell
    /// Connections that notices are pushed to, of all loops.
    let pushed: MetricRegistry.Cell
    private let ringBytes: MetricRegistry.Cell
    unowned var delegate: any EdgeDelegate

    /// - Parameters:
    ///   - doors: where connections come in; closed at the end.
    ///   - inbox: how other threads reach it.
    ///   - poller: what `Poller.makeDescriptor` gave; closed at the end.
    ///   - settings: limits and times.
    ///   - sequences: the newest notice of each stream that was sent before.
    ///   - metrics: counts what happens.
    ///   - counting: counts connections of all entrances.
    ///   - delegate: decides what is answered; outlives the loop.
    package init(
        doors: [EdgeDoor],
        inbox: EdgeInbox,
        poller: Int32,
        settings: EdgeSettings,
        sequences: [StreamID: UInt64],
        metrics: MetricRegistry,
        counting: any ConnectionCounting,
        delegate: any EdgeDelegate
    ) {
        self.connectionMessages = .rate(settings.messagesPerConnectionPerSecondMax)
        self.connectionSessions = .count(settings.sessionsPerConnectionMax, within: settings.lease)
        self.addressMessages = .rate(settings.messagesPerAddressPerSecondMax)
        self.addressSessions = .count(settings.sessionsPerAddressMax, within: settings.lease)
        self.allMessages = .rate(settings.messagesPerSecondMax)
        self.messages = RateBucket(self.allMessages, at: self.now)
        self.addresses = EdgeAddresses(
            messages: self.addressMessages,
            sessions: self.addressSessions,
            memory: settings.lease
        )
        self.nextMinute = self.now
        self.doors = doors
        self.inbox = inbox
        self.poller = Poller(adopting: poller)
        self.settings = settings
        self.sent = sequences
        self.metrics = metrics
        self.counting = counting
        self.delegate = delegate
        self.buffer = [UInt8](
            repeating: 0,
            count: EdgeSettings.requestBytesMax + ZMTPLimits.frameHeaderBytesMax + 2 * Self.readBytesMax
        )
        // Bounded by what connections may subscribe to, so that nobody can take all the places.
        self.heads = HeadSchedule(interval: settings.headInterval, streamsMax: .max)
        self.nextTick = self.now
        self.nextSecond = self.now + Self.second
        self.repliesGone = metrics.cell(.repliesDropped, .peerGone)
        self.pushed = metrics.cell(.pushedConnections)
        self.ringBytes = metrics.cell(.ringBytes)
    }

    /// Serves until somebody calls ``EdgeInbox/stop()``.
    package func run() {
        _ = self.poller.add(self.inbox.wakeUp, key: Self.inboxKey, reading: true, writing: false)
        self.setAccepting(true)
        while !self.hasStopped {
            self.inbox.countRound()
            let count = self.wait()
            let began = System.monotonicNanoseconds()
            self.now = began
            self.read(count, began: began)
            self.resume()
            self.flushScratch()
            self.delegate.passEnded(in: self)
            self.flushScratch()
            self.takeInbox()
            self.goOnWithRounds(writesMax: Self.writesPerTurn)
            self.lookAtTime()
        }
        self.end()
    }

    // MARK: - One round

    private func wait() -> Int {
        let isBusy = !self.rounds.isEmpty || !self.resumable.isEmpty
        let next = min(self.nextTick, self.nextSecond)
        let wait = isBusy || next <= self.now ? 0 : next - self.now
        do throws(SystemCallError) {
            return try self.poller.wait(nanoseconds: wait)
        } catch {
            // It fails for a descriptor that is none, or memory that is not ours: nothing can go on.
            fatalError("the edge cannot wait for connections: \(error)")
        }
    }

    private func read(_ count: Int, began: UInt64) {
        var turn = began
        for number in 0..<count {
            let event = self.poller.event(number)
            if event.key == Self.inboxKey {
                System.resetWakeUp(self.inbox.wakeUp)
                continue
            }
            if event.key >= Self.doorKey {
                self.accept(Int(event.key - Self.doorKey))
                continue
            }
            self.handle(event)
            self.now = System.monotonicNanoseconds()
            // Notices do not wait for everybody's requests.
            if self.now - turn > Self.readingTurn {
                self.flushScratch()
                self.takeInbox()
                self.goOnWithRounds(writesMax: Self.writesPerTurn)
                turn = System.monotonicNanoseconds()
            }
        }
    }

    private func handle(_ event: Poller.Event) {
        let index = Int(UInt32(truncatingIfNeeded: event.key))
        // An earlier event of the same wait may have ended it.
        guard self.slots[index].generation == UInt32(truncatingIfNeeded: event.key >> 32) & Self.generationMask,
            self.slots[index].phase != .free
        else { return }
        let generation = self.slots[index].generation
        if event.isWritable { self.writable(index) }
        guard event.isReadable, self.slots[index].generation == generation else { return }
        if self.slots[index].pause.isEmpty {
            self.readable(index)
        } else if event.hasEnded {
            self.close(index)
        }
        // Else something came before the connection was paused in this round. The poller tells of it again once it is looked for.
    }

    private func takeInbox() {
        let content = self.inbox.take()
        if !content.notices.isEmpty { self.append(content.notices) }
        for waiter in content.waiters { waiter.resume() }
        if content.isPoked {
            self.delegate.poked(in: self)
            self.flushScratch()
        }
        if let accepts = content.accepts { self.setAccepting(accepts) }
        if content.isStopped { self.hasStopped = true }
    }

    private func lookAtTime() {
        self.now = System.monotonicNanoseconds()
        if self.now >= self.nextTick {
            self.nextTick = self.now + UInt64(self.settings.syncInterval.inMicroseconds) * 1_000
            self.tick()
            self.sendHeads()
            self.endThrottling()
        }
        if self.now >= self.nextSecond {
            self.nextSecond = self.now + Self.second
            self.lookAtDeadlines()
            self.delegate.keepHouse(in: self)
            self.flushScratch()
            self.metrics.set(.bytesWaiting, to: self.bytesHeld)
            self.ringBytes.add(self.rings.bytes - self.ringBytesTold)
            self.ringBytesTold = self.rings.bytes
            if self.now >= self.nextMinute {
                self.nextMinute = self.now + 60 * Self.second
                self.addresses.forgetOld(at: self.now)
            }
        }
    }

    // MARK: - Connections

    private static let inboxKey = UInt64.max
    /// Keys from here on are doors; a connection's are below.
    private static let doorKey = UInt64.max - 256
    /// Generations stay below what would make a connection's key a door's.
    private static let generationMask: UInt32 = 0x7FFF_FFFF

    func key(of index: Int) -> UInt64 { UInt64(self.slots[index].generation) << 32 | UInt64(index) }

    func peer(at index: Int) -> EdgePeer {
        EdgePeer(index: UInt32(index), generation: self.slots[index].generation)
    }

    /// The place of a connection that has not ended.
    func index(of peer: EdgePeer) -> Int? {
        let index = Int(peer.index)
        return self.slots[index].generation == peer.generation && self.slots[index].phase != .free ? index : nil
    }

    private func setAccepting(_ accepts: Bool) {
        guard accepts != self.isAccepting else { return }
        self.isAccepting = accepts
        for (number, door) in self.doors.enumerated() {
            let key = Self.doorKey + UInt64(number)
            // Level-triggered: what waits at a door that nobody looks at stays there.
            _ =
                self.poller.change(door.descriptor, key: key, reading: accepts, writing: false) == 0
                || self.poller.add(door.descriptor, key: key, reading: accepts, writing: false) == 0
        }
    }

    private func accept(_ number: Int) {
        let door = self.doors[number]
        for _ in 0..<Self.acceptsPerTurn where self.isAccepting {
            let (descriptor, address) = System.accept(door.descriptor)
            guard descriptor >= 0 else {
                if System.hasNoDescriptor(descriptor) {
                    self.setAccepting(false)
                    self.counting.acceptFailed()
                }
                return
            }
            var shared: EdgeAddress?
            if self.settings.limitsOwnMachine || !address.isLoopback {
                let connectionsMax = self.settings.connectionsPerAddressMax
                shared = self.addresses.admit(address, connectionsMax: connectionsMax, at: self.now)
                guard shared != nil else {
                    System.close(descriptor)
                    self.count(.address, peer: address, on: door.label)
                    continue
                }
            }
            self.open(descriptor, address, shared, door: number)
            if !self.counting.accepted(on: door.label) { self.setAccepting(false) }
        }
    }

    private func open(_ descriptor: Int32, _ address: PeerAddress, _ shared: EdgeAddress?, door: Int) {
        let index: Int
        if let free = self.freeSlots.popLast() {
            index = Int(free)
        } else {
            index = self.slots.count
            self.slots.append(Slot())
        }
        self.slots[index].phase = .handshake
        self.slots[index].door = UInt8(door)
        self.slots[index].descriptor = descriptor
        self.slots[index].address = address
        self.slots[index].shared = shared
        self.slots[index].messages = RateBucket(self.connectionMessages, at: self.now)
        self.slots[index].sessions = RateBucket(self.connectionSessions, at: self.now)
        self.slots[index].since = self.now
        if self.poller.add(descriptor, key: self.key(of: index), reading: true, writing: false) != 0 {
            return self.close(index)
        }
        let greeting = self.slots[index].connection.greeting
        self.write(greeting.span, index)
    }

    /// Closes a connection because of what its peer did or did not do.
    func close(_ index: Int, _ reason: EdgeClosing) {
        let (address, door) = (self.slots[index].address, Int(self.slots[index].door))
        self.close(index)
        self.count(reason, peer: address, on: self.doors[door].label)
    }

    private func count(_ reason: EdgeClosing, peer: PeerAddress, on label: MetricLabel) {
        self.metrics.count(.connectionsClosed, reason.metricLabel)
        if let limit = reason.limit { self.metrics.count(.limitsHit, .limit(limit)) }
        self.delegate.tell(.closed(reason, peer: peer, on: label))
    }

    /// Ends a connection; its slot is free for another one.
    func close(_ index: Int) {
        guard self.slots[index].phase != .free else { return }
        if self.scratchOwner == index {
            self.scratch.removeAll(keepingCapacity: true)
            self.scratchOwner = -1
        }
        while let subscription = self.slots[index].subscriptions.last { self.unsubscribe(index, subscription.stream) }
        self.endTicks(index)
        System.close(self.slots[index].descriptor)
        let address = self.slots[index].address
        if let shared = self.slots[index].shared { self.addresses.leave(address, shared, at: self.now) }
        self.bytesHeld -= self.slots[index].bytesHeld
        let (door, generation) = (self.slots[index].door, self.slots[index].generation)
        self.slots[index] = Slot()
        self.slots[index].generation = (generation &+ 1) & Self.generationMask
        self.freeSlots.append(UInt32(index))
        self.counting.ended(on: self.doors[Int(door)].label)
    }

    func label(of index: Int) -> MetricLabel { self.doors[Int(self.slots[index].door)].label }

    /// Has the poller look for what is wanted now.
    func watch(_ index: Int) {
        let reads = self.slots[index].pause.isEmpty
        let writes = self.slots[index].taking.isWaiting
        guard reads != self.slots[index].looksForReading || writes != self.slots[index].looksForWriting else { return }
        self.slots[index].looksForReading = reads
        self.slots[index].looksForWriting = writes
        let descriptor = self.slots[index].descriptor
        if self.poller.change(descriptor, key: self.key(of: index), reading: reads, writing: writes) != 0 {
            self.close(index)
        }
    }

    /// Closes those who are too late with something.
    private func lookAtDeadlines() {
        let handshake = UInt64(self.settings.handshakeTimeout.inMicroseconds) * 1_000
        let unused = UInt64(self.settings.unusedTimeout.inMicroseconds) * 1_000
        let stalled = UInt64(self.settings.stalledTimeout.inMicroseconds) * 1_000
        let slow = stalled * UInt64(self.settings.stalledTimeoutsMax)
        for index in self.slots.indices {
            let since = self.slots[index].since
            switch self.slots[index].phase {
            case .free: continue
            case .handshake: if self.now >= since + handshake { self.close(index, .handshake) }
            case .ready:
                if let lateness = self.slots[index].taking.lateness(at: self.now, stalled: stalled, slow: slow) {
                    self.close(index, lateness)
                } else if !self.slots[index].isUsed, self.now >= since + unused {
                    self.close(index, .unused)
                }
            }
        }
    }

    /// Closes whoever holds most while all together hold too much.
    func boundBytes() {
        while self.bytesHeld > self.settings.bytesWaitingMax,
            let largest = self.slots.indices.max(by: { self.slots[$0].bytesHeld < self.slots[$1].bytesHeld }),
            self.slots[largest].bytesHeld > 0
        {
            self.close(largest, .memory)
        }
    }

    // MARK: - The end

    /// Sends what was answered and what the rings hold, and closes everything.
    private func end() {
        self.setAccepting(false)
        self.takeInbox()
        self.goOnWithRounds(writesMax: .max)
        self.flushScratch()
        let deadline = System.monotonicNanoseconds() + UInt64(self.settings.lingerMax.inMicroseconds) * 1_000
        while self.slots.contains(where: \.taking.isWaiting), System.monotonicNanoseconds() < deadline {
            guard let count = try? self.poller.wait(nanoseconds: 10_000_000) else { break }
            for number in 0..<count {
                let event = self.poller.event(number)
                let index = Int(UInt32(truncatingIfNeeded: event.key))
                guard event.key < Self.doorKey, event.isWritable, self.slots[index].phase != .free else { continue }
                self.writable(index)
            }
        }
        for index in self.slots.indices where self.slots[index].phase != .free {
            // What has come and was not read would make the kernel cut the connection, and what was sent might not arrive.
            while System.read(self.slots[index].descriptor, into: &self.buffer, at: 0, bytesMax: self.buffer.count) > 0
            {}
            self.close(index)
        }
        for door in self.doors { System.close(door.descriptor) }
        self.inbox.ended()
    }
}

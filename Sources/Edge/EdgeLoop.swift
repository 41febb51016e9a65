// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
internal import GatewayCore
internal import NetworkIO
internal import TLS
internal import ZMTP

/// Listeners' connections, on one thread: ZMTP in, answers and notices out.
///
/// ```swift
/// let shared = try EdgeShared(threads: 2, endpoints: endpoints, settings: settings, …)
/// // On a thread of its own, one for each loop:
/// let loop = EdgeLoop(number: 0, shared: shared, pollers: try .make(), …)
/// loop.run()  // until shared.stop() is called
/// ```
///
/// There may be several, each with connections of its own. The first one accepts them and hands them out in turn; a connection
/// stays with its loop.
///
/// The loop does the I/O and asks the delegate. Its parts own the state and decide: ``RunQueue`` which connection is served next,
/// ``ConnectionTable`` which place a connection has, ``Acceptor`` which loop gets it, ``Deadlines`` when it is late,
/// ``NoticeFanOut`` and ``EdgeStream`` which notices wait for it, ``MessageAllowance`` what it may send.
///
/// All connections read into one buffer (``ReadBuffers``). A connection keeps only what came of a frame that is not there in full
/// and what the kernel did not take; notices wait in the ring of their stream (``NoticeRing``), once for all.
///
/// A connection that sends more than it may is read from later, and so is one that does not take its answers. One that takes
/// nothing for long is closed (``EdgeSettings``).
///
/// Everything happens on the thread that calls `run`: a loop is not `Sendable`.
package final class EdgeLoop {
    /// The most events of deprioritised connections that are handled in one round.
    private static let asidePerTurn = 32
    /// So many subscribers of a stream have their turn before the next stream has one.
    static let subscribersPerTurn = 16

    let shared: EdgeShared
    let metrics: MetricRegistry
    /// What each connection may send.
    let limits: MessageAllowance.Limits
    unowned let delegate: any EdgeDelegate
    /// Which of the loops it is; the first one has the endpoints.
    let number: Int
    private var hasStopped = false
    /// How often the rules had changed by which connections were looked at last.
    private var rulesNumber = 0

    private var acceptor: Acceptor
    private var pollers: PollerPair
    private(set) var clock: LoopClock
    private var deadlines: Deadlines
    var connections = ConnectionTable()
    var runQueue = RunQueue()
    var buffers = ReadBuffers(requestBytesMax: EdgeSettings.requestBytesMax + ZMTPLimits.frameHeaderBytesMax)
    var answers = AnswerBuffer()
    var fanOut: NoticeFanOut
    var ticks = TickList()

    /// - Parameters:
    ///   - number: which of the loops it is, from 0.
    ///   - shared: what all loops have in common.
    ///   - pollers: what `Pollers.make` gave; closed at the end.
    ///   - sequences: the newest notice of each stream that was sent before.
    ///   - delegate: decides what is answered; outlives the loop.
    package init(
        number: Int,
        shared: EdgeShared,
        pollers: Pollers,
        sequences: [StreamID: UInt64],
        delegate: any EdgeDelegate
    ) {
        self.number = number
        self.shared = shared
        self.metrics = shared.metrics
        self.limits = MessageAllowance.Limits(shared.settings)
        self.delegate = delegate
        self.acceptor = Acceptor(shared)
        self.pollers = PollerPair(pollers)
        self.clock = LoopClock(tickInterval: shared.settings.syncInterval)
        self.deadlines = Deadlines(shared.settings)
        self.fanOut = NoticeFanOut(shared, sequences: sequences)
    }

    var settings: EdgeSettings { self.shared.settings }
    /// Monotonic time, in nanoseconds, as it was read last.
    var now: UInt64 { self.clock.now }
    private var inbox: EdgeInbox { self.shared.inboxes[self.number] }

    /// Serves until ``EdgeShared/stop()`` is called.
    package func run() {
        System.goFirst()
        self.pollers.begin(inbox: self.inbox.wakeUp)
        self.setAccepting(true)
        while !self.hasStopped {
            self.inbox.countRound()
            self.beginRound()
            while let step = self.runQueue.next(at: self.now) { self.perform(step) }
            self.lookAtTime()
        }
        self.end()
    }

    // MARK: - One round

    /// Waits until something is ready, and tells the run queue what is.
    private func beginRound() {
        let isBusy = self.runQueue.hasWork || self.deadlines.hasWork
        let eventsMax = self.runQueue.isMixed ? Poller.eventsMax : Poller.eventsUsual
        let count = Self.events(
            of: &self.pollers.main,
            nanoseconds: isBusy ? 0 : self.clock.idle,
            eventsMax: eventsMax
        )
        self.clock.read()
        self.runQueue.beginRound(at: self.now, isFull: count == eventsMax)
        for number in 0..<count {
            let event = self.pollers.main.event(number)
            switch event.key {
            case PollerPair.inboxKey: System.resetWakeUp(self.inbox.wakeUp)
            case PollerPair.asideKey: self.runQueue.foundAside()
            default: self.runQueue.found(number, self.finding(event), key: event.key, at: self.now)
            }
        }
    }

    private func finding(_ event: Poller.Event) -> RunQueue.Finding {
        if event.sendsNoMore { return .leaving }
        guard event.isReadable, let index = self.connections.place(of: event.key) else { return .busy }
        return self.connections.slots[index].allowance.isQuiet(self.limits, at: self.now) ? .quiet : .busy
    }

    private static func events(of poller: inout Poller, nanoseconds: UInt64, eventsMax: Int) -> Int {
        do throws(SystemCallError) {
            return try poller.wait(nanoseconds: nanoseconds, eventsMax: eventsMax)
        } catch {
            // It fails for a descriptor that is none, or memory that is not ours: nothing can go on.
            fatalError("the edge cannot wait for connections: \(error)")
        }
    }

    /// Does what the run queue orders, and reads the clock where that takes time.
    private func perform(_ step: RunQueue.Step) {
        switch step {
        case .handle(let number): self.handle(self.pollers.main.event(number))
        case .moveAside(let number): return self.moveAside(self.pollers.main.event(number))
        case .putOff(let number):
            if self.pollers.main.event(number).isReadable {
                self.metrics.count(.limitsHit, .limit(.lightMessagesPerSecondMax))
            }
            return
        case .lookAside: self.lookAside()
        case .handleAside(let number): self.handleAside(self.pollers.aside.event(number))
        case .takeTurn(let peer): if let index = self.connections.place(of: peer) { self.takeTurn(index, peer) }
        case .endPass:
            self.flushAnswers()
            self.delegate.passEnded(in: self)
            return self.flushAnswers()
        case .takeInbox:
            self.flushAnswers()
            self.takeInbox()
            guard self.runQueue.hasWork else { return }
        case .letNoticesGather:
            System.letOthersGoFirst()
            self.takeInbox()
        case .write(let stream): self.goOn(with: stream)
        }
        self.clock.read()
    }

    /// Looks for new connections, and for events of deprioritised ones.
    private func lookAside() {
        let count = Self.events(of: &self.pollers.aside, nanoseconds: 0, eventsMax: Self.asidePerTurn)
        for number in 0..<count { self.runQueue.foundAside(number, key: self.pollers.aside.event(number).key) }
    }

    /// Accepts connections, or reads from a deprioritised one.
    private func handleAside(_ event: Poller.Event) {
        if let endpoint = PollerPair.endpoint(of: event.key) {
            self.accept(atEndpoint: endpoint)
        } else {
            self.handle(event)
            self.endNewness(of: event)
        }
    }

    /// Looks at a connection among those that listen from now on, once it has asked for something.
    private func endNewness(of event: Poller.Event) {
        guard !event.sendsNoMore, let index = self.connections.place(of: event.key),
            self.connections.slots[index].isUsed,
            self.connections.slots[index].look.isAside
        else { return }
        self.runQueue.heardQuiet(at: self.now)
        self.move(index, aside: false)
    }

    /// Looks at a connection among those that stand aside from now on, because it has left: what it sent before is read there, and
    /// it is closed there, which takes the kernel 15 µs.
    private func moveAside(_ event: Poller.Event) {
        // An earlier event of the same wait may have ended it.
        guard let index = self.connections.place(of: event.key) else { return }
        self.move(index, aside: true)
    }

    private func move(_ index: Int, aside: Bool) {
        self.pollers.remove(self.connections.slots[index].descriptor, self.connections.slots[index].look)
        self.connections.slots[index].look.isAside = aside
        self.look(at: index)
    }

    /// Has one of the pollers look at a connection.
    private func look(at index: Int) {
        let (descriptor, key) = (self.connections.slots[index].descriptor, self.connections.key(of: index))
        if !self.pollers.add(descriptor, key: key, self.connections.slots[index].look) { self.close(index) }
    }

    private func handle(_ event: Poller.Event) {
        // An earlier event of the same wait may have ended it.
        guard let index = self.connections.place(of: event.key) else { return }
        if event.isWritable { self.writable(index) }
        guard event.isReadable, self.connections.place(of: event.key) != nil else { return }
        if self.connections.slots[index].pause.isEmpty {
            self.readable(index)
        } else if event.hasEnded, self.connections.slots[index].pause != .inLine {
            self.close(index)
        }
        // Else something came before the connection was paused in this round. The poller tells of it again once it is looked for.
    }

    private func takeInbox() {
        let content = self.inbox.take()
        for batch in content.batches {
            self.append(batch.notices)
            self.runQueue.noticesCame(batch.notices.count)
            batch.settle(isTaken: true)
        }
        for arrival in content.arrivals { self.open(arrival) }
        if content.holdsTooMuch { self.boundBytes() }
        if content.wakesDelegate {
            self.delegate.woken(in: self)
            self.flushAnswers()
        }
        if let accepts = content.accepts { self.setAccepting(accepts) }
        if content.isStopped { self.hasStopped = true }
    }

    private func lookAtTime() {
        self.clock.read()
        if self.clock.takeTick() {
            self.tick()
            self.sendHeads()
            self.endThrottling()
            self.followRules()
            self.deadlines.ticked(self.connections.places.count)
        }
        self.closeOverdue()
        if self.clock.takeSecond() {
            self.delegate.runHousekeeping(in: self)
            self.flushAnswers()
            self.metrics.set(.bytesWaiting, to: self.shared.bytesHeld)
            self.fanOut.tellRingBytes()
            if self.number == 0, self.clock.takeMinute() { self.shared.forgetOldAddresses(at: self.now) }
        }
    }

    /// Closes connections that have exceeded a timeout.
    private func closeOverdue() {
        var closesLeft = Deadlines.closesPerRound
        while closesLeft > 0, let index = self.deadlines.next(of: self.connections.places.count) {
            guard let reason = self.reasonToClose(of: index) else { continue }
            self.close(index, reason)
            closesLeft -= 1
        }
    }

    private func reasonToClose(of index: Int) -> EdgeClosing? {
        if let reason = self.deadlines.reasonToClose(of: self.connections.slots[index], at: self.now) { return reason }
        guard self.connections.slots[index].phase == .ready,
            let proof = self.connections.slots[index].subscriptions.first?.proof,
            !self.delegate.isGood(proof)
        else { return nil }
        return .expired
    }

    // MARK: - Connections

    private func setAccepting(_ accepts: Bool) {
        guard self.number == 0, self.acceptor.setAccepting(accepts) else { return }
        for (number, endpoint) in self.shared.endpoints.enumerated() {
            self.pollers.look(atEndpoint: number, endpoint.descriptor, accepts: accepts)
        }
    }

    private func accept(atEndpoint number: Int) {
        let label = self.shared.endpoints[number].label
        for _ in 0..<Acceptor.connectionsPerRound where self.acceptor.isAccepting {
            switch self.acceptor.accept(atEndpoint: number) {
            case .nothing: return
            case .noDescriptor:
                self.setAccepting(false)
                return self.shared.counting.acceptFailed()
            case .refused(let reason, let address):
                if case .proxy(let refusal) = reason { self.metrics.count(.proxyHeaders, refusal.metricLabel) }
                self.count(reason, peer: address, on: label)
            case .accepted(let arrival, let loop):
                // Counted before it can end.
                if !self.shared.counting.accepted(on: label) { self.setAccepting(false) }
                if loop == self.number {
                    self.open(arrival)
                } else if !self.shared.inboxes[loop].put(arrival) {
                    self.shared.drop(arrival)
                }
            }
        }
    }

    private func open(_ arrival: EdgeInbox.Arrival) {
        let index = self.connections.add()
        self.connections.slots[index].phase = .handshake
        self.connections.slots[index].endpoint = UInt8(arrival.endpoint)
        self.connections.slots[index].descriptor = arrival.descriptor
        self.connections.slots[index].address = arrival.address
        self.connections.slots[index].shared = arrival.shared
        self.connections.slots[index].since = self.now
        self.look(at: index)
        guard self.connections.slots[index].phase != .free else { return }
        self.connections.slots[index].isByTLS = self.shared.endpoints[arrival.endpoint].identity != nil
        self.connections.slots[index].awaitsHeader = self.shared.endpoints[arrival.endpoint].balancers != nil
        // Else it follows the balancer's header, or the handshake of TLS.
        guard !self.connections.slots[index].isByTLS, !self.connections.slots[index].awaitsHeader else { return }
        let greeting = self.connections.slots[index].connection.greeting
        self.write(greeting.span, index)
    }

    /// Has the poller look for what is wanted now.
    func watch(_ index: Int) {
        var look = self.connections.slots[index].look
        look.forReading = self.connections.slots[index].pause.isEmpty
        look.forWriting = self.connections.slots[index].writeProgress.isWaiting
        guard look != self.connections.slots[index].look else { return }
        self.connections.slots[index].look = look
        let (descriptor, key) = (self.connections.slots[index].descriptor, self.connections.key(of: index))
        if !self.pollers.change(descriptor, key: key, look) { self.close(index) }
    }

    /// Applies changed rules to all connections at once, not only to the one whose turn it is; rules change rarely.
    private func followRules() {
        let rulesNumber = self.delegate.rulesNumber
        guard rulesNumber != self.rulesNumber else { return }
        self.rulesNumber = rulesNumber
        for index in self.connections.places where self.connections.slots[index].phase == .ready {
            self.lookAtRules(index)
        }
    }

    // MARK: - The end

    /// Sends what was answered and what the rings hold, and closes everything.
    private func end() {
        self.setAccepting(false)
        self.takeInbox()
        self.writeNotices()
        self.flushAnswers()
        let deadline = System.monotonicNanoseconds() + UInt64(self.settings.lingerMax.inMicroseconds) * 1_000
        while self.connections.places.contains(where: { self.connections.slots[$0].writeProgress.isWaiting }),
            System.monotonicNanoseconds() < deadline
        {
            guard let count = try? self.pollers.main.wait(nanoseconds: 10_000_000) else { break }
            for number in 0..<count { self.write(self.pollers.main.event(number)) }
            guard let count = try? self.pollers.aside.wait(nanoseconds: 0) else { break }
            for number in 0..<count { self.write(self.pollers.aside.event(number)) }
        }
        for index in self.connections.places where self.connections.slots[index].phase != .free {
            // Unread bytes would make the kernel reset the connection, and sent bytes might not arrive.
            while System.read(
                self.connections.slots[index].descriptor,
                into: &self.buffers.plain,
                at: 0,
                bytesMax: self.buffers.plain.count
            ) > 0 {}
            self.close(index)
        }
        if self.number == 0 { for endpoint in self.shared.endpoints { endpoint.close() } }
        self.shared.end(self.number)
    }

    /// Writes to a connection that takes more.
    private func write(_ event: Poller.Event) {
        guard PollerPair.endpoint(of: event.key) == nil, event.isWritable,
            let index = self.connections.place(of: event.key)
        else { return }
        self.writable(index)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
internal import GatewayCore
internal import SystemSupport
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
/// ``ConnectionTable`` which place a connection has, ``Acceptor`` which loop gets it, ``Deadlines`` when a timeout is exceeded,
/// ``NoticeFanOut`` and ``EdgeStream`` which notices wait for it, ``MessageAllowance`` how much it may send.
///
/// All connections read into one buffer (``ReadBuffers``). A connection keeps only incomplete frames and the bytes that the
/// kernel did not accept; notices wait in the ring of their stream (``NoticeRing``), once for all connections.
///
/// A connection above a rate limit is read from later, and so is one that does not read its answers. A slow consumer is closed
/// (``EdgeSettings``).
///
/// Everything happens on the thread that calls `run`: a loop is not `Sendable`.
package final class EdgeLoop {
    /// The most events of deprioritised connections that are handled in one iteration.
    private static let deprioritisedEventsMax = 32
    /// So many subscribers of a stream have their turn before the next stream has one.
    static let subscribersPerTurn = 16

    let shared: EdgeShared
    let metrics: MetricRegistry
    /// The rate limits of each connection.
    let limits: MessageAllowance.Limits
    unowned let delegate: any EdgeDelegate
    /// The number of the loop; the first one has the endpoints.
    let number: Int
    private var hasStopped = false
    /// The version of the rules that was applied to all connections last.
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
    var webSocketNotices = WebSocketNotices()

    /// - Parameters:
    ///   - number: the number of the loop, from 0.
    ///   - shared: the state that all loops share.
    ///   - pollers: the result of `Pollers.make`; closed at the end.
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
        System.raisePriority()
        self.pollers.begin(inbox: self.inbox.wakeUp.descriptor)
        self.setAccepting(true)
        while !self.hasStopped {
            self.inbox.countIteration()
            self.beginIteration()
            while let step = self.runQueue.next(at: self.now) { self.perform(step) }
            self.lookAtTime()
        }
        self.end()
    }

    // MARK: - One iteration

    /// Waits until something is ready, and reports it to the run queue.
    private func beginIteration() {
        let isBusy = self.runQueue.hasWork || self.deadlines.hasWork
        let eventsMax = self.runQueue.isMixed ? Poller.eventsMax : Poller.eventsUsual
        let count = Self.events(
            of: &self.pollers.main,
            nanoseconds: isBusy ? 0 : self.clock.idle,
            eventsMax: eventsMax
        )
        self.clock.read()
        self.runQueue.beginIteration(at: self.now, isFull: count == eventsMax)
        for number in 0..<count {
            let event = self.pollers.main.event(number)
            switch event.key {
            case PollerPair.inboxKey: self.inbox.wakeUp.reset()
            case PollerPair.deprioritisedKey: self.runQueue.foundDeprioritised()
            default: self.runQueue.found(number, self.finding(event), key: event.key, at: self.now)
            }
        }
    }

    private func finding(_ event: Poller.Event) -> RunQueue.Finding {
        if event.sendsNoMore { return .closing }
        guard event.isReadable, let index = self.connections.place(of: event.key) else { return .busy }
        return self.connections.slots[index].allowance.isQuiet(self.limits, at: self.now) ? .quiet : .busy
    }

    private static func events(of poller: inout Poller, nanoseconds: UInt64, eventsMax: Int) -> Int {
        do throws(SystemCallError) {
            return try poller.wait(nanoseconds: nanoseconds, eventsMax: eventsMax)
        } catch {
            // It fails only for an invalid descriptor or address: the loop cannot continue.
            fatalError("the edge cannot wait for connections: \(error)")
        }
    }

    /// Performs a step of the run queue, and reads the clock if the step takes time.
    private func perform(_ step: RunQueue.Step) {
        switch step {
        case .handle(let number): self.handle(self.pollers.main.event(number))
        case .deprioritise(let number): return self.deprioritise(self.pollers.main.event(number))
        case .postpone(let number):
            if self.pollers.main.event(number).isReadable {
                self.metrics.count(.limitsHit, .limit(.lightMessagesPerSecondMax))
            }
            return
        case .pollDeprioritised: self.pollDeprioritised()
        case .handleDeprioritised(let number): self.handleDeprioritised(self.pollers.deprioritised.event(number))
        case .takeTurn(let peer): if let index = self.connections.place(of: peer) { self.takeTurn(index, peer) }
        case .endPass:
            self.flushAnswers()
            self.delegate.passEnded(in: self)
            return self.flushAnswers()
        case .takeInbox:
            self.flushAnswers()
            self.takeInbox()
            guard self.runQueue.hasWork else { return }
        case .coalesceNotices:
            System.yieldProcessor()
            self.takeInbox()
        case .write(let stream): self.goOn(with: stream)
        }
        self.clock.read()
    }

    /// Polls the endpoints and the deprioritised connections.
    private func pollDeprioritised() {
        let count = Self.events(of: &self.pollers.deprioritised, nanoseconds: 0, eventsMax: Self.deprioritisedEventsMax)
        for number in 0..<count {
            self.runQueue.foundDeprioritised(number, key: self.pollers.deprioritised.event(number).key)
        }
    }

    /// Accepts connections, or reads from a deprioritised one.
    private func handleDeprioritised(_ event: Poller.Event) {
        if let endpoint = PollerPair.endpoint(of: event.key) {
            self.accept(atEndpoint: endpoint)
        } else {
            self.handle(event)
            self.restorePriority(of: event)
        }
    }

    /// Moves a connection to the main poller once it has sent a request or subscribed.
    private func restorePriority(of event: Poller.Event) {
        guard !event.sendsNoMore, let index = self.connections.place(of: event.key),
            self.connections.slots[index].isUsed,
            self.connections.slots[index].look.isDeprioritised
        else { return }
        self.runQueue.noteQuietActivity(at: self.now)
        self.move(index, deprioritised: false)
    }

    /// Deprioritises a closing connection: reading its last messages waits, and so does closing it, which takes the kernel 15 µs.
    private func deprioritise(_ event: Poller.Event) {
        // An earlier event of the same wait may have ended it.
        guard let index = self.connections.place(of: event.key) else { return }
        self.move(index, deprioritised: true)
    }

    private func move(_ index: Int, deprioritised: Bool) {
        self.pollers.remove(self.connections.slots[index].descriptor, self.connections.slots[index].look)
        self.connections.slots[index].look.isDeprioritised = deprioritised
        self.look(at: index)
    }

    /// Adds a connection to its poller.
    func look(at index: Int) {
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
        } else if event.hasEnded, self.connections.slots[index].pause != .queued {
            self.close(index)
        }
        // Else input came before the connection was paused in this iteration. The poller reports it again after the pause.
    }

    private func takeInbox() {
        let content = self.inbox.take()
        for batch in content.batches {
            self.append(batch.notices)
            self.runQueue.noticesCame(batch.notices.count)
            batch.settle(isTaken: true)
        }
        for arrival in content.arrivals { self.open(arrival) }
        for arrival in content.eventArrivals { self.open(arrival) }
        for end in content.ends { self.endEvents(end.peer, end.text) }
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
            self.fanOut.updateRingBytes()
            if self.number == 0, self.clock.takeMinute() { self.shared.forgetOldAddresses(at: self.now) }
        }
    }

    /// Closes connections that have exceeded a timeout.
    private func closeOverdue() {
        var closesLeft = Deadlines.closesPerIteration
        while closesLeft > 0, let index = self.deadlines.next(of: self.connections.places.count) {
            if self.connections.slots[index].phase == .ending {
                guard self.isOverdue(index) else { continue }
                self.close(index)
            } else {
                guard let reason = self.reasonToClose(of: index) else { continue }
                self.close(index, reason)
            }
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
        for _ in 0..<Acceptor.acceptsPerIteration where self.acceptor.isAccepting {
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
        if self.shared.endpoints[arrival.endpoint].webSocket != nil {
            self.connections.slots[index].webSocket = WebSocketLink()
        }
        // Else it follows the balancer's header, or the handshake of TLS.
        guard !self.connections.slots[index].isByTLS, !self.connections.slots[index].awaitsHeader else { return }
        self.greet(index)
    }

    /// Says what is here; over WebSocket the client speaks first.
    func greet(_ index: Int) {
        guard self.connections.slots[index].webSocket == nil else { return }
        let greeting = self.connections.slots[index].connection.greeting
        self.write(greeting.span, index)
    }

    /// Tells the poller which events of a connection are wanted now.
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

    /// Sends the pending answers and notices, and closes everything.
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
            guard let count = try? self.pollers.deprioritised.wait(nanoseconds: 0) else { break }
            for number in 0..<count { self.write(self.pollers.deprioritised.event(number)) }
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

    /// Writes to a connection that accepts more.
    private func write(_ event: Poller.Event) {
        guard PollerPair.endpoint(of: event.key) == nil, event.isWritable,
            let index = self.connections.place(of: event.key)
        else { return }
        self.writable(index)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import GatewayCore

@_spi(Diagnostics) @_spi(Transports) @testable import Cuecast

/// One connection that a run of the app made; two with that for subscriptions, which may be another loop's.
struct Link {
    /// One way of a TCP connection: what is sent there arrives in its order.
    struct Way {
        var arrival = LocalInstant.start
        /// The beginning of a frame.
        var partial: [UInt8] = []
        /// By what the loop knows it that hears the stream by it.
        var slot: UInt32?
    }

    let run: Int
    let attempt: Int
    let requestLoop: Int
    let noticeLoop: Int
    /// Whether it was made in fine weather: nothing is lost on it, and everything keeps its order.
    let isCalm: Bool
    var push: PushPlace
    /// Answers, and notices that are pushed.
    var answers = Way()
    /// Notices that are subscribed to.
    var notices = Way()
    /// When the last subscription reaches the gateway.
    var subscriptionArrival = LocalInstant.start
}

// What lies between the listener and the gateway: notices are lost, late and repeated, and so are requests and replies.
extension World {
    /// Whether the newest connection is one that loses nothing.
    var isCalm: Bool { !self.isRough && self.links.last?.isCalm == true }

    mutating func carry(out action: ListenerCore.Action) {
        let link = self.links.count - 1
        switch action {
        case .connect(let attempt, _):
            self.hangUp()
            self.makeLink(attempt: attempt)
            let link = self.links.count - 1
            if self.trouble(0.1) {
                self.schedule(.toListener(.closed(reason: "refused"), link: link), in: self.some(0...0.2))
            } else if !self.trouble(0.05) {
                self.isConnected = true
                self.schedule(.toListener(.connected, link: link), in: self.some(0.01...0.2))
            }
        case .disconnect: self.hangUp()
        case .subscribe(let topic):
            // The first one waits until the second connection is made.
            let isFirst = self.links[link].subscriptionArrival == .start
            let wait = isFirst ? self.some(0.01...0.2) : self.some(0.01...0.02)
            let at = max(self.links[link].subscriptionArrival, self.now + .seconds(wait))
            self.links[link].subscriptionArrival = at
            self.schedule(.effective(topic, link: link), at: at)
        case .unsubscribe(let topic): if topic == NoticeFrame.syncTopic { self.hearsTicks = false }
        case .send(let frame):
            self.witness.inFlightMax = max(self.witness.inFlightMax, self.core.conversation.requests.count)
            self.witness.sent(frame, isDiskUsed: self.core.disk != .failing && self.core.disk != .none)
            guard self.isConnected, !self.trouble(0.03) else { return }
            self.schedule(.toGateway(frame, link: link), in: self.some(0.002...0.08))
            if self.trouble(0.02) { self.schedule(.toGateway(frame, link: link), in: self.some(0.002...6)) }
        default: break
        }
    }

    private mutating func makeLink(attempt: Int) {
        let isPushing =
            switch self.path {
            case .pushed, .subscribed: true
            case .fellBack: false
            case .mixed: self.chance(0.5)
            }
        self.links.append(
            Link(
                run: self.run,
                attempt: attempt,
                requestLoop: self.someLoop(),
                noticeLoop: self.someLoop(),
                isCalm: !self.isRough,
                push: isPushing ? .free : .none
            )
        )
        if !self.isRough { self.witness.calmConnections += 1 }
    }

    private mutating func someLoop() -> Int { Int(self.some(0...Double(Self.loopCount).nextDown)) }

    mutating func carry(_ occurrence: Occurrence) {
        switch occurrence {
        case .toListener(let event, let link): self.deliver(event, on: link)
        case .toGateway(let frame, let link): self.ask(frame, on: link)
        case .effective(let topic, let link):
            guard link == self.links.count - 1, self.isConnected else { return }
            if topic == NoticeFrame.syncTopic {
                self.hearsTicks = true
                // The first tick comes at once.
                self.schedule(.tick(link: link), in: 0)
            } else {
                self.links[link].notices.slot = self.hear(self.links[link].noticeLoop)
            }
        case .tick(let link):
            guard link == self.links.count - 1, self.isConnected, self.hearsTicks else { return }
            let tick = NoticeFrame.tick(SyncTick(instance: self.gateway.instance, counter: 1)).encoded()
            self.send(.notice(tick), by: \.notices, after: 0.005, on: link)
            self.schedule(.tick(link: link), in: 0.05)
        default: break
        }
    }

    /// A request has reached its loop, which decides and answers it, and lets the connection hear the stream where the decision says so.
    private mutating func ask(_ frame: [UInt8], on link: Int) {
        if self.trouble(0.005) {
            self.gateway.fail(frame, at: self.gatewayTime)
            self.makeLoops()
            return self.breakConnection()
        }
        let isCurrent = link == self.links.count - 1 && self.isConnected
        var push = self.links[link].push
        let reply = self.gateway.answer(frame, push: &push, at: self.gatewayTime)
        guard isCurrent else { return }
        self.links[link].push = push
        let loop = self.links[link].requestLoop
        if case .joined(let joined) = (try? ListenerReply(decoding: reply))?.body {
            if joined.pushed { self.witness.pushedJoins += 1 } else { self.witness.subscribedJoins += 1 }
            if joined.pushed {
                self.links[link].answers.slot = self.loops[loop]
                    .push(to: self.links[link].answers.slot, above: joined.head, at: self.gatewayTime)
                self.scheduleHeads(loop)
            }
        }
        if push == .free, let slot = self.links[link].answers.slot.take() { self.loops[loop].leave(slot) }
        guard !self.trouble(0.03) else { return }
        self.send(.reply(reply), by: \.answers, after: self.some(0.002...0.08), on: link)
        if self.trouble(0.05) { self.schedule(.toListener(.reply(reply), link: link), in: self.some(0.002...8)) }
    }

    /// Sends on one way of a connection; in fine weather what was sent before arrives before.
    private mutating func send(
        _ event: ListenerConnectionEvent,
        by way: WritableKeyPath<Link, Link.Way>,
        after seconds: Double,
        on link: Int
    ) {
        var at = self.now + .seconds(seconds)
        if self.links[link].isCalm { at = max(at, self.links[link][keyPath: way].arrival) }
        self.links[link][keyPath: way].arrival = at
        self.schedule(.toListener(event, link: link), at: at)
    }

    private mutating func deliver(_ event: ListenerConnectionEvent, on link: Int) {
        guard self.isAppAlive, self.links[link].run == self.run else { return }
        if link == self.links.count - 1, !self.isConnected, event != .connected {
            guard case .closed = event else { return }
        }
        self.core.transport(event, attempt: self.links[link].attempt, now: self.appNow)
    }

    mutating func breakConnection() {
        guard self.isConnected else { return }
        self.hangUp()
        self.schedule(.toListener(.closed(reason: "reset"), link: self.links.count - 1), in: 0)
    }

    /// The gateway sees the end of the newest connection.
    mutating func hangUp() {
        self.isConnected = false
        self.hearsTicks = false
        guard let link = self.links.indices.last else { return }
        if let slot = self.links[link].answers.slot.take() { self.loops[self.links[link].requestLoop].leave(slot) }
        if let slot = self.links[link].notices.slot.take() { self.loops[self.links[link].noticeLoop].leave(slot) }
    }

    mutating func publish(_ notices: [Notice]) {
        self.tellLoops(notices)
        self.runGatewayTimers()
        // The worst moment for a connection to be made anew: some loops know, and some do not.
        if !self.isRough, self.isOnAir, !notices.isEmpty, self.chance(0.2) { self.breakConnection() }
    }

    /// Does what time brings at the gateway, and comes back when there is more.
    mutating func runGatewayTimers() {
        let (notices, next) = self.gateway.runTimers(at: self.gatewayTime)
        self.gatewayTimerNumber += 1
        if let next {
            let wait = max((next - self.gatewayTime).inSeconds, 0.000_1)
            self.schedule(.gatewayTimer(number: self.gatewayTimerNumber), in: wait)
        }
        // Each loop repeats the position that it has sent itself.
        self.tellLoops(notices.filter { $0.kind != .head })
    }

    // MARK: The loops

    /// The gateway starts: its loops know nothing but the position, and have listeners that take little.
    mutating func makeLoops() {
        self.countLaps()
        self.hearsTicks = false
        for link in self.links.indices.suffix(1) {
            self.links[link].answers.slot = nil
            self.links[link].notices.slot = nil
        }
        self.loops = (0..<Self.loopCount)
            .map { _ in
                SimulatedLoop(
                    self.settings.stream,
                    sent: self.gateway.head,
                    headInterval: .seconds(5),
                    ringBytesMax: 300
                )
            }
        for loop in self.loops.indices { for _ in 0..<2 { _ = self.hear(loop) } }
    }

    /// Tells the witness how often rings were full, before their loops end.
    mutating func countLaps() {
        self.witness.overruns += self.loops.reduce(0) { $0 + $1.overrunCount }
    }

    private mutating func hear(_ loop: Int) -> UInt32 {
        defer { self.scheduleHeads(loop) }
        return self.loops[loop].hear(at: self.gatewayTime)
    }

    private mutating func scheduleHeads(_ loop: Int) {
        self.loopHeadNumbers[loop] += 1
        guard let next = self.loops[loop].nextHead else { return }
        let wait = max((next - self.gatewayTime).inSeconds, 0.000_1)
        self.schedule(.loopHeads(loop, number: self.loopHeadNumbers[loop]), in: wait)
    }

    /// The board has changed: each loop hears of it, and comes to it in its own time.
    private mutating func tellLoops(_ notices: [Notice]) {
        guard !notices.isEmpty else { return }
        self.witness.published += notices.count
        for loop in self.loops.indices {
            self.loops[loop].tell(notices)
            let isLate = self.chance(0.3)
            self.schedule(
                .loopTurn(loop),
                in: self.trouble(0.03) ? self.some(0...4) : self.some(0...(isLate ? 0.6 : 0.02))
            )
        }
    }

    mutating func turn(_ occurrence: Occurrence) {
        let now = self.gatewayTime
        // How much the listener's connections take; others take nothing now and then, in any weather.
        let share = self.trouble(0.1) ? self.some(0...1) : 1
        let otherShare = self.chance(0.3) ? 0.0 : 1
        let ours = [self.links.last?.answers.slot, self.links.last?.notices.slot]
        let room = { (slot: UInt32, count: Int) in Int(Double(count) * (ours.contains(slot) ? share : otherShare)) }
        switch occurrence {
        case .loopTurn(let loop):
            self.carry(self.loops[loop].turn(at: now, room: room), of: loop)
            self.scheduleHeads(loop)
            if share < 1 || otherShare < 1 { self.schedule(.loopCatchesUp(loop), in: self.some(0...20)) }
        case .loopHeads(let loop, let number):
            guard number == self.loopHeadNumbers[loop] else { return }
            self.carry(self.loops[loop].repeatPosition(at: now, room: room), of: loop)
            self.scheduleHeads(loop)
            if share < 1 || otherShare < 1 { self.schedule(.loopCatchesUp(loop), in: self.some(0...20)) }
        case .loopCatchesUp(let loop): self.carry(self.loops[loop].catchUp(), of: loop)
        default: break
        }
    }

    /// Carries the bytes that the loop's connections took to the listener, if it is one of them, frame by frame.
    private mutating func carry(_ taken: [SimulatedLoop.Taken], of loop: Int) {
        guard self.isConnected, let link = self.links.indices.last else { return }
        for each in taken {
            let way: WritableKeyPath<Link, Link.Way>
            if self.links[link].requestLoop == loop, self.links[link].answers.slot == each.slot {
                way = \.answers
            } else if self.links[link].noticeLoop == loop, self.links[link].notices.slot == each.slot {
                way = \.notices
            } else {
                continue
            }
            self.links[link][keyPath: way].partial += each.bytes
            for frame in SimulatedLoop.takeFrames(from: &self.links[link][keyPath: way].partial) {
                self.send(notice: frame, by: way, on: link)
            }
        }
    }

    private mutating func send(notice frame: [UInt8], by way: WritableKeyPath<Link, Link.Way>, on link: Int) {
        guard !self.trouble(0.08) else { return }
        let event = ListenerConnectionEvent.notice(frame)
        let late = self.trouble(0.1) ? self.some(0...2) : 0
        self.send(event, by: way, after: late + self.some(0.002...0.02), on: link)
        if self.trouble(0.1) { self.schedule(.toListener(event, link: link), in: self.some(0.002...3)) }
    }
}

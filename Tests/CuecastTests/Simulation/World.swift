// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

@testable import Cuecast

/// A listener, its app, a gateway and a bad network between them, in simulated time.
///
/// One seed is one history.
struct World {
    private enum Occurrence {
        case toListener(ListenerConnectionEvent, attempt: Int)
        case toGateway([UInt8], attempt: Int)
        case effective([UInt8], attempt: Int)
        case tick(attempt: Int)
        case head
        case appAsks
        case appFinishes(Advertisement)
        case broadcaster
        case trouble
    }

    private struct Entry {
        let at: LocalInstant
        let order: Int
        let occurrence: Occurrence
    }

    var random: JitterSource
    let settings: ListenerSettings
    var core: ListenerCore
    var gateway = ScriptedGateway()
    private(set) var now = LocalInstant.start
    private(set) var witness = Witness()
    /// Whether the network and the gateway make trouble.
    var isRough = true
    /// Whether breaks are published and changed.
    var isOnAir = true
    private var entries: [Entry] = []
    private var order = 0
    private var breakNumber = 0
    private var subscribed: Set<[UInt8]> = []
    private var attempt = 0
    private var isConnected = false
    private var playing: Advertisement?
    private var openBreaks: [String] = []

    init(seed: UInt64, settings: ListenerSettings) {
        self.random = JitterSource(seed: seed)
        self.settings = settings
        self.gateway.delayMax = settings.delay.max
        self.core = ListenerCore(
            settings: settings,
            session: SessionID(high: seed, low: seed &* 31),
            origin: .now,
            seed: seed &+ 1
        )
        if self.chance(0.5) {
            _ = self.gateway.publish(
                "before",
                self.advertisements("before"),
                start: nil,
                expires: self.gatewayTime + .seconds(600),
                preStream: true,
                at: self.gatewayTime
            )
        }
        self.schedule(.broadcaster, in: 1)
        self.schedule(.trouble, in: 20)
        self.schedule(.head, in: 5)
    }

    /// The gateway's clock is a bit fast and 3 s ahead.
    var gatewayTime: Timestamp { gatewayStart + .seconds(3 + self.now.sinceStart.inSeconds * 1.000_05) }

    // MARK: Running

    mutating func run(until end: LocalInstant) {
        while true {
            let wake = self.core.nextWake(now: self.now)
            let index = self.entries.indices.min { left, right in
                (self.entries[left].at, self.entries[left].order) < (self.entries[right].at, self.entries[right].order)
            }
            let next = index.map { self.entries[$0].at }
            guard let at = earlier(wake, next), at <= end else { break }
            if let wake, wake <= at {
                // A wake that is due again at once would never let time go on: at least a microsecond passes.
                self.now = max(wake, self.now + .microseconds(1))
                self.core.wake(now: self.now)
                self.witness.wakes += 1
            } else if let index {
                self.now = max(self.now, at)
                let entry = self.entries.remove(at: index)
                self.happen(entry.occurrence)
            }
            self.performActions()
        }
        self.now = max(self.now, end)
    }

    mutating func start() {
        self.core.start(now: self.now)
        self.performActions()
    }

    mutating func stop() {
        self.core.stop(now: self.now)
        self.performActions()
    }

    private mutating func schedule(_ occurrence: Occurrence, in seconds: Double) {
        self.order += 1
        self.entries.append(
            Entry(at: self.now + .seconds(max(0, seconds)), order: self.order, occurrence: occurrence)
        )
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self.random) < probability
    }

    /// As `chance`, but never while the network is good.
    private mutating func trouble(_ probability: Double) -> Bool {
        self.chance(probability) && self.isRough
    }

    private mutating func some(_ range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &self.random)
    }

    // MARK: The network

    private mutating func performActions() {
        for action in self.core.takeActions() {
            switch action {
            case .connect(let attempt):
                self.attempt = attempt
                self.subscribed = []
                self.isConnected = false
                if self.trouble(0.1) {
                    self.schedule(.toListener(.closed(reason: "refused"), attempt: attempt), in: self.some(0...0.2))
                } else if !self.trouble(0.05) {
                    self.isConnected = true
                    self.schedule(.toListener(.connected, attempt: attempt), in: self.some(0.01...0.2))
                }
            case .disconnect: self.isConnected = false
            case .subscribe(let topic):
                self.schedule(.effective(topic, attempt: self.attempt), in: self.some(0.01...0.02))
            case .unsubscribe(let topic): self.subscribed.remove(topic)
            case .send(let frame): self.sent(frame)
            case .askForToken: break
            case .event(let event): self.witness.saw(event)
            case .tellAvailable: self.schedule(.appAsks, in: self.some(0...0.05))
            case .tellStillAvailable:
                if self.core.queue.isWaitingForApp { self.schedule(.appAsks, in: self.some(0...0.05)) }
            case .tellWithdrawn(let withdrawal): self.withdrawn(withdrawal)
            case .keep(let record): self.witness.kept.insert(record.number)
            case .discard(let numbers): self.witness.kept.subtract(numbers)
            case .preStreamSettled: self.witness.preStreamSettled += 1
            case .log: break
            case .stopped: self.witness.stopped += 1
            }
        }
    }

    private mutating func sent(_ frame: [UInt8]) {
        self.witness.inFlightMax = max(self.witness.inFlightMax, self.core.requests.count)
        guard self.isConnected, !self.trouble(0.03) else { return }
        self.schedule(.toGateway(frame, attempt: self.attempt), in: self.some(0.002...0.08))
        if self.trouble(0.02) {
            self.schedule(.toGateway(frame, attempt: self.attempt), in: self.some(0.002...6))
        }
    }

    private mutating func publish(_ notice: Notice?) {
        guard let notice else { return }
        self.send(NoticeFrame.notice(notice, stream: self.settings.stream))
        for seconds in [1.0, 3.0] { self.schedule(.head, in: seconds) }
    }

    private mutating func send(_ frame: NoticeFrame) {
        guard self.isConnected, self.subscribed.contains(NoticeFrame.topic(of: self.settings.stream)) else { return }
        guard !self.trouble(0.08) else { return }
        let event = ListenerConnectionEvent.notice(frame.encoded())
        let late = self.trouble(0.1) ? self.some(0...2) : 0
        self.schedule(.toListener(event, attempt: self.attempt), in: late + self.some(0.002...0.02))
        if self.trouble(0.1) {
            self.schedule(.toListener(event, attempt: self.attempt), in: self.some(0.002...3))
        }
    }

    private mutating func happen(_ occurrence: Occurrence) {
        switch occurrence {
        case .toListener(let event, let attempt):
            if attempt == self.attempt, !self.isConnected, event != .connected {
                guard case .closed = event else { return }
            }
            self.core.transport(event, attempt: attempt, now: self.now)
        case .toGateway(let frame, let attempt):
            let reply = self.gateway.answer(frame, at: self.gatewayTime)
            guard attempt == self.attempt, self.isConnected, !self.trouble(0.03) else { return }
            self.schedule(.toListener(.reply(reply), attempt: attempt), in: self.some(0.002...0.08))
            if self.trouble(0.05) {
                self.schedule(.toListener(.reply(reply), attempt: attempt), in: self.some(0.002...8))
            }
        case .effective(let topic, let attempt):
            guard attempt == self.attempt, self.isConnected else { return }
            self.subscribed.insert(topic)
            if topic == NoticeFrame.syncTopic { self.schedule(.tick(attempt: attempt), in: self.some(0...0.05)) }
        case .tick(let attempt):
            guard attempt == self.attempt, self.isConnected, self.subscribed.contains(NoticeFrame.syncTopic) else {
                return
            }
            let tick = NoticeFrame.tick(SyncTick(instance: self.gateway.instance, counter: 1)).encoded()
            self.schedule(.toListener(.notice(tick), attempt: attempt), in: 0.005)
            self.schedule(.tick(attempt: attempt), in: 0.05)
        case .head:
            self.send(.notice(.head(self.gateway.head, sent: self.gatewayTime), stream: self.settings.stream))
            // The notices' own heads are not repeated: one chain goes on by itself.
            if !self.entries.contains(where: { if case .head = $0.occurrence { true } else { false } }) {
                self.schedule(.head, in: 5)
            }
        case .appAsks: self.appAsks()
        case .appFinishes(let advertisement): self.appFinishes(advertisement)
        case .broadcaster: self.broadcast()
        case .trouble: self.makeTrouble()
        }
    }

    private mutating func makeTrouble() {
        self.schedule(.trouble, in: self.some(5...60))
        guard self.isRough else { return }
        if self.chance(0.3) {
            self.gateway.restart(losesHistory: self.chance(0.4))
        } else if self.chance(0.2) {
            // The connection hangs: nothing arrives, and nobody says so.
            self.isConnected = false
            return
        } else if self.chance(0.3) {
            self.core.setDelay(.seconds(self.some(0...40)), now: self.now)
            self.performActions()
            return
        }
        guard self.isConnected else { return }
        self.isConnected = false
        self.schedule(.toListener(.closed(reason: "reset"), attempt: self.attempt), in: 0)
    }

    // MARK: The app

    private mutating func appAsks() {
        if self.chance(0.05) {
            self.core.ignoreAll(now: self.now)
            self.performActions()
            return
        }
        guard let advertisement = self.core.nextAdvertisement(now: self.now) else { return self.performActions() }
        self.witness.handedOut(advertisement, core: self.core, now: self.now, gatewayTime: self.gatewayTime)
        self.playing = advertisement
        self.performActions()
        if self.chance(0.3) { self.core.report(.started, advertisement, now: self.now) }
        self.performActions()
        if self.chance(0.97) {
            self.schedule(
                .appFinishes(advertisement),
                in: advertisement.exactDuration.inSeconds + self.some(0...0.2)
            )
        }
    }

    private mutating func appFinishes(_ advertisement: Advertisement) {
        guard self.playing == advertisement else { return }
        self.playing = nil
        if self.chance(0.4) {
            let report = [AdvertisementReport.completed, .skipped, .failed(vastError: 405)]
                .randomElement(using: &self.random)
            self.core.report(report ?? .completed, advertisement, now: self.now)
            self.performActions()
        }
        self.appAsks()
    }

    private mutating func withdrawn(_ withdrawal: AdvertisementWithdrawal) {
        if withdrawal.current == self.playing { self.playing = nil }
    }

    // MARK: The broadcaster

    private func advertisements(_ name: String) -> [AdvertisementContent] {
        (0..<3).map { content("\(name)-\($0)", seconds: [5, 10, 15][$0]) }
    }

    private mutating func broadcast() {
        self.schedule(.broadcaster, in: self.some(1...25))
        guard self.isOnAir else { return }
        let now = self.gatewayTime
        if let name = self.openBreaks.first, self.chance(0.5) {
            self.changeBreak(name, at: now)
            return
        }
        let running = self.openBreaks.contains { name in
            guard let notice = self.gateway.breaks[breakID(name)]?.notice else { return false }
            return notice.start == nil ? now < notice.expires : now < (notice.end ?? now)
        }
        guard !running else { return }
        self.breakNumber += 1
        let name = "b\(self.breakNumber)"
        let isCued = self.chance(0.2)
        let start = now + .seconds(self.some(0...10))
        let notice = self.gateway.publish(
            name,
            self.advertisements(name),
            start: isCued ? nil : start,
            window: RequestWindow(from: now + .milliseconds(500), by: now + .seconds(3)),
            expires: isCued ? now + .seconds(60) : start + .seconds(30),
            exact: self.chance(0.3),
            endMode: self.chance(0.5) ? .cut : .finishAd,
            at: now
        )
        self.openBreaks = [name]
        self.publish(notice)
    }

    private mutating func changeBreak(_ name: String, at now: Timestamp) {
        guard let notice = self.gateway.breaks[breakID(name)]?.notice else { return }
        if notice.start == nil {
            let punched = now + .seconds(self.some(0...3))
            self.publish(
                self.gateway.change(name, .updated) {
                    $0.start = punched
                    $0.expires = punched + .seconds(30)
                }
            )
        } else if self.chance(0.4) {
            self.publish(self.gateway.change(name, .cancelled) { _ in })
            self.openBreaks = []
        } else if let start = notice.start, now > start, let end = notice.end, now < end {
            let early = now + .seconds(self.some(0...5)) - start
            self.publish(
                self.gateway.change(name, .ended) {
                    $0.duration = min(early, .seconds(30))
                    $0.expires = start + min(early, .seconds(30))
                }
            )
            self.openBreaks = []
        } else if let start = notice.start, now < start {
            let moved = now + .seconds(self.some(0.1...8))
            self.publish(
                self.gateway.change(name, .updated) {
                    $0.start = moved
                    $0.expires = moved + .seconds(30)
                }
            )
        } else {
            self.openBreaks = []
        }
    }
}

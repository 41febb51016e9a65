// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import SystemSupport
import ZMTP

/// Drives simulated listeners over the connections of a loop.
///
/// It does what each listener's `Actions` say, and wakes it at its deadline. When and what is published, and when the run
/// is over, is in the extensions.
final class RunDriver: LoadDriver {
    enum TimerKind {
        /// Opens listeners at the chosen rate.
        static let pace: UInt32 = 1
        static let listener: UInt32 = 2
        static let publish: UInt32 = 3
        static let progress: UInt32 = 4
        static let churn: UInt32 = 5
        static let stall: UInt32 = 6
        static let broadcaster: UInt32 = 7
    }

    enum Phase {
        case joining
        case running
        case finishing
        case leaving
        case done
    }

    /// The connections of one listener at the loop.
    struct Wires {
        var notices: Connection?
        var requests: Connection?
        var noticesReady = false
        var requestsReady = false
        /// Whether all connections are there; one alone brings notices too.
        var isReady: Bool { self.requestsReady && (self.noticesReady || self.notices == nil) }
        /// Whether all connections of the first wave were there once.
        var wasReady = false
        /// The next timer that counts; later ones are passed over.
        var armed = Microseconds.max
        /// Whether it is to stay gone.
        var isOver = false
    }

    static let broadcasterTag = UInt64.max

    let settings: RunSettings
    let plan: RunPlan
    let hooks: RunHooks
    let noticesEndpoint: Endpoint
    let requestsEndpoint: Endpoint
    let broadcastEndpoint: Endpoint
    /// Where the gateways are that others named, in the order of their places; `nil`: not to be connected to.
    private var namedEndpoints: [Endpoint?] = []

    var world: LoadWorld
    var listeners: [SimulatedListener] = []
    var wires: [Wires] = []
    var phase = Phase.joining
    var began: Microseconds = 0
    var source: SeededSource
    var pace: ConnectPace
    /// Listeners that were opened and have not joined yet, in the first wave.
    var opened = 0
    var joinedOnce = 0
    var connectedOnce = 0
    var isInterrupted = false
    var failure: LoadError?
    var lastEnd: ConnectionEnd?
    /// When something last went on.
    var progressed: Microseconds = 0
    var progressMark = 0
    var ended: Microseconds = 0

    // Publishing.
    var broadcaster: Connection?
    var isBroadcasterReady = false
    /// When the first break is published; known once all listeners have joined.
    var firstPublication: Microseconds?
    /// The same by the gateway's clock, settled once: breaks that touch must not overlap by what an estimate moves.
    var firstPublicationAtGateway: Timestamp?
    var nextPublication = 0
    /// How many breaks are known, in the order of the plan.
    var prepared = 0
    var publications: [UInt64: Publication] = [:]
    var retries: [Publication] = []
    var lastPublicationID: UInt64 = 0
    /// When a publication was last answered.
    var publicationAnswered: Microseconds = 0
    /// An unanswered publication is a finding by now; a later answer changes nothing.
    var hasGivenUpPublishing = false
    var lastNoticeAt: Microseconds = 0
    var churnBegan: Microseconds = 0
    var churned = 0
    var outcome: RunOutcome?
    var noticesSeen = 0

    private var writer = RequestWriter()
    private var wire: [UInt8] = []

    /// A break that was sent and is not confirmed.
    struct Publication {
        let number: Int
        let stream: Int
        let breakIndex: Int
        let planned: Microseconds
        /// The same each time: the gateway compares repeats as they are sent.
        let request: BroadcastRequest.Publish
        var sent: Microseconds
        var tries = 0
    }

    init(_ settings: RunSettings, hooks: RunHooks) throws(LoadError) {
        self.settings = settings
        self.hooks = hooks
        self.plan = try RunPlan(settings)
        let encrypted = settings.encryption != nil
        self.noticesEndpoint = try Endpoint(settings.gateway.notices, encrypted: encrypted)
        self.requestsEndpoint = try Endpoint(settings.gateway.requests, encrypted: encrypted)
        self.broadcastEndpoint = try Endpoint(settings.gateway.broadcast)
        let mix = settings.mix
        guard let mix = OutcomeMix(played: mix.played, ignored: mix.ignored, failed: mix.failed, seed: settings.seed)
        else { throw .usage("the shares of played, ignored and failed are from 0 to 1, and 1 together") }
        var behaviour = ListenerBehaviour(mix: mix)
        behaviour.push = settings.push
        behaviour.asksAtOnce = settings.storm
        behaviour.speed = settings.speed
        if let file = settings.tokensFile {
            behaviour.tokens = try JoinTokens(path: file, listeners: settings.listeners)
        }
        if let timeout = settings.listenerTimeout {
            behaviour.connectTimeout = timeout
            behaviour.proofTimeout = timeout
            behaviour.requestTimeout = timeout
        }
        self.began = Self.microseconds(.now())
        self.world = LoadWorld(
            behaviour: behaviour,
            streams: self.plan.streams.map { StreamKnowledge(id: $0, mayHaveVariants: settings.tokensFile != nil) },
            clock: GatewayClockEstimate(likely: System.wallClockMicroseconds() - self.began),
            places: GatewayPlaces(first: settings.gateway.requests),
            began: self.began
        )
        self.world.guessesAnnouncements = !settings.publishes
        self.source = SeededSource(seed: settings.seed ^ UInt64(settings.process) << 32)
        let own = settings.ownListeners
        self.pace = ConnectPace(
            total: own.count,
            perSecond: settings.connectRate / Double(settings.processes)
        )
        let stalled = own.count - Int((Double(own.count) * (1 - settings.stall)).rounded())
        for (place, number) in own.enumerated() {
            var listener = SimulatedListener(
                number: Int32(number),
                stream: Int32(number % self.plan.streams.count),
                seed: settings.seed
            )
            // Evenly among the others, so that every stream has some.
            listener.isUnmeasured = stalled > 0 && (place + 1) * stalled / own.count > place * stalled / own.count
            self.listeners.append(listener)
        }
        self.wires = Array(repeating: Wires(), count: own.count)
    }

    static func microseconds(_ time: LoopTime) -> Microseconds { Microseconds(time.nanoseconds / 1_000) }

    static func time(_ microseconds: Microseconds) -> LoopTime {
        LoopTime(nanoseconds: UInt64(max(0, microseconds)) &* 1_000)
    }

    func start(in loop: LoadLoop<RunDriver>) {
        self.began = Self.microseconds(.now())
        self.world.statistics.began = self.began
        self.progressed = self.began
        loop.schedule(TimerToken(kind: TimerKind.pace), at: .now())
        loop.schedule(TimerToken(kind: TimerKind.progress), at: .now())
        if self.settings.publishes {
            self.broadcaster = loop.connect(.dealer, to: self.broadcastEndpoint, tag: Self.broadcasterTag)
        }
    }

    // MARK: - What happens

    func ready(_ connection: Connection, in loop: LoadLoop<RunDriver>) {
        guard connection.tag != Self.broadcasterTag else {
            self.isBroadcasterReady = true
            return self.publishDue(in: loop)
        }
        let index = Int(connection.tag >> 1)
        self.world.statistics.shookHands(at: Self.microseconds(loop.now), after: loop.age(of: connection))
        if connection.tag & 1 == 0 {
            self.wires[index].noticesReady = true
        } else {
            self.wires[index].requestsReady = true
        }
        guard self.wires[index].isReady else { return }
        let now = Self.microseconds(loop.now)
        self.connected(index, now: now)
        self.act(self.listeners[index].connected(now: now, in: &self.world), of: index, now: now, in: loop)
    }

    func received(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<RunDriver>) {
        let now = Self.microseconds(loop.now)
        guard connection.tag != Self.broadcasterTag else { return self.published(message, now: now, in: loop) }
        let index = Int(connection.tag >> 1)
        let actions: SimulatedListener.Actions
        if connection.tag & 1 == 0 {
            actions = self.listeners[index].received(notice: message, now: now, in: &self.world)
        } else {
            let hadJoined = self.listeners[index].hasJoined
            actions = self.listeners[index].received(reply: message, now: now, in: &self.world)
            if !hadJoined, self.listeners[index].hasJoined { self.joined(index, now: now, in: loop) }
        }
        self.act(actions, of: index, now: now, in: loop)
    }

    func pushed(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<RunDriver>) {
        guard connection.tag != Self.broadcasterTag else { return loop.refuse(connection) }
        let now = Self.microseconds(loop.now)
        let index = Int(connection.tag >> 1)
        let actions = self.listeners[index].received(notice: message, now: now, in: &self.world)
        self.act(actions, of: index, now: now, in: loop)
    }

    func ended(_ connection: Connection, _ end: ConnectionEnd, in loop: LoadLoop<RunDriver>) {
        self.lastEnd = end
        guard connection.tag != Self.broadcasterTag else { return self.broadcasterEnded(in: loop) }
        let index = Int(connection.tag >> 1)
        let now = Self.microseconds(loop.now)
        self.act(self.listeners[index].disconnected(now: now, in: &self.world), of: index, now: now, in: loop)
    }

    func fired(_ timer: TimerToken, in loop: LoadLoop<RunDriver>) {
        let now = Self.microseconds(loop.now)
        switch timer.kind {
        case TimerKind.listener:
            let index = Int(timer.value)
            let due = self.wires[index].armed
            guard due <= now else { return }
            self.wires[index].armed = .max
            self.world.statistics.lag.record(intended: due, began: due, ended: now)
            self.act(self.listeners[index].woke(now: now, in: &self.world), of: index, now: now, in: loop)
        case TimerKind.pace: self.openDue(now: now, in: loop)
        case TimerKind.publish: self.publishDue(in: loop)
        case TimerKind.progress: self.look(now: now, in: loop)
        case TimerKind.churn: self.churn(now: now, in: loop)
        case TimerKind.stall: self.stall(Int(timer.value), now: now, in: loop)
        case TimerKind.broadcaster:
            self.broadcaster = loop.connect(.dealer, to: self.broadcastEndpoint, tag: Self.broadcasterTag)
        default: break
        }
    }

    func interrupted(in loop: LoadLoop<RunDriver>) {
        self.isInterrupted = true
        self.finish(in: loop)
    }

    // MARK: - Listeners

    private func openDue(now: Microseconds, in loop: LoadLoop<RunDriver>) {
        let first = self.pace.opened
        let count = self.pace.due(at: loop.now, inProgress: first - self.connectedCount)
        for index in first..<first + count {
            let turn = self.pace.perSecond > 0 ? Microseconds(Double(index) * 1e6 / self.pace.perSecond) : 0
            let intended = min(now, self.began + turn)
            self.act(
                self.listeners[index].open(intended: intended, now: now, in: &self.world),
                of: index,
                now: now,
                in: loop
            )
        }
        guard !self.pace.isComplete, self.phase == .joining else { return }
        loop.schedule(TimerToken(kind: TimerKind.pace), at: loop.now + .milliseconds(1))
    }

    /// How many have their connections, or had them once; what counts for the pace.
    private var connectedCount: Int { min(self.world.statistics.counts.connected, self.pace.opened) }

    /// Does what a listener wants.
    func act(
        _ actions: SimulatedListener.Actions,
        of index: Int,
        now: Microseconds,
        in loop: LoadLoop<RunDriver>
    ) {
        if !actions.isEmpty {
            if actions.contains(.disconnect) { self.disconnect(index, in: loop) }
            if actions.contains(.connect) { self.connect(index, in: loop) }
            if actions.contains(.connectOne) { self.connectOne(index, in: loop) }
            if actions.contains(.connectNotices) { self.connectNotices(index, in: loop) }
            if let notices = self.wires[index].notices {
                if actions.contains(.subscribe) {
                    loop.subscribe(self.world.streams[Int(self.listeners[index].stream)].topic, on: notices)
                }
                if actions.contains(.subscribeSync) { loop.subscribe(NoticeFrame.syncTopic, on: notices) }
                if actions.contains(.unsubscribeSync) { loop.unsubscribe(NoticeFrame.syncTopic, on: notices) }
                if actions.contains(.pause) { loop.pause(notices) }
                if actions.contains(.resume) { loop.resume(notices) }
            }
            if let requests = self.wires[index].requests {
                if actions.contains(.pause) { loop.pause(requests) }
                if actions.contains(.resume) { loop.resume(requests) }
                if actions.contains(.send) { self.send(index, on: requests, in: loop) }
            }
            if self.listeners[index].phase == .gone { self.left(index, now: now, in: loop) }
        }
        let deadline = self.listeners[index].deadline
        if deadline < self.wires[index].armed {
            self.wires[index].armed = deadline
            // Not before the microsecond is over.
            loop.schedule(TimerToken(kind: TimerKind.listener, value: UInt32(index)), at: Self.time(deadline))
        }
    }

    private func send(_ index: Int, on connection: Connection, in loop: LoadLoop<RunDriver>) {
        guard self.listeners[index].write(into: &self.writer, in: self.world) else { return }
        // Taken out and put back: the bytes stay where they are while they are sent.
        var wire: [UInt8] = []
        swap(&wire, &self.wire)
        wire.removeAll(keepingCapacity: true)
        Outgoing.appendRequest(self.writer.frame, to: &wire)
        loop.send(wire.span, on: connection)
        swap(&wire, &self.wire)
    }

    private func connect(_ index: Int, in loop: LoadLoop<RunDriver>) {
        self.disconnect(index, in: loop)
        let endpoints = self.endpoints(of: index)
        self.wires[index].notices = loop.connect(.sub, to: endpoints.notices, tag: UInt64(index) << 1)
        self.wires[index].requests = loop.connect(.req, to: endpoints.requests, tag: UInt64(index) << 1 | 1)
    }

    /// Where a listener connects to: both are one where its gateway was named by another.
    private func endpoints(of index: Int) -> (notices: Endpoint, requests: Endpoint) {
        let own = (self.noticesEndpoint, self.requestsEndpoint)
        let place = Int(self.listeners[index].place)
        guard place > 0 else { return own }
        while self.namedEndpoints.count < place {
            let text = self.world.places.named[self.namedEndpoints.count].description
            self.namedEndpoints.append(try? Endpoint(text, encrypted: self.settings.encryption != nil))
        }
        return self.namedEndpoints[place - 1].map { ($0, $0) } ?? own
    }

    private func connectOne(_ index: Int, in loop: LoadLoop<RunDriver>) {
        self.disconnect(index, in: loop)
        let endpoint = self.endpoints(of: index).requests
        self.wires[index].requests = loop.connect(.dealer, to: endpoint, tag: UInt64(index) << 1 | 1)
    }

    /// The gateway does not push; whether twice as many connections fit is known only now.
    private func connectNotices(_ index: Int, in loop: LoadLoop<RunDriver>) {
        do throws(LoadError) {
            try loop.makeRoom(for: self.listeners.count * 2 + 1)
        } catch {
            self.failure = self.failure ?? error
            return loop.stop()
        }
        let endpoint = self.endpoints(of: index).notices
        self.wires[index].notices = loop.connect(.sub, to: endpoint, tag: UInt64(index) << 1)
    }

    private func disconnect(_ index: Int, in loop: LoadLoop<RunDriver>) {
        if let notices = self.wires[index].notices { loop.close(notices) }
        if let requests = self.wires[index].requests { loop.close(requests) }
        self.wires[index].notices = nil
        self.wires[index].requests = nil
        self.wires[index].noticesReady = false
        self.wires[index].requestsReady = false
    }

    /// A session has left: its listener comes back as another one, unless the run is over.
    private func left(_ index: Int, now: Microseconds, in loop: LoadLoop<RunDriver>) {
        guard self.phase == .joining || self.phase == .running else {
            self.wires[index].isOver = true
            return
        }
        self.listeners[index].renew()
        let actions = self.listeners[index].open(intended: now, now: now, in: &self.world)
        self.act(actions, of: index, now: now, in: loop)
    }

    private func connected(_ index: Int, now: Microseconds) {
        guard self.phase == .joining, !self.wires[index].wasReady else { return }
        self.wires[index].wasReady = true
        self.connectedOnce += 1
        guard self.connectedOnce == self.listeners.count else { return }
        self.world.statistics.allConnected = now
        self.world.statistics.handshakesUntilAllConnected = self.world.statistics.counts.handshakes
    }

    private func joined(_ index: Int, now: Microseconds, in loop: LoadLoop<RunDriver>) {
        if self.listeners[index].isUnmeasured { self.planStall(index, in: loop) }
        guard self.phase == .joining else { return }
        self.joinedOnce += 1
        if self.joinedOnce == self.listeners.count { self.allJoined(now: now, in: loop) }
    }
}

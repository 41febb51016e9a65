// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import SystemSupport

/// Opens the listeners, waits until all are up, has them do what they did before they rest, holds them, and lets them leave.
final class IdleDriver: LoadDriver {
    private enum TimerKind {
        static let pace: UInt32 = 1
        static let look: UInt32 = 2
        static let end: UInt32 = 3
        static let gone: UInt32 = 4
    }

    /// The state of a listener; it is up when it has everything.
    private struct Listener {
        var requests: Connection?
        var isProven = false
        var isJoining = false
        var isUp = false
        /// The gateway sends its notices on the connection of its requests.
        var isPushed = false
        /// The gateway was asked for it, and does not.
        var fellBack = false
        /// The notices that it still has to get, and the batches to request, before it rests.
        var noticesLeft = 0
        var requestsLeft = 0
    }

    private static let broadcasterTag = UInt64.max

    private let settings: IdleSettings
    private let run: UInt32
    private let stream: StreamID
    private let isUp: (Int) -> Void
    private var listeners: [Listener]
    private var pace: ConnectPace
    private var reconnects: Reconnects
    private var upCount = 0
    /// How many still use their connections, once all are up.
    private var busyCount = 0
    private var broadcaster: Connection?
    private var publications = PublicationQueue()
    private var isUsing = false
    private var isUpdating = false
    private var instance: UInt64 = 0
    private var isHolding = false
    /// How many have said that they leave, and have no answer yet.
    private var leavingCount = 0
    private let began = LoopTime.now()
    private var heldSince = LoopTime(nanoseconds: 0)
    private var heldSeconds = 0.0
    private var cpuSeconds = 0.0
    private var lastProgress = LoopTime.now()
    private var handshakes = RequestLatencyRecorder()
    private var ended = 0
    private var isDone = false
    private var failure: LoadError?

    init(_ settings: IdleSettings, run: UInt32, isUp: @escaping (Int) -> Void) throws(LoadError) {
        guard (1...1_000_000).contains(settings.connections) else { throw .usage("--connections is at least 1") }
        self.settings = settings
        self.run = run
        self.isUp = isUp
        self.stream = try TestContent.stream(run: run, 0)
        self.listeners = [Listener](repeating: Listener(), count: settings.connections)
        self.pace = ConnectPace(
            total: settings.connections,
            perSecond: settings.connectionsPerSecond,
            inProgressMax: 256
        )
        self.reconnects = Reconnects(connections: settings.connections)
    }

    func start(in loop: LoadLoop<IdleDriver>) {
        self.openConnections(in: loop)
        loop.schedule(TimerToken(kind: TimerKind.look), at: loop.now + .milliseconds(100))
    }

    func result() throws(LoadError) -> IdleResult {
        if let failure = self.failure { throw failure }
        guard self.isDone else { throw .unavailable("the test was ended before it was done") }
        return IdleResult(
            mode: "idle",
            connections: self.settings.connections,
            pushed: self.listeners.count(where: \.isPushed),
            connectSeconds: Double(self.heldSince - self.began) / 1e9,
            handshake: self.handshakes.summary,
            handshakes: self.handshakes.count,
            holdSeconds: self.heldSeconds,
            ended: self.ended,
            reconnects: self.reconnects.count,
            ownCPUSeconds: self.cpuSeconds
        )
    }

    func ready(_ connection: Connection, in loop: LoadLoop<IdleDriver>) {
        self.lastProgress = loop.now
        guard connection.tag != Self.broadcasterTag else {
            self.broadcaster = connection
            return self.use(in: loop)
        }
        let index = Int(connection.tag)
        self.handshakes.record(nanoseconds: loop.age(of: connection))
        switch connection.kind {
        case .sub:
            loop.subscribe(NoticeFrame.topic(of: self.stream), on: connection)
            if self.settings.isBare {
                self.listeners[index].isProven = true
            } else {
                loop.subscribe(NoticeFrame.syncTopic, on: connection)
            }
        case .req, .dealer: self.listeners[index].requests = connection
        }
        self.goOn(index, in: loop)
    }

    func received(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<IdleDriver>) {
        self.lastProgress = loop.now
        guard connection.tag != Self.broadcasterTag else {
            self.publications.take(message)
            if let refusal = self.publications.refusal { self.fail(.unavailable(refusal), loop) }
            self.publications.send(on: connection, in: loop)
            return
        }
        let index = Int(connection.tag)
        guard connection.kind == .sub else {
            guard !self.isDone else { return self.left(in: loop) }
            return self.answered(message, index, in: loop)
        }
        guard !self.listeners[index].isUp else { return self.heard(message, index, in: loop) }
        guard !self.listeners[index].isProven, !self.settings.isBare else { return }
        if self.instance == 0 {
            var bytes: [UInt8] = []
            System.append(message, to: &bytes)
            // Other input before the tick is a notice, of which this stream has none.
            guard case .tick(let tick)? = try? NoticeFrame(decoding: bytes) else { return }
            self.instance = tick.instance
        }
        self.listeners[index].isProven = true
        loop.unsubscribe(NoticeFrame.syncTopic, on: connection)
        self.goOn(index, in: loop)
    }

    func pushed(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<IdleDriver>) {
        guard connection.tag != Self.broadcasterTag, self.settings.asksForPush else { return loop.refuse(connection) }
        self.heard(message, Int(connection.tag), in: loop)
    }

    /// A join, or what a listener asked before it rests.
    private func answered(_ message: Span<UInt8>, _ index: Int, in loop: LoadLoop<IdleDriver>) {
        guard !self.settings.isBare else { return self.up(index, in: loop) }
        guard let reply = ScannedReply(message), reply.isDone else {
            let what = self.isUsing ? "have its batch" : "join"
            return self.fail(
                .unavailable("a listener may not \(what): status \(ReplyHead(message)?.status ?? 0)"),
                loop
            )
        }
        guard case .joined(let range) = reply.body, let join = ScannedJoin(range, in: message) else {
            self.listeners[index].requestsLeft -= 1
            return self.goOnUsing(index, in: loop)
        }
        if join.pushed {
            self.listeners[index].isPushed = true
            self.listeners[index].isProven = true
        } else if self.settings.asksForPush, !self.listeners[index].fellBack {
            return self.fallBack(index, in: loop)
        }
        self.up(index, in: loop)
    }

    /// The gateway does not push: a connection for notices, a proof and another join.
    private func fallBack(_ index: Int, in loop: LoadLoop<IdleDriver>) {
        do throws(LoadError) {
            try loop.makeRoom(for: self.settings.connectionsMax(falling: true))
        } catch {
            return self.fail(error, loop)
        }
        self.listeners[index].fellBack = true
        self.listeners[index].isJoining = false
        _ = loop.connect(.sub, to: self.settings.notices, tag: UInt64(index))
    }

    func ended(_ connection: Connection, _ end: ConnectionEnd, in loop: LoadLoop<IdleDriver>) {
        guard connection.tag != Self.broadcasterTag else {
            // The broadcaster's connection is not needed once all listeners have what it had to publish.
            guard !self.isHolding, !self.isDone else { return }
            return self.fail(.unavailable("\(self.settings.use?.broadcast.description ?? ""): \(end)"), loop)
        }
        guard !self.isDone else {
            if connection.kind != .sub { self.left(in: loop) }
            return
        }
        guard !self.isHolding else {
            if connection.kind != .sub { self.listeners[Int(connection.tag)].requests = nil }
            self.ended += 1
            return
        }
        if self.reconnects.allow(after: end) { return self.connectAgain(connection, in: loop) }
        let endpoint = connection.kind == .sub ? self.settings.notices : self.settings.requests
        self.fail(.unavailable("\(endpoint?.description ?? ""): \(end)"), loop)
    }

    private func connectAgain(_ connection: Connection, in loop: LoadLoop<IdleDriver>) {
        let index = Int(connection.tag)
        if self.listeners[index].isUp { self.upCount -= 1 }
        self.listeners[index].isUp = false
        self.listeners[index].isPushed = false
        if connection.kind == .sub {
            self.listeners[index].isProven = false
            _ = loop.connect(.sub, to: self.settings.notices, tag: connection.tag)
        } else if let requests = self.settings.requests {
            self.listeners[index].requests = nil
            _ = loop.connect(connection.kind, to: requests, tag: connection.tag)
        }
        self.listeners[index].isJoining = false
    }

    func fired(_ timer: TimerToken, in loop: LoadLoop<IdleDriver>) {
        switch timer.kind {
        case TimerKind.pace: self.openConnections(in: loop)
        case TimerKind.look:
            guard !self.isHolding else { return }
            if loop.now > self.lastProgress + self.settings.patience {
                let missing = self.settings.connections - self.upCount
                let what = missing == 0 ? "have not got their notices and batches" : "are not up"
                return self.fail(
                    .unavailable("\(missing == 0 ? self.busyCount : missing) listeners \(what) in time"),
                    loop
                )
            }
            loop.schedule(timer, at: loop.now + .milliseconds(100))
        case TimerKind.end: self.leave(in: loop)
        case TimerKind.gone: loop.stop()
        default: break
        }
    }

    /// Holds no longer.
    func interrupted(in loop: LoadLoop<IdleDriver>) {
        if self.isHolding { self.leave(in: loop) } else { loop.stop() }
    }

    private func fail(_ error: LoadError, _ loop: LoadLoop<IdleDriver>) {
        self.failure = self.failure ?? error
        loop.stop()
    }

    private func openConnections(in loop: LoadLoop<IdleDriver>) {
        let first = self.pace.opened
        let due = self.pace.due(at: loop.now, inProgress: first - self.upCount)
        for index in first..<first + due {
            let push = self.settings.asksForPush
            if !push { _ = loop.connect(.sub, to: self.settings.notices, tag: UInt64(index)) }
            if let requests = self.settings.requests {
                _ = loop.connect(push ? .dealer : .req, to: requests, tag: UInt64(index))
            }
        }
        guard !self.pace.isComplete else { return }
        loop.schedule(TimerToken(kind: TimerKind.pace), at: loop.now + .milliseconds(1))
    }

    /// Joins once the subscription is proven and the other connection is there; with one connection at once.
    private func goOn(_ index: Int, in loop: LoadLoop<IdleDriver>) {
        let push = self.settings.asksForPush && !self.listeners[index].fellBack
        guard self.listeners[index].isProven || push, !self.listeners[index].isJoining else { return }
        guard self.settings.requests != nil else { return self.up(index, in: loop) }
        guard let connection = self.listeners[index].requests else { return }
        self.listeners[index].isJoining = true
        let request = ListenerRequest(
            id: WireRequest.firstID,
            session: self.session(index),
            kind: .join(
                ListenerRequest.Join(
                    stream: self.stream,
                    instance: push ? 0 : self.instance,
                    client: "cuecast-load",
                    push: push
                )
            )
        )
        loop.sendRequest(request.encoded(), on: connection)
    }

    private func session(_ index: Int) -> SessionID {
        TestContent.session(seed: UInt64(self.run), connection: index, number: 0)
    }

    /// The end of the hold: the sessions leave, so that the gateway need not count them until their leases end.
    private func leave(in loop: LoadLoop<IdleDriver>) {
        guard !self.isDone else { return }
        self.isDone = true
        self.heldSeconds = Double(LoopTime.now() - self.heldSince) / 1e9
        self.cpuSeconds = ProcessUsage.cpuSeconds() - self.cpuSeconds
        for (index, listener) in self.listeners.enumerated() {
            guard !self.settings.isBare, let connection = listener.requests else { continue }
            let leave = ListenerRequest(
                id: WireRequest.firstID,
                session: self.session(index),
                kind: .leave(self.stream)
            )
            self.leavingCount += 1
            loop.sendRequest(leave.encoded(), on: connection)
        }
        guard self.leavingCount > 0 else { return loop.stop() }
        loop.schedule(TimerToken(kind: TimerKind.gone), at: .now() + .seconds(2))
    }

    private func left(in loop: LoadLoop<IdleDriver>) {
        self.leavingCount -= 1
        if self.leavingCount == 0 { loop.stop() }
    }

    private func up(_ index: Int, in loop: LoadLoop<IdleDriver>) {
        guard !self.listeners[index].isUp, self.listeners[index].isProven else { return }
        self.listeners[index].isUp = true
        self.upCount += 1
        guard self.upCount == self.settings.connections else { return }
        guard let use = self.settings.use else { return self.beginHold(in: loop) }
        _ = loop.connect(.dealer, to: use.broadcast, tag: Self.broadcasterTag)
    }

    private func beginHold(in loop: LoadLoop<IdleDriver>) {
        self.isUsing = false
        self.isHolding = true
        self.heldSince = loop.now
        self.cpuSeconds = ProcessUsage.cpuSeconds()
        self.isUp(self.upCount)
        loop.schedule(TimerToken(kind: TimerKind.end), at: loop.now + self.settings.hold)
    }
}

// MARK: - What listeners did before they rest

extension IdleDriver {
    /// Publishes a break; of it and its updates each listener gets every notice, then it asks for the batch again and again.
    private func use(in loop: LoadLoop<IdleDriver>) {
        guard let broadcaster, let use = self.settings.use, !self.isUsing else { return }
        self.isUsing = true
        self.busyCount = self.listeners.count
        for index in self.listeners.indices {
            self.listeners[index].noticesLeft = use.notices
            self.listeners[index].requestsLeft = use.requests
        }
        do throws(LoadError) {
            let key = try TestContent.key(self.stream, 0)
            self.publications.add(TestContent.cuedBreak(key, advertisements: try TestContent.advertisements(3)))
        } catch {
            return self.fail(error, loop)
        }
        self.publications.send(on: broadcaster, in: loop)
    }

    /// Changes the break as often as listeners are to have notices beside the first.
    private func publishUpdates(in loop: LoadLoop<IdleDriver>) {
        guard let broadcaster, let use = self.settings.use, !self.isUpdating else { return }
        self.isUpdating = true
        do throws(LoadError) {
            let key = try TestContent.key(self.stream, 0)
            for number in 1..<max(1, use.notices) {
                self.publications.add(
                    .update(BroadcastRequest.Update(key: key, duration: .seconds(45) + .milliseconds(number)))
                )
            }
        } catch {
            return self.fail(error, loop)
        }
        self.publications.send(on: broadcaster, in: loop)
    }

    /// A message that was not asked for: it counts when it is a notice of our break.
    private func heard(_ message: Span<UInt8>, _ index: Int, in loop: LoadLoop<IdleDriver>) {
        guard self.isUsing, let notice = NoticeHead(message), notice.kind != Notice.Kind.head.rawValue else { return }
        self.lastProgress = loop.now
        // Once a listener hears of the break, it was published and can be changed.
        self.publishUpdates(in: loop)
        self.listeners[index].noticesLeft -= 1
        if self.listeners[index].noticesLeft == 0 { self.goOnUsing(index, in: loop) }
    }

    private func goOnUsing(_ index: Int, in loop: LoadLoop<IdleDriver>) {
        guard self.isUsing else { return }
        guard self.listeners[index].requestsLeft > 0 else {
            self.busyCount -= 1
            if self.busyCount == 0 { self.beginHold(in: loop) }
            return
        }
        guard let connection = self.listeners[index].requests, let key = try? TestContent.key(self.stream, 0) else {
            return
        }
        let request = ListenerRequest(
            id: WireRequest.firstID + UInt64(self.listeners[index].requestsLeft),
            session: self.session(index),
            kind: .getBatch(ListenerRequest.GetBatch(key: key))
        )
        loop.sendRequest(request.encoded(), on: connection)
    }
}

/// Holds listeners that do nothing, or nothing any more.
///
/// - Parameters:
///   - settings: how many, where, how long.
///   - isUp: called with the number of listeners when all are up.
/// - Returns: how long it took, and what ended meanwhile.
/// - Throws: `usage`, `tooManyConnections`, and `unavailable` where they do not come up.
package func holdIdleListeners(
    _ settings: IdleSettings,
    isUp: @escaping (Int) -> Void
) throws(LoadError) -> IdleResult {
    let driver = try IdleDriver(settings, run: UInt32.random(in: 0...UInt32.max), isUp: isUp)
    var loopSettings = LoopSettings()
    loopSettings.handlesSignals = settings.handlesSignals
    loopSettings.encryption = settings.encryption
    let loop = try LoadLoop(
        driver: driver,
        connectionsMax: settings.connectionsMax(falling: false),
        settings: loopSettings
    )
    driver.start(in: loop)
    try loop.run()
    return try driver.result()
}

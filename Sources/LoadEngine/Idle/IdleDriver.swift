// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import NetworkIO

/// Opens the listeners, waits until all are up, holds them, and lets them leave.
final class IdleDriver: LoadDriver {
    private enum TimerKind {
        static let pace: UInt32 = 1
        static let look: UInt32 = 2
        static let end: UInt32 = 3
        static let gone: UInt32 = 4
    }

    /// What a listener has; it is up when it has all.
    private struct Listener {
        var requests: Connection?
        var isProven = false
        var isJoining = false
        var isUp = false
    }

    private let settings: IdleSettings
    private let run: UInt32
    private let stream: StreamID
    private let isUp: (Int) -> Void
    private var listeners: [Listener]
    private var pace: ConnectPace
    private var reconnects: Reconnects
    private var upCount = 0
    private var instance: UInt64 = 0
    private var isHolding = false
    /// How many have said that they leave, and have no answer yet.
    private var leavingCount = 0
    private let began = LoopTime.now()
    private var heldSince = LoopTime(nanoseconds: 0)
    private var heldSeconds = 0.0
    private var cpuSeconds = 0.0
    private var lastProgress = LoopTime.now()
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
            connectSeconds: Double(self.heldSince - self.began) / 1e9,
            holdSeconds: self.heldSeconds,
            ended: self.ended,
            reconnects: self.reconnects.count,
            ownCPUSeconds: self.cpuSeconds
        )
    }

    func ready(_ connection: Connection, in loop: LoadLoop<IdleDriver>) {
        let index = Int(connection.tag)
        self.lastProgress = loop.now
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
        let index = Int(connection.tag)
        self.lastProgress = loop.now
        guard connection.kind == .sub else {
            guard !self.isDone else { return self.left(in: loop) }
            let isAnswer = self.settings.isBare || ReplyHead(message)?.status == StatusCode.ok.rawValue
            guard isAnswer else {
                return self.fail(
                    .unavailable("a listener may not join: status \(ReplyHead(message)?.status ?? 0)"),
                    loop
                )
            }
            return self.up(index, in: loop)
        }
        guard !self.listeners[index].isProven, !self.settings.isBare else { return }
        if self.instance == 0 {
            var bytes: [UInt8] = []
            System.append(message, to: &bytes)
            // What else comes before the tick is a notice, of which this stream has none.
            guard case .tick(let tick)? = try? NoticeFrame(decoding: bytes) else { return }
            self.instance = tick.instance
        }
        self.listeners[index].isProven = true
        loop.unsubscribe(NoticeFrame.syncTopic, on: connection)
        self.goOn(index, in: loop)
    }

    func ended(_ connection: Connection, _ end: ConnectionEnd, in loop: LoadLoop<IdleDriver>) {
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
        if connection.kind == .sub {
            self.listeners[index].isProven = false
            _ = loop.connect(.sub, to: self.settings.notices, tag: connection.tag)
        } else if let requests = self.settings.requests {
            self.listeners[index].requests = nil
            _ = loop.connect(.req, to: requests, tag: connection.tag)
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
                return self.fail(.unavailable("\(missing) listeners are not up in time"), loop)
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
            _ = loop.connect(.sub, to: self.settings.notices, tag: UInt64(index))
            if let requests = self.settings.requests { _ = loop.connect(.req, to: requests, tag: UInt64(index)) }
        }
        guard !self.pace.isComplete else { return }
        loop.schedule(TimerToken(kind: TimerKind.pace), at: loop.now + .milliseconds(1))
    }

    /// Joins once the subscription is proven and the other connection is there.
    private func goOn(_ index: Int, in loop: LoadLoop<IdleDriver>) {
        guard self.listeners[index].isProven, !self.listeners[index].isJoining else { return }
        guard self.settings.requests != nil else { return self.up(index, in: loop) }
        guard let connection = self.listeners[index].requests else { return }
        self.listeners[index].isJoining = true
        let request = ListenerRequest(
            id: WireRequest.firstID,
            session: self.session(index),
            kind: .join(
                ListenerRequest.Join(stream: self.stream, instance: self.instance, client: "cuecast-load")
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
        self.isHolding = true
        self.heldSince = loop.now
        self.cpuSeconds = ProcessUsage.cpuSeconds()
        self.isUp(self.upCount)
        loop.schedule(TimerToken(kind: TimerKind.end), at: loop.now + self.settings.hold)
    }
}

/// Holds listeners that do nothing.
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
    let perListener = settings.requests == nil ? 1 : 2
    let loop = try LoadLoop(
        driver: driver,
        connectionsMax: settings.connections * perListener,
        settings: loopSettings
    )
    driver.start(in: loop)
    try loop.run()
    return try driver.result()
}

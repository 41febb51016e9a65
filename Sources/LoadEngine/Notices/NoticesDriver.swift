// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import SystemSupport
internal import ZMTP

/// Subscribes on many connections, proves the subscriptions, then publishes round after round and checks what comes.
final class NoticesDriver: LoadDriver {
    private enum Phase: UInt32 {
        case connecting
        case proving
        case waiting
        /// The break whose updates are the burst.
        case preparing
        case round
        case done
    }

    private enum TimerKind {
        static let pace: UInt32 = 1
        static let look: UInt32 = 2
        static let round: UInt32 = 3
        static let probe: UInt32 = 4
    }

    private struct Subscriber {
        var connection: Connection?
        var isProven = false
        /// The sequence of the last notice.
        var sequence: UInt64 = 0
    }

    private static let broadcasterTag = UInt64.max

    let settings: NoticesSettings
    private let stream: StreamID
    private let topic: [UInt8]
    private let epoch: UInt64
    private var phase = Phase.connecting
    private var subscribers: [Subscriber]
    private var broadcaster: Connection?
    private var publications = PublicationQueue()
    private var pace: ConnectPace
    private var reconnects: Reconnects
    private var readyCount = 0
    private var provenCount = 0

    /// The sequence of the last notice that was published.
    private var head: UInt64 = 0
    private var roundNumber = 0
    private var began = LoopTime(nanoseconds: 0)
    private var lastProgress = LoopTime.now()
    private var receivedInRound = 0
    private var expectedInRound = 0
    private var latencies: [UInt64] = []
    private var cpuSecondsBefore: Double?
    private var cpuSeconds = 0.0

    private var rounds: [NoticesResult.Round] = []
    private var noticeBytes = 0
    private var lost = 0
    private var repeated = 0
    private var outOfOrder = 0
    private(set) var failure: LoadError?

    init(_ settings: NoticesSettings, run: UInt32) throws(LoadError) {
        try settings.check()
        self.settings = settings
        self.stream = try TestContent.stream(run: run, 0)
        self.topic = NoticeFrame.topic(of: self.stream)
        self.epoch = UInt64.random(in: 1...UInt64.max)
        self.subscribers = [Subscriber](repeating: Subscriber(), count: settings.connections)
        self.pace = ConnectPace(total: settings.connections, perSecond: settings.connectionsPerSecond)
        self.reconnects = Reconnects(connections: settings.connections)
        self.latencies.reserveCapacity(settings.connections)
    }

    func start(in loop: LoadLoop<NoticesDriver>) {
        _ = loop.connect(.dealer, to: self.settings.publisher.endpoint, tag: Self.broadcasterTag)
        self.openConnections(in: loop)
        loop.schedule(TimerToken(kind: TimerKind.look), at: loop.now + .milliseconds(100))
    }

    func result() throws(LoadError) -> NoticesResult {
        if let failure = self.failure { throw failure }
        guard self.phase == .done else { throw .unavailable("the test was ended before it was done") }
        return NoticesResult(
            mode: "notices",
            pattern: self.settings.pattern,
            connections: self.settings.connections,
            noticeBytes: self.noticeBytes,
            rounds: self.rounds,
            lost: self.lost,
            repeated: self.repeated,
            outOfOrder: self.outOfOrder,
            reconnects: self.reconnects.count,
            ownCPUSeconds: self.cpuSeconds
        )
    }

    // MARK: - What happens

    func ready(_ connection: Connection, in loop: LoadLoop<NoticesDriver>) {
        self.lastProgress = loop.now
        if connection.tag == Self.broadcasterTag {
            self.broadcaster = connection
        } else {
            self.readyCount += 1
            self.subscribers[Int(connection.tag)].connection = connection
            loop.subscribe(self.topic, on: connection)
            if !self.settings.isBare { loop.subscribe(NoticeFrame.syncTopic, on: connection) }
        }
        guard self.readyCount == self.settings.connections, self.broadcaster != nil, self.phase == .connecting else {
            return
        }
        self.phase = .proving
        if self.settings.isBare { self.probe(in: loop) }
        self.beginIfProven(in: loop)
    }

    func received(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<NoticesDriver>) {
        guard connection.tag != Self.broadcasterTag else {
            guard !self.settings.isBare else { return }
            self.publications.take(message)
            if let refusal = self.publications.refusal { self.fail(.unavailable(refusal), in: loop) }
            return
        }
        let index = Int(connection.tag)
        // A notice that only tells the position is the probe of a bare run, and otherwise the gateway's own rhythm.
        guard let notice = NoticeHead(message), notice.kind != Notice.Kind.head.rawValue else {
            let isProof = self.settings.isBare || message.count > 0 && message[0] == NoticeFrame.syncTopic[0]
            if isProof, !self.subscribers[index].isProven { self.prove(index, connection, in: loop) }
            return
        }
        self.take(notice, message.count, index, in: loop)
    }

    func ended(_ connection: Connection, _ end: ConnectionEnd, in loop: LoadLoop<NoticesDriver>) {
        let isBroadcaster = connection.tag == Self.broadcasterTag
        if isBroadcaster, self.phase == .waiting, self.reconnects.allow(after: end) {
            // A gateway closes a broadcaster's connection that brings nothing for half a minute, and a silence may be as long.
            self.broadcaster = nil
            self.lastProgress = loop.now
            _ = loop.connect(.dealer, to: self.settings.publisher.endpoint, tag: Self.broadcasterTag)
            return
        }
        if !isBroadcaster, self.phase == .connecting, self.reconnects.allow(after: end) {
            let index = Int(connection.tag)
            if self.subscribers[index].connection.take() != nil { self.readyCount -= 1 }
            if self.subscribers[index].isProven { self.provenCount -= 1 }
            self.subscribers[index].isProven = false
            _ = loop.connect(.sub, to: self.settings.notices, tag: connection.tag)
            return
        }
        guard !isBroadcaster, self.phase.rawValue > Phase.proving.rawValue else {
            let endpoint = isBroadcaster ? self.settings.publisher.endpoint : self.settings.notices
            return self.fail(.unavailable("\(endpoint): \(end)"), in: loop)
        }
        // Missing notices are counted at the end of the round.
        self.subscribers[Int(connection.tag)].connection = nil
        self.readyCount -= 1
        if self.readyCount == 0 {
            self.fail(.unavailable("\(self.settings.notices): every connection has ended: \(end)"), in: loop)
        }
    }

    func fired(_ timer: TimerToken, in loop: LoadLoop<NoticesDriver>) {
        switch timer.kind {
        case TimerKind.pace: self.openConnections(in: loop)
        case TimerKind.round: self.beginRound(in: loop)
        case TimerKind.probe: if self.phase == .proving { self.probe(in: loop) }
        case TimerKind.look:
            self.look(in: loop)
            loop.schedule(timer, at: loop.now + .milliseconds(100))
        default: break
        }
    }

    /// The rounds until now are the result.
    func interrupted(in loop: LoadLoop<NoticesDriver>) {
        if !self.rounds.isEmpty { self.finish() }
        loop.stop()
    }

    private func fail(_ error: LoadError, in loop: LoadLoop<NoticesDriver>) {
        self.failure = self.failure ?? error
        loop.stop()
    }

    /// Gives up what makes no progress.
    private func look(in loop: LoadLoop<NoticesDriver>) {
        let isRound = self.phase == .preparing || self.phase == .round
        let patience = isRound ? self.settings.roundPatience : self.settings.patience
        guard loop.now > self.lastProgress + patience else { return }
        switch self.phase {
        case .connecting:
            self.fail(.unavailable("\(self.settings.notices) does not complete the handshake in time"), in: loop)
        case .proving:
            let missing = self.settings.connections - self.provenCount
            self.fail(.unavailable("\(missing) subscriptions did not take effect in time"), in: loop)
        case .preparing, .round: self.endRound(in: loop)
        case .waiting where self.broadcaster == nil:
            self.fail(
                .unavailable("\(self.settings.publisher.endpoint) does not complete the handshake in time"),
                in: loop
            )
        case .waiting, .done: break
        }
    }
}

// MARK: - Before the rounds

extension NoticesDriver {
    private func openConnections(in loop: LoadLoop<NoticesDriver>) {
        let first = self.pace.opened
        let due = self.pace.due(at: loop.now, inProgress: first - self.readyCount)
        for index in first..<first + due {
            _ = loop.connect(.sub, to: self.settings.notices, tag: UInt64(index))
        }
        guard !self.pace.isComplete else { return }
        loop.schedule(TimerToken(kind: TimerKind.pace), at: loop.now + .milliseconds(1))
    }

    private func prove(_ index: Int, _ connection: Connection, in loop: LoadLoop<NoticesDriver>) {
        self.subscribers[index].isProven = true
        self.provenCount += 1
        self.lastProgress = loop.now
        if !self.settings.isBare { loop.unsubscribe(NoticeFrame.syncTopic, on: connection) }
        self.beginIfProven(in: loop)
    }

    private func beginIfProven(in loop: LoadLoop<NoticesDriver>) {
        guard self.phase == .proving, self.provenCount == self.settings.connections else { return }
        self.wait(in: loop)
    }

    /// A bare forwarder says nothing by itself: notices without a sequence, until all have had one.
    private func probe(in loop: LoadLoop<NoticesDriver>) {
        let now = Timestamp(microseconds: System.wallClockMicroseconds())
        let notice = Notice.head(Position(epoch: self.epoch, sequence: 0), sent: now)
        if let broadcaster = self.broadcaster {
            loop.sendRequest(NoticeFrame.notice(notice, stream: self.stream).encoded(), on: broadcaster)
        }
        loop.schedule(TimerToken(kind: TimerKind.probe), at: loop.now + .milliseconds(200))
    }
}

// MARK: - Rounds

extension NoticesDriver {
    /// The silence before a round, long enough for probes to have gone by.
    private func wait(in loop: LoadLoop<NoticesDriver>) {
        self.phase = .waiting
        let silence = max(self.settings.silence, .milliseconds(self.roundNumber == 0 ? 500 : 0))
        loop.schedule(TimerToken(kind: TimerKind.round), at: loop.now + silence)
    }

    private func beginRound(in loop: LoadLoop<NoticesDriver>) {
        guard self.broadcaster != nil else {
            // It is being connected anew.
            return loop.schedule(TimerToken(kind: TimerKind.round), at: loop.now + .milliseconds(10))
        }
        if self.cpuSecondsBefore == nil { self.cpuSecondsBefore = ProcessUsage.cpuSeconds() }
        self.phase = self.settings.pattern == .single ? .round : .preparing
        self.publish(1, in: loop) { (driver) throws(LoadError) in
            [
                TestContent.cuedBreak(
                    try TestContent.key(driver.stream, driver.roundNumber),
                    advertisements: try TestContent.advertisements(3)
                )
            ]
        }
    }

    private func beginBurst(in loop: LoadLoop<NoticesDriver>) {
        self.phase = .round
        self.publish(self.settings.burst, in: loop) { (driver) throws(LoadError) in
            let key = try TestContent.key(driver.stream, driver.roundNumber)
            return (1...driver.settings.burst)
                .map {
                    .update(BroadcastRequest.Update(key: key, duration: .seconds(45) + .milliseconds($0)))
                }
        }
    }

    /// Publishes `count` notices in one piece, by the gateway or ready-made.
    private func publish(
        _ count: Int,
        in loop: LoadLoop<NoticesDriver>,
        _ requests: (NoticesDriver) throws(LoadError) -> [BroadcastRequest.Kind]
    ) {
        guard let broadcaster = self.broadcaster else { return }
        var wire: [UInt8] = []
        do throws(LoadError) {
            if self.settings.isBare {
                for number in 1...UInt64(count) {
                    Outgoing.appendRequest(try self.notice(self.head + number), to: &wire)
                }
            } else {
                for request in try requests(self) { self.publications.add(request) }
            }
        } catch {
            return self.fail(error, in: loop)
        }
        self.head += UInt64(count)
        self.receivedInRound = 0
        self.expectedInRound = count * self.settings.connections
        self.latencies.removeAll(keepingCapacity: true)
        self.began = .now()
        self.lastProgress = self.began
        if self.settings.isBare {
            loop.send(wire.span, on: broadcaster)
        } else {
            self.publications.send(on: broadcaster, in: loop, inFlightMax: .max)
        }
    }

    /// A notice as a gateway would make it.
    private func notice(_ sequence: UInt64) throws(LoadError) -> [UInt8] {
        let now = Timestamp(microseconds: System.wallClockMicroseconds())
        let notice = Notice(
            position: Position(epoch: self.epoch, sequence: sequence),
            kind: self.phase == .round && self.settings.pattern == .burst ? .updated : .available,
            breakID: try TestContent.key(self.stream, self.roundNumber).id,
            duration: .seconds(45),
            window: RequestWindow(from: now, by: now + .seconds(5)),
            expires: now + .seconds(3_600),
            advertisementCount: 3,
            sent: now
        )
        return NoticeFrame.notice(notice, stream: self.stream).encoded()
    }

    private func take(_ notice: NoticeHead, _ bytes: Int, _ index: Int, in loop: LoadLoop<NoticesDriver>) {
        let last = self.subscribers[index].sequence
        guard notice.sequence > last else {
            if notice.sequence == last { self.repeated += 1 } else { self.outOfOrder += 1 }
            return
        }
        self.lost += Int(clamping: notice.sequence - last - 1)
        self.subscribers[index].sequence = notice.sequence
        self.noticeBytes = bytes
        self.receivedInRound += 1
        self.lastProgress = loop.now
        if self.settings.pattern == .single { self.latencies.append(loop.now - self.began) }
        guard self.receivedInRound == self.expectedInRound else { return }
        if self.phase == .preparing {
            self.beginBurst(in: loop)
        } else if self.phase == .round {
            self.endRound(in: loop)
        }
    }

    private func endRound(in loop: LoadLoop<NoticesDriver>) {
        // The gaps between notices are counted already; what is missing behind the last is not.
        for index in self.subscribers.indices where self.subscribers[index].sequence < self.head {
            self.lost += Int(clamping: self.head - self.subscribers[index].sequence)
            self.subscribers[index].sequence = self.head
        }
        var round = NoticesResult.Round(received: self.receivedInRound)
        switch self.settings.pattern {
        case .single:
            self.latencies.sort()
            round.medianMicroseconds = self.latency(at: 0.5)
            round.percentile99Microseconds = self.latency(at: 0.99)
            round.lastMicroseconds = self.latency(at: 1)
        case .burst:
            let seconds = Double(self.lastProgress - self.began) / 1e9
            round.messages = self.settings.burst
            round.seconds = seconds
            round.perSecond = seconds > 0 ? Double(self.receivedInRound) / seconds : 0
        }
        self.rounds.append(round)
        self.roundNumber += 1
        if self.roundNumber < self.settings.rounds {
            self.wait(in: loop)
        } else {
            self.finish()
            loop.stop()
        }
    }

    private func finish() {
        self.phase = .done
        self.cpuSeconds = ProcessUsage.cpuSeconds() - (self.cpuSecondsBefore ?? 0)
    }

    /// The latency that this share of those that came did not pass, in microseconds.
    private func latency(at share: Double) -> Double {
        guard !self.latencies.isEmpty else { return 0 }
        let rank = Int((share * Double(self.latencies.count)).rounded(.up))
        return Double(self.latencies[max(0, rank - 1)]) / 1_000
    }
}

/// Measures how soon, or how fast, notices reach many subscribers.
///
/// - Throws: `usage`, `tooManyConnections`, and `unavailable` where the peer does not answer, or not as a gateway.
package func measureNotices(_ settings: NoticesSettings) throws(LoadError) -> NoticesResult {
    let driver = try NoticesDriver(settings, run: UInt32.random(in: 0...UInt32.max))
    var loopSettings = LoopSettings()
    loopSettings.handlesSignals = settings.handlesSignals
    loopSettings.encryption = settings.encryption
    let loop = try LoadLoop(driver: driver, connectionsMax: settings.connections + 1, settings: loopSettings)
    driver.start(in: loop)
    try loop.run()
    return try driver.result()
}

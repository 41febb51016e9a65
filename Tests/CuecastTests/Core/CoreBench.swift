// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import GatewayCore
import Testing

@_spi(Transports) @_spi(Tuning) @testable import Cuecast

/// The core with a gateway on a perfect network, step by step: both sides' decisions are the real ones.
struct CoreBench {
    var core: ListenerCore
    var gateway: CoreGateway
    var now = LocalInstant.start
    var actions: [ListenerCore.Action] = []
    /// Whether requests reach the gateway.
    var answers = true
    /// Whether the gateway can send notices on the connection of a join; an older one cannot.
    private let pushes: Bool
    /// The state of pushing on the connection.
    private(set) var push = PushPlace.none
    /// Refuses, before they reach the gateway, the requests for which it gives a refusal.
    var refuse: @Sendable (ListenerRequest) -> Refusal? = { _ in nil }
    /// The requests that were answered.
    private(set) var requests: [ListenerRequest] = []
    /// The outcomes of each advertisement that the gateway took, every time.
    private(set) var outcomes: [AdvertisementKey: [Outcome]] = [:]

    init(
        headInterval: Duration = .seconds(5),
        disk: JournalDisk = .none,
        by path: NoticePath = .pushed,
        _ configure: (inout ListenerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
        configuration.connections = path.connections
        configure(&configuration)
        self.pushes = path.isPushing
        self.gateway = CoreGateway(
            stream: stream(),
            policy: .announcingAtOnce,
            headInterval: headInterval,
            at: gatewayStart
        )
        self.core = ListenerCore(
            settings: try ListenerSettings(configuration),
            session: SessionID(high: 1, low: 2),
            origin: .now,
            disk: disk,
            seed: 1
        )
    }

    /// The same gateway, which knows what was told to it, with another run of the app.
    init(after earlier: CoreBench, core: ListenerCore, now: LocalInstant) {
        self.core = core
        self.gateway = earlier.gateway
        self.pushes = earlier.pushes
        self.outcomes = earlier.outcomes
        self.now = now
    }

    // MARK: The listener

    /// Lets the core do something, then performs what it decides.
    mutating func step(_ body: (inout ListenerCore, LocalInstant) -> Void) {
        body(&self.core, self.now)
        self.perform()
    }

    private mutating func perform() {
        while case let actions = self.core.takeActions(), !actions.isEmpty {
            self.actions += actions
            for action in actions {
                switch action {
                case .connect: self.push = self.pushes ? .free : .none
                case .send(let frame) where self.answers:
                    let (attempt, reply) = (self.core.conversation.connection.attempt, self.reply(to: frame))
                    self.core.transport(.reply(reply), attempt: attempt, now: self.now)
                default: break
                }
            }
        }
    }

    /// Lets the gateway answer a request, and gives what it says.
    mutating func answer(_ request: ListenerRequest, at now: Timestamp) -> [UInt8] {
        self.gateway.answer(request.encoded(), push: &self.push, at: now)
    }

    private mutating func reply(to frame: [UInt8]) -> [UInt8] {
        let now = gatewayStart + self.now.sinceStart
        guard let request = try? ListenerRequest(decoding: frame) else {
            preconditionFailure("the core sends what can be read")
        }
        self.requests.append(request)
        if let refusal = self.refuse(request) {
            return ListenerReply(requestID: request.id, gatewayTime: now, body: .refused(refusal)).encoded()
        }
        let answer = self.gateway.answer(frame, push: &self.push, at: now)
        guard let reply = try? ListenerReply(decoding: answer) else {
            preconditionFailure("the gateway sends what can be read")
        }
        if case .acknowledge(let told) = request.kind, case .acknowledged = reply.body {
            for outcome in told.outcomes {
                let key = AdvertisementKey(breakID: told.key.id, id: outcome.advertisementID)
                self.outcomes[key, default: []].append(outcome)
            }
        }
        return answer
    }

    /// The ticket in the answer to a join of the core's session.
    var ticket: [UInt8]? {
        MessageKeys.fixed.ticket(SessionTicket(session: self.core.session, stream: self.core.settings.stream))
    }

    /// Wakes the core whenever it wants to be, until then.
    mutating func advance(to seconds: Double) {
        let end = local(seconds)
        while let wake = self.core.nextWake(now: self.now), wake <= end {
            self.now = max(wake, self.now + .microseconds(1))
            self.step { $0.wake(now: $1) }
        }
        self.now = max(self.now, end)
        self.step { $0.wake(now: $1) }
    }

    mutating func receive(_ event: ListenerConnectionEvent) {
        let attempt = self.core.conversation.connection.attempt
        self.step { $0.transport(event, attempt: attempt, now: $1) }
    }

    mutating func receive(_ notice: Notice) {
        self.receive(.notice(NoticeFrame.notice(notice, stream: stream()).encoded()))
    }

    mutating func tick(_ instance: UInt64 = 100) {
        self.receive(.notice(NoticeFrame.tick(SyncTick(instance: instance, counter: 1)).encoded()))
    }

    /// Starts, connects and joins; proves the subscription first, where there is one.
    mutating func listen() {
        self.step { $0.start(now: $1) }
        self.connect()
    }

    /// The transport has made the connection; ticks are ignored if none is expected.
    mutating func connect() {
        self.receive(.connected)
        self.tick(self.gateway.instance)
    }

    /// The app's next advertisement.
    mutating func next(at now: LocalInstant) -> Advertisement? {
        self.now = max(self.now, now)
        return self.core.nextAdvertisement(now: now)
    }

    mutating func expectNext(
        _ adID: String?,
        at now: LocalInstant,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let given = self.next(at: now)?.adID
        #expect(given == adID, sourceLocation: sourceLocation)
    }

    /// The sent requests, decoded.
    var sent: [ListenerRequest] {
        self.actions.compactMap { action in
            guard case .send(let frame) = action else { return nil }
            return try? ListenerRequest(decoding: frame)
        }
    }

    var events: [ListenerEvent] {
        self.actions.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    func count(_ matches: (ListenerCore.Action) -> Bool) -> Int { self.actions.count(where: matches) }

    // MARK: The broadcaster

    /// Publishes a break at the gateway; listeners may ask at once, where no window is given.
    ///
    /// One that started before `now` was published when it started: its notice comes late.
    ///
    /// - Returns: its notice, for its receiver.
    mutating func publish(
        _ name: String,
        _ advertisements: [AdvertisementContent],
        start: Timestamp? = nil,
        holdUntil: Timestamp? = nil,
        window: RequestWindow? = nil,
        preStream: Bool = false,
        exact: Bool = false,
        duration: Duration? = nil,
        at now: Timestamp
    ) throws -> Notice {
        let total = advertisements.reduce(Duration.zero) { $0 + $1.duration }
        return try self.ask(
            .publish(
                BroadcastRequest.Publish(
                    key: BreakKey(stream: stream(), id: breakID(name)),
                    start: start.map { .at($0) },
                    duration: preStream ? nil : duration ?? total,
                    advertisements: advertisements,
                    preStream: preStream,
                    exact: exact,
                    hold: holdUntil.map { $0 - now }
                )
            ),
            window: window,
            at: start.map { min($0, now) } ?? now
        )
    }

    /// Asks the gateway for one change of a break, and gives the notice that comes of it.
    mutating func ask(
        _ kind: BroadcastRequest.Kind,
        window: RequestWindow? = nil,
        at now: Timestamp
    ) throws -> Notice {
        let notices = try self.gateway.ask(kind, window: window ?? RequestWindow(from: now, by: now), at: now)
        #expect(notices.count == 1)
        return try #require(notices.first)
    }

    /// To how many sessions the gateway's books say that each advertisement of a break was handed out, together.
    mutating func delivered(_ name: String) -> Int {
        let entry = self.gateway.report().breaks.first { $0.summary.key.id == breakID(name) }
        return entry.map { $0.advertisements.reduce(0) { $0 + Int($1.counts.delivered) } } ?? 0
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) @_spi(Tuning) public import Cuecast
package import CuecastWire
internal import GatewayCore
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A gateway in memory: publishes breaks when a test says so, and keeps what players tell it.
///
/// It is the transport of the client under test, so that nothing goes over a network:
///
/// ```swift
/// let gateway = try ScriptedGateway()
/// let client = try CuecastClient(configuration: gateway.configuration, transport: gateway)
/// client.advertisements.addObserver(advertisementDelegate: player)
/// try await client.start()
///
/// try gateway.publish(ScriptedBreak("b1", [ScriptedAdvertisement("spot", duration: .seconds(1))]), in: .zero)
/// let outcome = try await gateway.outcome(of: "spot", in: "b1")
/// #expect(outcome.result == .played)
/// ```
///
/// It decides by the code of a real gateway: breaks overlap no other, late players get what is left, players that
/// reconnect are told what they missed, and the first outcome of an advertisement in a session stands. It is set up so
/// that a test waits for nothing: a break is announced when it is published, and each player may ask at once. What goes
/// wrong on a test's word (``isReachable``, ``answering``, ``loseNotices(_:)``, ``refuse(_:_:times:)``) goes wrong on the
/// way to it.
///
/// One gateway serves one stream, and any number of players; a player of another stream finds nothing there. The time is
/// real time. All methods may be called from any thread.
public final class ScriptedGateway: ListenerTransport {
    /// Whether and when requests are answered.
    @nonexhaustive
    public enum Answering: Hashable, Sendable {
        /// At once.
        case atOnce
        /// After this time.
        case after(Duration)
        /// Never: the player runs into its timeout. What is asked is not done.
        case never
    }

    /// The gateway, and what the test does to what goes to it and comes from it.
    struct State {
        var gateway: CoreGateway
        var connections: [ObjectIdentifier: ScriptConnection] = [:]
        var isReachable = true
        var pushesNotices = true
        var answering = Answering.atOnce
        var noticesToLose = 0
        var refusals: [PlannedRefusal] = []
        var requests: [ScriptedRequest] = []
        var sessions: [String] = []
        /// How many outcomes were told in requests that the gateway took.
        var outcomesTold = 0
    }

    /// A refusal for some kinds of requests, so many times.
    struct PlannedRefusal {
        let kinds: Set<ScriptedRequest.Kind>
        let refusal: ScriptedRefusal
        var times: Int
    }

    /// The stream that it serves.
    public let stream: LiveStream
    let state: Mutex<State>
    let clock: ScriptClock
    let change = ChangeSignal()

    /// A gateway without breaks.
    ///
    /// - Parameters:
    ///   - stream: the stream that it serves.
    ///   - headInterval: how often it repeats the stream's position; players notice within this time that they missed
    ///     something, and after 2.5 times of silence that the connection is dead. 10 ms at least.
    /// - Throws: ``ScriptedGatewayError/invalid(_:)`` where no stream can have this id.
    public init(
        stream: LiveStream = LiveStream(id: "radio1"),
        headInterval: Duration = .seconds(1)
    ) throws(ScriptedGatewayError) {
        let unixTime = Int64(Date().timeIntervalSince1970 * 1_000_000)
        self.clock = ScriptClock(origin: .now, start: Timestamp(microseconds: unixTime))
        do throws(WireError) {
            let gateway = CoreGateway(
                stream: try StreamID(stream.id),
                policy: .announcingAtOnce,
                headInterval: max(headInterval, .milliseconds(10)),
                at: self.clock.start
            )
            self.state = Mutex(State(gateway: gateway))
        } catch {
            throw .invalid(error.description)
        }
        self.stream = stream
    }

    /// A player's configuration for this gateway: its stream, and short waits before it tries again.
    public var configuration: ListenerConfiguration {
        var configuration = ListenerConfiguration(
            gateway: GatewayAddress(notices: "memory:notices", requests: "memory:requests"),
            stream: self.stream
        )
        configuration.timings.retryDelayFirst = .milliseconds(10)
        configuration.timings.retryDelayMax = .milliseconds(100)
        return configuration
    }

    /// The time of the gateway's clock.
    package var time: Timestamp { self.clock.now }

    // MARK: The transport

    /// Notices come with the answers, where a player wants one connection and ``pushesNotices``.
    @_spi(Transports) public var takesPush: Bool { true }

    /// Connects a player; the address does not matter.
    @_spi(Transports) public func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        let connection = ScriptConnection(self, receive)
        let isReachable = self.state.withLock { state in
            if state.isReachable { state.connections[ObjectIdentifier(connection)] = connection }
            return state.isReachable
        }
        if isReachable {
            connection.tell(.connected)
            self.change.send()
        } else {
            connection.end(reason: "the gateway cannot be reached")
        }
        return connection
    }

    func forget(_ connection: ScriptConnection) {
        self.state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
        self.change.send()
    }

    /// The reply to a request of a connection, how long it takes, and whether it answers a join; `nil`: none.
    func answer(
        _ request: [UInt8],
        on connection: ScriptConnection
    ) -> (reply: [UInt8], wait: Duration, isJoin: Bool)? {
        _ = self.runTimers()
        let answer = self.state.withLock { state -> (reply: [UInt8], wait: Duration, isJoin: Bool)? in
            let (isAnswered, wait): (Bool, Duration) =
                switch state.answering {
                case .atOnce: (true, .zero)
                case .after(let wait): (true, wait)
                case .never: (false, .zero)
                }
            let before = state.pushesNotices ? connection.push : .none
            var push = before
            let (reply, isJoin) = state.answer(
                request,
                push: &push,
                at: self.clock.now,
                clock: self.clock,
                isAnswered: isAnswered
            )
            guard let reply else { return nil }
            // Under this lock: the first notice that the answer does not know finds it so.
            if isJoin || push != before { connection.set(push, joins: isJoin) }
            return (reply, wait, isJoin)
        }
        self.change.send()
        return answer
    }

    func tick() -> [UInt8] {
        let instance = self.state.withLock { $0.gateway.instance }
        return NoticeFrame.tick(SyncTick(instance: instance, counter: 1)).encoded()
    }

    /// Does what its time has come for.
    ///
    /// - Returns: when something falls due next.
    private func runTimers() -> ContinuousClock.Instant? {
        let (deliveries, next) = self.state.withLock { state -> ([Delivery], Timestamp?) in
            let (notices, next) = state.gateway.runTimers(at: self.clock.now)
            return (notices.compactMap { state.delivery(of: $0) }, next)
        }
        for each in deliveries { each.carryOut() }
        if !deliveries.isEmpty { self.change.send() }
        return next.map { self.clock.local($0) }
    }

    /// Does what time brings, as long as the task is not cancelled.
    func keepTime() async {
        while !Task.isCancelled {
            let version = self.change.version
            await self.change.changed(since: version, orUntil: self.runTimers() ?? .now + .seconds(86_400))
        }
    }

    // MARK: What the broadcaster does

    /// Publishes a break that starts after this time, and announces it now.
    ///
    /// - Parameters:
    ///   - scripted: the break.
    ///   - lead: when it starts, 6 h from now at most; below zero the break was published so long ago and started at once,
    ///     and players are told now.
    /// - Throws: ``ScriptedGatewayError/invalid(_:)``, or ``ScriptedGatewayError/wrongState(_:)`` where the id is used
    ///   already for something else or another break holds part of that time.
    public func publish(_ scripted: ScriptedBreak, in lead: Duration = .zero) throws(ScriptedGatewayError) {
        try self.ask(at: self.clock.now + min(lead, .zero)) { (stream, _) throws(WireError) in
            .publish(try scripted.request(stream, start: .after(max(lead, .zero))))
        }
    }

    /// Publishes a break that every player gets which joins from now on, before its stream starts, once.
    ///
    /// - Parameters:
    ///   - scripted: the break.
    ///   - hold: how long it is open.
    /// - Throws: ``ScriptedGatewayError/invalid(_:)``, or ``ScriptedGatewayError/wrongState(_:)`` where the id is used
    ///   already for something else.
    public func publishPreStream(
        _ scripted: ScriptedBreak,
        openFor hold: Duration = .seconds(1_800)
    ) throws(ScriptedGatewayError) {
        try self.ask { (stream, _) throws(WireError) in
            .publish(try scripted.request(stream, start: nil, preStream: true, hold: hold))
        }
    }

    /// Publishes a break without a start: players fetch it and hold it until ``punch(_:in:)``.
    ///
    /// - Parameters:
    ///   - scripted: the break.
    ///   - hold: how long it is held at most; then it expires, and players are told.
    /// - Throws: ``ScriptedGatewayError/invalid(_:)``, or ``ScriptedGatewayError/wrongState(_:)`` where the id is used
    ///   already for something else.
    public func cue(_ scripted: ScriptedBreak, hold: Duration = .seconds(1_800)) throws(ScriptedGatewayError) {
        try self.ask { (stream, _) throws(WireError) in
            .publish(try scripted.request(stream, start: nil, hold: hold))
        }
    }

    /// Lets a cued break start after this time.
    ///
    /// - Throws: ``ScriptedGatewayError/wrongState(_:)`` where it is not cued, or over.
    public func punch(_ breakID: String, in lead: Duration = .zero) throws(ScriptedGatewayError) {
        try self.ask { (stream, now) throws(WireError) in
            .punch(.init(key: try Self.key(stream, breakID), start: Self.start(in: lead, from: now)))
        }
    }

    /// Changes when a break starts or how long it lasts; what is `nil` stays.
    ///
    /// - Throws: ``ScriptedGatewayError/wrongState(_:)`` where it has started (for its start), or is over.
    public func update(
        _ breakID: String,
        startIn lead: Duration? = nil,
        duration: Duration? = nil
    ) throws(ScriptedGatewayError) {
        try self.ask { (stream, now) throws(WireError) in
            .update(
                .init(
                    key: try Self.key(stream, breakID),
                    start: lead.map { Self.start(in: $0, from: now) },
                    duration: duration
                )
            )
        }
    }

    /// Ends a break that has started, after this time.
    ///
    /// - Parameters:
    ///   - breakID: the break.
    ///   - lead: when it ends.
    ///   - endMode: the effect on the playing advertisement; `nil`: what the break says.
    /// - Throws: ``ScriptedGatewayError/wrongState(_:)`` where it starts later, or ends sooner as it is.
    public func end(
        _ breakID: String,
        in lead: Duration = .zero,
        endMode: ScriptedBreak.EndMode? = nil
    ) throws(ScriptedGatewayError) {
        try self.ask { (stream, now) throws(WireError) in
            .end(
                .init(
                    key: try Self.key(stream, breakID),
                    endMode: endMode?.wire,
                    at: lead == .zero ? nil : now + lead
                )
            )
        }
    }

    /// Withdraws a break; once more changes nothing.
    ///
    /// - Throws: ``ScriptedGatewayError/wrongState(_:)`` where there is none, or it is over.
    public func cancel(_ breakID: String) throws(ScriptedGatewayError) {
        try self.ask { (stream, _) throws(WireError) in .cancel(try Self.key(stream, breakID)) }
    }

    private static func key(_ stream: StreamID, _ breakID: String) throws(WireError) -> BreakKey {
        BreakKey(stream: stream, id: try BreakID(breakID))
    }

    /// A request says how long from its receipt; what is over by then it can say as an instant only.
    private static func start(in lead: Duration, from now: Timestamp) -> BreakStart {
        lead < .zero ? .at(now + lead) : .after(lead)
    }

    /// Asks the gateway as a broadcaster does, and sends the notice that comes of it.
    private func ask(
        at received: Timestamp? = nil,
        _ kind: (StreamID, Timestamp) throws(WireError) -> BroadcastRequest.Kind
    ) throws(ScriptedGatewayError) {
        _ = self.runTimers()
        let now = received ?? self.clock.now
        let deliveries = try self.state.withLock { (state) throws(ScriptedGatewayError) -> [Delivery] in
            let asked: BroadcastRequest.Kind
            do throws(WireError) {
                asked = try kind(state.gateway.stream, now)
            } catch {
                throw .invalid(error.description)
            }
            do throws(CoreGateway.Refused) {
                // There is no other requester: every player may ask at once.
                let notices = try state.gateway.ask(asked, window: RequestWindow(from: now, by: now), at: now)
                return notices.compactMap { state.delivery(of: $0) }
            } catch {
                throw ScriptedGatewayError(error)
            }
        }
        for each in deliveries { each.carryOut() }
        self.change.send()
    }
}

/// A notice on its way.
struct Delivery {
    let frame: [UInt8]
    let connections: [ScriptConnection]

    /// Not under the gateway's lock: the receiver may ask at once.
    func carryOut() {
        for connection in self.connections { connection.tell(notice: self.frame) }
    }
}

extension ScriptedGateway.State {
    /// The players that get a notice; `nil`: it is lost.
    mutating func delivery(of notice: Notice) -> Delivery? {
        if notice.kind != .head, self.noticesToLose > 0 {
            self.noticesToLose -= 1
            return nil
        }
        let frame = NoticeFrame.notice(notice, stream: self.gateway.stream).encoded()
        return Delivery(frame: frame, connections: Array(self.connections.values))
    }

    /// Lets the gateway answer one request frame, unless the test has something else in mind for it.
    ///
    /// - Parameters:
    ///   - frame: the request.
    ///   - push: the push state of its connection, before and after the request.
    ///   - now: the gateway's clock.
    ///   - clock: between the gateway's clock and this device's.
    ///   - isAnswered: whether the player gets the reply; what is not answered does not get to the gateway either.
    /// - Returns: the reply's frame; `nil`: no answer. And whether it is for a join.
    mutating func answer(
        _ frame: [UInt8],
        push: inout PushPlace,
        at now: Timestamp,
        clock: ScriptClock,
        isAnswered: Bool
    ) -> (reply: [UInt8]?, isJoin: Bool) {
        guard let request = try? ListenerRequest(decoding: frame) else {
            return (isAnswered ? self.gateway.answer(frame, at: now) : nil, false)
        }
        var told = ScriptedRequest(request, received: clock.local(now))
        told.isRefused = true
        defer { self.requests.append(told) }
        let isJoin = told.kind == .join
        guard isAnswered else { return (nil, isJoin) }
        if let refusal = self.refusal(of: told.kind) {
            let reply = ListenerReply(requestID: request.id, gatewayTime: now, body: .refused(refusal))
            return (reply.encoded(), isJoin)
        }
        let reply = self.gateway.answer(frame, push: &push, at: now)
        switch (try? ListenerReply(decoding: reply))?.body {
        case .refused: break
        case .acknowledged:
            told.isRefused = false
            self.outcomesTold += told.adIDs.count
        default:
            told.isRefused = false
            if isJoin, !self.sessions.contains(told.session) { self.sessions.append(told.session) }
        }
        return (reply, isJoin)
    }

    private mutating func refusal(of kind: ScriptedRequest.Kind) -> Refusal? {
        guard let index = self.refusals.firstIndex(where: { $0.kinds.contains(kind) }) else { return nil }
        let refusal = self.refusals[index].refusal
        self.refusals[index].times -= 1
        if self.refusals[index].times <= 0 { self.refusals.remove(at: index) }
        return refusal.wire
    }
}

/// Between the gateway's clock and this device's.
struct ScriptClock: Sendable {
    let origin: ContinuousClock.Instant
    /// The gateway's clock at `origin`.
    let start: Timestamp

    func gateway(_ instant: ContinuousClock.Instant) -> Timestamp { self.start + self.origin.duration(to: instant) }

    func local(_ instant: Timestamp) -> ContinuousClock.Instant { self.origin + (instant - self.start) }

    var now: Timestamp { self.gateway(.now) }
}

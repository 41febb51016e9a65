// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast
internal import CuecastWire
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
/// It follows the wire contract as a real gateway does: breaks overlap no other, late players get what is left, players
/// that reconnect are told what they missed, and the first outcome of an advertisement in a session stands. It differs
/// where a test would wait for nothing: a break is announced when it is published, and each player may ask at once.
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

    struct State {
        var script: Script
        var connections: [ObjectIdentifier: ScriptConnection] = [:]
        var isReachable = true
        var answering = Answering.atOnce
        var noticesToLose = 0
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
        do throws(WireError) {
            let script = Script(
                stream: try StreamID(stream.id),
                headInterval: max(headInterval, .milliseconds(10))
            )
            self.state = Mutex(State(script: script))
        } catch {
            throw .invalid(error.description)
        }
        self.stream = stream
        let unixTime = Int64(Date().timeIntervalSince1970 * 1_000_000)
        self.clock = ScriptClock(origin: .now, start: Timestamp(microseconds: unixTime))
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

    // MARK: The transport

    /// Connects a player; the address does not matter.
    public func connect(
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

    /// The reply to a request and how long it takes; `nil`: none.
    func answer(_ request: [UInt8]) -> (reply: [UInt8], wait: Duration)? {
        let now = self.clock.now
        let answer = self.state.withLock { state -> (reply: [UInt8], wait: Duration)? in
            let (isAnswered, wait): (Bool, Duration) =
                switch state.answering {
                case .atOnce: (true, .zero)
                case .after(let wait): (true, wait)
                case .never: (false, .zero)
                }
            return state.script.answer(request, at: now, clock: self.clock, isAnswered: isAnswered)
                .map { ($0, wait) }
        }
        self.change.send()
        return answer
    }

    var headInterval: Duration { self.state.withLock { $0.script.headInterval } }

    func tick() -> [UInt8] {
        let instance = self.state.withLock { $0.script.instance }
        return NoticeFrame.tick(SyncTick(instance: instance, counter: 1)).encoded()
    }

    func headFrame() -> [UInt8] {
        let (stream, head) = self.state.withLock { ($0.script.stream, $0.script.head) }
        return NoticeFrame.notice(.head(head, sent: self.clock.now), stream: stream).encoded()
    }

    // MARK: What the broadcaster does

    /// Publishes a break that starts after this time, and announces it now.
    ///
    /// - Throws: ``ScriptedGatewayError/invalid(_:)``, or ``ScriptedGatewayError/wrongState(_:)`` where the id is used
    ///   already or another break holds part of that time.
    public func publish(_ scripted: ScriptedBreak, in lead: Duration = .zero) throws(ScriptedGatewayError) {
        try self.notify { (script, now) throws(ScriptedGatewayError) in
            try script.publish(scripted, start: now + lead, at: now)
        }
    }

    /// Publishes a break that every player gets which joins from now on, before its stream starts, once.
    ///
    /// - Parameters:
    ///   - scripted: the break.
    ///   - hold: how long it is open.
    /// - Throws: ``ScriptedGatewayError/invalid(_:)``, or ``ScriptedGatewayError/wrongState(_:)`` where the id is used
    ///   already.
    public func publishPreStream(
        _ scripted: ScriptedBreak,
        openFor hold: Duration = .seconds(1_800)
    ) throws(ScriptedGatewayError) {
        try self.notify { (script, now) throws(ScriptedGatewayError) in
            try script.publish(scripted, start: nil, preStream: true, holdUntil: now + hold, at: now)
        }
    }

    /// Publishes a break without a start: players fetch it and hold it until ``punch(_:in:)``.
    ///
    /// - Parameters:
    ///   - scripted: the break.
    ///   - hold: how long it is held at most.
    /// - Throws: ``ScriptedGatewayError/invalid(_:)``, or ``ScriptedGatewayError/wrongState(_:)`` where the id is used
    ///   already.
    public func cue(_ scripted: ScriptedBreak, hold: Duration = .seconds(1_800)) throws(ScriptedGatewayError) {
        try self.notify { (script, now) throws(ScriptedGatewayError) in
            try script.publish(scripted, start: nil, holdUntil: now + hold, at: now)
        }
    }

    /// Lets a cued break start after this time.
    ///
    /// - Throws: ``ScriptedGatewayError/wrongState(_:)`` where it is not cued, or over.
    public func punch(_ breakID: String, in lead: Duration = .zero) throws(ScriptedGatewayError) {
        try self.notify { (script, now) throws(ScriptedGatewayError) in
            try script.punch(breakID, start: now + lead, at: now)
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
        try self.notify { (script, now) throws(ScriptedGatewayError) in
            try script.update(breakID, start: lead.map { now + $0 }, duration: duration, at: now)
        }
    }

    /// Ends a break that has started, after this time.
    ///
    /// - Parameters:
    ///   - breakID: the break.
    ///   - lead: when it ends.
    ///   - endMode: what becomes of the advertisement that plays; `nil`: what the break says.
    /// - Throws: ``ScriptedGatewayError/wrongState(_:)`` where it starts later, or ends sooner as it is.
    public func end(
        _ breakID: String,
        in lead: Duration = .zero,
        endMode: ScriptedBreak.EndMode? = nil
    ) throws(ScriptedGatewayError) {
        try self.notify { (script, now) throws(ScriptedGatewayError) in
            try script.end(breakID, at: now + lead, endMode: endMode?.wire, now: now)
        }
    }

    /// Withdraws a break.
    ///
    /// - Throws: ``ScriptedGatewayError/wrongState(_:)`` where there is none, or it is over.
    public func cancel(_ breakID: String) throws(ScriptedGatewayError) {
        try self.notify { (script, now) throws(ScriptedGatewayError) in try script.cancel(breakID, at: now) }
    }

    /// Changes the script and sends the notice that comes of it.
    private func notify(
        _ change: (inout Script, Timestamp) throws(ScriptedGatewayError) -> Notice
    ) throws(ScriptedGatewayError) {
        let now = self.clock.now
        let result = self.state.withLock { state -> Result<([UInt8], [ScriptConnection]), ScriptedGatewayError> in
            do throws(ScriptedGatewayError) {
                let notice = try change(&state.script, now)
                let frame = NoticeFrame.notice(notice, stream: state.script.stream).encoded()
                guard state.noticesToLose == 0 else {
                    state.noticesToLose -= 1
                    return .success((frame, []))
                }
                return .success((frame, Array(state.connections.values)))
            } catch {
                return .failure(error)
            }
        }
        let (frame, connections) = try result.get()
        for connection in connections { connection.tell(notice: frame) }
        self.change.send()
    }
}

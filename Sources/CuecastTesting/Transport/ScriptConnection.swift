// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) internal import Cuecast
internal import CuecastWire
internal import GatewayCore
internal import Synchronization

/// One player's connection to a scripted gateway.
///
/// The first thread that finds no other thread delivering delivers the events, in order and never two at a time. When a method
/// of the gateway returns, its notice has reached every player that another thread does not keep busy.
final class ScriptConnection: ListenerConnection {
    /// The most events that wait for a player whose `receive` does not return; further ones are dropped.
    static let waitingEventsMax = 10_000

    private struct State {
        var waiting: [ListenerConnectionEvent] = []
        var isDelivering = false
        var isClosed = false
        var topics: Set<[UInt8]> = []
        /// The session whose notices come without a subscription.
        var push = PushPlace.free
        /// How many answers to joins are on their way: what is pushed follows them.
        var joinsUnderWay = 0
        /// The pushed notices that wait for that.
        var held: [[UInt8]] = []
        /// Whether it keeps the gateway's time.
        var keepsTime = false
        /// The later events: head notices, and replies of a slow gateway.
        var later: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let gateway: ScriptedGateway
    private let receive: @Sendable (ListenerConnectionEvent) -> Void

    init(_ gateway: ScriptedGateway, _ receive: @escaping @Sendable (ListenerConnectionEvent) -> Void) {
        self.gateway = gateway
        self.receive = receive
    }

    // MARK: The gateway's side

    /// Delivers an event, after those that wait.
    func tell(_ event: ListenerConnectionEvent) {
        self.tell { _ in [event] }
    }

    /// Delivers a notice, where its topic is subscribed or its stream is pushed.
    func tell(notice frame: [UInt8]) {
        self.tell { state in
            if case .taken(_, let stream) = state.push, frame.starts(with: NoticeFrame.topic(of: stream)) {
                guard state.joinsUnderWay > 0 else { return [.notice(frame)] }
                if state.held.count < Self.waitingEventsMax { state.held.append(frame) }
                return []
            }
            return state.topics.contains { frame.starts(with: $0) } ? [.notice(frame)] : []
        }
    }

    /// Delivers an answer, and what is pushed behind it.
    private func tell(reply: [UInt8], isJoin: Bool) {
        self.tell { state in
            if isJoin { state.joinsUnderWay -= 1 }
            guard state.joinsUnderWay == 0 else { return [.reply(reply)] }
            defer { state.held = [] }
            return [.reply(reply)] + state.held.map { .notice($0) }
        }
    }

    /// Delivers the events that `events` gives, after those that wait.
    private func tell(_ events: (inout State) -> [ListenerConnectionEvent]) {
        let isOurs = self.state.withLock { state in
            guard !state.isClosed else { return false }
            for event in events(&state) {
                if case .closed = event {
                    state.isClosed = true
                } else if state.waiting.count >= Self.waitingEventsMax {
                    continue
                }
                state.waiting.append(event)
            }
            guard !state.waiting.isEmpty, !state.isDelivering else { return false }
            state.isDelivering = true
            return true
        }
        guard isOurs else { return }
        while true {
            let events = self.state.withLock { state in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isDelivering = false }
                return state.waiting
            }
            guard !events.isEmpty else { return }
            for event in events { self.receive(event) }
        }
    }

    /// The state of pushing on the connection.
    var push: PushPlace { self.state.withLock { $0.push } }

    /// The gateway has decided that, under its lock; where it answered a join, what is pushed waits until the answer is told.
    func set(_ push: PushPlace, joins: Bool) {
        self.state.withLock { state in
            state.push = push
            if joins { state.joinsUnderWay += 1 }
        }
        self.keepTime()
    }

    /// Every connection does it, so that it is done as long as there is one.
    private func keepTime() {
        let isFirst = self.state.withLock { state in
            defer { state.keepsTime = true }
            return !state.keepsTime
        }
        guard isFirst else { return }
        self.later("scripted timers") { connection in await connection.gateway.keepTime() }
    }

    func end(reason: String) {
        let later = self.state.withLock { state in
            defer { state.later = [:] }
            return state.later.values.map(\.self)
        }
        for task in later { task.cancel() }
        self.gateway.forget(self)
        self.tell(.closed(reason: reason))
    }

    /// Does something after a wait, unless the connection ends before; it is cancelled then.
    private func later(_ name: String, _ work: @escaping @Sendable (ScriptConnection) async -> Void) {
        self.state.withLock { state in
            guard !state.isClosed else { return }
            state.lastNumber += 1
            let number = state.lastNumber
            state.later[number] = Task(name: name) { [weak self] in
                guard let self else { return }
                await work(self)
                self.state.withLock { _ = $0.later.removeValue(forKey: number) }
            }
        }
    }

    // MARK: The player's side

    func subscribe(to topic: [UInt8]) {
        self.state.withLock { _ = $0.topics.insert(topic) }
        guard topic == NoticeFrame.syncTopic else { return }
        self.tell(notice: self.gateway.tick())
        self.later("scripted ticks") { connection in
            // A player that misses the first tick gets another one, as of a real gateway.
            while connection.state.withLock({ $0.topics.contains(topic) }) {
                do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
                connection.tell(notice: connection.gateway.tick())
            }
        }
        self.keepTime()
    }

    func unsubscribe(from topic: [UInt8]) {
        self.state.withLock { _ = $0.topics.remove(topic) }
    }

    func send(_ request: [UInt8]) {
        guard !self.state.withLock({ $0.isClosed }), let answer = self.gateway.answer(request, on: self) else { return }
        guard answer.wait > .zero else { return self.tell(reply: answer.reply, isJoin: answer.isJoin) }
        self.later("scripted reply") { connection in
            do { try await Task.sleep(for: answer.wait) } catch { return }
            connection.tell(reply: answer.reply, isJoin: answer.isJoin)
        }
    }

    func close() { self.end(reason: "closed by the player") }
}

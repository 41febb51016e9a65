// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import Testing

/// One listener, the world it shares, and a gateway of values, with the wires between them in the test's hands.
struct Stage {
    var gateway: ValueGateway
    var world: LoadWorld
    var listener: SimulatedListener
    var now: Microseconds = 1_000_000
    /// The listener's actions that were not performed yet.
    var pending: SimulatedListener.Actions = []
    private var writer = RequestWriter()

    init(asksAtOnce: Bool = false, speed: Double? = nil, seed: UInt64 = 1, push: Bool = false) throws {
        let stream = try StreamID("radio1")
        self.gateway = ValueGateway(stream: stream)
        self.gateway.pushes = push
        var behaviour = ListenerBehaviour(mix: try .of(0.7, 0.25, 0.05))
        behaviour.asksAtOnce = asksAtOnce
        behaviour.speed = speed
        behaviour.push = push
        self.world = LoadWorld(
            behaviour: behaviour,
            streams: [StreamKnowledge(id: stream)],
            places: GatewayPlaces(first: "tcp://first:7401"),
            began: 1_000_000
        )
        self.listener = SimulatedListener(number: 7, stream: 0, seed: seed)
    }

    var findings: Findings { self.world.statistics.findings }
    var counts: RunStatistics.Counts { self.world.statistics.counts }

    /// The request that the listener wants to send.
    mutating func request() throws -> [UInt8] {
        try #require(self.pending.contains(.send))
        self.pending.remove(.send)
        #expect(self.listener.write(into: &self.writer, in: self.world))
        return self.writer.frame
    }

    mutating func kind() throws -> ListenerRequest.Kind { try ListenerRequest(decoding: self.request()).kind }

    mutating func notice(_ frame: [UInt8]) {
        self.pending.formUnion(self.listener.received(notice: frame.span, now: self.now, in: &self.world))
    }

    mutating func reply(_ frame: [UInt8]) {
        self.pending.formUnion(self.listener.received(reply: frame.span, now: self.now, in: &self.world))
    }

    mutating func wake() {
        self.pending.formUnion(self.listener.woke(now: self.now, in: &self.world))
    }

    /// Goes to the listener's deadline.
    mutating func wakeAtDeadline() throws {
        try #require(self.listener.deadline != .max)
        self.now = max(self.now, self.listener.deadline)
        self.wake()
    }

    /// Lets time pass until the listener asks for something, on a stream that is never quiet for long.
    mutating func waitUntilItAsks() throws {
        while !self.pending.contains(.send) {
            if self.listener.deadline <= self.now + 2_000_000 {
                try self.wakeAtDeadline()
            } else {
                self.now += 2_000_000
                self.notice(self.gateway.headFrame(now: self.now))
            }
            try #require(!self.pending.contains(.disconnect))
        }
    }

    /// Answers requests until there is none.
    mutating func exchange() throws {
        while self.pending.contains(.send) {
            let frame = try self.request()
            self.now += 200
            self.reply(try self.gateway.answer(frame, now: self.now - 100))
        }
    }

    mutating func open() {
        self.pending.formUnion(self.listener.open(intended: self.now, now: self.now, in: &self.world))
    }

    mutating func connect() {
        self.pending.subtract([.connect, .connectOne, .connectNotices, .disconnect])
        self.now += 300
        self.pending.formUnion(self.listener.connected(now: self.now, in: &self.world))
    }

    mutating func prove() {
        self.pending.subtract([.subscribe, .subscribeSync])
        self.now += 20_000
        self.notice(self.gateway.tick)
        self.pending.remove(.unsubscribeSync)
    }

    /// Everything until it follows.
    mutating func join() throws {
        self.open()
        self.connect()
        if self.listener.phase == .proving { self.prove() }
        try self.exchange()
        try #require(self.listener.phase == .following)
    }

    /// Announces a break of as many advertisements.
    mutating func announce(
        _ name: String,
        count: Int = 3,
        window: Microseconds = 1_000_000,
        lead: Microseconds? = 8_000_000,
        preStream: Bool = false
    ) throws -> [UInt8] {
        let ads = try (0..<count).map { try advertisement("\(name)-\($0)") }
        return self.gateway.announce(
            try BreakID(name),
            ads: ads,
            window: window,
            lead: lead,
            preStream: preStream,
            now: self.now
        )
    }

    /// A notice that something about a break changed; with a lead, its start too.
    mutating func change(_ name: String, _ kind: Notice.Kind, startingIn lead: Microseconds? = nil) throws {
        let frame = self.gateway.repeatLast(of: try BreakID(name), as: kind, startingIn: lead, now: self.now)
        self.notice(try #require(frame))
    }
}

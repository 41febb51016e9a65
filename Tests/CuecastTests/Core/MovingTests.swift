// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @_spi(Transports) @_spi(Tuning) @testable import Cuecast

/// Going on at other gateways, which were named by the one before.
@Suite(.suiteLimit)
struct MovingTests {
    var jitter = JitterSource(seed: 1)

    private static func address(_ text: String) -> PlayerAddress {
        guard let address = PlayerAddress(text) else { preconditionFailure("\(text) is no address") }
        return address
    }

    private static func learnt(_ name: String) -> GatewayTarget { .learnt(Self.address("tcp://\(name):7401")) }

    private let b = Self.learnt("b")
    private let c = Self.learnt("c")

    private func machine(gateways: Int = 1) -> ConnectionMachine {
        ConnectionMachine(
            stream: stream(),
            usesToken: false,
            usesPush: true,
            gatewayCount: gateways,
            timings: ListenerTimings()
        )
    }

    /// A machine that has joined at this instant, where the gateway named these.
    private mutating func joined(_ named: [GatewayTarget], gateways: Int = 1, at now: Double = 0) -> ConnectionMachine {
        var machine = self.machine(gateways: gateways)
        _ = machine.start(now: local(now))
        self.join(&machine, at: now)
        machine.learn(named)
        return machine
    }

    private mutating func join(_ machine: inout ConnectionMachine, at now: Double) {
        _ = machine.connected(now: local(now))
        _ = machine.joined(instance: 5, pushed: true, now: local(now), jitter: &self.jitter)
    }

    /// Where the next attempt goes, and when.
    private mutating func next(_ machine: inout ConnectionMachine) -> (target: GatewayTarget, at: LocalInstant)? {
        guard let deadline = machine.nextDeadline,
            case .connect(_, let target) = machine.due(now: deadline, jitter: &self.jitter).first
        else { return nil }
        return (target, deadline)
    }

    private mutating func lose(_ machine: inout ConnectionMachine, at now: Double) {
        _ = machine.disconnected(reason: "lost", now: local(now), jitter: &self.jitter)
    }

    // MARK: The addresses

    @Test
    mutating func
        `a gateway that dies is tried again first, then those of the configuration, then those that it named`()
    {
        var machine = self.joined([self.b, self.c], gateways: 2)
        // It was good for long.
        self.lose(&machine, at: 100)
        var targets: [GatewayTarget?] = []
        for _ in 0..<6 {
            targets.append(self.next(&machine)?.target)
            self.lose(&machine, at: 101)
        }
        #expect(targets == [.configured(0), .configured(1), self.b, self.c, .configured(0), .configured(1)])
    }

    @Test mutating func `waits grow with the rounds through all addresses, the named ones too`() {
        var timings = ListenerTimings()
        timings.retryDelayFirst = .milliseconds(1)
        var addresses = AddressRotation(count: 1, timings)
        addresses.learn([self.b, self.c])
        var isLong: [Bool] = []
        for _ in 0..<6 {
            isLong.append(addresses.lost(leaves: true, atLeast: .seconds(5), jitter: &self.jitter) >= .seconds(5))
        }
        #expect(isLong == [false, false, true, false, false, true])
    }

    @Test mutating func `what is named replaces what was named before, unless nothing is`() {
        var addresses = AddressRotation(count: 1, ListenerTimings())
        #expect(!addresses.hasOthers)
        addresses.learn([self.b])
        addresses.learn([])
        #expect(addresses.hasOthers)
        _ = addresses.lost(leaves: true, atLeast: .zero, jitter: &self.jitter)
        #expect(addresses.current == self.b)
        // The gateway at b names others: b has no place any more, and what the app configured is next.
        addresses.learn([self.c])
        _ = addresses.lost(leaves: true, atLeast: .zero, jitter: &self.jitter)
        #expect(addresses.current == .configured(0))
        _ = addresses.lost(leaves: true, atLeast: .zero, jitter: &self.jitter)
        #expect(addresses.current == self.c)
    }

    @Test mutating func `no more addresses are kept than a join may name`() {
        var addresses = AddressRotation(count: 1, ListenerTimings())
        addresses.learn((0...WireLimits.alternativesMax).map { Self.learnt("gw-\($0)") })
        var seen: Set<GatewayTarget> = []
        for _ in 0..<100 {
            _ = addresses.lost(leaves: true, atLeast: .zero, jitter: &self.jitter)
            seen.insert(addresses.current)
        }
        #expect(seen.count == 1 + WireLimits.alternativesMax)
        #expect(!seen.contains(Self.learnt("gw-\(WireLimits.alternativesMax)")))
    }

    @Test func `only addresses of the app's own scheme are taken, and those of the configuration are known`() {
        let named = [
            "tcp://b:7401", "tls://b:7401", "ws://b/", "wss://b/", "http://b", "https://b", "tls://own:7401",
            "tls://alt:1",
        ]
        .map { Self.address($0) }
        func targets(_ configure: (inout ListenerConfiguration) -> Void) -> [GatewayTarget] {
            var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
            configure(&configuration)
            return AddressLearning(configuration).targets(named)
        }
        #expect(targets { $0.gateway = GatewayAddress(host: "own") } == [self.b])
        let encrypted = targets {
            $0.gateway = GatewayAddress(notices: "tls://own:7400", requests: "tls://own:7401")
            $0.alternativeGateways = [GatewayAddress(url: "tls://alt:1")]
        }
        #expect(encrypted == [.learnt(Self.address("tls://b:7401")), .configured(0), .configured(1)])
        #expect(targets { $0.gateway = GatewayAddress(url: "wss://own/") } == [.learnt(Self.address("wss://b/"))])
        // One that is encrypted in part, and one of a transport of the app's own.
        #expect(targets { $0.gateway = GatewayAddress(notices: "tcp://own:1", requests: "tls://own:2") }.isEmpty)
        #expect(targets { $0.gateway = GatewayAddress(url: "memory:requests") }.isEmpty)
    }

    // MARK: Moving

    @Test mutating func `a listener that is asked to move stays for a while, and goes on at the first that was named`()
        throws
    {
        var machine = self.joined([self.b, self.c], gateways: 2)
        let stay = machine.askedToMove(within: .seconds(5), to: [], now: local(20), jitter: &self.jitter)
        let at = local(20) + (try #require(stay))
        #expect(machine.nextDeadline == at && machine.canRequest)
        #expect(machine.due(now: at - .microseconds(1), jitter: &self.jitter) == [])
        #expect(machine.due(now: at, jitter: &self.jitter) == [.disconnect])
        guard case .waiting(until: at, reason: .sentAway) = machine.state else {
            Issue.record("\(machine.state)")
            return
        }
        let next = self.next(&machine)
        #expect(next?.target == self.b && next?.at == at)
    }

    @Test func `listeners leave evenly over the time, and spread over the addresses that came with the request`() {
        let named = (0..<4).map { Self.learnt("gw-\($0)") }
        var (quarters, targets) = ([0, 0, 0, 0], [GatewayTarget: Int]())
        for seed in 0..<2_000 {
            var test = MovingTests(jitter: JitterSource(seed: UInt64(seed)))
            var machine = test.joined([])
            guard
                let stay = machine.askedToMove(within: .seconds(4), to: named, now: local(20), jitter: &test.jitter),
                stay <= .seconds(4)
            else {
                Issue.record("it does not move")
                return
            }
            quarters[min(3, Int(stay.components.seconds))] += 1
            _ = machine.due(now: local(20) + stay, jitter: &test.jitter)
            if let next = test.next(&machine) { targets[next.target, default: 0] += 1 }
        }
        // 500 each, by chance: five standard deviations are 97.
        #expect(quarters.allSatisfy { (400...600).contains($0) }, "\(quarters)")
        #expect(targets.count == 4 && targets.values.allSatisfy { (400...600).contains($0) }, "\(targets)")
    }

    @Test mutating func `one whose connection ends before its time keeps to it, and so does one whose network changes`()
        throws
    {
        var machine = self.joined([self.b])
        let stay = machine.askedToMove(within: .seconds(60), to: [], now: local(20), jitter: &self.jitter)
        let at = local(20) + (try #require(stay))
        self.lose(&machine, at: 20)
        _ = machine.networkChanged(isAvailable: true, now: local(20), jitter: &self.jitter)
        let next = self.next(&machine)
        #expect(next?.target == self.b && next?.at == at)
    }

    @Test mutating func `being asked again changes nothing, and one that knows of no other stays`() throws {
        var machine = self.joined([self.b])
        _ = machine.askedToMove(within: .seconds(60), to: [], now: local(20), jitter: &self.jitter)
        let deadline = machine.nextDeadline
        #expect(machine.askedToMove(within: .zero, to: [self.c], now: local(21), jitter: &self.jitter) == nil)
        #expect(machine.nextDeadline == deadline)
        var alone = self.joined([])
        #expect(alone.askedToMove(within: .seconds(5), to: [], now: local(20), jitter: &self.jitter) == nil)
        #expect(
            alone.askedToMove(within: .seconds(5), to: [.configured(0)], now: local(20), jitter: &self.jitter) == nil
        )
        #expect(alone.nextDeadline == nil)
    }

    @Test mutating func `where the one that it moves to cannot be reached, the others follow, its own among them`() {
        var machine = self.joined([self.b, self.c])
        _ = machine.askedToMove(within: .zero, to: [], now: local(20), jitter: &self.jitter)
        _ = machine.due(now: local(20), jitter: &self.jitter)
        var targets: [GatewayTarget?] = []
        for _ in 0..<4 {
            targets.append(self.next(&machine)?.target)
            self.lose(&machine, at: 30)
        }
        #expect(targets == [self.b, self.c, .configured(0), self.b])
    }

    @Test mutating func `gateways that take the join and ask to move at once are tried ever more rarely`() throws {
        var machine = self.joined([self.b])
        var (waits, targets): ([Duration], Set<GatewayTarget>) = ([], [])
        var now = 0.0
        // Thirty rounds through both addresses.
        for _ in 0..<60 {
            let stay = machine.askedToMove(
                within: .zero,
                to: [.configured(0), self.b],
                now: local(now),
                jitter: &self.jitter
            )
            #expect(stay == .zero)
            #expect(machine.due(now: local(now), jitter: &self.jitter) == [.disconnect])
            let begun = self.next(&machine)
            let next = try #require(begun)
            waits.append(next.at - local(now))
            targets.insert(next.target)
            now = (next.at - .start) / .seconds(1)
            self.join(&machine, at: now)
        }
        #expect(targets == [.configured(0), self.b])
        #expect(waits[0] <= .milliseconds(250))
        #expect(waits.max().map { $0 > .seconds(15) } == true, "\(waits)")

        // One that was good for long is left without a wait, and the next wait is short again.
        for (later, most) in [(10.0, Duration.zero), (0, .milliseconds(250))] {
            now += later
            _ = machine.askedToMove(within: .zero, to: [], now: local(now), jitter: &self.jitter)
            _ = machine.due(now: local(now), jitter: &self.jitter)
            let begun = self.next(&machine)
            let next = try #require(begun)
            #expect(next.at - local(now) <= most)
            now = (next.at - .start) / .seconds(1)
            self.join(&machine, at: now)
        }
    }

    @Test(arguments: [2, 120])
    mutating func `a move that waits for the network goes on soon when it is back, not before its moment`(
        within: Int
    ) throws {
        var machine = self.joined([self.b])
        _ = machine.networkChanged(isAvailable: false, now: local(20), jitter: &self.jitter)
        let stay = machine.askedToMove(within: .seconds(within), to: [], now: local(20), jitter: &self.jitter)
        let moveAt = local(20) + (try #require(stay))
        self.lose(&machine, at: 20)
        var deadline = try #require(machine.nextDeadline)
        #expect(deadline >= max(moveAt, local(35)))
        _ = machine.networkChanged(isAvailable: true, now: local(23), jitter: &self.jitter)
        deadline = try #require(machine.nextDeadline)
        #expect(deadline >= max(moveAt, local(23)) && deadline <= max(moveAt, local(23.25)))
        // It goes again.
        _ = machine.networkChanged(isAvailable: false, now: local(23), jitter: &self.jitter)
        deadline = try #require(machine.nextDeadline)
        #expect(deadline >= max(moveAt, local(38)))
        let begun = self.next(&machine)
        let next = try #require(begun)
        #expect(next.target == self.b && next.at == deadline)
        // The next connection was not asked to move.
        self.join(&machine, at: 200)
        #expect(machine.canRequest && machine.nextDeadline == nil)
    }

    @Test mutating func `a client that was asked to move and is suspended begins where it was`() {
        var machine = self.joined([self.b])
        _ = machine.askedToMove(within: .seconds(60), to: [], now: local(20), jitter: &self.jitter)
        _ = machine.suspend()
        #expect(machine.nextDeadline == nil)
        #expect(machine.resume(now: local(21)) == [.connect(attempt: 2, gateway: .configured(0))])
    }

    @Test mutating func `a client that was asked to move and stops, or is refused, moves no more`() {
        typealias End = (inout ConnectionMachine) -> [ConnectionMachine.Action]
        for ends in [{ $0.stop() }, { $0.refuse(reason: "no") }] as [End] {
            var machine = self.joined([self.b])
            _ = machine.askedToMove(within: .seconds(5), to: [], now: local(20), jitter: &self.jitter)
            #expect(ends(&machine) == [.disconnect])
            #expect(machine.nextDeadline == nil)
            #expect(machine.due(now: local(100), jitter: &self.jitter) == [])
        }
    }

    // MARK: With the whole listener

    private func head(_ bench: CoreBench, at sequence: UInt64, _ addresses: [String], within: Duration = .zero)
        -> Notice
    {
        .head(
            position(sequence),
            sent: gateway(0),
            move: Move(within: within, addresses: addresses.map { Self.address($0) })
        )
    }

    @Test func `a session goes on at another gateway with its position, and hears what came meanwhile once`() throws {
        var bench = try CoreBench(headInterval: .seconds(600))
        bench.listen()
        let first = bench.core.session
        bench.receive(try bench.publish("b1", [content("a")], start: gateway(60), at: gateway(0)))
        // The connection has been good for a while.
        bench.advance(to: 20)
        bench.receive(self.head(bench, at: 1, ["tls://b:7401", "tcp://b:7401"]))
        bench.advance(to: 20.1)
        #expect(bench.actions.contains { if case .connect(attempt: 2, gateway: self.b) = $0 { true } else { false } })
        // A break of the time between.
        _ = try bench.publish("b2", [content("c")], start: gateway(120), at: gateway(20.1))
        bench.connect()
        guard case .join(let join)? = bench.sent.last(where: { if case .join = $0.kind { true } else { false } })?.kind
        else {
            Issue.record("no join")
            return
        }
        #expect(join.last == position(1) && bench.core.session == first)
        let joins = bench.events.compactMap { if case .joined(let result) = $0 { result } else { nil } }
        #expect(joins.last == .recovered(notices: 1))
        #expect(!bench.events.contains { if case .positionLost = $0 { true } else { false } })
    }

    @Test func `the addresses of the answer to a join are those that are gone to`() throws {
        var bench = try CoreBench()
        bench.answers = false
        bench.listen()
        let asked = try #require(bench.sent.last)
        let joined = ListenerReply.Joined(
            kind: .snapshot,
            head: position(0),
            notices: [],
            instance: 100,
            headInterval: .seconds(600),
            lease: .seconds(300),
            pushed: true,
            alternatives: [Self.address("wss://b/"), Self.address("tcp://c:7401"), Self.address("tcp://b:7401")]
        )
        bench.receive(
            .reply(ListenerReply(requestID: asked.id, gatewayTime: gateway(0), body: .joined(joined)).encoded())
        )
        bench.answers = true
        bench.advance(to: 20)
        bench.receive(self.head(bench, at: 0, []))
        bench.advance(to: 20.1)
        #expect(bench.actions.contains { if case .connect(attempt: 2, gateway: self.c) = $0 { true } else { false } })
    }
}

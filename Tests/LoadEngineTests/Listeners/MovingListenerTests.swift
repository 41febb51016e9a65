// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import Testing

/// Simulated listeners go on at the gateways that theirs names.
@Suite(.suiteLimit)
struct MovingListenerTests {
    private func addresses(_ names: [String]) throws -> [PlayerAddress] {
        try names.map { try #require(PlayerAddress("tcp://\($0):7401")) }
    }

    private func place(_ stage: Stage) -> String? {
        stage.world.places.address(stage.listener.place)?.description
    }

    /// Loses the connection, and waits until another one is made.
    private func lose(_ stage: inout Stage) throws {
        stage.pending.formUnion(stage.listener.disconnected(now: stage.now, in: &stage.world))
        try self.reconnect(&stage)
    }

    private func reconnect(_ stage: inout Stage) throws {
        stage.pending = []
        while stage.listener.phase == .waiting { try stage.wakeAtDeadline() }
    }

    @Test func `one that is asked to move leaves within the time, and joins another gateway with its position`() throws
    {
        var stage = try Stage(push: true)
        stage.gateway.alternatives = try self.addresses(["second", "third"])
        try stage.join()
        stage.notice(try stage.announce("noon"))
        let (last, session, asked) = (stage.listener.last, stage.listener.session, stage.now)
        stage.notice(stage.gateway.headFrame(move: Move(within: .milliseconds(10), addresses: []), now: stage.now))
        while stage.listener.phase == .following { try stage.wakeAtDeadline() }
        #expect(stage.now - asked <= 10_000 && stage.counts.moved == 1)
        try self.reconnect(&stage)
        #expect(self.place(stage) == "tcp://second:7401")
        stage.connect()
        guard case .join(let join) = try stage.kind() else {
            Issue.record("not a join")
            return
        }
        #expect(join.last == last && stage.listener.session == session)
        #expect(stage.findings.isEmpty)
    }

    @Test func `one whose connection ends before its moment keeps to it, and counts as moved`() throws {
        var stage = try Stage(push: true)
        stage.gateway.alternatives = try self.addresses(["second"])
        try stage.join()
        stage.notice(stage.gateway.headFrame(move: Move(within: .seconds(60), addresses: []), now: stage.now))
        let moment = stage.listener.deadline
        stage.pending.formUnion(stage.listener.disconnected(now: stage.now, in: &stage.world))
        #expect(stage.counts.moved == 1)
        #expect(stage.listener.phase == .waiting && stage.listener.deadline >= moment)
        try self.reconnect(&stage)
        #expect(self.place(stage) == "tcp://second:7401" && stage.counts.moved == 1)
    }

    @Test func `the addresses of the request count more than those of the join, in an order of its own`() throws {
        var seen: [String?: Int] = [:]
        for seed in 1...60 {
            var stage = try Stage(seed: UInt64(seed), push: true)
            stage.gateway.alternatives = try self.addresses(["old"])
            try stage.join()
            let move = Move(within: .milliseconds(1), addresses: try self.addresses(["first", "second", "third"]))
            stage.notice(stage.gateway.headFrame(move: move, now: stage.now))
            while stage.listener.phase == .following { try stage.wakeAtDeadline() }
            seen[self.place(stage), default: 0] += 1
        }
        #expect(Set(seen.keys) == ["tcp://second:7401", "tcp://third:7401"], "\(seen)")
        #expect(seen.values.allSatisfy { $0 > 10 }, "\(seen)")
    }

    @Test func `one whose gateway dies tries it again, then the others`() throws {
        var stage = try Stage(push: true)
        stage.gateway.alternatives = try self.addresses(["second", "third"])
        try stage.join()
        var places: [String?] = []
        for _ in 0..<4 {
            try self.lose(&stage)
            places.append(self.place(stage))
        }
        #expect(places == [nil, "tcp://second:7401", "tcp://third:7401", nil])
    }

    @Test func `a join that is refused because the gateway stops leads to another one at once`() throws {
        var stage = try Stage(push: true)
        stage.gateway.alternatives = try self.addresses(["second"])
        try stage.join()
        try self.lose(&stage)
        stage.connect()
        let join = try stage.request()
        stage.reply(stage.gateway.refusal(of: join, .draining, retryAfter: .seconds(30), now: stage.now))
        #expect(stage.listener.phase == .waiting)
        let before = stage.now
        try self.reconnect(&stage)
        #expect(self.place(stage) == "tcp://second:7401" && stage.now - before < 1_000_000)
    }

    @Test func `one that knows of no other stays where it is`() throws {
        var stage = try Stage(push: true)
        try stage.join()
        stage.notice(stage.gateway.headFrame(move: Move(within: .zero, addresses: []), now: stage.now))
        stage.now += 1_000
        stage.wake()
        #expect(stage.listener.phase == .following)
        try self.lose(&stage)
        #expect(stage.listener.place == 0)
    }

    @Test func `only addresses of the first one's scheme are taken, and so many at most`() throws {
        var places = GatewayPlaces(first: "tcp://first:7401")
        let other = ["tls://b:1", "ws://b/", "tcp://first:7401"].compactMap { PlayerAddress($0) }
        #expect(places.numbers(of: other) == [0])
        let many = try self.addresses((0..<GatewayPlaces.placesMax).map { "gw-\($0)" })
        #expect(places.numbers(of: Array(many.dropLast())).count == GatewayPlaces.placesMax - 1)
        #expect(places.numbers(of: [many[0], many[GatewayPlaces.placesMax - 1]]) == [1])
        #expect(places.address(1) == many[0] && places.address(255) == many[254])
    }
}

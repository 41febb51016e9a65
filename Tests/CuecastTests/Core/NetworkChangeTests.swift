// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @_spi(Tuning) @testable import Cuecast

@Suite(.suiteLimit)
struct NetworkChangeTests {
    var jitter = JitterSource(seed: 3)

    /// A machine that has failed so often that it waits for the longest time, until after second 100.
    private mutating func waiting(seed: UInt64 = 3) -> ConnectionMachine {
        self.jitter = JitterSource(seed: seed)
        var machine = ConnectionMachine(
            stream: stream(),
            usesToken: false,
            usesPush: true,
            timings: ListenerTimings()
        )
        _ = machine.start(now: local(0))
        repeat {
            _ = machine.disconnected(reason: "gone", now: local(100), jitter: &self.jitter)
            if machine.nextDeadline.map({ $0 > local(110) }) == true { break }
            _ = machine.due(now: local(140), jitter: &self.jitter)
        } while true
        return machine
    }

    @Test mutating func `a wait for the next try ends soon when the network is back`() {
        var machine = self.waiting()
        let change = machine.networkChanged(isAvailable: true, now: local(101), jitter: &self.jitter)
        #expect(change.actions == [] && !change.asks)
        #expect(machine.nextDeadline.map { $0 <= local(101.25) } == true)
        let actions = machine.due(now: local(101.25), jitter: &self.jitter)
        #expect(actions == [.connect(attempt: machine.attempt, gateway: .configured(0))])
    }

    @Test mutating func `a whole town that has its network back comes back spread out`() {
        var instants: Set<Double> = []
        for seed in 0..<200 {
            var machine = self.waiting(seed: UInt64(seed))
            _ = machine.networkChanged(isAvailable: true, now: local(101), jitter: &self.jitter)
            let deadline = machine.nextDeadline.map { $0 - local(101) } ?? .zero
            instants.insert(deadline / .milliseconds(1))
        }
        #expect(instants.count > 150)
        #expect(instants.allSatisfy { (0...250).contains($0) })
        for quarter in 0..<4 {
            let count = instants.count { Int($0 / 62.5) == quarter }
            #expect(count > 20, "quarter \(quarter) has \(count)")
        }
    }

    @Test mutating func `failures go on counting: a network that comes and goes does not make tries quick`() {
        var machine = self.waiting()
        _ = machine.networkChanged(isAvailable: true, now: local(101), jitter: &self.jitter)
        _ = machine.due(now: local(102), jitter: &self.jitter)
        var longest = Duration.zero
        for _ in 0..<20 {
            _ = machine.disconnected(reason: "gone", now: local(102), jitter: &self.jitter)
            longest = max(longest, machine.nextDeadline.map { $0 - local(102) } ?? .zero)
            _ = machine.due(now: local(140), jitter: &self.jitter)
        }
        #expect(longest > .seconds(15))
    }

    @Test mutating func `a gateway that asked to stay away is not bothered sooner`() {
        var machine = ConnectionMachine(stream: stream(), usesToken: false, usesPush: true, timings: ListenerTimings())
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        _ = machine.lose(
            reason: .sentAway("draining"),
            atLeast: .seconds(20),
            leaves: true,
            now: local(0),
            jitter: &self.jitter
        )
        let before = machine.nextDeadline
        _ = machine.networkChanged(isAvailable: true, now: local(1), jitter: &self.jitter)
        #expect(machine.nextDeadline == before)
    }

    @Test mutating func `without a network tries are rare, and the next one is not lost`() {
        var machine = ConnectionMachine(stream: stream(), usesToken: false, usesPush: true, timings: ListenerTimings())
        _ = machine.start(now: local(0))
        _ = machine.disconnected(reason: "gone", now: local(0), jitter: &self.jitter)
        _ = machine.networkChanged(isAvailable: false, now: local(0), jitter: &self.jitter)
        #expect(machine.nextDeadline.map { $0 >= local(15) && $0 <= local(30) } == true)
        _ = machine.due(now: local(30), jitter: &self.jitter)
        _ = machine.disconnected(reason: "gone", now: local(30), jitter: &self.jitter)
        #expect(machine.nextDeadline.map { $0 >= local(45) && $0 <= local(60) } == true)
        _ = machine.networkChanged(isAvailable: true, now: local(31), jitter: &self.jitter)
        #expect(machine.nextDeadline.map { $0 <= local(31.25) } == true)
    }

    @Test mutating func `an attempt on the network of before begins anew, and one that has just begun goes on`() {
        var machine = ConnectionMachine(stream: stream(), usesToken: false, usesPush: true, timings: ListenerTimings())
        _ = machine.start(now: local(0))
        #expect(machine.networkChanged(isAvailable: true, now: local(0.999), jitter: &self.jitter).actions == [])
        #expect(machine.networkChanged(isAvailable: false, now: local(5), jitter: &self.jitter).actions == [])
        #expect(
            machine.networkChanged(isAvailable: true, now: local(5), jitter: &self.jitter).actions
                == [.disconnect, .connect(attempt: 2, gateway: .configured(0))]
        )
        #expect(machine.nextDeadline == local(15))
    }

    /// A session that is connected, and has been for a while.
    private func listening() throws -> CoreBench {
        var bench = try CoreBench(headInterval: .seconds(600))
        bench.listen()
        bench.advance(to: 20)
        bench.actions = []
        return bench
    }

    private func timesAsked(_ bench: CoreBench) -> Int {
        bench.actions.count { action in
            guard case .send(let frame) = action else { return false }
            return (try? ListenerRequest(decoding: frame))?.kind == .getTime
        }
    }

    @Test func `a connection shows on another network that it still goes, and stays`() throws {
        var bench = try self.listening()
        bench.step { $0.networkChanged(isAvailable: true, now: $1) }
        #expect(self.timesAsked(bench) == 1)
        bench.advance(to: 60)
        #expect(bench.core.connectionState == .listening)
        #expect(bench.core.conversation.connection.attempt == 1)
    }

    @Test func `one that does not go any more is given up after one request without a reply`() throws {
        var bench = try self.listening()
        bench.answers = false
        bench.step { $0.networkChanged(isAvailable: true, now: $1) }
        bench.advance(to: 24.9)
        #expect(bench.core.connectionState == .listening)
        bench.advance(to: 25.5)
        #expect(bench.core.conversation.connection.attempt == 2)
    }

    @Test func `without a network an open connection is left alone`() throws {
        var bench = try self.listening()
        bench.step { $0.networkChanged(isAvailable: false, now: $1) }
        #expect(self.timesAsked(bench) == 0)
        #expect(bench.core.connectionState == .listening)
    }

    @Test func `while the app is in the background nothing is connected`() throws {
        var bench = try self.listening()
        bench.step { $0.suspend(now: $1) }
        bench.actions = []
        bench.step { $0.networkChanged(isAvailable: true, now: $1) }
        #expect(bench.actions.isEmpty)
        #expect(bench.core.connectionState == .suspended)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import Gateway

/// Whose turn it is, with a clock by hand: what a request costs is what the test says.
@Suite(.suiteLimit)
struct PassTurnsTests {
    /// A socket with requests that wait; each costs the same.
    private struct Source {
        var waiting: Int
        let cost: Duration
        var bytes = 100
        var served = 0
        /// How many were served in each pass.
        var passes: [Int] = []
    }

    /// The request thread: both sockets in turn, as the polling thread serves them.
    private struct Loop {
        var turns = PassTurns()
        var now = ContinuousClock.now
        var listeners: Source
        var broadcasters: Source

        mutating func round() {
            self.serve(.listeners, \.listeners)
            self.serve(.broadcasters, \.broadcasters)
        }

        private mutating func serve(_ side: RequestSockets.Side, _ path: WritableKeyPath<Loop, Source>) {
            guard self[keyPath: path].waiting > 0, var pass = self.turns.begin(side, at: self.now) else { return }
            var count = 0
            var goesOn = true
            while goesOn, self[keyPath: path].waiting > 0 {
                self.now += self[keyPath: path].cost
                self[keyPath: path].waiting -= 1
                count += 1
                goesOn = self.turns.goesOn(&pass, bytes: self[keyPath: path].bytes, at: self.now)
            }
            self[keyPath: path].served += count
            self[keyPath: path].passes.append(count)
            self.turns.end(pass, hasMore: goesOn == false, at: self.now)
        }
    }

    @Test func `a pass ends after its time, with the request that reached it`() {
        var loop = Loop(
            listeners: Source(waiting: 1_000, cost: .microseconds(50)),
            broadcasters: Source(waiting: 1_000, cost: .microseconds(300))
        )
        for _ in 0..<4 { loop.round() }
        #expect(loop.listeners.passes == [40, 40, 40, 40])
        #expect(loop.broadcasters.passes == [7, 7, 7, 7])
    }

    @Test(arguments: [(255, [255]), (256, [256]), (257, [256, 1])])
    func `a pass takes so many messages`(count: Int, passes: [Int]) {
        var loop = Loop(
            listeners: Source(waiting: count, cost: .nanoseconds(1)),
            broadcasters: Source(waiting: 0, cost: .zero)
        )
        for _ in 0..<3 { loop.round() }
        #expect(loop.listeners.passes == passes)
    }

    @Test(arguments: [(524_288, [2, 2]), (524_289, [2, 2]), (524_287, [3, 1]), (1_048_576, [1, 1, 1, 1])])
    func `a pass takes so many bytes`(bytes: Int, passes: [Int]) {
        var loop = Loop(
            listeners: Source(waiting: 0, cost: .zero),
            broadcasters: Source(waiting: 4, cost: .nanoseconds(1), bytes: bytes)
        )
        for _ in 0..<5 { loop.round() }
        #expect(loop.broadcasters.passes == passes)
    }

    @Test func `long requests of broadcasters leave listeners half of the time, and the next turn`() {
        var loop = Loop(
            listeners: Source(waiting: .max, cost: .microseconds(10)),
            broadcasters: Source(waiting: .max, cost: .milliseconds(20))
        )
        let began = loop.now
        var longest = Duration.zero
        var last = loop.now
        while loop.now - began < .seconds(10) {
            let served = loop.listeners.served
            loop.round()
            if loop.listeners.served > served {
                longest = max(longest, loop.now - last)
                last = loop.now
            }
        }
        #expect(loop.broadcasters.passes.allSatisfy { $0 == 1 })
        #expect(longest <= .milliseconds(23), "a listener waits for one request of a broadcaster at most")
        let time = loop.now - began
        let share = (Duration.microseconds(10) * loop.listeners.served) / time
        #expect((0.45...0.55).contains(share), "\(share)")
    }

    @Test func `who is alone is not slowed down`() {
        var loop = Loop(
            listeners: Source(waiting: 0, cost: .zero),
            broadcasters: Source(waiting: 50, cost: .milliseconds(20))
        )
        for _ in 0..<50 { loop.round() }
        #expect(loop.broadcasters.served == 50)
        // One that comes now and then waits for nothing but what goes on.
        loop.broadcasters.waiting = 50
        for _ in 0..<50 {
            loop.listeners.waiting = 1
            loop.round()
            #expect(loop.listeners.waiting == 0)
        }
        #expect(loop.broadcasters.served == 100)
    }

    @Test func `a debt is forgotten when the other one has nothing more`() {
        var loop = Loop(
            listeners: Source(waiting: 300, cost: .microseconds(10)),
            broadcasters: Source(waiting: 2, cost: .seconds(1))
        )
        for _ in 0..<3 { loop.round() }
        #expect(loop.listeners.served == 300)
        #expect(loop.broadcasters.served == 2)
    }
}

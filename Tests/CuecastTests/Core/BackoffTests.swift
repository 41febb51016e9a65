// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @_spi(Tuning) @testable import Cuecast

@Suite(.suiteLimit)
struct BackoffTests {
    /// A gateway with a hundred thousand players restarts: no instant may see many more of them than another.
    @Test func `players who lost a gateway together come back evenly spread, and ever thinner`() {
        var tenths = Array(repeating: 0, count: 10)
        var second = Array(repeating: 0, count: 10)
        for player in 0..<10_000 {
            var machine = ConnectionMachine(
                stream: stream(),
                usesToken: false,
                usesPush: false,
                timings: ListenerTimings()
            )
            var jitter = JitterSource(seed: UInt64(player))
            _ = machine.start(now: local(0))
            _ = machine.lose(reason: .closed("gone"), now: local(0), jitter: &jitter)
            let first = ((machine.nextDeadline ?? local(9)) - local(0)).inSeconds
            tenths[min(9, Int(first / 0.025))] += 1
            _ = machine.due(now: local(9), jitter: &jitter)
            _ = machine.lose(reason: .closed("gone"), now: local(0), jitter: &jitter)
            second[min(9, Int(((machine.nextDeadline ?? local(9)) - local(0)).inSeconds / 0.05))] += 1
        }
        #expect(tenths.allSatisfy { (850...1_150).contains($0) }, "\(tenths)")
        #expect(second.allSatisfy { (850...1_150).contains($0) }, "over twice the time: \(second)")
    }

    @Test func `the first wait is within the first limit and the limit doubles up to the longest`() {
        var jitter = JitterSource(seed: 1)
        var backoff = Backoff(first: .milliseconds(250), longest: .seconds(30))
        var limits: [Duration] = []
        for _ in 0..<10 {
            limits.append(backoff.limit)
            let limit = backoff.limit
            let wait = backoff.next(using: &jitter)
            #expect(wait >= .zero && wait <= limit)
        }
        let expected: [Duration] = [
            .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16),
            .seconds(30), .seconds(30), .seconds(30),
        ]
        #expect(limits == expected)
    }

    @Test func `waits use the whole of their limit`() {
        var jitter = JitterSource(seed: 2)
        let waits = (0..<1_000)
            .map { _ in
                var backoff = Backoff.testing
                return backoff.next(using: &jitter)
            }
        #expect(waits.count { $0 < .milliseconds(25) } > 50)
        #expect(waits.count { $0 > .milliseconds(225) } > 50)
        #expect(waits.allSatisfy { $0 <= .milliseconds(250) })
    }

    @Test func `the wait is at least the requested one`() {
        var jitter = JitterSource(seed: 3)
        var backoff = Backoff.testing
        let wait = backoff.next(using: &jitter, atLeast: .seconds(5))
        #expect(wait >= .seconds(5) && wait <= .seconds(5) + .milliseconds(250))
    }

    @Test func `success starts over`() {
        var jitter = JitterSource(seed: 4)
        var backoff = Backoff.testing
        for _ in 0..<5 { _ = backoff.next(using: &jitter) }
        backoff.reset()
        #expect(backoff.limit == .milliseconds(250))
    }

    @Test func `a thousand failures do not overflow`() {
        var jitter = JitterSource(seed: 5)
        var backoff = Backoff.testing
        for _ in 0..<1_000 { _ = backoff.next(using: &jitter) }
        #expect(backoff.limit == .seconds(30))
    }
}

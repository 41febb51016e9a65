// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@_spi(Tuning) @testable import Cuecast

@Suite(.suiteLimit)
struct ClockSamplingTests {
    var sampling = ClockSampling(timings: ListenerTimings())

    @Test mutating func `a good estimate is renewed after a minute`() {
        self.sampling.sampled(error: .milliseconds(1), now: local(10))
        #expect(self.sampling.nextDeadline == local(70))
    }

    @Test mutating func `an estimate that drifts above the limit is renewed by then`() {
        self.sampling.sampled(error: .milliseconds(22), now: local(0))
        #expect(self.sampling.nextDeadline == local(30))
        self.sampling.sampled(error: .milliseconds(25), now: local(100))
        #expect(self.sampling.nextDeadline == local(101))
    }

    @Test mutating func `a bad estimate is renewed soon, and ever later when that does not help`() {
        var now = 0.0
        for wait in [1.0, 2, 4, 8, 16, 32, 60, 60] {
            self.sampling.sampled(error: .milliseconds(26), now: local(now))
            #expect(self.sampling.nextDeadline == local(now + wait))
            now += wait
        }
        self.sampling.sampled(error: .milliseconds(1), now: local(now))
        self.sampling.sampled(error: .milliseconds(26), now: local(now))
        #expect(self.sampling.nextDeadline == local(now + 1))
    }

    @Test mutating func `a short lease is renewed twice in its time`() {
        self.sampling.sampled(error: .milliseconds(1), now: local(0))
        self.sampling.leaseGranted(.seconds(30), now: local(0))
        #expect(self.sampling.nextDeadline == local(15))
        self.sampling.asked(now: local(15))
        #expect(self.sampling.nextDeadline == local(30))
        self.sampling.leaseGranted(.zero, now: local(30))
        #expect(self.sampling.nextDeadline == local(30))
        self.sampling.asked(now: local(30))
        #expect(self.sampling.nextDeadline == local(31))
    }

    @Test mutating func `without a connection nothing is asked`() {
        self.sampling.sampled(error: .milliseconds(1), now: local(0))
        self.sampling.disconnected()
        #expect(self.sampling.nextDeadline == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import Cuecast

@Suite(.suiteLimit)
struct ClockEstimatorTests {
    @Test func `there is no time before the first sample`() {
        let clock = ClockEstimator()
        #expect(clock.gatewayTime(at: local(1)) == nil)
        #expect(clock.errorBound(at: local(1)) == nil)
    }

    @Test func `one sample gives the middle and half the round trip`() throws {
        var clock = ClockEstimator()
        clock.add(sent: local(1), gateway: gateway(1.2), received: local(1.4))
        let time = try #require(clock.gatewayTime(at: local(1.4)))
        #expect(abs((time - gateway(1.4)).inMicroseconds) <= 2)
        let bound = try #require(clock.errorBound(at: local(1.4)))
        #expect(bound >= .milliseconds(200) && bound < .milliseconds(201))
    }

    @Test func `samples with delays on opposite ways narrow the bound`() throws {
        var clock = ClockEstimator()
        clock.add(sent: local(1), gateway: gateway(1.01), received: local(1.2))
        clock.add(sent: local(1.2), gateway: gateway(1.39), received: local(1.4))
        let bound = try #require(clock.errorBound(at: local(1.4)))
        #expect(bound < .milliseconds(11))
        let time = try #require(clock.gatewayTime(at: local(1.4)))
        #expect(abs((time - gateway(1.4)).inSeconds) < 0.011)
    }

    @Test func `a stepped gateway clock starts the estimate over`() throws {
        var clock = ClockEstimator()
        clock.add(sent: local(1), gateway: gateway(1), received: local(1.001))
        clock.add(sent: local(2), gateway: gateway(3_602), received: local(2.001))
        let time = try #require(clock.gatewayTime(at: local(2.001)))
        #expect(abs((time - gateway(3_602)).inSeconds) < 0.01)
    }

    @Test func `only the last eight samples count`() throws {
        var clock = ClockEstimator()
        clock.add(sent: local(0), gateway: gateway(0.0005), received: local(0.001))
        for second in 1...7 {
            let second = Double(second)
            clock.add(sent: local(second), gateway: gateway(second + 0.5), received: local(second + 1))
        }
        #expect(try #require(clock.errorBound(at: local(8))) < .milliseconds(10))
        clock.add(sent: local(8), gateway: gateway(8.5), received: local(9))
        #expect(try #require(clock.errorBound(at: local(9))) > .milliseconds(400))
    }

    @Test func `extreme instants do not trap`() {
        for extreme in [Int64.min, Int64.min + 1, -1, 0, Int64.max] {
            var clock = ClockEstimator()
            clock.add(sent: local(0), gateway: Timestamp(microseconds: extreme), received: local(5))
            clock.add(sent: local(5), gateway: Timestamp(microseconds: extreme), received: local(5))
            #expect(clock.gatewayTime(at: local(6)) != nil)
            #expect(clock.errorBound(at: local(6)) != nil)
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `the truth is never outside the bound`(seed: UInt64) throws {
        var random = JitterSource(seed: seed)
        var clock = ClockEstimator()
        let drift = Double.random(in: -0.000_1...0.000_1, using: &random)
        let offset = Double.random(in: -5...5, using: &random)
        func truth(_ seconds: Double) -> Timestamp { gateway(offset + seconds * (1 + drift)) }
        var now = 0.0
        for _ in 0..<200 {
            now += Double.random(in: 0...90, using: &random)
            let there = Double.random(in: 0...0.4, using: &random)
            let back = Double.random(in: 0...0.4, using: &random)
            clock.add(sent: local(now), gateway: truth(now + there), received: local(now + there + back))
            now += there + back
            for later in [0, 0.01, 30, 3_600] {
                let estimate = try #require(clock.gatewayTime(at: local(now + later)))
                let bound = try #require(clock.errorBound(at: local(now + later)))
                let error = abs((estimate - truth(now + later)).inSeconds)
                #expect(error <= bound.inSeconds + 0.000_002, "seed \(seed), \(later) s later")
            }
        }
    }
}

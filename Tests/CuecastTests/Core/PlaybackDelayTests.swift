// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import Cuecast

@Suite(.suiteLimit)
struct PlaybackDelayTests {
    private func delay(_ delay: PlaybackDelay, at seconds: Double) -> Duration {
        delay.delay(at: local(seconds), gateway: gateway(seconds))
    }

    @Test func `a delay stays while the programme is heard`() {
        let delay = PlaybackDelay(delay: .seconds(30))
        #expect(self.delay(delay, at: 0) == .seconds(30))
        #expect(self.delay(delay, at: 1_000) == .seconds(30))
    }

    @Test func `a pause makes the delay grow, and what was missed stays missed`() {
        var delay = PlaybackDelay(delay: .seconds(30))
        delay.pause(now: local(10))
        delay.pause(now: local(12))
        #expect(self.delay(delay, at: 15) == .seconds(35))
        delay.resume(now: local(20))
        delay.resume(now: local(25))
        #expect(self.delay(delay, at: 100) == .seconds(40))
    }

    @Test func `the programme's own time decides, whatever the delay was`() {
        var delay = PlaybackDelay(delay: .seconds(30))
        delay.set(programmeTime: gateway(90), now: local(100))
        #expect(self.delay(delay, at: 100) == .seconds(10))
        #expect(self.delay(delay, at: 200) == .seconds(10))
        delay.pause(now: local(200))
        #expect(self.delay(delay, at: 205) == .seconds(15))
        delay.resume(now: local(205))
        #expect(self.delay(delay, at: 300) == .seconds(15))
    }

    @Test func `the delay is never negative`() {
        #expect(self.delay(PlaybackDelay(delay: .seconds(-5)), at: 0) == .zero)
        var delay = PlaybackDelay(delay: .zero)
        delay.set(programmeTime: gateway(500), now: local(100))
        #expect(self.delay(delay, at: 100) == .zero)
    }

    @Test func `a seek while paused stays paused`() {
        var delay = PlaybackDelay(delay: .zero)
        delay.pause(now: local(10))
        delay.set(delay: .seconds(60), now: local(20))
        #expect(self.delay(delay, at: 30) == .seconds(70))
        delay.set(programmeTime: gateway(5), now: local(40))
        #expect(self.delay(delay, at: 50) == .seconds(45))
        #expect(delay.isPaused)
    }

    @Test func `while paused the playhead does not come`() {
        let playing = Moment(now: local(10), gateway: gateway(10), delay: .zero)
        let paused = Moment(now: local(10), gateway: gateway(10), delay: .zero, isPaused: true)
        #expect(playing.local(playhead: gateway(12)) == local(12))
        #expect(paused.local(playhead: gateway(12)) > local(86_400))
        #expect(paused.local(playhead: gateway(8)) == local(8), "what is over is over")
        #expect(paused.local(gateway: gateway(12)) == local(12), "the gateway's clock goes on")
    }

    @Test func `extreme instants from the app do not trap`() {
        var delay = PlaybackDelay(delay: .zero)
        for microseconds in [Int64.min, 0, .max] {
            delay.set(programmeTime: Timestamp(microseconds: microseconds), now: local(0))
            #expect(self.delay(delay, at: 1) >= .zero)
            delay.pause(now: local(1))
            delay.resume(now: local(2))
            #expect(self.delay(delay, at: 3) >= .zero)
        }
    }
}

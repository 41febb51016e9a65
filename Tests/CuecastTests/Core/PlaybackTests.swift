// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @testable import Cuecast

@Suite(.suiteLimit)
struct PlaybackTests {
    /// 10 s long, handed out at 100 s.
    var playback = Playback(advertisement("a"), handedOut: local(100))

    @Test mutating func `time counts from the hand-out, and the position from the start that was reported`() {
        #expect(self.playback.position(at: local(101)) == nil && self.playback.reaches(position: .zero) == nil)
        #expect(self.playback.take(.started, now: local(102)) == nil)
        #expect(self.playback.elapsed(at: local(105)) == .seconds(5))
        #expect(self.playback.position(at: local(105)) == .seconds(3))
        #expect(self.playback.reaches(.seconds(10)) == local(110))
        #expect(self.playback.reaches(position: .seconds(10)) == local(112))
        #expect(self.playback.heard(at: local(1_000)) == .seconds(10))
        #expect(self.playback.position(at: local(1_000)) == .seconds(10))
    }

    @Test mutating func `nothing is heard before the start that was reported`() {
        self.playback.suspend(now: local(101))
        self.playback.resume(now: local(104))
        #expect(self.playback.take(.started, now: local(106)) == nil)
        #expect(self.playback.heard(at: local(106)) == .zero)
        #expect(self.playback.heard(at: local(109)) == .seconds(3))
        #expect(self.playback.progressDue == local(108.5))
    }

    @Test mutating func `a quarter that was reported is where the position counts on from`() {
        #expect(self.playback.take(.quartile(2), now: local(101)) == nil)
        #expect(self.playback.position(at: local(103)) == .seconds(7))
        #expect(self.playback.heard(at: local(103)) == .seconds(3))
        #expect(self.playback.isStarted && self.playback.take(.started, now: local(103)) == .repeated)
    }

    @Test mutating func `a pause stops both, whether the app or the listener makes it`() {
        #expect(self.playback.take(.started, now: local(100)) == nil)
        self.playback.suspend(now: local(102))
        #expect(self.playback.position(at: local(150)) == .seconds(2))
        #expect(self.playback.reaches(.seconds(10)) == nil && self.playback.reaches(position: .seconds(10)) == nil)
        self.playback.resume(now: local(200))
        #expect(self.playback.take(.paused, now: local(201)) == nil)
        // What the app paused does not go on because the app is back.
        self.playback.suspend(now: local(210))
        self.playback.resume(now: local(220))
        #expect(self.playback.isPaused && self.playback.heard(at: local(300)) == .seconds(3))
        #expect(self.playback.take(.resumed, now: local(300)) == nil)
        #expect(self.playback.position(at: local(301)) == .seconds(4))
        #expect(self.playback.reaches(position: .seconds(10)) == local(307))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import RadioPlayer

@Suite(.suiteLimit)
struct ScreenTests {
    private func screen(_ state: PlayerState, width: Int = 60) -> [String] { Screen.lines(state, width: width) }

    private func holds(_ state: PlayerState, _ text: String, width: Int = 60) -> Bool {
        self.screen(state, width: width).contains { $0.contains(text) }
    }

    @Test func `the whole screen of an advertisement with a banner`() {
        var state = PlayerState(stream: "radio1", connection: "listening", sound: "mpv", programme: "music.mp3")
        state.elapsed = .seconds(3_725)
        state.delay = .seconds(30)
        state.playing = .init(title: "Spring", advertiser: "A shop", count: 2, length: .seconds(20), heard: .seconds(5))
        state.playing?.skipOffset = .seconds(8)
        state.playing?.banner = .init(
            imageURL: "https://a.example/b.png",
            alternativeText: "A tree",
            targetURL: "https://a.example"
        )
        state.tally = .init(played: 1, ignored: 2, failed: 3, unconfirmed: 4)
        state.message = "unmuted"
        #expect(
            self.screen(state, width: 50) == [
                "Cuecast radio player · radio1            listening",
                "──────────────────────────────────────────────────",
                "♪ music.mp3                    muted for the break",
                "  1:02:05, 30 s behind live                    mpv",
                "",
                "Next break: none announced",
                "",
                "▶ Advertisement 1 of 2                   15 s left",
                "  Spring — A shop",
                "  ███████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░",
                "  ┌──────────────────────────────────────────────┐",
                "  │ A tree                                       │",
                "  │ https://a.example/b.png                      │",
                "  │ c → https://a.example                        │",
                "  └──────────────────────────────────────────────┘",
                "  may be skipped in 3 s",
                "",
                "played 1 · ignored 2 · failed 3 · unconfirmed 4",
                "unmuted",
                "",
                "i ignore  c click  s skip  m mute  p pause  + lat…",
            ]
        )
    }

    @Test func `the countdown to a break`() {
        var state = PlayerState(stream: "radio1")
        state.nextBreak = .init(id: "b1", countdown: .milliseconds(7_100), advertisementCount: 1)
        #expect(self.holds(state, "Next break: b1 in 8 s, 1 advertisement"))
        state.nextBreak?.countdown = .seconds(-3)
        state.nextBreak?.isReady = true
        #expect(self.holds(state, "Next break: b1 in 0 s, 1 advertisement, loaded"))
        state.nextBreak?.countdown = nil
        state.nextBreak?.advertisementCount = 2
        #expect(self.holds(state, "Next break: b1 held until it is started, 2 advertisements"))
    }

    @Test func `the programme's course`() {
        var state = PlayerState(stream: "radio1")
        #expect(self.holds(state, "on air"))
        #expect(self.holds(state, "0:00:00, live"))
        #expect(self.holds(state, "no sound"))
        #expect(self.holds(state, "no advertisement"))
        state.isMuted = true
        #expect(self.holds(state, " muted"))
        state.isPaused = true
        #expect(self.holds(state, "paused"))
        state.playing = .init(title: "", length: .seconds(4), isPaused: true)
        #expect(self.holds(state, "‖ Advertisement 1 of 1 (muted)"))
        #expect(self.holds(state, "(no title)"))
        state.playing?.skipOffset = .zero
        #expect(self.holds(state, "may be skipped: s"))
    }

    @Test func `no line is longer than the terminal, however narrow`() {
        var state = PlayerState(stream: String(repeating: "s", count: 64))
        state.connection = String(repeating: "c", count: 300)
        state.playing = .init(title: String(repeating: "t", count: 300), length: .seconds(10), heard: .seconds(20))
        state.playing?.banner = .init(imageURL: String(repeating: "u", count: 300))
        for width in [0, 39, 40, 41, 80, 100, 101, 1_000] {
            let longest = min(max(width, 40), 100)
            #expect(self.screen(state, width: width).allSatisfy { $0.count <= longest })
        }
        #expect(self.holds(state, " 0 s left"))
    }

    @Test func `a broadcaster's text cannot control the terminal`() {
        var state = PlayerState(stream: "radio1")
        state.playing = .init(title: "a\u{1B}[2Jb\nc\u{7F}d\u{202E}e", length: .seconds(10))
        #expect(self.holds(state, "a·[2Jb·c·d·e"))
        let all = self.screen(state).joined()
        #expect(!all.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test func `keys are known by their letters`() {
        #expect(
            "icsmp+-q".utf8.map(Key.init(byte:)) == [.ignore, .click, .skip, .mute, .pause, .later, .sooner, .quit]
        )
        #expect(Key(byte: UInt8(ascii: "=")) == .later)
        #expect(Key(byte: UInt8(ascii: "Q")) == .quit)
        #expect(Key(byte: 0x1B) == nil)
        #expect(Key(byte: 0xFF) == nil)
    }
}

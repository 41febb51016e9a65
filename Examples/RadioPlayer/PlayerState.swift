// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// All that the screen shows.
struct PlayerState: Equatable, Sendable {
    /// A break that is coming.
    struct NextBreak: Equatable, Sendable {
        var id: String
        /// How long until the listener hears its start; `nil`: that is not decided.
        var countdown: Duration?
        var advertisementCount: Int
        /// Whether its advertisements are here.
        var isReady = false
    }

    /// The advertisement that plays.
    struct Playing: Equatable, Sendable {
        var title: String
        var advertiser = ""
        var index = 1
        var count = 1
        var length: Duration
        var heard: Duration = .zero
        var isPaused = false
        /// From when on it may be skipped; `nil`: never.
        var skipOffset: Duration?
        var banner: Banner?
    }

    /// The picture beside an advertisement, as a terminal can show it.
    struct Banner: Equatable, Sendable {
        var imageURL: String
        var alternativeText: String?
        var targetURL: String?
    }

    /// The outcomes of advertisements so far.
    struct Tally: Equatable, Sendable {
        var played = 0
        var ignored = 0
        var failed = 0
        var unconfirmed = 0
    }

    var stream: String
    var connection = "not connected"
    /// The program that makes the sound, for instance `mpv`; `nil`: none, time is only counted.
    var sound: String?
    var programme = "simulated programme"
    /// How long the programme has been heard.
    var elapsed: Duration = .zero
    var delay: Duration = .zero
    var isMuted = false
    var isPaused = false
    var nextBreak: NextBreak?
    var playing: Playing?
    var tally = Tally()
    /// The last thing that happened.
    var message = ""
}

extension Duration {
    /// Whole seconds, rounded up, as a countdown shows them.
    var countdownSeconds: Int {
        let (seconds, attoseconds) = self.components
        return Int(seconds) + (attoseconds > 0 ? 1 : 0)
    }

    /// Hours, minutes and seconds, as a clock shows them.
    var clockText: String {
        let seconds = max(0, Int(self.components.seconds))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }

    /// Which part of another duration this is, 0 to 1.
    func share(of whole: Duration) -> Double {
        whole > .zero ? min(1, max(0, self / whole)) : 1
    }
}

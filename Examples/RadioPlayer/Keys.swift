// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The keys and their actions.
enum Key: Character, CaseIterable {
    /// Drop the advertisements that wait behind the one that plays.
    case ignore = "i"
    /// Open the banner.
    case click = "c"
    /// Skip the rest of the advertisement.
    case skip = "s"
    /// Mute and unmute.
    case mute = "m"
    /// Pause and go on.
    case pause = "p"
    /// Hear the stream later.
    case later = "+"
    /// Hear the stream sooner.
    case sooner = "-"
    /// End the player.
    case quit = "q"

    /// The key of a byte from the terminal; `nil`: none of ours.
    init?(byte: UInt8) {
        // "=" is "+" without the shift key on many keyboards.
        let character = byte == UInt8(ascii: "=") ? "+" : Character(Unicode.Scalar(byte))
        self.init(rawValue: Character(character.lowercased()))
    }

    /// A few words for the line of keys.
    var help: String {
        switch self {
        case .ignore: "ignore"
        case .click: "click"
        case .skip: "skip"
        case .mute: "mute"
        case .pause: "pause"
        case .later: "later"
        case .sooner: "sooner"
        case .quit: "quit"
        }
    }
}

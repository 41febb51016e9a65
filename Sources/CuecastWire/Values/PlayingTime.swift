// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An advertisement, as far as its length goes.
package protocol Playable {
    /// How long it plays.
    var duration: Duration { get }
}

extension AdvertisementContent: Playable {}

extension Sequence where Element: Playable {
    /// How long they play one after the other.
    package var playingTime: Duration { self.reduce(.zero) { $0 + $1.duration } }
}

extension Sequence where Element: Sequence, Element.Element: Playable {
    /// How long the longest of the lists plays; without any: not at all.
    ///
    /// A break with variants has one duration for all, and each listener gets one list.
    package var longestPlayingTime: Duration { self.lazy.map(\.playingTime).max() ?? .zero }
}

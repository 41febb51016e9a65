// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastBroadcast
internal import CuecastWire

/// The ads of a break, of all its variants.
package struct BreakAds: Hashable, Sendable {
    /// Those of `default`, first to last.
    package var advertisements: [AdvertisementDescription]
    /// The other variants, in the order in which they are tried; `nil`: nothing is said about them.
    package var variants: [AdVariant]?

    package init(advertisements: [AdvertisementDescription], variants: [AdVariant]? = nil) {
        self.advertisements = advertisements
        self.variants = variants
    }

    /// How long the longest list plays.
    package var playingTime: Duration {
        ([self.advertisements] + (self.variants ?? []).map(\.advertisements)).longestPlayingTime
    }

    /// The change of a break that gives it these.
    var change: BreakChange {
        var change = BreakChange(advertisements: self.advertisements)
        change.variants = self.variants
        return change
    }
}

extension WantedBreak {
    package var ads: BreakAds { BreakAds(advertisements: self.advertisements, variants: self.variants) }
}

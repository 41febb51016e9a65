// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The ads of one document, in the order in which they are to play.
///
/// A batch that a reader returned has at least one ad, all its ads can be played as they stand, and their ids differ.
public struct AdBatch: Hashable, Sendable {
    /// The ads to play, first to last.
    public var ads: [AdContent]
    /// The ads of the document that are not in ``ads``, in document order, each with its reason.
    public var skipped: [SkippedAd]
    /// The URLs to call when the document gave no ad (VAST 4.3 section 3.2.1).
    public var errorURLs: [String]
    /// Parts of the document outside its ads that were left out.
    public var leftOut: [LeftOut]
    /// The version that the document claims, such as `4.2`; nil where it claims none.
    public var formatVersion: String?

    /// A batch of ads.
    public init(ads: [AdContent], skipped: [SkippedAd] = [], formatVersion: String? = nil) {
        self.ads = ads
        self.skipped = skipped
        self.errorURLs = []
        self.leftOut = []
        self.formatVersion = formatVersion
    }

    /// How long the ads play together, in milliseconds.
    public var durationMilliseconds: Int {
        self.ads.reduce(0) { $0 + $1.durationMilliseconds }
    }
}

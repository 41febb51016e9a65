// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The parts to read of a VAST document, and their limits.
public struct VASTReadingOptions: Hashable, Sendable {
    /// Whether to take all stand-alone ads of a document without a pod, in document order.
    ///
    /// If not, only the first that can be played is taken. A document with a pod is not affected.
    public var allStandAlone: Bool
    /// The longest ad to take, in milliseconds (default 1 h); a longer one is skipped.
    public var durationMillisecondsMax: Int
    /// The bounds of the document and of what is taken from it.
    public var limits: AdFormatLimits
    /// The encoding that the sender of the document declared: the `charset` of its `Content-Type`; nil (the default) if it declared
    /// none.
    ///
    /// It counts before what the document declares, and a byte order mark counts before it (RFC 7303 section 3).
    public var charset: String?

    /// Options; all have defaults.
    public init(
        allStandAlone: Bool = false,
        durationMillisecondsMax: Int = 3_600_000,
        limits: AdFormatLimits = AdFormatLimits()
    ) {
        self.allStandAlone = allStandAlone
        self.durationMillisecondsMax = durationMillisecondsMax
        self.limits = limits
    }
}

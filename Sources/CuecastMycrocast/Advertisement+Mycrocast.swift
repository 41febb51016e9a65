// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast
internal import CuecastWire

extension Advertisement: Identifiable {
    /// A number that is the same for the same `adID` everywhere: a hash of 63 bits.
    public var id: Int {
        Int(truncatingIfNeeded: StableHash.hash([Array(self.adID.utf8)]) & UInt64(Int.max))
    }

    /// `audioFileURL`, as older apps spell it.
    public var audioFileUrl: String { self.audioFileURL }

    /// `bannerTargetURL`, as older apps spell it.
    public var bannerTargetUrl: String? { self.bannerTargetURL }

    /// The banner's square picture.
    public var bannerFileUrl: String? { self.banner?.imageURL }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// Advertisements encoded once, so that any tail of them can be put into a reply by copying bytes.
///
/// Fields of a protobuf message may be concatenated (Protocol Buffers, "Encoding", section "Last One Wins"), and
/// `advertisements` is the last field of `Batch`: a tail of this encoding is the end of a smaller batch.
package struct EncodedAdvertisements: Hashable, Sendable {
    /// The field `advertisements` of `Batch`, once per advertisement, in order.
    package let bytes: [UInt8]
    /// Where in `bytes` each advertisement begins; one more at the end.
    package let offsets: [Int]

    package init(_ advertisements: [AdvertisementContent]) {
        var bytes: [UInt8] = []
        var offsets: [Int] = [0]
        for advertisement in advertisements {
            bytes += encode(Cuecast_V1_Batch.with { $0.advertisements = [advertisement.wire] })
            offsets.append(bytes.count)
        }
        self.bytes = bytes
        self.offsets = offsets
    }

    /// The bytes from the advertisement with this ordinal on.
    package func tail(from ordinal: Int) -> ArraySlice<UInt8> {
        self.bytes[self.offsets[ordinal]...]
    }
}

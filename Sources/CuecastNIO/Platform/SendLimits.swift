// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import NIOCore

/// The limits of unsent bytes.
enum SendLimits {
    /// How many requests of the greatest length may wait in a channel; as many as a client has open.
    static let requestsWaitingMax = 32
    /// How many bytes may wait in a channel before requests are dropped and PINGs are not answered.
    static let bytesWaitingMax = requestsWaitingMax * WireLimits.requestFrameBytesMax

    static var waterMark: ChannelOptions.Types.WriteBufferWaterMark {
        .init(low: Self.bytesWaitingMax / 2, high: Self.bytesWaitingMax)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import TLS

/// The buffers into which all connections of an ``EdgeLoop`` are read, one after the other.
struct ReadBuffers {
    /// How many bytes one read takes.
    ///
    /// Some turns' messages, so that little is kept of queued connections: their further bytes stay in the kernel.
    static let readBytesMax = 8_192

    /// Plain bytes: what a connection kept, and behind it what came.
    var plain: [UInt8]
    /// The buffers of TLS sessions.
    let pipe = TLSPipe()
    /// The bytes that came over WebSocket, masked; they go to `plain` unmasked.
    var frames: [UInt8]
    /// The request at hand.
    var request: [UInt8] = []

    init(requestBytesMax: Int) {
        self.plain = [UInt8](repeating: 0, count: requestBytesMax + 2 * TLSPipe.inputBytesMax)
        self.frames = [UInt8](repeating: 0, count: 2 * TLSPipe.inputBytesMax)
    }
}

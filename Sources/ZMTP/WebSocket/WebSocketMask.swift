// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The mask of a WebSocket frame from some byte of its payload on (RFC 6455 section 5.3).
///
/// It is the same in both ways: masked bytes are unmasked by it.
struct WebSocketMask: Hashable, Sendable {
    /// The key, turned: its first byte, which is the highest, belongs to the first byte from there on.
    private let key: UInt32

    /// - Parameters:
    ///   - key: the frame's key, first byte highest; 0 changes nothing.
    ///   - count: how many bytes of the payload are before.
    init(_ key: UInt32, after count: Int) {
        let bits = UInt32(8 * (count & 3))
        self.key = key << bits | key >> (32 - bits)
    }

    /// The byte by which the payload's byte at an index is changed.
    subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: self.key >> UInt32(24 - 8 * (index & 3))) }

    /// Writes bytes with the mask applied.
    ///
    /// - Parameters:
    ///   - source: the bytes.
    ///   - target: gets them; as long as `source`, and elsewhere.
    @unsafe func apply(to source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
        precondition(source.count == target.count)
        guard self.key != 0 else {
            // Safety: both have the same length.
            unsafe target.copyMemory(from: source)
            return
        }
        let word = (UInt64(self.key) << 32 | UInt64(self.key)).bigEndian
        var index = 0
        while index + 8 <= source.count {
            // Safety: eight bytes are left in both.
            let bytes = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            unsafe target.storeBytes(of: bytes ^ word, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < source.count {
            // Safety: the index was compared with the length of both.
            unsafe target[index] = source[index] ^ self[index]
            index += 1
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The 64 bytes that each side sends first (RFC 23, "Greeting").
package struct Greeting: Hashable, Sendable {
    /// The major version; 3.
    package let major: UInt8
    /// The minor version: 0 (RFC 23) or 1 (RFC 37).
    package let minor: UInt8

    package init(minor: UInt8 = 0) {
        self.major = 3
        self.minor = minor
    }

    /// Reads the 64 bytes at `offset`, which must be there.
    ///
    /// The filler and, with NULL, the role are not looked at, as the RFC asks.
    init(reading bytes: Span<UInt8>, at offset: Int) throws(ZMTPError) {
        try Self.checkSignature(bytes, at: offset)
        self.major = bytes[offset + 10]
        self.minor = bytes[offset + 11]
        guard self.major >= 3 else { throw .versionTooOld(self.major) }
        for (index, expected) in Self.null.enumerated() where bytes[offset + 12 + index] != expected {
            throw .mechanismNotNull
        }
    }

    /// Checks as much of the signature as is there, so that a stranger is not waited for.
    static func checkSignature(_ bytes: Span<UInt8>, at offset: Int) throws(ZMTPError) {
        let available = bytes.count - offset
        guard available < 1 || bytes[offset] == 0xFF, available < 10 || bytes[offset + 9] & 1 == 1 else {
            throw .noSignature
        }
    }

    /// The mechanism's name, padded to 20 bytes.
    private static let null: [UInt8] = Array("NULL".utf8) + [UInt8](repeating: 0, count: 16)

    /// The bytes to send.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, self.major, self.minor]
        bytes += Self.null
        // NULL has no roles: the as-server byte and the filler are zero.
        bytes += [UInt8](repeating: 0, count: ZMTPLimits.greetingBytes - bytes.count)
        return bytes
    }
}

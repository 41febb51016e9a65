// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The keys by which both sides of an upgrade show that they speak WebSocket (RFC 6455 section 4.2.2).
///
/// SHA-1 protects nothing here: it only proves that the other side knows the protocol.
package enum WebSocketKey {
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Whether a client's key is 16 bytes in base64.
    package static func isValid(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        return bytes.count == 24 && bytes.suffix(2).elementsEqual("==".utf8)
            && bytes.dropLast(2).allSatisfy(self.alphabet.contains)
    }

    /// The answer to a client's key.
    package static func accept(_ key: String) -> String {
        self.base64(self.sha1(Array(key.utf8) + self.suffix.utf8))
    }

    /// Writes bytes in base64.
    package static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in part { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - part.count))
            for place in 0..<4 {
                let sextet = Int(bits >> UInt32(18 - 6 * place)) & 63
                text.append(place <= part.count ? self.alphabet[sextet] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The digest of a short text (FIPS 180-4 section 6.1).
    static func sha1(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: (UInt64(message.count) << 3) >> shift))
        }
        var digest: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: padded.count, by: 64) { self.compress(padded[start..<(start + 64)], &digest) }
        return digest.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    private static func compress(_ block: ArraySlice<UInt8>, _ digest: inout [UInt32]) {
        var words: [UInt32] = []
        for index in 0..<80 {
            if index < 16 {
                words.append(block.dropFirst(4 * index).prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
            } else {
                let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words.append(self.rotate(word, 1))
            }
        }
        var (a, b, c, d, e) = (digest[0], digest[1], digest[2], digest[3], digest[4])
        for (index, word) in words.enumerated() {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case 0..<20: (b & c | ~b & d, 0x5A82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            (a, b, c, d, e) = (self.rotate(a, 5) &+ mixed &+ e &+ word &+ constant, a, self.rotate(b, 30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { digest[index] &+= value }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}

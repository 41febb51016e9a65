// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Bytes in base64 (RFC 4648 sections 4 and 5).
package enum Base64Text {
    /// The reason why a text is no base64.
    package enum Fault: Error {
        /// A character is no digit; the first character has the number 1.
        case character(Int)
        /// So many digits with so many characters behind them are no whole bytes.
        case length(digits: Int, padding: Int)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.number(UInt32.self) << UInt32((3 - group.count) * 8)
            for place in 0..<4 {
                let digit = Self.alphabet[Int(bits >> UInt32(18 - place * 6) & 63)]
                text.append(place <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text in either alphabet, with or without the padding at its end.
    package static func bytes(_ text: [UInt8]) throws(Fault) -> [UInt8] {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.dropFirst(digits.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        for (index, digit) in digits.enumerated() {
            guard let value = self.value(digit) else { throw .character(index + 1) }
            bits = bits << 6 | value
            // Six bits more than whole bytes need: 6, 4, 2, 0.
            if index % 4 != 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - index % 4 * 2))) }
        }
        guard digits.count % 4 != 1, padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }),
            padding.isEmpty || text.count.isMultiple(of: 4)
        else { throw .length(digits: digits.count, padding: padding.count) }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Bytes as hexadecimal digits.
enum HexText {
    static func lower(_ bytes: some Sequence<UInt8>) -> String { self.text(bytes, Array("0123456789abcdef".utf8)) }

    static func upper(_ bytes: some Sequence<UInt8>) -> String { self.text(bytes, Array("0123456789ABCDEF".utf8)) }

    private static func text(_ bytes: some Sequence<UInt8>, _ digits: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The digits of a text that begins with `0x` or `0X`; `nil`: it begins otherwise.
    static func digits(afterPrefixOf text: [UInt8]) -> ArraySlice<UInt8>? {
        let hasPrefix = text.count >= 2 && text[0] == UInt8(ascii: "0") && text[1] | 0x20 == UInt8(ascii: "x")
        return hasPrefix ? text.dropFirst(2) : nil
    }

    /// The bytes of digits without anything between them; `nil`: they are none.
    static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = self.value(digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    /// The value of a digit; `nil`: it is none.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

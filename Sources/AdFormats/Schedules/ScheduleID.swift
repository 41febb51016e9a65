// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// From what a document calls a break to an id that the gateway takes.
package enum ScheduleID {
    /// The longest id of a break in its schedule, in bytes: with the schedule's name before it, it is a break id of the wire.
    package static let bytesMax = 36
    /// The longest name of a schedule, in bytes.
    package static let nameBytesMax = 24
    private static let digestBytes = 11

    /// Whether a text is a name of a schedule: 1 to 24 characters `A–Z a–z 0–9 _ -`.
    ///
    /// It has no point: that stands behind the name in every id, so no schedule's ids begin like another one's.
    package static func isName(_ text: String) -> Bool {
        (1...self.nameBytesMax).contains(text.utf8.count) && text.utf8.allSatisfy(self.allows)
    }

    /// A name of a schedule, made of any text.
    package static func name(from text: String) -> String { self.safe(text, bytesMax: self.nameBytesMax) }

    /// The id of a break, made of any text, behind a stamp such as its day.
    static func id(from text: String, stamp: String? = nil) -> String {
        guard let stamp else { return self.safe(text, bytesMax: self.bytesMax) }
        return "\(stamp)-" + self.safe(text, bytesMax: self.bytesMax - stamp.utf8.count - 1)
    }

    /// The text with `-` for what may not stand in an id.
    ///
    /// Where that changes something, or cuts it, a digest of the whole text stands at its end, so that different texts stay different.
    private static func safe(_ text: String, bytesMax: Int) -> String {
        let bytes = Array(text.utf8)
        if (1...bytesMax).contains(bytes.count), bytes.allSatisfy(self.allows) { return text }
        // FNV-1a, 64 bits.
        let digest = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(digest, radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.count) + digits
        let kept = text.unicodeScalars.map { scalar in
            scalar.isASCII && self.allows(UInt8(ascii: scalar)) ? Character(scalar) : "-"
        }
        return String(kept.prefix(bytesMax - self.digestBytes)) + "-" + padded.suffix(self.digestBytes - 1)
    }

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The rule for the ids that broadcasters choose: 1 to 64 characters `A–Z a–z 0–9 . _ -`, and neither `.` nor `..`.
///
/// The alphabet can be written into URLs and file names as it is, and keeps every id before `~` in byte order. The proof of a
/// subscription relies on this order (`docs/internals/architecture.md`, "No listener misses a notice without knowing"). `.` and
/// `..` are the names that clients remove from a URL's path (RFC 3986, section 5.2.4). Upper and lower case are different.
enum ChosenID {
    static func isValid(_ text: String, bytesMax: Int) -> Bool {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= bytesMax, bytes.allSatisfy(Self.allows) else { return false }
        return bytes.count > 2 || bytes.contains { $0 != UInt8(ascii: ".") }
    }

    static let rule = "has 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-', and is neither '.' nor '..'"

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// The id of one live audio or video stream: 1 to 64 characters `A–Z a–z 0–9 . _ -`.
package struct StreamID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The id as text.
    package let description: String

    /// Checks the rule of `ChosenID`.
    package init(_ text: String) throws(WireError) {
        guard ChosenID.isValid(text, bytesMax: WireLimits.streamIDBytesMax) else {
            throw .invalid(field: "stream", rule: "a stream id \(ChosenID.rule)")
        }
        self.description = text
    }

    package static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}

/// The id that a broadcaster gives a break, unique in its stream: 1 to 64 characters `A–Z a–z 0–9 . _ -`.
package struct BreakID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The id as text.
    package let description: String

    /// Checks the rule of `ChosenID`.
    package init(_ text: String) throws(WireError) {
        guard ChosenID.isValid(text, bytesMax: WireLimits.breakIDBytesMax) else {
            throw .invalid(field: "break_id", rule: "a break id \(ChosenID.rule)")
        }
        self.description = text
    }

    package static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}

/// The name of one break among all streams.
package struct BreakKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let stream: StreamID
    package let id: BreakID

    package init(stream: StreamID, id: BreakID) {
        self.stream = stream
        self.id = id
    }

    package var description: String { "\(self.stream)/\(self.id)" }

    package static func < (left: Self, right: Self) -> Bool { (left.stream, left.id) < (right.stream, right.id) }
}

/// The key of an advertisement in its break: 1 to 128 bytes of text without control characters.
package struct AdvertisementID: Hashable, Sendable, CustomStringConvertible {
    /// The id as text.
    package let description: String

    /// Checks the rule above.
    package init(_ text: String) throws(WireError) {
        self.init(unchecked: text)
        try self.check()
    }

    /// The id of an advertisement that is not checked yet: `AdvertisementContent.checked()` does it.
    package init(unchecked text: String) {
        self.description = text
    }

    func check() throws(WireError) {
        let bytes = self.description.utf8
        guard !bytes.isEmpty, bytes.count <= WireLimits.advertisementIDBytesMax,
            !self.description.unicodeScalars.contains(where: \.isControl)
        else {
            throw .invalid(
                field: "advertisement id",
                rule: "it has 1 to 128 bytes and no control characters"
            )
        }
    }
}

/// The id of one running listener on one stream: 16 random bytes.
package struct SessionID: Hashable, Sendable, CustomStringConvertible {
    /// The first and last eight bytes, big-endian.
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new session.
    package static func random() -> SessionID {
        var generator = SystemRandomNumberGenerator()
        return SessionID(high: generator.next(), low: generator.next())
    }

    /// Reads the sixteen bytes of the wire.
    package init(bytes: some Collection<UInt8>) throws(WireError) {
        guard bytes.count == WireLimits.sessionBytes else {
            throw .invalid(field: "session", rule: "a session id has 16 bytes")
        }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        self.init(high: high, low: low)
    }

    /// The sixteen bytes of the wire.
    package var bytes: [UInt8] {
        (0..<16)
            .map { index in
                let half = index < 8 ? self.high : self.low
                return UInt8(truncatingIfNeeded: half >> UInt64(8 * (7 - index % 8)))
            }
    }

    /// Thirty-two hexadecimal digits.
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: self.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The values in the lines of a playlist.
enum PlaylistText {
    /// The most digits before a point: more is no time in a stream.
    private static let digitsMax = 12

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The text without spaces around it.
    static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let first = text.firstIndex(where: { !self.isSpace($0) }),
            let last = text.lastIndex(where: { !self.isSpace($0) })
        else { return text.prefix(0) }
        return text[first...last]
    }

    /// The text without spaces around it; bytes that are not UTF-8 become U+FFFD.
    static func string(_ text: ArraySlice<UInt8>) -> String { String(decoding: self.trimmed(text), as: UTF8.self) }

    /// A decimal-integer (RFC 8216 section 4.2); `nil`: something else, or more than 18 digits.
    static func integer(_ text: String) -> Int? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ self.digit($0) != nil }) else { return nil }
        return Int(text)
    }

    /// A decimal number of seconds (RFC 8216 section 4.2), in microseconds, rounded to the nearest; `nil`: something else.
    static func microseconds(_ text: String) -> Int? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0].count <= self.digitsMax, let whole = self.number(parts[0]) else { return nil }
        guard parts.count == 2 else { return parts[0].isEmpty ? nil : whole * 1_000_000 }
        guard !parts[0].isEmpty || !parts[1].isEmpty, let fraction = self.fraction(parts[1]) else { return nil }
        return whole * 1_000_000 + fraction
    }

    /// The same in milliseconds.
    static func milliseconds(_ text: String) -> Int? { self.microseconds(text).map { self.milliseconds($0) } }

    /// Microseconds in milliseconds, rounded to the nearest.
    static func milliseconds(_ microseconds: Int) -> Int {
        (microseconds + (microseconds < 0 ? -500 : 500)) / 1_000
    }

    /// A point in time as ISO 8601 writes it (RFC 8216 section 4.3.2.6), in microseconds since 1970; `nil`: something else.
    ///
    /// The fraction may have any length. The zone is `Z`, `±hh:mm`, `±hhmm` or `±hh`; a time without one counts as UTC.
    static func date(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard (19...48).contains(bytes.count), bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: "t") || bytes[10] == 0x20,
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let year = self.number(bytes[0..<4]), let month = self.number(bytes[5..<7]),
            let day = self.number(bytes[8..<10]), let hour = self.number(bytes[11..<13]),
            let minute = self.number(bytes[14..<16]), let second = self.number(bytes[17..<19]),
            year >= 1_970, (1...12).contains(month), day >= 1, day <= self.days(in: month, of: year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        var rest = bytes[19...]
        var fraction = 0
        if let point = rest.first, point == UInt8(ascii: ".") || point == UInt8(ascii: ",") {
            let digits = rest.dropFirst().prefix { self.digit($0) != nil }
            guard !digits.isEmpty, let read = self.fraction(digits) else { return nil }
            fraction = read
            rest = rest[digits.endIndex...]
        }
        guard let offset = self.zone(rest) else { return nil }
        let seconds = self.days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
        return seconds * 1_000_000 + fraction
    }

    /// The seconds that a zone is ahead of UTC.
    private static func zone(_ text: ArraySlice<UInt8>) -> Int? {
        guard let first = text.first else { return 0 }
        let digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }
        switch first {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): return text.count == 1 ? 0 : nil
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard digits.count == 2 || digits.count == 4, text.count <= 6, let hours = self.number(digits.prefix(2)),
                let minutes = self.number(digits.dropFirst(2)), hours < 24, minutes < 60
            else { return nil }
            return (first == UInt8(ascii: "-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
        default: return nil
        }
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days since 1970-01-01 in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years that begin in March have their leap day at the end.
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let daysBefore = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400
        return daysBefore + dayOfYear - 719_468
    }

    /// Digits as a number; nothing is 0.
    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        var number = 0
        for each in digits {
            guard let digit = self.digit(each) else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// The digits behind a point, in millionths, rounded to the nearest.
    private static func fraction(_ digits: some Collection<UInt8>) -> Int? {
        guard digits.allSatisfy({ self.digit($0) != nil }) else { return nil }
        var fraction = self.number(digits.prefix(6)) ?? 0
        for _ in 0..<max(0, 6 - digits.count) { fraction *= 10 }
        if let next = digits.dropFirst(6).first, next >= UInt8(ascii: "5") { fraction += 1 }
        return fraction
    }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }
}

/// The bytes of an SCTE-35 section as a playlist writes them.
enum PlaylistBytes {
    /// Bytes in hexadecimal with `0x` (RFC 8216 section 4.2) or in base64 (RFC 4648 sections 4 and 5).
    ///
    /// - Throws: ``PlaylistTagFault`` where the text is neither, or has too many bytes.
    static func read(_ text: String, countMax: Int) throws(PlaylistTagFault) -> [UInt8] {
        let kept = Array(text.utf8)
        let digits = HexText.digits(afterPrefixOf: kept)
        let read = if let digits { HexText.bytes(digits) } else { try? Base64Text.bytes(kept) }
        guard let bytes = read, !bytes.isEmpty else {
            throw PlaylistTagFault("has SCTE-35 that is neither hexadecimal nor base64: \(quoted(text))")
        }
        guard bytes.count <= countMax else {
            throw PlaylistTagFault("has SCTE-35 of more than \(countMax) bytes (scte35BytesMax)")
        }
        return bytes
    }
}

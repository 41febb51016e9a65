// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The macros of VAST 4.2 that a server fills in the addresses that it asks (VAST 4.3 section 6).
///
/// The names and their values are those of the list of the IAB Tech Lab. All other macros stay as they are: they are about one
/// listener, and ads are asked for all listeners at once. Addresses that players call keep all their macros.
package enum VASTMacro: String, CaseIterable, Sendable {
    /// Eight random digits, new for each request.
    case cacheBusting = "CACHEBUSTING"
    /// The time of the request, by ISO 8601 with milliseconds.
    case timestamp = "TIMESTAMP"
    /// An identifier of the requests that belong together: one for a chain of wrappers.
    case transactionID = "TRANSACTIONID"
    /// How long the break lasts at most, in seconds; -1 where it is not known.
    case breakMaxDuration = "BREAKMAXDURATION"
    /// The versions of VAST that are read, wrappers included, by the numbers of the list of the IAB.
    case vastVersions = "VASTVERSIONS"
    /// 1: a server asks for its listeners.
    case serverSide = "SERVERSIDE"
    /// The name and the version of the program that asks.
    case serverUserAgent = "SERVERUA"

    /// The meaning of the value, for people.
    package var meaning: String {
        switch self {
        case .cacheBusting: "eight random digits, new for each request"
        case .timestamp: "the time of the request, by ISO 8601 with milliseconds"
        case .transactionID: "a random UUID, one for all requests of a chain"
        case .breakMaxDuration: "the most that the break lasts, in seconds; `-1` where that is not known"
        case .vastVersions: "`2,3,5,6,7,8,11,12,13,14`: VAST 2.0 to 4.2, each with its wrappers"
        case .serverSide: "`1`: a server asks for its listeners"
        case .serverUserAgent: "the program that asks, as in the header `User-Agent`"
        }
    }
}

/// The values of ``VASTMacro`` for one request.
package struct VASTMacros: Hashable, Sendable {
    /// At most eight digits.
    package var cacheBusting: Int
    /// The time, by ISO 8601.
    package var timestamp: String
    /// The identifier of the chain.
    package var transactionID: String
    /// In seconds, rounded up; nil: it is not known.
    package var breakMaxDuration: Int?
    /// As the header `User-Agent` has it.
    package var userAgent: String

    /// Values.
    package init(
        cacheBusting: Int,
        timestamp: String,
        transactionID: String,
        breakMaxDuration: Int?,
        userAgent: String
    ) {
        self.cacheBusting = cacheBusting
        self.timestamp = timestamp
        self.transactionID = transactionID
        self.breakMaxDuration = breakMaxDuration
        self.userAgent = userAgent
    }

    /// An address with these values, each percent-encoded.
    package func filled(_ address: String) -> String {
        Self.filled(address) { name in VASTMacro(rawValue: name).map { self.value(of: $0) } }
    }

    /// An address of an `Error` element with its code.
    package static func filled(_ address: String, errorCode: Int) -> String {
        Self.filled(address) { $0 == "ERRORCODE" ? String(errorCode) : nil }
    }

    private func value(of macro: VASTMacro) -> String {
        switch macro {
        case .cacheBusting:
            let digits = String(self.cacheBusting.magnitude % 100_000_000)
            return String(repeating: "0", count: 8 - digits.count) + digits
        case .timestamp: return Self.encoded(self.timestamp)
        case .transactionID: return Self.encoded(self.transactionID)
        case .breakMaxDuration: return String(self.breakMaxDuration ?? -1)
        case .vastVersions: return "2,3,5,6,7,8,11,12,13,14"
        case .serverSide: return "1"
        case .serverUserAgent: return Self.encoded(self.userAgent)
        }
    }

    /// The most bytes of a macro's name.
    private static let nameBytesMax = 40

    /// Replaces each `[NAME]`, also where its brackets are percent-encoded, for which there is a value.
    private static func filled(_ address: String, _ value: (String) -> String?) -> String {
        let bytes = Array(address.utf8)
        var filled: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if let macro = Self.macro(in: bytes, at: place), let text = value(macro.name) {
                filled += Array(text.utf8)
                place = macro.end
            } else {
                filled.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: filled, as: UTF8.self)
    }

    private static func macro(in bytes: [UInt8], at place: Int) -> (name: String, end: Int)? {
        guard let start = Self.bracket("[", "%5B", in: bytes, at: place) else { return nil }
        var end = start
        while end < bytes.count, end - start < Self.nameBytesMax, Self.isOfName(bytes[end]) { end += 1 }
        guard end > start, let after = Self.bracket("]", "%5D", in: bytes, at: end) else { return nil }
        return (String(decoding: bytes[start..<end], as: UTF8.self), after)
    }

    /// The place behind a bracket, plain or percent-encoded; nil: there is none.
    private static func bracket(_ plain: Character, _ encoded: String, in bytes: [UInt8], at place: Int) -> Int? {
        guard place < bytes.count else { return nil }
        if bytes[place] == plain.asciiValue { return place + 1 }
        guard place + 3 <= bytes.count else { return nil }
        let text = String(decoding: bytes[place..<(place + 3)], as: UTF8.self)
        return text.uppercased() == encoded ? place + 3 : nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// A text with all but unreserved characters percent-encoded (RFC 3986 section 2.3).
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if isLetter || isDigit || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

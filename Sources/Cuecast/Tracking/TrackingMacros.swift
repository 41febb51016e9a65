// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Replaces the macros of one tracking URL (VAST 4.3 section 6; the names are those of the list "VAST 4 Macros" that the
/// IAB Tech Lab keeps for it).
///
/// `[NAME]` and the older `%%NAME%%` are replaced where the list has the name: by the value, each part of it encoded as
/// `encodeURIComponent` does; by `-1` where the value is not known; by `-2` where it is not given away. Other names stay
/// as they are. Scheme, host and port are never touched: what they hold is not for macros.
struct TrackingMacros: Sendable {
    /// The longest URL, in bytes, after the macros were replaced.
    static let urlBytesMax = 16_384
    /// The longest name of a macro, in bytes.
    static let nameBytesMax = 32

    /// The macros with a value of their own; the rest of the list is in `unknown` and `withheld`.
    struct Facts: Sendable {
        /// When the URL is called.
        var wall: Timestamp
        /// How far into the advertisement; `nil`: it has not begun.
        var adPlayhead: Duration?
        /// For the event `error` only.
        var errorCode: Int?
        var isMuted: Bool
        /// How many advertisements of the break had begun with this one; `nil`: it has not.
        var adCount: Int?
        var podSequence: Int
        var assetURI: String
        /// `audio`, `video` or `hybrid`; `nil`: not known.
        var adType: String?
        var isSkippable: Bool
        /// As the ad server gave it; `nil`: it gave none.
        var adServingID: String?
        /// Each with its registry before it, and a space between.
        var universalIDs: [String] = []
    }

    let facts: Facts
    /// A number of up to eight digits.
    let cacheBuster: UInt32
    let userAgent: String
    let appBundle: String?
    let consent: ListenerConsent?

    /// Names whose value this client cannot know, or that have none for the URLs of an advertisement that plays.
    private static let unknown: Set<String> = [
        "ADCATEGORIES", "APIFRAMEWORKS", "BLOCKEDADCATEGORIES", "BREAKMAXADLENGTH", "BREAKMAXADS",
        "BREAKMAXDURATION", "BREAKMINADLENGTH", "BREAKMINDURATION", "BREAKPOSITION", "CLICKPOS", "CLICKTYPE",
        "CONTENTID", "CONTENTPLAYHEAD", "CONTENTURI", "DOMAIN", "EXTENSIONS", "MEDIAMIME", "MEDIAPLAYHEAD",
        "OMIDPARTNER", "PLACEMENTTYPE", "PLAYERCAPABILITIES", "PLAYERSIZE", "REASON", "SERVERUA", "STOREID", "STOREURL",
        "TRANSACTIONID", "VASTVERSIONS", "VERIFICATIONVENDORS",
    ]

    /// Names whose value tells the listener's identity or location: never given away.
    private static let withheld: Set<String> = ["DEVICEIP", "IFA", "IFATYPE", "LATLONG"]

    /// The URL with its macros replaced; `nil`: it would be longer than `urlBytesMax`.
    func replaced(in url: String) -> String? {
        let bytes = Array(url.utf8)
        guard bytes.count <= Self.urlBytesMax else { return nil }
        var index = Self.endOfAuthority(bytes)
        var result = Array(bytes[..<index])
        result.reserveCapacity(bytes.count * 2)
        while index < bytes.count {
            if let (name, end) = Self.macro(in: bytes, at: index), let value = self.value(of: name) {
                result += value.utf8
                index = end
            } else {
                result.append(bytes[index])
                index += 1
            }
            guard result.count <= Self.urlBytesMax else { return nil }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Where the path, the query or the fragment begins (RFC 3986, section 3).
    static func endOfAuthority(_ bytes: [UInt8]) -> Int {
        let colon = UInt8(ascii: ":")
        let slash = UInt8(ascii: "/")
        guard let scheme = bytes.firstIndex(of: colon), bytes[scheme...].starts(with: [colon, slash, slash]) else {
            return bytes.count
        }
        let delimiters: [UInt8] = [slash, UInt8(ascii: "?"), UInt8(ascii: "#")]
        return bytes[(scheme + 3)...].firstIndex { delimiters.contains($0) } ?? bytes.count
    }

    /// The name of the macro that begins at `index`, and where it ends.
    private static func macro(in bytes: [UInt8], at index: Int) -> (name: String, end: Int)? {
        let percent = UInt8(ascii: "%")
        let isOld = bytes[index] == percent && index + 1 < bytes.count && bytes[index + 1] == percent
        guard isOld || bytes[index] == UInt8(ascii: "[") else { return nil }
        let begin = index + (isOld ? 2 : 1)
        let name = bytes[begin...].prefix(Self.nameBytesMax)
            .prefix { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard !name.isEmpty else { return nil }
        let closing = isOld ? [percent, percent] : [UInt8(ascii: "]")]
        guard bytes[name.endIndex...].starts(with: closing) else { return nil }
        return (String(decoding: name, as: UTF8.self), name.endIndex + closing.count)
    }

    /// The encoded value of a macro; `nil`: not one of ours.
    private func value(of name: String) -> String? {
        if Self.unknown.contains(name) { return "-1" }
        if Self.withheld.contains(name) { return "-2" }
        switch name {
        // The description ends with six digits of a second and "Z".
        case "TIMESTAMP": return Self.encoded(self.facts.wall.description.dropLast(4) + "Z")
        case "CACHEBUSTING", "CACHEBUSTER": return Self.padded(Int(self.cacheBuster % 100_000_000), 8)
        case "ADPLAYHEAD": return Self.timecode(self.facts.adPlayhead)
        case "ERRORCODE": return self.facts.errorCode.map(String.init) ?? "-1"
        case "ASSETURI": return Self.encoded(self.facts.assetURI)
        case "ADTYPE": return self.facts.adType ?? "-1"
        case "ADCOUNT": return self.facts.adCount.map(String.init) ?? "-1"
        case "PODSEQUENCE": return String(self.facts.podSequence)
        case "PLAYERSTATE": return self.facts.isMuted ? "muted" : ""
        case "INVENTORYSTATE": return self.facts.isSkippable ? "skippable" : "-1"
        case "ADSERVINGID": return self.facts.adServingID.map { Self.encoded($0) } ?? "-1"
        case "UNIVERSALADID":
            let ids = self.facts.universalIDs.map { Self.encoded($0) }
            return ids.isEmpty ? "-1" : ids.joined(separator: ",")
        // The listener's device calls, and no server on its behalf.
        case "SERVERSIDE": return "0"
        case "CLIENTUA", "DEVICEUA": return Self.encoded(self.userAgent)
        // An app has no page; "0" says so (VAST 4.3 section 6, PAGEURL).
        case "PAGEURL": return "0"
        case "APPBUNDLE": return self.appBundle.map(Self.encoded) ?? "-1"
        case "LIMITADTRACKING": return self.consent.map { $0.limitAdTracking ? "1" : "0" } ?? "-1"
        // Commas between the parts of a list stay as they are (VAST 4.3 section 6.1).
        case "REGULATIONS": return self.consent.map { $0.regulations.map(Self.encoded).joined(separator: ",") } ?? "-1"
        case "GDPRCONSENT": return self.consent?.gdprConsent.map(Self.encoded) ?? "-1"
        default: return nil
        }
    }

    /// `HH:MM:SS.mmm`, encoded.
    private static func timecode(_ time: Duration?) -> String {
        guard let time else { return "-1" }
        let milliseconds = Int(max(0, time.inMicroseconds / 1_000))
        let seconds = milliseconds / 1_000
        return padded(seconds / 3_600, 2) + "%3A" + padded(seconds / 60 % 60, 2) + "%3A" + padded(seconds % 60, 2) + "."
            + padded(milliseconds % 1_000, 3)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// As ECMAScript's `encodeURIComponent` (ECMA-262, section 19.2.6.4) does.
    static func encoded(_ text: some StringProtocol) -> String {
        String(
            decoding: text.utf8.flatMap { Self.isPlain[Int($0)] ? [$0] : Self.encoded(byte: $0) },
            as: UTF8.self
        )
    }

    /// A percent sign and two digits (RFC 3986, section 2.1).
    static func encoded(byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static let isPlain: [Bool] = {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()".utf8)
        return (0...255).map { plain.contains($0) }
    }()
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// Reads one generated message, bounded in bytes; never traps, whatever the bytes are.
func decode<M: SwiftProtobuf.Message>(
    _ type: M.Type,
    from bytes: [UInt8],
    atMost maximum: Int,
    limit: String,
    what: String
) throws(WireError) -> M {
    try requireAtMost(maximum, bytes.count, limit: limit)
    do {
        return try M(serializedBytes: bytes)
    } catch {
        throw .malformed(what: what)
    }
}

/// Writes one generated message.
func encode(_ message: some SwiftProtobuf.Message) -> [UInt8] {
    do {
        return try message.serializedBytes()
    } catch {
        // Encoding fails only for proto2 messages with required fields missing and for messages above 2 GiB; ours are
        // proto3 and bounded long before.
        preconditionFailure("a bounded proto3 message could not be encoded: \(error)")
    }
}

/// How many bytes fields take in a message, for fields with numbers up to 15 (Protocol Buffers, "Encoding").
///
/// With these a value knows how large its frame is without making it.
enum EncodedSize {
    /// A number that is left out where it is 0.
    static func number(_ value: some UnsignedInteger) -> Int { value == 0 ? 0 : self.present(value) }

    /// A number of an optional field, or of a choice: it is there also where it is 0.
    static func present(_ value: some UnsignedInteger) -> Int { 1 + varintBytes(UInt64(value)) }

    /// A number with a sign, in the same place.
    static func present(_ value: Int64) -> Int { self.present(UInt64(bitPattern: value)) }

    /// A text that is left out where it is empty.
    static func text(_ text: String) -> Int { self.bytes(text.utf8.count) }

    /// So many bytes, left out where there are none.
    static func bytes(_ count: Int) -> Int { count == 0 ? 0 : self.message(count) }

    /// A message of so many bytes.
    static func message(_ count: Int) -> Int { 1 + varintBytes(UInt64(count)) + count }

    /// A flag that is left out where it is `false`.
    static func flag(_ value: Bool) -> Int { value ? 2 : 0 }
}

/// Text from outside, bounded and without control characters, which would corrupt terminals, logs and CSV files.
///
/// Line ends and tabs are allowed.
func requireText(
    _ text: String,
    field: String,
    atMost maximum: Int = WireLimits.textBytesMax,
    limit: String = "textBytesMax"
) throws(WireError) {
    try requireAtMost(maximum, text.utf8.count, limit: "\(limit) (\(field))")
    guard !text.unicodeScalars.contains(where: { $0.isControl && $0 != "\n" && $0 != "\t" }) else {
        throw .invalid(field: field, rule: "it has control characters")
    }
}

/// An absolute http or https URL, bounded, as it is kept: what may not stand in a URI is percent-encoded.
///
/// Only the scheme and the host are checked here. Brackets, braces and percent signs stay as they are, because tracking URLs hold
/// macros such as `[CACHEBUSTING]` that no URL parser accepts.
///
/// - Returns: the URL in ASCII (RFC 3986, section 2). What is encoded already is not changed. A host in other letters is encoded too,
///   and the player finds its name (RFC 3986, section 3.2.2).
func requireURL(_ text: String, field: String) throws(WireError) -> String {
    let notAbsolute = WireError.invalid(field: field, rule: "it is not an absolute http or https URL")
    let isAbsolute = ["https://", "http://"]
        .contains { scheme in
            guard text.utf8.count > scheme.utf8.count,
                zip(text.utf8, scheme.utf8).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 })
            else { return false }
            return !"/?#".utf8.contains(text.utf8[text.utf8.index(text.utf8.startIndex, offsetBy: scheme.utf8.count)])
        }
    guard isAbsolute else { throw notAbsolute }
    // One pass for all rules: a publication has up to thousands of URLs.
    var isKeptAsItIs = true
    var isASCII = true
    for byte in text.utf8 {
        switch byte {
        case 0...0x20, 0x7F: throw notAbsolute
        case 0x80...:
            isKeptAsItIs = false
            isASCII = false
        default: if isEncodedInURLs(byte) { isKeptAsItIs = false }
        }
    }
    guard isASCII || !text.unicodeScalars.contains(where: \.isControl) else { throw notAbsolute }
    let encoded = isKeptAsItIs ? text : percentEncoded(text)
    try requireAtMost(WireLimits.urlBytesMax, encoded.utf8.count, limit: "urlBytesMax (\(field))")
    return encoded
}

/// Whether a byte is percent-encoded: what a URI may not have (RFC 3986, section 2), save what macros are written with.
private func isEncodedInURLs(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
        UInt8(ascii: "`"):
        true
    default: byte >= 0x80
    }
}

private func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        if isEncodedInURLs(byte) {
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension Unicode.Scalar {
    /// C0, DEL or C1 (Unicode 16, section 23.1): terminals act on all of them.
    var isControl: Bool { self.value < 0x20 || (0x7F...0x9F).contains(self.value) }
}

/// An enum value of the wire that must be known and chosen.
@inline(__always)
func requireKnown<Wire, Value>(
    _ wire: Wire,
    field: String,
    _ convert: (Wire) -> Value?
) throws(WireError) -> Value {
    guard let value = convert(wire) else {
        throw .invalid(field: field, rule: "its value is missing or not known")
    }
    return value
}

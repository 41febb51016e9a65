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

/// An absolute http or https URL, bounded.
///
/// Only the scheme and the presence of a host are checked here: the wire keeps
/// URLs as they are, because tracking URLs hold macros that no URL parser accepts.
func requireURL(_ text: String, field: String) throws(WireError) {
    try requireAtMost(WireLimits.urlBytesMax, text.utf8.count, limit: "urlBytesMax (\(field))")
    let bytes = text.utf8
    let schemes = ["https://", "http://"]
    let scheme = schemes.first { scheme in
        bytes.count > scheme.utf8.count && zip(bytes, scheme.utf8).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
    }
    guard let scheme, !"/?#".utf8.contains(bytes[bytes.index(bytes.startIndex, offsetBy: scheme.utf8.count)]),
        !text.unicodeScalars.contains(where: { $0.isControl || $0 == " " })
    else {
        throw .invalid(field: field, rule: "it is not an absolute http or https URL")
    }
}

extension Unicode.Scalar {
    /// C0, DEL or C1 (Unicode 16, section 23.1): terminals act on all of them.
    var isControl: Bool { self.value < 0x20 || (0x7F...0x9F).contains(self.value) }
}

/// An enum value of the wire that must be known and chosen.
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

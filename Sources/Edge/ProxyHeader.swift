// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import SystemSupport

/// Why what a balancer says about a connection cannot be used.
package enum ProxyFailure: Error, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The first bytes are no header of version 2.
    case noSignature
    /// A version or a command that there is not.
    case version
    /// Longer than ``ProxyHeader/bytesMax``.
    case tooLong
    /// The connection that it describes is not TCP over IPv4 or IPv6, so its client is unknown.
    case family
    /// Its addresses or fields are cut, or one is there twice.
    case malformed
    /// Its checksum is not that of its bytes.
    case checksum

    package var description: String {
        switch self {
        case .noSignature: "it does not begin with a PROXY header of version 2"
        case .version: "its PROXY header has an unknown version or command"
        case .tooLong: "its PROXY header is too long; the limit proxyHeaderBytesMax is \(ProxyHeader.bytesMax)"
        case .family: "its PROXY header tells of no connection by TCP"
        case .malformed: "its PROXY header is malformed"
        case .checksum: "its PROXY header has a wrong checksum"
        }
    }
}

/// A balancer's statement about a connection, before its first byte: the header of the PROXY protocol, version 2 (HAProxy, "The
/// PROXY protocol", section 2.2).
///
/// Pure: bytes in, a value or a reason out, whatever the bytes are.
package struct ProxyHeader: Hashable, Sendable {
    /// The client of the connection.
    package enum Source: Hashable, Sendable {
        /// The balancer's own, for instance a health check.
        case balancer
        case client(IPAddress)
    }

    package let source: Source
    /// Whether the client speaks TLS with the balancer.
    package let isEncrypted: Bool
    /// How many bytes the header has; what follows it is the client's.
    package let byteCount: Int

    /// The longest header, in bytes.
    package static let bytesMax = 4_096

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    /// The signature, the version with the command, the family, and the length of what follows.
    private static let fixedBytes = 16

    /// Reads the header at the beginning of what came.
    ///
    /// - Returns: `nil` where it is not there in full.
    package static func read(_ bytes: Span<UInt8>) throws(ProxyFailure) -> ProxyHeader? {
        for index in 0..<min(bytes.count, Self.signature.count) where bytes[index] != Self.signature[index] {
            throw .noSignature
        }
        guard bytes.count >= Self.fixedBytes else { return nil }
        let (version, command) = (bytes[12] >> 4, bytes[12] & 0xF)
        guard version == 2, command <= 1 else { throw .version }
        let byteCount = Self.fixedBytes + Self.number(bytes, at: 14)
        guard byteCount <= Self.bytesMax else { throw .tooLong }
        guard bytes.count >= byteCount else { return nil }
        // Of a connection of the balancer's own, the other fields have no meaning.
        guard command == 1 else { return ProxyHeader(source: .balancer, isEncrypted: false, byteCount: byteCount) }
        let header = bytes.extracting(0..<byteCount)
        let (address, end) = try Self.address(header)
        let isEncrypted = try Self.isEncrypted(header, from: end)
        return ProxyHeader(source: .client(address), isEncrypted: isEncrypted, byteCount: byteCount)
    }

    /// The client's address, and where the fields begin.
    private static func address(_ header: Span<UInt8>) throws(ProxyFailure) -> (IPAddress, end: Int) {
        let start = Self.fixedBytes
        switch header[13] {
        case 0x11:
            // Two addresses of four bytes, two ports.
            guard header.count >= start + 12 else { throw .malformed }
            return (IPAddress(ipv4: UInt32(truncatingIfNeeded: Self.word(header, at: start) >> 32)), start + 12)
        case 0x21:
            guard header.count >= start + 36 else { throw .malformed }
            return (IPAddress(high: Self.word(header, at: start), low: Self.word(header, at: start + 8)), start + 36)
        default: throw .family
        }
    }

    /// Reads the fields; of those that have a meaning here each may be there once.
    private static func isEncrypted(_ header: Span<UInt8>, from start: Int) throws(ProxyFailure) -> Bool {
        var isEncrypted: Bool?
        var checksum: (place: Int, given: UInt32)?
        var offset = start
        while offset < header.count {
            guard offset + 3 <= header.count else { throw .malformed }
            let (kind, value) = (header[offset], offset + 3)
            let end = value + Self.number(header, at: offset + 1)
            guard end <= header.count else { throw .malformed }
            switch kind {
            case 0x03:
                guard checksum == nil, end - value == 4 else { throw .malformed }
                let given = UInt32(Self.number(header, at: value)) << 16 | UInt32(Self.number(header, at: value + 2))
                checksum = (value, given)
            case 0x20:
                // What the client does, in bits, then what the balancer found out about its certificate: five bytes at least.
                guard isEncrypted == nil, end - value >= 5 else { throw .malformed }
                isEncrypted = header[value] & 1 != 0
            default: break
            }
            offset = end
        }
        if let checksum {
            guard checksum.given == Self.checksum(header, zeroAt: checksum.place) else { throw .checksum }
        }
        return isEncrypted ?? false
    }

    /// Two bytes, the higher one first.
    private static func number(_ bytes: Span<UInt8>, at offset: Int) -> Int {
        Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    /// Eight bytes, the highest one first.
    private static func word(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in offset..<offset + 8 { word = word << 8 | UInt64(bytes[index]) }
        return word
    }

    /// CRC-32C (RFC 3720 appendix B.4) of a header whose checksum is taken for zeros.
    private static func checksum(_ header: Span<UInt8>, zeroAt place: Int) -> UInt32 {
        var sum: UInt32 = .max
        for index in 0..<header.count {
            sum ^= UInt32((place..<place + 4).contains(index) ? 0 : header[index])
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 0 ? 0 : 0x82F6_3B78) }
        }
        return ~sum
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An address of a host: 4 bytes of IPv4, or 16 of IPv6.
package struct HostAddress: Hashable, Sendable {
    /// The bytes, the highest first.
    package let bytes: [UInt8]

    /// An address; `nil`: it has neither 4 nor 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Whether every host on the Internet may be meant by it.
    ///
    /// Private, shared, loopback, link-local, multicast and reserved addresses are not (RFC 6890), also where IPv6 carries them.
    package var isPublic: Bool {
        if self.bytes.count == 4 { return Self.isPublic(self.bytes) }
        let zeros = { (count: Int) in self.bytes.prefix(count).allSatisfy { $0 == 0 } }
        // IPv4 in IPv6: mapped, compatible (with it :: and ::1), and translated (RFC 4291 section 2.5.5, RFC 6052).
        let isMapped = zeros(10) && self.bytes[10] == 0xFF && self.bytes[11] == 0xFF
        let isTranslated = self.bytes.prefix(12) == [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        if isMapped || zeros(12) || isTranslated { return Self.isPublic(Array(self.bytes.suffix(4))) }
        // 6to4 has the address behind its prefix (RFC 3056).
        if self.bytes[0] == 0x20, self.bytes[1] == 0x02 { return Self.isPublic(Array(self.bytes[2..<6])) }
        // Global unicast (RFC 4291 section 2.4) begins with the bits 001; unique local, link-local and multicast do not.
        return self.bytes[0] & 0xE0 == 0x20
    }

    private static func isPublic(_ four: [UInt8]) -> Bool {
        switch (four[0], four[1]) {
        case (0, _), (10, _), (127, _), (224..., _): false
        case (100, 64...127): false
        case (169, 254): false
        case (172, 16...31): false
        case (192, 168): false
        case (192, 0): four[2] != 0
        case (198, 18...19): false
        default: true
        }
    }
}

extension HostAddress {
    /// The addresses of a host, by the system's resolver; it blocks.
    ///
    /// - Parameters:
    ///   - host: a name, or an address as text.
    ///   - isNumeric: whether only an address as text counts, so that no server is asked.
    /// - Returns: the addresses; empty: there are none.
    static func resolved(_ host: String, isNumeric: Bool = false) -> [HostAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        unsafe hints.ai_socktype = SOCK_STREAM
        #endif
        unsafe hints.ai_flags = isNumeric ? AI_NUMERICHOST : 0
        var found: UnsafeMutablePointer<addrinfo>?
        // Safety: getaddrinfo answers 0 only with a list, which is read before it is freed.
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0 else { return [] }
        defer { unsafe freeaddrinfo(found) }
        var addresses: [HostAddress] = []
        var next = unsafe found
        while let entry = unsafe next {
            // Safety: ai_addr points at ai_addrlen bytes, of the structure that ai_family names.
            if let address = unsafe entry.pointee.ai_addr {
                switch unsafe entry.pointee.ai_family {
                case AF_INET:
                    let bytes = unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { four in
                        unsafe withUnsafeBytes(of: four.pointee.sin_addr) { unsafe Array($0) }
                    }
                    addresses += HostAddress(bytes: bytes).map { [$0] } ?? []
                case AF_INET6:
                    let bytes = unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { six in
                        unsafe withUnsafeBytes(of: six.pointee.sin6_addr) { unsafe Array($0) }
                    }
                    addresses += HostAddress(bytes: bytes).map { [$0] } ?? []
                default: break
                }
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }
}

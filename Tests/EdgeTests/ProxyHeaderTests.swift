// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport
import Testing

@testable import Edge

/// Headers of the PROXY protocol, as HAProxy and nginx write them, and as they must not be.
@Suite(.suiteLimit)
struct ProxyHeaderTests {
    /// A header with these addresses, fields and numbers.
    static func header(
        command: UInt8 = 0x21,
        family: UInt8 = 0x11,
        addresses: [UInt8] = [192, 0, 2, 7, 127, 0, 0, 1, 0x30, 0x39, 0x1C, 0xE9],
        fields: [UInt8] = [],
        length: Int? = nil
    ) -> [UInt8] {
        let count = length ?? (addresses.count + fields.count)
        let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
        return signature + [command, family, UInt8(count >> 8), UInt8(count & 0xFF)] + addresses + fields
    }

    /// The header of a balancer that speaks TLS with the client, or does not.
    static func tls(_ client: UInt8) -> [UInt8] {
        [0x20, 0, 15, client, 0, 0, 0, 0, 0x21, 0, 7] + Array("TLSv1.3".utf8)
    }

    private static let ipv6: [UInt8] =
        [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 16) + [0, 1, 0, 2]

    private func read(_ bytes: [UInt8]) throws(ProxyFailure) -> ProxyHeader? { try ProxyHeader.read(bytes.span) }

    @Test func `clients of both families are read, and what follows is left`() throws {
        let ipv4 = Self.header()
        #expect(
            try self.read(ipv4 + [1, 2, 3])
                == ProxyHeader(source: .client(IPAddress(ipv4: 0xC000_0207)), isEncrypted: false, byteCount: ipv4.count)
        )
        let ipv6 = Self.header(family: 0x21, addresses: Self.ipv6, fields: Self.tls(1))
        let address = try #require(IPAddress("2001:db8:0:7::9"))
        #expect(
            try self.read(ipv6)
                == ProxyHeader(source: .client(address), isEncrypted: true, byteCount: ipv6.count)
        )
    }

    @Test func `a balancer's own connections are told from clients', whatever else it says`() throws {
        for header in [
            Self.header(command: 0x20, family: 0, addresses: []), Self.header(command: 0x20),
            Self.header(command: 0x20, family: 0x99, addresses: [1], fields: [3, 0, 200]),
        ] {
            #expect(
                try self.read(header) == ProxyHeader(source: .balancer, isEncrypted: false, byteCount: header.count)
            )
        }
    }

    @Test func `only a bit of one field says that it is encrypted`() throws {
        let cases: [(fields: [UInt8], expected: Bool)] = [
            ([], false), (Self.tls(1), true), (Self.tls(7), true), (Self.tls(0), false), (Self.tls(6), false),
            ([0x21, 0, 1, 1], false),
        ]
        for (fields, expected) in cases {
            #expect(try self.read(Self.header(fields: fields))?.isEncrypted == expected)
        }
    }

    @Test func `a header that is not there in full is waited for, wherever it is cut`() throws {
        let header = Self.header(fields: Self.tls(1))
        for count in 0..<header.count { #expect(try self.read(Array(header.prefix(count))) == nil) }
    }

    @Test func `every fault has its reason`() {
        let longest = ProxyHeader.bytesMax - 16
        let cases: [([UInt8], ProxyFailure)] = [
            (Array("PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n".utf8), .noSignature),
            ([0xFF, 0, 0], .noSignature),
            ([13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 11], .noSignature),
            (Self.header(command: 0x11), .version),
            (Self.header(command: 0x22), .version),
            (Self.header(length: longest + 1), .tooLong),
            (Self.header(length: 65_535), .tooLong),
            // UDP, a socket of Unix, and nothing said.
            (Self.header(family: 0x12), .family),
            (Self.header(family: 0x31, addresses: [UInt8](repeating: 0, count: 216)), .family),
            (Self.header(family: 0, addresses: []), .family),
            (Self.header(addresses: [192, 0, 2, 7]), .malformed),
            (Self.header(family: 0x21), .malformed),
            (Self.header(fields: [4]), .malformed),
            (Self.header(fields: [4, 0]), .malformed),
            (Self.header(fields: [4, 0, 1]), .malformed),
            (Self.header(fields: [4, 255, 255, 0]), .malformed),
            (Self.header(fields: [0x20, 0, 4, 1, 0, 0, 0]), .malformed),
            (Self.header(fields: Self.tls(1) + Self.tls(0)), .malformed),
            (Self.header(fields: [3, 0, 3, 0, 0, 0]), .malformed),
            (Self.header(fields: [3, 0, 4, 0, 0, 0, 0]), .checksum),
        ]
        for (bytes, failure) in cases {
            #expect(throws: failure, "\(bytes)") { try self.read(bytes) }
        }
    }

    @Test func `the longest header is read, and one byte more is not`() throws {
        let rest = ProxyHeader.bytesMax - 16 - 12 - 3
        let field: [UInt8] = [4, UInt8(rest >> 8), UInt8(rest & 0xFF)] + [UInt8](repeating: 0, count: rest)
        let header = Self.header(fields: field)
        #expect(header.count == ProxyHeader.bytesMax)
        #expect(try self.read(header)?.byteCount == ProxyHeader.bytesMax)
        #expect(throws: ProxyFailure.tooLong) {
            try self.read(Self.header(fields: field + [0], length: header.count - 15))
        }
    }

    @Test func `a checksum is that of all other bytes`() throws {
        // As HAProxy 2.6 wrote it, with a field behind it.
        let header: [UInt8] = [
            0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0x00, 0x16, 0xC0, 0x00,
            0x02, 0x07,
            0x7F, 0x00, 0x00, 0x01, 0xBF, 0xB4, 0x4E, 0x1F, 0x03, 0x00, 0x04, 0x7B, 0xA2, 0x79, 0x36, 0x05, 0x00, 0x00,
        ]
        #expect(
            try self.read(header)
                == ProxyHeader(
                    source: .client(IPAddress(ipv4: 0xC000_0207)),
                    isEncrypted: false,
                    byteCount: header.count
                )
        )
        for place in 16..<35 where !(28...30).contains(place) {
            var changed = header
            changed[place] ^= 1
            #expect(throws: ProxyFailure.checksum) { try self.read(changed) }
        }
        #expect(throws: ProxyFailure.malformed) {
            try self.read(Self.header(fields: [3, 0, 4, 0x46, 0x26, 0x70, 0x32, 3, 0, 4, 0, 0, 0, 0]))
        }
    }

    @Test func `networks contain what they say`() throws {
        let networks = try #require(AddressNetworks("10.0.0.0/8, 192.0.2.7 ,2001:db8::/33,::1"))
        for (address, isInside) in [
            ("10.255.0.1", true), ("11.0.0.0", false), ("192.0.2.7", true), ("192.0.2.6", false),
            ("2001:db8:7fff::1", true),
            ("2001:db8:8000::", false), ("::1", true), ("::2", false), ("127.0.0.1", false), ("::ffff:10.1.2.3", true),
        ] {
            #expect(networks.contains(try #require(IPAddress(address))) == isInside, "\(address)")
        }
        let all = try #require(AddressNetworks("0.0.0.0/0"))
        #expect(all.contains(IPAddress(ipv4: .max)))
        #expect(!all.contains(try #require(IPAddress("2001:db8::"))))
        #expect(AddressNetworks("::/0")?.contains(IPAddress(ipv4: 1)) == true)
    }

    @Test(arguments: [
        "", " ", ",", "10.0.0.0/8,", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "10.0.0.0/8/8",
        "10.0.0.1/8", "::/129",
        "2001:db8::1/64", "localhost", "10.0.0", "10.0.0.0/8 10.0.0.0/8", "[::1]",
    ])
    func `an invalid list of networks is refused`(text: String) { #expect(AddressNetworks(text) == nil) }

    @Test func `a list of networks has a longest length`() {
        let list = { (count: Int) in (0..<count).map { "10.0.0.\($0)" }.joined(separator: ",") }
        #expect(AddressNetworks(list(AddressNetworks.networksMax)) != nil)
        #expect(AddressNetworks(list(AddressNetworks.networksMax + 1)) == nil)
    }
}

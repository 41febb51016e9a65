// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import CueWatching

/// Which hosts a watcher may ask.
@Suite(.suiteLimit)
struct HostAddressTests {
    @Test(arguments: [
        "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255",
        "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.168.0.1", "192.0.0.1", "198.18.0.0", "198.19.255.255",
        "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "febf::1", "fc00::1", "fdff::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::1",
        // As old programs write 127.0.0.1.
        "2130706433", "0x7f.1", "127.1",
    ])
    func `no address inside a network is public`(text: String) {
        let addresses = HostAddress.resolved(text, isNumeric: true)
        #expect(!addresses.isEmpty && !addresses.contains { $0.isPublic })
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
        "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:4860:4860::8888", "2606:4700::1111",
        "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1",
    ])
    func `addresses beside them are`(text: String) {
        let addresses = HostAddress.resolved(text, isNumeric: true)
        #expect(!addresses.isEmpty && addresses.allSatisfy(\.isPublic))
    }

    @Test func `an address has 4 or 16 bytes`() {
        for count in 0...20 {
            #expect((HostAddress(bytes: [UInt8](repeating: 1, count: count)) != nil) == (count == 4 || count == 16))
        }
    }

    @Test func `a host is refused where one of its addresses is inside, unless that is allowed`() async throws {
        let addresses: [String: [[UInt8]]] = [
            "good.example": [[1, 1, 1, 1]], "mixed.example": [[1, 1, 1, 1], [10, 0, 0, 1]], "[::1]": [],
        ]
        let lookUp: @Sendable (String) async -> [HostAddress] = { host in
            (addresses[host] ?? []).compactMap { HostAddress(bytes: $0) }
        }
        let rule = HostRule(lookUp: lookUp)
        #expect(await rule.refusal(of: "good.example") == nil)
        #expect(await rule.refusal(of: "mixed.example")?.sentence.contains("--allow-host mixed.example") == true)
        #expect(await rule.refusal(of: "none.example")?.sentence == "The host none.example has no address.")
        let named = HostRule(allowedHosts: ["Mixed.Example"], lookUp: lookUp)
        #expect(await named.refusal(of: "mixed.example") == nil)
        #expect(await named.refusal(of: "none.example") != nil)
        #expect(await HostRule(allowsPrivate: true, lookUp: lookUp).refusal(of: "mixed.example") == nil)
        for host in ["127.0.0.1", "[::1]", "169.254.169.254"] {
            #expect(await HostRule().refusal(of: host)?.code == .unreachable, "\(host)")
        }
        #expect(await HostRule().refusal(of: "1.1.1.1") == nil)
    }
}

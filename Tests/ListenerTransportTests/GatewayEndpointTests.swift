// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import CuecastNIO

@Suite(.suiteLimit)
struct GatewayEndpointTests {
    @Test(arguments: [
        ("tcp://127.0.0.1:7400", "127.0.0.1", 7_400, false),
        ("tls://ads.example.org:443", "ads.example.org", 443, true),
        ("tcp://[::1]:65535", "::1", 65_535, false), ("tls://[fe80::1%eth0]:1", "fe80::1%eth0", 1, true),
    ])
    func `an address is read, and written as it was`(text: String, host: String, port: Int, isEncrypted: Bool) throws {
        let endpoint = try GatewayEndpoint(text)
        #expect(endpoint.host == host && endpoint.port == port && endpoint.isEncrypted == isEncrypted)
        #expect(endpoint.description == text)
    }

    @Test(arguments: [
        "", "nonsense", "tcp://", "tcp://host", "tcp://host:", "tcp://:7400", "tcp://host:0", "tcp://host:65536",
        "tcp://host:+7", "tcp://host:7400/", "ipc:///tmp/x", "http://host:80", "tcp://a b:1", "tcp://::1:7400",
        "tcp://[::1]7400", "tcp://[host:7400", "tcp://user@host:1", "TCP://host:1", "tcp://[]:1",
        "tcp://*:7400", "tls://" + String(repeating: "a", count: 256) + ":1",
    ])
    func `an invalid address is refused and quoted in the sentence`(text: String) {
        let error = #expect(throws: GatewayEndpoint.Invalid.self) { try GatewayEndpoint(text) }
        #expect(error?.description.contains("\"\(text.prefix(80))\"") == true)
    }

    @Test func `a host may have 255 bytes`() throws {
        #expect(try GatewayEndpoint("tcp://" + String(repeating: "a", count: 255) + ":1").host.count == 255)
    }
}

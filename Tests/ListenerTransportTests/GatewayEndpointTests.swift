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

    @Test(arguments: [
        ("ws://127.0.0.1:7480/listen", "127.0.0.1:7480", "/listen", 7_480, false),
        ("ws://ads.example.org/", "ads.example.org", "/", 80, false),
        ("wss://ads.example.org/a/b?c=d", "ads.example.org", "/a/b?c=d", 443, true),
        ("wss://[::1]:8443/", "[::1]:8443", "/", 8_443, true), ("wss://[fe80::1]/x", "[fe80::1]", "/x", 443, true),
    ])
    func `an address of a WebSocket says what to ask for`(
        text: String,
        host: String,
        path: String,
        port: Int,
        isEncrypted: Bool
    ) throws {
        let endpoint = try GatewayEndpoint(text)
        #expect(endpoint.webSocket == WebSocketAddress(host: host, path: path))
        #expect(endpoint.port == port && endpoint.isEncrypted == isEncrypted && endpoint.description == text)
    }

    @Test func `a usual port and the first path may be left out`() throws {
        #expect(try GatewayEndpoint("wss://ads.example.org:443").description == "wss://ads.example.org/")
        #expect(try GatewayEndpoint("ws://ads.example.org").webSocket?.host == "ads.example.org")
        #expect(try GatewayEndpoint("tcp://ads.example.org:80").webSocket == nil)
    }

    @Test(arguments: [
        "ws://", "wss:///listen", "ws://host:/", "ws://host:0/", "ws://user@host/", "ws://::1/", "ws://[::1/",
        "ws://host/a b", "ws://host/a#b", "ws://host/\u{e9}", "ws://host/a\r\nX: y", "WS://host/", "ws://ho st/",
        "wss://host/" + String(repeating: "a", count: 1_024),
    ])
    func `an invalid address of a WebSocket is refused`(text: String) {
        #expect(throws: GatewayEndpoint.Invalid.self) { try GatewayEndpoint(text) }
    }

    @Test func `a path may have 1024 bytes`() throws {
        let path = "/" + String(repeating: "a", count: 1_023)
        #expect(try GatewayEndpoint("wss://host" + path).webSocket?.path == path)
    }

    @Test func `a host may have 255 bytes`() throws {
        #expect(try GatewayEndpoint("tcp://" + String(repeating: "a", count: 255) + ":1").host.count == 255)
    }
}

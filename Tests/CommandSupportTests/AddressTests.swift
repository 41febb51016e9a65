// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import CuecastWire
import TestSupport
import Testing

/// Valid addresses, and the address that a command uses.
@Suite(.suiteLimit)
struct AddressTests {
    @Test(arguments: [
        "tcp://127.0.0.1:7400", "tcp://localhost:1", "tcp://ads-1.example.com:65535", "tcp://[::1]:7400",
        "tcp://[2001:db8::7]:7400", "tcp://[fe80::1%eth0]:7400", "tcp://[::ffff:192.0.2.1]:7400",
        "tcp://[1:2:3:4:5:6:7:8]:7400", "tcp://a_b:7400", "tcp://[::]:7400",
    ])
    func `an address is read and written back`(_ text: String) throws {
        #expect(try NetworkAddress(endpoint: text, for: .connect).endpoint == text)
        #expect(try NetworkAddress(endpoint: text, for: .bind).endpoint == text)
        let bare = String(text.dropFirst("tcp://".count))
        #expect(try NetworkAddress(hostAndPort: bare, for: .connect).hostAndPort == bare)
    }

    @Test(arguments: [
        ("", "has no scheme"), ("127.0.0.1:7400", "has no scheme"), ("ipc:///tmp/x", "'ipc' is not a scheme"),
        ("TCP://127.0.0.1:1", "'TCP' is not a scheme"), ("tcp://", "has no port"), ("tcp://127.0.0.1", "has no port"),
        ("tcp://127.0.0.1:", "its port"), ("tcp://127.0.0.1:0", "its port"), ("tcp://127.0.0.1:65536", "its port"),
        ("tcp://127.0.0.1:-1", "its port"), ("tcp://127.0.0.1:+1", "its port"), ("tcp://127.0.0.1:7400 ", "its port"),
        ("tcp://127.0.0.1:*", "its port"), ("tcp://127.0.0.1:٧", "its port"), ("tcp://127.0.0.1:7400/x", "its port"),
        ("tcp://:7400", "its host is empty"), ("tcp:// localhost:7400", "neither a name"),
        ("tcp://a b:7400", "neither"),
        ("tcp://127.0.0.256:7400", "not an IPv4"), ("tcp://127.0.1:7400", "not an IPv4"), ("tcp://*:7400", "neither"),
        ("tcp://::1:7400", "in brackets"), ("tcp://[::1]", "has no port"), ("tcp://[::1", "has no ']'"),
        ("tcp://[]:7400", "not an IPv6"), ("tcp://[1:2]:7400", "not an IPv6"), ("tcp://[::1::2]:7400", "not an IPv6"),
        ("tcp://[12345::]:7400", "not an IPv6"), ("tcp://[127.0.0.1]:7400", "not an IPv6"),
        ("tcp://[::1%]:7400", "not an IPv6"), ("tcp://a..b:7400", "neither"), ("tcp://user@host:7400", "neither"),
        ("tcp://hé:7400", "neither"),
    ])
    func `an invalid address is refused with its fault`(_ text: String, _ reason: String) {
        let fault = #expect(throws: NetworkAddress.Fault.self) { try NetworkAddress(endpoint: text, for: .connect) }
        #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
    }

    @Test(arguments: ["tcp://*:7400", "tcp://127.0.0.1:*", "tcp://127.0.0.1:0", "tcp://[::1]:*"])
    func `a port and a host may be open to bind to, not to connect to`(_ text: String) {
        #expect(throws: Never.self) { try NetworkAddress(endpoint: text, for: .bind) }
        #expect(throws: NetworkAddress.Fault.self) { try NetworkAddress(endpoint: text, for: .connect) }
    }

    /// Whatever comes, the parser ends, and what it takes it writes so that it takes it again.
    @Test(arguments: 0..<20)
    func `any text is refused or read as what it says`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let pieces = [
            "tcp://", "http://", "[", "]", ":", "::", "127.0.0.1", "1", "0", "7400", "65535", "65536", "a", "é", " ",
            "*",
            "%", ".", "-", "/", "ffff", "\u{0}", "\n", "👩‍👩‍👧", "localhost",
        ]
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...8, using: &random)
            let text =
                (Bool.random(using: &random) ? "tcp://" : "")
                + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            for use in [NetworkAddress.Use.bind, .connect] {
                guard let address = try? NetworkAddress(endpoint: text, for: use) else { continue }
                #expect((try? NetworkAddress(endpoint: address.endpoint, for: use)) == address, "\(text)")
                #expect(address.endpoint.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
                if use == .connect { #expect(address.port > 0) }
            }
        }
    }

    @Test(arguments: 0..<20)
    func `any text is refused or read as an address of HTTP that says it`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let pieces = [
            "http://", "https://", "[::1]", ":", "127.0.0.1", "7480", "a", "é", " ", "*", "/", "@", "?", "\n", "%",
        ]
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...6, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let address = try? HTTPAddress(text) else { continue }
            let scheme = address.scheme.map { $0.rawValue + "://" } ?? ""
            #expect((try? HTTPAddress(scheme + address.address.hostAndPort)) == address, "\(text)")
            #expect(text.hasPrefix(scheme) && address.address.port > 0)
        }
    }

    // MARK: - Which address a command asks

    private func address(
        _ socket: GatewayAddresses.Socket,
        gateway: String? = nil,
        flag: String? = nil,
        _ environment: [String: String] = [:]
    ) throws -> GatewayAddresses.Answer {
        try GatewayAddresses(gateway: gateway, flags: flag.map { [socket: $0] } ?? [:], environment: environment)
            .address(of: socket)
    }

    private func text(_ answer: GatewayAddresses.Answer) -> String {
        switch answer {
        case .address(let address, let scheme): (scheme.map { "\($0)://" } ?? "") + address.hostAndPort
        case .none: "none"
        }
    }

    @Test func `a flag goes before --gateway, that before the socket's variable, that before CUECAST_GATEWAY`() throws {
        let both = ["CUECAST_BROADCAST": "tcp://variable:3", "CUECAST_GATEWAY": "everywhere"]
        #expect(self.text(try self.address(.broadcast)) == "127.0.0.1:7402")
        #expect(self.text(try self.address(.broadcast, ["CUECAST_GATEWAY": "everywhere"])) == "everywhere:7402")
        #expect(self.text(try self.address(.broadcast, both)) == "variable:3")
        #expect(self.text(try self.address(.broadcast, gateway: "typed", both)) == "typed:7402")
        #expect(self.text(try self.address(.broadcast, gateway: "typed", flag: "tcp://own:1", both)) == "own:1")
        #expect(
            self.text(try self.address(.broadcast, ["CUECAST_BROADCAST": "", "CUECAST_GATEWAY": ""]))
                == "127.0.0.1:7402"
        )
    }

    @Test(arguments: [
        ("ads.example.com", "ads.example.com:7480"), ("::1", "[::1]:7480"), ("[::1]", "[::1]:7480"),
        ("192.0.2.1", "192.0.2.1:7480"),
    ])
    func `a gateway is a host alone`(_ text: String, _ address: String) throws {
        #expect(self.text(try self.address(.http, gateway: text)) == address)
    }

    @Test(arguments: [
        "", " ", "a b", "tcp://127.0.0.1", "tcp://127.0.0.1:7400", "127.0.0.1:7400", "http://x", "https://x",
        "[::1",
    ])
    func `a bad gateway is refused with where it was said`(_ text: String) throws {
        let typed = GatewayAddresses(gateway: text, flags: [:], environment: [:])
        #expect(typed.faultOfFlags?.description.hasPrefix("--gateway is '\(text)': ") == true)
        guard !text.isEmpty else { return }
        let fault = #expect(throws: GatewayAddresses.Fault.self) {
            try self.address(.requests, ["CUECAST_GATEWAY": text])
        }
        #expect(fault?.description.hasPrefix("CUECAST_GATEWAY is '\(text)': ") == true)
    }

    @Test(arguments: GatewayAddresses.Socket.allCases)
    func `a bad address is refused with the option or the variable that said it`(_ socket: GatewayAddresses.Socket)
        throws
    {
        let typed = GatewayAddresses(gateway: nil, flags: [socket: "nonsense"], environment: [:])
        #expect(typed.faultOfFlags?.description.hasPrefix("--\(socket.rawValue) is 'nonsense': ") == true)
        let fault = #expect(throws: GatewayAddresses.Fault.self) {
            try self.address(socket, [socket.variable: "tcp://127.0.0.1"])
        }
        #expect(fault?.description.hasPrefix("\(socket.variable) is 'tcp://127.0.0.1': ") == true)
    }

    @Test func `there may be no HTTP address, and it may be written as a URL`() throws {
        #expect(try self.address(.http, flag: "none") == .none)
        for text in ["ads.example.com:80", "http://ads.example.com:80", "https://[::1]:443"] {
            #expect(self.text(try self.address(.http, flag: text)) == text)
        }
        for text in [
            "https://", "https://ads.example.com", "ftp://ads.example.com:80", "https://a:1/path", "HTTPS://a:1",
        ] {
            #expect(throws: GatewayAddresses.Fault.self) { try self.address(.http, flag: text) }
        }
    }
}

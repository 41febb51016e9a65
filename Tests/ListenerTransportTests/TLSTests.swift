// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if os(Linux)
@_spi(Diagnostics) @_spi(Transports) import Cuecast
import CuecastWire
import NIOSSL
import Testing

@testable import CuecastNIO

/// The events of a connection until it is over.
private func conversation(
    _ rig: TransportRig,
    _ endpoint: String,
    until isEnough: @escaping @Sendable (ListenerConnectionEvent) -> Bool = { _ in false }
) async -> [ListenerConnectionEvent] {
    let (events, heard) = AsyncStream.makeStream(of: ListenerConnectionEvent.self)
    let connection = rig.transport.connect(to: GatewayAddress(notices: endpoint, requests: endpoint)) {
        heard.yield($0)
    }
    var seen: [ListenerConnectionEvent] = []
    for await event in events {
        seen.append(event)
        if isEnough(event) { connection.close() }
        if case .closed = event { heard.finish() }
    }
    return seen
}

extension [ListenerConnectionEvent] {
    fileprivate var reason: String {
        guard case .closed(let reason)? = self.last else { return "" }
        return reason
    }
}

@Suite(.suiteLimit)
struct TLSTests {
    let authority: TestAuthority

    init() throws { self.authority = try TestAuthority() }

    private var ownRoots: GatewayTrust { GatewayTrust(roots: .certificates(pem: self.authority.certificate)) }

    /// Connects to a gateway that shows a certificate, and gives what became of it.
    private func outcome(
        of identity: TestAuthority.Identity,
        host: String = "127.0.0.1",
        trust: GatewayTrust,
        _ tls: (@Sendable (inout TLSConfiguration) -> Void)? = nil
    ) async throws -> [ListenerConnectionEvent] {
        let server = try await TestServer(ServerPlan(says: opening(.requests), identity: identity, tls: tls))
        let rig = TransportRig(NIORuntime(), trust: trust)
        let events = await conversation(rig, "tls://\(host):\(server.port)") { $0 == .connected }
        await rig.shutDown()
        await server.stop()
        return events
    }

    @Test(arguments: ["127.0.0.1", "localhost"], [TLSVersion.tlsv12, .tlsv13])
    func `a certificate of an own root is taken, for a name and for an address`(
        host: String,
        version: TLSVersion
    ) async throws {
        let events = try await self.outcome(of: try self.authority.sign(), host: host, trust: self.ownRoots) {
            $0.minimumTLSVersion = version
            $0.maximumTLSVersion = version
        }
        #expect(events == [.connected, .closed(reason: "closed by the client")])
    }

    @Test func `TLS 1,1 is refused`() async throws {
        let events = try await self.outcome(of: try self.authority.sign(), trust: self.ownRoots) {
            $0.minimumTLSVersion = .tlsv1
            $0.maximumTLSVersion = .tlsv11
        }
        #expect(events.count == 1 && events.reason.hasPrefix("the TLS handshake failed: "))
    }

    @Test func `a certificate that the system does not know is refused`() async throws {
        let events = try await self.outcome(of: try self.authority.sign(), trust: GatewayTrust())
        #expect(events.count == 1 && events.reason.hasPrefix("the gateway's certificate is not trusted (tls://127."))
    }

    @Test func `nor is one of another root`() async throws {
        let trust = GatewayTrust(roots: .certificates(pem: try TestAuthority().certificate))
        let events = try await self.outcome(of: try self.authority.sign(), trust: trust)
        #expect(events.count == 1 && events.reason.hasPrefix("the gateway's certificate is not trusted"))
    }

    @Test func `a certificate that has expired is refused, and said to have`() async throws {
        let events = try await self.outcome(of: try self.authority.sign(days: -1), trust: self.ownRoots)
        #expect(events.count == 1 && events.reason.hasPrefix("the gateway's certificate has expired"))
    }

    @Test(arguments: [
        ("IP:127.0.0.2", "127.0.0.1"), ("DNS:other.example", "localhost"), ("DNS:localhost", "127.0.0.1"),
    ])
    func `a certificate of another host is refused, and said to be`(names: String, host: String) async throws {
        let events = try await self.outcome(of: try self.authority.sign(names), host: host, trust: self.ownRoots)
        #expect(events.count == 1 && events.reason.hasPrefix("the gateway's certificate is for another host"))
    }

    @Test(arguments: [
        ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], ["rsa:2048"],
    ])
    func `a certificate with one of the pinned keys is taken`(key: [String]) async throws {
        let identity = try self.authority.sign(key: key)
        var trust = self.ownRoots
        let other = PublicKeyPin(hash: SHA256.hash([1]))
        trust.pins = [try PublicKeyPin(identity.pin), other]
        #expect(try await self.outcome(of: identity, trust: trust).first == .connected)
    }

    @Test func `another key of the same root is refused before anything is said to it`() async throws {
        var trust = self.ownRoots
        trust.pins = [try PublicKeyPin(try self.authority.sign().pin)]
        let events = try await self.outcome(of: try self.authority.sign(), trust: trust)
        #expect(events.count == 1)
        #expect(events.reason.hasPrefix("the gateway's certificate has another key than the pinned ones"))
    }

    @Test func `a pin makes no bad certificate good`() async throws {
        let identity = try self.authority.sign(days: -1)
        var trust = self.ownRoots
        trust.pins = [try PublicKeyPin(identity.pin)]
        let events = try await self.outcome(of: identity, trust: trust)
        #expect(events.count == 1 && events.reason.hasPrefix("the gateway's certificate has expired"))
    }

    @Test func `own roots that are none are said to be so`() async throws {
        for pem in ["", "nonsense", "-----BEGIN CERTIFICATE-----\n@@\n-----END CERTIFICATE-----"] {
            let rig = TransportRig(NIORuntime(), trust: GatewayTrust(roots: .certificates(pem: pem)))
            let events = await conversation(rig, "tls://127.0.0.1:1")
            #expect(events.count == 1 && events.reason.contains("own roots"), "\(events)")
            await rig.shutDown()
        }
    }

    @Test func `a gateway that speaks plainly is refused where TLS was asked for`() async throws {
        let server = try await TestServer(ServerPlan(says: opening(.requests)))
        let rig = TransportRig(NIORuntime(), trust: self.ownRoots)
        let events = await conversation(rig, "tls://127.0.0.1:\(server.port)")
        #expect(events.count == 1 && events.reason.hasPrefix("the TLS handshake failed: "))
        await rig.shutDown()
        await server.stop()
    }

    @Test func `a gateway with TLS is refused where plain text was asked for`() async throws {
        let server = try await TestServer(ServerPlan(says: opening(.requests), identity: try self.authority.sign()))
        let rig = TransportRig(NIORuntime())
        let events = await conversation(rig, "tcp://127.0.0.1:\(server.port)")
        #expect(events.count == 1 && !events.reason.isEmpty)
        await rig.shutDown()
        await server.stop()
    }

    @Test(arguments: ListenerTransportTests.NoticePath.allCases)
    func `an advertisement goes from the notice to the acknowledgement by TLS`(
        path: ListenerTransportTests.NoticePath
    ) async throws {
        let gateway = try await RawGateway(ads: [try spot()], push: path.push)
        let identity = try self.authority.sign()
        var fronts: [TestServer] = []
        for endpoint in [gateway.notices, gateway.requests] {
            let port = try GatewayEndpoint(endpoint).port
            fronts.append(try await TestServer(ServerPlan(target: port, identity: identity)))
        }
        let rig = TransportRig(NIORuntime(), trust: self.ownRoots)
        let address = GatewayAddress(
            notices: "tls://localhost:\(fronts[0].port)",
            requests: "tls://127.0.0.1:\(fronts[1].port)"
        )
        let client = try makeClient(gateway, rig) {
            path.set(&$0)
            $0.gateway = address
        }
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        await gateway.publish(try breakNotice(1, in: .milliseconds(50)))
        let available = await events.first { if case .available(_, let ads) = $0 { ads } else { nil } }
        let advertisement = try #require(client.advertisements.getAdvertisement())
        #expect(available?.map(\.adID) == ["spot"])
        client.advertisements.report(.completed, for: advertisement)
        _ = await events.first { if case .acknowledged = $0 { () } else { nil } }
        client.stop()
        await client.stopped()
        for await event in events {
            if case .stoppedWithout(let what) = event { Issue.record("stopped without \(what)") }
        }
        await rig.shutDown()
        for front in fronts { await front.stop() }
        await gateway.die()
    }
}

@Suite(.suiteLimit)
struct HostileServerTests {
    /// The reason of the end of a connection to a server that sends these bytes.
    private func reason(_ says: [UInt8], repeats: Bool = false) async throws -> String {
        let server = try await TestServer(ServerPlan(says: says, repeats: repeats))
        let rig = TransportRig(NIORuntime())
        let events = await conversation(rig, "tcp://127.0.0.1:\(server.port)")
        #expect(events.count { if case .closed = $0 { true } else { false } } == 1)
        await rig.shutDown()
        await server.stop()
        return events.reason
    }

    @Test(arguments: [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [UInt8](repeating: 0xFF, count: 65_536),
        opening(.requests) + [2] + [UInt8](repeating: 0xFF, count: 8), opening(.notices),
    ])
    func `a server that is no gateway is left with a reason that names it`(says: [UInt8]) async throws {
        let reason = try await self.reason(says)
        #expect(reason.hasPrefix("the gateway does not speak as it must: "))
        #expect(reason.contains("(tcp://127.0.0.1:"))
    }

    @Test func `a frame without an end is not waited for`() async throws {
        // As long as a reply may be and one byte more.
        var header: [UInt8] = [2]
        let bytes = UInt64(WireLimits.replyFrameBytesMax + 1)
        for shift in stride(from: 56, through: 0, by: -8) { header.append(UInt8(truncatingIfNeeded: bytes >> shift)) }
        let reason = try await self.reason(opening(.requests) + header)
        #expect(reason.contains("is longer than"))
    }

    @Test func `a message without an end is not taken`() async throws {
        let frames = [[UInt8]](repeating: [], count: 10_000)
        #expect(try await self.reason(opening(.requests) + message(frames)).contains("64 frames"))
    }

    @Test func `a flood of bytes that mean nothing ends at once`() async throws {
        #expect(try await self.reason([UInt8](repeating: 0, count: 65_536), repeats: true).contains("does not speak"))
    }
}

@Suite(.suiteLimit)
struct TrustTests {
    /// FIPS 180-4's own examples, and the edges of its blocks.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ])
    func `the hash is that of FIPS 180-4`(text: String, hash: String) {
        let digits = SHA256.hash(Array(text.utf8))
            .map { byte in
                let digit = String(byte, radix: 16)
                return digit.count == 1 ? "0" + digit : digit
            }
        #expect(digits.joined() == hash)
    }

    @Test(arguments: [
        "", "sha256/", "sha256/AAAA", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha1/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF@=",
    ])
    func `an invalid pin is refused`(text: String) {
        #expect(throws: PublicKeyPin.Invalid.self) { try PublicKeyPin(text) }
    }

    @Test func `a pin is written as it is read`() throws {
        let text = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        #expect(try PublicKeyPin(text).description == text)
        #expect(try PublicKeyPin(text) == PublicKeyPin(hash: SHA256.hash([])))
    }

    @Test func `the key is found in a certificate, and in no part of one`() throws {
        let identity = try TestAuthority().sign()
        let der = try #require(try PEMCertificates.der("# before\n" + identity.certificate + "\nafter").first)
        let key = try #require(SubjectPublicKey.bytes(ofCertificate: der))
        #expect(PublicKeyPin(hash: SHA256.hash(key)).description == identity.pin)
        // The key ends before what follows it: extensions and the signature.
        for count in 0..<der.count {
            #expect(SubjectPublicKey.bytes(ofCertificate: Array(der.prefix(count))) == nil)
        }
    }

    @Test func `several certificates are read from one text, with either end of a line`() throws {
        let (first, second) = (try TestAuthority().certificate, try TestAuthority().certificate)
        let text = (first + second).split(separator: "\n").joined(separator: "\r\n")
        #expect(try PEMCertificates.der(text).count == 2)
    }
}
#endif

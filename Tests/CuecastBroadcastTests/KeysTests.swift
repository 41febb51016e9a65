// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastBroadcast
import CuecastWire
import CuecastZeroMQ
import Foundation
import Testing
import ZeroMQ

/// A broadcaster with a key, and what it is told where keys do not fit.
@Suite(.suiteLimit)
struct KeysTests {
    private let gateway: CurveKeyPair
    private let own: CurveKeyPair

    init() throws {
        self.gateway = try .generate()
        self.own = try .generate()
    }

    private func keys(of gateway: CurveKeyPair) throws -> BroadcastKeys {
        try BroadcastKeys(gatewayPublicKey: gateway.publicKey.z85, secretKey: self.own.secretKey.z85)
    }

    private func refusal(_ error: BroadcastError?) -> BroadcastRefusal? {
        guard case .refused(let refusal) = error else { return nil }
        return refusal
    }

    @Test func `with its keys a broadcaster publishes`() async throws {
        let keys = try self.keys(of: self.gateway)
        try await RouterGateway.with(keys: self.gateway) { gateway in
            let client = makeClient(gateway.endpoint, transport: BroadcastZeroMQTransport(keys: keys))
            let status = try await client.publish(.sample())
            #expect(status.broadcaster == nil)
        }
    }

    @Test func `without keys a gateway that asks for one refuses, at once and with the reason`() async throws {
        try await RouterGateway.with(keys: self.gateway) { gateway in
            let client = makeClient(gateway.endpoint)
            let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            let refusal = try #require(self.refusal(error))
            #expect(refusal.status == .notAllowed && !refusal.canRetry)
            #expect(
                refusal.sentence
                    == "The gateway refuses: \(gateway.endpoint) asks for a key (CURVE), and this client has none."
            )
        }
    }

    @Test func `with keys nothing is said to a gateway without`() async throws {
        let keys = try self.keys(of: self.gateway)
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint, transport: BroadcastZeroMQTransport(keys: keys))
            let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            #expect(self.refusal(error)?.sentence.contains("does not encrypt") == true)
            #expect(await gateway.requests.isEmpty)
        }
    }

    @Test(arguments: [("NULL", true), ("CURVE", false)])
    func `a gateway that hangs up before it tells its mechanism is asked for it`(_ mechanism: String, _ hasKeys: Bool)
        async throws
    {
        let transport = BroadcastZeroMQTransport(keys: hasKeys ? try self.keys(of: self.gateway) : nil)
        try await HastyGateway.with(.mechanism(mechanism)) { gateway in
            let client = makeClient(gateway.endpoint, transport: transport)
            let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            let refusal = try #require(self.refusal(error))
            #expect(refusal.status == .notAllowed && !refusal.canRetry)
            #expect(refusal.sentence.contains(hasKeys ? "does not encrypt" : "asks for a key (CURVE)"))
        }
    }

    @Test(arguments: HastyGateway.Greeting.samples, [false, true])
    func `a gateway that hangs up for another reason is asked again`(
        _ greeting: HastyGateway.Greeting,
        _ hasKeys: Bool
    ) async throws {
        guard greeting != .mechanism(hasKeys ? "NULL" : "CURVE") else { return }
        let transport = WatchedTransport(keys: hasKeys ? try self.keys(of: self.gateway) : nil)
        try await HastyGateway.with(greeting) { gateway in
            let client = makeClient(gateway.endpoint, transport: transport)
            async let error = failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            // A slow machine may not come so far with the first connection.
            let expected = hasKeys ? "hung up while keys were exchanged" : "does not speak ZeroMQ as this client does"
            let reason = await transport.closed.first { $0.contains(expected) }
            #expect(reason != nil)
            client.close()
            #expect(await error == .closed)
        }
    }

    @Test func `where a gateway cannot be asked for its mechanism, the reason names it as a possible one`() async throws
    {
        let path = "/tmp/cuecast-\(UUID()).sock"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let socket = try Socket(.router, in: Context())
        try socket.secureAsServer(self.gateway)
        try socket.bind("ipc://\(path)")
        let transport = WatchedTransport()
        let client = makeClient("ipc://\(path)", transport: transport)
        async let error = failure { () throws(BroadcastError) in try await client.publish(.sample()) }
        // The gateway may have told its mechanism by chance; then it is the reason.
        let reason = await transport.closed.first { $0.contains("asks for a key (CURVE)") }
        #expect(reason != nil)
        client.close()
        _ = await error
        socket.close()
    }

    @Test func `a gateway with another key hangs up, and the reason names the likely cause`() async throws {
        let keys = try self.keys(of: self.own)
        try await RouterGateway.with(keys: self.gateway) { gateway in
            let transport = WatchedTransport(keys: keys)
            let client = makeClient(gateway.endpoint, transport: transport)
            async let error = failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            let reason = await transport.closed.first { _ in true }
            #expect(reason?.contains("its public key may be another than the one that this client was given") == true)
            client.close()
            #expect(await error == .closed)
            #expect(await gateway.requests.isEmpty)
        }
    }

    @Test func `nothing shows the secret key`() throws {
        let keys = try self.keys(of: self.gateway)
        #expect(keys.publicKey == self.own.publicKey.z85 && keys.gatewayPublicKey == self.gateway.publicKey.z85)
        var dumped = ""
        dump(keys, to: &dumped)
        dump(BroadcastZeroMQTransport(keys: keys), to: &dumped)
        let texts = [
            "\(keys)", String(reflecting: keys), dumped, "\(BroadcastZeroMQTransport(keys: keys))",
            String(reflecting: BroadcastZeroMQTransport(keys: keys)),
        ]
        for text in texts {
            #expect(!text.contains(self.own.secretKey.z85))
            #expect(!text.contains("\(self.own.secretKey.bytes[0]), \(self.own.secretKey.bytes[1])"))
        }
        #expect(texts[0].contains(keys.publicKey))
    }

    @Test func `an invalid key is refused without being shown`() throws {
        let key = self.own.publicKey.z85
        for (gateway, secret) in [
            (key, "short"), ("short", key), (key + "x", key), (key, String(key.dropLast()) + "~"),
        ] {
            let error = #expect(throws: BroadcastKeysError.self) {
                try BroadcastKeys(gatewayPublicKey: gateway, secretKey: secret)
            }
            #expect(error?.description.contains("40 characters of Z85") == true)
            #expect(error?.description.contains(key.dropLast()) == false)
        }
        let lost = #expect(throws: BroadcastKeysError.self) {
            try BroadcastKeys(gatewayPublicKeyFile: "/nowhere/gateway.pub", secretKeyFile: "/nowhere/own.key")
        }
        #expect(lost?.description == "/nowhere/gateway.pub: it cannot be read: No such file or directory")
    }

    @Test func `a page without a break of the caller leads on, and never to itself`() async throws {
        let script: RouterGateway.Script = { number, request in
            let after: [UInt8] = number == 1 ? [1] : number == 2 ? [2] : []
            let reply = BroadcastReply(
                requestID: request.id,
                gatewayTime: Timestamp(microseconds: 1),
                body: .list([], after: after)
            )
            return .reply(reply.encoded())
        }
        try await RouterGateway.with(script: script) { gateway in
            let breaks = try await makeClient(gateway.endpoint).breaks()
            #expect(breaks.isEmpty)
            #expect(await gateway.requests.count == 3)
        }
        let circle: RouterGateway.Script = { _, request in
            .reply(
                BroadcastReply(
                    requestID: request.id,
                    gatewayTime: Timestamp(microseconds: 1),
                    body: .list([], after: [1])
                )
                .encoded()
            )
        }
        try await RouterGateway.with(script: circle) { gateway in
            let client = makeClient(gateway.endpoint)
            let error = await failure { () throws(BroadcastError) in try await client.breaks() }
            #expect(error == .unreadableReply(reason: "a page leads to itself."))
        }
    }
}

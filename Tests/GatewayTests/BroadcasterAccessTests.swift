// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayTestKit
import Logging
import TestSupport
import Testing
import ZeroMQ

/// A running gateway that knows its broadcasters by key, with stock libzmq sockets as these.
@Suite(.suiteLimit)
final class BroadcasterAccessTests {
    private let folder: String
    private let gateway: CurveKeyPair
    private let studio: CurveKeyPair
    private let other: CurveKeyPair
    private var configuration = GatewayConfiguration.forTests

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-access-\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        self.gateway = try .generate()
        self.studio = try .generate()
        self.other = try .generate()
        self.configuration.broadcastersKeyFile =
            try CurveKeyFile.write(self.gateway, as: self.folder + "/gateway").secretKey
        self.configuration.broadcastersFile = self.folder + "/broadcasters.yaml"
        try self.list([("studio", self.studio, "radio1"), ("other", self.other, "tv*")])
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private func list(_ broadcasters: [(name: String, keys: CurveKeyPair, streams: String)]) throws {
        let entries = broadcasters.map {
            "  - {name: \($0.name), streams: ['\($0.streams)'], keys: ['\($0.keys.publicKey.z85)']}\n"
        }
        let text = "broadcasters:\(entries.isEmpty ? " []" : "")\n" + entries.joined()
        try Data(text.utf8).write(to: URL(fileURLWithPath: self.configuration.broadcastersFile))
    }

    /// As a hang-up has it read.
    private func reload(_ running: RunningGateway) async throws {
        await running.gateway.reload(self.configuration, try BroadcasterAccess.read(for: self.configuration))
    }

    private func run(_ body: (RunningGateway, InMemoryEventLog) async throws -> Void) async throws {
        let log = InMemoryEventLog()
        try await withGateway(configuration: self.configuration, log: log, ledger: InMemoryLedger()) { running in
            try await body(running, log)
            // Whatever happened: no line has a secret.
            let lines = running.logs.entries.map { "\($0.message) \($0.metadata)" }
            for pair in [self.gateway, self.studio, self.other] {
                #expect(!lines.contains { $0.contains(pair.secretKey.z85) })
            }
        }
    }

    private func publication(_ id: String, of stream: String = "radio1") throws -> BroadcastRequest.Kind {
        try .publication(of: .of(stream, id))
    }

    private func count(_ running: RunningGateway, _ label: MetricLabel) -> Int {
        running.metrics.value(.broadcastAuthentications, label)
    }

    @Test func `a known key publishes on its streams, and its name is in the record, the board and the log`()
        async throws
    {
        try await self.run { running, log in
            let studio = try await running.broadcaster(self.studio, serverKey: self.gateway.publicKey)
            let answer = try await studio.ask(try self.publication("b1"))
            #expect(answer.info?.broadcaster == "studio")
            let entries = try await log.breakGroups().flatMap(\.entries)
            #expect(entries.filter { $0.key?.id.description == "b1" }.first?.broadcaster == "studio")
            #expect(running.logs.entries.contains { $0.metadata["by"] == "studio" && $0.metadata["kind"] == "publish" })

            let refused = try await studio.ask(try self.publication("b1", of: "tv1"))
            #expect(
                refused.refusal == Refusal(.notAllowed, "The broadcaster studio has no right to the stream tv1.")
            )
            #expect(running.metrics.value(.refusals, .status(.notAllowed)) == 1)
            #expect(self.count(running, .admitted) > 0)
            #expect(running.metrics.value(.broadcasterKeys) == 2)
            // The same if a token of that name and those streams asks over HTTP.
            let caller = BroadcastPrincipal(name: "studio", streams: try [#require(StreamPattern("radio1"))])
            let called = await running.gateway.breakDesk.ask(
                CheckedBroadcastRequest(BroadcastRequest(id: 1, kind: try self.publication("b1", of: "tv1"))),
                by: caller,
                from: RequestOrigin(.http)
            )
            #expect(called.body == refused)
            let books = try await running.books { $0.breaks.count == 1 }
            #expect(books.breaks.first?.summary.broadcaster == "studio")
        }
    }

    @Test func `each sees only its own streams`() async throws {
        try await self.run { running, _ in
            let studio = try await running.broadcaster(self.studio, serverKey: self.gateway.publicKey)
            let other = try await running.broadcaster(self.other, serverKey: self.gateway.publicKey)
            _ = try await studio.do(try self.publication("b1"))
            _ = try await other.do(try self.publication("b2", of: "tv1"))
            guard case .list(let infos, _) = try await other.ask(.list(.init())) else {
                Issue.record("no list")
                return
            }
            #expect(infos.map(\.key.stream.description) == ["tv1"] && infos.first?.broadcaster == "other")
            let foreign = try await other.ask(.cancel(.of("radio1", "b1")))
            #expect(foreign.refusal?.status == .notAllowed)
        }
    }

    @Test func `an unknown key does not get in, and is told of with its address`() async throws {
        try await self.run { running, _ in
            let stranger = try CurveKeyPair.generate()
            // To connect is enough: a peer that is refused takes no message.
            let peer = try await running.broadcaster(stranger, serverKey: self.gateway.publicKey)
            try await until("the key is refused") { self.count(running, .unknownKey) > 0 }
            // Counted first, then told.
            try await until("it is told") { running.logs.messages().contains("a broadcaster was not let in") }
            await peer.requests.peer.close()
            let line = try #require(running.logs.entries.first { $0.message == "a broadcaster was not let in" })
            #expect(line.metadata["address"] == "127.0.0.1")
            #expect(line.metadata["reason"] == "no broadcaster has the key \(stranger.publicKey.z85)")
            #expect(running.metrics.value(.broadcastRequests, .publish) == 0 && self.count(running, .admitted) == 0)
        }
    }

    @Test func `a client with another gateway's key is refused`() async throws {
        try await self.run { running, _ in
            let deceived = try await running.broadcaster(self.studio, serverKey: self.other.publicKey)
            try await self.expectNoHandshake(of: deceived, running)
        }
    }

    @Test func `a client without a key is refused`() async throws {
        try await self.run { running, _ in try await self.expectNoHandshake(of: running.broadcaster(), running) }
    }

    /// Whether libzmq connects again after a handshake that failed depends on which side notices first: once is enough.
    private func expectNoHandshake(of peer: RawBroadcaster, _ running: RunningGateway) async throws {
        try await until("the handshake fails") { self.count(running, .handshake) > 0 }
        try await until("it is told") {
            running.logs.messages().contains { $0.hasPrefix("the handshake of a broadcaster failed") }
        }
        #expect(running.metrics.value(.broadcastRequests, .publish) == 0 && self.count(running, .admitted) == 0)
        await peer.requests.peer.close()
    }

    @Test func `a key that a reload withdraws is refused at once on its connection, and cannot come back`() async throws
    {
        try await self.run { running, _ in
            let studio = try await running.broadcaster(self.studio, serverKey: self.gateway.publicKey)
            // Without a start, so that it is not over however busy the machine is.
            _ = try await studio.do(try .publication(of: .of("radio1", "b1"), start: nil))
            // More than once where a busy machine took too long for the first handshake.
            let admittedCount = self.count(running, .admitted)
            try self.list([("other", self.other, "tv*")])
            try await self.reload(running)
            let refused = try await studio.ask(.cancel(.of("radio1", "b1")))
            #expect(
                refused.refusal == Refusal(.notAllowed, "The key of this connection is no longer a broadcaster's.")
            )
            let list = try await studio.ask(.list(.init()))
            #expect(list.refusal?.status == .notAllowed)
            let again = try await running.broadcaster(self.studio, serverKey: self.gateway.publicKey)
            try await until("the key is refused") { self.count(running, .unknownKey) > 0 }
            await again.requests.peer.close()
            #expect(self.count(running, .admitted) == admittedCount)

            // And back again: the open connection works as before.
            try self.list([("studio", self.studio, "radio1")])
            try await self.reload(running)
            let taken = try await studio.ask(.cancel(.of("radio1", "b1")))
            #expect(taken.info?.state == .cancelled)
            #expect(running.metrics.value(.broadcasterKeys) == 1)
        }
    }

    @Test func `a reload takes streams from a connection and gives others`() async throws {
        try await self.run { running, _ in
            let studio = try await running.broadcaster(self.studio, serverKey: self.gateway.publicKey)
            _ = try await studio.do(try self.publication("b1"))
            try self.list([("renamed", self.studio, "tv1")])
            try await self.reload(running)
            let refused = try await studio.ask(try self.publication("b1"))
            #expect(refused.refusal?.sentence == "The broadcaster renamed has no right to the stream radio1.")
            #expect(try await studio.do(try self.publication("b1", of: "tv1")).broadcaster == "renamed")
        }
    }

    @Test func `a gateway without keys accepts all, and none has a name`() async throws {
        self.configuration.broadcastersKeyFile = ""
        self.configuration.broadcastersFile = ""
        try await self.run { running, _ in
            let anybody = try await running.broadcaster()
            #expect(try await anybody.do(try self.publication("b1")).broadcaster == "")
            // With keys no client can speak to it: such a peer asks for encryption.
            let keyed = try await running.broadcaster(self.studio, serverKey: self.gateway.publicKey)
            #expect(try await anybody.do(try self.publication("b3", of: "tv1")).broadcaster == "")
            await keyed.requests.peer.close()
            #expect(running.metrics.value(.broadcastRequests, .publish) == 2)
        }
    }

    @Test func `files that are not as they must be keep a gateway from starting, and say why`() async throws {
        func faults() -> [String] {
            do throws(ConfigurationFaults) {
                _ = try BroadcasterAccess.read(for: self.configuration)
                return []
            } catch {
                return error.faults.map(\.description)
            }
        }
        #expect(faults() == [])
        let (key, file) = (self.configuration.broadcastersKeyFile, self.configuration.broadcastersFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        #expect(
            faults() == [
                "broadcasters.secretKeyFile: \(key): it holds a secret, and others may read or change it (mode 644); say chmod 600 to it"
            ]
        )
        await #expect(throws: ConfigurationFaults.self) { try await self.run { _, _ in } }
        try FileManager.default.removeItem(atPath: file)
        #expect(faults().last == "broadcasters.file: \(file): it cannot be read: No such file or directory")
        #expect(faults().count == 2)
    }

    @Test(arguments: [
        (
            "broadcasters:\n  file: x",
            "broadcasters.secretKeyFile: it is missing: broadcasters.file lets broadcasters in by keys, and the gateway has none"
        ),
        (
            "broadcasters:\n  secretKeyFile: x",
            "broadcasters.file: it is missing: with broadcasters.secretKeyFile only broadcasters in it may publish"
        ),
        (
            "broadcasters: {secretKeyFile: '\(KnownKeys.first)', file: y}",
            "broadcasters.secretKeyFile: it must be the name of a file, and is a key itself"
        ),
        ("broadcast: tcp://*:7402\nbroadcasters: {secretKeyFile: x, file: y}", ""),
        (
            "broadcast: tcp://*:7402",
            "broadcast: tcp://*:7402 can be reached from other machines and nothing encrypts it; bind to 127.0.0.1, or give broadcasters keys (broadcasters.secretKeyFile), or say allowUnencryptedRemote: true"
        ),
        ("broadcast: tcp://*:7402\nallowUnencryptedRemote: true", ""),
        (
            "notices: tcp://*:7400\nbroadcasters: {secretKeyFile: x, file: y}",
            "notices: tcp://*:7400 can be reached from other machines and nothing encrypts it; bind to 127.0.0.1, or have a certificate (listeners.tls.certificateFile), or say allowUnencryptedRemote: true"
        ),
    ])
    func `with keys the broadcasters' socket may be reached from elsewhere, and no other one`(
        text: String,
        fault: String
    ) async throws {
        let file = self.folder + "/cuecast.yaml"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        do {
            _ = try await GatewayConfiguration.read(flags: [:], environment: [:], file: file)
            #expect(fault == "")
        } catch let faults as ConfigurationFaults {
            #expect(faults.faults.map(\.description) == [fault])
        }
    }
}

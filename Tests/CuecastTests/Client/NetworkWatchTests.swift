// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) import Cuecast
import CuecastTesting
import Synchronization
import TestSupport
import Testing

/// A transport that knows of the network: a gateway in memory that can be cut off.
private final class KnowingTransport: ListenerTransport {
    private final class Watch: NetworkWatch {
        let changed: @Sendable (Bool) -> Void
        let hasEnded = Atomic(false)

        init(_ changed: @escaping @Sendable (Bool) -> Void) { self.changed = changed }

        func end() { self.hasEnded.store(true, ordering: .releasing) }
    }

    private let gateway: ScriptedGateway
    private let watches = Mutex<[Watch]>([])

    init(_ gateway: ScriptedGateway) { self.gateway = gateway }

    var takesPush: Bool { self.gateway.takesPush }

    /// How many are watching.
    var watchCount: Int {
        self.watches.withLock { $0.count { !$0.hasEnded.load(ordering: .acquiring) } }
    }

    func connect(
        to address: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        self.gateway.connect(to: address, receive: receive)
    }

    func watchNetwork(changed: @escaping @Sendable (_ isAvailable: Bool) -> Void) -> (any NetworkWatch)? {
        let watch = Watch(changed)
        self.watches.withLock { $0.append(watch) }
        // As a system does that tells at once how it is.
        changed(true)
        return watch
    }

    func tell(isAvailable: Bool) {
        for watch in self.watches.withLock({ $0 }) { watch.changed(isAvailable) }
    }
}

@Suite(.suiteLimit)
struct NetworkWatchTests {
    @Test func `a transport that knows of the network is watched while the client listens`() async throws {
        let gateway = try ScriptedGateway()
        let transport = KnowingTransport(gateway)
        let client = try CuecastClient(configuration: gateway.configuration, transport: transport)
        try await client.start()
        #expect(transport.watchCount == 1)
        transport.tell(isAvailable: false)
        transport.tell(isAvailable: true)
        #expect(client.connectionState == .listening)
        client.stop()
        await client.stopped()
        #expect(transport.watchCount == 0)
    }

    @Test func `a client that is dropped watches no more`() async throws {
        let gateway = try ScriptedGateway()
        let transport = KnowingTransport(gateway)
        var client: CuecastClient? = try CuecastClient(configuration: gateway.configuration, transport: transport)
        let events = try #require(client).makeEvents()
        try await client?.start()
        client = nil
        for await _ in events {}
        try await until { transport.watchCount == 0 }
    }
}

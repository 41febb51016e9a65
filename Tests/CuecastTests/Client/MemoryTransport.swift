// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Synchronization

@testable import Cuecast

/// Connects clients to a scripted gateway in the same process, at once and without loss.
final class MemoryTransport: ListenerTransport {
    struct State {
        var gateway = ScriptedGateway()
        var connections: [ObjectIdentifier: Connection] = [:]
        var isReachable = true
        var unreachable: Set<GatewayAddress> = []
        /// Whether requests get a reply.
        var answers = true
        var made = 0
    }

    let state = Mutex(State())

    func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        let connection = Connection(self, receive)
        let isReachable = self.state.withLock { state in
            state.made += 1
            let isReachable = state.isReachable && !state.unreachable.contains(gateway)
            if isReachable { state.connections[ObjectIdentifier(connection)] = connection }
            return isReachable
        }
        if isReachable { connection.tell(.connected) } else { connection.end(reason: "refused") }
        return connection
    }

    var openConnections: Int { self.state.withLock { $0.connections.count } }

    static var now: Timestamp { gatewayStart + started.duration(to: .now) }
    private static let started = ContinuousClock.now

    /// Changes the gateway and sends the notice that comes of it.
    func publish(_ change: @Sendable (inout ScriptedGateway, Timestamp) -> Notice?) {
        let (notice, connections) = self.state.withLock { state in
            (change(&state.gateway, Self.now), Array(state.connections.values))
        }
        guard let notice else { return }
        let frame = NoticeFrame.notice(notice, stream: stream()).encoded()
        for connection in connections { connection.tell(.notice(frame)) }
    }

    /// Publishes a break that starts so many seconds from now.
    func publish(_ name: String, _ ads: [AdvertisementContent], in seconds: Double) {
        self.publish { gateway, now in
            gateway.publish(
                name,
                ads,
                start: now + .seconds(seconds),
                expires: now + .seconds(seconds + 20_000),
                at: now
            )
        }
    }

    func breakConnections() {
        for connection in self.state.withLock({ Array($0.connections.values) }) { connection.end(reason: "reset") }
    }

    final class Connection: ListenerConnection {
        private let transport: MemoryTransport
        private let events: AsyncStream<ListenerConnectionEvent>.Continuation
        private let delivery: Task<Void, Never>

        init(_ transport: MemoryTransport, _ receive: @escaping @Sendable (ListenerConnectionEvent) -> Void) {
            self.transport = transport
            let (stream, continuation) = AsyncStream.makeStream(
                of: ListenerConnectionEvent.self,
                bufferingPolicy: .bufferingOldest(10_000)
            )
            self.events = continuation
            self.delivery = Task {
                for await event in stream { receive(event) }
            }
        }

        func tell(_ event: ListenerConnectionEvent) { self.events.yield(event) }

        func end(reason: String) {
            self.transport.state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(self)) }
            self.events.yield(.closed(reason: reason))
            self.events.finish()
        }

        func subscribe(to topic: [UInt8]) {
            guard topic == NoticeFrame.syncTopic else { return }
            let instance = self.transport.state.withLock { $0.gateway.instance }
            self.tell(.notice(NoticeFrame.tick(SyncTick(instance: instance, counter: 1)).encoded()))
        }

        func unsubscribe(from topic: [UInt8]) {}

        func send(_ request: [UInt8]) {
            let reply = self.transport.state.withLock { state in
                state.answers ? state.gateway.answer(request, at: MemoryTransport.now) : nil
            }
            if let reply { self.tell(.reply(reply)) }
        }

        func close() { self.end(reason: "closed by the client") }
    }
}

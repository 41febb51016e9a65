// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Testing
import ZeroMQ

@testable import Gateway

/// What happens when connections come to their limit.
@Suite(.suiteLimit)
struct ConnectionLimitTests {
    var station = Station()

    init() {
        self.station.configuration.connectionsMax = 4
    }

    /// A request for the time.
    private static func time(_ id: UInt64) -> [UInt8] {
        ListenerRequest(id: id, session: .random(), kind: .getTime).encoded()
    }

    @Test func `at the limit no more are accepted, nobody is cut, and who goes makes room`() async throws {
        try await self.station.run { running in
            var peers: [RawPeer] = []
            for _ in 0..<4 {
                let peer = try RawPeer(.dealer, in: running.network)
                try await peer.connect(running.endpoints.requests)
                peers.append(peer)
            }
            try await until("four are connected") { running.metrics.value(.connections, .requests) == 4 }
            try await until("the alarm is raised") {
                running.gateway.readiness.alarms.contains { $0.alarm == Alarm.connections.rawValue }
            }
            #expect(running.metrics.value(.limitsHit, .limit(.connectionsMax)) == 1)
            #expect(running.gateway.readiness.missing.isEmpty, "who is connected is served")

            // The fifth is held up; the others are answered.
            let late = try RawPeer(.dealer, in: running.network)
            try await late.connect(running.endpoints.requests)
            try await late.send([[], Self.time(5)])
            for (index, peer) in peers.enumerated() {
                try await peer.send([[], Self.time(UInt64(index))])
                _ = try await peer.next("a reply") { $0.count == 2 ? $0 : nil }
            }
            #expect(running.metrics.value(.connections, .requests) == 4)
            #expect(await late.takeAll().isEmpty)

            await peers[0].close()
            _ = try await late.next("a reply once there is room") { $0.count == 2 ? $0 : nil }
            try await until("one is gone") { running.metrics.value(.connectionsEnded, .requests) == 1 }
        }
    }

    @Test(arguments: [(64, 64), (512, 64), (2_048, 128), (20_000, 1_250), (1_048_576, 16_384)])
    func `some descriptors are kept back`(limit: Int, reserve: Int) {
        #expect(DescriptorReserve.reserve(of: limit) == reserve)
        // What waits at the broadcasters' door fits in, with room for files.
        #expect(2 * ConnectionLimit.backlog(limit: limit) <= reserve)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Testing

@testable import Cuecast

/// Notices lost, repeated and reordered; requests and replies lost, late and repeated; connections that break or hang;
/// gateways that restart with and without their history; apps that report, forget or ignore; listeners who move in time.
///
/// Whatever happens: no advertisement is handed out twice, none is lost without an event, and every outcome arrives.
/// `CUECAST_SEED=…` repeats one history.
@Suite(.timeLimit(.minutes(3)))
struct RandomScheduleTests {
    static var seeds: [UInt64] {
        if let text = ProcessInfo.processInfo.environment["CUECAST_SEED"], let seed = UInt64(text) { return [seed] }
        var generator = SystemRandomNumberGenerator()
        return Array(1...30)
            + (0..<(ProcessInfo.processInfo.environment["CUECAST_HISTORIES"].flatMap { Int($0) } ?? 10))
            .map { _ in UInt64.random(in: 1_000...9_999_999, using: &generator) }
    }

    @Test(arguments: Self.seeds)
    func `whatever the network does, each advertisement is played once at most and counted`(seed: UInt64) throws {
        var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"), delayMax: .seconds(40))
        configuration.handOut = seed % 5 == 0 ? .manual : .afterPlaying
        configuration.delay = seed % 3 == 0 ? .seconds(20) : .zero
        var world = World(seed: seed, settings: try ListenerSettings(configuration))
        world.start()
        world.run(until: local(900))
        world.isRough = false
        world.run(until: local(1_000))
        world.isOnAir = false
        world.run(until: local(1_020))
        #expect(world.core.connectionState == .listening, "seed \(seed)")
        #expect(world.core.follower.last == world.gateway.head, "seed \(seed)")
        let open = Set(world.core.book.entries.keys.map(\.description))
        world.stop()
        world.run(until: local(1_022))
        let faults = world.witness.finalFaults(gateway: world.gateway, open: open)
        #expect(faults.isEmpty, "CUECAST_SEED=\(seed): \(faults.joined(separator: "; "))")
        #expect(!world.witness.handedOut.isEmpty, "seed \(seed)")
        #expect(world.witness.wakes < 20_000, "seed \(seed): \(world.witness.wakes) wakes")
    }
}

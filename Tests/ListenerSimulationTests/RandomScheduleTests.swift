// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import Foundation
import Testing

@_spi(Tracking) @_spi(Tuning) @testable import Cuecast

/// The simulation calls tracking URLs itself.
private struct NeverAsked: TrackingSender {
    func send(_ request: TrackingRequest) async -> TrackingResult { .notSendable("this is a simulation") }
}

/// Notices lost, repeated and reordered; requests and replies lost, late and repeated; connections that break or hang;
/// gateways that restart with and without their history, and in the middle of a request; apps that are killed and started
/// again, go to the background, report, forget or ignore; disks that lag behind, of whose writes a kill leaves a beginning, that
/// are full, and that do not work at all; listeners who click, pause and move in time.
///
/// Notices go through the rings of three loops, each as far behind the board as chance will have it; the listener's connections
/// are those of any loop, and it hears by a subscription or behind the answers, by what the gateway can.
///
/// On a connection that loses nothing no notice is missing, whatever the loops' order. Whatever happens: no advertisement is handed out twice in a session unless a kill lost its record before it was on the
/// disk, nothing is told before it is there, none is lost without an event, none expires while its place in the programme is
/// ahead, and the gateway counts every outcome once. Both sides' decisions are the real ones. `CUECAST_SEED=…` repeats one schedule, and
/// `CUECAST_SCHEDULES=10000` runs so many, in parts: each has the time of a test to itself.
@Suite(.suiteLimit)
struct RandomScheduleTests {
    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// Schedules that are run and judged together.
    struct Part: Sendable, CustomTestStringConvertible {
        let number: Int
        let seeds: [UInt64]

        var testDescription: String { "part \(self.number), \(self.seeds.count) schedules" }
    }

    private static let seedsPerPart = 500

    static var parts: [Part] {
        let seeds = Self.seeds
        return stride(from: 0, to: seeds.count, by: Self.seedsPerPart)
            .map { first in
                Part(
                    number: first / Self.seedsPerPart + 1,
                    seeds: Array(seeds[first..<min(first + Self.seedsPerPart, seeds.count)])
                )
            }
    }

    /// The first ones are always the same; those after them are new each time.
    private static var seeds: [UInt64] {
        if let seed = Self.environment["CUECAST_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        let count = Self.environment["CUECAST_SCHEDULES"].flatMap { Int($0) } ?? 40
        var generator = SystemRandomNumberGenerator()
        return (1...max(count, 1))
            .map { $0 <= count / 3 ? UInt64($0) : UInt64.random(in: 100_000...9_999_999_999, using: &generator) }
    }

    @Test(arguments: Self.parts)
    func `whatever happens, each advertisement is heard once at most and counted once`(part: Part) throws {
        var handedOut = 0
        var outcomes = 0
        var clicks = 0
        var kills = 0
        var resumptions = 0
        var trackingAttempts = 0
        var expiries = 0
        var handedOutAgain = 0
        var handedOutWithoutDisk = 0
        var diskFailures = 0
        var uncertain = 0
        var (calm, pushed, subscribed, overruns) = (0, 0, 0, 0)
        for seed in part.seeds {
            let witness = try self.run(seed: seed)
            handedOut += witness.handedOut.count
            outcomes += witness.outcomes.count
            clicks += witness.outcomes.values.count(where: \.clicked)
            kills += witness.kills
            resumptions += witness.resumptions
            trackingAttempts += witness.trackingAttempts
            expiries += witness.expiries
            handedOutAgain += witness.handedOutAgain
            handedOutWithoutDisk += witness.handedOutWithoutDisk
            diskFailures += witness.diskFailures
            uncertain += witness.uncertain
            calm += witness.calmConnections
            pushed += witness.pushedJoins
            subscribed += witness.subscribedJoins
            overruns += witness.overruns
        }
        print(
            "\(part.seeds.count) schedules: \(handedOut) advertisements handed out, \(outcomes) outcomes, \(clicks) clicked, "
                + "\(kills) times killed, \(resumptions) sessions resumed, \(trackingAttempts) tracking calls, "
                + "\(expiries) expired, \(handedOutAgain) handed out again after a kill, "
                + "\(diskFailures) times the disk refused, \(handedOutWithoutDisk) handed out meanwhile, "
                + "\(uncertain) outcomes told without the disk and lost with the app; "
                + "\(pushed) joins with notices behind them, \(subscribed) without, \(calm) connections in fine weather, "
                + "\(overruns) times a ring was full"
        )
        #expect(handedOut > 0 && outcomes > 0)
        // Of one schedule alone it may be none.
        if part.seeds.count >= 100 {
            #expect(clicks > 0 && expiries > 0)
            #expect(pushed > 0 && subscribed > 0 && calm > part.seeds.count && overruns > 0)
            #expect(handedOutAgain > 0 && diskFailures > 0 && handedOutWithoutDisk > 0 && uncertain > 0)
        }
    }

    /// A banner was clicked after the client had stopped.
    @Test(arguments: [UInt64(3_228), 1_357_082_086]) func `regressions stay fixed`(seed: UInt64) throws {
        _ = try self.run(seed: seed)
    }

    private func run(seed: UInt64) throws -> Witness {
        var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"), delayMax: .seconds(60))
        configuration.handOut = seed % 5 == 0 ? .manual : .afterPlaying
        configuration.delay = seed % 3 == 0 ? .seconds(20) : .zero
        if seed % 7 == 0 { configuration.fetchPolicy = { _ in true } }
        if seed % 4 == 0 { configuration.alternativeGateways = [GatewayAddress(host: "b"), GatewayAddress(host: "c")] }
        if seed % 2 == 0 { configuration.tracking = TrackingConfiguration(sender: NeverAsked()) }
        let path = World.NoticePath.allCases[Int((seed &* 0x9E37_79B9_7F4A_7C15) >> 62)]
        if path == .subscribed { configuration.connections = .two }
        var world = World(seed: seed, settings: try ListenerSettings(configuration), path: path)
        world.start()
        world.run(until: local(600))
        // The weather turns fine; what was killed is back by then.
        world.isRough = false
        world.restartWithoutDisk()
        world.run(until: local(1_400))
        world.isOnAir = false
        world.run(until: local(1_500))
        #expect(world.core.connectionState == .listening, "CUECAST_SEED=\(seed)")
        #expect(world.core.conversation.follower.last == world.gateway.head, "CUECAST_SEED=\(seed)")
        let open = Set(world.core.book.entries.keys.map(\.description))
        world.stop()
        world.run(until: local(1_502))
        world.countLaps()
        let faults = world.witness.finalFaults(report: world.gateway.report(), open: open)
        #expect(faults.isEmpty, "CUECAST_SEED=\(seed): \(faults.joined(separator: "; "))")
        #expect(world.witness.wakes < 60_000, "CUECAST_SEED=\(seed): \(world.witness.wakes) wakes")
        return world.witness
    }
}

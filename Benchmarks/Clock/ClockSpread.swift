// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Diagnostics) import Cuecast
import CuecastZeroMQ
import Foundation
import Logging

/// Many players in one process, which say when each of them saw each break begin.
///
/// ```
/// ClockSpread NOTICES-URL STREAM BREAKS REQUESTS-URL...
/// ```
///
/// There is one player for each address of requests, so that each can have a path of its own to the gateway. When all of
/// them listen it prints `ready`; when each has seen so many breaks, one JSON object a line for each player and break, with
/// nanoseconds of `CLOCK_BOOTTIME`, which goes on evenly whatever happens to the wall clock:
/// `available` when the app was told, `estimated` when the break begins by the player's estimate of the gateway's clock,
/// `clock` what the gateway's clock showed then by the player's estimate, `bound` by how much the player says that it may
/// be wrong, and `wall`, what this process' wall clock showed with it.
@main
struct ClockSpread {
    struct Sighting: Sendable {
        let player: Int
        let breakID: String
        let available: Int64
        let estimated: Int64?
        let clock: Int64?
        let bound: Int64?
        let wall: Int64

        var line: String {
            """
            {"player": \(self.player), "break": "\(self.breakID)", "available": \(self.available), \
            "estimated": \(self.estimated.map(String.init) ?? "null"), \
            "clock": \(self.clock.map(String.init) ?? "null"), \
            "bound": \(self.bound.map(String.init) ?? "null"), "wall": \(self.wall)}
            """
        }
    }

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count >= 4, let breaks = words.dropFirst(2).first.flatMap({ Int($0) }), breaks > 0,
            let notices = words.first, let stream = words.dropFirst().first
        else {
            complain("usage: ClockSpread NOTICES-URL STREAM BREAKS REQUESTS-URL...")
            exit(64)
        }
        let clients = try words.dropFirst(3)
            .map { requests in
                try CuecastClient(
                    configuration: ListenerConfiguration(
                        gateway: GatewayAddress(notices: notices, requests: requests),
                        stream: LiveStream(id: stream)
                    ),
                    transport: ZeroMQListenerTransport(),
                    logger: Logger(label: "clock-spread") { _ in SwiftLogNoOpLogHandler() }
                )
            }
        let events = clients.map { $0.makeEvents() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients { group.addTask { try await client.start() } }
            try await group.waitForAll()
        }
        while !clients.allSatisfy({ $0.connectionState == .listening }) { try await Task.sleep(for: .milliseconds(20)) }
        print("ready")
        fflush(nil)
        let sightings = await withTaskGroup(of: [Sighting].self) { group in
            for (player, client) in clients.enumerated() {
                group.addTask { await follow(client, events[player], player: player, breaks: breaks) }
            }
            var all: [Sighting] = []
            for await each in group { all += each }
            return all
        }
        for sighting in sightings { print(sighting.line) }
        for client in clients { client.stop() }
        for client in clients { await client.stopped() }
    }

    /// Reads events until so many breaks began; those that brought nothing count without a sighting.
    private static func follow(
        _ client: CuecastClient,
        _ events: ListenerEvents,
        player: Int,
        breaks: Int
    ) async -> [Sighting] {
        var sightings: [Sighting] = []
        var count = 0
        for await event in events {
            switch event {
            case .available(let each, _):
                sightings.append(Sighting(player: player, each, client.gatewayClock))
                client.advertisements.ignoreReceivedAdvertisements()
                count += 1
            case .missed(let each, let reason):
                complain("player \(player) missed \(each.id): \(reason)")
                count += 1
            default: break
            }
            if count == breaks { break }
        }
        return sightings
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

extension ClockSpread.Sighting {
    /// A break that begins now.
    init(player: Int, _ each: AdvertisementBreak, _ clock: GatewayClockReading?) {
        self.player = player
        self.breakID = each.id
        let available = nanoseconds(CLOCK_BOOTTIME)
        let now = ContinuousClock.now
        self.available = available
        self.estimated = each.startsAt.map { available + now.duration(to: $0).nanoseconds }
        self.clock = clock.map { reading in
            let shown = Int64(reading.date.timeIntervalSince1970 * 1_000_000) * 1_000
            return shown + reading.at.duration(to: now).nanoseconds
        }
        self.bound = clock.map { $0.errorMax.nanoseconds }
        self.wall = nanoseconds(CLOCK_REALTIME)
    }
}

private func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

#if !os(Linux)
/// Elsewhere the clock that does not stop while the device sleeps has another name.
private let CLOCK_BOOTTIME = CLOCK_MONOTONIC
#endif

extension Duration {
    fileprivate var nanoseconds: Int64 {
        self.components.seconds * 1_000_000_000 + self.components.attoseconds / 1_000_000_000
    }
}

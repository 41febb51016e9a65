// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast
import CuecastZeroMQ
import Gateway
import GatewayTestKit
import Logging
import Synchronization

/// A player on the client library, which does at once what it does with its ads, and remembers every event.
final class Player: Sendable {
    /// What it does with the ads of a break.
    enum Manner {
        /// It plays each to its end, in no time.
        case plays
        case ignores
        /// The test does something with them, or nothing.
        case leavesThem
    }

    let client: CuecastClient
    private let manner: Manner
    private let seen: Mutex<[ListenerEvent]> = Mutex([])

    fileprivate init(
        of stream: String,
        at address: GatewayAddress,
        _ manner: Manner,
        on runtime: ZeroMQRuntime
    ) throws {
        let configuration = ListenerConfiguration(gateway: address, stream: LiveStream(id: stream))
        self.client = try CuecastClient(
            configuration: configuration,
            transport: ZeroMQListenerTransport(runtime: runtime),
            advertisements: AdvertisementCenter(),
            logger: Logger(label: "player") { _ in SwiftLogNoOpLogHandler() }
        )
        self.manner = manner
    }

    /// Every event so far, in order.
    var events: [ListenerEvent] { self.seen.withLock { $0 } }

    fileprivate func follow(_ events: ListenerEvents) async {
        for await event in events {
            self.seen.withLock { $0.append(event) }
            guard case .available = event else { continue }
            let advertisements = self.client.advertisements
            switch self.manner {
            case .leavesThem: break
            case .ignores: advertisements.ignoreReceivedAdvertisements()
            case .plays:
                while let advertisement = advertisements.getAdvertisement() {
                    advertisements.report(.started, for: advertisement)
                    advertisements.report(.completed, for: advertisement)
                }
            }
        }
    }

    /// Waits for the first event that `pick` makes something of.
    @discardableResult
    func event<Value>(
        _ what: String,
        within limit: Duration = .seconds(60),
        _ pick: (ListenerEvent) -> Value?
    ) async throws -> Value {
        var value: Value?
        try await until(what, within: limit) {
            value = self.events.lazy.compactMap(pick).first
            return value != nil
        }
        guard let value else { throw PeerError.timedOut(what) }
        return value
    }

    /// Waits until it is joined.
    func joined() async throws {
        try await self.event("the player is joined") { if case .joined = $0 { true } else { nil } }
    }

    /// Waits until the gateway has confirmed everything of a break.
    func acknowledged(_ id: String, count: Int) async throws {
        try await until("\(count) outcomes of \(id) are confirmed", within: .seconds(60)) {
            self.events.reduce(0) { sum, event in
                guard case .acknowledged(id, let adIDs) = event else { return sum }
                return sum + adIDs.count
            } >= count
        }
    }

    /// The breaks that were announced, in order.
    var announced: [String] {
        self.events.compactMap { if case .announced(let each) = $0 { each.id } else { nil } }
    }

    /// What became of each ad, as it was told.
    var outcomes: [AdvertisementOutcome] {
        self.events.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
    }
}

/// Runs a player for as long as `body` takes; it has begun to start, and need not be connected yet.
func withPlayer<Result>(
    of stream: String = "radio1",
    at gateway: ServedGateway,
    _ manner: Player.Manner = .plays,
    on runtime: ZeroMQRuntime = .shared,
    _ body: (Player) async throws -> Result
) async throws -> Result {
    let address = GatewayAddress(notices: gateway.endpoints.notices, requests: gateway.endpoints.requests)
    let player = try Player(of: stream, at: address, manner, on: runtime)
    let events = player.client.events
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { await player.follow(events) }
        let result: Swift.Result<Result, any Error>
        do {
            try await player.client.start()
            result = .success(try await body(player))
        } catch {
            result = .failure(error)
        }
        player.client.stop()
        await player.client.stopped()
        try await tasks.waitForAll()
        return try result.get()
    }
}

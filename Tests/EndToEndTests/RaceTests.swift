// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast
import CuecastBroadcast
import Foundation
import GatewayHTTP
import GatewayTestKit
import Testing

/// Many clients that join while breaks are published: nobody misses one, nobody hears of one twice.
@Suite(.timeLimit(.minutes(5)))
struct RaceTests {
    static let breakCount = 40
    static let playersPerGateway = 15

    @Test(arguments: [1, 2])
    func `players that join at any moment know every open break once`(gatewayCount: Int) async throws {
        try await withTemporaryFolder { folder in
            var gateways: [ServedGateway] = []
            for number in 0..<gatewayCount {
                gateways.append(try await ServedGateway(dataFolder: folder.appending(path: "gateway-\(number)")))
            }
            // All stay open, so that everybody has to know of all of them in the end.
            let ids = (0..<Self.breakCount).map { "break-\($0)" }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for gateway in gateways {
                    tasks.addTask {
                        let broadcaster = gateway.broadcasting
                        defer { broadcaster.close() }
                        for id in ids {
                            _ = try await broadcaster.publish(.short(id, start: .cued(hold: nil)))
                        }
                    }
                    for number in 0..<Self.playersPerGateway {
                        tasks.addTask {
                            // Spread over the time that publishing takes.
                            try await until("it is time to join") {
                                let progress = try await gateway.progress()
                                return progress >= number * Self.breakCount / Self.playersPerGateway
                            }
                            try await withPlayer(at: gateway, .leavesThem) { player in
                                try await until("it knows all breaks", within: .seconds(120)) {
                                    player.announced.count >= ids.count
                                }
                                #expect(player.announced.sorted() == ids.sorted())
                                try await until("it has all batches", within: .seconds(120)) {
                                    player.events.count(where: { if case .ready = $0 { true } else { false } })
                                        >= ids.count
                                }
                            }
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            for gateway in gateways {
                let expected = Int64(Self.playersPerGateway * Self.breakCount * 2)
                let books = try await gateway.books("every delivery") { $0.total.delivered == expected }
                #expect(books.breaks.count == Self.breakCount)
                try await gateway.stop()
            }
        }
    }
}

extension ServedGateway {
    /// How many breaks are published.
    fileprivate func progress() async throws -> Int {
        let broadcaster = self.broadcasting
        defer { broadcaster.close() }
        return try await broadcaster.breaks(stream: "radio1").count
    }
}

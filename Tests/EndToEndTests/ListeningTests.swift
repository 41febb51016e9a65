// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast
import CuecastBroadcast
import CuecastWire
import Foundation
import GatewayHTTP
import GatewayTestKit
import Testing

/// The client libraries against `cuecast serve`, over TCP, with a data folder on disk.
@Suite(.timeLimit(.minutes(5)))
struct ListeningTests {
    @Test func `players play or ignore a break, and the books balance`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            try await withPlayer(at: gateway) { ada in
                try await withPlayer(at: gateway) { bob in
                    try await withPlayer(at: gateway, .ignores) { eve in
                        for player in [ada, bob, eve] { try await player.joined() }
                        let status = try await broadcaster.publish(.short("noon"))
                        #expect(status.state == .announced)
                        for player in [ada, bob, eve] { try await player.acknowledged("noon", count: 2) }
                        #expect(ada.outcomes.map(\.result) == [.played, .played])
                        #expect(eve.outcomes.map(\.result) == [.ignored(.user), .ignored(.user)])
                        for player in [ada, bob, eve] { #expect(player.client.unconfirmedOutcomes == 0) }
                    }
                }
            }
            let books = try await gateway.books("three deliveries of two ads") {
                $0.total.played == 4 && $0.total.ignored == 2
            }
            #expect(books.breaks.map(\.sessions) == [3])
            for advertisement in try #require(books.breaks.first).ads {
                #expect(advertisement.counts.delivered == 3)
                #expect(advertisement.counts.played == 2)
                #expect(advertisement.counts.ignored == 1)
                #expect(advertisement.counts.ignoredBy == ["user": 1])
                #expect(advertisement.counts.unknown == 0)
            }
            try await gateway.stop()
        }
    }

    @Test func `a listener that joins late gets the break from where the others are`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            let length = 4
            let status = try await broadcaster.publish(
                .short("long", start: .now, ads: ["a", "b", "c"], seconds: length)
            )
            // It comes while the second ad is heard.
            let start = try #require(status.start)
            try await until("the first ad is over") { start.timeIntervalSinceNow < -Double(length) - 0.5 }
            try await withPlayer(at: gateway) { player in
                try await player.acknowledged("long", count: 1)
                let ads = try await player.event("it has its ads") {
                    if case .available(_, let ads) = $0 { ads.map(\.adID) } else { nil }
                }
                #expect(ads == ["b", "c"] || ads == ["c"])
                #expect(
                    player.events.contains { if case .joined(.snapshot(openBreaks: 1)) = $0 { true } else { false } }
                )
            }
            let books = try await gateway.books("only what it got is delivered") { $0.total.played > 0 }
            #expect(books.breaks.first?.ads.first?.counts.delivered == 0)
            try await gateway.stop()
        }
    }

    @Test func `players live through a restart between announcement and start, and miss nothing`() async throws {
        try await withTemporaryFolder { folder in
            var gateway = try await ServedGateway(dataFolder: folder)
            let endpoints = gateway.endpoints
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            try await withPlayer(at: gateway) { player in
                try await player.joined()
                _ = try await broadcaster.publish(.short("announced", start: .in(.seconds(6))))
                try await player.event("it has its batch") { if case .ready = $0 { true } else { nil } }
                // This one falls due while nobody is there: announced 8 s before its start.
                let later = try await broadcaster.publish(.short("later", start: .in(.seconds(11))))
                #expect(later.state == .scheduled)
                try await gateway.kill()
                let due = try #require(later.announcement)
                try await until("the announcement is due") { due.timeIntervalSinceNow < -0.2 }
                gateway = try await ServedGateway(dataFolder: folder, at: endpoints)
                for id in ["announced", "later"] { try await player.acknowledged(id, count: 2) }
                #expect(player.announced == ["announced", "later"])
                #expect(player.outcomes.map(\.result) == [.played, .played, .played, .played])
                #expect(
                    player.events.contains { if case .joined(.recovered(notices: 1)) = $0 { true } else { false } }
                )
            }
            _ = try await gateway.books("both breaks") { $0.total.played == 4 && $0.total.unknown == 0 }
            try await gateway.stop()
        }
    }

    @Test func `a cancelled break is withdrawn from those who have it`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            try await withPlayer(at: gateway) { player in
                try await player.joined()
                _ = try await broadcaster.publish(.short("off", start: .in(.seconds(60))))
                _ = try await broadcaster.cancel(stream: "radio1", breakID: "off")
                _ = try await broadcaster.publish(.short("held", start: .cued(hold: nil)))
                try await player.event("it has the held break") {
                    if case .ready(let each, _) = $0, each.id == "held" { true } else { nil }
                }
                #expect(!player.announced.contains("off"))
                let status = try await broadcaster.cancel(stream: "radio1", breakID: "held")
                #expect(status.state == .cancelled)
                let withdrawal = try await player.event("it is withdrawn") {
                    if case .withdrawn(let withdrawal) = $0 { withdrawal } else { nil }
                }
                #expect(withdrawal.breakID == "held")
                #expect(withdrawal.reason == .cancelled)
                try await player.acknowledged("held", count: 2)
                #expect(player.outcomes.map(\.result) == [.ignored(.cancelled), .ignored(.cancelled)])
            }
            let books = try await gateway.books("what was withdrawn is ignored") { $0.total.ignored == 2 }
            #expect(books.total.ignoredBy == ["cancelled": 2])
            try await gateway.stop()
        }
    }

    @Test func `a break that ends early stops the ad that plays, and says how much was heard`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            try await withPlayer(at: gateway, .leavesThem) { player in
                try await player.joined()
                _ = try await broadcaster.publish(.short("game", start: .now, ads: ["a", "b"], seconds: 30))
                try await player.event("it has its ads") { if case .available = $0 { true } else { nil } }
                let playing = try #require(player.client.advertisements.getAdvertisement())
                player.client.advertisements.report(.started, for: playing)
                try await Task.sleep(for: .seconds(1))
                _ = try await broadcaster.end(stream: "radio1", breakID: "game", endMode: .cut)
                let withdrawal = try await player.event("it is withdrawn") {
                    if case .withdrawn(let withdrawal) = $0 { withdrawal } else { nil }
                }
                #expect(withdrawal.reason == .endedEarly)
                #expect(withdrawal.current == playing)
                try await player.acknowledged("game", count: 2)
            }
            let books = try await gateway.books("both ads have an outcome") {
                $0.total.delivered == 2 && $0.total.unknown == 0
            }
            #expect(books.total.ignoredBy["endedEarly"] != nil)
            try await gateway.stop()
        }
    }

    @Test func `a punched break begins for those who hold it`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            try await withPlayer(at: gateway) { player in
                try await player.joined()
                _ = try await broadcaster.publish(.short("cued", start: .cued(hold: .seconds(60))))
                try await player.event("it has its batch") { if case .ready = $0 { true } else { nil } }
                #expect(player.outcomes.isEmpty)
                let status = try await broadcaster.punch(stream: "radio1", breakID: "cued", start: .in(.seconds(1)))
                #expect(status.start != nil)
                try await player.acknowledged("cued", count: 2)
                #expect(player.outcomes.map(\.result) == [.played, .played])
            }
            try await gateway.stop()
        }
    }

    @Test func `a pre-stream break is there when start returns, and only while it is open`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder)
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            var pre = AdBreak.short("pre", start: .preStream(hold: .seconds(600)))
            pre.duration = nil
            _ = try await broadcaster.publish(pre)
            for _ in 0..<2 {
                try await withPlayer(at: gateway, .leavesThem) { player in
                    let first = try #require(player.client.advertisements.getAdvertisement())
                    #expect(first.breakID == "pre")
                    player.client.advertisements.report(.started, for: first)
                    player.client.advertisements.report(.completed, for: first)
                    player.client.advertisements.ignoreReceivedAdvertisements()
                    try await player.acknowledged("pre", count: 2)
                }
            }
            _ = try await broadcaster.end(stream: "radio1", breakID: "pre")
            try await withPlayer(at: gateway, .leavesThem) { player in
                #expect(player.client.advertisements.getAdvertisement() == nil)
            }
            let books = try await gateway.books("two listeners had it") { $0.total.delivered == 4 }
            #expect(books.total.played == 2)
            #expect(books.total.ignored == 2)
            try await gateway.stop()
        }
    }

    @Test func `an acknowledgement repeated, also after a restart, is confirmed and counts once`() async throws {
        try await withTemporaryFolder { folder in
            let network = try PeerNetwork()
            let session = SessionID.random()
            var gateway = try await ServedGateway(dataFolder: folder)
            let listener = try await gateway.listener(session: session, in: network)
            try await gateway.broadcaster(in: network).publish("again", duration: .seconds(60))
            let batch = try await listener.batch(of: "again")
            let acknowledgement = try listener.acknowledgement(of: batch, of: "again")
            for _ in 0..<3 {
                #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
            }
            try await gateway.kill()
            gateway = try await ServedGateway(dataFolder: folder)
            let again = try await gateway.listener(session: session, in: network)
            #expect(try await again.ask(acknowledgement).body == .acknowledged(recorded: 2))
            let contradiction = try again.acknowledgement(of: batch, of: "again", .ignored)
            #expect(try await again.ask(contradiction).body == .acknowledged(recorded: 2))
            let books = try await gateway.books("the contradiction is counted") { $0.total.contradictions == 2 }
            #expect(books.total.delivered == 2)
            #expect(books.total.played == 2)
            #expect(books.total.repeats == 6)
            try await gateway.stop()
            await network.stop()
        }
    }
}

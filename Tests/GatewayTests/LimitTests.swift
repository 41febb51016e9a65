// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing
import ZeroMQ

/// The limits that the gateway's services keep: at the limit, and one past it.
@Suite(.suiteLimit)
struct LimitTests {
    var station = Station()
    static let lane = Lane.acknowledgements(0)

    @Test func `as many publications wait as may, one more is refused, and all that waited are answered`() async throws
    {
        var station = self.station
        station.configuration.limits[.entriesWaitingMax] = 5
        try await station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            station.log.set(.breaks, .holding)
            func send(_ index: Int) async throws -> UInt64 {
                try await broadcaster.send(.publication(of: .of("radio1", "break-\(index)"), start: nil))
            }
            // One is with the log, five wait for it.
            var accepted = [try await send(0)]
            try await until("one is with the log") { station.log.appendCount(of: .breaks) == 1 }
            for index in 1...5 { accepted.append(try await send(index)) }
            let refusal = try #require(try await broadcaster.reply(to: send(6)).refusal)
            #expect(refusal.status == .unavailable)
            #expect(refusal.status.canRetry)
            #expect(running.metrics.value(.limitsHit, .limit(.entriesWaitingMax)) == 1)

            station.log.set(.breaks, .passing)
            for id in accepted { #expect(try await broadcaster.reply(to: id).info?.state == .cued) }
            #expect(try await broadcaster.reply(to: send(6)).info?.state == .cued)
            #expect(try await station.memory.breakGroups().map(\.entries.count).prefix(2) == [1, 5])
        }
    }

    @Test func `publications wait up to a limit in bytes, and go to the log in groups of 8 MiB at most`() async throws {
        var station = self.station
        station.configuration.limits[.entryBytesWaitingMax] = 12 * 1_048_576
        try await station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            // Nearly as large as a frame may be.
            var advertisements: [AdvertisementContent] = []
            for number in 0..<62 {
                var advertisement = try AdvertisementContent.madeUp("ad-\(number)", duration: .seconds(1))
                advertisement.trackers = (0..<4)
                    .map { _ in
                        AdvertisementContent.Tracker(
                            event: "complete",
                            url: "https://tracking.example/" + String(repeating: "x", count: 4_060)
                        )
                    }
                advertisements.append(advertisement)
            }
            func publication(_ index: Int) throws -> BroadcastRequest.Kind {
                .publish(
                    BroadcastRequest.Publish(
                        key: try .of("radio-\(index)", "large"),
                        start: nil,
                        advertisements: advertisements
                    )
                )
            }
            let bytes = BroadcastRequest(id: 1, kind: try publication(1)).encoded().count
            #expect(bytes > 1_000_000 && bytes <= WireLimits.broadcastFrameBytesMax)
            let fitting = 12 * 1_048_576 / bytes

            self.station.log.set(.breaks, .holding)
            var accepted = [try await broadcaster.send(publication(0))]
            try await until("one is with the log") { self.station.log.appendCount(of: .breaks) == 1 }
            for index in 1...fitting { accepted.append(try await broadcaster.send(publication(index))) }
            let refusal = try await broadcaster.ask(publication(fitting + 1)).refusal
            #expect(refusal?.status == .unavailable)
            #expect(running.metrics.value(.limitsHit, .limit(.entryBytesWaitingMax)) == 1)

            self.station.log.set(.breaks, .passing)
            for id in accepted { #expect(try await broadcaster.reply(to: id).info?.state == .cued) }
            let sizes = try await self.station.memory.breakGroups().map(\.entries.count)
            #expect(sizes.reduce(0, +) == fitting + 1)
            #expect(sizes.allSatisfy { $0 * bytes <= 8 * 1_048_576 })
        }
    }

    @Test func `as many acknowledgements wait as may, one more is refused`() async throws {
        var station = self.station
        station.configuration.limits[.acknowledgementsWaitingMax] = 3
        try await station.runByHand { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let batch = try await listener.batch(of: "b")
            let acknowledgement = try listener.acknowledgement(of: batch, of: "b")
            try await until("the delivery is recorded") { try await !station.memory.acknowledgementGroups().isEmpty }
            let before = station.log.appendCount(of: Self.lane)
            station.log.set(Self.lane, .holding)
            var accepted = [try await listener.send(acknowledgement)]
            try await until("one is with the log") { station.log.appendCount(of: Self.lane) == before + 1 }
            for _ in 0..<3 { accepted.append(try await listener.send(acknowledgement)) }
            #expect(try await listener.ask(acknowledgement).refusal?.status == .unavailable)
            #expect(running.metrics.value(.limitsHit, .limit(.acknowledgementsWaitingMax)) == 1)
            station.log.set(Self.lane, .passing)
            for id in accepted { #expect(try await listener.reply(to: id).body == .acknowledged(recorded: 2)) }
            #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
        }
    }

    @Test func `acknowledgements wait up to a limit in bytes, one more is refused`() async throws {
        var station = self.station
        let bytesMax = 1_000
        station.configuration.limits[.acknowledgementBytesWaitingMax] = bytesMax
        station.configuration.limits[.rememberedOutcomesMax] = 0
        try await station.runByHand { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let batch = try await listener.batch(of: "b")
            let kind = try listener.acknowledgement(of: batch, of: "b")
            try await until("the delivery is recorded") { try await !station.memory.acknowledgementGroups().isEmpty }
            let before = station.log.appendCount(of: Self.lane)
            station.log.set(Self.lane, .holding)
            let session = listener.session
            func frame(_ id: UInt64) -> [UInt8] { ListenerRequest(id: id, session: session, kind: kind).encoded() }
            func send() async throws -> UInt64 { try await listener.requests.send { frame($0) } }
            // What is unknown in a request does not wait, however much it is.
            let fitting = bytesMax / frame(1).count
            var accepted = [try await send()]
            try await until("one is with the log") { station.log.appendCount(of: Self.lane) == before + 1 }
            for _ in 0..<fitting { accepted.append(try await send()) }
            #expect(try await listener.reply(to: send()).refusal?.status == .unavailable)
            #expect(running.metrics.value(.limitsHit, .limit(.acknowledgementBytesWaitingMax)) == 1)
            station.log.set(Self.lane, .passing)
            for id in accepted { #expect(try await listener.reply(to: id).body == .acknowledged(recorded: 2)) }
        }
    }

    @Test func `as many deliveries wait as may, one more batch is refused`() async throws {
        var station = self.station
        station.configuration.limits[.deliveriesWaitingMax] = 3
        // The group that the log has is the only one.
        station.configuration.edgeThreads = 1
        try await station.runByHand { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("b", duration: .seconds(30))
            station.log.set(Self.lane, .holding)
            _ = try await listener.batch(of: "b")
            try await until("one is with the log") { station.log.appendCount(of: Self.lane) == 1 }
            for _ in 0..<3 { _ = try await running.listener().batch(of: "b") }
            let request = ListenerRequest.GetBatch(key: try .of("radio1", "b"))
            let fifth = try await running.listener()
            #expect(try await fifth.ask(.getBatch(request)).refusal?.status == .unavailable)
            #expect(running.metrics.value(.limitsHit, .limit(.deliveriesWaitingMax)) == 1)
            station.log.set(Self.lane, .passing)
            try await until("all are recorded") {
                try await station.memory.acknowledgementGroups().flatMap(\.deliveries).count == 4
            }
            _ = try await fifth.batch(of: "b")
        }
    }

    @Test func `as many sessions listen as may, one more is refused until another leaves`() async throws {
        var station = self.station
        station.configuration.limits[.listenersMax] = 2
        try await station.runByHand { running in
            let listeners = [try await running.listener(), try await running.listener()]
            for listener in listeners { _ = try await listener.join() }
            let third = try await running.listener()
            let join = ListenerRequest.Kind.join(ListenerRequest.Join(stream: third.stream, instance: 0))
            let refusal = try #require(try await third.ask(join).refusal)
            #expect(refusal.status == .limitReached)
            #expect(refusal.sentence.contains("listenersMax"))
            #expect(running.metrics.value(.limitsHit, .limit(.listenersMax)) == 1)
            // Those who are in may ask on.
            _ = try await listeners[0].join()
            _ = try await listeners[1].ask(.leave(third.stream))
            _ = try await third.join()
        }
    }

    @Test func `as many sessions begin on one connection as may, one more is refused, and others are not`() async throws
    {
        var station = self.station
        station.configuration.limits[.sessionsPerConnectionMax] = 3
        // So many within the time of a lease: one more comes again in a third of it.
        station.configuration.lease = waitMax * 3
        try await station.runByHand { running in
            let peer = try RawPeer(.dealer, in: running.network)
            try await peer.connect(running.endpoints.requests)
            var known: SessionID?
            func join(_ session: SessionID) async throws -> Refusal? {
                let join = ListenerRequest.Join(stream: try StreamID("radio1"), instance: 0)
                try await peer.send([
                    [], ListenerRequest(id: 1, session: session, kind: .join(join)).encoded(),
                ])
                let reply = try await peer.next("a reply") { try? ListenerReply(decoding: $0[1]) }
                return reply.refusal
            }
            for _ in 0..<3 {
                let session = SessionID.random()
                known = session
                #expect(try await join(session) == nil)
            }
            let refusal = try #require(try await join(.random()))
            #expect(refusal.status == .limitReached)
            #expect(refusal.sentence.contains("sessionsPerConnectionMax"))
            #expect(running.metrics.value(.limitsHit, .limit(.sessionsPerConnectionMax)) == 1)
            #expect(try await join(try #require(known)) == nil, "who is in may ask on")
            _ = try await running.listener().join()
        }
    }

    @Test func `a session that asks too often is told to wait, others are not`() async throws {
        var station = self.station
        station.configuration.limits[.requestsPerSessionPerSecondMax] = 5
        try await station.runByHand { running in
            let listener = try await running.listener()
            let other = try await running.listener()
            _ = try await listener.join()
            _ = try await other.join()
            for _ in 0..<10 { #expect(try await listener.ask(.getTime).body == .done) }
            let refusal = try await listener.ask(.getTime).refusal
            #expect(refusal?.status == .rateLimited)
            #expect(try await other.ask(.getTime).body == .done)
            station.clock.advance(by: .seconds(1))
            for _ in 0..<5 { #expect(try await listener.ask(.getTime).body == .done) }
            #expect(try await listener.ask(.getTime).refusal?.status == .rateLimited)
        }
    }

    @Test func `a full page of the longest names and titles fits into its frame`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            var advertisement = try AdvertisementContent.madeUp("a")
            advertisement.title = String(repeating: "t", count: WireLimits.textBytesMax)
            let perStream = BoardLimits.openBreaksPerStreamMax
            let count = WireLimits.breaksPerPageMax + 1
            for index in 0..<count {
                let stream =
                    String(repeating: "s", count: WireLimits.streamIDBytesMax - 3) + "\(100 + index / perStream)"
                let id = String(repeating: "b", count: WireLimits.breakIDBytesMax - 4) + "\(1_000 + index)"
                try await broadcaster.publish(id, of: stream, start: nil, advertisements: [advertisement])
            }
            var keys: [BreakKey] = []
            var after: [UInt8] = []
            repeat {
                guard
                    case .list(let infos, let next) = try await broadcaster.ask(
                        .list(BroadcastRequest.List(after: after))
                    )
                else { throw PeerError.unexpected("no list") }
                keys += infos.map(\.key)
                after = next
            } while !after.isEmpty
            #expect(keys.count == count)
            #expect(keys == keys.sorted())
        }
    }
}

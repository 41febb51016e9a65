// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

@testable import Gateway

/// Broadcasters that send the next request before the last one is answered: each is about what those before it have made.
@Suite(.suiteLimit)
struct PipelinedBroadcasterTests {
    var station = Station()

    /// Has a list answered: what was sent before it on the same connection has been decided, or waits.
    private func catchUp(_ broadcaster: RawBroadcaster) async throws {
        _ = try await broadcaster.ask(.list(BroadcastRequest.List()))
    }

    /// Sends requests without waiting while the log holds everything back, and then has the log go on.
    ///
    /// - Returns: the answers in the order of the requests.
    private func answers(
        _ kinds: [BroadcastRequest.Kind],
        from broadcaster: RawBroadcaster
    ) async throws -> [BroadcastReply.Body] {
        self.station.log.set(.breaks, .holding)
        var ids: [UInt64] = []
        for kind in kinds { ids.append(try await broadcaster.send(kind)) }
        try await self.catchUp(broadcaster)
        self.station.log.set(.breaks, .passing)
        var answers: [BroadcastReply.Body] = []
        for id in ids { answers.append(try await broadcaster.reply(to: id)) }
        return answers
    }

    @Test func `a break that is cancelled right behind its publication is cancelled`() async throws {
        try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            let key = try BreakKey.of("radio1", "b")
            let answers = try await self.answers(
                [.publication(of: key, start: .after(.seconds(60))), .cancel(key)],
                from: broadcaster
            )
            #expect(answers[0].info?.state == .scheduled)
            #expect(answers[1].info?.state == .cancelled)
            #expect(running.board[key]?.record.phase == .cancelled)
        }
    }

    @Test func `a cued break is published, punched and made longer at once`() async throws {
        try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            let key = try BreakKey.of("radio1", "b")
            let answers = try await self.answers(
                [
                    .publication(of: key, start: nil, duration: .seconds(1_800)),
                    .punch(BroadcastRequest.Punch(key: key, start: .now)),
                    .update(BroadcastRequest.Update(key: key, duration: .seconds(3_600))),
                ],
                from: broadcaster
            )
            #expect(answers.map { $0.info != nil } == [true, true, true], "\(answers)")
            #expect(running.board[key]?.record.start != nil)
            #expect(running.board[key]?.record.duration == .seconds(3_600))
        }
    }

    @Test func `a change back to what is so still is the last word`() async throws {
        try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            let key = try BreakKey.of("radio1", "b")
            _ = try await broadcaster.do(.publication(of: key, start: .after(.seconds(60)), duration: .seconds(20)))
            let answers = try await self.answers(
                [30, 20].map { .update(BroadcastRequest.Update(key: key, duration: .seconds($0))) },
                from: broadcaster
            )
            #expect(answers.map { $0.info?.duration } == [.seconds(30), .seconds(20)])
            #expect(running.board[key]?.record.duration == .seconds(20))
        }
    }

    @Test func `a place that a cancelled break gives up is free for the next publication`() async throws {
        try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            let (first, second) = (try BreakKey.of("radio1", "b"), try BreakKey.of("radio1", "c"))
            _ = try await broadcaster.do(.publication(of: first, start: .after(.seconds(60))))
            let answers = try await self.answers(
                [.cancel(first), .publication(of: second, start: .after(.seconds(62)))],
                from: broadcaster
            )
            #expect(answers[1].info?.state == .scheduled, "\(answers[1])")
        }
    }

    @Test func `a request behind a failed publication is refused for the true reason`() async throws {
        try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            let key = try BreakKey.of("radio1", "b")
            self.station.log.set(.breaks, .failing)
            let publication = try await broadcaster.send(.publication(of: key))
            let cancellation = try await broadcaster.send(.cancel(key))
            #expect(try await broadcaster.reply(to: publication).refusal?.status == .unavailable)
            #expect(try await broadcaster.reply(to: cancellation).refusal?.status == .notFound)
            self.station.log.set(.breaks, .passing)
        }
    }

    @Test func `requests about other streams do not wait`() async throws {
        try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            self.station.log.set(.breaks, .holding)
            let publication = try await broadcaster.send(.publication(of: try BreakKey.of("radio1", "b")))
            let other = try await broadcaster.ask(.cancel(try BreakKey.of("radio2", "b")))
            #expect(other.refusal?.status == .notFound)
            self.station.log.set(.breaks, .passing)
            #expect(try await broadcaster.reply(to: publication).info != nil)
        }
    }

    @Test func `a hundred publications and cancellations in a row leave nothing behind`() async throws {
        try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            var kinds: [BroadcastRequest.Kind] = []
            for number in 0..<100 {
                let key = try BreakKey.of("radio1", "b-\(number)")
                kinds.append(try .publication(of: key, start: .after(.seconds(60))))
                kinds.append(.cancel(key))
            }
            let answers = try await self.answers(kinds, from: broadcaster)
            #expect(answers.allSatisfy { $0.info != nil }, "\(answers.compactMap(\.refusal))")
        }
    }

    @Test func `requests wait up to a limit, and one more is refused and counted`() async throws {
        var station = self.station
        station.configuration.limits[.entriesWaitingMax] = 2
        try await station.run { running in
            let broadcaster = try await running.broadcaster()
            let key = try BreakKey.of("radio1", "b")
            station.log.set(.breaks, .holding)
            let publication = try await broadcaster.send(.publication(of: key, start: .after(.seconds(60))))
            try await until("the log has it") { station.log.appendCount(of: .breaks) == 1 }
            var ids: [UInt64] = []
            for _ in 0..<3 { ids.append(try await broadcaster.send(.cancel(key))) }
            #expect(try await broadcaster.reply(to: ids[2]).refusal?.status == .unavailable)
            #expect(running.metrics.value(.limitsHit, .limit(.entriesWaitingMax)) == 1)
            station.log.set(.breaks, .passing)
            #expect(try await broadcaster.reply(to: publication).info != nil)
            for id in ids.prefix(2) { #expect(try await broadcaster.reply(to: id).info?.state == .cancelled) }
        }
    }

    @Test func `requests wait up to a limit in bytes`() throws {
        var parked = ParkedRequests(entriesWaitingMax: .max, entryBytesWaitingMax: 100)
        let key = try BreakKey.of("radio1", "b")
        func request(_ id: UInt64, _ bytes: Int) -> AdmittedRequest {
            AdmittedRequest(
                request: BroadcastRequest(id: id, kind: .cancel(key)),
                principal: .anybody,
                bytes: bytes,
                waiting: WaitingBroadcaster(
                    requestID: id,
                    kind: .cancel,
                    key: key,
                    origin: RequestOrigin(.zeromq)
                ) { _ in },
                reading: ClockReading(now: Timestamp(microseconds: 1)),
                number: id
            )
        }
        #expect(!parked.holds(key.stream))
        #expect(parked.park(request(1, 60), of: key.stream) == nil)
        #expect(parked.park(request(2, 41), of: key.stream) == .entryBytesWaitingMax)
        #expect(parked.park(request(3, 40), of: key.stream) == nil)
        #expect(parked.count == 2)

        // In their order, until one has to wait for longer.
        var asked: [UInt64] = []
        parked.release(key.stream) { each in
            asked.append(each.request.id)
            return each.request.id == 1
        }
        #expect(asked == [1, 3])
        #expect(parked.count == 1 && parked.holds(key.stream))
        #expect(parked.park(request(4, 60), of: key.stream) == nil)
        parked.release(key.stream) { _ in true }
        #expect(parked.count == 0 && !parked.holds(key.stream))
        #expect(parked.park(request(5, 100), of: key.stream) == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// A gateway that starts on the log that another one left.
@Suite(.suiteLimit)
struct RestartTests {
    let station = Station()
    var clock: ManualClock { self.station.clock }

    @Test func `a break that fell due while the gateway was down is announced at once if it can still be played`()
        async throws
    {
        let info = try await self.station.runByHand { running in
            try await running.broadcaster().publish("due", start: .after(.seconds(60)), duration: .seconds(30))
        }
        #expect(info.state == .scheduled)
        // It has started, even.
        self.clock.advance(by: .seconds(70))
        try await self.station.runByHand { running in
            try await until("it is announced") { running.metrics.value(.noticesSent) == 1 }
            let listener = try await running.listener()
            let joined = try await listener.join()
            #expect(joined.head == Position(epoch: self.station.log.epoch, sequence: 1))
            #expect(joined.notices.map(\.breakID?.description) == ["due"])
            #expect(joined.notices.first?.start == info.start)
            // Ten seconds in, the first of 15 s is still heard.
            let batch = try await listener.batch(of: "due")
            #expect(batch.skipped == 0)
            self.clock.advance(by: .seconds(5))
            #expect(try await listener.batch(of: "due").skipped == 1)
        }
    }

    @Test func `a break that cannot be played any more expires, and says so`() async throws {
        try await self.station.runByHand { running in
            try await running.broadcaster().publish("missed", start: .after(.seconds(60)), duration: .seconds(30))
        }
        self.clock.advance(by: .seconds(90))
        try await self.station.runByHand { running in
            let key = try BreakKey.of("radio1", "missed")
            try await until("it is expired") { running.board[key]?.record.phase == .expired }
            guard case .list(let infos, _) = try await running.broadcaster().ask(.list(BroadcastRequest.List())) else {
                throw PeerError.unexpected("no list")
            }
            #expect(infos.map(\.state) == [.expired])
            let joined = try await running.listener().join()
            #expect(joined.head.sequence == 0)
            #expect(joined.notices.isEmpty)
            #expect(running.metrics.value(.noticesSent) == 0)
        }
    }

    @Test func `a cued break is still held, and can be punched`() async throws {
        try await self.station.runByHand { running in
            let info = try await running.broadcaster().publish("cued", start: nil, hold: .seconds(600))
            #expect(info.state == .cued)
        }
        self.clock.advance(by: .seconds(300))
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let joined = try await listener.join()
            #expect(joined.notices.map(\.breakID?.description) == ["cued"])
            #expect(joined.notices.first?.start == nil)
            let broadcaster = try await running.broadcaster()
            try await broadcaster.do(.punch(BroadcastRequest.Punch(key: .of("radio1", "cued"))))
            let punched = try await listener.notice()
            #expect(punched.kind == .updated)
            #expect(punched.position.sequence == 2)
            #expect(punched.start == self.clock.now() + .seconds(2))
        }
    }

    @Test func `a cued break whose hold ran out meanwhile is withdrawn`() async throws {
        let listenerPosition = try await self.station.runByHand { running in
            try await running.broadcaster().publish("cued", start: nil, hold: .seconds(600))
            return try await running.listener().join().head
        }
        self.clock.advance(by: .seconds(600))
        try await self.station.runByHand { running in
            try await until("it is withdrawn") { running.metrics.value(.noticesSent) == 1 }
            let joined = try await running.listener().join(last: listenerPosition)
            #expect(joined.kind == .recovered)
            #expect(joined.notices.map(\.kind) == [.cancelled])
            #expect(joined.notices.first?.cancelReason == .notStarted)
        }
    }

    @Test func `positions go on, listeners recover, and deliveries stay good`() async throws {
        let session = SessionID.random()
        let (joined, batch) = try await self.station.runByHand { running in
            let listener = try await running.listener(session: session)
            try await running.broadcaster().publish("before", duration: .seconds(300))
            return (try await listener.join(), try await listener.batch(of: "before"))
        }
        try await self.station.runByHand { running in
            let listener = try await running.listener(session: session)
            let again = try await listener.join(last: joined.head)
            #expect(again.kind == .current)
            #expect(again.instance != joined.instance)
            #expect(again.head == joined.head)
            #expect(try await listener.batch(of: "before").advertisements == batch.advertisements)
            let reply = try await listener.ask(listener.acknowledgement(of: batch, of: "before"))
            #expect(reply.body == .acknowledged(recorded: 2))
            try await running.broadcaster().publish("after", start: nil)
            #expect(try await listener.notice().position == Position(epoch: joined.head.epoch, sequence: 2))
        }
    }

    @Test func `after a start the ledger is told of all breaks in portions, and of changes at once`() async throws {
        let board = try await self.station.run { running in
            let broadcaster = try await running.broadcaster()
            for index in 0..<25 { try await broadcaster.publish("break-\(index)", of: "radio\(index % 3)", start: nil) }
            return running.board
        }
        let feed = LedgerFeed(board)
        var told: [BreakNumber] = []
        let changed = try BreakKey.of("radio2", "break-2")
        feed.applied([.changed(try #require(board[changed]), nil)], of: nil, board: board)
        while true {
            let portion = feed.take(most: 10)
            #expect(portion.breaks.count <= 10)
            #expect(portion.offset == board.offset)
            if told.isEmpty {
                #expect(portion.breaks.contains { $0.key == changed })
                // What the ledger did not take comes again.
                feed.putBack(portion)
                _ = feed.take(most: 3)
                feed.putBack(portion)
            }
            told += portion.breaks.map(\.number)
            guard portion.hasMore else { break }
        }
        #expect(Set(told) == Set(board.keys.compactMap { board[$0]?.number }))
        #expect(feed.take(most: 10).breaks.isEmpty)
    }

    @Test func `the board is the same from its snapshot as from all records`() async throws {
        let kept = try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            for index in 0..<5 { try await broadcaster.publish("break-\(index)", of: "radio\(index % 2)", start: nil) }
            try await broadcaster.do(.cancel(.of("radio1", "break-1")))
            return running.board
        }
        #expect(try await self.station.memory.snapshotOffset(of: .breaks) == kept.offset)
        let fromSnapshot = try await self.station.runByHand { $0.board }
        #expect(fromSnapshot == kept)

        // A log that says it has no snapshot is read from the beginning.
        let whole = ControlledLog(InMemoryEventLog(), epoch: self.station.log.epoch)
        for group in try await self.station.memory.breakGroups() {
            _ = try await whole.append(group.encoded(), to: .breaks)
        }
        let fromRecords = try await withGateway(log: whole, ledger: InMemoryLedger()) { $0.board }
        #expect(fromRecords == kept)
    }
}

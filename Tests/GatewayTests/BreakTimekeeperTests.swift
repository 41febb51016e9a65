// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

@testable import Gateway

/// The work that time makes due, and the fate of records that the log does not accept.
@Suite(.suiteLimit)
struct BreakTimekeeperTests {
    private let now = Timestamp(microseconds: 1_800_000_000_000_000)

    /// A board with one break that is announced `lead` after now.
    private func board(_ lead: Duration) throws -> Board {
        var board = Board(epoch: 7)
        let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID("b1"))
        let publish = BroadcastRequest.Publish(
            key: key,
            start: .after(lead + .seconds(10)),
            advertisements: [
                AdvertisementContent(
                    id: try AdvertisementID("a"),
                    duration: .seconds(30),
                    media: [.init(url: "https://cdn.example/a.mp3", type: "audio/mpeg")]
                )
            ]
        )
        let start = self.now + lead + .seconds(10)
        let entry = BreakEntry.Publish(
            request: publish,
            start: start,
            announce: self.now + lead,
            window: RequestWindow(from: self.now + lead, by: self.now + lead + .seconds(1)),
            holdUntil: nil,
            safetyDuration: .seconds(300)
        )
        let results = board.apply(
            BreakGroup(entries: [BreakEntry(at: self.now, kind: .publish(entry))]),
            offset: 1
        )
        guard case .changed = results[0] else { throw Refusal(.invalid, "\(results)") }
        return board
    }

    private func timekeeper(_ board: Board) -> BreakTimekeeper {
        BreakTimekeeper(
            board,
            policy: BreakPolicy(),
            recheckInterval: .seconds(1),
            elapsed: Timestamp(microseconds: 0)
        )
    }

    @Test func `a timer waits until its instant, and never longer than the recheck`() throws {
        var keeper = self.timekeeper(try self.board(.milliseconds(300)))
        #expect(keeper.wait(from: self.now) == .milliseconds(300))
        #expect(keeper.wait(from: self.now + .milliseconds(299)) == .milliseconds(1))
        let far = self.timekeeper(try self.board(.seconds(60)))
        #expect(far.wait(from: self.now) == .seconds(1))
        #expect(self.timekeeper(Board(epoch: 7)).wait(from: self.now) == .seconds(1))
        let early = keeper.due(on: try self.board(.milliseconds(300)), at: self.now) { _ in 0 }
        #expect(early.isEmpty)
    }

    @Test func `a record is due once, and again when the log has not taken it`() throws {
        let board = try self.board(.seconds(1))
        var keeper = self.timekeeper(board)
        let later = self.now + .seconds(1)
        let due = keeper.due(on: board, at: later) { _ in 3 }
        #expect(due.count == 1)
        let again = keeper.due(on: board, at: later) { _ in 3 }
        #expect(again.isEmpty)
        keeper.wasNotTaken(try #require(due.first), board: board)
        let repeated = keeper.due(on: board, at: later) { _ in 3 }
        #expect(repeated == due)
    }

    @Test func `housekeeping is one record at a time, also after a failure`() throws {
        let board = try self.board(.seconds(1))
        var keeper = self.timekeeper(board)
        let later = self.now + .seconds(3_600)
        let elapsed = Timestamp(microseconds: 3_600_000_000)
        func next(_ mayAdvance: Bool = true) -> BreakEntry? {
            keeper.housekeepingEntry(on: board, at: later, elapsed: elapsed, mayAdvance: mayAdvance)
        }
        #expect(next(false) == nil, "the clock may not be trusted")
        let first = next()
        let entry = try #require(first)
        let second = next()
        #expect(second == nil, "the first one is not answered")
        keeper.wasNotTaken(entry, board: board)
        let third = keeper.housekeepingEntry(
            on: board,
            at: later,
            elapsed: Timestamp(microseconds: 7_200_000_000),
            mayAdvance: true
        )
        #expect(third != nil)
    }
}

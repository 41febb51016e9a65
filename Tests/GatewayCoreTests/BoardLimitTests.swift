// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The board is bounded, and forgets by the time of records.
@Suite(.suiteLimit)
struct BoardLimitTests {
    private static let acknowledgeWithin = BoardLimits.acknowledgeWithin.inSeconds
    private static let batchesWithin = BoardLimits.batchesWithin.inSeconds

    private func cued(_ id: String, of stream: StreamID = Sample.stream) -> BroadcastRequest.Kind {
        .publish(Sample.publish(id, of: stream, start: nil, advertisements: Sample.advertisements([1])))
    }

    @Test func `a stream has at most so many open breaks`() {
        var desk = Desk()
        for number in 0..<BoardLimits.openBreaksPerStreamMax {
            #expect(desk.ask(self.cued("b\(number)"), at: 0).word == "available")
        }
        let refusal = desk.ask(self.cued("more"), at: 0).refusal
        #expect(refusal?.status == .limitReached)
        #expect(refusal?.sentence == "The limit openBreaksPerStreamMax is 64 and is reached.")
        #expect(desk.ask(self.cued("b0"), at: 0).word == "unchanged", "a repeat is no further break")
        #expect(desk.ask(self.cued("more", of: Sample.stream("radio10")), at: 0).word == "available")
        // One that is over makes room.
        #expect(desk.ask(.cancel(Sample.key("b7")), at: 1).word == "cancelled")
        #expect(desk.ask(self.cued("more"), at: 1).word == "available")
        #expect(desk.ask(self.cued("more2"), at: 1).refusal?.status == .limitReached)
        // And time makes room: their hold is over when the timer has said so.
        desk.tick(at: 1_802)
        #expect(desk.ask(self.cued("more2"), at: 1_802).word == "available")
    }

    @Test func `there are at most so many streams`() {
        var board = Board(epoch: Sample.epoch)
        let last = BoardLimits.streamsMax
        let publish = Sample.publish(start: nil, advertisements: Sample.advertisements([1]))
        func entry(_ number: Int) -> BreakEntry {
            var request = publish
            request.key = Sample.key("b", of: Sample.stream("s\(number)"))
            let window = RequestWindow(from: Sample.t0, by: Sample.t0)
            return BreakEntry(
                at: Sample.t0,
                kind: .publish(
                    .init(
                        request: request,
                        start: nil,
                        announce: Sample.t0,
                        window: window,
                        holdUntil: Sample.at(1_800),
                        safetyDuration: .seconds(300)
                    )
                )
            )
        }
        for first in stride(from: 0, to: last, by: 1_000) {
            let results = board.apply(BreakGroup(entries: (first..<first + 1_000).map(entry)), offset: board.offset + 1)
            #expect(results.allSatisfy { $0.word == "available" })
        }
        #expect(board.streamCount == last)
        let results = board.apply(BreakGroup(entries: [entry(last), entry(0)]), offset: board.offset + 1)
        #expect(results.map(\.word) == ["LIMIT_REACHED", "unchanged"])
        #expect(results[0] == .refused(Refusal(.limitReached, "The limit streamsMax is 10000 and is reached.")))
        #expect(board.streamCount == last)
        // All of them fall due at once: they are handed over group by group.
        let due = BreakTimers(policy: BreakPolicy()).due(on: board, at: Sample.at(1_800)) { _ in 0 }
        #expect(due.entries.count == BreakGroup.groupEntriesMax)
        #expect(due.next == Sample.at(1_800))
        #expect(due.entries.map(\.key) == (0..<BreakGroup.groupEntriesMax).map { entry($0).key })
    }

    @Test func `a stream keeps at most so many breaks, and lets go of the oldest`() {
        let most = BoardLimits.keptBreaksPerStreamMax
        // Over at different times, all within the days in which they may be acknowledged; the first is over last.
        let breaks = (0..<most)
            .map { number in
                let over = number == 0 ? Sample.at(-4_000) : Sample.at(-600_000 + Double(number))
                return Sample.record(UInt64(number), over: over, condensed: true)
            }
        var desk = Desk(Sample.board(breaks))
        #expect(desk.board.stream(Sample.stream)?.breakCount == most)
        #expect(desk.ask(self.cued("one"), at: 0).word == "available")
        #expect(desk.board.stream(Sample.stream)?.breakCount == most)
        #expect(desk.board.isRetired(Sample.key("x1")))
        #expect(!desk.board.isRetired(Sample.key("x2")))
        #expect(!desk.board.isRetired(Sample.key("x0")), "it is over last, though it was published first")
        #expect(desk.ask(self.cued("one"), at: 0).word == "unchanged")
        #expect(desk.board.stream(Sample.stream)?.breakCount == most, "a repeat makes no room")
        #expect(desk.ask(self.cued("two"), at: 0).word == "available")
        #expect(desk.board.isRetired(Sample.key("x2")))
        #expect(desk.board.stream(Sample.stream)?.breakCount == most)
    }

    @Test func `a stream that is not full keeps one more`() {
        let breaks = (0..<5).map { Sample.record(UInt64($0), over: Sample.at(-100 + Double($0))) }
        var desk = Desk(Sample.board(breaks))
        _ = desk.ask(self.cued("one"), at: 0)
        #expect(desk.board.stream(Sample.stream)?.breakCount == 6)
    }

    @Test func `as many notices as can be recovered are remembered`() {
        var desk = Desk()
        _ = desk.ask(self.cued("b"), at: 0)
        for number in 1...BoardLimits.recoveryNoticesMax {
            // The break has 30 s already.
            let update = BroadcastRequest.Update(key: Sample.key("b"), duration: .seconds(30 + number))
            _ = desk.ask(.update(update), at: 1)
        }
        let stream = desk.board.stream(Sample.stream)
        #expect(stream?.recent.count == BoardLimits.recoveryNoticesMax)
        #expect(stream?.recent.first?.position.sequence == 2)
        #expect(stream?.recent.last?.position.sequence == UInt64(BoardLimits.recoveryNoticesMax) + 1)
    }

    @Test func `only the essentials are kept when no listener can ask, at the limit and past it`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        desk.tick(at: 12)
        let over = 50.0
        desk.runHousekeeping(at: over + Self.batchesWithin)
        let whole = try #require(desk["b1"])
        #expect(!whole.record.condensed)
        #expect(whole.encoded != nil)

        desk.runHousekeeping(at: over + Self.batchesWithin + 0.000_001)
        let condensed = try #require(desk["b1"])
        #expect(condensed.record.condensed)
        #expect(condensed.encoded == nil)
        #expect(condensed.record.advertisements == whole.record.advertisements.map(\.condensed))
        #expect(condensed.record.advertisements.map(\.id) == whole.record.advertisements.map(\.id))
        #expect(condensed.record.advertisements.allSatisfy { $0.trackers.isEmpty && $0.media.count == 1 })
        #expect(condensed.summary == whole.summary)
        #expect(desk.board == Board(epoch: Sample.epoch, try BoardRecord(decoding: desk.board.record.encoded())))

        // A repeat of the request is still known, and other content still a conflict.
        let now = over + Self.batchesWithin + 1
        #expect(desk.ask(.publish(Sample.publish()), at: now).word == "unchanged")
        #expect(desk.ask(.publish(Sample.publish(exact: true)), at: now).refusal?.status == .conflict)
        let other = Sample.publish(advertisements: Sample.advertisements([10, 10, 11]))
        #expect(desk.ask(.publish(other), at: now).refusal?.sentence.contains("advertisement ad2") == true)
    }

    @Test func `a break is forgotten when it cannot be acknowledged any more, and its id stays`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        desk.tick(at: 12)
        let over = 50.0
        let limit = over + Self.acknowledgeWithin
        desk.runHousekeeping(at: limit)
        #expect(desk["b1"] != nil)
        #expect(!desk.board.isRetired(Sample.key()))
        desk.runHousekeeping(at: limit + 0.000_001)
        #expect(desk["b1"] == nil)
        #expect(desk.board.isRetired(Sample.key()))
        #expect(!desk.board.isRetired(Sample.key("never")))

        let now = limit + 1
        let refusal = desk.ask(.publish(Sample.publish()), at: now).refusal
        #expect(refusal?.status == .conflict)
        #expect(refusal?.sentence == "The id b1 belonged to a break that is no longer kept; it stays reserved.")
        #expect(desk.ask(.cancel(Sample.key()), at: now).refusal?.status == .breakTooOld)
        #expect(desk.ask(.end(.init(key: Sample.key())), at: now).refusal?.status == .breakTooOld)
        #expect(desk.ask(.punch(.init(key: Sample.key())), at: now).refusal?.status == .breakTooOld)
    }

    @Test func `an open break is never forgotten, however old it is`() {
        var desk = Desk()
        // Cued, and no timer ever ran.
        _ = desk.ask(self.cued("old"), at: 0)
        desk.runHousekeeping(at: 100_000 + Self.acknowledgeWithin)
        #expect(desk["old"] != nil)
        #expect(desk["old"]?.record.condensed == false)
    }

    @Test func `a pre-stream break cannot end before it was published`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: nil, preStream: true)), at: 100)
        let early = BroadcastRequest.End(key: Sample.key(), at: Timestamp(microseconds: .min))
        #expect(desk.ask(.end(early), at: 101).refusal?.status == .invalid)
        #expect(
            desk.ask(.end(.init(key: Sample.key(), at: Sample.at(99.999_999))), at: 101).refusal?.status == .invalid
        )
        #expect(desk.ask(.end(.init(key: Sample.key(), at: Sample.at(100))), at: 101).word == "ended")
        #expect(desk["b1"]?.state(at: Sample.at(101)) == .complete)
    }
}

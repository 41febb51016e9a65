// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The kept data is bounded, and removed by the log's own time.
@Suite(.suiteLimit)
struct BoardGrowthTests {
    private static let acknowledgeWithin = BoardLimits.acknowledgeWithin.inSeconds

    private func cued(_ id: String, of stream: StreamID = Sample.stream) -> BroadcastRequest.Kind {
        .publish(Sample.publish(id, of: stream, start: nil, advertisements: Sample.advertisements([1])))
    }

    @Test func `the board is bounded in bytes, at the limit and past it`() throws {
        var one = Desk()
        _ = one.ask(self.cued("b1"), at: 0)
        let first = one.board.bytes
        _ = one.ask(self.cued("b2"), at: 0)
        let second = one.board.bytes - first
        #expect(second > BoardLimits.breakBytes)
        // There is room for exactly two, but for the notice of the second.
        let limit = one.board.bytes - BoardLimits.noticeBytes
        for (bytesMax, word) in [(limit, "available"), (limit - 1, "LIMIT_REACHED")] {
            var desk = Desk(Board(epoch: Sample.epoch, bytesMax: bytesMax))
            #expect(desk.ask(self.cued("b1"), at: 0).word == "available")
            #expect(desk.ask(self.cued("b2"), at: 0).word == word)
            #expect(desk.ask(self.cued("b1"), at: 0).word == "unchanged", "a repeat takes no room")
        }
        var full = Desk(Board(epoch: Sample.epoch, bytesMax: first))
        #expect(full.ask(self.cued("b1"), at: 0).word == "available")
        let refusal = full.ask(self.cued("b2"), at: 0).refusal
        #expect(refusal == .boardFull())
        #expect(refusal?.sentence.contains("boardBytesMax") == true)
        let others = full.ask(self.cued("b1", of: Sample.stream("radio2")), at: 0)
        #expect(others.refusal == .boardFull())
        #expect(full.board.streamCount == 1)
        // What is there goes on, and makes room.
        #expect(full.ask(.cancel(Sample.key("b1")), at: 1).word == "cancelled")
    }

    @Test func `advertisements that grow are bounded too`() {
        var desk = Desk()
        _ = desk.ask(
            .publish(Sample.publish(start: .after(.seconds(100)), advertisements: Sample.advertisements([1]))),
            at: 0
        )
        var full = Desk(Board(epoch: Sample.epoch, bytesMax: desk.board.bytes))
        _ = full.ask(
            .publish(Sample.publish(start: .after(.seconds(100)), advertisements: Sample.advertisements([1]))),
            at: 0
        )
        let more = BroadcastRequest.Update(key: Sample.key(), advertisements: Sample.advertisements([1, 1, 1, 1]))
        #expect(full.ask(.update(more), at: 1).refusal == .boardFull())
        #expect(desk.ask(.update(more), at: 1).word == "silently")
    }

    @Test func `a cancelled break keeps only its essentials after the next housekeeping`() throws {
        var desk = Desk()
        let heavy = Sample.advertisements(Array(repeating: 1, count: 30))
        _ = desk.ask(.publish(Sample.publish("seed", start: .now)), at: 0)
        let before = desk.board.bytes
        for number in 0..<100 {
            let publish = Sample.publish("b\(number)", start: .after(.seconds(1_000)), advertisements: heavy)
            #expect(desk.ask(.publish(publish), at: 1).word == "silently")
            #expect(desk.ask(.cancel(Sample.key("b\(number)")), at: 2).word == "silently")
        }
        let full = desk.board.bytes - before
        desk.append([BreakEntry(at: Sample.at(3), kind: .housekeeping(Sample.at(3)))])
        #expect(desk["b7"]?.record.condensed == true)
        #expect(desk["b7"]?.encoded == nil)
        #expect((desk.board.bytes - before) * 3 < full * 2)
        #expect(
            desk.ask(.publish(Sample.publish("b7", start: .after(.seconds(1_000)), advertisements: heavy)), at: 4).word
                == "unchanged"
        )
        desk.runHousekeeping(at: 10 + Self.acknowledgeWithin)
        #expect(desk["b7"] == nil)
    }

    @Test func `one record lets go of a bounded number of breaks, and says that there are more`() throws {
        let most = BoardLimits.housekeepingBreaksMax
        let breaks = (0...most)
            .map { Sample.record(UInt64($0), over: Sample.at(-100 + Double($0) / 100), condensed: false) }
        var desk = Desk(Sample.board(breaks))
        let time = BoardLimits.batchesWithin.inSeconds + 100
        for _ in 0..<3 where desk.board.retentionTime < Sample.at(time - 1) - BoardLimits.retentionStepMax {
            desk.append([BreakEntry(at: Sample.at(0), kind: .housekeeping(Sample.at(time)))])
        }
        guard
            case .housekept(let done) =
                desk.append([BreakEntry(at: Sample.at(time), kind: .housekeeping(Sample.at(time)))])[0]
        else { return #expect(Bool(false)) }
        #expect(done.condensed + done.retired == most)
        #expect(done.hasMore)
        desk.runHousekeeping(at: time)
        #expect(desk.board.keys.allSatisfy { desk.board[$0]?.record.condensed == true })
    }

    @Test func `a stream without breaks is let go of, and goes on above what it had when it comes back`() throws {
        var desk = Desk()
        let other = Sample.stream("radio2")
        for number in 0..<5 {
            let (at, id) = (Double(number) * 100, "b\(number)")
            _ = desk.ask(.publish(Sample.publish(id, start: .now)), at: at)
            if number == 0 { _ = desk.ask(.publish(Sample.publish(id, of: other, start: .now)), at: at) }
        }
        let (mine, theirs) = (desk.board.position(of: Sample.stream), desk.board.position(of: other))
        #expect(mine.sequence == 5 && theirs.sequence == 1)
        desk.runHousekeeping(at: 10_000 + Self.acknowledgeWithin)
        #expect(desk.board.streamCount == 0)
        #expect(desk.board.keys.isEmpty)
        #expect(desk.board.bytes < 1_000)
        #expect(desk.board.retired.count == 6)
        // Its names stay reserved, for every request.
        let now = 10_001 + Self.acknowledgeWithin
        #expect(desk.ask(.publish(Sample.publish("b3", start: .now)), at: now).refusal?.status == .conflict)
        #expect(desk.ask(.cancel(Sample.key("b3")), at: now).refusal?.status == .breakTooOld)
        #expect(desk.ask(.cancel(Sample.key("other")), at: now).refusal?.status == .notFound)
        #expect(desk.board.streamCount == 0)
        // No answer says that nothing was missed while something was.
        func recovery(_ stream: StreamID, _ last: Position?) -> Recovery {
            desk.board.streamOrNew(stream)
                .recovery(from: last, epoch: Sample.epoch, at: Sample.at(now), delayMax: .zero)
        }
        #expect(desk.board.position(of: other).sequence == 5)
        #expect(recovery(Sample.stream, mine) == .current)
        #expect(recovery(other, theirs) == .snapshot([]))
        #expect(
            desk.ask(.publish(Sample.publish("new", of: other, start: .now)), at: now).notice?.position.sequence == 6
        )
        #expect(recovery(other, theirs) != .current)
        guard case .snapshot = recovery(other, theirs) else {
            return #expect(Bool(false), "an old position is no position")
        }
        guard case .missed(let notices) = recovery(other, Position(epoch: Sample.epoch, sequence: 5)) else {
            return #expect(Bool(false), "who was told where it begins misses one notice")
        }
        #expect(notices.map(\.position.sequence) == [6])
        let board = Board(epoch: Sample.epoch, try BoardRecord(decoding: desk.board.record.encoded()))
        #expect(board == desk.board)
    }

    @Test func `streams that were let go of make room for others`() {
        var desk = Desk()
        for number in 0..<50 { _ = desk.ask(self.cued("b", of: Sample.stream("s\(number)")), at: 0) }
        desk.tick(at: 2_000)
        desk.runHousekeeping(at: 4_000 + Self.acknowledgeWithin)
        #expect(desk.board.streamCount == 0)
        #expect(
            desk.ask(self.cued("c", of: Sample.stream("s1")), at: 4_001 + Self.acknowledgeWithin).word == "available"
        )
        #expect(desk.board.streamCount == 1)
    }

    @Test func `pages of breaks go through all of them in order, whatever is kept`() {
        var desk = Desk()
        for number in 0..<30 {
            let stream = Sample.stream("s\(number % 4)")
            _ = desk.ask(self.cued("b\(number)", of: stream), at: Double(number))
        }
        let all = desk.board.sortedStreams.flatMap(\.sortedBreaks)
        var seen: [Break] = []
        var mark: BreakMark?
        while true {
            var page: [Break] = []
            desk.board.scan(after: mark) { each in
                page.append(each)
                return page.count < 7
            }
            guard let last = page.last else { break }
            seen += page
            mark = BreakMark(last)
        }
        #expect(seen == all)
        var ofOne: [Break] = []
        desk.board.scan(of: Sample.stream("s2"), after: nil) { each in
            ofOne.append(each)
            return true
        }
        #expect(ofOne == all.filter { $0.key.stream == Sample.stream("s2") })
    }
}

/// The queue of timers against all that waits.
@Suite(.suiteLimit)
struct TimerQueueTests {
    @Test(arguments: 0..<6)
    func `it has what a board made anew has, however records come back`(round: Int) throws {
        var broadcasters = RandomBroadcasters(for: "\(#function)\(round)")
        var desk = Desk()
        let timers = BreakTimers(policy: BreakPolicy())
        var queue = TimerQueue(desk.board)
        var lost: [BreakEntry] = []
        for _ in 0..<300 {
            broadcasters.pass()
            let now = broadcasters.now
            let whole = timers.due(on: desk.board, at: now) { _ in 0 }
            if lost.isEmpty {
                try #require(queue.next == TimerQueue(desk.board).next)
                try #require(queue.count == desk.board.keys.count { desk.board[$0]?.timer != nil })
            }
            let due = queue.due(on: desk.board, at: now, timers: timers) { _ in 0 }
            if lost.isEmpty { try #require(due == whole.entries) }
            if broadcasters.generator.number(0...3) == 0 {
                // The log did not take them: they wait as before.
                lost += due
            } else {
                for result in desk.append(due + lost) { Self.note(result, &queue) }
                lost = []
            }
            if broadcasters.generator.bool() {
                for entry in lost { if let each = entry.key.flatMap({ desk.board[$0] }) { queue.note(each) } }
                lost = []
            }
            if case .recorded(let result) = desk.ask(broadcasters.request(), at: now) { Self.note(result, &queue) }
            try #require(queue.entryCount <= 2 * queue.count + 64)
        }
    }

    private static func note(_ result: EntryResult, _ queue: inout TimerQueue) {
        if case .changed(let each, _) = result { queue.note(each) }
        if case .unchanged(let each) = result { queue.note(each) }
    }

    @Test func `repeated changes leave no heap of garbage`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: .at(Sample.at(1_000)))), at: 0)
        var queue = TimerQueue(desk.board)
        for number in 0..<5_000 {
            let update = BroadcastRequest.Update(
                key: Sample.key(),
                start: .at(Sample.at(1_001 + Double(number % 1_000)))
            )
            if case .recorded(let result) = desk.ask(.update(update), at: 1) { Self.note(result, &queue) }
            #expect(queue.entryCount <= 66)
        }
        #expect(queue.count == 1)
    }
}

/// A board is the same from the parts of its snapshot as from all records.
@Suite(.suiteLimit)
struct BoardPartsTests {
    /// A store of parts in a dictionary.
    private final class Parts {
        var kept: [String: [UInt8]] = [:]
        var offset: UInt64 = 0
        var portions = 0
        var partsWritten = 0

        func save(_ portion: SnapshotPortion) {
            for part in portion.parts { self.kept[part.key] = part.bytes }
            for key in portion.removed { self.kept[key] = nil }
            self.partsWritten += portion.parts.count + portion.removed.count
            self.portions += 1
            self.offset = portion.offset
        }

        func board() throws -> Board {
            var loader = BoardLoader(epoch: Sample.epoch, names: SipHash(key: 0, 0))
            for (_, bytes) in self.kept.sorted(by: { $0.key < $1.key }) {
                try loader.read(BoardRecord(decoding: bytes))
            }
            return loader.finish(at: self.offset)
        }
    }

    @Test(arguments: 0..<4)
    func `parts written now and then come to the board, and the fold goes on from them`(round: Int) async throws {
        var broadcasters = RandomBroadcasters(for: "\(#function)\(round)")
        var desk = Desk()
        let parts = Parts()
        var changes = BoardChanges()
        var changing = Board(epoch: Sample.epoch)
        var applied = 0
        for step in 0..<250 {
            broadcasters.pass()
            desk.tick(at: broadcasters.now)
            _ = desk.ask(broadcasters.request(), at: broadcasters.now)
            // Time passes quickly, so that much is condensed, retired and let go of.
            if step % 9 == 0 {
                let time = desk.board.retentionTime + .seconds(3_600 * Int64(broadcasters.generator.number(0...30)))
                for _ in 0..<30 { desk.append([BreakEntry(at: broadcasters.now, kind: .housekeeping(time))]) }
            }
            guard broadcasters.generator.number(0...7) == 0 else { continue }
            for group in desk.log.dropFirst(applied) {
                _ = changing.apply(group, offset: changing.offset + 1)
                changes.formUnion(changing.takeChanges())
            }
            applied = desk.log.count
            try #require(changing == desk.board)
            await BoardParts.write(
                changes,
                of: changing,
                bytesMax: broadcasters.generator.pick([1, 1_000, 1_000_000]),
                partsMax: broadcasters.generator.pick([1, 3, 1_000])
            ) { portion in parts.save(portion) }
            changes = BoardChanges()
            let loaded = try parts.board()
            try #require(loaded == desk.board, "CUECAST_SEED=\(SeededGenerator.seed) step \(step)")
            if broadcasters.generator.bool() { changing = loaded }
        }
        #expect(parts.portions > 10)
    }

    @Test func `only what changed is written again`() async throws {
        let breaks = (0..<2_000)
            .map { Sample.record(UInt64($0), over: Sample.at(-600_000 + Double($0)), condensed: true) }
        var desk = Desk(Sample.board(breaks))
        var board = desk.board
        _ = board.takeChanges()
        for group in 0..<3 {
            _ = desk.ask(.publish(Sample.publish("new\(group)", start: .at(Sample.at(Double(group) * 100)))), at: 0)
        }
        for group in desk.log { _ = board.apply(group, offset: board.offset + 1) }
        let parts = Parts()
        await BoardParts.write(board.takeChanges(), of: board, bytesMax: 1_000_000, partsMax: 1_000) {
            parts.save($0)
        }
        #expect(parts.partsWritten == 5, "the board's, the stream's, and three breaks'")
    }

    @Test func `parts that do not go together are refused`() throws {
        let record = Sample.board([Sample.record(1, over: Sample.at(0))]).record
        var loader = BoardLoader(epoch: Sample.epoch, names: SipHash(key: 0, 0))
        #expect(throws: WireError.self) { try loader.read(BoardRecord(breaks: record.breaks)) }
        try loader.read(record)
        #expect(throws: WireError.self) { try loader.read(record) }
        #expect(throws: WireError.self) { try loader.read(BoardRecord(streams: record.streams)) }
        #expect(throws: WireError.self) { try loader.read(BoardRecord(breaks: record.breaks)) }
    }
}

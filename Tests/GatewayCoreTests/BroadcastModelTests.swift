// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Random broadcasters ask the gateway and a plain model of it the same things.
@Suite(.suiteLimit)
struct BroadcastModelTests {
    @Test(arguments: 0..<12)
    func `gateway and model agree on every answer, state and notice`(round: Int) throws {
        var broadcasters = RandomBroadcasters(for: "\(#function)\(round)")
        var desk = Desk()
        var model = ModelGateway()
        if round % 3 == 0 {
            desk.planner.policy.leadTimeMin = .seconds(1)
            model.leadTimeMin = 1_000_000
        }
        var words: Set<String> = []
        for step in 0..<120 {
            broadcasters.pass()
            let now = broadcasters.now
            // Timers are late at times; requests come in between.
            if broadcasters.generator.number(0...2) > 0 {
                desk.tick(at: now)
                model.tick(at: now.microseconds)
            }
            let request = broadcasters.request { [board = desk.board] in board[$0]?.record.start }
            let known = request.key.flatMap { desk.board[$0]?.record.revision } ?? 1
            let revision = broadcasters.generator.pick([nil, nil, nil, known, known, known + 1, max(known, 2) - 1])
            let word = desk.ask(request, expecting: revision, at: now).word
            words.insert(word)
            let said =
                "CUECAST_SEED=\(SeededGenerator.seed) round \(round) step \(step) at \(now): \(request) expecting \(revision.map(String.init) ?? "any")"
            try #require(word == model.ask(request, expecting: revision, at: now.microseconds), "\(said)")
            try self.compare(desk, model, at: now, said)
        }
        #expect(words.count > 5, "a history of much the same tests nothing")
    }

    private func compare(_ desk: Desk, _ model: ModelGateway, at now: Timestamp, _ said: String) throws {
        try #require(
            desk.notices.map {
                ModelGateway.Sent(
                    stream: $0.stream.description,
                    kind: "\($0.notice.kind)",
                    id: $0.notice.breakID?.description ?? "",
                    sequence: Int($0.notice.position.sequence)
                )
            } == model.sent,
            "\(said)"
        )
        var kept = 0
        for (name, breaks) in model.streams {
            let stream = Sample.stream(name)
            try #require(desk.board.position(of: stream).sequence == UInt64(model.sequence(of: name)), "\(said)")
            for expected in breaks {
                let each = try #require(desk.board[Sample.key(expected.id, of: stream)], "\(said)")
                try #require(each.state(at: now).name == expected.state(at: now.microseconds), "\(said)")
                try #require(each.record.start?.microseconds == expected.start, "\(said)")
                try #require(each.end?.microseconds == expected.end, "\(said)")
                try #require(each.record.endMode == expected.endMode, "\(said)")
                try #require(each.record.revision == expected.revision, "\(said)")
                try #require(each.record.advertisements == expected.advertisements, "\(said)")
                try #require(each.encoded == [EncodedAdvertisements(expected.advertisements)], "\(said)")
            }
            kept += breaks.count
            // Whatever the model thinks: a break can be played, or its state says that it cannot.
            for each in breaks.compactMap({ desk.board[Sample.key($0.id, of: stream)] }) where !each.isOver(at: now) {
                try #require(each.lasting != .zero, "\(said)")
                if each.record.phase == .announced {
                    try #require(each.record.lastNotice.map { $0.duration != .zero } ?? false, "\(said)")
                    // Of an exact break that was ended early there may be nothing left that fits.
                    let isCut = each.exact && each.record.ended != nil
                    try #require(!each.playableSteps.isEmpty || isCut, "\(said)")
                }
                if let start = each.record.start, let end = each.end {
                    try #require(start < end, "\(said)")
                    let most = each.record.duration ?? each.record.publish.safetyDuration
                    try #require(end - start <= most, "\(said)")
                    // Also after the timer has been late: it is announced, or expires.
                    if each.record.phase == .scheduled { try #require(each.timer.map { $0 < end } ?? false, "\(said)") }
                }
            }
            // No two breaks of a stream hold the same time.
            let intervals = breaks.compactMap { desk.board[Sample.key($0.id, of: stream)]?.interval }
                .sorted { $0.lowerBound < $1.lowerBound }
            for (one, next) in zip(intervals, intervals.dropFirst()) {
                try #require(one.upperBound <= next.lowerBound, "\(said)")
            }
        }
        try #require(desk.board.keys.count == kept, "\(said)")
    }
}

/// The board is a fold over the log, whatever way it is read.
@Suite(.suiteLimit)
struct BoardFoldTests {
    /// A log of some streams' history, with groups of several entries.
    private static func history(_ test: String) -> (desk: Desk, now: Timestamp) {
        var broadcasters = RandomBroadcasters(for: test)
        var desk = Desk()
        for _ in 0..<120 {
            broadcasters.pass()
            desk.tick(at: broadcasters.now)
            _ = desk.ask(broadcasters.request(), at: broadcasters.now)
        }
        return (desk, broadcasters.now)
    }

    private static func fold(_ log: some Sequence<BreakGroup>, into board: inout Board) -> [EntryResult] {
        log.flatMap { board.apply($0, offset: board.offset + 1) }
    }

    @Test func `the same log gives the same board, with a snapshot at any offset`() throws {
        let (desk, _) = Self.history(#function)
        for offset in 0...desk.log.count {
            var first = Board(epoch: Sample.epoch)
            _ = Self.fold(desk.log.prefix(offset), into: &first)
            let snapshot = first.record.encoded()
            var second = Board(epoch: Sample.epoch, try BoardRecord(decoding: snapshot))
            try #require(second.bytes == first.bytes)
            try #require(second == first, "CUECAST_SEED=\(SeededGenerator.seed) offset \(offset)")
            try #require(second.record.encoded() == snapshot)
            guard offset % 7 == 0 else { continue }
            let (one, other) = (
                Self.fold(desk.log.dropFirst(offset), into: &first),
                Self.fold(desk.log.dropFirst(offset), into: &second)
            )
            try #require(one == other, "CUECAST_SEED=\(SeededGenerator.seed) offset \(offset)")
            try #require(first == desk.board)
            try #require(second == desk.board)
        }
    }

    @Test func `sequences have no gap and every notice has the next one`() {
        let (desk, _) = Self.history(#function)
        var last: [StreamID: UInt64] = [:]
        #expect(desk.notices.count > 5)
        for each in desk.notices {
            #expect(each.notice.position.epoch == Sample.epoch)
            #expect(each.notice.position.sequence == last[each.stream, default: 0] + 1)
            last[each.stream] = each.notice.position.sequence
        }
        #expect(desk.board.sequences.filter { $0.value > 0 } == last)
    }

    @Test func `the same entries in groups of another size give the same positions`() throws {
        let (desk, _) = Self.history(#function)
        let entries = desk.log.flatMap(\.entries)
        for size in [2, 7, 100, BreakGroup.groupEntriesMax] {
            var board = Board(epoch: Sample.epoch)
            var notices: [Notice] = []
            var numbers: [BreakKey: BreakNumber] = [:]
            for start in stride(from: 0, to: entries.count, by: size) {
                // A timer's entry names the break by number, and numbers follow from the groups.
                let group = entries[start..<min(start + size, entries.count)].enumerated()
                    .map { index, entry in
                        if case .publish(let publish) = entry.kind {
                            numbers[publish.request.key] = BreakGroup.breakNumber(
                                offset: board.offset + 1,
                                index: index
                            )
                        }
                        return Self.renumber(entry, as: numbers)
                    }
                for case .changed(_, let notice?) in board.apply(BreakGroup(entries: group), offset: board.offset + 1) {
                    notices.append(notice)
                }
            }
            try #require(notices.count == desk.notices.count)
            #expect(notices.map(\.position) == desk.notices.map(\.notice.position))
            #expect(notices == desk.notices.map(\.notice))
            #expect(board.sequences == desk.board.sequences)
        }
    }

    private static func renumber(_ entry: BreakEntry, as numbers: [BreakKey: BreakNumber]) -> BreakEntry {
        guard let number = entry.key.flatMap({ numbers[$0] }) else { return entry }
        var entry = entry
        switch entry.kind {
        case .announce(let key, _, let window): entry.kind = .announce(key, number, window: window)
        case .expire(let key, _): entry.kind = .expire(key, number)
        default: break
        }
        return entry
    }

    @Test func `a snapshot of an earlier epoch counts as read in the new one`() throws {
        let (desk, now) = Self.history(#function)
        let record = try BoardRecord(decoding: desk.board.record.encoded())
        let restored = Board(epoch: 0xF, record)
        var read = Board(epoch: 0xF)
        _ = Self.fold(desk.log, into: &read)
        #expect(restored == read)
        let stream = try #require(restored.stream(Sample.stream))
        #expect(stream.recent.suffix(.max).allSatisfy { $0.position.epoch == 0xF })
        let position = Position(epoch: Sample.epoch, sequence: stream.sequence)
        guard
            case .snapshot(let notices) = stream.recovery(
                from: position,
                epoch: 0xF,
                at: now,
                delayMax: .seconds(3_600)
            )
        else {
            Issue.record("a position of another epoch is not comparable")
            return
        }
        #expect(notices.allSatisfy { $0.position.epoch == 0xF })
    }

    @Test func `a group of another offset is our mistake`() async {
        await #expect(processExitsWith: .failure) {
            var board = Board(epoch: 1)
            _ = board.apply(BreakGroup(entries: []), offset: 2)
        }
    }
}

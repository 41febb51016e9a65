// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// A publication of a break that signals opened.
@Suite(.suiteLimit)
struct JoiningTests {
    private static func noon(
        _ id: String = "noon",
        at start: Double = 100,
        duration: Duration? = .seconds(30),
        _ seconds: [Double] = [5, 5]
    ) -> BroadcastRequest.Kind {
        .publish(
            Sample.publish(
                id,
                start: .at(Sample.at(start)),
                duration: duration,
                advertisements: Sample.advertisements(seconds)
            )
        )
    }

    /// A desk with a break that a signal opened and a broadcaster published as `noon`.
    private static func joined() throws -> (desk: Desk, opened: Break) {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 100, lasting: 40), at: 1)
        #expect(desk.ask(Self.noon(at: 101), at: 2).word == "silently")
        return (desk, try #require(desk.cued.first))
    }

    @Test func `a publication joins the break that a signal opened`() throws {
        let (desk, each) = try Self.joined()
        #expect(desk.cued.count == 1)
        #expect(each.key.id.description.hasPrefix("cue-"))
        #expect(each.record.start == Sample.at(101) && each.end == Sample.at(131))
        #expect(each.record.advertisements == Sample.advertisements([5, 5]))
        #expect(each.record.revision == 2 && each.record.signals?.opened == false)
        #expect(each.info(at: Sample.at(2)).publishedAs == Sample.id("noon"))
        #expect(desk.board.known(Sample.key("noon")) == each)
        #expect(desk["noon"] == nil, "listeners know one id only")
    }

    @Test func `a broadcaster names the break by either id`() throws {
        let (start, opened) = try Self.joined()
        for key in [Sample.key("noon"), opened.key] {
            var desk = start
            #expect(desk.ask(.update(.init(key: key, duration: .seconds(20))), expecting: 2, at: 3).word == "silently")
            let postpone = BroadcastRequest.Kind.postpone(.init(key: key, by: .seconds(5)))
            #expect(desk.ask(postpone, expecting: 2, at: 3).word == "REVISION_CONFLICT")
            #expect(desk.ask(postpone, expecting: 3, at: 3).word == "silently")
            #expect(desk.cued[0].record.start == Sample.at(106) && desk.cued[0].end == Sample.at(126))
            let list = desk.ask(.list(.init(stream: Sample.stream, id: key.id)), at: 3)
            #expect(list == .answered(.list([desk.cued[0].info(at: Sample.at(3))], after: [])))
            desk.tick(at: 107)
            #expect(desk.ask(.end(.init(key: key)), at: 110).word == "ended")
            #expect(desk.cued[0].end == Sample.at(110))
            var other = start
            #expect(other.ask(.cancel(key), at: 3).word == "silently")
            #expect(other.cued[0].state(at: Sample.at(3)) == .cancelled)
        }
    }

    @Test func `the same publication is the same break, and another one is not`() throws {
        var (desk, _) = try Self.joined()
        #expect(desk.ask(Self.noon(at: 101), at: 3).word == "unchanged")
        #expect(desk.ask(Self.noon(at: 101), expecting: ExpectedRevision.absent, at: 3).word == "REVISION_CONFLICT")
        let other = desk.ask(Self.noon(at: 101, [5]), at: 3).refusal
        #expect(other?.sentence.contains("another list of advertisements") == true)
        #expect(desk.ask(Self.noon("eve", at: 101), at: 3).word == "BREAK_OVERLAP")
        #expect(desk.cued.count == 1)
    }

    @Test func `an expected revision is one of the publication, which was not there`() {
        for (expected, word) in [
            (ExpectedRevision.absent, "silently"), (1, "REVISION_CONFLICT"),
            (ExpectedRevision.any, "REVISION_CONFLICT"),
        ] {
            var desk = Cues.desk()
            _ = desk.ask(Cues.out(at: 100), at: 1)
            #expect(desk.ask(Self.noon(), expecting: expected, at: 2).word == word)
        }
    }

    @Test func `what listeners know stays`() throws {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 100, lasting: 40), at: 1)
        desk.tick(at: 95)
        let refusal = desk.ask(Self.noon(), at: 96).refusal
        #expect(refusal?.status == .breakOverlap)
        #expect(refusal?.sentence.contains("listeners know its ads") == true)
        // The same ads do not contradict it.
        var same = desk
        #expect(same.ask(Self.noon(at: 101, [10, 10, 10]), at: 96).word == "updated")
        #expect(same.cued[0].record.start == Sample.at(101) && same.cued[0].end == Sample.at(131))
        // Once it plays, its start stays; a publication that says what listeners know tells them nothing.
        desk.tick(at: 100)
        #expect(desk.ask(Self.noon(at: 101, duration: .seconds(40), [10, 10, 10]), at: 100.5).word == "silently")
        #expect(desk.cued[0].record.start == Sample.at(100) && desk.cued[0].record.alias == Sample.id("noon"))
    }

    @Test func `a publication close to its start announces it`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 100), at: 1)
        // The announcement was due 8 s before the start, and this start is earlier.
        #expect(desk.ask(Self.noon(at: 98), at: 91).word == "available")
        #expect(desk.cued[0].record.start == Sample.at(98))
    }

    @Test func `what has no start, or is not close, is a break of its own`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 100, lasting: 40), at: 1)
        #expect(desk.ask(.publish(Sample.publish("cued", start: nil)), at: 2).word == "available")
        #expect(desk.ask(Self.noon("early", at: 97.9, duration: .seconds(1)), at: 2).word == "silently")
        #expect(desk.cued.count == 3)
        #expect(desk.ask(Self.noon("late", at: 102.1), at: 2).word == "BREAK_OVERLAP")
    }

    @Test func `the tolerance is the one by which the break was opened`() {
        var policy = Cues.policy
        policy.rules[0].tolerance = .seconds(60)
        var desk = Cues.desk(policy)
        _ = desk.ask(Cues.out(at: 100), at: 1)
        desk.planner.cues = Cues.policy
        #expect(desk.ask(Self.noon(at: 160), at: 2).word == "silently")
        #expect(desk.cued.count == 1)
    }

    @Test func `signals that are taken back leave the published break`() throws {
        var (desk, _) = try Self.joined()
        #expect(desk.ask(Cues.cancel(), at: 3).word == "silently")
        #expect(desk.cued[0].state(at: Sample.at(3)) == .scheduled && desk.cued[0].end == Sample.at(131))
    }

    @Test func `both names are reserved once the break is kept no more`() throws {
        var (desk, opened) = try Self.joined()
        desk.tick(at: 140)
        desk.runHousekeeping(at: 200 + 9 * 86_400)
        #expect(desk.cued.isEmpty)
        for key in [opened.key, Sample.key("noon")] {
            #expect(desk.board.isRetired(key))
            #expect(desk.ask(.cancel(key), at: 800_000).word == "BREAK_TOO_OLD")
            let publish = Sample.publish(key.id.description, start: .after(.seconds(60)))
            #expect(desk.ask(.publish(publish), at: 800_000).word == "CONFLICT")
        }
    }

    @Test func `a break with a second name takes more room`() throws {
        let (_, each) = try Self.joined()
        var record = each.record
        record.alias = nil
        #expect(each.bytes == Break(record).bytes + BoardLimits.aliasBytes)
    }

    // MARK: - All orders

    private static func permutations<T>(_ list: [T]) -> [[T]] {
        guard let first = list.first else { return [[]] }
        return Self.permutations(Array(list.dropFirst()))
            .flatMap { rest in
                (0...rest.count)
                    .map { index in
                        var next = rest
                        next.insert(first, at: index)
                        return next
                    }
            }
    }

    /// One publication, and what each of up to three sources says about the same break.
    private static func sources(_ generator: inout SeededGenerator) -> [[BroadcastRequest.Kind]] {
        let duration = generator.maybe { Duration.seconds($0.number(5...120)) }
        var sources = [[Self.noon(at: 100 + Double(generator.number(0...2_000)) / 1_000, duration: duration)]]
        for source in ["encoder", "playlist", "radio"].prefix(generator.number(1...3)) {
            let start = 100 + Double(generator.number(0...2_000)) / 1_000
            var signals = [Cues.out(source, "7", at: start, lasting: generator.maybe { Double($0.number(20...90)) })]
            if generator.number(0...2) == 0 {
                signals.append(Cues.back(source, "7", at: start + Double(generator.number(10...100))))
            }
            if generator.number(0...3) == 0 { signals.append(Cues.cancel(source, "7")) }
            sources.append(signals)
        }
        return sources
    }

    /// The signals of all in a random order that keeps the order of each source.
    private static func merged(
        _ sources: [[BroadcastRequest.Kind]],
        _ generator: inout SeededGenerator
    ) -> [BroadcastRequest.Kind] {
        var (left, merged) = (sources, [BroadcastRequest.Kind]())
        while !left.isEmpty {
            let index = generator.number(0...left.count - 1)
            merged.append(left[index].removeFirst())
            if left[index].isEmpty { left.remove(at: index) }
        }
        return merged
    }

    /// What all orders must agree on.
    private struct Outcome: Equatable {
        let start: Timestamp?
        let end: Timestamp?
        let advertisements: [AdvertisementContent]
        let isOpenedBySignal: Bool?

        init(_ each: Break) {
            self.start = each.record.start
            self.end = each.end
            self.advertisements = each.record.advertisements
            self.isOpenedBySignal = each.record.signals?.opened
        }
    }

    @Test func `all orders give the same start, the same end and the same ads`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<80 {
            let sources = Self.sources(&generator)
            var orders = Self.permutations(sources).map { $0.flatMap(\.self) }
            orders += (0..<12).map { _ in Self.merged(sources, &generator) }
            var expected: Outcome?
            for order in orders {
                var desk = Cues.desk()
                for request in order { #expect(desk.ask(request, at: 1).refusal == nil) }
                let open = desk.cued.filter { !$0.isOver(at: Sample.at(1)) }
                try #require(open.count == 1)
                let found = Outcome(open[0])
                // Without a claim, it makes no difference whether there were signals.
                #expect(found.start == expected?.start ?? found.start)
                #expect(found.end == expected?.end ?? found.end)
                #expect(found.advertisements == expected?.advertisements ?? found.advertisements)
                #expect(found.isOpenedBySignal != true)
                #expect(desk.board.known(Sample.key("noon")) == open[0])
                let board = Board(epoch: Sample.epoch, try BoardRecord(decoding: desk.board.record.encoded()))
                #expect(board == desk.board)
                expected = found
            }
        }
    }
}

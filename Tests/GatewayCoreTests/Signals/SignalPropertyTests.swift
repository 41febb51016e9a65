// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// One break from many signals, in whatever order they come, and however often.
@Suite(.suiteLimit)
struct SignalPropertyTests {
    /// Signals of one break: each source says its OUT, and perhaps an IN behind it.
    private static func sources(_ generator: inout SeededGenerator) -> [[BroadcastRequest.Kind]] {
        let sources = ["encoder", "playlist", "radio", "studio"].prefix(generator.number(2...4))
        return sources.map { source in
            // All starts lie within the tolerance of each other.
            let start = 100 + Double(generator.number(0...2_000)) / 1_000
            let seconds = generator.maybe { Double($0.number(20...90)) }
            var signals = [Cues.out(source, "7", at: start, lasting: seconds)]
            if generator.number(0...2) == 0 {
                signals.append(Cues.back(source, "7", at: start + Double(generator.number(10...100))))
            }
            return signals
        }
    }

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

    @Test func `all orders give the same start and the same end`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<60 {
            let sources = Self.sources(&generator)
            var expected: [Timestamp?]?
            for order in Self.permutations(sources) {
                var desk = Cues.desk()
                for signal in order.flatMap(\.self) {
                    let reply = desk.ask(signal, at: 1)
                    #expect(reply.refusal == nil)
                }
                try #require(desk.cued.count == 1)
                let times = [desk.cued[0].record.start, desk.cued[0].end]
                #expect(times == expected ?? times)
                expected = times
            }
        }
    }

    /// The signals of all sources in a random order that keeps the order of each source.
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

    @Test func `before the start, signals that are taken back are as if they had never come`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<20 {
            var sources = Self.sources(&generator)
            let isTakenBack = sources.map { _ in generator.number(0...2) == 0 }
            let kept = zip(sources, isTakenBack).filter { !$1 }.flatMap { $0.0 }
            for index in sources.indices where isTakenBack[index] {
                sources[index].append(Cues.cancel(["encoder", "playlist", "radio", "studio"][index], "7"))
            }
            var expected = Cues.desk()
            for signal in kept { _ = expected.ask(signal, at: 1) }
            for _ in 0..<12 {
                var desk = Cues.desk()
                for signal in Self.merged(sources, &generator) { #expect(desk.ask(signal, at: 1).refusal == nil) }
                let open = desk.cued.filter { !$0.isOver(at: Sample.at(1)) }
                #expect(open.map(\.record.start) == expected.cued.map(\.record.start))
                #expect(open.map(\.end) == expected.cued.map(\.end))
            }
        }
    }

    /// Listeners were told of an end by then: nothing takes that back, so an order that ends the break at once is another one.
    @Test func `after the start, all orders of what is taken back that do not end the break give one end`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<60 {
            let sources = Self.sources(&generator)
            let names = ["encoder", "playlist", "radio", "studio"].prefix(sources.count)
            let cancels = names.filter { _ in generator.bool() }.map { Cues.cancel($0, "7") }
            let now = 103 + Double(generator.number(0...90))
            var ends: Set<Timestamp?> = []
            for order in Self.permutations(cancels) {
                var desk = Cues.desk()
                for signal in sources.flatMap(\.self) { _ = desk.ask(signal, at: 1) }
                desk.tick(at: 102)
                for signal in order { #expect(desk.ask(signal, at: now).refusal == nil) }
                try #require(desk.cued.count == 1)
                let end = desk.cued[0].end
                if end != Sample.at(now) { ends.insert(end) }
                guard desk.cued[0].isOver(at: Sample.at(now)) else { continue }
                let later = Cues.out("later", "7", at: 101, lasting: 300, programme: true)
                #expect(desk.ask(later, at: now).word == "unchanged")
                #expect(desk.cued.map(\.end) == [end], "what has ended stays so")
            }
            #expect(ends.count <= 1)
        }
    }

    @Test func `repeats change nothing, in any order`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<100 {
            var desk = Cues.desk()
            let signals = Self.sources(&generator).flatMap(\.self)
            for signal in signals { _ = desk.ask(signal, at: 1) }
            let (board, count) = (desk.board, desk.log.count)
            for _ in 0..<20 { #expect(desk.ask(generator.pick(signals), at: 2).word == "unchanged") }
            #expect(desk.log.count == count)
            #expect(desk.board == board)
        }
    }

    /// All sorts of signals and changes of lists, in a random order, while time passes.
    private static func history(_ generator: inout SeededGenerator) -> Desk {
        var desk = Cues.desk()
        var now = 10.0
        for _ in 0..<40 {
            now += Double(generator.pick([0, 0, 1, 3, 8, 20, 700]))
            desk.tick(at: now)
            let (source, event) = (generator.pick(["encoder", "playlist", "radio"]), generator.pick(["1", "2"]))
            switch generator.number(0...9) {
            case 0...4:
                let start = generator.maybe { now + Double($0.number(-3...40)) }
                let seconds = generator.maybe { Double($0.number(1...60)) }
                _ = desk.ask(Cues.out(source, event, at: start, lasting: seconds, programme: generator.bool()), at: now)
            case 5, 6:
                _ = desk.ask(
                    Cues.back(source, event, at: generator.maybe { now + Double($0.number(-5...40)) }),
                    at: now
                )
            case 7: _ = desk.ask(Cues.cancel(source, event), at: now)
            case 8:
                _ = desk.ask(
                    .putList(
                        .init(name: Cues.list, advertisements: Sample.advertisements([generator.pick([5, 6, 7])]))
                    ),
                    at: now
                )
            default:
                let name = generator.pick(["other", "more"])
                let list = must { () throws(WireError) in try AdListName(name) }
                _ = desk.ask(
                    generator.bool()
                        ? .removeList(list) : .putList(.init(name: list, advertisements: Sample.advertisements([3]))),
                    at: now
                )
            }
        }
        return desk
    }

    @Test func `a snapshot between any two entries gives the same board`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<10 {
            let desk = Self.history(&generator)
            for place in 0...desk.log.count {
                var board = Board(epoch: Sample.epoch)
                for (index, group) in desk.log.enumerated() {
                    if index == place {
                        board = Board(epoch: Sample.epoch, try BoardRecord(decoding: board.record.encoded()))
                    }
                    _ = board.apply(group, offset: UInt64(index) + 1)
                }
                #expect(board == desk.board)
                #expect(board.lists == desk.board.lists)
            }
        }
    }

    @Test func `intervals never overlap, whatever is signalled`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<40 {
            let desk = Self.history(&generator)
            let intervals = desk.cued.compactMap(\.interval).sorted { $0.lowerBound < $1.lowerBound }
            for (one, next) in zip(intervals, intervals.dropFirst()) {
                #expect(one.upperBound <= next.lowerBound)
            }
        }
    }
}

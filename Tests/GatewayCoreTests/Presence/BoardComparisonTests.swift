// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import HashTreeCollections
import TestSupport
import Testing

@testable import GatewayCore

/// Gateways compare their boards.
@Suite(.suiteLimit)
struct BoardComparisonTests {
    private func kept(_ offset: UInt64, _ streams: [String: UInt64]) -> BoardComparison.Kept {
        var tree: TreeDictionary<StreamID, UInt64> = [:]
        for (stream, hash) in streams { tree[Sample.stream(stream)] = hash }
        let digest = streams.reduce(UInt64(0)) { $0 &+ StableHash.hash([$1.key.utf8]) &* $1.value }
        return BoardComparison.Kept(offset: offset, digest: digest, streams: tree)
    }

    /// A beat of a gateway with such a comparison.
    private func beat(_ gateway: UInt64, _ comparison: inout BoardComparison) -> GatewayBeat {
        var beat = GatewayBeat(gateway: gateway, writer: gateway, number: 1, clock: Sample.at(0))
        beat.boards = comparison.marks
        beat.digests = comparison.portion()
        return beat
    }

    @Test func `boards that are the same are no difference, whichever records both know`() {
        var (one, other) = (BoardComparison(), BoardComparison())
        for offset in 1...9 as ClosedRange<UInt64> {
            one.made(self.kept(offset * 10, ["a": 1, "b": offset]))
            if offset % 2 == 1 { other.made(self.kept(offset * 10, ["a": 1, "b": offset])) }
            one.heard(self.beat(2, &other))
            other.heard(self.beat(1, &one))
            #expect(one.differences.isEmpty && other.differences.isEmpty)
            #expect(one.portion() == nil)
            #expect(one.marks.count <= BoardComparison.boardsKept)
        }
    }

    @Test func `boards that differ are told, with the first stream of which they do`() {
        for (mine, theirs, first) in [
            (["a": 1, "b": 2, "c": 3], ["a": 1, "b": 7, "c": 7], "b"), (["a": 1, "c": 3], ["a": 1, "b": 2], "b"),
            (["b": 2], ["a": 1, "b": 3], "a"),
        ] as [([String: UInt64], [String: UInt64], String)] {
            var (one, other) = (BoardComparison(), BoardComparison())
            one.made(self.kept(10, mine))
            other.made(self.kept(10, theirs))
            for _ in 0..<3 {
                one.heard(self.beat(2, &other))
                other.heard(self.beat(1, &one))
            }
            let stream = Sample.stream(first)
            #expect(one.differences == [.init(gateway: 2, offset: 10, stream: stream)])
            #expect(other.differences == [.init(gateway: 1, offset: 10, stream: stream)])
        }
    }

    @Test func `a difference that is not of a stream is told all the same`() {
        var one = BoardComparison()
        one.made(self.kept(10, ["a": 1]))
        var beat = GatewayBeat(gateway: 2, writer: 2, number: 1, clock: Sample.at(0))
        beat.boards = [.init(offset: 10, digest: 99)]
        one.heard(beat)
        #expect(one.differences == [.init(gateway: 2, offset: 10, stream: nil)])
    }

    @Test func `boards that have become the same, or a gateway that has gone, end the difference`() {
        var (one, other) = (BoardComparison(), BoardComparison())
        one.made(self.kept(10, ["a": 1]))
        other.made(self.kept(10, ["a": 2]))
        one.heard(self.beat(2, &other))
        #expect(one.differences.count == 1)
        one.made(self.kept(20, ["a": 3]))
        other.made(self.kept(20, ["a": 3]))
        one.heard(self.beat(2, &other))
        #expect(one.differences.isEmpty)
        #expect(one.portion() == nil)
        other.made(self.kept(30, ["a": 4]))
        one.made(self.kept(30, ["a": 5]))
        one.heard(self.beat(2, &other))
        #expect(one.differences.count == 1)
        one.drop(2)
        #expect(one.differences.isEmpty)
    }

    /// Beats are lost, and digests of one gateway are late.
    @Test func `of many streams the first is found, also where beats are lost and digests come late`() {
        for round in 0..<20 {
            var generator = SeededGenerator(for: "boards \(round)")
            var streams: [String: UInt64] = [:]
            for number in 0..<3_000 { streams["s\(10_000 + number)"] = generator.number(1...1_000) }
            var changed = streams
            let first = "s\(10_000 + Int.random(in: 0..<2_990, using: &generator))"
            changed[first] = 2_000
            changed["s12995"] = 2_000
            var (one, other) = (BoardComparison(), BoardComparison())
            for step in 1...60 as ClosedRange<UInt64> {
                if step % 12 == 1 { one.made(self.kept(step, streams)) }
                if step % 12 == 4 { other.made(self.kept(step - 3, changed)) }
                let (fromOther, fromOne) = (self.beat(2, &other), self.beat(1, &one))
                if step > 40 || generator.bool() { one.heard(fromOther) }
                if step > 40 || generator.bool() { other.heard(fromOne) }
            }
            #expect(one.differences.map(\.stream) == [Sample.stream(first)], "round \(round)")
            #expect(other.differences.map(\.stream) == [Sample.stream(first)], "round \(round)")
        }
    }
}

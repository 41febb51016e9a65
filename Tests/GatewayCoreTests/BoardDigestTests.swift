// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Boards are compared by numbers.
@Suite(.suiteLimit)
struct BoardDigestTests {
    /// A desk about which broadcasters asked all sorts of things, with a digest that went along.
    private func desk(_ test: String, steps: Int) -> (desk: Desk, digest: BoardDigest) {
        var broadcasters = RandomBroadcasters(for: test)
        var desk = Desk()
        var board = Board(epoch: Sample.epoch)
        var digest = BoardDigest(board)
        for step in 0..<steps {
            broadcasters.pass()
            _ = desk.ask(broadcasters.request(), at: broadcasters.now)
            desk.tick(at: broadcasters.now)
            if step % 40 == 39 {
                desk.runHousekeeping(at: Double(step) * 40_000)
            }
            for group in desk.log[Int(board.offset)...] {
                _ = board.apply(group, offset: board.offset + 1)
                digest.update(board.takeChanges(), board)
            }
        }
        return (desk, digest)
    }

    @Test func `a digest that goes along comes to what one of the whole board comes to`() {
        for round in 0..<10 {
            let (desk, digest) = self.desk("digest \(round)", steps: 160)
            let whole = BoardDigest(desk.board)
            #expect(digest == whole)
            #expect(digest.value(of: desk.board) == whole.value(of: desk.board))
            #expect(digest.firstDifference(from: whole.streams) == nil)
        }
    }

    @Test func `a board that was kept and read again has the same digest`() throws {
        let (desk, digest) = self.desk("digest of a snapshot", steps: 100)
        let record = try BoardRecord(decoding: desk.board.record.encoded())
        for epoch in [Sample.epoch, Sample.epoch + 1] {
            let read = Board(epoch: epoch, record)
            #expect(BoardDigest(read).value(of: read) == digest.value(of: desk.board))
        }
    }

    @Test func `the first stream that differs is named`() {
        var (desk, other) = (Desk(), Desk())
        for stream in ["radio1", "radio2", "radio3"] {
            let publish = Sample.publish("b", of: Sample.stream(stream))
            _ = desk.ask(.publish(publish), at: 0)
            _ = other.ask(.publish(publish), at: 0)
        }
        #expect(BoardDigest(desk.board) == BoardDigest(other.board))
        _ = other.ask(.cancel(Sample.key("b", of: Sample.stream("radio3"))), at: 1)
        _ = other.ask(.cancel(Sample.key("b", of: Sample.stream("radio2"))), at: 1)
        let (one, two) = (BoardDigest(desk.board), BoardDigest(other.board))
        #expect(one.firstDifference(from: two.streams) == Sample.stream("radio2"))
        #expect(one.value(of: desk.board) != two.value(of: other.board))
        _ = other.ask(.publish(Sample.publish("b", of: Sample.stream("radio0"))), at: 1)
        #expect(one.firstDifference(from: BoardDigest(other.board).streams) == Sample.stream("radio0"))
    }

    @Test func `what belongs to no stream counts too`() {
        var (desk, other) = (Desk(), Desk())
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        _ = other.ask(.publish(Sample.publish()), at: 0)
        other.runHousekeeping(at: 3_000)
        let (one, two) = (BoardDigest(desk.board), BoardDigest(other.board))
        #expect(one.firstDifference(from: two.streams) == nil)
        #expect(one.value(of: desk.board) != two.value(of: other.board))
    }
}

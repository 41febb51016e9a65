// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import TestSupport
import Testing

/// Readers that are registered, join and read while the board and the feed go on, in every order.
@Suite(.suiteLimit)
struct NoticeFollowerTests {
    /// A reader and what it has.
    private struct Reader {
        var follower: NoticeFollower<UInt64>
        /// The head of its answer, once its join was decided; the answer comes later.
        var decided: UInt64?
        var isAnswered = false
        var heard: [UInt64] = []
    }

    @Test func `one that is handed over keeps its position, and gets nothing more here`() throws {
        var follower = NoticeFollower<UInt64>(waitingMax: 2)
        follower.noticed(4, 4)
        let early = follower.handOver()
        #expect(early == nil, "it has not joined")
        follower.joined(at: 3)
        follower.noticed(5, 5)
        let handedOver = follower.handOver()
        let (items, last) = try #require(handedOver)
        #expect(items == [4, 5] && last == 5)
        for sequence in 6...9 { follower.noticed(UInt64(sequence), UInt64(sequence)) }
        let (isRepeated, taken, again) = (follower.repeated { $0 }, follower.take(), follower.handOver())
        #expect(!isRepeated && taken.isEmpty)
        #expect(follower.end == nil && follower.last == 5 && !follower.hasWaiting)
        #expect(again == nil, "it is handed over once")
        follower.finish(.left)
        follower.finish(.gone)
        #expect(follower.end == .left && follower.last == nil)
        let late = follower.handOver()
        #expect(late == nil)
    }

    @Test func `a reader that registers before its join gets each notice above its head once, in order`() {
        var generator = SeededGenerator(for: "notice followers")
        var (early, late, repeats) = (0, 0, 0)
        for _ in 0..<2_000 {
            // Notices that are on the board, and those of them that the feed has brought.
            var (board, feed): (UInt64, UInt64) = (generator.number(0...3), 0)
            feed = generator.number(0...board)
            var readers: [Reader] = []

            func step(_ choice: Int, _ generator: inout SeededGenerator) {
                switch choice {
                case 0: board += 1
                case 1:
                    guard feed < board else { return }
                    feed += 1
                    for index in readers.indices { readers[index].follower.noticed(feed, feed) }
                case 2: readers.append(Reader(follower: NoticeFollower(waitingMax: 64)))
                default:
                    guard !readers.isEmpty else { return }
                    let index = Int.random(in: readers.indices, using: &generator)
                    if readers[index].decided == nil {
                        readers[index].decided = board
                    } else if !readers[index].isAnswered {
                        let head = readers[index].decided ?? 0
                        if feed > head { late += 1 }
                        if feed < head { early += 1 }
                        readers[index].follower.joined(at: head)
                        readers[index].isAnswered = true
                    } else if generator.bool() {
                        // A repeat of the position is 1,000 above the sequence that it states.
                        if readers[index].follower.repeated({ $0 + 1_000 }) { repeats += 1 }
                    } else {
                        readers[index].heard += readers[index].follower.take()
                    }
                }
            }

            for _ in 0..<generator.number(5...60) { step(Int.random(in: 0..<6, using: &generator), &generator) }
            while feed < board { step(1, &generator) }
            for index in readers.indices where readers[index].isAnswered {
                readers[index].heard += readers[index].follower.take()
                let head = readers[index].decided ?? 0
                let news = readers[index].heard.filter { $0 < 1_000 }
                #expect(news == (head < board ? Array(head + 1...board) : []))
                var last = head
                for each in readers[index].heard {
                    if each < 1_000 {
                        last = each
                    } else {
                        #expect(each - 1_000 == last, "a position it does not have")
                    }
                }
            }
        }
        #expect(early > 100 && late > 100 && repeats > 100)
    }

    @Test func `nothing is given before the join is answered`() {
        var follower = NoticeFollower<Int>(waitingMax: 4)
        follower.noticed(7, 7)
        #expect(!follower.hasWaiting)
        #expect(follower.take().isEmpty)
        #expect(!follower.repeated { Int($0) })
        follower.joined(at: 6)
        #expect(follower.take() == [7])
        #expect(follower.last == 7)
    }

    @Test(arguments: [true, false])
    func `as many wait as the limit says, and one more ends the reader`(isJoined: Bool) {
        var follower = NoticeFollower<Int>(waitingMax: 3)
        if isJoined { follower.joined(at: 0) }
        for sequence in 1...3 { follower.noticed(UInt64(sequence), sequence) }
        #expect(follower.end == nil)
        follower.noticed(4, 4)
        #expect(follower.end == .slow)
        #expect(follower.take().isEmpty)
        // The first reason stands, and nothing begins again.
        follower.finish(.gone)
        follower.joined(at: 0)
        #expect(follower.end == .slow)
        #expect(follower.last == nil)
    }

    @Test func `a position is repeated to those for whom nothing waits`() {
        var follower = NoticeFollower<String>(waitingMax: 3)
        follower.joined(at: 5)
        let first = follower.repeated { "head \($0)" }
        #expect(first)
        let second = follower.repeated { "head \($0)" }
        #expect(!second, "one waits already")
        follower.noticed(6, "notice 6")
        #expect(follower.take() == ["head 5", "notice 6"])
        follower.noticed(6, "again")
        #expect(follower.take().isEmpty)
    }
}

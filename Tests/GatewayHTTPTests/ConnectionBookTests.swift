// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing

@testable import GatewayHTTP

/// Which connection goes when there are too many.
@Suite(.suiteLimit)
struct ConnectionBookTests {
    /// A book that an expectation may change.
    private final class Shelf {
        private var book = ConnectionBook<Int>(connectionsMax: 3, answerBytesMax: 1_000)
        var count: Int { self.book.count }
        var bytesWaiting: Int { self.book.bytesWaiting }
        func mayOpen() -> Bool { self.book.mayOpen() }
        func opened(_ id: Int) -> [Int] { self.book.opened(id) }
        func began(_ id: Int) { self.book.began(id) }
        func answering(_ id: Int, bytes: Int) -> [Int] { self.book.answering(id, bytes: bytes) }
        func answered(_ id: Int, bytes: Int) -> [Int] { self.book.answered(id, bytes: bytes) }
    }

    private let book = Shelf()

    @Test func `at the limit none is closed, one past it the longest idle one`() {
        for id in 1...3 { #expect(self.book.opened(id) == []) }
        self.book.began(1)
        #expect(self.book.answering(1, bytes: 10) == [])
        #expect(self.book.answered(1, bytes: 10) == [])  // Idle again, and the newest of the idle now.
        #expect(self.book.opened(4) == [2])
        #expect(self.book.opened(5) == [3])
        #expect(self.book.count == 3)
    }

    @Test func `without idle ones, the one that has not read for longest is closed`() {
        for id in 1...3 {
            #expect(self.book.opened(id) == [])
            self.book.began(id)
        }
        #expect(self.book.answering(2, bytes: 10) == [])
        #expect(self.book.answering(1, bytes: 10) == [])
        #expect(self.book.mayOpen())
        #expect(self.book.opened(4) == [2])
        #expect(self.book.bytesWaiting == 10)
    }

    @Test func `a connection whose answer is being made is never given up`() {
        for id in 1...3 {
            #expect(self.book.opened(id) == [])
            self.book.began(id)
        }
        #expect(!self.book.mayOpen())
        // The first that has its answer makes room for the one that waits.
        #expect(self.book.answering(3, bytes: 10) == [])
        #expect(self.book.answered(3, bytes: 10) == [3])
        #expect(self.book.mayOpen())
    }

    @Test func `bytes at the limit may wait, one more closes who has not read for longest`() {
        for id in 1...3 {
            #expect(self.book.opened(id) == [])
            self.book.began(id)
        }
        #expect(self.book.answering(1, bytes: 400) == [])
        #expect(self.book.answering(2, bytes: 600) == [])
        #expect(self.book.answering(3, bytes: 1) == [1])
        #expect(self.book.bytesWaiting == 601)
        // A single answer may be larger: who asked for it is the only one left.
        #expect(self.book.answering(3, bytes: 2_000) == [2])
        #expect(self.book.bytesWaiting == 2_001)
    }

    @Test func `an answer to what cannot be understood leaves the connection idle`() {
        #expect(self.book.opened(1) == [])
        #expect(self.book.answered(1, bytes: 0) == [])
        #expect(self.book.opened(2) == [])
        #expect(self.book.opened(3) == [])
        #expect(self.book.opened(4) == [1])
    }

    /// Random lives of connections against what must hold after each step.
    @Test(arguments: 0..<50)
    func `whatever happens, the bounds hold and no connection is closed while its answer is made`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var book = ConnectionBook<Int>(connectionsMax: 8, answerBytesMax: 500)
        var working: [Int: Int] = [:]  // open connections: bytes of their answers, or -1 while idle, 0 while it is made
        var next = 0
        for _ in 0..<2_000 {
            var victims: [Int] = []
            let someone = working.keys.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where book.mayOpen():
                next += 1
                working[next] = -1
                victims = book.opened(next)
                #expect(!victims.contains(next))
            case 1:
                if let someone, working[someone] == -1 {
                    book.began(someone)
                    working[someone] = 0
                }
            case 2:
                if let someone, working[someone] == 0 {
                    let bytes = Int.random(in: 1...200, using: &random)
                    working[someone] = bytes
                    victims = book.answering(someone, bytes: bytes)
                }
            case 3:
                if let someone, let bytes = working[someone], bytes > 0 {
                    working[someone] = -1
                    victims = book.answered(someone, bytes: bytes)
                }
            default:
                if let someone, Int.random(in: 0..<10, using: &random) == 0 {
                    book.closed(someone)
                    working[someone] = nil
                }
            }
            for victim in victims { #expect(working.removeValue(forKey: victim) != 0, "it was worked for") }
            #expect(book.count == working.count)
            #expect(book.count <= 8)
            #expect(book.bytesWaiting == working.values.filter { $0 > 0 }.reduce(0, +))
            #expect(book.bytesWaiting <= 500)
        }
    }

    /// Random lives, with pieces of answers, second requests and connections that are gone, against the rule as it is said.
    @Test(arguments: 0..<20)
    func `the connection that waited for longest is closed, and old entries are removed`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) &+ 0xB00C)
        var (book, plain) = (ConnectionBook<Int>(connectionsMax: 12, answerBytesMax: 900), PlainBook())
        var next = 0
        for _ in 0..<5_000 {
            let bytes = Int.random(in: 0...150, using: &random)
            let id = Int.random(in: max(0, next - 30)...next, using: &random)
            var (victims, expected): ([Int], [Int]) = ([], [])
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1, 2:
                let may = book.mayOpen()
                #expect(may == plain.mayOpen())
                guard may else { continue }
                next += 1
                (victims, expected) = (book.opened(next), plain.opened(next))
            case 3, 4:
                book.began(id)
                plain.entries[id]?.pending += 1
            case 5, 6, 7: (victims, expected) = (book.answering(id, bytes: bytes), plain.answering(id, bytes: bytes))
            case 8:
                let sent = min(bytes, plain.entries[id]?.bytes ?? 0)
                book.sent(id, bytes: sent)
                plain.sent(id, bytes: sent)
            case 9, 10:
                let rest = plain.entries[id]?.bytes ?? 0
                (victims, expected) = (book.answered(id, bytes: rest), plain.answered(id, bytes: rest))
            default:
                book.closed(id)
                plain.entries[id] = nil
            }
            #expect(victims == expected)
            #expect(book.count == plain.entries.count)
            #expect(book.placeCount <= 2 * (2 * 13 + 65))
        }
    }
}

/// The rule of a book of 12 connections and 900 bytes as it is said: it looks at everybody each time.
private struct PlainBook {
    struct Entry {
        var pending = 0
        var bytes = 0
        var since: Int
        var isIdle: Bool { self.pending == 0 }
        var isSending: Bool { self.pending > 0 && self.bytes > 0 }
    }

    var entries: [Int: Entry] = [:]
    private var moment = 0
    private var isFull = false

    private mutating func tick() -> Int {
        self.moment += 1
        return self.moment
    }

    private func longest(except id: Int?, _ condition: (Entry) -> Bool) -> Int? {
        self.entries.filter { $0.key != id && condition($0.value) }.min { $0.value.since < $1.value.since }?.key
    }

    private func victim(except id: Int? = nil) -> Int? {
        self.longest(except: id, \.isIdle) ?? self.longest(except: id, \.isSending)
    }

    private mutating func end(_ id: Int, _ victims: inout [Int]) {
        self.entries[id] = nil
        victims.append(id)
    }

    mutating func mayOpen() -> Bool {
        self.isFull = self.entries.count >= 12 && self.victim() == nil
        return !self.isFull
    }

    mutating func opened(_ id: Int) -> [Int] {
        self.entries[id] = Entry(since: self.tick())
        var victims: [Int] = []
        while self.entries.count > 12, let victim = self.victim(except: id) { self.end(victim, &victims) }
        return victims
    }

    mutating func answering(_ id: Int, bytes: Int) -> [Int] {
        guard var entry = self.entries[id] else { return [] }
        if !entry.isSending { entry.since = self.tick() }
        entry.bytes += bytes
        self.entries[id] = entry
        var victims: [Int] = []
        while self.entries.values.reduce(0, { $0 + $1.bytes }) > 900, let victim = self.longest(except: id, \.isSending)
        {
            self.end(victim, &victims)
        }
        return victims
    }

    mutating func sent(_ id: Int, bytes: Int) {
        guard var entry = self.entries[id] else { return }
        entry.bytes -= bytes
        entry.since = self.tick()
        self.entries[id] = entry
    }

    mutating func answered(_ id: Int, bytes: Int) -> [Int] {
        guard var entry = self.entries[id] else { return [] }
        entry.pending = max(0, entry.pending - 1)
        entry.bytes -= bytes
        entry.since = self.tick()
        self.entries[id] = entry
        guard self.isFull, let victim = self.victim() else { return [] }
        self.isFull = false
        self.entries[victim] = nil
        return [victim]
    }
}

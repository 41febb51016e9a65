// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import Cuecast

@Suite(.suiteLimit)
struct RequestTableTests {
    @Test func `thirty-two requests fit and one more does not`() throws {
        var table = RequestTable()
        let ids = (0..<32).map { _ in table.open(.time, now: local(0), timeout: .seconds(5)) }
        #expect(ids.allSatisfy { $0 != nil })
        #expect(table.open(.time, now: local(0), timeout: .seconds(5)) == nil)
        let first = try #require(ids[0])
        _ = table.close(first)
        #expect(table.open(.time, now: local(0), timeout: .seconds(5)) != nil)
    }

    @Test func `a reply finds its request once`() throws {
        var table = RequestTable()
        let opened = table.open(.join, now: local(1), timeout: .seconds(5))
        let id = try #require(opened)
        let closed = table.close(id)
        let entry = try #require(closed)
        #expect(entry.purpose == .join && entry.sent == local(1) && entry.deadline == local(6))
        #expect(table.close(id) == nil)
        #expect(table.close(99) == nil)
    }

    @Test func `a request without a reply expires, and its reply is then stale`() throws {
        var table = RequestTable()
        let openedFirst = table.open(.batch(breakID("b1")), now: local(0), timeout: .seconds(5))
        let first = try #require(openedFirst)
        let openedSecond = table.open(.time, now: local(1), timeout: .seconds(5))
        let second = try #require(openedSecond)
        #expect(table.nextDeadline == local(5))
        #expect(table.expire(now: local(4.999)).isEmpty)
        #expect(table.expire(now: local(5)).map(\.id) == [first])
        #expect(table.close(first) == nil)
        #expect(table.isOpen(.time))
        #expect(table.abandonAll().map(\.id) == [second])
        #expect(table.count == 0)
    }

    @Test func `no id is given twice`() {
        var table = RequestTable()
        var ids: Set<UInt64> = []
        for _ in 0..<1_000 {
            guard let id = table.open(.time, now: local(0), timeout: .seconds(5)) else { break }
            #expect(ids.insert(id).inserted)
            _ = table.close(id)
        }
        #expect(ids.count == 1_000)
    }
}

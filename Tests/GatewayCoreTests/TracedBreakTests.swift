// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The trace of a request on its way to the notice: it goes along, and decides nothing.
@Suite(.suiteLimit)
struct TracedBreakTests {
    private let first = TraceContext(traceHigh: 1, traceLow: 1, span: 1)
    private let second = TraceContext(traceHigh: 2, traceLow: 2, span: 2)
    private let key = Sample.key()

    @Test func `a notice has the trace of the request that led to it`() {
        var desk = Desk()
        let told = desk.ask(.publish(Sample.publish(start: .now)), at: 0, trace: self.first)
        #expect(told.notice?.trace == self.first)
        #expect(desk["b1"]?.record.trace == nil, "nothing more will be told because of it")
        #expect(desk.ask(.update(.init(key: self.key, duration: .seconds(40))), at: 1).notice?.trace == nil)
        let ended = desk.ask(.end(.init(key: self.key)), at: 2, trace: self.second)
        #expect(ended.notice?.kind == .ended && ended.notice?.trace == self.second)
    }

    @Test func `a timer's notice has the trace of the newest request about the break`() {
        for (update, expected) in [(self.second, self.second), (nil, nil)] {
            var desk = Desk()
            _ = desk.ask(.publish(Sample.publish()), at: 0, trace: self.first)
            #expect(desk["b1"]?.record.trace == self.first)
            _ = desk.ask(.update(.init(key: self.key, duration: .seconds(40))), at: 1, trace: update)
            // What changes nothing is no newer request.
            _ = desk.ask(.update(.init(key: self.key, duration: .seconds(40))), at: 2, trace: self.first)
            desk.tick(at: 12)
            #expect(desk.notices.map(\.notice.kind) == [.available])
            #expect(desk.notices.map(\.notice.trace) == [expected])
            #expect(desk["b1"]?.record.trace == nil)
        }
    }

    @Test func `a cued break that is never punched is withdrawn with the trace that it was published with`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: nil, hold: .seconds(60))), at: 0, trace: self.first)
        desk.tick(at: 60)
        #expect(desk.notices.last?.notice.cancelReason == .notStarted)
        #expect(desk.notices.last?.notice.trace == self.first)
    }

    @Test func `a later listener is told the trace too`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: .now)), at: 0, trace: self.first)
        let stream = try #require(desk.board.stream(Sample.stream))
        #expect(stream.recent.suffix(8).map(\.trace) == [self.first])
        #expect(stream[Sample.id("b1")]?.record.lastNotice?.trace == self.first)
    }

    /// Some breaks, traced and not.
    private func script() -> Desk {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0, trace: self.first)
        _ = desk.ask(.publish(Sample.publish("b2", start: .after(.seconds(60)))), at: 1)
        _ = desk.ask(.publish(Sample.publish("b3", start: nil)), at: 2, trace: self.second)
        desk.tick(at: 12)
        _ = desk.ask(.update(.init(key: self.key, duration: .seconds(20))), at: 13, trace: self.second)
        _ = desk.ask(.update(.init(key: Sample.key("b2"), duration: .seconds(20))), at: 14, trace: self.first)
        return desk
    }

    @Test func `a board is the same from its snapshot, and from the log`() throws {
        let desk = self.script()
        let record = try BoardRecord(decoding: desk.board.record.encoded())
        #expect(Board(epoch: Sample.epoch, record) == desk.board)
        var replayed = Board(epoch: Sample.epoch)
        for (index, group) in desk.log.enumerated() {
            _ = replayed.apply(try BreakGroup(decoding: group.encoded()), offset: UInt64(index + 1))
        }
        #expect(replayed == desk.board)
        #expect(replayed[Sample.key("b2")]?.record.trace == self.first)
    }

    @Test func `a reader that passes over traces comes to the same breaks and positions`() {
        let desk = self.script()
        var plain = Board(epoch: Sample.epoch)
        var traced = Board(epoch: Sample.epoch)
        for (index, group) in desk.log.enumerated() {
            var without = group
            for each in without.entries.indices { without.entries[each].trace = nil }
            let (with, other) = (
                traced.apply(group, offset: UInt64(index + 1)), plain.apply(without, offset: UInt64(index + 1))
            )
            #expect(with.map(\.untraced) == other.map(\.untraced))
        }
        #expect(plain.sequences == traced.sequences && plain.bytes == traced.bytes)
        #expect(plain.record.streams.flatMap(\.recentNotices).allSatisfy { $0.trace == nil })
    }
}

extension EntryResult {
    /// The break and the notice, without traces.
    fileprivate var untraced: [String] {
        guard case .changed(let each, var notice) = self else { return ["\(self)"] }
        notice?.trace = nil
        return ["\(each.info(at: Sample.at(20)))", "\(notice.map { "\($0)" } ?? "silently")"]
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Revisions of breaks, and changes that expect one.
@Suite(.suiteLimit)
struct RevisionTests {
    private let key = Sample.key()

    private func revision(_ desk: Desk) -> UInt64? { desk["b1"]?.record.revision }

    @Test func `it begins at 1 and goes on by one with each change, a timer's too`() {
        var desk = Desk()
        #expect(desk.ask(.publish(Sample.publish()), at: 0).word == "silently")
        #expect(self.revision(desk) == 1)
        #expect(desk.ask(.publish(Sample.publish()), at: 1).word == "unchanged")
        #expect(self.revision(desk) == 1)
        #expect(desk.ask(.update(.init(key: self.key, duration: .seconds(40))), at: 2).word == "silently")
        #expect(self.revision(desk) == 2)
        #expect(desk.ask(.update(.init(key: self.key, duration: .seconds(40))), at: 2).word == "unchanged")
        #expect(self.revision(desk) == 2)
        #expect(desk.tick(at: 12).map(\.word) == ["available"])
        #expect(self.revision(desk) == 3)
        #expect(
            desk.ask(.postpone(.init(key: self.key, by: .seconds(5), from: Sample.at(20))), at: 13).word == "updated"
        )
        #expect(desk.ask(.end(.init(key: self.key)), at: 30).word == "ended")
        #expect(desk.ask(.cancel(self.key), at: 31).word == "WRONG_STATE")
        #expect(self.revision(desk) == 5)
        // What was over changes no more; that less of it is kept is no change of it.
        desk.runHousekeeping(at: 86_400 * 3)
        #expect(desk["b1"]?.record.condensed == true)
        #expect(self.revision(desk) == 5)
        #expect(desk["b1"]?.info(at: Sample.at(40)).revision == 5)
    }

    @Test func `a change is made with the revision that is there, and refused with any other`() throws {
        for (expected, word) in [(1, "REVISION_CONFLICT"), (2, "silently"), (3, "REVISION_CONFLICT")]
            as [(UInt64, String)]
        {
            for request in [
                BroadcastRequest.Kind.update(.init(key: self.key, duration: .seconds(5))), .cancel(self.key),
                .postpone(.init(key: self.key, by: .seconds(1), from: Sample.at(20))),
                .postpone(.init(key: self.key, by: .seconds(1))),
            ] {
                var desk = Desk()
                _ = desk.ask(.publish(Sample.publish()), at: 0)
                _ = desk.ask(.update(.init(key: self.key, duration: .seconds(40))), at: 1)
                let before = desk.board
                let reply = desk.ask(request, expecting: expected, at: 2)
                #expect(reply.word == word, "\(request)")
                if let refusal = reply.refusal {
                    #expect(desk.board == before)
                    #expect(refusal.sentence == "The break b1 has revision 2, and \(expected) is expected.")
                    #expect(!refusal.status.canRetry)
                }
            }
        }
    }

    @Test func `a repeat of what was done is no conflict`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        let update = BroadcastRequest.Kind.update(.init(key: self.key, duration: .seconds(5)))
        #expect(desk.ask(update, expecting: 1, at: 1).word == "silently")
        #expect(desk.ask(update, expecting: 1, at: 2).word == "unchanged")
        #expect(desk.ask(.publish(Sample.publish()), expecting: 7, at: 2).word == "unchanged")
        let postpone = BroadcastRequest.Kind.postpone(.init(key: self.key, by: .seconds(5), from: Sample.at(20)))
        #expect(desk.ask(postpone, expecting: 2, at: 3).word == "silently")
        #expect(desk.ask(postpone, expecting: 2, at: 4).word == "unchanged")
        #expect(desk.ask(.cancel(self.key), expecting: 3, at: 5).word == "silently")
        #expect(desk.ask(.cancel(self.key), expecting: 3, at: 6).word == "unchanged")
        #expect(self.revision(desk) == 4)
    }

    @Test func `a break that is expected and missing is not made`() {
        var desk = Desk()
        #expect(desk.ask(.publish(Sample.publish()), expecting: 1, at: 0).word == "REVISION_CONFLICT")
        #expect(desk.board.streamCount == 0)
        #expect(desk.log.isEmpty)
        _ = desk.ask(.publish(Sample.publish("other")), at: 0)
        #expect(desk.ask(.publish(Sample.publish(start: nil)), expecting: 1, at: 0).word == "REVISION_CONFLICT")
        #expect(desk.ask(.cancel(self.key), expecting: 1, at: 0).word == "NOT_FOUND")
        #expect(desk["b1"] == nil)
    }

    @Test func `a break that must be new is published once, even by the same request`() throws {
        var desk = Desk()
        let publish = BroadcastRequest.Kind.publish(Sample.publish())
        #expect(desk.ask(publish, expecting: ExpectedRevision.absent, at: 0).word == "silently")
        let again = desk.ask(publish, expecting: ExpectedRevision.absent, at: 1)
        #expect(again.word == "REVISION_CONFLICT")
        #expect(again.refusal?.sentence == "The break b1 has revision 1, and none is expected to be there.")
        let other = BroadcastRequest.Kind.publish(Sample.publish(duration: .seconds(40)))
        #expect(desk.ask(other, at: 1).word == "CONFLICT")
        #expect(desk.ask(other, expecting: ExpectedRevision.absent, at: 1).word == "REVISION_CONFLICT")
        #expect(desk.ask(publish, at: 1).word == "unchanged")
        // Planned on the same board, by two gateways or in one group: the first in the log stands, also where both are the same.
        var empty = Desk()
        let planned = empty.planner.plan(
            BroadcastRequest(id: 1, expectedRevision: ExpectedRevision.absent, kind: publish),
            by: .anybody,
            on: empty.board,
            at: Sample.at(0),
            listeners: 0
        )
        guard case .append(let entry) = planned else { return #expect(Bool(false), "\(planned)") }
        #expect(empty.append([entry, entry]).map(\.word) == ["silently", "REVISION_CONFLICT"])
    }

    @Test func `a break that must exist may have any revision, and is not made`() {
        var desk = Desk()
        let publish = BroadcastRequest.Kind.publish(Sample.publish())
        let refused = desk.ask(publish, expecting: ExpectedRevision.any, at: 0)
        #expect(refused.word == "REVISION_CONFLICT")
        #expect(refused.refusal?.sentence == "There is no break b1 of the stream radio1, and one is expected.")
        #expect(desk.board.streamCount == 0)
        _ = desk.ask(publish, at: 0)
        #expect(desk.ask(publish, expecting: ExpectedRevision.any, at: 1).word == "unchanged")
        for seconds in 31...33 {
            let update = BroadcastRequest.Kind.update(.init(key: self.key, duration: .seconds(seconds)))
            #expect(desk.ask(update, expecting: ExpectedRevision.any, at: 1).word == "silently")
        }
        #expect(desk.ask(.cancel(self.key), expecting: ExpectedRevision.any, at: 2).word == "silently")
        #expect(desk.ask(.cancel(Sample.key("none")), expecting: ExpectedRevision.any, at: 2).word == "NOT_FOUND")
    }

    @Test func `a stale view is said before what follows from it`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        _ = desk.ask(.cancel(self.key), at: 1)
        let update = BroadcastRequest.Kind.update(.init(key: self.key, start: .at(Sample.at(-100))))
        #expect(desk.ask(update, at: 2).word == "START_IN_PAST")
        #expect(desk.ask(update, expecting: 1, at: 2).word == "REVISION_CONFLICT")
        #expect(desk.ask(update, expecting: 2, at: 2).word == "START_IN_PAST")
        #expect(desk.ask(.end(.init(key: self.key)), expecting: 1, at: 2).word == "REVISION_CONFLICT")
        #expect(desk.ask(.end(.init(key: self.key)), expecting: 2, at: 2).word == "WRONG_STATE")
        // A broadcaster does not learn a revision of another's stream.
        let other = BroadcastPrincipal(name: "other", streams: [])
        #expect(desk.ask(update, expecting: 1, at: Sample.at(2), by: other).word == "NOT_ALLOWED")
    }

    @Test func `of two that expect the same, the first in the log stands`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        func entry(_ seconds: Int) -> BreakEntry {
            BreakEntry(
                at: Sample.at(1),
                expectedRevision: 1,
                kind: .update(.init(request: .init(key: self.key, duration: .seconds(seconds))))
            )
        }
        // Planned on the same board, by two gateways or in one group.
        #expect(desk.board.trial(of: entry(5)).word == "silently")
        #expect(desk.board.trial(of: entry(6)).word == "silently")
        #expect(desk.append([entry(5), entry(6)]).map(\.word) == ["silently", "REVISION_CONFLICT"])
        #expect(desk["b1"]?.record.duration == .seconds(5))
        // The log holds both, and each reader comes to the same.
        var read = Board(epoch: Sample.epoch)
        for group in desk.log {
            _ = read.apply(try BreakGroup(decoding: group.encoded()), offset: read.offset + 1)
        }
        #expect(read == desk.board)
    }

    @Test func `a snapshot without a revision is refused`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        _ = desk.ask(.update(.init(key: self.key, duration: .seconds(40))), at: 1)
        var record = desk.board.record
        #expect(record.breaks[0].revision == 2)
        record.breaks[0].revision = 0
        #expect(throws: WireError.self) { try BoardRecord(decoding: record.encoded()) }
    }
}

/// Moving a break's start to later.
@Suite(.suiteLimit)
struct PostponeTests {
    private let key = Sample.key()

    private func postpone(_ seconds: Double, from: Double?) -> BroadcastRequest.Kind {
        .postpone(
            .init(
                key: self.key,
                by: .milliseconds(Int64(seconds * 1_000)),
                from: from.map { Sample.at($0) }
            )
        )
    }

    @Test func `it is announced by the new start, and lasts as long as before`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        #expect(desk.ask(self.postpone(60, from: 20), at: 1).word == "silently")
        let each = try #require(desk["b1"])
        #expect(each.record.start == Sample.at(80))
        #expect(each.end == Sample.at(110))
        #expect(each.record.announce == Sample.at(72))
        #expect(desk.tick(at: 71.9).isEmpty)
        #expect(desk.tick(at: 72).map(\.word) == ["available"])
        let window = try #require(desk["b1"]?.record.window)
        #expect(window.from == Sample.at(72) && window.by < Sample.at(80))
        // Those who know of it are told.
        let told = desk.ask(self.postpone(10, from: 80), at: 73)
        #expect(told.word == "updated")
        #expect(told.notice?.start == Sample.at(90))
        #expect(desk["b1"]?.state(at: Sample.at(85)) == .announced)
    }

    @Test func `a repeat moves nothing, also when the break plays by then`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        #expect(desk.ask(self.postpone(1, from: 20), at: 1).word == "silently")
        desk.tick(at: 13)
        for now in [2.0, 20, 25, 50.9] { #expect(desk.ask(self.postpone(1, from: 20), at: now).word == "unchanged") }
        #expect(desk["b1"]?.record.start == Sample.at(21))
        #expect(desk.ask(self.postpone(1, from: 20), at: 51).word == "WRONG_STATE")
    }

    /// The gateway's clock has microseconds, and JavaScript's instants do not.
    @Test(arguments: [-999, -456, -1, 0, 1, 544, 999])
    func `a start that is known in milliseconds only is the start that it has`(microseconds: Int64) throws {
        let now = Sample.at(0) + .microseconds(123_456)
        let start = now + .seconds(20)
        for expecting in [nil, 1] as [UInt64?] {
            var desk = Desk()
            #expect(desk.ask(.publish(Sample.publish()), at: now).word == "silently")
            let said = start + .microseconds(microseconds)
            let request = BroadcastRequest.Kind.postpone(.init(key: self.key, by: .seconds(5), from: said))
            #expect(desk.ask(request, expecting: expecting, at: 1).word == "silently")
            // By exactly as much as is asked, whatever is known of the start.
            #expect(desk["b1"]?.record.start == start + .seconds(5))
            for later in [2.0, 19] { #expect(desk.ask(request, expecting: expecting, at: later).word == "unchanged") }
            #expect(desk["b1"]?.record.start == start + .seconds(5))
            // The log has it exactly, so that each reader comes to the same.
            var read = Board(epoch: Sample.epoch)
            for group in desk.log { _ = read.apply(group, offset: read.offset + 1) }
            #expect(read == desk.board)
            // An update to the start that it has changes nothing either.
            let same = BroadcastRequest.Update(key: self.key, start: .at(said + .seconds(5)))
            #expect(desk.ask(.update(same), at: 3).word == "unchanged")
        }
    }

    @Test(arguments: [-1_000, 1_000])
    func `a start that is a millisecond off is another one`(microseconds: Int64) {
        var desk = Desk()
        let now = Sample.at(0) + .microseconds(123_456)
        _ = desk.ask(.publish(Sample.publish()), at: now)
        let said = now + .seconds(20) + .microseconds(microseconds)
        let request = BroadcastRequest.Postpone(key: self.key, by: .seconds(5), from: said)
        #expect(desk.ask(.postpone(request), at: 1).word == "CONFLICT")
    }

    @Test(arguments: [-999, -1, 0, 1, 999])
    func `a repeat of the smallest step moves nothing, however its start was rounded`(microseconds: Int64) {
        for milliseconds in [1, 2] as [Int64] {
            var desk = Desk()
            let now = Sample.at(0) + .microseconds(123_456)
            _ = desk.ask(.publish(Sample.publish()), at: now)
            let start = now + .seconds(20)
            let request = BroadcastRequest.Kind.postpone(
                .init(key: self.key, by: .milliseconds(milliseconds), from: start + .microseconds(microseconds))
            )
            let isExact = milliseconds > 1 || microseconds == 0
            #expect(desk.ask(request, at: 1).word == (isExact ? "silently" : "CONFLICT"))
            #expect(desk.ask(request, at: 2).word == (isExact ? "unchanged" : "CONFLICT"))
            #expect(desk["b1"]?.record.start == (isExact ? start + .milliseconds(milliseconds) : start))
        }
    }

    @Test func `the rules for starts hold, but for the lead: later is never too soon`() {
        var desk = Desk()
        desk.planner.policy.leadTimeMin = .seconds(10)
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        let most = 6 * 3_600.0
        #expect(desk.ask(self.postpone(most - 20 + 1 + 0.001, from: 20), at: 1).word == "TOO_FAR_AHEAD")
        #expect(desk.ask(self.postpone(most - 20 + 1, from: 20), at: 1).word == "silently")
        var late = Desk()
        late.planner.policy.leadTimeMin = .seconds(10)
        _ = late.ask(.publish(Sample.publish()), at: 0)
        late.tick(at: 12)
        #expect(late.ask(self.postpone(0.5, from: 20), at: 19.9).word == "updated")
        // Into the time of another.
        var full = Desk()
        _ = full.ask(.publish(Sample.publish()), at: 0)
        _ = full.ask(.publish(Sample.publish("b2", start: .after(.seconds(60)))), at: 0)
        #expect(full.ask(self.postpone(10, from: 20), at: 1).word == "silently")
        #expect(full.ask(self.postpone(0.001, from: 30), at: 1).word == "BREAK_OVERLAP")
    }

    @Test func `one that never was announced can be saved while nothing of it was heard`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        // The timer is late: the start is over, and the break was not announced.
        #expect(desk.ask(self.postpone(1, from: 20), at: 40).word == "START_IN_PAST")
        #expect(desk.ask(self.postpone(100, from: 20), at: 40).word == "silently")
        #expect(desk["b1"]?.record.start == Sample.at(120))
    }

    @Test func `a start at the end of time does no harm`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        for from in [Timestamp(microseconds: .max), Timestamp(microseconds: .min)] {
            let request = BroadcastRequest.Postpone(key: self.key, by: .milliseconds(UInt32.max), from: from)
            #expect(desk.ask(.postpone(request), at: 1).word == "CONFLICT")
        }
    }
}

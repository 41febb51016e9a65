// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// What signals mean: each kind of them, before a break, in it and after it.
@Suite(.suiteLimit)
struct SignalTests {
    @Test func `an OUT opens a break from the list of the policy`() throws {
        var desk = Cues.desk()
        #expect(desk.ask(Cues.out(at: 20, lasting: 30), at: 1).word == "silently")
        let each = try #require(desk.cued.first)
        #expect(each.key.id.description == "cue-\(each.number)")
        #expect(each.record.start == Sample.at(20))
        #expect(each.end == Sample.at(50))
        #expect(each.record.advertisements == Cues.spots)
        #expect(each.record.announce == Sample.at(12))
        #expect(desk.tick(at: 12).map(\.word) == ["available"])
    }

    @Test func `the entry of an OUT is known as the one that opened its break`() throws {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30), at: 1)
        let (entry, each) = (try #require(desk.log.last?.entries.last), try #require(desk.cued.first))
        #expect(entry.canHaveOpened(each.key, number: each.number))
        let next = BreakNumber(rawValue: each.number.rawValue + 1)
        #expect(!entry.canHaveOpened(each.key, number: next))
        #expect(!entry.canHaveOpened(BreakKey(stream: Sample.stream, id: try BreakID("noon")), number: each.number))
        _ = desk.ask(Cues.cancel(), at: 2)
        #expect(desk.log.last?.entries.last?.canHaveOpened(each.key, number: each.number) == false)
    }

    @Test func `a break tells its signals, by the precedence of their sources`() throws {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out("radio", "7", at: 20, lasting: 30), at: 1)
        _ = desk.ask(Cues.out("playlist", at: 20.5, lasting: 40), at: 2)
        _ = desk.ask(Cues.out("encoder", at: 21), at: 3)
        let signals = try #require(desk.cued.first).info(at: Sample.at(3)).signals
        #expect(signals.map(\.name.source.description) == ["encoder", "playlist", "radio"])
        #expect(signals.map(\.start) == [Sample.at(21), Sample.at(20.5), Sample.at(20)])
        #expect(signals.map(\.duration) == [nil, .seconds(40), .seconds(30)])
        let known = desk.board.signalled(Cues.name("radio", "7"), on: Sample.stream, at: Sample.at(3))
        #expect(known?.key == desk.cued.first?.key && known?.start == Sample.at(20) && known?.isOver == false)
        #expect(known?.end == Sample.at(61))
        #expect(desk.board.signalled(Cues.name("radio", "8"), on: Sample.stream, at: Sample.at(3)) == nil)
        // A break that was never announced does not run.
        desk.tick(at: 21)
        let later = desk.board.signalled(Cues.name("radio", "7"), on: Sample.stream, at: Sample.at(661))
        #expect(later?.isOver == true)
        #expect(desk.board.signalled(Cues.name("radio", "7"), on: Sample.stream, at: Sample.at(662)) == nil)
    }

    @Test func `an OUT that says nothing begins now and lasts as the policy says`() throws {
        var desk = Cues.desk()
        #expect(desk.ask(Cues.out(), at: 5).word == "available")
        #expect(desk.cued.first?.record.start == Sample.at(5))
        #expect(desk.cued.first?.record.duration == .seconds(60))
        var policy = Cues.policy
        policy.rules[0].defaultDuration = nil
        var other = Cues.desk(policy)
        #expect(other.ask(Cues.out(), at: 5).word == "available")
        #expect(other.cued.first?.record.duration == nil)
        #expect(other.cued.first?.end == Sample.at(305))
    }

    @Test func `a repeat changes nothing, and a changed time or duration is an update`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30), at: 1)
        let count = desk.log.count
        for now in [2.0, 12, 16, 18, 25, 49] {
            desk.tick(at: now)
            #expect(desk.ask(Cues.out(at: 20, lasting: 30), at: now).word == "unchanged")
        }
        #expect(desk.log.count == count + 1, "repeats are not appended: only the announcement is")
        #expect(desk.ask(Cues.out(at: 20, lasting: 40), at: 30).word == "updated")
        #expect(desk.cued.first?.end == Sample.at(60))
        var moved = Cues.desk()
        _ = moved.ask(Cues.out(at: 20, lasting: 30), at: 1)
        #expect(moved.ask(Cues.out(at: 40, lasting: 30), at: 2).word == "silently")
        #expect(moved.cued.map(\.record.start) == [Sample.at(40)])
        #expect(moved.cued.first?.record.announce == Sample.at(32))
    }

    @Test func `what watchers measure a little differently is the same, and what a person says is not`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30, programme: true), at: 1)
        let count = desk.log.count
        for start in [20.007, 19.9, 20.1, 20] {
            #expect(desk.ask(Cues.out(at: start, lasting: 30, programme: true), at: 2).word == "unchanged")
        }
        #expect(desk.log.count == count && desk.cued.first?.record.start == Sample.at(20))
        // Its length is news however its start was measured, and the start stays.
        _ = desk.ask(Cues.out(at: 20.05, lasting: 45, programme: true), at: 3)
        #expect(desk.cued.first?.record.start == Sample.at(20) && desk.cued.first?.record.duration == .seconds(45))
        _ = desk.ask(Cues.out(at: 20.101, lasting: 45, programme: true), at: 4)
        #expect(desk.cued.first?.record.start == Sample.at(20.101))
        _ = desk.ask(Cues.out(at: 20.102, lasting: 45), at: 5)
        #expect(desk.cued.first?.record.start == Sample.at(20.102))
        // The same holds for the end.
        desk.tick(at: 30)
        #expect(desk.ask(Cues.back(at: 40, programme: true), at: 31).word == "ended")
        #expect(desk.ask(Cues.back(at: 40.1, programme: true), at: 32).word == "unchanged")
        #expect(desk.ask(Cues.back(at: 40.101, programme: true), at: 33).word == "ended")
    }

    @Test func `the IN ends the break of its event, earlier or later`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(lasting: 30), at: 0)
        #expect(desk.ask(Cues.back(at: 45), at: 20).word == "updated")
        #expect(desk.cued.first?.end == Sample.at(45))
        #expect(desk.ask(Cues.back(), at: 25).word == "ended")
        #expect(desk.cued.first?.end == Sample.at(25))
        #expect(desk.ask(Cues.back(), at: 26).word == "unchanged", "it is over")
        #expect(desk.ask(Cues.out(lasting: 30), at: 27).word == "available", "the next break of the same event")
    }

    @Test func `an event whose next break is told ahead is of both breaks`() {
        var desk = Cues.desk()
        #expect(desk.ask(Cues.out(lasting: 30), at: 0).word == "available")
        #expect(desk.ask(Cues.out(at: 100, lasting: 30), at: 5).word == "silently")
        // The OUT of the one that runs comes again: with its start, and without any.
        for again in [Cues.out(at: 0, lasting: 30, programme: true), Cues.out(lasting: 30)] {
            #expect(desk.ask(again, at: 10).word == "unchanged")
        }
        #expect(desk.ask(Cues.out(at: 100, lasting: 30), at: 10).word == "unchanged")
        #expect(desk.ask(Cues.back(at: 20), at: 11).word == "ended")
        #expect(desk.cued.map(\.end) == [Sample.at(20), Sample.at(130)])
        #expect(desk.ask(Cues.back(at: 120), at: 12).word == "silently", "the end of the next one, told ahead")
        #expect(desk.cued.map(\.end) == [Sample.at(20), Sample.at(120)])
        #expect(desk.ask(Cues.back(at: 25), at: 25).word == "unchanged", "it is over")
        // What is taken back is what was said last.
        #expect(desk.ask(Cues.cancel(), at: 26).word == "silently")
        #expect(desk.cued.map { $0.state(at: Sample.at(26)) } == [.complete, .cancelled])
    }

    @Test func `of the breaks of one event only so many are looked at`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(lasting: 5_000), at: 0)
        func takeNextBack(_ number: Int) {
            _ = desk.ask(Cues.out(at: 6_000 + Double(number) * 100, lasting: 10), at: 1)
            _ = desk.ask(Cues.cancel(), at: 1)
        }
        for number in 1..<SignalLimits.breaksPerEventMax { takeNextBack(number) }
        #expect(desk.cued.count == SignalLimits.breaksPerEventMax)
        #expect(desk.ask(Cues.back(at: 4_000), at: 2).word == "ended")
        takeNextBack(SignalLimits.breaksPerEventMax)
        #expect(desk.ask(Cues.back(at: 3_000), at: 3).word == "unchanged", "of the newest one, which was taken back")
        #expect(desk.cued.first?.end == Sample.at(4_000))
    }

    @Test func `an IN or a CANCEL without an OUT is refused`() {
        var desk = Cues.desk()
        for kind in [Cues.back(), Cues.cancel()] {
            let refusal = desk.ask(kind, at: 1).refusal
            #expect(refusal?.status == .notFound)
            #expect(refusal?.sentence.contains("event 1 of the source encoder") == true)
        }
        #expect(desk.cued.isEmpty)
    }

    @Test func `an IN before the start is refused`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30), at: 1)
        #expect(desk.ask(Cues.back(at: 15), at: 2).word == "WRONG_STATE")
        #expect(desk.cued.first?.end == Sample.at(50))
    }

    @Test func `an OUT that moves behind an IN that was told ahead takes that back`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30), at: 1)
        #expect(desk.ask(Cues.back(at: 40), at: 2).word == "silently")
        // In front of the end it stands.
        #expect(desk.ask(Cues.out(at: 39.999, lasting: 30), at: 3).word == "silently")
        #expect(desk.cued.map(\.end) == [Sample.at(40)])
        #expect(desk.ask(Cues.out(at: 60, lasting: 30), at: 4).word == "silently")
        #expect(desk.cued.map(\.record.start) == [Sample.at(60)])
        #expect(desk.cued.map(\.end) == [Sample.at(90)])
        #expect(desk.ask(Cues.back(at: 80), at: 5).word == "silently")
        #expect(desk.cued.map(\.end) == [Sample.at(80)])
    }

    @Test func `a CANCEL withdraws the break before its start and ends it after`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30), at: 1)
        #expect(desk.ask(Cues.cancel(), at: 2).word == "silently")
        #expect(desk.cued.first?.state(at: Sample.at(2)) == .cancelled)
        #expect(desk.ask(Cues.cancel(), at: 3).word == "unchanged")
        #expect(desk.ask(Cues.out(at: 20, lasting: 30), at: 3).word == "unchanged", "a late repeat brings nothing back")
        var live = Cues.desk()
        _ = live.ask(Cues.out(lasting: 30), at: 0)
        #expect(live.ask(Cues.cancel(), at: 10).word == "ended")
        #expect(live.cued.first?.end == Sample.at(10))
    }

    @Test func `a CANCEL ends a break that is over by what the other sources say`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 10, lasting: 60), at: 1)
        _ = desk.ask(Cues.out("playlist", at: 10, lasting: 15), at: 2)
        desk.tick(at: 10)
        #expect(desk.ask(Cues.cancel(), at: 30).word == "ended")
        #expect(desk.cued.map(\.end) == [Sample.at(30)])
        // An end stays that listeners were told of.
        #expect(desk.ask(Cues.out("radio", at: 10, lasting: 60, programme: true), at: 31).word == "unchanged")
    }

    @Test func `a start does not move once the break has begun`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 10, lasting: 30), at: 5)
        #expect(desk.ask(Cues.out(at: 14, lasting: 30), at: 12).word == "silently")
        #expect(desk.cued.map(\.record.start) == [Sample.at(10)])
    }

    @Test func `another event while a break runs is refused, and after it a break of its own`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(lasting: 30), at: 0)
        #expect(desk.ask(Cues.out("encoder", "2"), at: 10).word == "BREAK_OVERLAP")
        #expect(desk.ask(Cues.out("encoder", "2", at: 35), at: 10).word == "silently")
        #expect(desk.cued.count == 2)
    }

    @Test func `an event id is used again the next day`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(lasting: 30), at: 0)
        #expect(desk.ask(Cues.back(), at: 629).word == "unchanged")
        #expect(desk.ask(Cues.back(), at: 631).word == "NOT_FOUND")
        #expect(desk.ask(Cues.out(lasting: 30), at: 86_400).word == "available")
        #expect(desk.cued.count == 2)
    }

    @Test func `a start in programme time is not moved to now`() {
        var desk = Cues.desk()
        #expect(desk.ask(Cues.out(at: 100, lasting: 150), at: 200).word == "START_IN_PAST")
        #expect(desk.ask(Cues.out(at: 79, lasting: 150, programme: true), at: 200).word == "START_IN_PAST")
        #expect(desk.ask(Cues.out(at: 80, lasting: 150, programme: true), at: 200).word == "available")
        #expect(desk.cued.map(\.record.start) == [Sample.at(80)])
        #expect(desk.ask(Cues.out(at: 80, lasting: 150, programme: true), at: 229).word == "unchanged")
        var late = Cues.desk()
        #expect(late.ask(Cues.out(at: 8.5, lasting: 30), at: 10).word == "available")
        #expect(late.cued.map(\.record.start) == [Sample.at(10)], "else it counts as now")
        #expect(late.ask(Cues.out("playlist", at: 30_000), at: 10).word == "TOO_FAR_AHEAD")
    }

    @Test func `without a policy, or without its list, a signal is refused with a sentence`() {
        var desk = Desk()
        #expect(desk.ask(Cues.out(), at: 0).refusal?.sentence.contains("No cue policy is configured") == true)
        desk.planner.cues = Cues.policy
        #expect(desk.ask(Cues.out(), at: 0).refusal?.sentence.contains("the ad list spots") == true)
    }

    @Test func `a policy that loses its rule while a break runs does not lose the break's end`() {
        for signal in [Cues.back(), Cues.cancel()] {
            var desk = Cues.desk()
            _ = desk.ask(Cues.out(lasting: 30), at: 0)
            desk.planner.cues = CuePolicy()
            #expect(desk.ask(Cues.out(lasting: 40), at: 5).word == "NOT_FOUND")
            #expect(desk.ask(signal, at: 20).word == "ended")
            #expect(desk.cued.map(\.end) == [Sample.at(20)])
        }
        var desk = Desk()
        for signal in [Cues.back(), Cues.cancel()] {
            #expect(desk.ask(signal, at: 0).refusal?.sentence.contains("No cue policy is configured") == true)
        }
    }

    @Test func `an OUT that changes a break that is there needs no list, and one that opens a break does`() throws {
        var policy = Cues.policy
        policy.rules[0].list = try AdListName("other")
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(lasting: 30), at: 0)
        desk.planner.cues = policy
        #expect(desk.ask(Cues.out(lasting: 40), at: 5).word == "updated")
        #expect(desk.cued.map(\.end) == [Sample.at(40)])
        #expect(desk.cued.first?.record.advertisements == Cues.spots)
        for opening in [Cues.out("radio", "7", at: 100), Cues.out(at: 100)] {
            #expect(desk.ask(opening, at: 5).refusal?.sentence.contains("the ad list other") == true)
        }
    }

    @Test func `a break that a broadcaster published keeps its start and its length`() {
        var desk = Cues.desk()
        _ = desk.ask(.publish(Sample.publish("noon", start: .at(Sample.at(20)), duration: .seconds(30))), at: 1)
        #expect(desk.ask(Cues.out(at: 21, lasting: 40), at: 2).word == "silently")
        #expect(desk.cued.count == 1)
        #expect(desk["noon"]?.record.start == Sample.at(20))
        #expect(desk["noon"]?.end == Sample.at(50))
        #expect(desk.ask(Cues.cancel(), at: 3).word == "silently")
        #expect(desk["noon"]?.state(at: Sample.at(3)) == .scheduled)
        var open = Cues.desk()
        _ = open.ask(.publish(Sample.publish("noon", start: .at(Sample.at(20)), duration: nil)), at: 1)
        #expect(open.ask(Cues.out(at: 21, lasting: 40), at: 2).word == "silently")
        #expect(open["noon"]?.end == Sample.at(60), "it says no length: a signal may")
        #expect(open.ask(Cues.cancel(), at: 3).word == "silently")
        #expect(open["noon"]?.record.duration == nil, "as it was published")
    }

    @Test func `a signal without a length leaves a break open that a broadcaster published so`() {
        var desk = Cues.desk()
        _ = desk.ask(.publish(Sample.publish("noon", start: .at(Sample.at(20)), duration: nil)), at: 1)
        let end = desk["noon"]?.end
        #expect(desk.ask(Cues.out(at: 21), at: 2).word == "silently")
        #expect(desk["noon"]?.record.duration == nil && desk["noon"]?.end == end)
        desk.tick(at: 12)
        #expect(desk.ask(Cues.back(at: 50), at: 40).word == "ended")
        #expect(desk["noon"]?.end == Sample.at(50))
    }

    @Test func `what a broadcaster changes on a signalled break stays until a signal says something new`() {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30), at: 1)
        let key = desk.cued[0].key
        _ = desk.ask(.update(.init(key: key, duration: .seconds(45))), at: 2)
        #expect(desk.ask(Cues.out(at: 20, lasting: 30), at: 3).word == "unchanged")
        #expect(desk.ask(Cues.out("playlist", at: 21), at: 3).word == "silently")
        #expect(desk.cued[0].end == Sample.at(65))
    }

    @Test(arguments: ["encoder", "radio"])
    func `another source joins a break that a broadcaster postponed, by the start from before`(source: String) {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out("playlist", at: 20, lasting: 30), at: 1)
        let key = desk.cued[0].key
        #expect(desk.ask(.postpone(.init(key: key, by: .seconds(3_000))), at: 2).word == "silently")
        #expect(desk.ask(Cues.out(source, at: 21, lasting: 30), at: 3).word == "silently")
        #expect(desk.cued.map(\.record.start) == [Sample.at(3_020)], "it says nothing new")
        #expect(desk.cued[0].record.signals?.claims.count == 2)
        // A new start is followed.
        #expect(desk.ask(Cues.out(source, at: 60, lasting: 30), at: 4).word == "silently")
        #expect(desk.cued.map(\.record.start) == [Sample.at(source == "encoder" ? 60 : 3_020)])
        // What was taken back has no place there any more.
        #expect(desk.ask(Cues.cancel(source), at: 5).word == "silently")
        #expect(desk.ask(Cues.cancel("playlist"), at: 5).word == "silently")
        #expect(desk.ask(Cues.out("studio", at: 20, lasting: 30), at: 6).word == "silently")
        #expect(desk.cued.count == 2)
    }

    @Test func `a break has so many claims at most`() {
        var desk = Cues.desk()
        for source in 0..<BreakSignals.claimsPerBreakMax {
            #expect(desk.ask(Cues.out("s\(source)", at: 20, lasting: 30), at: 1).word == "silently")
        }
        let refusal = desk.ask(Cues.out("late", at: 20, lasting: 30), at: 1).refusal
        #expect(refusal?.status == .limitReached)
        #expect(refusal?.sentence.contains("claimsPerBreakMax is 8") == true)
        #expect(desk.cued.count == 1)
    }

    @Test func `a broadcaster signals on its own streams only`() {
        var desk = Cues.desk()
        let other = BroadcastPrincipal(name: "other", streams: [StreamPattern("radio2")].compactMap(\.self))
        #expect(desk.ask(Cues.out(), at: Sample.at(1), by: other).word == "NOT_ALLOWED")
    }
}

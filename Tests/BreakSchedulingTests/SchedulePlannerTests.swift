// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakScheduling
import CuecastBroadcast
import TestSupport
import Testing

/// The difference between a schedule and the gateway.
@Suite(.suiteLimit)
struct SchedulePlannerTests {
    static let now: Int64 = 1_795_780_800_000
    static let minute: Int64 = 60_000

    private static func ad(_ id: String) -> AdvertisementDescription {
        AdvertisementDescription(id: id, title: id, duration: .seconds(30), media: [])
    }

    private static func wanted(_ id: String, in minutes: Int64, seconds: Int64 = 30, ads: [String] = ["a"])
        -> WantedBreak
    {
        WantedBreak(
            id: id,
            startMilliseconds: Self.now + minutes * Self.minute,
            durationMilliseconds: seconds * 1_000,
            advertisements: ads.map { Self.ad($0) }
        )
    }

    private static func present(
        _ id: String,
        _ state: BreakStatus.State = .scheduled,
        in minutes: Int64,
        seconds: Int64 = 30,
        hasWantedAds: Bool? = true
    ) -> PresentBreak {
        let start = Self.now + minutes * Self.minute
        return PresentBreak(
            id: id,
            state: state,
            startMilliseconds: start,
            endMilliseconds: start + seconds * 1_000,
            durationMilliseconds: seconds * 1_000,
            revision: 7,
            hasWantedAds: hasWantedAds
        )
    }

    private func plan(_ wanted: [WantedBreak], _ present: [PresentBreak], revives: Bool = false) -> [ScheduleChange] {
        var planner = SchedulePlanner(name: "day")
        planner.revives = revives
        return planner.plan(wanted, present: present, now: Self.now)
    }

    private func only(_ wanted: WantedBreak, _ present: PresentBreak?, revives: Bool = false) -> ScheduleChange? {
        let changes = self.plan([wanted], present.map { [$0] } ?? [], revives: revives)
        return changes.count == 1 ? changes.first : nil
    }

    @Test func `a break that is not there is new, and one that is as wanted stays`() {
        #expect(self.only(Self.wanted("a", in: 10), nil)?.kind == .new)
        #expect(self.only(Self.wanted("a", in: 10), nil)?.id == "day.a")
        let same = self.only(Self.wanted("a", in: 10), Self.present("day.a", in: 10))
        #expect(same?.kind == .unchanged && same?.differences == [])
    }

    @Test func `a change says what differs`() {
        let change = self.only(
            Self.wanted("a", in: 12, seconds: 40),
            Self.present("day.a", in: 10, hasWantedAds: false)
        )
        #expect(change?.kind == .changed && change?.differences == ["start", "duration", "ads"])
        #expect(change?.present?.revision == 7)
    }

    @Test(arguments: [BreakStatus.State.announced, .live, .cued])
    func `what listeners know is never touched`(state: BreakStatus.State) {
        let same = self.only(Self.wanted("a", in: 1), Self.present("day.a", state, in: 1))
        #expect(same?.kind == .unchanged)
        let moved = self.only(Self.wanted("a", in: 5), Self.present("day.a", state, in: 1))
        #expect(moved?.kind == .refused && moved?.reason.contains(state.rawValue) ?? false)
        let removed = self.plan([], [Self.present("day.a", state, in: 1)])
        #expect(removed.map(\.kind) == [.refused])
    }

    @Test func `breaks of others are never touched`() {
        let others = ["a", "other.a", "days.a", "day", "day.", "day.a.1", "day.a.02", "day.a.2.3", "day..2"]
        #expect(self.plan([], others.map { Self.present($0, in: 10) }).isEmpty)
    }

    @Test func `a break that the schedule has no more is cancelled, unless its day is another one`() {
        var planner = SchedulePlanner(name: "day")
        let present = [Self.present("day.20261121-a", in: 10), Self.present("day.20261122-a", in: 20)]
        planner.idPrefixes = ["20261121-"]
        #expect(planner.plan([], present: present, now: Self.now).map(\.id) == ["day.20261121-a"])
        planner.idPrefixes = nil
        #expect(planner.plan([], present: present, now: Self.now).map(\.kind) == [.gone, .gone])
        planner.removes = false
        #expect(planner.plan([], present: present, now: Self.now).map(\.kind) == [.refused, .refused])
    }

    @Test func `a follower cancels only what its file had before`() {
        var planner = SchedulePlanner(name: "day")
        let present = [Self.present("day.a", in: 10), Self.present("day.b", in: 20)]
        planner.hadBefore = ["a"]
        let changes = planner.plan([], present: present, now: Self.now)
        #expect(changes.map(\.kind) == [.gone, .refused] && changes[1].reason.contains("put --apply"))
    }

    @Test func `what is over is past, and what is far is later`() {
        #expect(self.only(Self.wanted("a", in: 0), nil)?.kind == .past)
        #expect(self.only(Self.wanted("a", in: -400), Self.present("day.a", .complete, in: -400))?.kind == .past)
        #expect(self.only(Self.wanted("a", in: 355), nil)?.kind == .new)
        #expect(self.only(Self.wanted("a", in: 356), nil)?.kind == .later)
        let again = self.only(Self.wanted("a", in: 10), Self.present("day.a", .complete, in: -400))
        #expect(again?.kind == .refused && again?.reason.contains("--name") ?? false)
    }

    @Test func `a cancelled break comes back only where that is asked, by another id`() {
        let cancelled = Self.present("day.a", .cancelled, in: 10)
        #expect(self.only(Self.wanted("a", in: 10), cancelled)?.kind == .refused)
        let again = self.only(Self.wanted("a", in: 10), cancelled, revives: true)
        #expect(again?.kind == .new && again?.id == "day.a.2")
        let there = self.plan([Self.wanted("a", in: 10)], [cancelled, Self.present("day.a.2", in: 10)], revives: true)
        #expect(there.map(\.kind) == [.unchanged] && there.map(\.id) == ["day.a.2"])
        let twice = self.plan(
            [Self.wanted("a", in: 10)],
            [Self.present("day.a.2", .cancelled, in: 10), cancelled],
            revives: true
        )
        #expect(twice.map(\.id) == ["day.a.3"])
    }

    @Test func `a break that holds the time is named`() {
        let foreign = self.plan([Self.wanted("a", in: 10)], [Self.present("noon", in: 10)])
        #expect(foreign.map(\.kind) == [.refused] && foreign[0].reason.contains("noon"))
        let own = self.plan([Self.wanted("a", in: 10, seconds: 61), Self.wanted("b", in: 11)], [])
        #expect(own.map(\.kind) == [.new, .refused] && own[1].reason.contains("day.a"))
        let adjacent = self.plan([Self.wanted("a", in: 10, seconds: 60), Self.wanted("b", in: 11)], [])
        #expect(adjacent.map(\.kind) == [.new, .new])
        // What is cancelled holds no time.
        #expect(self.plan([Self.wanted("b", in: 10)], [Self.present("day.a", in: 10)]).map(\.kind) == [.gone, .new])
    }

    @Test func `the stream takes so many breaks at once, and the first go first`() {
        let wanted = (1...66).map { Self.wanted("b\($0)", in: Int64($0)) }
        let kinds = self.plan(wanted, []).map(\.kind)
        #expect(kinds == Array(repeating: .new, count: 64) + [.later, .later])
        let others = self.plan(wanted, [Self.present("noon", in: 300)]).count { $0.kind == .new }
        #expect(others == 63)
    }

    /// A gateway that takes whatever is planned.
    private func applied(_ changes: [ScheduleChange], to present: [PresentBreak]) -> [PresentBreak] {
        var present = present
        for each in changes {
            switch each.kind {
            case .new, .changed:
                guard let wanted = each.wanted else { continue }
                present.removeAll { $0.id == each.id }
                present.append(
                    PresentBreak(
                        id: each.id,
                        state: .scheduled,
                        startMilliseconds: wanted.startMilliseconds,
                        endMilliseconds: wanted.endMilliseconds,
                        durationMilliseconds: wanted.durationMilliseconds,
                        hasWantedAds: true
                    )
                )
            case .gone:
                for index in present.indices where present[index].id == each.id { present[index].state = .cancelled }
            case .unchanged, .later, .past, .refused, .filled: continue
            }
        }
        return present
    }

    @Test func `applied twice nothing changes, the order does not matter, and announced ones never change`() throws {
        var generator = SeededGenerator(for: #function)
        for round in 0..<500 {
            let wanted = (0..<Int.random(in: 0...80, using: &generator))
                .map { number in
                    Self.wanted(
                        "b\(number)",
                        in: .random(in: -30...380, using: &generator),
                        seconds: .random(in: 1...120, using: &generator)
                    )
                }
            let states = BreakStatus.State.allCases
            let present = (0..<Int.random(in: 0...30, using: &generator))
                .map { number in
                    Self.present(
                        Bool.random(using: &generator) ? "day.b\(number)" : "x\(number)",
                        states[Int.random(in: 0..<states.count, using: &generator)],
                        in: .random(in: -30...360, using: &generator),
                        hasWantedAds: Bool.random(using: &generator)
                    )
                }
            let revives = Bool.random(using: &generator)
            let plan = self.plan(wanted, present, revives: revives)
            let shuffled = self.plan(
                wanted.shuffled(using: &generator),
                present.shuffled(using: &generator),
                revives: revives
            )
            try #require(plan == shuffled, "CUECAST_SEED=\(SeededGenerator.seed) round \(round)")
            for each in plan where each.kind == .changed || each.kind == .gone {
                try #require(each.present?.state == .scheduled && each.id.hasPrefix("day."))
            }
            let after = self.applied(plan, to: present)
            let again = self.plan(wanted, after, revives: revives)
            // What had no room, or no time, may have it now; what was put stays.
            let put = Set(plan.filter { $0.kind == .new || $0.kind == .changed || $0.kind == .unchanged }.map(\.id))
            for each in again where put.contains(each.id) {
                try #require(
                    each.kind == .unchanged,
                    "CUECAST_SEED=\(SeededGenerator.seed) round \(round): \(each.id) \(each.kind) \(each.reason)"
                )
            }
            try #require(!again.contains { $0.kind == .gone }, "CUECAST_SEED=\(SeededGenerator.seed) round \(round)")
            let known = after.filter { [.announced, .live, .cued].contains($0.state) }
            try #require(known == present.filter { [.announced, .live, .cued].contains($0.state) })
        }
    }
}

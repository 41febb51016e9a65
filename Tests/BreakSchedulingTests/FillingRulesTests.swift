// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakScheduling
import CuecastBroadcast
import TestSupport
import Testing

/// When the breaks of a schedule are filled.
@Suite(.suiteLimit)
struct FillingRulesTests {
    static let now: Int64 = 1_795_780_800_000
    static let lead: Int64 = 30_000

    private static func wanted(_ filling: BreakFilling = .here, lastsAsItsAds: Bool = false) -> WantedBreak {
        WantedBreak(
            id: "a",
            startMilliseconds: Self.now + 600_000,
            durationMilliseconds: 30_000,
            advertisements: [AdvertisementDescription(id: "house", title: "", duration: .seconds(30), media: [])],
            filling: filling,
            lastsAsItsAds: lastsAsItsAds
        )
    }

    /// The break at the gateway, which is announced in so many milliseconds.
    private static func present(
        announcedIn milliseconds: Int64? = 100_000,
        _ state: BreakStatus.State = .scheduled,
        lasting duration: Int64 = 30_000,
        hasWantedAds: Bool? = true
    ) -> PresentBreak {
        PresentBreak(
            id: "day.a",
            state: state,
            startMilliseconds: Self.now + 600_000,
            endMilliseconds: Self.now + 600_000 + duration,
            durationMilliseconds: duration,
            announcementMilliseconds: milliseconds.map { Self.now + $0 },
            hasWantedAds: hasWantedAds
        )
    }

    @Test func `a break is filled from the lead on, until it is announced`() {
        let rules = FillingRules(leadMilliseconds: Self.lead)
        let wanted = Self.wanted()
        #expect(rules.ads(of: wanted, Self.present(announcedIn: 30_001), now: Self.now) == .scheduled)
        #expect(rules.ads(of: wanted, Self.present(announcedIn: 30_000), now: Self.now) == .due)
        #expect(rules.ads(of: wanted, Self.present(announcedIn: -5_000), now: Self.now) == .due)
        #expect(rules.time(of: wanted, Self.present(announcedIn: 100_000)) == Self.now + 70_000)
        for state in BreakStatus.State.allCases where state != .scheduled {
            #expect(rules.ads(of: wanted, Self.present(announcedIn: nil, state), now: Self.now) == .kept)
            #expect(rules.time(of: wanted, Self.present(announcedIn: nil, state)) == nil)
        }
    }

    @Test
    func `a break that is not filled has the schedule's ads, and one that another program fills those that it has`() {
        let asking = FillingRules(leadMilliseconds: Self.lead)
        let other = FillingRules()
        for milliseconds in [0, 30_000, 1_000_000] as [Int64] {
            let present = Self.present(announcedIn: milliseconds)
            #expect(asking.ads(of: Self.wanted(.never), present, now: Self.now) == .scheduled)
            #expect(other.ads(of: Self.wanted(.never), present, now: Self.now) == .scheduled)
            #expect(other.ads(of: Self.wanted(), present, now: Self.now) == .kept)
            #expect(asking.ads(of: Self.wanted(.elsewhere), present, now: Self.now) == .kept)
        }
        #expect(asking.time(of: Self.wanted(.never), Self.present()) == nil)
        #expect(other.time(of: Self.wanted(), Self.present()) == nil)
    }

    @Test func `what is decided stays, until the break moves or is forgotten`() {
        var rules = FillingRules(leadMilliseconds: Self.lead)
        let wanted = Self.wanted()
        let present = Self.present(announcedIn: 10_000)
        rules.decide(present)
        #expect(rules.ads(of: wanted, present, now: Self.now) == .kept)
        var moved = present
        moved.startMilliseconds? += 3_600_000
        moved.announcementMilliseconds? += 3_600_000
        #expect(rules.ads(of: wanted, moved, now: Self.now) == .scheduled)
        #expect(rules.ads(of: wanted, moved, now: Self.now + 3_600_000) == .due)
        rules.keep(["day.b"])
        #expect(rules.ads(of: wanted, present, now: Self.now) == .due)
    }

    @Test func `a break waits for its filling until that is decided, or was done by someone else`() {
        var rules = FillingRules(leadMilliseconds: Self.lead)
        func change(_ wanted: WantedBreak, _ present: PresentBreak?, isFilledAlready: Bool = false) -> ScheduleChange {
            var change = ScheduleChange(kind: .unchanged, id: "day.a", wanted: wanted, present: present)
            change.isFilledAlready = isFilledAlready
            return change
        }
        for milliseconds in [-1, 10_000, 1_000_000] as [Int64] {
            #expect(rules.awaits(change(Self.wanted(), Self.present(announcedIn: milliseconds))))
        }
        #expect(!rules.awaits(change(Self.wanted(), Self.present(announcedIn: 1), isFilledAlready: true)))
        #expect(!rules.awaits(change(Self.wanted(.never), Self.present())))
        #expect(!rules.awaits(change(Self.wanted(.elsewhere), Self.present())))
        #expect(!rules.awaits(change(Self.wanted(), nil)))
        #expect(!rules.awaits(change(Self.wanted(), Self.present(announcedIn: nil, .announced))))
        rules.decide(Self.present())
        #expect(!rules.awaits(change(Self.wanted(), Self.present())))
    }

    private func plan(_ wanted: WantedBreak, _ present: PresentBreak) -> ScheduleChange? {
        var planner = SchedulePlanner(name: "day")
        planner.filling = FillingRules(leadMilliseconds: Self.lead)
        return planner.plan([wanted], present: [present], now: Self.now).first
    }

    @Test func `a plan fills what has the schedule's ads, and leaves what was filled before`() {
        let due = self.plan(Self.wanted(), Self.present(announcedIn: 10_000))
        #expect(due?.kind == .unchanged && due?.isFillingDue == true && due?.isFilledAlready == false)
        let filled = self.plan(Self.wanted(), Self.present(announcedIn: 10_000, hasWantedAds: false))
        #expect(filled?.kind == .unchanged && filled?.isFillingDue == false && filled?.isFilledAlready == true)
        let early = self.plan(Self.wanted(), Self.present(hasWantedAds: false))
        #expect(early?.kind == .changed && early?.differences == ["ads"])
        // A break that moves or gets another length in this pass is looked at again in the next one.
        let longer = self.plan(Self.wanted(), Self.present(announcedIn: 10_000, lasting: 20_000))
        #expect(longer?.kind == .changed && longer?.differences == ["duration"] && longer?.isFillingDue == false)
        let own = self.plan(Self.wanted(lastsAsItsAds: true), Self.present(announcedIn: 10_000, lasting: 20_000))
        #expect(own?.kind == .unchanged && own?.isFillingDue == true)
        // What listeners know is no fault of the schedule.
        let announced = self.plan(Self.wanted(), Self.present(announcedIn: nil, .announced, hasWantedAds: nil))
        #expect(announced?.kind == .unchanged && announced?.isFillingDue == false)
    }
}

/// How often an ad server is asked.
@Suite(.suiteLimit)
struct AdServerGateTests {
    /// A gate that expectations can ask.
    private final class Gate {
        private var gate: AdServerGate

        init(_ limits: AdServerGateLimits = AdServerGateLimits()) { self.gate = AdServerGate(limits: limits) }

        func admission(to server: String, at now: Duration) -> AdServerGate.Admission {
            self.gate.admission(to: server, at: now)
        }

        func ended(_ server: String, worked: Bool, at now: Duration) -> Bool {
            self.gate.ended(server, worked: worked, at: now)
        }
    }

    @Test func `a server that fails so often is left alone, and then one request finds out`() {
        let gate = Gate()
        for failure in 1...4 {
            #expect(gate.admission(to: "a", at: .seconds(failure)) == .ask)
            #expect(!gate.ended("a", worked: false, at: .seconds(failure)))
        }
        // One answer, and it begins anew.
        #expect(!gate.ended("a", worked: true, at: .seconds(5)))
        for failure in 1...5 {
            #expect(gate.admission(to: "a", at: .seconds(10 + failure)) == .ask)
            #expect(gate.ended("a", worked: false, at: .seconds(10 + failure)) == (failure == 5))
        }
        #expect(gate.admission(to: "a", at: .seconds(20)) == .paused(.seconds(55)))
        #expect(gate.admission(to: "b", at: .seconds(20)) == .ask)
        #expect(gate.admission(to: "a", at: .seconds(75)) == .ask)
        #expect(gate.admission(to: "a", at: .seconds(75)) == .paused(.seconds(60)), "the first one finds out")
        #expect(gate.ended("a", worked: false, at: .seconds(76)))
        #expect(gate.admission(to: "a", at: .seconds(135)) == .paused(.seconds(1)))
        #expect(gate.admission(to: "a", at: .seconds(136)) == .ask)
        #expect(!gate.ended("a", worked: true, at: .seconds(137)))
        #expect(gate.admission(to: "a", at: .seconds(137)) == .ask)
    }

    @Test func `so many requests a second, and one more waits`() {
        let gate = Gate()
        for _ in 0..<20 { #expect(gate.admission(to: "a", at: .seconds(7)) == .ask) }
        #expect(gate.admission(to: "a", at: .seconds(7)) == .wait(.milliseconds(50)))
        #expect(gate.admission(to: "b", at: .seconds(7)) == .ask)
        #expect(gate.admission(to: "a", at: .milliseconds(7_050)) == .ask)
        #expect(gate.admission(to: "a", at: .milliseconds(7_050)) == .wait(.milliseconds(50)))
        for _ in 0..<20 { #expect(gate.admission(to: "a", at: .seconds(9)) == .ask) }
    }

    @Test func `never more than the rate, whenever requests come`() throws {
        var generator = SeededGenerator(for: #function)
        for round in 0..<200 {
            var limits = AdServerGateLimits()
            limits.adServerRequestsPerSecondMax = .random(in: 1...30, using: &generator)
            let gate = Gate(limits)
            var now = Duration.seconds(100)
            var asked: [Duration] = []
            for _ in 0..<300 {
                now += .milliseconds(Int.random(in: 0...80, using: &generator))
                if gate.admission(to: "a", at: now) == .ask { asked.append(now) }
            }
            for (index, time) in asked.enumerated() {
                let within = asked[index...].prefix { $0 < time + .seconds(1) }.count
                // What came at once, and what the second lets through beside it.
                try #require(
                    within <= 2 * limits.adServerRequestsPerSecondMax,
                    "CUECAST_SEED=\(SeededGenerator.seed) round \(round)"
                )
            }
            try #require(
                Double(asked.count)
                    <= Double(limits.adServerRequestsPerSecondMax) * (1 + (now - .seconds(100)) / .seconds(1)) + 1,
                "CUECAST_SEED=\(SeededGenerator.seed) round \(round)"
            )
        }
    }

    @Test func `of too many servers the one that was asked longest ago is forgotten`() {
        var limits = AdServerGateLimits()
        limits.adServersMax = 2
        limits.adServerFailuresMax = 1
        let gate = Gate(limits)
        for (second, server) in ["a", "b"].enumerated() {
            #expect(gate.admission(to: server, at: .seconds(second)) == .ask)
            #expect(gate.ended(server, worked: false, at: .seconds(second)))
        }
        #expect(gate.admission(to: "b", at: .seconds(2)) == .paused(.seconds(59)))
        #expect(gate.admission(to: "c", at: .seconds(2)) == .ask)
        #expect(gate.admission(to: "b", at: .seconds(3)) == .paused(.seconds(58)))
        #expect(gate.admission(to: "a", at: .seconds(3)) == .ask, "it was forgotten")
    }
}

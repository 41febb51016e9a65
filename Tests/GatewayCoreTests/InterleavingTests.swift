// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// A timer's decision is checked again when its record is applied: something may have been accepted before it.
@Suite(.suiteLimit)
struct InterleavingTests {
    /// The due entries, planned on the present board and not applied yet.
    private func due(_ desk: Desk, _ seconds: Double) -> [BreakEntry] {
        BreakTimers(policy: desk.planner.policy).due(on: desk.board, at: Sample.at(seconds)) { _ in 0 }.entries
    }

    /// A break from 20 to 50 whose announcement was never made.
    private func late() -> Desk {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        return desk
    }

    @Test func `a break that was made longer just before does not expire`() throws {
        var desk = self.late()
        let expire = self.due(desk, 50)
        #expect(expire.map(\.kind) == [.expire(Sample.key(), try #require(desk["b1"]).number)])
        #expect(desk.ask(.update(.init(key: Sample.key(), duration: .seconds(60))), at: 50).word == "available")
        #expect(desk.append(expire).map(\.word) == ["unchanged"])
        #expect(desk["b1"]?.state(at: Sample.at(50)) == .live)
    }

    @Test func `a break that was moved just before does not expire, and is announced in its time`() {
        var desk = self.late()
        let expire = self.due(desk, 50)
        #expect(desk.ask(.update(.init(key: Sample.key(), start: .after(.seconds(100)))), at: 50).word == "silently")
        #expect(desk.append(expire).map(\.word) == ["unchanged"])
        #expect(desk["b1"]?.state(at: Sample.at(50)) == .scheduled)
        #expect(desk.tick(at: 141).isEmpty)
        #expect(desk.tick(at: 142).map(\.word) == ["available"])
    }

    @Test func `a cued break that was punched just before does not expire`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: nil, hold: .seconds(60))), at: 0)
        let expire = self.due(desk, 60)
        #expect(desk.ask(.punch(.init(key: Sample.key())), at: 59.9).word == "updated")
        #expect(desk.append(expire).map(\.word) == ["unchanged"])
        #expect(desk["b1"]?.state(at: Sample.at(62)) == .live)
    }

    @Test func `a break that was moved to later just before is not announced early`() {
        var desk = self.late()
        let announce = self.due(desk, 12)
        #expect(
            desk.ask(.update(.init(key: Sample.key(), start: .at(Sample.at(100)))), at: 12 - 0.001).word == "silently"
        )
        #expect(desk.append(announce).map(\.word) == ["unchanged"])
        #expect(desk["b1"]?.state(at: Sample.at(12)) == .scheduled)
        #expect(desk.tick(at: 91.999).isEmpty)
        #expect(desk.tick(at: 92).map(\.word) == ["available"])
    }

    @Test func `a break that was made so short that it is over is not announced`() {
        var desk = self.late()
        let announce = self.due(desk, 49)
        #expect(desk.ask(.update(.init(key: Sample.key(), duration: .seconds(28.5))), at: 48).word == "available")
        // The update announced it; one that was planned elsewhere finds nothing to do.
        #expect(desk.append(announce).map(\.word) == ["unchanged"])
        var other = self.late()
        let late = self.due(other, 49)
            .map { entry in
                var entry = entry
                entry.at = Sample.at(50)
                return entry
            }
        #expect(other.append(late).map(\.word) == ["silently"])
        #expect(other["b1"]?.state(at: Sample.at(50)) == .expired)
    }

    @Test func `a break that was moved nearer is asked for before it starts`() throws {
        var desk = self.late()
        desk.listeners = 1_000_000
        let announce = BreakTimers(policy: desk.planner.policy)
            .due(on: desk.board, at: Sample.at(12)) { _ in 1_000_000 }.entries
        // Another gateway plans with a nearer announcement.
        var other = desk
        other.planner.policy.announceAhead = .seconds(2)
        let request = BroadcastRequest(id: 1, kind: .update(.init(key: Sample.key(), start: .at(Sample.at(14)))))
        guard
            case .append(let update) = other.planner.plan(
                request,
                by: .anybody,
                on: desk.board,
                at: Sample.at(11),
                listeners: 0
            )
        else { return #expect(Bool(false)) }
        #expect(desk.append([update]).map(\.word) == ["silently"])
        #expect(desk.append(announce).map(\.word) == ["available"])
        let window = try #require(desk["b1"]).record.window
        #expect(window.by <= Sample.at(14))
    }

    @Test func `a move back to the start that it had is announced in its time`() {
        var desk = self.late()
        let request = BroadcastRequest(id: 1, kind: .update(.init(key: Sample.key(), start: .at(Sample.at(20)))))
        // One gateway thinks that it starts then already; another has moved it meanwhile.
        func plan(_ kind: BroadcastRequest.Kind) -> BreakEntry? {
            let plan = desk.planner.plan(
                BroadcastRequest(id: 1, kind: kind),
                by: .anybody,
                on: desk.board,
                at: Sample.at(1),
                listeners: 0
            )
            guard case .append(let entry) = plan else { return nil }
            return entry
        }
        guard
            let back = plan(.update(.init(key: Sample.key(), start: .at(Sample.at(20)), duration: .seconds(29)))),
            let away = plan(.update(.init(key: Sample.key(), start: .at(Sample.at(3_000)))))
        else { return #expect(Bool(false), "\(request)") }
        #expect(desk.append([away, back]).map(\.word) == ["silently", "silently"])
        #expect(desk["b1"]?.record.start == Sample.at(20))
        #expect(desk.tick(at: 12).map(\.word) == ["available"])
        // Also one that did not work out what follows from the start.
        desk = self.late()
        let plain = BreakEntry(
            at: Sample.at(1),
            kind: .update(
                .init(request: .init(key: Sample.key(), start: .at(Sample.at(20))), start: Sample.at(20))
            )
        )
        #expect(desk.append([away, plain]).map(\.word) == ["silently", "silently"])
        #expect(desk.tick(at: 12).map(\.word) == ["available"])
    }
}

/// No accepted request leaves a break that is announced and cannot be played.
@Suite(.suiteLimit)
struct PlayableBreakTests {
    /// A break from 20 to 50, announced, that ends early.
    private func ending(at end: Double) -> Desk {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        desk.tick(at: 12)
        #expect(desk.ask(.end(.init(key: Sample.key(), at: Sample.at(end))), at: 13).word == "ended")
        return desk
    }

    @Test(arguments: [(25.0, 25.0), (25.0, 30.0), (25.0, 24.999_5)])
    func `a start at or past an early end takes the end away`(end: Double, start: Double) throws {
        var desk = self.ending(at: end)
        #expect(desk.ask(.update(.init(key: Sample.key(), start: .at(Sample.at(start)))), at: 14).word == "updated")
        let each = try #require(desk["b1"])
        #expect(each.end == Sample.at(start + 30), "it lasts as long as it was published")
        #expect(each.lasting == .seconds(30))
        #expect(!each.playableSteps.isEmpty)
        #expect(desk.notices.last?.notice.duration == .seconds(30))
    }

    @Test func `a start before an early end leaves the end`() {
        var desk = self.ending(at: 25)
        #expect(desk.ask(.update(.init(key: Sample.key(), start: .at(Sample.at(24.999)))), at: 14).word == "updated")
        #expect(desk["b1"]?.end == Sample.at(25))
        #expect(desk["b1"]?.lasting == .milliseconds(1))
    }

    @Test func `a start so much earlier that the end would make the break longer takes the end away`() {
        var desk = self.ending(at: 48)
        #expect(desk.ask(.update(.init(key: Sample.key(), start: .at(Sample.at(15)))), at: 14).word == "updated")
        #expect(desk["b1"]?.end == Sample.at(45))
    }

    /// An exact break whose last advertisement is as long as the break, and one that is a millisecond longer.
    @Test(
        arguments: [
            (BreakStart.after(.seconds(20)), false), (.now, false), (nil, false), (nil, true),
        ] as [(BreakStart?, Bool)]
    )
    func `an exact break of which nothing would fit is refused`(start: BreakStart?, preStream: Bool) throws {
        for (last, fits) in [(30.0, true), (30.001, false)] {
            var desk = Desk()
            let publish = Sample.publish(
                start: start,
                advertisements: Sample.advertisements([5, last]),
                preStream: preStream,
                exact: true
            )
            let reply = desk.ask(.publish(publish), at: 0)
            #expect((reply.refusal == nil) == fits)
            #expect((desk["b1"] != nil) == fits)
            guard let refusal = reply.refusal else { continue }
            #expect(refusal.status == .invalid)
            #expect(
                refusal.sentence
                    == "The break b1 is exact, and not even its last advertisement fits: that lasts 30.001 s."
                    + " Make the break longer, or let its last advertisement be cut."
            )
        }
    }

    @Test func `no change leaves an exact break of which nothing would fit`() throws {
        var desk = Desk()
        let publish = Sample.publish(advertisements: Sample.advertisements([20, 10]), exact: true)
        #expect(desk.ask(.publish(publish), at: 0).refusal == nil)
        func update(_ duration: Double) -> BroadcastRequest.Kind {
            .update(.init(key: Sample.key(), duration: .milliseconds(Int64(duration * 1_000))))
        }
        #expect(desk.ask(update(9.999), at: 1).refusal?.status == .invalid)
        #expect(desk["b1"]?.record.duration == .seconds(30))
        #expect(desk.ask(update(10), at: 2).word == "silently")
        let longer = BroadcastRequest.Update(key: Sample.key(), advertisements: Sample.advertisements([10.001]))
        #expect(desk.ask(.update(longer), at: 3).refusal?.status == .invalid)
    }

    @Test func `an exact break may be ended so early that nothing fits any more`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(exact: true)), at: 0)
        desk.tick(at: 12)
        #expect(desk.ask(.end(.init(key: Sample.key(), at: Sample.at(21))), at: 13).word == "ended")
        #expect(desk["b1"]?.playableSteps.isEmpty == true)
    }

    @Test func `a break cannot end within its first millisecond, which the wire has as nothing`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        desk.tick(at: 12)
        let early = BroadcastRequest.End(key: Sample.key(), at: Sample.at(20.000_999))
        #expect(desk.ask(.end(early), at: 13).refusal?.status == .wrongState)
        #expect(desk.ask(.end(.init(key: Sample.key(), at: Sample.at(20.001))), at: 13).word == "ended")
        #expect(desk["b1"]?.lasting == .milliseconds(1))
    }
}

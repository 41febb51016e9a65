// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The words about a signal: what it did, why it did nothing, and what was odd about it.
@Suite(.suiteLimit)
struct SignalOutcomeTests {
    private static func openPolicy() -> CuePolicy {
        var policy = Cues.policy
        policy.rules[0].defaultDuration = nil
        return policy
    }

    private static func outcome(
        _ desk: inout Desk,
        _ kind: BroadcastRequest.Kind,
        at seconds: Double
    ) throws -> SignalOutcome {
        guard case .signal(let signal) = kind else { throw NoSignal() }
        func taken(_ info: BreakInfo, _ changed: Bool) -> SignalOutcome {
            SignalOutcome(
                signal,
                on: info,
                changed: changed,
                received: Sample.at(seconds),
                tolerance: Cues.policy.rules[0].tolerance
            )
        }
        switch desk.ask(kind, at: seconds) {
        case .recorded(.changed(let each, _)): return taken(each.info(at: Sample.at(seconds)), true)
        case .recorded(.unchanged(let each)): return taken(each.info(at: Sample.at(seconds)), false)
        case .answered(.break(let info)): return taken(info, false)
        case .recorded(.refused(let refusal)), .answered(.refused(let refusal)):
            return SignalOutcome(refusal, of: signal)
        default: throw NoSignal()
        }
    }

    private struct NoSignal: Error {}

    @Test func `each step of a break has its word, and what changes nothing says why`() throws {
        var desk = Cues.desk()
        let opened = try Self.outcome(&desk, Cues.out(at: 20, lasting: 30), at: 1)
        #expect(opened.effect == .opened && opened.reason.isEmpty && opened.oddity == nil)
        #expect(opened.effect.outcome == .changed)
        let again = try Self.outcome(&desk, Cues.out(at: 20, lasting: 30), at: 2)
        #expect(again.effect == .repeated && again.effect.outcome == .unchanged)
        let id = try #require(desk.cued.first).key.id
        #expect(again.reason == "Nothing changed: the break \(id) has all that it says.")
        let joined = try Self.outcome(&desk, Cues.out("playlist", at: 20.5), at: 3)
        #expect(joined.effect == .followed)
        desk.tick(at: 20)
        #expect(try Self.outcome(&desk, Cues.back(at: 40), at: 30).effect == .ended)
        let over = try Self.outcome(&desk, Cues.out(at: 20, lasting: 30), at: 45)
        #expect(over.effect == .over && over.reason == "Nothing changed: the break \(id) is over.")
        var gone = Cues.desk()
        _ = gone.ask(Cues.out(at: 20), at: 1)
        #expect(try Self.outcome(&gone, Cues.cancel(), at: 2).effect == .takenBack)
        let back = try Self.outcome(&gone, Cues.out(at: 20), at: 3)
        #expect(back.effect == .goneBefore && back.reason.contains("taken back before"))
    }

    @Test func `an IN without an OUT is odd, and one that has no policy or comes too late is not`() throws {
        var desk = Cues.desk()
        let alone = try Self.outcome(&desk, Cues.back(), at: 1)
        #expect(alone.effect == .refused && alone.status == .notFound && alone.oddity == .inWithoutOut)
        #expect(alone.reason.contains("no OUT came before"))
        let cancel = try Self.outcome(&desk, Cues.cancel(), at: 1)
        #expect(cancel.status == .notFound && cancel.oddity == nil)
        var without = Cues.desk(CuePolicy())
        let refused = try Self.outcome(&without, Cues.back(), at: 1)
        #expect(refused.effect == .refused && refused.oddity == nil)
    }

    @Test(arguments: [(10.0, false), (22.0, false), (22.001, true)])
    func `a second OUT is odd while the break runs, beyond the tolerance of its start`(
        _ seconds: Double,
        _ isOdd: Bool
    ) throws {
        var desk = Cues.desk(Self.openPolicy())
        _ = desk.ask(Cues.out(at: 20), at: 1)
        desk.tick(at: 12)
        if seconds >= 20 { desk.tick(at: 20) }
        // Without a start: when it is received.
        let second = try Self.outcome(&desk, Cues.out(), at: seconds)
        #expect(second.oddity == (isOdd ? .secondOut : nil))
        // A repeat of what was said is not odd, however late it comes.
        #expect(try Self.outcome(&desk, Cues.out(at: 20), at: max(seconds, 21)).oddity == nil)
    }

    @Test func `an OUT of another event at the time of a break is a second OUT`() throws {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 20, lasting: 30), at: 1)
        let second = try Self.outcome(&desk, Cues.out("encoder", "2", at: 30), at: 2)
        #expect(second.status == .breakOverlap && second.oddity == .secondOut)
    }

    @Test func `a break is without its IN where nothing but the safety limit ended it`() throws {
        var desk = Cues.desk(Self.openPolicy())
        _ = desk.ask(Cues.out(at: 20), at: 1)
        #expect(SignalOutcome.Oddity.isOutWithoutIn(try #require(desk.cued.first)))
        _ = desk.ask(Cues.back(at: 50), at: 2)
        #expect(!SignalOutcome.Oddity.isOutWithoutIn(try #require(desk.cued.first)))
        var long = Cues.desk(Self.openPolicy())
        _ = long.ask(Cues.out(at: 20, lasting: 30), at: 1)
        #expect(!SignalOutcome.Oddity.isOutWithoutIn(try #require(long.cued.first)))
        var usual = Cues.desk()
        _ = usual.ask(Cues.out(at: 20), at: 1)
        #expect(!SignalOutcome.Oddity.isOutWithoutIn(try #require(usual.cued.first)))
        var gone = Cues.desk(Self.openPolicy())
        _ = gone.ask(Cues.out(at: 20), at: 1)
        _ = gone.ask(Cues.cancel(), at: 2)
        #expect(!SignalOutcome.Oddity.isOutWithoutIn(try #require(gone.cued.first)))
    }

    @Test func `lateness counts from the instant that is said, where something changed`() throws {
        var desk = Cues.desk()
        #expect(try Self.outcome(&desk, Cues.out(at: 20), at: 1).lateness == .zero)
        #expect(try Self.outcome(&desk, Cues.out(at: 20), at: 2).lateness == nil, "a repeat")
        var late = Cues.desk()
        #expect(
            try Self.outcome(&late, Cues.out(at: 20, lasting: 60, programme: true), at: 23.5).lateness
                == .milliseconds(3_500)
        )
        var now = Cues.desk()
        #expect(try Self.outcome(&now, Cues.out(), at: 20).lateness == nil, "it says no instant")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// A forgotten session is recognised, and is nowhere by name.
@Suite(.suiteLimit)
struct ForgettingTests {
    private let now = Timestamp(microseconds: 1_700_000_000_000_000)

    @Test func `a session that was forgotten is known, others are not, and text says the same`() throws {
        var random = SeededGenerator(for: "forgotten")
        var sessions = ForgottenSessions(key: random.next(), random.next())
        #expect(sessions.isEmpty && !sessions.contains(SessionID(high: 1, low: 2)))
        #expect(ForgottenSessions(text: sessions.text) == sessions)
        let forgotten = (0..<50).map { _ in SessionID(high: random.next(), low: random.next()) }
        for (index, session) in forgotten.enumerated() {
            try sessions.forget(session, at: self.now + .seconds(Int64(index)))
        }
        let read = try #require(ForgottenSessions(text: sessions.text))
        #expect(read == sessions && read.count == 50)
        for session in forgotten {
            #expect(read.contains(session))
            #expect(!read.contains(SessionID(high: session.low, low: session.high)))
            #expect(!read.text.contains(session.description))
        }
        // Those of which nothing can come any more are dropped, to the microsecond.
        sessions.prune(at: self.now + ForgottenSessions.keptFor + .seconds(9) - .microseconds(1))
        #expect(sessions.count == 41)
        sessions.prune(at: self.now + ForgottenSessions.keptFor + .seconds(9))
        #expect(sessions.count == 40 && !sessions.contains(forgotten[9]) && sessions.contains(forgotten[10]))
    }

    @Test func `as many are known as may be, and one more is refused`() throws {
        var sessions = ForgottenSessions.empty()
        for number in 0..<UInt64(ForgottenSessions.forgottenSessionsMax) {
            try sessions.forget(SessionID(high: number, low: 1), at: self.now)
        }
        #expect(throws: ForgottenSessions.Full.self) { try sessions.forget(SessionID(high: 0, low: 2), at: self.now) }
        // One that is known already needs no room.
        try sessions.forget(SessionID(high: 7, low: 1), at: self.now + .seconds(1))
        #expect(sessions.count == ForgottenSessions.forgottenSessionsMax)
        #expect(ForgottenSessions(text: sessions.text) == sessions)
        #expect(ForgottenSessions(text: sessions.text + "0000000000000001 7\n") == nil)
    }

    @Test(arguments: ["", "\n", "key 12\n", "key 00000000000000010000000000000002", "0000000000000001 7\n"])
    func `a file that no gateway wrote is not read`(text: String) {
        #expect(ForgottenSessions(text: text) == nil)
        #expect(SessionPseudonyms(text: text) == nil)
        let key = "key 00000000000000010000000000000002\n"
        #expect(ForgottenSessions(text: key) != nil)
        for line in ["x\n", "0000000000000001\n", "000000000000001 7\n", "0000000000000001 x\n", "\n"] {
            #expect(ForgottenSessions(text: key + line) == nil, "\(line)")
        }
    }

    @Test func `digits of a session are read as they are written, and nothing else is`() {
        var random = SeededGenerator(for: "digits")
        for _ in 0..<100 {
            let low = random.next() >> UInt64.random(in: 0...63, using: &random)
            let session = SessionID(high: random.next(), low: low)
            #expect(SessionID(digits: "\(session)") == session)
            #expect(SessionID(digits: "\(session)".uppercased()) == session)
            #expect(SessionID(digits: "\(session)0") == nil)
        }
        for text in ["", "0", "+0000000000000000000000000000001", "0000000000000000+000000000000001", "xyz"] {
            #expect(SessionID(digits: text) == nil)
        }
    }

    @Test func `each break has a name of its own, the same as often as it is asked`() throws {
        var random = SeededGenerator(for: "names")
        let names = SessionPseudonyms(of: SessionID(high: random.next(), low: random.next()))
        let numbers = (0..<200).map { _ in BreakNumber(rawValue: random.next()) }
        #expect(Set(numbers.map { names[$0] }).count == 200)
        let read = try #require(SessionPseudonyms(text: names.text))
        #expect(read == names)
        for number in numbers { #expect(read[number] == names[number] && names[number] != names.session) }
        // Another key, other names.
        #expect(SessionPseudonyms(of: names.session)[numbers[0]] != names[numbers[0]])
    }

    @Test func `a group says the same of other names, and nothing of who it was`() throws {
        let session = SessionID(high: 0x5E55_1055_1055_1055, low: 7)
        let names = SessionPseudonyms(of: session)
        let other = SessionID(high: 9, low: 9)
        func request(_ session: SessionID, _ number: UInt64) throws -> AcknowledgementGroup.AcceptedRequest {
            let delivery = DeliveryToken(
                session: session,
                breakNumber: BreakNumber(rawValue: number),
                first: 0,
                issued: self.now,
                key: KeyID(rawValue: 5),
                code: { _ in AuthenticationCode(high: 0x1234_5678_9ABC_DEF0, low: 0x0FED_CBA9_8765_4321) }
            )
            let acknowledge = ListenerRequest.Acknowledge(
                key: BreakKey(stream: try StreamID("radio1"), id: try BreakID("b-\(number)")),
                delivery: delivery.bytes,
                outcomes: [
                    Outcome(
                        advertisementID: try AdvertisementID("ad"),
                        kind: .played,
                        evidence: .reported,
                        reason: nil,
                        heard: .seconds(7),
                        quartiles: 4,
                        muted: false,
                        vastError: 0,
                        occurred: self.now,
                        clicked: false
                    )
                ]
            )
            return AcknowledgementGroup.AcceptedRequest(
                request: ListenerRequest(id: 3, session: session, kind: .acknowledge(acknowledge)).encoded(),
                received: self.now,
                breakNumber: BreakNumber(rawValue: number),
                ordinals: [0]
            )
        }
        let group = AcknowledgementGroup(
            requests: [try request(session, 1_024), try request(other, 1_024), try request(session, 2_048)],
            deliveries: [session, other]
                .map {
                    AcknowledgementGroup.Delivery(session: $0, breakNumber: BreakNumber(rawValue: 1_024), at: self.now)
                }
        )
        let forgotten = try #require(try group.forgetting(names))
        let before = try LedgerPosting(LoggedRecord(offset: 1, bytes: group.encoded()))
        let after = try LedgerPosting(LoggedRecord(offset: 1, bytes: forgotten.encoded()))
        func renamed(_ one: SessionID, _ number: BreakNumber) -> SessionID { one == session ? names[number] : one }
        #expect(
            after.deliveries
                == before.deliveries.map { each in
                    var each = each
                    each.session = renamed(each.session, each.breakNumber)
                    return each
                }
        )
        #expect(
            after.outcomes
                == before.outcomes.map { each in
                    var each = each
                    each.session = renamed(each.session, each.breakNumber)
                    return each
                }
        )
        let bytes = forgotten.encoded()
        for secret in [session.bytes, [0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0]] {
            let places = bytes.indices.filter { bytes[$0...].starts(with: secret) }
            // The other listener's proof stays.
            #expect(places.count == (secret == session.bytes ? 0 : 1))
        }
        #expect(try forgotten.forgetting(names) == nil)
    }

    @Test func `rules say who goes on hearing`() throws {
        let session = SessionID(high: 1, low: 1)
        let (paid, free) = (try StreamID("paid1"), try StreamID("free"))
        let proof = PushProof(key: KeyID(rawValue: 1), until: .latest)
        var rules = ListenerRules(protectedStreams: [StreamPattern("paid*")].compactMap(\.self))
        #expect(rules.protects(paid) && !rules.protects(free))
        #expect(rules.lets(session, hear: paid, with: proof) && rules.lets(nil, hear: free, with: nil))
        #expect(!rules.lets(session, hear: paid, with: nil) && !rules.lets(nil, hear: paid, with: nil))
        try rules.forgotten.forget(session, at: self.now)
        #expect(!rules.lets(session, hear: paid, with: proof) && !rules.lets(session, hear: free, with: nil))
        #expect(rules.lets(nil, hear: free, with: nil))
    }

    // MARK: - What is refused

    private func counter() -> Counter {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish(start: .at(Sample.at(20)))), at: 1)
        _ = counter.desk.tick(at: 12)
        return counter
    }

    private func forgetting(_ session: SessionID) throws -> ListenerRules {
        var rules = ListenerRules()
        try rules.forgotten.forget(session, at: Sample.at(0))
        return rules
    }

    @Test func `every request of a session that was forgotten is refused, and others are served`() throws {
        var counter = self.counter()
        // So that what comes next is read in place.
        #expect(try counter.batch(by: Sample.session(2), at: 13).batch != nil)
        #expect(try counter.batch(at: 13).batch != nil)
        counter.handler.take(try self.forgetting(Sample.session()))
        let refusals = [
            try counter.batch(at: 14).refusal,
            try counter.acknowledge([Counter.played(at: 13)], at: 14).refusal,
            try counter.ask(.getTime, at: 14).refusal,
            try counter.ask(.leave(Sample.stream), at: 14).refusal,
            try counter.ask(.join(.init(stream: Sample.stream, instance: 1)), at: 14).refusal,
        ]
        #expect(refusals.allSatisfy { $0?.status == .notAllowed && $0?.sentence.contains("forgotten") == true })
        #expect(try counter.gathered.requests.isEmpty)
        #expect(try counter.batch(by: Sample.session(2), at: 14).batch != nil)
        #expect(try counter.acknowledge([Counter.played(at: 13)], by: Sample.session(2), at: 14).deferred != nil)
        // A token that is true does not help.
        let grant = ListenerGrant(streams: [.every], until: Sample.at(9_999))
        let join = ListenerRequest(
            id: 9,
            session: Sample.session(),
            kind: .join(.init(stream: Sample.stream, instance: 1, token: "x"))
        )
        let body = try counter.join(join.encoded(), .success(grant), at: Sample.at(15))
        guard case .refused(let refusal) = body else {
            Issue.record("it joined")
            return
        }
        #expect(refusal.sentence.contains("forgotten"))
    }

    @Test func `groups before are known to be in the log, and refused ones do not come back`() throws {
        var counter = self.counter()
        _ = try counter.batch(at: 13)
        _ = try counter.batch(by: Sample.session(2), at: 13)
        let newest = counter.handler.newestGroup
        #expect(!counter.handler.hasAnswered(through: newest))
        let (number, group) = counter.handler.takeGroup()
        #expect(group.deliveries.count == 2 && !counter.handler.hasAnswered(through: newest))
        counter.handler.take(try self.forgetting(Sample.session()))
        _ = counter.handler.answered(number, isDurable: false)
        #expect(counter.handler.hasAnswered(through: newest))
        #expect(counter.handler.group.deliveries.map(\.session) == [Sample.session(2)])
        // Nothing has gathered for the newest one: there is nothing to wait for.
        let next = counter.handler.takeGroup().number
        #expect(!counter.handler.hasAnswered(through: next))
        _ = counter.handler.answered(next, isDurable: true)
        #expect(counter.handler.hasAnswered(through: counter.handler.newestGroup))
    }

    @Test func `a stream that requires a token from now on serves no session without one`() throws {
        var counter = self.counter()
        #expect(try counter.batch(at: 13).batch != nil)
        counter.handler.take(ListenerRules(protectedStreams: [.every]))
        #expect(try counter.batch(at: 14).refusal?.status == .notAllowed)
        #expect(try counter.acknowledge([Counter.played(at: 13)], at: 14).refusal?.status == .notAllowed)
        counter.handler.take(ListenerRules())
        #expect(try counter.batch(at: 15).batch != nil)
    }
}

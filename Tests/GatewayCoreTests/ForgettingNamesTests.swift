// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Sessions that all gateways of a shared log forget.
@Suite(.suiteLimit)
struct ForgettingNamesTests {
    private let session = SessionID(high: 0xF0F0, low: 7)
    private let other = SessionID(high: 0xF0F0, low: 8)

    @Test func `names recognise their session only, and do not hold it`() throws {
        let pseudonyms = SessionPseudonyms(of: self.session)
        let names = try #require(ForgettingNames(bytes: pseudonyms.names.bytes))
        #expect(names == pseudonyms.names && names.areOf(self.session) && !names.areOf(self.other))
        #expect(
            SessionPseudonyms(of: self.session, names)[BreakNumber(rawValue: 5)] == pseudonyms[BreakNumber(rawValue: 5)]
        )
        #expect(!String(decoding: names.bytes, as: UTF8.self).contains("\(self.session)"))
        var damaged = names.bytes
        damaged[damaged.count - 2] ^= 1
        #expect(ForgettingNames(bytes: damaged) != names)
        #expect(ForgettingNames(bytes: Array(names.bytes.dropLast())) == nil)
    }

    @Test func `a record and its rows get the same names`() throws {
        let names = [SessionPseudonyms(of: self.session).names, SessionPseudonyms(of: self.other).names]
        let third = SessionID(high: 3, low: 3)
        let group = AcknowledgementGroup(
            deliveries: [self.session, third, self.other]
                .map { .init(session: $0, breakNumber: BreakNumber(rawValue: 1_024), at: Timestamp(microseconds: 1)) }
        )
        let record = LoggedRecord(offset: 4, bytes: group.encoded())
        let renamed = try record.forgetting(names)
        #expect(renamed.isStandIn && renamed.offset == 4)
        #expect(try LedgerPosting(renamed) == LedgerPosting(record).forgetting(names))
        let sessions = try AcknowledgementGroup(decoding: renamed.bytes).sessions()
        #expect(sessions.count == 3 && sessions.contains(third) && !sessions.contains(self.session))
        #expect(!sessions.contains(self.other))
        // A record without them stays as it is, and so does one that only settles others.
        #expect(try renamed.forgetting(names) == renamed)
        #expect(try LoggedRecord(offset: 5, bytes: []).forgetting(names) == LoggedRecord(offset: 5, bytes: []))
    }

    @Test func `sessions of a shared log are refused beside the gateway's own, up to the limit`() throws {
        let key = ForgottenSessions.Key(1, 2)
        var sessions = ForgottenSessions(key: 3, 4)
        try sessions.forget(self.other, at: Timestamp(microseconds: 1))
        try sessions.take(key.hash(of: self.session), of: key, at: Timestamp(microseconds: 2))
        #expect(sessions.contains(self.session) && sessions.contains(self.other) && sessions.count == 2)
        #expect(ForgottenSessions(text: sessions.text) == sessions)
        #expect(ForgottenSessions.Key(digits: "\(key)") == key)
        for number in 2..<UInt64(ForgottenSessions.forgottenSessionsMax) {
            try sessions.take(number, of: key, at: Timestamp(microseconds: 3))
        }
        #expect(sessions.count == ForgottenSessions.forgottenSessionsMax)
        #expect(ForgottenSessions(text: sessions.text) == sessions)
        // One that is known stays; one more has no room.
        try sessions.take(key.hash(of: self.session), of: key, at: Timestamp(microseconds: 9))
        #expect(throws: ForgottenSessions.Full.self) {
            try sessions.take(1, of: key, at: Timestamp(microseconds: 3))
        }
        #expect(throws: ForgottenSessions.Full.self) {
            try sessions.forget(SessionID(high: 9, low: 9), at: Timestamp(microseconds: 3))
        }
        sessions.prune(at: Timestamp(microseconds: 8) + ForgottenSessions.keptFor)
        #expect(sessions.count == 1 && sessions.contains(self.session))
    }
}

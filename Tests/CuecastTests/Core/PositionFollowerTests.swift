// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @testable import Cuecast

@Suite(.suiteLimit)
struct PositionFollowerTests {
    typealias Step = PositionFollower.Step

    func answer(
        _ kind: ListenerReply.Joined.Kind,
        head: UInt64,
        epoch: UInt64 = 7,
        _ notices: [Notice] = []
    ) -> ListenerReply.Joined {
        ListenerReply.Joined(
            kind: kind,
            head: position(head, epoch: epoch),
            notices: notices,
            instance: 1,
            headInterval: .seconds(5),
            lease: .seconds(300)
        )
    }

    /// A follower that has joined at this sequence.
    func following(_ sequence: UInt64 = 10) -> PositionFollower {
        var follower = PositionFollower()
        follower.joinSent()
        _ = follower.joined(self.answer(.snapshot, head: sequence), now: local(0))
        return follower
    }

    @Test func `the next sequence is applied`() {
        var follower = self.following()
        #expect(follower.received(notice(11), now: local(1)) == Step(apply: [notice(11)]))
        #expect(follower.last == position(11))
    }

    @Test func `a repeated or older notice is not applied`() {
        var follower = self.following()
        _ = follower.received(notice(11), now: local(1))
        #expect(follower.received(notice(11), now: local(1)) == Step())
        #expect(follower.received(notice(9), now: local(1)) == Step())
        #expect(follower.last == position(11))
    }

    @Test func `a head at the position, or behind it, changes nothing`() {
        var follower = self.following()
        #expect(follower.received(head(10), now: local(1)) == Step())
        #expect(follower.received(head(8), now: local(1)) == Step())
    }

    @Test func `a head ahead of the position is a gap`() {
        var follower = self.following()
        #expect(follower.received(head(11), now: local(1)) == Step(lost: .gap))
    }

    @Test func `a gap applies nothing until a join says what was missed`() {
        var follower = self.following()
        #expect(follower.received(notice(12), now: local(1)) == Step(lost: .gap))
        #expect(follower.received(notice(13), now: local(1)) == Step())
        follower.joinSent()
        let step = follower.joined(self.answer(.recovered, head: 12, [notice(11), notice(12)]), now: local(2))
        #expect(step == Step(apply: [notice(11), notice(12), notice(13)]))
        #expect(follower.last == position(13))
    }

    @Test func `reordered notices close the gap by themselves`() {
        var follower = self.following()
        #expect(follower.received(notice(12), now: local(1)).lost == .gap)
        let step = follower.received(notice(11), now: local(1))
        #expect(step == Step(apply: [notice(11), notice(12)], recovered: true))
    }

    @Test func `a gap that a head showed is closed only by reaching that head`() {
        var follower = self.following()
        #expect(follower.received(head(12), now: local(1)).lost == .gap)
        #expect(follower.received(notice(11), now: local(1)) == Step(apply: [notice(11)]))
        #expect(follower.received(notice(12), now: local(1)) == Step(apply: [notice(12)], recovered: true))
    }

    @Test func `another epoch is a loss that only a join ends`() {
        var follower = self.following()
        #expect(follower.received(notice(1, epoch: 8), now: local(1)).lost == .epoch)
        #expect(follower.received(notice(11), now: local(1)) == Step(apply: [notice(11)]))
        follower.joinSent()
        let step = follower.joined(self.answer(.snapshot, head: 1, epoch: 8, [notice(1, epoch: 8)]), now: local(2))
        #expect(step == Step(apply: [notice(1, epoch: 8)]))
        #expect(follower.last == position(1, epoch: 8))
    }

    @Test func `a head of another epoch is a loss`() {
        var follower = self.following()
        #expect(follower.received(head(10, epoch: 8), now: local(1)).lost == .epoch)
    }

    @Test func `a notice before the answer waits for it and is applied once`() {
        var follower = PositionFollower()
        _ = follower.received(notice(5), now: local(0))
        follower.joinSent()
        _ = follower.received(notice(6), now: local(0))
        _ = follower.received(notice(6), now: local(0))
        _ = follower.received(notice(7), now: local(0))
        let step = follower.joined(self.answer(.snapshot, head: 6, [notice(6)]), now: local(1))
        #expect(step == Step(apply: [notice(6), notice(7)]))
        #expect(follower.last == position(7))
    }

    @Test func `an answer with a gap to what waited is a loss`() {
        var follower = PositionFollower()
        follower.joinSent()
        _ = follower.received(notice(9), now: local(0))
        let step = follower.joined(self.answer(.snapshot, head: 7), now: local(1))
        #expect(step == Step(lost: .gap))
    }

    @Test func `current is believed only at the position that was sent`() {
        var follower = self.following()
        follower.disconnected()
        follower.joinSent()
        #expect(follower.joined(self.answer(.current, head: 10), now: local(1)) == Step())
        follower.disconnected()
        follower.joinSent()
        let wrong = follower.joined(self.answer(.current, head: 11), now: local(1))
        #expect(wrong == Step(lost: .inconsistentAnswer))
        #expect(follower.last == nil)
    }

    @Test(
        "a recovery that is not complete is not believed",
        arguments: [
            [notice(12)], [notice(11)], [notice(11), notice(13)], [notice(12), notice(11)],
            [notice(11, epoch: 8), notice(12, epoch: 8)], [],
        ]
    )
    func incompleteRecovery(notices: [Notice]) {
        var follower = self.following()
        follower.disconnected()
        follower.joinSent()
        let step = follower.joined(self.answer(.recovered, head: 12, notices), now: local(1))
        #expect(step == Step(lost: .inconsistentAnswer))
    }

    @Test func `a recovery without a position is not believed`() {
        var follower = PositionFollower()
        follower.joinSent()
        #expect(follower.joined(self.answer(.recovered, head: 1, [notice(1)]), now: local(1)).lost != nil)
    }

    @Test func `five hundred and twelve notices wait and one more is dropped`() {
        var follower = PositionFollower()
        for sequence in 1...512 as ClosedRange<UInt64> { _ = follower.received(notice(sequence), now: local(0)) }
        #expect(follower.dropped == 0)
        _ = follower.received(notice(513), now: local(0))
        #expect(follower.dropped == 1)
        follower.joinSent()
        let step = follower.joined(self.answer(.snapshot, head: 0), now: local(1))
        #expect(step.apply.count == 512)
        #expect(follower.received(notice(514), now: local(1)).lost == .gap)
    }

    @Test func `notices that a transport dropped are a gap that only a join closes`() {
        var follower = self.following()
        #expect(follower.noticesDropped() == Step(lost: .gap))
        #expect(follower.noticesDropped() == Step())
        #expect(follower.received(notice(11), now: local(1)) == Step(apply: [notice(11)]))
        follower.joinSent()
        #expect(follower.noticesDropped() == Step())
        #expect(follower.joined(self.answer(.current, head: 11), now: local(2)) == Step())
    }

    @Test func `silence of two and a half head intervals is noticed`() {
        var follower = PositionFollower()
        #expect(follower.silenceDeadline == nil)
        follower.joinSent()
        _ = follower.joined(self.answer(.snapshot, head: 3), now: local(10))
        #expect(follower.silenceDeadline == local(22.5))
        _ = follower.received(head(3), now: local(15))
        #expect(follower.silenceDeadline == local(27.5))
        follower.disconnected()
        #expect(follower.silenceDeadline == nil)
    }

    @Test func `an absurd head interval is brought within reason`() {
        for (given, silence) in [(Duration.zero, 0.25), (.seconds(1_000_000), 1_500)] {
            var follower = PositionFollower()
            follower.joinSent()
            var answer = self.answer(.snapshot, head: 3)
            answer.headInterval = given
            _ = follower.joined(answer, now: local(0))
            #expect(follower.silenceDeadline == local(silence))
        }
    }

    @Test func `a join that failed leaves the gap open`() {
        var follower = self.following()
        _ = follower.received(head(12), now: local(1))
        follower.joinSent()
        follower.joinFailed()
        #expect(follower.received(notice(11), now: local(1)) == Step(apply: [notice(11)]))
        #expect(follower.received(notice(12), now: local(1)) == Step(apply: [notice(12)]))
        // Only a join can tell whether more was missed while one was under way.
        #expect(follower.received(notice(14), now: local(1)) == Step())
    }

    @Test func `the highest sequence does not trap`() {
        var follower = self.following(.max)
        #expect(follower.received(notice(.max), now: local(1)) == Step())
        #expect(follower.received(notice(0), now: local(1)) == Step())
    }
}

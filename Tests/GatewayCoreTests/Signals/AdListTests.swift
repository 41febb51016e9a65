// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Named lists of advertisements: revisions, limits, and who may change them.
@Suite(.suiteLimit)
struct AdListTests {
    private func put(_ name: String = "spots", _ seconds: [Double] = [10]) -> BroadcastRequest.Kind {
        .putList(.init(name: Self.name(name), advertisements: Sample.advertisements(seconds)))
    }

    private static func name(_ text: String) -> AdListName { must { () throws(WireError) in try AdListName(text) } }

    @Test func `a list has a revision from 1 on, and the same content is no change`() {
        var desk = Desk()
        #expect(desk.ask(self.put(), at: 1).word == "put")
        #expect(desk.ask(self.put(), at: 2).word == "unchanged")
        #expect(desk.board.lists[Self.name("spots")]?.revision == 1)
        #expect(desk.ask(self.put("spots", [5, 5]), at: 3).word == "put")
        let list = desk.board.lists[Self.name("spots")]
        #expect(list?.revision == 2)
        #expect(list?.changed == Sample.at(3))
        #expect(list?.info.duration == .seconds(10))
        #expect(desk.ask(.removeList(Self.name("spots")), at: 4).word == "removed")
        #expect(desk.ask(.removeList(Self.name("spots")), at: 5).word == "NOT_FOUND")
        #expect(desk.board.lists.count == 0)
        #expect(desk.board.lists.bytes == 0)
    }

    @Test func `an expected revision is looked at as for breaks`() {
        var desk = Desk()
        #expect(desk.ask(self.put(), expecting: 1, at: 1).word == "REVISION_CONFLICT")
        #expect(desk.ask(self.put(), expecting: ExpectedRevision.any, at: 1).word == "REVISION_CONFLICT")
        #expect(desk.ask(self.put(), expecting: 0, at: 1).word == "put")
        #expect(desk.ask(self.put(), expecting: 0, at: 1).word == "REVISION_CONFLICT")
        #expect(desk.ask(self.put(), expecting: 9, at: 1).word == "unchanged")
        #expect(desk.ask(self.put("spots", [5]), expecting: 2, at: 1).word == "REVISION_CONFLICT")
        #expect(desk.ask(self.put("spots", [5]), expecting: 1, at: 1).word == "put")
        #expect(desk.ask(.removeList(Self.name("spots")), expecting: 1, at: 1).word == "REVISION_CONFLICT")
        #expect(desk.ask(.removeList(Self.name("spots")), expecting: 2, at: 1).word == "removed")
    }

    @Test func `a list that the cue policy names is not removed`() {
        var desk = Cues.desk()
        let refusal = desk.ask(.removeList(Cues.list), at: 1).refusal
        #expect(refusal?.status == .wrongState)
        #expect(refusal?.sentence == "The ad list spots is in use: the cue policy names it for *.")
        desk.planner.cues = CuePolicy()
        #expect(desk.ask(.removeList(Cues.list), at: 1).word == "removed")
    }

    @Test func `there are so many lists at most`() {
        var desk = Desk()
        for number in 0..<WireLimits.adListsMax { #expect(desk.ask(self.put("l\(number)"), at: 1).word == "put") }
        #expect(desk.ask(self.put("more"), at: 1).refusal?.sentence == "The limit adListsMax is 500 and is reached.")
        #expect(desk.ask(self.put("l0", [7]), at: 1).word == "put")
    }

    @Test func `lists count into the bytes of the board`() {
        var desk = Desk(Board(epoch: Sample.epoch, bytesMax: 1_500))
        #expect(desk.ask(self.put(), at: 1).word == "put")
        #expect(desk.board.bytes == desk.board.lists.bytes)
        #expect(desk.ask(self.put("spots", [5, 5]), at: 1).word == "LIMIT_REACHED")
        #expect(desk.ask(self.put("more"), at: 1).word == "LIMIT_REACHED")
    }

    @Test func `only a broadcaster of every stream has to do with lists`() {
        var desk = Cues.desk()
        let one = BroadcastPrincipal(name: "one", streams: [StreamPattern("radio1")].compactMap(\.self))
        for kind in [self.put(), .removeList(Cues.list), .lists(nil), .lists(Cues.list)] {
            let refusal = desk.ask(kind, at: Sample.at(1), by: one).refusal
            #expect(refusal?.status == .notAllowed)
            #expect(refusal?.sentence.contains("one has no right to ad lists") == true)
        }
        #expect(desk.ask(self.put("new"), at: Sample.at(1), by: .all(named: "all")).word == "put")
    }

    @Test func `a list is shown with its advertisements, and all without`() {
        var desk = Cues.desk()
        guard case .answered(.adList(let info, let ads)) = desk.ask(.lists(Cues.list), at: 1) else {
            return #expect(Bool(false))
        }
        #expect(info.name == Cues.list)
        #expect(ads == Cues.spots)
        guard case .answered(.adLists(let infos)) = desk.ask(.lists(nil), at: 1) else { return #expect(Bool(false)) }
        #expect(infos.map(\.name) == [Cues.list])
        #expect(desk.ask(.lists(Self.name("none")), at: 1).word == "NOT_FOUND")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The planning of a request by the gateway's clock and configuration.
@Suite(.suiteLimit)
struct PlannerTests {
    private func publish(_ start: BreakStart?, _ id: String = "b1") -> BroadcastRequest.Kind {
        .publish(Sample.publish(id, start: start))
    }

    @Test func `a start is resolved once, by the gateway's clock`() {
        var desk = Desk()
        _ = desk.ask(self.publish(.now, "now"), at: 1)
        _ = desk.ask(self.publish(.after(.milliseconds(60_500)), "after"), at: 2)
        _ = desk.ask(self.publish(.at(Sample.at(200)), "at"), at: 3)
        #expect(desk["now"]?.record.start == Sample.at(1))
        #expect(desk["after"]?.record.start == Sample.at(62.5))
        #expect(desk["at"]?.record.start == Sample.at(200))
    }

    @Test func `an announcement goes out ahead of the start, or at once`() {
        var desk = Desk()
        #expect(desk.ask(self.publish(.after(.seconds(8)), "near"), at: 0).word == "available")
        #expect(desk.ask(self.publish(.at(Sample.at(50)), "far"), at: 0).word == "silently")
        #expect(desk["far"]?.record.announce == Sample.at(42))
        #expect(desk["near"]?.record.announce == Sample.at(0))
        desk.planner.policy.announceAhead = .seconds(20)
        #expect(desk.ask(self.publish(.at(Sample.at(100)), "early"), at: 0).word == "silently")
        #expect(desk["early"]?.record.announce == Sample.at(80))
    }

    /// A start may be two seconds late.
    @Test(arguments: [(10, 10, "available"), (10, 12, "available"), (10, 12.000_001, "START_IN_PAST")])
    func `a start that is a little late counts as now`(start: Double, now: Double, word: String) {
        var desk = Desk()
        let reply = desk.ask(self.publish(.at(Sample.at(start))), at: now)
        #expect(reply.word == word)
        if word == "available" { #expect(desk["b1"]?.record.start == Sample.at(now)) }
        if let refusal = reply.refusal {
            #expect(refusal.sentence == "The start \(Sample.at(start)) is over: it is \(Sample.at(now)).")
        }
    }

    @Test(arguments: [(21_600, "silently"), (21_600.000_001, "TOO_FAR_AHEAD")])
    func `a start is at most six hours ahead`(lead: Double, word: String) {
        var desk = Desk()
        let reply = desk.ask(self.publish(.at(Sample.at(lead))), at: 0)
        #expect(reply.word == word)
        if let refusal = reply.refusal {
            #expect(refusal.sentence == "The start is 21600 s ahead; the limit startAheadMax is 21600 s.")
        }
    }

    @Test func `a start may leave too little lead, where the configuration asks for some`() {
        var desk = Desk()
        desk.planner.policy.leadTimeMin = .milliseconds(2_500)
        #expect(desk.ask(self.publish(.at(Sample.at(2.5)), "enough"), at: 0).word == "available")
        let refusal = desk.ask(self.publish(.at(Sample.at(102.499)), "short"), at: 100).refusal
        #expect(refusal?.status == .leadTimeTooShort)
        #expect(refusal?.sentence == "The start leaves 2.499 s of lead; the limit leadTimeMin is 2.5 s.")
        #expect(desk.ask(self.publish(.now, "none"), at: 100).refusal?.status == .leadTimeTooShort)
        #expect(desk.ask(self.publish(nil, "cued"), at: 100).word == "available")
        #expect(
            desk.ask(.punch(.init(key: Sample.key("cued"), start: .now)), at: 100).word == "updated",
            "it had its lead"
        )
    }

    @Test(arguments: [Int64.min, Int64.min + 1, -1, 0, Int64.max - 1, Int64.max])
    func `a start at the end of time is refused and traps nothing`(microseconds: Int64) {
        for policy in [BreakPolicy(), Self.extreme] {
            var desk = Desk()
            desk.planner.policy = policy
            let start = BreakStart.at(Timestamp(microseconds: microseconds))
            _ = desk.ask(self.publish(start), at: 0)
            _ = desk.ask(self.publish(nil, "cued"), at: 0)
            _ = desk.ask(.punch(.init(key: Sample.key("cued"), start: start)), at: 0)
            _ = desk.ask(.update(.init(key: Sample.key("cued"), start: start)), at: 0)
            _ = desk.ask(.end(.init(key: Sample.key("cued"), at: Timestamp(microseconds: microseconds))), at: 0)
            _ = desk.ask(self.publish(nil, "b1"), at: Timestamp(microseconds: microseconds))
            desk.tick(at: Timestamp(microseconds: microseconds))
            desk.tick(at: 0)
            for each in desk.board.keys.compactMap({ desk.board[$0] }) {
                _ = each.playable(at: Timestamp(microseconds: microseconds))
                _ = each.info(at: Timestamp(microseconds: microseconds))
                _ = each.record.lastNotice.map { NoticeFrame.notice($0, stream: Sample.stream).encoded() }
            }
        }
        #expect(Desk().planner.policy == BreakPolicy())
    }

    /// A configuration that makes no sense.
    private static var extreme: BreakPolicy {
        var policy = BreakPolicy()
        policy.announceAhead = .seconds(Int64.max)
        policy.startAheadMax = .seconds(Int64.max)
        policy.startLateMax = .seconds(Int64.max)
        policy.hold = .seconds(Int64.max)
        policy.safetyDuration = .seconds(Int64.max)
        policy.windowEndsAhead = .seconds(Int64.min)
        policy.batchRequestsPerSecond = 0
        return policy
    }

    @Test func `a repeat compares as it was sent, whatever the clock says by now`() {
        var desk = Desk()
        let starts: [(String, BreakStart)] = [
            ("at", .at(Sample.at(5))), ("after", .after(.seconds(100))), ("now", .after(.seconds(200))),
        ]
        for (id, start) in starts { _ = desk.ask(self.publish(start, id), at: 0) }
        desk.tick(at: 400)
        let sequence = desk.board.position(of: Sample.stream)
        for (id, start) in starts {
            // The start at 5 s is long over, and it is the same break all the same.
            #expect(desk.ask(self.publish(start, id), at: 400).word == "unchanged")
        }
        #expect(desk.ask(self.publish(.at(Sample.at(6)), "at"), at: 400).refusal?.status == .conflict)
        #expect(desk.board.position(of: Sample.stream) == sequence)
    }

    @Test func `a repeated punch is the same punch, whatever the clock says by now`() {
        for start in [nil, .now, .after(.seconds(1)), .at(Sample.at(11))] as [BreakStart?] {
            var desk = Desk()
            _ = desk.ask(self.publish(nil), at: 0)
            let punch = BroadcastRequest.Kind.punch(.init(key: Sample.key(), start: start))
            #expect(desk.ask(punch, at: 10).word == "updated")
            let punched = desk["b1"]
            #expect(desk.ask(punch, at: 10.2).word == "unchanged")
            #expect(desk.ask(punch, at: 20).word == "unchanged", "\(String(describing: start))")
            #expect(desk["b1"] == punched)
            #expect(
                desk.ask(.punch(.init(key: Sample.key(), start: .after(.seconds(9)))), at: 20).word == "WRONG_STATE"
            )
        }
    }

    @Test func `a punch that says no start leaves the usual lead`() {
        var desk = Desk()
        _ = desk.ask(self.publish(nil), at: 0)
        _ = desk.ask(.punch(.init(key: Sample.key())), at: 10)
        #expect(desk["b1"]?.record.start == Sample.at(12))
        desk.planner.policy.punchLead = .zero
        _ = desk.ask(self.publish(nil, "b2"), at: 100)
        _ = desk.ask(.punch(.init(key: Sample.key("b2"))), at: 101)
        #expect(desk["b2"]?.record.start == Sample.at(101))
        #expect(desk["b2"]?.state(at: Sample.at(101)) == .live)
    }

    @Test func `a repeated update with an absolute start has no second notice`() {
        var desk = Desk()
        desk.listeners = 100
        _ = desk.ask(self.publish(.after(.seconds(5))), at: 0)
        let update = BroadcastRequest.Kind.update(.init(key: Sample.key(), start: .at(Sample.at(10))))
        #expect(desk.ask(update, at: 1).word == "updated")
        desk.listeners = 100_000
        #expect(desk.ask(update, at: 2).word == "unchanged")
        #expect(desk.ask(update, at: 30).word == "unchanged", "its start is long over, and it did start then")
        #expect(desk.ask(.update(.init(key: Sample.key(), start: .at(Sample.at(11)))), at: 12).word == "WRONG_STATE")
    }

    @Test func `a hold is the broadcaster's or the usual one`() {
        var desk = Desk()
        _ = desk.ask(self.publish(nil, "usual"), at: 0)
        _ = desk.ask(.publish(Sample.publish("own", start: nil, hold: .seconds(60))), at: 0)
        _ = desk.ask(.publish(Sample.publish("pre", start: nil, preStream: true, hold: .seconds(7))), at: 0)
        _ = desk.ask(self.publish(.now, "started"), at: 0)
        #expect(desk["usual"]?.over == Sample.at(1_800))
        #expect(desk["own"]?.over == Sample.at(60))
        #expect(desk["pre"]?.over == Sample.at(7))
        #expect(desk["started"]?.record.publish.holdUntil == nil)
    }

    @Test func `a break keeps what was configured when it was published`() {
        var desk = Desk()
        desk.planner.policy.safetyDuration = .microseconds(100_000_500)
        _ = desk.ask(.publish(Sample.publish(start: .now, duration: nil)), at: 0)
        desk.planner.policy.safetyDuration = .seconds(1)
        #expect(desk["b1"]?.end == Sample.at(100), "in whole milliseconds, as the log has them")
        #expect(desk.log.flatMap(\.entries).map(\.broadcaster) == [""])
        _ = desk.ask(.publish(Sample.publish("b2", start: nil)), at: Sample.at(1), by: .all(named: "key-1"))
        #expect(desk["b2"]?.record.broadcaster == "key-1")
    }

    @Test(arguments: [
        (0, "0 s"), (2_000, "2 s"), (250, "0.25 s"), (1, "0.001 s"), (-250, "-0.25 s"), (-1_500, "-1.5 s"),
        (21_600_000, "21600 s"), (100, "0.1 s"), (-1_000, "-1 s"),
    ])
    func `seconds are written for people`(milliseconds: Int, text: String) {
        #expect(Duration.milliseconds(milliseconds).inSecondsText == text)
        #expect(Duration.seconds(Int64.max).inSecondsText.hasSuffix(" s"))
        #expect(Duration.seconds(Int64.min).inSecondsText.hasPrefix("-"))
    }
}

/// The list of breaks, page by page.
@Suite(.suiteLimit)
struct BreakListTests {
    /// A board with so many breaks that are over in each of some streams, with titles of this length.
    private func desk(_ counts: [String: Int], titleBytes: Int = 3) -> Desk {
        let names = counts.keys.sorted()
        let breaks = names.flatMap { name in
            (0..<counts[name, default: 0]).map { Self.record($0, of: counts[name, default: 0], in: name, titleBytes) }
        }
        let streams = names.map { StreamRecord(stream: Sample.stream($0), sequence: 0, recentNotices: []) }
        let record = BoardRecord(retention: Sample.t0, newest: Sample.t0, streams: streams, breaks: breaks)
        return Desk(Board(epoch: Sample.epoch, record))
    }

    /// One of so many breaks; their ids sort otherwise than their numbers.
    private static func record(_ number: Int, of count: Int, in stream: String, _ titleBytes: Int) -> BreakRecord {
        var advertisements = Sample.advertisements([1])
        advertisements[0].title = String(repeating: "t", count: titleBytes)
        let publish = Sample.publish(
            "b\(count - number)",
            of: Sample.stream(stream),
            start: .now,
            advertisements: advertisements
        )
        return BreakRecord(
            number: BreakNumber(rawValue: UInt64(number + 1)),
            published: Sample.t0,
            broadcaster: "",
            publish: BreakEntry.Publish(
                request: publish,
                start: Sample.t0,
                announce: Sample.t0,
                window: RequestWindow(from: Sample.t0, by: Sample.t0),
                holdUntil: nil,
                safetyDuration: .seconds(300)
            )
        )
    }

    /// All pages, each checked against the frame it must fit into.
    private func pages(_ desk: Desk, _ list: BroadcastRequest.List) throws -> [[BreakInfo]] {
        var desk = desk
        var list = list
        var pages: [[BreakInfo]] = []
        while true {
            guard case .answered(.list(let infos, let after)) = desk.ask(.list(list), at: 5) else {
                Issue.record("no list")
                return pages
            }
            let reply = BroadcastReply(requestID: 1, gatewayTime: Sample.t0, body: .list(infos, after: after))
            #expect(try BroadcastReply(decoding: reply.encoded()) == reply)
            let next = BroadcastRequest(id: 1, kind: .list(.init(after: after)))
            #expect(try BroadcastRequest(decoding: next.encoded()) == next)
            pages.append(infos)
            try #require(pages.count < 100)
            guard !after.isEmpty else { return pages }
            list.after = after
        }
    }

    @Test(arguments: [0, 1, WireLimits.breaksPerPageMax, WireLimits.breaksPerPageMax + 1])
    func `a page holds exactly so many`(count: Int) throws {
        let desk = self.desk(["radio1": count])
        let pages = try self.pages(desk, .init())
        #expect(pages.map(\.count) == (count > WireLimits.breaksPerPageMax ? [500, 1] : [count]))
        let ids = pages.flatMap { $0 }.map(\.key.id.description)
        #expect(ids == (0..<count).map { "b\(count - $0)" }, "in the order in which they were published")
    }

    @Test func `pages go on from stream to stream, and each break is on one`() throws {
        let desk = self.desk(["radio1": 300, "radio10": 300, "radio2": 450])
        let pages = try self.pages(desk, .init())
        #expect(pages.map(\.count) == [500, 500, 50])
        let keys = pages.flatMap { $0 }.map(\.key)
        #expect(Set(keys).count == 1_050)
        #expect(keys.map(\.stream.description) == keys.map(\.stream.description).sorted())
        let one = try self.pages(desk, .init(stream: Sample.stream("radio10")))
        #expect(one.map(\.count) == [300])
        #expect(one[0].allSatisfy { $0.key.stream == Sample.stream("radio10") })
    }

    @Test func `a page of long titles is shorter, so that its reply can be read`() throws {
        let desk = self.desk(["radio1": 700], titleBytes: WireLimits.textBytesMax)
        let pages = try self.pages(desk, .init())
        #expect(pages.count == 2)
        #expect(pages.flatMap { $0 }.count == 700)
    }

    @Test func `one break, or one id of every stream`() throws {
        let desk = self.desk(["radio1": 3, "radio2": 2])
        let one = try self.pages(desk, .init(stream: Sample.stream, id: Sample.id("b2")))
        #expect(one.map { $0.map(\.key) } == [[Sample.key("b2")]])
        let both = try self.pages(desk, .init(id: Sample.id("b2")))
        #expect(both[0].map(\.key.stream.description) == ["radio1", "radio2"])
        #expect(try self.pages(desk, .init(id: Sample.id("none"))) == [[]])
        #expect(try self.pages(desk, .init(stream: Sample.stream("none"))) == [[]])
    }

    @Test(arguments: [
        "", "x", " ", "radio1", "radio1 x", "radio1 -1", "radio1 1 1", "ä 1", "radio1 99999999999999999999",
    ])
    func `an invalid mark of a page begins at the first`(text: String) {
        var desk = self.desk(["radio1": 2])
        guard case .answered(.list(let infos, _)) = desk.ask(.list(.init(after: Array(text.utf8))), at: 0) else {
            Issue.record("no list")
            return
        }
        #expect(infos.count == 2)
        let broken = desk.ask(.list(.init(after: [0xFF, 0xFE, 0x20, 0x31])), at: 0)
        #expect(broken.word == "list")
    }

    @Test func `a list says how each break stands`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        guard case .answered(.list(let infos, _)) = desk.ask(.list(.init()), at: 1) else {
            Issue.record("no list")
            return
        }
        #expect(
            infos == [
                BreakInfo(
                    key: Sample.key(),
                    state: .scheduled,
                    start: Sample.at(20),
                    duration: .seconds(30),
                    advertisementCount: 3,
                    preStream: false,
                    exact: false,
                    position: nil,
                    announce: Sample.at(12),
                    end: Sample.at(50),
                    holdUntil: nil,
                    published: Sample.at(0),
                    firstAdvertisementTitle: "Title 0",
                    revision: 1
                )
            ]
        )
        desk.tick(at: 12)
        let info = try #require(desk["b1"]).info(at: Sample.at(30))
        #expect(info.state == .live)
        #expect(info.position == Position(epoch: Sample.epoch, sequence: 1))
        #expect(info.announce == nil)
    }
}

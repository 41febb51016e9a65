// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakPlanning
import BreakScheduling
import TestSupport
import Testing

@testable import CuecastBroadcast

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One break on many streams: its start, and the break of each stream.
@Suite(.suiteLimit)
struct StreamGroupTests {
    static let now: Int64 = 1_795_780_800_000

    private static func ad(_ id: String, seconds: Int = 10) -> AdvertisementDescription {
        AdvertisementDescription(id: id, title: id, duration: .seconds(seconds), media: [])
    }

    private static func group(_ offsets: [Int64], lastsAsItsAds: Bool = true) -> StreamGroup {
        let members = offsets.enumerated()
            .map { index, offset in
                StreamGroup.Member(
                    stream: "s\(index)",
                    offsetMilliseconds: offset,
                    ads: BreakAds(advertisements: [Self.ad("a\(index)", seconds: 10 + index)])
                )
            }
        let pattern = AdBreak(
            stream: "s0",
            id: "noon",
            start: .now,
            duration: .seconds(60),
            advertisements: [Self.ad("a0")]
        )
        return StreamGroup(pattern: pattern, lastsAsItsAds: lastsAsItsAds, members: members)
    }

    @Test func `a start that is said is the group's, and a relative one counts from the gateway's clock`() throws {
        let group = Self.group([0, 2_000])
        #expect(try group.time(of: .at(7), present: [], now: Self.now) == 7)
        #expect(try group.time(of: .at(7), present: [("s0", 9)], now: Self.now) == 7)
        #expect(try group.time(of: .after(10_000), present: [], now: Self.now) == Self.now + 10_000)
        #expect(try group.time(of: .none, present: [("s0", 9)], now: Self.now) == nil)
    }

    @Test func `streams that have the break say when the group starts`() throws {
        let group = Self.group([0, 2_000, -500])
        // Others, and breaks without a start, say nothing.
        let others: [(stream: String, startMilliseconds: Int64?)] = [("other", 5), ("s0", nil)]
        #expect(try group.time(of: .after(0), present: others, now: Self.now) == Self.now)
        #expect(try group.time(of: .after(0), present: [("s1", 12_000)], now: Self.now) == 10_000)
        #expect(try group.time(of: .after(0), present: [("s2", 9_500), ("s1", 12_001)], now: Self.now) == 10_001)
        let fault = #expect(throws: StreamGroup.Fault.self) {
            try group.time(of: .after(0), present: [("s2", 9_500), ("s1", 12_002)], now: Self.now)
        }
        #expect(fault?.description.contains("on s1 and s2") ?? false)
    }

    @Test func `each stream has its own start, ads and length`() {
        let group = Self.group([0, 2_000])
        let breaks = group.members.map { group.adBreak(of: $0, at: Self.now) }
        #expect(breaks.map(\.stream) == ["s0", "s1"])
        #expect(Set(breaks.map(\.id)) == ["noon"])
        let start = Double(Self.now) / 1_000
        #expect(
            breaks.map(\.start)
                == [.at(Date(timeIntervalSince1970: start)), .at(Date(timeIntervalSince1970: start + 2))]
        )
        #expect(breaks.map(\.duration) == [.seconds(10), .seconds(11)])
        #expect(breaks.map { $0.advertisements.map(\.id) } == [["a0"], ["a1"]])
        let fixed = Self.group([0], lastsAsItsAds: false)
        #expect(fixed.adBreak(of: fixed.members[0], at: nil).duration == .seconds(60))
        #expect(fixed.adBreak(of: fixed.members[0], at: nil).start == .now)
    }

    /// A gateway that takes breaks, refuses them on some streams, and counts how many requests it has at one time.
    private actor Gateway: ScheduleGateway {
        private(set) var breaks: [String: AdBreak] = [:]
        private(set) var most = 0
        private var running = 0
        var refusing: Set<String>

        init(refusing: Set<String>) { self.refusing = refusing }

        func allow() { self.refusing = [] }

        private static func status(_ adBreak: AdBreak) -> BreakStatus {
            let start: Date? = if case .at(let date) = adBreak.start { date } else { nil }
            return BreakStatus(
                stream: adBreak.stream,
                id: adBreak.id,
                state: .scheduled,
                start: start,
                advertisementCount: adBreak.advertisements.count,
                firstAdvertisementTitle: "",
                isPreStream: false,
                isExact: false,
                published: Date(timeIntervalSince1970: 0),
                revision: 1,
                gatewayTime: Date(timeIntervalSince1970: 0)
            )
        }

        func breaks(stream: String?, breakID: String?) throws(BroadcastError) -> [BreakStatus] {
            self.breaks.values.filter { breakID == nil || $0.id == breakID }.map { Self.status($0) }
        }

        func publish(_ adBreak: AdBreak, expectedRevision: UInt64?) async throws(BroadcastError) -> BreakStatus {
            self.running += 1
            self.most = max(self.most, self.running)
            for _ in 0..<5 { await Task.yield() }
            self.running -= 1
            guard !self.refusing.contains(adBreak.stream) else {
                throw .refused(BroadcastRefusal(status: .notAllowed, sentence: "not yours"))
            }
            if let known = self.breaks[adBreak.stream], known != adBreak {
                throw .refused(BroadcastRefusal(status: .conflict, sentence: "another one"))
            }
            self.breaks[adBreak.stream] = adBreak
            return Self.status(adBreak)
        }

        func update(
            stream: String,
            breakID: String,
            _ change: BreakChange,
            expectedRevision: UInt64?
        ) throws(BroadcastError) -> BreakStatus {
            throw .closed
        }

        func cancel(
            stream: String,
            breakID: String,
            expectedRevision: UInt64?
        ) throws(BroadcastError) -> BreakStatus {
            guard let known = self.breaks.removeValue(forKey: stream) else {
                throw .refused(BroadcastRefusal(status: .notFound, sentence: "no such break"))
            }
            return Self.status(known)
        }
    }

    private static func new(_ outcomes: [StreamGroup.Outcome]) -> [String] {
        outcomes.compactMap { each in
            guard case .published(_, isNew: true) = each.result else { return nil }
            return each.stream
        }
    }

    @Test func `what was refused is told by stream, and the same again goes on with it at the same time`() async throws
    {
        let group = Self.group((0..<40).map { $0 * 100 })
        let gateway = Gateway(refusing: ["s0", "s7"])
        let clock = Date(timeIntervalSince1970: Double(Self.now) / 1_000)
        let first = try await group.publish(at: .after(10_000), to: gateway) { clock }.get()
        #expect(first.time == Self.now + 10_000)
        #expect(first.outcomes.map(\.stream) == (0..<40).map { "s\($0)" })
        #expect(first.outcomes.filter { !$0.isPublished }.map(\.stream) == ["s0", "s7"])
        #expect(Self.new(first.outcomes).count == 38)
        #expect(await gateway.most <= 16)
        await gateway.allow()
        let second = try await group.publish(at: .after(10_000), to: gateway) { clock + 5 }.get()
        #expect(second.time == first.time && second.outcomes.allSatisfy(\.isPublished))
        #expect(Self.new(second.outcomes) == ["s0", "s7"])
        let breaks = await gateway.breaks
        for (index, member) in group.members.enumerated() {
            #expect(breaks[member.stream] == group.adBreak(of: member, at: first.time), "s\(index)")
        }
        let cancelled = await group.cancel(at: gateway)
        #expect(cancelled.allSatisfy(\.isPublished) && cancelled.count == 40)
        #expect(await group.cancel(at: gateway).allSatisfy { !$0.isPublished })
    }

    @Test func `a group that starts now is the same publication when it is published again`() async throws {
        #expect(GroupTiming.nowLeadMilliseconds == 2_000)
        let group = Self.group([0, 1_500, -2_000])
        let gateway = Gateway(refusing: ["s2"])
        let clock = Date(timeIntervalSince1970: Double(Self.now) / 1_000)
        let start = GroupTiming.Start.after(GroupTiming.nowLeadMilliseconds)
        let first = try await group.publish(at: start, to: gateway) { clock }.get()
        #expect(first.time == Self.now + 2_000 && Self.new(first.outcomes) == ["s0", "s1"])
        let before = await gateway.breaks
        await gateway.allow()
        // Later than the breaks have started.
        let again = try await group.publish(at: start, to: gateway) { clock + 60 }.get()
        #expect(again.time == first.time && Self.new(again.outcomes) == ["s2"])
        let after = await gateway.breaks
        #expect(before["s0"] == after["s0"] && before["s1"] == after["s1"])
        #expect(after["s2"]?.start == .at(clock))
    }

    @Test func `no stream of a relative group starts before the clock is read`() async throws {
        let clock = Date(timeIntervalSince1970: Double(Self.now) / 1_000)
        let gateway = Gateway(refusing: [])
        for (offsets, lead, stream, early) in [
            ([0, -2_001], 2_000, "s1", 1), ([-1], 0, "s0", 1), ([0, -5_000, -7_000, -6_000], 2_000, "s2", 5_000),
        ] as [([Int64], Int64, String, Int64)] {
            let result = try await Self.group(offsets).publish(at: .after(lead), to: gateway) { clock }
            let fault = #expect(throws: StreamGroup.Fault.self) { try result.get() }
            #expect(
                fault?.description
                    == "on \(stream) the break would start \(early) ms before now: give a later start with --in or --at"
            )
        }
        #expect(await gateway.breaks.isEmpty)
        // At the limit; an absolute start is the gateway's to judge.
        let group = Self.group([0, -2_000])
        let relative = try await group.publish(at: .after(2_000), to: gateway) { clock }.get()
        #expect(Self.new(relative.outcomes) == ["s0", "s1"])
        _ = await group.cancel(at: gateway)
        let absolute = try await group.publish(at: .at(Self.now), to: gateway) { clock }.get()
        #expect(absolute.time == Self.now && Self.new(absolute.outcomes) == ["s0", "s1"])
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastBroadcast
import CuecastWire
import Foundation
import Testing

@Suite(.suiteLimit)
struct PublishingTests {
    @Test func `a break that starts now is live when publish returns`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let status = try await client.publish(.sample(start: .now))
            #expect(status.stream == "radio1")
            #expect(status.id == "noon")
            #expect(status.state == .live)
            #expect(status.duration == .seconds(10))
            #expect(status.advertisementCount == 1)
            #expect(status.firstAdvertisementTitle == "Title of spot")
            #expect(status.position == BreakStatus.Position(epoch: 7, sequence: 1))
            // As listeners' positions are written.
            #expect("\(BreakStatus.Position(epoch: 255, sequence: 1))" == "ff:1")
            let start = try #require(status.start)
            #expect(status.end == start.addingTimeInterval(10))
        }
    }

    @Test func `a request has the trace of its task, and no other`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            try await BroadcastClient.$traceparent.withValue(trace) {
                _ = try await client.publish(.sample())
                // What no gateway can read is its matter: the request is done.
                _ = try await BroadcastClient.$traceparent.withValue("no trace\n") {
                    try await client.breaks(stream: "radio1")
                }
            }
            _ = try await client.cancel(stream: "radio1", breakID: "noon")
            let sent = try await gateway.requests.map { try BroadcastRequest(decoding: $0).traceparent }
            #expect(sent == [trace, "no trace\n", ""])
        }
    }

    @Test func `publishing the same break again is the same break`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let first = try await client.publish(.sample())
            let second = try await client.publish(.sample())
            #expect(first.start == second.start)
            #expect(first.published == second.published)
        }
    }

    @Test func `publishing a break with other content is refused by the field's name`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            _ = try await client.publish(.sample())
            var other = AdBreak.sample()
            other.duration = .seconds(9)
            let error = await failure { () throws(BroadcastError) in try await client.publish(other) }
            guard case .refused(let refusal) = error else { return #expect(Bool(false), "\(error as Any)") }
            #expect(refusal.status == .conflict)
            #expect(refusal.sentence.contains("duration"))
            #expect(!refusal.canRetry)
        }
    }

    @Test func `a cued break is punched, made longer, and ended`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let cued = try await client.publish(.sample(start: .cued(hold: .seconds(60))))
            #expect(cued.state == .cued)
            #expect(cued.start == nil)
            #expect(cued.holdUntil == cued.published.addingTimeInterval(60))
            #expect(try await client.punch(stream: "radio1", breakID: "noon", start: .now).state == .live)
            let longer = try await client.update(
                stream: "radio1",
                breakID: "noon",
                BreakChange(duration: .seconds(20))
            )
            #expect(longer.duration == .seconds(20))
            let ended = try await client.end(stream: "radio1", breakID: "noon", endMode: .finishAd)
            #expect(ended.state == .complete)
        }
    }

    @Test func `a scheduled break gets other ads and another start, and is cancelled`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let first = try await client.publish(.sample())
            #expect(first.state == .scheduled)
            let start = try #require(first.start).addingTimeInterval(30)
            let changed = try await client.update(
                stream: "radio1",
                breakID: "noon",
                BreakChange(start: .at(start), advertisements: [.spot("a"), .spot("b")])
            )
            #expect(changed.start == start)
            #expect(changed.advertisementCount == 2)
            #expect(try await client.cancel(stream: "radio1", breakID: "noon").state == .cancelled)
        }
    }

    @Test func `variants are published, told, and changed apart from the ads`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            var each = AdBreak.sample()
            each.variants = [
                AdVariant(name: "cars", conditions: [.init("device", isAnyOf: ["car"])], advertisements: [.spot("c")]),
                AdVariant(
                    name: "abroad",
                    conditions: [.init("region", isNoneOf: ["de", "at"])],
                    advertisements: [.spot("d"), .spot("e")]
                ),
            ]
            let first = try await client.publish(each)
            #expect(first.variants.map(\.name) == ["cars", "abroad"])
            #expect(first.variants.map(\.advertisementCount) == [1, 2])
            #expect(first.variants[1].conditions.map(\.description) == ["region!=de|at"])
            var change = BreakChange()
            change.variants = [each.variants[1]]
            let changed = try await client.update(stream: "radio1", breakID: "noon", change)
            #expect(changed.variants.map(\.name) == ["abroad"])
            #expect(changed.advertisementCount == first.advertisementCount)
            each.variants[0].conditions = []
            await #expect(throws: BroadcastError.self) { try await client.publish(each) }
        }
    }

    @Test func `a break is postponed, once where it is said from when, and the answer tells its revision`() async throws
    {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let first = try await client.publish(.sample())
            #expect(first.revision == 1)
            let start = try #require(first.start)
            for _ in 0..<2 {
                let moved = try await client.postpone(
                    stream: "radio1",
                    breakID: "noon",
                    by: .seconds(30),
                    from: start,
                    expectedRevision: 1
                )
                #expect(moved.start == start.addingTimeInterval(30))
                #expect(moved.revision == 2)
            }
            // The start is asked for where it is not given.
            let again = try await client.postpone(stream: "radio1", breakID: "noon", by: .milliseconds(1_500))
            #expect(again.start == start.addingTimeInterval(31.5))
            #expect(again.revision == 3)
            let error = await failure { () throws(BroadcastError) in
                try await client.cancel(stream: "radio1", breakID: "noon", expectedRevision: 2)
            }
            guard case .refused(let refusal) = error else { return #expect(Bool(false), "\(error as Any)") }
            #expect(refusal.status == .revisionConflict)
            #expect(!refusal.canRetry)
            #expect(try await client.breaks().map(\.revision) == [3])
        }
    }

    @Test func `a postponement by nothing, or of nothing, says what is wrong`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let nothing = await failure { () throws(BroadcastError) in
                try await client.postpone(stream: "radio1", breakID: "noon", by: .zero, from: .now)
            }
            #expect(nothing == .invalid(field: "by_ms", reason: "it is above 0"))
            let missing = await failure { () throws(BroadcastError) in
                try await client.postpone(stream: "radio1", breakID: "noon", by: .seconds(1))
            }
            guard case .refused(let refusal) = missing else { return #expect(Bool(false), "\(missing as Any)") }
            #expect(refusal.status == .notFound)
        }
    }

    @Test func `a pre-stream break has no start and is open for its hold`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            let status = try await client.publish(.sample(start: .preStream(hold: .seconds(90))))
            #expect(status.isPreStream)
            #expect(status.start == nil)
            #expect(status.end == status.published.addingTimeInterval(90))
        }
    }

    @Test func `a list follows all pages`() async throws {
        try await RouterGateway.with { gateway in
            for stream in 0..<8 {
                for number in 0..<64 {
                    await gateway.publish(
                        BroadcastRequest.Publish(
                            key: BreakKey(stream: try StreamID("s\(stream)"), id: try BreakID("b\(number)")),
                            start: nil,
                            advertisements: [
                                AdvertisementContent(
                                    id: try AdvertisementID("ad"),
                                    duration: .seconds(1),
                                    media: [.init(url: "https://cdn.example/a.mp3", type: "audio/mpeg")]
                                )
                            ]
                        )
                    )
                }
            }
            let client = makeClient(gateway.endpoint)
            let all = try await client.breaks()
            #expect(all.count == 512)
            #expect(Set(all.map { "\($0.stream)/\($0.id)" }).count == 512)
            #expect(await gateway.requests.count == 2)
            #expect(try await client.breaks(stream: "s3").count == 64)
            #expect(try await client.breaks(stream: "s3", breakID: "b9").map(\.id) == ["b9"])
        }
    }

    @Test func `an invalid request is refused before anything is sent`() async throws {
        try await RouterGateway.with { gateway in
            let client = makeClient(gateway.endpoint)
            func field(_ change: (inout AdBreak) -> Void) async -> String? {
                var wrong = AdBreak.sample()
                change(&wrong)
                let sent = wrong
                switch await failure({ () throws(BroadcastError) in try await client.publish(sent) }) {
                case .invalid(let field, _): return field
                case .tooLarge(let limit, _, _): return limit
                default: return nil
                }
            }
            #expect(await field { $0.stream = "no spaces" } == "stream")
            #expect(await field { $0.id = "no spaces" } == "break_id")
            #expect(await field { $0.start = .in(.seconds(-1)) } == "start")
            #expect(await field { $0.start = .at(Date(timeIntervalSince1970: .nan)) } == "start")
            #expect(await field { $0.start = .at(Date(timeIntervalSince1970: .infinity)) } == "start")
            #expect(await field { $0.duration = .zero } == "duration_ms")
            #expect(await field { $0.duration = .seconds(21_601) } == "breakDurationMillisecondsMax")
            #expect(await field { $0.duration = .seconds(Int64.max) } == "duration ms")
            #expect(await field { $0.start = .cued(hold: .zero) } == "hold_ms")
            #expect(await field { $0.advertisements = [] } == "advertisements")
            #expect(await field { $0.advertisements = [.spot(), .spot()] } == "advertisements")
            #expect(await field { $0.advertisements[0].media[0].width = -1 } == "media width")
            #expect(await field { $0.advertisements[0].media[0].url = "ftp://x" } == "media url")
            #expect(
                await field { $0.advertisements = (0..<65).map { .spot("\($0)", seconds: 1) } }
                    == "advertisementsPerBreakMax"
            )
            #expect(await gateway.requests.isEmpty)
            var most = AdBreak.sample()
            most.advertisements = (0..<64).map { .spot("\($0)", seconds: 1) }
            let status = try await client.publish(most)
            #expect(status.advertisementCount == 64)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import Testing

/// Writing and reading in place agrees with `CuecastWire`.
@Suite(.suiteLimit)
struct WireInPlaceTests {
    private static func text(_ source: inout SeededSource, _ range: ClosedRange<Int>) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        let count = Int.random(in: range, using: &source)
        return String(decoding: (0..<count).map { _ in letters.randomElement(using: &source) ?? 97 }, as: UTF8.self)
    }

    @Test func `requests are byte for byte what the client library sends`() throws {
        var source = SeededSource(seed: 11)
        var writer = RequestWriter()
        for _ in 0..<500 {
            let id = UInt64.random(in: 0 ... .max, using: &source) >> UInt64.random(in: 0..<64, using: &source)
            let session = SessionID(high: source.next(), low: source.next())
            let ticket = (0..<Int.random(in: 0...64, using: &source))
                .map { _ in UInt8.random(in: 0...255, using: &source) }
            let stream = try StreamID(Self.text(&source, 1...64))
            let breakID = try BreakID(Self.text(&source, 1...64))
            let wireStream = Array(stream.description.utf8)
            let wireBreak = Array(breakID.description.utf8)
            func check(_ kind: ListenerRequest.Kind) {
                let expected = ListenerRequest(id: id, session: session, ticket: ticket, kind: kind).encoded()
                #expect(writer.frame == expected)
            }

            let last = Bool.random(using: &source) ? Position(epoch: source.next(), sequence: source.next() >> 40) : nil
            let instance = Bool.random(using: &source) ? source.next() : 0
            let push = Bool.random(using: &source)
            let joinToken = Bool.random(using: &source) ? Self.text(&source, 1...200) : ""
            writer.join(
                id: id,
                session: session,
                ticket: ticket,
                stream: wireStream,
                last: last,
                instance: instance,
                token: Array(joinToken.utf8),
                client: Array("tool/1".utf8),
                push: push
            )
            check(
                .join(
                    .init(
                        stream: stream,
                        last: last,
                        instance: instance,
                        token: joinToken,
                        client: "tool/1",
                        push: push
                    )
                )
            )

            writer.batch(id: id, session: session, ticket: ticket, stream: wireStream, breakID: wireBreak)
            check(.getBatch(.init(key: BreakKey(stream: stream, id: breakID))))

            writer.leave(id: id, session: session, ticket: ticket, stream: wireStream)
            check(.leave(stream))

            writer.time(id: id, session: session, ticket: ticket)
            check(.getTime)

            let token = (0..<Int.random(in: 0...64, using: &source))
                .map { _ in UInt8.random(in: 0...255, using: &source) }
            let outcomes = try (0..<Int.random(in: 1...64, using: &source))
                .map { number in
                    let kind = Outcome.Kind.allCases.randomElement(using: &source) ?? .played
                    return Outcome(
                        advertisementID: try AdvertisementID(Self.text(&source, 1...125) + "\(number)"),
                        kind: kind,
                        reason: kind == .ignored ? Outcome.Reason.allCases.randomElement(using: &source) : nil,
                        heard: .milliseconds(Int.random(in: 0...100_000, using: &source)),
                        quartiles: UInt32.random(in: 0...4, using: &source),
                        muted: Bool.random(using: &source),
                        vastError: UInt32.random(in: 0...999, using: &source),
                        occurred: Timestamp(microseconds: Int64(bitPattern: source.next())),
                        clicked: Bool.random(using: &source)
                    )
                }
            writer.beginAcknowledgement(
                stream: wireStream,
                breakID: wireBreak,
                delivery: Delivery(0..<token.count, in: token.span)
            )
            for each in outcomes {
                writer.add(each.details, advertisement: Array(each.advertisementID.description.utf8))
            }
            writer.finishAcknowledgement(id: id, session: session, ticket: ticket)
            check(
                .acknowledge(
                    .init(key: BreakKey(stream: stream, id: breakID), delivery: token, outcomes: outcomes)
                )
            )
        }
    }

    private static func replies() throws -> [ListenerReply] {
        let position = Position(epoch: .max, sequence: 300)
        let notice = Notice(
            position: position,
            kind: .available,
            breakID: try BreakID("noon"),
            expires: Timestamp(microseconds: 9),
            sent: Timestamp(microseconds: 8)
        )
        let joined = ListenerReply.Joined(
            kind: .recovered,
            head: position,
            notices: [notice, notice],
            instance: 0x8000_0000_0000_0001,
            headInterval: .seconds(5),
            lease: .seconds(300),
            ticket: [1, 2, 3],
            pushed: true
        )
        let batch = ListenerReply.Batch(
            delivery: [9, 8, 7],
            start: Timestamp(microseconds: 1_700_000_000_000_000),
            duration: .seconds(30),
            skipped: 2,
            exact: true,
            advertisements: [try advertisement("a"), try advertisement("b")]
        )
        let bodies: [ListenerReply.Body] = [
            .joined(joined), .batch(batch), .acknowledged(recorded: 3), .acknowledged(recorded: 0), .done,
            .refused(Refusal(.rateLimited, "Slowly.", retryAfter: .seconds(1))), .refused(Refusal(.notFound, "No.")),
        ]
        return bodies.map {
            ListenerReply(requestID: 77, gatewayTime: Timestamp(microseconds: 1_700_000_000_000_001), body: $0)
        }
    }

    @Test func `replies are read as the client library reads them`() throws {
        for reply in try Self.replies() {
            let frame = reply.encoded()
            guard let scanned = ScannedReply(frame.span) else {
                Issue.record("not read: \(reply)")
                continue
            }
            #expect(scanned.requestID == reply.requestID)
            #expect(scanned.gatewayTime == reply.gatewayTime)
            switch (reply.body, scanned.body) {
            case (.joined(let joined), .joined(let range)):
                guard let found = ScannedJoin(range, in: frame.span) else {
                    Issue.record("not read: \(joined)")
                    continue
                }
                #expect(found.kind == joined.kind.rawValue && found.head == joined.head && found.hasNotices)
                #expect(found.instance == joined.instance && found.headInterval == 5_000_000)
                #expect(Array(frame[found.ticket]) == joined.ticket && found.pushed == joined.pushed)
            case (.batch(let batch), .batch(let range)):
                guard let found = ScannedBatch(range, in: frame.span) else {
                    Issue.record("not read: \(batch)")
                    continue
                }
                #expect(Array(frame[found.delivery]) == batch.delivery && found.start == batch.start)
                #expect(found.skipped == 2 && found.exact && found.advertisementCount == 2)
            case (.acknowledged(let recorded), .acknowledged(let found)): #expect(recorded == found)
            case (.refused(let refusal), .none):
                #expect(!scanned.isDone && scanned.status == refusal.status.rawValue)
                #expect(scanned.canRetry == refusal.status.canRetry)
                #expect(scanned.retryAfter == refusal.retryAfter.inMicroseconds)
            case (.done, .none): #expect(scanned.isDone)
            default: Issue.record("\(reply.body) was read as \(scanned.body)")
            }
        }
    }

    @Test func `no bytes trap, and replies that are cut or damaged are read as far as they are replies`() throws {
        var source = SeededSource(seed: 3)
        for reply in try Self.replies() {
            let whole = reply.encoded()
            for _ in 0..<400 {
                var frame = Array(whole.prefix(Int.random(in: 0...whole.count, using: &source)))
                for _ in 0..<Int.random(in: 0...3, using: &source) where !frame.isEmpty {
                    frame[Int.random(in: 0..<frame.count, using: &source)] = UInt8.random(in: 0...255, using: &source)
                }
                guard let scanned = ScannedReply(frame.span) else { continue }
                switch scanned.body {
                case .joined(let range): _ = ScannedJoin(range, in: frame.span)
                case .batch(let range):
                    if let batch = ScannedBatch(range, in: frame.span) {
                        var content = BreakContent(announced: 4)
                        _ = content.verify(batch, range, in: frame.span)
                    }
                case .acknowledged, .none: break
                }
            }
        }
        #expect(ScannedReply([UInt8]().span) == nil)
    }

    @Test func `a tick tells the instance, other frames do not`() throws {
        let tick = NoticeFrame.tick(SyncTick(instance: 0xFFFF_FFFF_FFFF_FFFE, counter: 3)).encoded()
        #expect(tickInstance(in: tick.span) == 0xFFFF_FFFF_FFFF_FFFE)
        #expect(tickInstance(in: Array(tick.prefix(3)).span) == nil)
        #expect(tickInstance(in: Array(tick.dropLast(3)).span) == nil)
    }

    @Test func `a batch is right only with the very bytes of each advertisement, in order`() throws {
        let ads = try ["a", "b", "c"].map { try advertisement($0) }
        let expected = AdvertisementFacts.expected(of: ads)
        #expect(expected.map { String(decoding: $0.id, as: UTF8.self) } == ["a", "b", "c"])
        #expect(expected.allSatisfy { $0.durationMilliseconds == 10_000 })
        func verdict(_ ads: [AdvertisementContent], skipped: Int = 0) throws -> ContentVerdict {
            let body = ListenerReply.Batch(delivery: [1], skipped: skipped, advertisements: ads)
            let frame = ListenerReply(requestID: 1, gatewayTime: Timestamp(microseconds: 1), body: .batch(body))
                .encoded()
            var content = BreakContent(published: expected)
            guard case .batch(let range)? = ScannedReply(frame.span)?.body,
                let batch = ScannedBatch(range, in: frame.span)
            else { return .malformed }
            return content.verify(batch, range, in: frame.span)
        }
        #expect(try verdict(ads) == .right)
        #expect(try verdict(Array(ads.dropFirst()), skipped: 1) == .right)
        #expect(try verdict(Array(ads.dropFirst())) == .wrongCount(expected: 3, found: 2))
        #expect(try verdict([ads[0], ads[2], ads[1]]) == .wrongAdvertisement(ordinal: 1))
        var other = ads
        other[2].title += "!"
        #expect(try verdict(other) == .wrongAdvertisement(ordinal: 2))
    }

    @Test func `of another broadcaster's break the first batch says what is right`() throws {
        let ads = try ["a", "b"].map { try advertisement($0) }
        var content = BreakContent(announced: 2)
        func verdict(_ ads: [AdvertisementContent], skipped: Int) throws -> ContentVerdict {
            let body = ListenerReply.Batch(delivery: [1], skipped: skipped, advertisements: ads)
            let frame = ListenerReply(requestID: 1, gatewayTime: Timestamp(microseconds: 1), body: .batch(body))
                .encoded()
            guard case .batch(let range)? = ScannedReply(frame.span)?.body,
                let batch = ScannedBatch(range, in: frame.span)
            else { return .malformed }
            return content.verify(batch, range, in: frame.span)
        }
        #expect(try verdict([ads[1]], skipped: 1) == .right)
        #expect(try verdict(ads, skipped: 0) == .right)
        #expect(try verdict([ads[0], try advertisement("x")], skipped: 0) == .wrongAdvertisement(ordinal: 1))
        #expect(try verdict([ads[0]], skipped: 0) == .wrongCount(expected: 2, found: 1))
        // The notice tells of the variant default; listeners with attributes may get another one, all of them the same.
        content = BreakContent(announced: 1, mayBeOfVariant: true)
        #expect(try verdict([ads[1]], skipped: 1) == .right)
        #expect(try verdict(ads, skipped: 0) == .right)
        #expect(try verdict([ads[0]], skipped: 0) == .wrongCount(expected: 2, found: 1))
        #expect(content.advertisements.count == 2)
        content = BreakContent(announced: 3, mayBeOfVariant: true)
        #expect(try verdict([], skipped: 2) == .wrongCount(expected: 3, found: 2))
        #expect(try verdict([ads[0]], skipped: 0) == .right)
        let most = WireLimits.advertisementsPerBreakMax
        content = BreakContent(announced: 3, mayBeOfVariant: true)
        #expect(try verdict([ads[0]], skipped: most) == .wrongCount(expected: 3, found: most + 1))
        #expect(try verdict([ads[0]], skipped: most - 1) == .right)
    }

    @Test func `a checksum changes with every byte and with the length`() {
        var bytes = [UInt8](repeating: 7, count: 37)
        let whole = ContentChecksum.of(0..<37, in: bytes.span)
        #expect(ContentChecksum.of(0..<36, in: bytes.span) != whole)
        for index in bytes.indices {
            bytes[index] ^= 1
            #expect(ContentChecksum.of(0..<37, in: bytes.span) != whole)
            bytes[index] ^= 1
        }
        #expect(ContentChecksum.of(0..<37, in: bytes.span) == whole)
        let zeros = [UInt8](repeating: 0, count: 64)
        #expect(Set((0...64).map { ContentChecksum.of(0..<$0, in: zeros.span) }).count == 65)
    }
}

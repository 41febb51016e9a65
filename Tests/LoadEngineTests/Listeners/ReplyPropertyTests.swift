// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import LoadEngine
import Testing

/// Simulated listeners read a reply as players do, or read nothing.
@Suite(.suiteLimit)
struct ReplyPropertyTests {
    /// Of this run: `CUECAST_SEED` where it is set, else a new one.
    private static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["CUECAST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("CUECAST_SEED=\(seed) in LoadEngineTests")
        return seed
    }()

    /// A field that no version has.
    private enum LaterField: Int, MessageField {
        case later = 1_000

        var type: MessageFieldType { .fixed64 }
    }

    private static func reply(_ source: inout SeededSource) throws -> ListenerReply {
        func number(_ most: UInt64) -> UInt64 { .random(in: 0...most, using: &source) }
        let position = Position(epoch: source.next(), sequence: source.next())
        let notice = Notice(
            position: position,
            kind: .available,
            breakID: try BreakID("noon"),
            expires: Timestamp(microseconds: 9),
            sent: Timestamp(microseconds: 8)
        )
        let bytes = (0..<number(64)).map { _ in UInt8(truncatingIfNeeded: source.next()) }
        let body: ListenerReply.Body =
            switch number(4) {
            case 0:
                .joined(
                    ListenerReply.Joined(
                        kind: ListenerReply.Joined.Kind.allCases.randomElement(using: &source) ?? .current,
                        head: position,
                        notices: Bool.random(using: &source) ? [notice] : [],
                        instance: source.next(),
                        headInterval: .milliseconds(number(UInt64(UInt32.max))),
                        lease: .milliseconds(number(1_000)),
                        ticket: bytes,
                        pushed: Bool.random(using: &source)
                    )
                )
            case 1:
                .batch(
                    ListenerReply.Batch(
                        delivery: bytes,
                        start: Bool.random(using: &source)
                            ? Timestamp(microseconds: Int64(bitPattern: source.next())) : nil,
                        skipped: Int(number(UInt64(UInt32.max))),
                        exact: Bool.random(using: &source),
                        advertisements: try (0...number(2)).map { try advertisement("ad\($0)") }
                    )
                )
            case 2: .acknowledged(recorded: Int(number(70)))
            case 3: .done
            default:
                .refused(
                    Refusal(
                        StatusCode.allCases.filter { $0 != .ok }.randomElement(using: &source) ?? .invalid,
                        "No.",
                        retryAfter: .milliseconds(number(10_000))
                    )
                )
            }
        return ListenerReply(
            requestID: source.next(),
            gatewayTime: Timestamp(microseconds: Int64(bitPattern: source.next())),
            body: body
        )
    }

    /// Whether both read the same.
    private static func agree(_ scanned: ScannedReply, _ reply: ListenerReply, in frame: [UInt8]) -> Bool {
        guard scanned.requestID == reply.requestID, scanned.gatewayTime == reply.gatewayTime else { return false }
        if case .refused(let refusal) = reply.body {
            return !scanned.isDone && (StatusCode(rawValue: scanned.status) ?? refusal.status) == refusal.status
                && scanned.retryAfter == refusal.retryAfter.inMicroseconds
        }
        guard scanned.isDone else { return false }
        switch (reply.body, scanned.body) {
        case (.joined(let joined), .joined(let range)):
            guard let found = ScannedJoin(range, in: frame.span) else { return true }
            return found.kind == joined.kind.rawValue && found.head == joined.head
                && found.hasNotices == !joined.notices.isEmpty && found.instance == joined.instance
                && found.headInterval == joined.headInterval.inMicroseconds
                && Array(frame[found.ticket]) == joined.ticket
        case (.batch(let batch), .batch(let range)):
            guard let found = ScannedBatch(range, in: frame.span) else { return true }
            return Array(frame[found.delivery]) == batch.delivery && found.start == batch.start
                && found.skipped == batch.skipped && found.exact == batch.exact
                && found.advertisementCount == batch.advertisements.count
        case (.acknowledged(let recorded), .acknowledged(let found)): return recorded == found
        case (.done, .none): return true
        default: return false
        }
    }

    @Test func `a reply is read as players read it, with fields of later versions and fields that come again`() throws {
        var source = SeededSource(seed: Self.seed)
        for _ in 0..<2_000 {
            let reply = try Self.reply(&source)
            var frame: [UInt8] = []
            // The last one counts.
            frame.appendField(ReplyField.requestID, source.next())
            frame.appendField(LaterField.later, source.next())
            frame += reply.encoded()
            let said: Comment = "CUECAST_SEED=\(Self.seed) \(frame)"
            let scanned = ScannedReply(frame.span)
            try #require(Self.agree(try #require(scanned, said), try ListenerReply(decoding: frame), in: frame), said)
            var head: [UInt8] = []
            head.appendField(LaterField.later, 1)
            head += reply.encoded()
            let read = ReplyHead(head.span)
            try #require(read?.requestID == reply.requestID && read?.status == scanned?.status, said)
        }
    }

    @Test func `of a spoiled reply nothing else is read than players read`() throws {
        var source = SeededSource(seed: Self.seed)
        var both = 0
        for _ in 0..<10_000 {
            var frame = try Self.reply(&source).encoded()
            if Bool.random(using: &source) {
                frame.removeLast(Int.random(in: 0...frame.count, using: &source))
            }
            for _ in 0..<Int.random(in: 0...2, using: &source) where !frame.isEmpty {
                frame[Int.random(in: frame.indices, using: &source)] = UInt8(truncatingIfNeeded: source.next())
            }
            guard let scanned = ScannedReply(frame.span), let reply = try? ListenerReply(decoding: frame) else {
                continue
            }
            try #require(Self.agree(scanned, reply, in: frame), "CUECAST_SEED=\(Self.seed) \(frame)")
            both += 1
        }
        #expect(both > 100)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// A head made for each listener and a tail made once are one reply.
@Suite(.suiteLimit)
struct BatchHeadTests {
    private func check(_ advertisements: [AdvertisementContent], _ generator: inout SeededGenerator) throws {
        let encoded = EncodedAdvertisements(advertisements)
        #expect(encoded.offsets.count == advertisements.count + 1)
        #expect(encoded.offsets.last == encoded.bytes.count)
        for first in advertisements.indices {
            var batch = generator.batch()
            batch.skipped = first
            batch.advertisements = []
            let delivery = generator.delivery()
            batch.delivery = delivery.bytes
            let (id, time) = (generator.number(0...UInt64.max), generator.timestamp())
            let tail = encoded.tail(from: first)
            let head = ListenerReply.batchHead(
                requestID: id,
                gatewayTime: time,
                delivery: delivery,
                fields: batch.encodedFields(),
                tailBytes: tail.count
            )
            batch.advertisements = Array(advertisements[first...])
            let whole = ListenerReply(requestID: id, gatewayTime: time, body: .batch(batch))
            try #require(
                try ListenerReply(decoding: head + tail) == whole,
                "CUECAST_SEED=\(SeededGenerator.seed) first \(first)"
            )
            try #require(head.count + tail.count == whole.encoded().count)
        }
        #expect(encoded.tail(from: advertisements.count).isEmpty)
    }

    @Test func `head and any tail are read as the whole batch`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<40 { try self.check(generator.advertisements(1...6), &generator) }
    }

    /// The length of the batch is a varint: one byte up to 127, two up to 16,383, then three.
    @Test(arguments: [127, 128, 16_383, 16_384])
    func `the length of the batch is right where its own encoding grows`(length: Int) throws {
        var generator = SeededGenerator(for: "\(#function)\(length)")
        // Both the tail alone and the tail with the fields before it cross the border somewhere in this range.
        for total in (length - 60)...(length + 3) {
            guard let advertisement = try Self.advertisement(encodedBytes: total) else {
                // One byte more of content, and one more of its length.
                #expect(total == 130 || total == 16_387)
                continue
            }
            try self.check([advertisement], &generator)
        }
    }

    @Test func `the largest break that fits into a request fits into a reply`() throws {
        var advertisements: [AdvertisementContent] = []
        for ordinal in 0..<WireLimits.advertisementsPerBreakMax {
            advertisements.append(try #require(try Self.advertisement(encodedBytes: 16_380, id: "ad\(ordinal)")))
        }
        let key = BreakKey(stream: try StreamID(Raw.text(64)), id: try BreakID(Raw.text(64)))
        let publish = BroadcastRequest.Publish(key: key, start: .now, advertisements: advertisements)
        let request = BroadcastRequest(id: .max, kind: .publish(publish)).encoded()
        #expect((WireLimits.broadcastFrameBytesMax - 1_024...WireLimits.broadcastFrameBytesMax).contains(request.count))
        #expect(try BroadcastRequest(decoding: request).kind == .publish(publish))
        let batch = ListenerReply.Batch(
            delivery: [UInt8](repeating: 1, count: WireLimits.deliveryBytesMax),
            start: Timestamp(microseconds: .min),
            duration: .milliseconds(UInt32.max),
            skipped: .max,
            endMode: .finishAd,
            exact: true,
            advertisements: advertisements
        )
        let reply = ListenerReply(requestID: .max, gatewayTime: Timestamp(microseconds: .min), body: .batch(batch))
        #expect(reply.encoded().count <= WireLimits.replyFrameBytesMax)
    }

    /// An advertisement whose field in a batch has exactly so many bytes; `nil`: no content gives that.
    private static func advertisement(encodedBytes: Int, id: String = "ad") throws -> AdvertisementContent? {
        var content = AdvertisementContent(
            id: try AdvertisementID(id),
            duration: .seconds(1),
            media: [AdvertisementContent.MediaFile(url: "http://h/", type: "")]
        )
        func missing() -> Int { encodedBytes - EncodedAdvertisements([content]).bytes.count }
        while missing() > 4_000 { content.trackers.append(.init(event: "e", url: Raw.url(3_900))) }
        if missing() > 2_000 { content.text = Raw.text(2_000) }
        // A length that needs one byte more leaves sizes that the title alone cannot reach.
        for advertiser in ["", "x"] {
            content.advertiser = advertiser
            content.title = ""
            for title in stride(from: max(0, missing()), through: max(0, missing() - 8), by: -1) {
                content.title = Raw.text(title)
                if missing() == 0 { return content }
            }
        }
        return nil
    }
}

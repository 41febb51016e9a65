// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Testing

/// Every named limit holds: what reaches it is read, one more is refused.
@Suite(.suiteLimit)
struct WireLimitsTests {
    /// Something that is bounded by a named limit.
    struct Bounded: Sendable, CustomTestStringConvertible {
        let limit: String
        let subject: String
        let maximum: Int
        /// Reads something of this size.
        let read: @Sendable (Int) throws -> Void
        var testDescription: String { "\(self.limit): \(self.subject)" }

        init(_ limit: String, _ subject: String, _ maximum: Int, _ read: @escaping @Sendable (Int) throws -> Void) {
            self.limit = limit
            self.subject = subject
            self.maximum = maximum
            self.read = read
        }
    }

    static let all: [Bounded] =
        Self.identifiers + Self.requests + Self.advertisements + Self.breaks + Self.frames + Self.variants

    private static func variant(
        _ name: String = "v",
        values: [String] = ["b"],
        key: String = "a",
        advertisements: Int = 1
    ) throws -> AudienceVariant {
        AudienceVariant(
            name: name,
            conditions: [.init(key: key, values: values)],
            advertisements: try (0..<advertisements)
                .map {
                    AdvertisementContent(
                        id: try AdvertisementID("ad\($0)"),
                        title: "",
                        duration: .seconds(1),
                        media: [.init(url: "http://h/", type: "")]
                    )
                }
        )
    }

    /// Reads a publication, and a change, with variants.
    private static func read(_ variants: [AudienceVariant]) throws {
        let key = BreakKey(stream: try StreamID("s"), id: try BreakID("b"))
        var publish = BroadcastRequest.Publish(
            key: key,
            start: .now,
            advertisements: try Self.variant().advertisements
        )
        publish.variants = variants
        var update = BroadcastRequest.Update(key: key)
        update.variants = variants
        for kind in [.publish(publish), .update(update)] as [BroadcastRequest.Kind] {
            let request = BroadcastRequest(id: 1, kind: kind)
            _ = try BroadcastRequest(decoding: request.encoded())
            _ = try request.checked()
        }
    }

    private static let variants: [Bounded] = [
        // `default` is one of them.
        Bounded("variantsPerBreakMax", "variants", WireLimits.variantsPerBreakMax) { count in
            try Self.read(try (1..<count).map { try Self.variant("v\($0)") })
        },
        Bounded("variantNameBytesMax", "the name of a variant", WireLimits.variantNameBytesMax) {
            try Self.read([try Self.variant(Raw.text($0))])
        },
        Bounded("valuesPerConditionMax", "values of a condition", WireLimits.valuesPerConditionMax) { count in
            try Self.read([try Self.variant(values: (0..<count).map { "\($0)" })])
        },
        Bounded("attributesMax", "conditions of a variant", WireLimits.attributesMax) { count in
            var variant = try Self.variant()
            variant.conditions = (0..<count).map { .init(key: "k\($0)", values: ["b"]) }
            try Self.read([variant])
        },
        Bounded("attributeBytesMax", "the key of a condition", WireLimits.attributeBytesMax) {
            try Self.read([try Self.variant(key: Raw.text($0))])
        },
        Bounded("attributeBytesMax", "a value of a condition", WireLimits.attributeBytesMax) {
            try Self.read([try Self.variant(values: [Raw.text($0)])])
        },
        Bounded("advertisementsPerBreakMax", "advertisements of a variant", WireLimits.advertisementsPerBreakMax) {
            try Self.read([try Self.variant(advertisements: $0)])
        },
    ]

    private static let identifiers: [Bounded] = [
        Bounded("streamIDBytesMax", "a stream id", WireLimits.streamIDBytesMax) { _ = try StreamID(Raw.text($0)) },
        Bounded("breakIDBytesMax", "a break id", WireLimits.breakIDBytesMax) { _ = try BreakID(Raw.text($0)) },
        Bounded("advertisementIDBytesMax", "an advertisement id", WireLimits.advertisementIDBytesMax) {
            _ = try AdvertisementID(Raw.text($0))
        },
        Bounded("adListNameBytesMax", "the name of an ad list", WireLimits.adListNameBytesMax) {
            _ = try AdListName(Raw.text($0))
        },
        Bounded("signalSourceBytesMax", "a source of signals", WireLimits.signalSourceBytesMax) {
            _ = try SignalSource(Raw.text($0))
        },
        Bounded("signalEventIDBytesMax", "the id of an event", WireLimits.signalEventIDBytesMax) {
            _ = try SignalEventID(Raw.text($0))
        },
        Bounded("sessionBytes", "a session id", WireLimits.sessionBytes) {
            _ = try SessionID(bytes: [UInt8](repeating: 1, count: $0))
        },
    ]

    private static let requests: [Bounded] = [
        Bounded("outcomesPerRequestMax", "outcomes", WireLimits.outcomesPerRequestMax) {
            let outcomes = (0..<$0).map { Raw.outcome("ad\($0)") }
            _ = try ListenerRequest(decoding: Raw.acknowledge(outcomes: outcomes))
        },
        Bounded("attributesMax", "attributes", WireLimits.attributesMax) { count in
            let join = Raw.join { join in
                for each in 0..<count { join.message(7) { $0.string(1, "k\(each)") } }
            }
            _ = try ListenerRequest(decoding: join)
        },
        Bounded("attributeBytesMax", "the key of an attribute", WireLimits.attributeBytesMax) { count in
            let join = Raw.join { $0.message(7) { $0.string(1, Raw.text(count)) } }
            _ = try ListenerRequest(decoding: join)
        },
        Bounded("attributeBytesMax", "the value of an attribute", WireLimits.attributeBytesMax) { count in
            let join = Raw.join { $0.message(7) { $0.string(2, Raw.text(count)) } }
            _ = try ListenerRequest(decoding: join)
        },
        Bounded("attributeBytesMax", "the name of a client", WireLimits.attributeBytesMax) { count in
            _ = try ListenerRequest(decoding: Raw.join { $0.string(8, Raw.text(count)) })
        },
        Bounded("tokenBytesMax", "the token of a listener", WireLimits.tokenBytesMax) { count in
            _ = try ListenerRequest(decoding: Raw.join { $0.string(4, Raw.text(count)) })
        },
        Bounded("tokenBytesMax", "the token of a broadcaster", WireLimits.tokenBytesMax) { count in
            let token = ProtoWriter { $0.string(2, Raw.text(count)) }.bytes
            _ = try BroadcastRequest(decoding: Raw.broadcast(kind: 14) + token)
        },
        Bounded("ticketBytesMax", "the ticket of a request", WireLimits.ticketBytesMax) {
            _ = try ListenerRequest(decoding: Raw.request(kind: 13, ticket: $0) { _ in })
        },
        Bounded("ticketBytesMax", "the ticket of a join reply", WireLimits.ticketBytesMax) { count in
            _ = try ListenerReply(decoding: Raw.joined { $0.bytes(7, [UInt8](repeating: 1, count: count)) })
        },
        Bounded("deliveryBytesMax", "the delivery of an acknowledgement", WireLimits.deliveryBytesMax) {
            _ = try ListenerRequest(decoding: Raw.acknowledge(outcomes: [Raw.outcome()], delivery: $0))
        },
        Bounded("deliveryBytesMax", "the delivery of a batch", WireLimits.deliveryBytesMax) { count in
            let batch = Raw.reply {
                $0.message(11) {
                    $0.bytes(1, [UInt8](repeating: 1, count: count))
                    $0.bytes(7, Raw.advertisement())
                }
            }
            _ = try ListenerReply(decoding: batch)
        },
        Bounded("delayMillisecondsMax", "the delay of a join", Int(WireLimits.delayMillisecondsMax)) { delay in
            _ = try ListenerRequest(decoding: Raw.join { $0.varint(5, UInt64(delay)) })
        },
        Bounded("delayMillisecondsMax", "the largest delay of a join", Int(WireLimits.delayMillisecondsMax)) { delay in
            _ = try ListenerRequest(decoding: Raw.join { $0.varint(6, UInt64(delay)) })
        },
        Bounded("delayMillisecondsMax", "the delay of a batch", Int(WireLimits.delayMillisecondsMax)) { delay in
            _ = try ListenerRequest(decoding: Raw.getBatch { $0.varint(3, UInt64(delay)) })
        },
        Bounded("delayMillisecondsMax", "the largest delay of a batch", Int(WireLimits.delayMillisecondsMax)) { delay in
            _ = try ListenerRequest(decoding: Raw.getBatch { $0.varint(4, UInt64(delay)) })
        },
        Bounded(
            "advertisementDurationMillisecondsMax",
            "what was heard",
            Int(WireLimits.advertisementDurationMillisecondsMax)
        ) { heard in
            let outcome = Raw.outcome { $0.varint(5, UInt64(heard)) }
            _ = try ListenerRequest(decoding: Raw.acknowledge(outcomes: [outcome]))
        },
    ]

    private static let advertisements: [Bounded] = [
        Bounded("advertisementsPerBreakMax", "advertisements", WireLimits.advertisementsPerBreakMax) { count in
            _ = try Self.publish((0..<count).map { Raw.advertisement("ad\($0)") })
        },
        Bounded("mediaFilesPerAdvertisementMax", "media files", WireLimits.mediaFilesPerAdvertisementMax) {
            _ = try Self.publish([Raw.advertisement(media: $0)])
        },
        Bounded("trackersPerAdvertisementMax", "trackers", WireLimits.trackersPerAdvertisementMax) {
            _ = try Self.publish([Raw.advertisement(trackers: $0)])
        },
        Bounded("trackersPerAdvertisementMax", "trackers of an icon", WireLimits.trackersPerAdvertisementMax) { count in
            _ = try Self.publish([
                Raw.advertisement {
                    $0.message(14) { icon in
                        icon.string(2, "http://h/")
                        for _ in 0..<count {
                            icon.message(12) {
                                $0.string(1, "iconView")
                                $0.string(2, "http://h/t")
                            }
                        }
                    }
                }
            ])
        },
        Self.many("universalIDsPerAdvertisementMax", WireLimits.universalIDsPerAdvertisementMax, field: 11) {
            $0.string(2, "v")
        },
        Self.many("verificationsPerAdvertisementMax", WireLimits.verificationsPerAdvertisementMax, field: 13) {
            $0.message(2) { $0.string(1, "http://h/") }
        },
        Bounded("resourcesPerVerificationMax", "resources", WireLimits.resourcesPerVerificationMax) { count in
            _ = try Self.publish([
                Raw.advertisement {
                    $0.message(13) { verification in
                        for _ in 0..<count { verification.message(2) { $0.string(1, "http://h/") } }
                    }
                }
            ])
        },
        Bounded(
            "verificationParametersBytesMax",
            "parameters",
            WireLimits.verificationParametersBytesMax
        ) { count in
            _ = try Self.publish([
                Raw.advertisement {
                    $0.message(13) {
                        $0.message(2) { $0.string(1, "http://h/") }
                        $0.string(3, Raw.text(count))
                    }
                }
            ])
        },
        Self.many("iconsPerAdvertisementMax", WireLimits.iconsPerAdvertisementMax, field: 14) {
            $0.string(2, "http://h/")
        },
        Self.many("captionFilesPerAdvertisementMax", WireLimits.captionFilesPerAdvertisementMax, field: 15) {
            $0.string(1, "http://h/")
        },
        Self.many("mezzaninesPerAdvertisementMax", WireLimits.mezzaninesPerAdvertisementMax, field: 16) {
            $0.string(1, "http://h/")
        },
        Bounded(
            "advertisementDurationMillisecondsMax",
            "an advertisement",
            Int(WireLimits.advertisementDurationMillisecondsMax)
        ) { duration in
            _ = try Self.publish([Raw.advertisement { $0.varint(5, UInt64(duration)) }])
        },
        Self.text("title") { text in { $0.string(2, text) } },
        Self.text("description") { text in { $0.string(3, text) } },
        Self.text("advertiser") { text in { $0.string(4, text) } },
        Self.text("media type") { text in
            {
                $0.message(7) {
                    $0.string(1, "http://h/")
                    $0.string(2, text)
                }
            }
        },
        Self.text("universal id registry") { text in
            {
                $0.message(11) {
                    $0.string(1, text)
                    $0.string(2, "v")
                }
            }
        },
        Self.text("ad_serving_id") { text in { $0.string(12, text) } },
        Self.text("icon program") { text in
            {
                $0.message(14) {
                    $0.string(1, text)
                    $0.string(2, "http://h/")
                }
            }
        },
        Self.text("caption language") { text in
            {
                $0.message(15) {
                    $0.string(1, "http://h/")
                    $0.string(3, text)
                }
            }
        },
        Self.text("media codec") { text in
            {
                $0.message(7) {
                    $0.string(1, "http://h/")
                    $0.string(6, text)
                }
            }
        },
        Self.text("banner alternative_text") { text in
            {
                $0.message(9) {
                    $0.string(1, "http://h/")
                    $0.string(5, text)
                }
            }
        },
        Self.text("banner type") { text in
            {
                $0.message(9) {
                    $0.string(1, "http://h/")
                    $0.string(6, text)
                }
            }
        },
        Self.text("tracker event") { text in
            {
                $0.message(10) {
                    $0.string(1, text)
                    $0.string(2, "http://h/")
                }
            }
        },
        Self.url("media url") { url in { $0.message(7) { $0.string(1, url) } } },
        Self.url("click_through_url") { url in { $0.string(8, url) } },
        Self.url("banner image_url") { url in { $0.message(9) { $0.string(1, url) } } },
        Self.url("banner target_url") { url in
            {
                $0.message(9) {
                    $0.string(1, "http://h/")
                    $0.string(2, url)
                }
            }
        },
        Self.url("tracker url") { url in
            {
                $0.message(10) {
                    $0.string(1, "e")
                    $0.string(2, url)
                }
            }
        },
    ]

    private static let breaks: [Bounded] = [
        Bounded(
            "breakDurationMillisecondsMax",
            "a break that is published",
            Int(WireLimits.breakDurationMillisecondsMax)
        ) { duration in
            _ = try BroadcastRequest(decoding: Raw.publish { $0.varint(4, UInt64(duration)) })
        },
        Bounded(
            "breakDurationMillisecondsMax",
            "a break that is updated",
            Int(WireLimits.breakDurationMillisecondsMax)
        ) { duration in
            _ = try BroadcastRequest(decoding: Raw.broadcast(kind: 12) { $0.varint(4, UInt64(duration)) })
        },
        Bounded("holdMillisecondsMax", "a hold", Int(WireLimits.holdMillisecondsMax)) { hold in
            _ = try BroadcastRequest(decoding: Raw.publish { $0.varint(9, UInt64(hold)) })
        },
        Bounded("pageTokenBytesMax", "the page asked for", WireLimits.pageTokenBytesMax) { count in
            let list = Raw.broadcast(kind: 15) { $0.bytes(3, [UInt8](repeating: 1, count: count)) }
            _ = try BroadcastRequest(decoding: list)
        },
        Bounded("pageTokenBytesMax", "the next page", WireLimits.pageTokenBytesMax) { count in
            let list = Raw.reply { $0.message(11) { $0.bytes(2, [UInt8](repeating: 1, count: count)) } }
            _ = try BroadcastReply(decoding: list)
        },
        Bounded("breaksPerPageMax", "breaks on a page", WireLimits.breaksPerPageMax) { count in
            let list = Raw.reply {
                $0.message(11) { list in for _ in 0..<count { list.bytes(1, Raw.info()) } }
            }
            _ = try BroadcastReply(decoding: list)
        },
        Bounded("watchTextBytesMax", "the address of a watcher", WireLimits.watchTextBytesMax) { count in
            _ = try BroadcastRequest(decoding: Self.watchReport { $0.string(5, Raw.text(count)) })
        },
        Bounded("watchedCuesPerReportMax", "the cues of a report", WireLimits.watchedCuesPerReportMax) { count in
            let report = Self.watchReport {
                $0.varint(9, UInt64(count))
                for _ in 0..<count { $0.message(11) { $0.varint(4, 1) } }
            }
            _ = try BroadcastRequest(decoding: report)
        },
        Bounded("signalRawBytesMax", "a signal as its source wrote it", WireLimits.signalRawBytesMax) { count in
            let signal = Raw.broadcast(kind: 17) {
                $0.varint(3, 1)
                $0.string(4, "4711")
                $0.bytes(8, [UInt8](repeating: 1, count: count))
            }
            _ = try BroadcastRequest(decoding: signal)
        },
        Bounded("adListsMax", "the ad lists of a gateway", WireLimits.adListsMax) { count in
            let lists = Raw.reply {
                $0.message(15) { lists in for _ in 0..<count { lists.message(1) { $0.string(1, "spots") } } }
            }
            _ = try BroadcastReply(decoding: lists)
        },
        Bounded("noticesPerJoinMax", "notices of a join reply", WireLimits.noticesPerJoinMax) { count in
            let joined = Raw.joined { joined in for _ in 0..<count { joined.bytes(3, Raw.notice()) } }
            _ = try ListenerReply(decoding: joined)
        },
    ]

    private static let frames: [Bounded] = [
        Bounded("noticeFrameBytesMax", "a notice frame", WireLimits.noticeFrameBytesMax) {
            _ = try NoticeFrame(decoding: ProtoWriter.padding(Array("radio1\0".utf8) + Raw.notice(), to: $0))
        },
        Bounded("noticeFrameBytesMax", "a tick", WireLimits.noticeFrameBytesMax) {
            _ = try NoticeFrame(decoding: ProtoWriter.padding(NoticeFrame.syncTopic, to: $0))
        },
        Bounded("requestFrameBytesMax", "a request", WireLimits.requestFrameBytesMax) {
            _ = try ListenerRequest(decoding: ProtoWriter.padding(Raw.join(), to: $0))
        },
        Bounded("broadcastFrameBytesMax", "a request of a broadcaster", WireLimits.broadcastFrameBytesMax) {
            _ = try BroadcastRequest(decoding: ProtoWriter.padding(Raw.publish(), to: $0))
        },
        Bounded("replyFrameBytesMax", "a reply", WireLimits.replyFrameBytesMax) {
            _ = try ListenerReply(decoding: ProtoWriter.padding(Raw.joined(), to: $0))
        },
        Bounded("replyFrameBytesMax", "a reply to a broadcaster", WireLimits.replyFrameBytesMax) {
            _ = try BroadcastReply(decoding: ProtoWriter.padding(Raw.reply { $0.bytes(10, Raw.info()) }, to: $0))
        },
    ]

    @Test func `what a variant must not be is refused with the rule`() throws {
        func fault(_ change: (inout AudienceVariant) -> Void) throws -> String {
            var variant = try Self.variant()
            change(&variant)
            do {
                try Self.read([try Self.variant("first"), variant])
                return "accepted"
            } catch {
                return "\(error)"
            }
        }
        #expect(try fault { _ in } == "accepted")
        #expect(try fault { $0.name = "first" }.contains("the name first is there twice"))
        #expect(try fault { $0.name = "default" }.contains("the variant default is the break's own list"))
        #expect(try fault { $0.name = "a b" }.contains("a variant's name"))
        #expect(try fault { $0.conditions = [] }.contains("needs a condition"))
        #expect(try fault { $0.conditions += $0.conditions }.contains("two conditions about the attribute a"))
        #expect(try fault { $0.conditions[0].values = [] }.contains("has a key, and values"))
        #expect(try fault { $0.conditions[0].values = [""] }.contains("has a key, and values"))
        #expect(try fault { $0.conditions[0].key = "" }.contains("has a key, and values"))
        #expect(try fault { $0.conditions[0].values = ["\u{7}"] }.contains("control characters"))
        #expect(try fault { $0.advertisements = [] }.contains("a break needs at least one"))
        #expect(try fault { $0.advertisements += $0.advertisements }.contains("is listed twice"))
    }

    /// The first report of a watcher, with more fields.
    private static func watchReport(_ fill: (inout ProtoWriter) -> Void) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return ProtoWriter {
            $0.varint(1, 77)
            $0.message(21) {
                $0.string(1, "radio1")
                $0.string(2, "encoder")
                $0.string(3, "watcher-1")
                $0.varint(4, 1)
                $0.varint(6, 1)
                $0.append(more)
            }
        }
        .bytes
    }

    private static func publish(_ advertisements: [[UInt8]]) throws -> BroadcastRequest {
        try BroadcastRequest(decoding: Raw.publish(advertisements: advertisements))
    }

    /// So many messages in a field of an advertisement.
    private static func many(
        _ limit: String,
        _ maximum: Int,
        field: Int,
        _ fill: @escaping @Sendable (inout ProtoWriter) -> Void
    ) -> Bounded {
        Bounded(limit, "field \(field)", maximum) { count in
            _ = try Self.publish([
                Raw.advertisement { for _ in 0..<count { $0.message(field, fill) } }
            ])
        }
    }

    private static func text(
        _ field: String,
        _ fill: @escaping @Sendable (String) -> (inout ProtoWriter) -> Void
    ) -> Bounded {
        Bounded("textBytesMax", field, WireLimits.textBytesMax) {
            _ = try Self.publish([Raw.advertisement("ad", fill(Raw.text($0)))])
        }
    }

    private static func url(
        _ field: String,
        _ fill: @escaping @Sendable (String) -> (inout ProtoWriter) -> Void
    ) -> Bounded {
        Bounded("urlBytesMax", field, WireLimits.urlBytesMax) {
            _ = try Self.publish([Raw.advertisement("ad", fill(Raw.url($0)))])
        }
    }

    @Test(arguments: WireLimitsTests.all)
    func `a limit allows what reaches it and refuses one more`(bounded: Bounded) throws {
        try bounded.read(bounded.maximum)
        let error = #expect(throws: WireError.self) { try bounded.read(bounded.maximum + 1) }
        switch error {
        case .tooLarge(let limit, let maximum, let found):
            #expect(limit.hasPrefix(bounded.limit), "the sentence names the limit as the code does")
            #expect(maximum == bounded.maximum)
            #expect(found == bounded.maximum + 1)
            #expect(error?.status == .tooLarge)
        case .invalid:
            let names = ["sessionBytes", "adListNameBytesMax", "signalSourceBytesMax", "variantNameBytesMax"]
            let isName = names.contains(bounded.limit)
            #expect(isName || bounded.limit.contains("ID"), "ids and names say their whole rule")
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test func `a session id has no fewer bytes either`() {
        #expect(throws: WireError.self) { try SessionID(bytes: [UInt8](repeating: 1, count: 15)) }
    }

    @Test func `every limit of the table is tested here`() throws {
        let source = try RepositoryFile.text("Sources/CuecastWire/Rules/WireLimits.swift")
        let names = source.matches(of: /static let (\w+)/).map { String($0.1) }
        #expect(names.count > 20)
        // Ages are cut to their limit and not refused: `WatchReportWireTests`. So is what tells players of other gateways: `MoveTests`.
        let cut = [
            "watchAgeMillisecondsMax", "alternativesMax", "addressBytesMax", "advertisedAddressesMax",
            "moveMillisecondsMax", "moveAddressesBytesMax",
        ]
        #expect(Set(names).subtracting(cut) == Set(Self.all.map(\.limit)))
    }

    @Test func `the largest notice fits into its frame`() throws {
        let notice = Notice(
            position: Position(epoch: .max, sequence: .max),
            kind: .cancelled,
            breakID: try BreakID(Raw.text(WireLimits.breakIDBytesMax)),
            start: Timestamp(microseconds: .min),
            duration: .milliseconds(UInt32.max),
            window: RequestWindow(from: Timestamp(microseconds: .min), by: Timestamp(microseconds: .min)),
            expires: Timestamp(microseconds: .min),
            advertisementCount: WireLimits.advertisementsPerBreakMax,
            sent: Timestamp(microseconds: .min),
            preStream: true,
            exact: true,
            endMode: .finishAd,
            cancelReason: .notStarted
        )
        let stream = try StreamID(Raw.text(WireLimits.streamIDBytesMax))
        #expect(NoticeFrame.notice(notice, stream: stream).encoded().count <= WireLimits.noticeFrameBytesMax)

        let joined = ListenerReply.Joined(
            kind: .recovered,
            head: notice.position,
            notices: Array(repeating: notice, count: WireLimits.noticesPerJoinMax),
            instance: .max,
            headInterval: .seconds(5),
            lease: .seconds(300),
            ticket: [UInt8](repeating: 1, count: WireLimits.ticketBytesMax)
        )
        let reply = ListenerReply(requestID: .max, gatewayTime: notice.sent, body: .joined(joined))
        #expect(try ListenerReply(decoding: reply.encoded()) == reply)
    }

    @Test func `the largest acknowledgement fits into its frame, with the longest ticket`() throws {
        let key = BreakKey(
            stream: try StreamID(Raw.text(WireLimits.streamIDBytesMax)),
            id: try BreakID(Raw.text(WireLimits.breakIDBytesMax))
        )
        let outcomes = try (0..<WireLimits.outcomesPerRequestMax)
            .map { index in
                let digits = index < 10 ? "0\(index)" : "\(index)"
                return Outcome(
                    advertisementID: try AdvertisementID(Raw.text(WireLimits.advertisementIDBytesMax - 2) + digits),
                    kind: .ignored,
                    evidence: .inferred,
                    reason: .notStarted,
                    heard: .milliseconds(WireLimits.advertisementDurationMillisecondsMax),
                    quartiles: 4,
                    muted: true,
                    vastError: 999,
                    occurred: Timestamp(microseconds: .min),
                    clicked: true
                )
            }
        let request = ListenerRequest(
            id: .max,
            session: SessionID(high: .max, low: .max),
            ticket: [UInt8](repeating: 1, count: WireLimits.ticketBytesMax),
            kind: .acknowledge(
                ListenerRequest.Acknowledge(
                    key: key,
                    delivery: [UInt8](repeating: 1, count: WireLimits.deliveryBytesMax),
                    outcomes: outcomes
                )
            )
        )
        let frame = request.encoded()
        #expect(frame.count <= WireLimits.requestFrameBytesMax)
        #expect(try ListenerRequest(decoding: frame) == request)
        var scanned = ScannedRequest()
        var read: [ScannedRequest.Outcome] = []
        let isRead = scanned.scan(frame.span, outcomes: &read)
        #expect(isRead)
    }
}

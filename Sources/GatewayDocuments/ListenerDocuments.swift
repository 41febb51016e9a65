// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The messages of `proto/cuecast/v1` as JSON: the same names in lower camel case, with three simplifications for people and scripts. A
// position is `EPOCH:SEQUENCE`, as in `/v1/breaks`; a session is 32 hexadecimal digits; kinds are words. Ticket and delivery
// are base64. Times are microseconds since 1970, which a double holds exactly until the year 2255. What does not apply is absent.

/// A notice: the data of the events `notice` and `head`.
package struct NoticeDocument: GatewayDocument {
    package struct Window: GatewayDocument {
        package var fromUs: Int64
        package var byUs: Int64

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("fromUs", .microseconds),
            DocumentField("byUs", .microseconds),
        ])
    }

    /// Asks to go on at another gateway.
    package struct MoveRequest: GatewayDocument {
        package var withinMs: Int64
        package var addresses: [String]

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("withinMs", .count, "Leave after a random part of this time."),
            DocumentField("addresses", .array(of: .text), "Where other gateways are, in no order."),
        ])
    }

    package var position: String
    package var kind: String
    package var breakId: String?
    package var startUs: Int64?
    package var durationMs: Int64?
    package var window: Window?
    package var expiresUs: Int64?
    package var advertisementCount: Int?
    package var sentUs: Int64
    package var preStream: Bool?
    package var exact: Bool?
    package var endMode: String?
    package var cancelReason: String?
    package var trace: String?
    package var move: MoveRequest?

    package static let documentDescription = DocumentDescription(
        name: "Notice",
        fields: [
            DocumentField("position", .text, "As EPOCH:SEQUENCE; the epoch is hexadecimal."),
            DocumentField("kind", .oneOf(Notice.Kind.wordList)),
            .optional("breakId", .breakID),
            .optional("startUs", .microseconds),
            .optional("durationMs", .count),
            .optional("window", .document(Window.self), "When to ask for the batch."),
            .optional("expiresUs", .microseconds),
            .optional("advertisementCount", .count),
            DocumentField("sentUs", .microseconds),
            .optional("preStream", .flag),
            .optional("exact", .flag),
            .optional("endMode", .oneOf(EndMode.wordList)),
            .optional("cancelReason", .oneOf(CancelReason.wordList)),
            .optional("trace", .text, "As the header `traceparent` has it."),
            .optional(
                "move",
                .document(MoveRequest.self),
                "In a head only: the gateway is about to stop, and others go on."
            ),
        ]
    )

    package init(_ notice: Notice) {
        self.position = notice.position.description
        self.kind = notice.kind.word
        self.sentUs = notice.sent.microseconds
        self.move = notice.move.map {
            MoveRequest(withinMs: $0.within.milliseconds, addresses: $0.addresses.map(\.description))
        }
        guard notice.kind != .head else { return }
        self.breakId = notice.breakID?.description
        self.startUs = notice.start?.microseconds
        self.durationMs = notice.duration?.milliseconds
        self.window = notice.window.map { Window(fromUs: $0.from.microseconds, byUs: $0.by.microseconds) }
        self.expiresUs = notice.expires.microseconds
        self.advertisementCount = notice.advertisementCount
        self.preStream = notice.preStream
        self.exact = notice.exact
        self.endMode = notice.endMode.word
        self.cancelReason = notice.cancelReason?.word
        self.trace = notice.trace?.header
    }
}

/// The answer to a join: the data of the first event, `joined`.
package struct JoinedDocument: GatewayDocument {
    package var session: String
    package var kind: String
    package var head: String
    package var notices: [NoticeDocument]
    package var instance: String
    package var headIntervalMs: Int64
    package var leaseMs: Int64
    package var ticket: String
    package var gatewayUs: Int64
    package var alternatives: [String]

    package static let documentDescription = DocumentDescription(
        name: "Joined",
        fields: [
            DocumentField("session", .session),
            DocumentField("kind", .oneOf(ListenerReply.Joined.Kind.wordList)),
            DocumentField("head", .text, "The position that the notices here, or those before, lead to."),
            DocumentField("notices", .array(of: .document(NoticeDocument.self))),
            DocumentField("instance", .text, "Which run of the gateway this is: 16 hexadecimal digits or fewer."),
            DocumentField("headIntervalMs", .count),
            DocumentField("leaseMs", .count),
            DocumentField("ticket", .base64),
            DocumentField("gatewayUs", .microseconds),
            DocumentField(
                "alternatives",
                .array(of: .text),
                "Where other gateways of the event log are, the one to try first at the beginning."
            ),
        ]
    )

    package init(_ joined: ListenerReply.Joined, of session: SessionID, at time: Timestamp) {
        self.session = session.description
        self.kind = joined.kind.word
        self.head = joined.head.description
        self.notices = joined.notices.map { NoticeDocument($0) }
        self.instance = String(joined.instance, radix: 16)
        self.headIntervalMs = joined.headInterval.milliseconds
        self.leaseMs = joined.lease.milliseconds
        self.ticket = Data(joined.ticket).base64EncodedString()
        self.gatewayUs = time.microseconds
        self.alternatives = joined.alternatives.map(\.description)
    }
}

/// Why a stream of events ends: the data of the last event, `end`.
package struct EndDocument: GatewayDocument {
    package var reason: String
    package var retryable: Bool

    package static let documentDescription = DocumentDescription(
        name: "StreamEnd",
        fields: [
            DocumentField("reason", .oneOf(NoticeReaderEnd.allCases.map(\.metricLabel.text))),
            DocumentField("retryable", .flag, "Whether to listen again, with the last position."),
        ]
    )

    package init(_ end: NoticeReaderEnd) {
        self.reason = end.metricLabel.text
        self.retryable =
            switch end {
            case .slow, .stalled, .stopping: true
            case .replaced, .left, .expired, .gone: false
            }
    }

    /// The prefix of an event's id that tells the reader not to listen again; no position begins with it.
    package static let finalPrefix = "end:"

    /// The id of the event; `nil`: its reader goes on from its last position.
    ///
    /// A browser sends the id of the last event when it comes back, so the gateway needs no memory of readers that have ended.
    package var finalEventID: String? { self.retryable ? nil : Self.finalPrefix + self.reason }
}

/// A batch: the answer to `POST …/batch`.
package struct BatchDocument: GatewayDocument {
    package struct Advertisement: GatewayDocument {
        package struct MediaFile: GatewayDocument {
            package var url: String
            package var type: String
            package var bitrateKbps: Int?
            package var width: Int?
            package var height: Int?
            package var codec: String?
            package var streaming: Bool

            package static let documentDescription = DocumentDescription(fields: [
                DocumentField("url", .text),
                DocumentField("type", .text),
                .optional("bitrateKbps", .count),
                .optional("width", .count),
                .optional("height", .count),
                .optional("codec", .text),
                DocumentField("streaming", .flag),
            ])
        }

        package struct Banner: GatewayDocument {
            package var imageUrl: String
            package var targetUrl: String?
            package var width: Int?
            package var height: Int?
            package var alternativeText: String?
            package var type: String?

            package static let documentDescription = DocumentDescription(fields: [
                DocumentField("imageUrl", .text),
                .optional("targetUrl", .text),
                .optional("width", .count),
                .optional("height", .count),
                .optional("alternativeText", .text),
                .optional("type", .text),
            ])
        }

        package struct Tracker: GatewayDocument {
            package var event: String
            package var url: String
            package var offsetMs: Int64?

            package static let documentDescription = DocumentDescription(fields: [
                DocumentField("event", .text),
                DocumentField("url", .text),
                .optional("offsetMs", .count),
            ])
        }

        package var id: String
        package var title: String
        package var description: String
        package var advertiser: String
        package var durationMs: Int64
        package var skipOffsetMs: Int64?
        package var media: [MediaFile]
        package var clickThroughUrl: String?
        package var banner: Banner?
        package var trackers: [Tracker]
        package var universalIds: [UniversalIDDocument]?
        package var adServingId: String?
        package var verifications: [Verification]?
        package var icons: [Icon]?
        package var captions: [CaptionFileDocument]?
        package var mezzanines: [MediaFile]?

        package static let documentDescription = DocumentDescription(
            fields: [
                DocumentField("id", .text),
                DocumentField("title", .text),
                DocumentField("description", .text),
                DocumentField("advertiser", .text),
                DocumentField("durationMs", .count),
                .optional("skipOffsetMs", .count),
                DocumentField("media", .array(of: .document(MediaFile.self))),
                .optional("clickThroughUrl", .text),
                .optional("banner", .document(Banner.self)),
                DocumentField("trackers", .array(of: .document(Tracker.self))),
            ] + Self.supplementFields
        )
    }

    package var gatewayUs: Int64
    package var delivery: String
    package var startUs: Int64?
    package var durationMs: Int64?
    package var skipped: Int
    package var endMode: String
    package var exact: Bool
    package var advertisements: [Advertisement]

    package static let documentDescription = DocumentDescription(
        name: "Batch",
        fields: [
            DocumentField("gatewayUs", .microseconds),
            DocumentField("delivery", .base64),
            .optional("startUs", .microseconds),
            .optional("durationMs", .count),
            DocumentField("skipped", .count, "How many ads before these are over."),
            DocumentField("endMode", .oneOf(EndMode.wordList)),
            DocumentField("exact", .flag),
            DocumentField("advertisements", .array(of: .document(Advertisement.self))),
        ]
    )

    package init(_ batch: ListenerReply.Batch, at time: Timestamp) {
        self.gatewayUs = time.microseconds
        self.delivery = Data(batch.delivery).base64EncodedString()
        self.startUs = batch.start?.microseconds
        self.durationMs = batch.duration?.milliseconds
        self.skipped = batch.skipped
        self.endMode = batch.endMode.word
        self.exact = batch.exact
        self.advertisements = batch.advertisements.map { Advertisement($0) }
    }
}

extension BatchDocument.Advertisement {
    fileprivate init(_ content: AdvertisementContent) {
        self.id = content.id.description
        self.title = content.title
        self.description = content.text
        self.advertiser = content.advertiser
        self.durationMs = content.duration.milliseconds
        self.skipOffsetMs = content.skipOffset?.milliseconds
        self.media = content.media.map { MediaFile($0) }
        self.clickThroughUrl = content.clickThroughURL.orNil
        self.banner = content.banner.map { banner in
            Banner(
                imageUrl: banner.imageURL,
                targetUrl: banner.targetURL.orNil,
                width: banner.width.orNil,
                height: banner.height.orNil,
                alternativeText: banner.alternativeText.orNil,
                type: banner.type.orNil
            )
        }
        self.trackers = content.trackers.map { Tracker($0) }
        self.add(content.supplements)
    }
}

extension BatchDocument.Advertisement.MediaFile {
    init(_ file: AdvertisementContent.MediaFile) {
        self.init(
            url: file.url,
            type: file.type,
            bitrateKbps: file.bitrateKilobitsPerSecond.orNil,
            width: file.width.orNil,
            height: file.height.orNil,
            codec: file.codec.orNil,
            streaming: file.streaming
        )
    }
}

extension BatchDocument.Advertisement.Tracker {
    init(_ tracker: AdvertisementContent.Tracker) {
        self.init(event: tracker.event, url: tracker.url, offsetMs: tracker.offset?.milliseconds)
    }
}

/// The answer to `POST …/acknowledge`.
package struct AcknowledgedDocument: GatewayDocument {
    package var gatewayUs: Int64
    package var recorded: Int

    package init(gatewayUs: Int64, recorded: Int) {
        self.gatewayUs = gatewayUs
        self.recorded = recorded
    }

    package static let documentDescription = DocumentDescription(
        name: "Acknowledged",
        fields: [
            DocumentField("gatewayUs", .microseconds),
            DocumentField(
                "recorded",
                .count,
                "How many outcomes are recorded durably, new ones and repeats alike."
            ),
        ]
    )
}

/// The answer to `GET /v1/time` and `POST …/leave`.
package struct TimeDocument: GatewayDocument {
    package var gatewayUs: Int64

    package init(gatewayUs: Int64) {
        self.gatewayUs = gatewayUs
    }

    package static let documentDescription = DocumentDescription(
        name: "GatewayTime",
        fields: [DocumentField("gatewayUs", .microseconds)]
    )
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore

// The messages of `proto/cuecast/v1` as JSON: the same names in lower camel case, with three simplifications for people and scripts. A
// position is `EPOCH:SEQUENCE`, as in `/v1/breaks`; a session is 32 hexadecimal digits; kinds are words. Ticket and delivery
// are base64. Times are microseconds since 1970, which a double holds exactly until the year 2255. What does not apply is absent.

/// A notice: the data of the events `notice` and `head`.
struct NoticeDocument: Encodable, Hashable, Sendable {
    struct Window: Encodable, Hashable, Sendable {
        var fromUs: Int64
        var byUs: Int64
    }

    var position: String
    var kind: String
    var breakId: String?
    var startUs: Int64?
    var durationMs: Int64?
    var window: Window?
    var expiresUs: Int64?
    var advertisementCount: Int?
    var sentUs: Int64
    var preStream: Bool?
    var exact: Bool?
    var endMode: String?
    var cancelReason: String?
    /// As the header `traceparent` has it.
    var trace: String?

    init(_ notice: Notice) {
        self.position = notice.position.description
        self.kind = notice.kind.word
        self.sentUs = notice.sent.microseconds
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
struct JoinedDocument: Encodable, Hashable, Sendable {
    var session: String
    var kind: String
    /// The position that the notices below, or those before, lead to.
    var head: String
    var notices: [NoticeDocument]
    /// Which run of the gateway this is: 16 hexadecimal digits or fewer.
    var instance: String
    var headIntervalMs: Int64
    var leaseMs: Int64
    var ticket: String
    var gatewayUs: Int64

    init(_ joined: ListenerReply.Joined, of session: SessionID, at time: Timestamp) {
        self.session = session.description
        self.kind = joined.kind.word
        self.head = joined.head.description
        self.notices = joined.notices.map { NoticeDocument($0) }
        self.instance = String(joined.instance, radix: 16)
        self.headIntervalMs = joined.headInterval.milliseconds
        self.leaseMs = joined.lease.milliseconds
        self.ticket = Data(joined.ticket).base64EncodedString()
        self.gatewayUs = time.microseconds
    }
}

/// Why a stream of events ends: the data of the last event, `end`.
struct EndDocument: Encodable, Hashable, Sendable {
    var reason: String
    /// Whether to listen again, with the last position.
    var retryable: Bool

    init(_ end: NoticeReaderEnd) {
        self.reason = end.metricLabel.text
        self.retryable =
            switch end {
            case .slow, .stalled, .stopping: true
            case .replaced, .left, .expired, .gone: false
            }
    }

    /// The beginning of the id of an event after which its reader must not listen again; no position begins so.
    static let finalPrefix = "end:"

    /// The id of the event; `nil`: its reader goes on from its last position.
    ///
    /// A browser sends the id of the last event when it comes back, so the gateway needs no memory of readers that have ended.
    var finalEventID: String? { self.retryable ? nil : Self.finalPrefix + self.reason }
}

/// A batch: the answer to `POST …/batch`.
struct BatchDocument: Encodable, Hashable, Sendable {
    struct Advertisement: Encodable, Hashable, Sendable {
        struct MediaFile: Encodable, Hashable, Sendable {
            var url: String
            var type: String
            var bitrateKbps: UInt32?
            var width: UInt32?
            var height: UInt32?
            var codec: String?
            var streaming: Bool
        }

        struct Banner: Encodable, Hashable, Sendable {
            var imageUrl: String
            var targetUrl: String?
            var width: UInt32?
            var height: UInt32?
            var alternativeText: String?
            var type: String?
        }

        struct Tracker: Encodable, Hashable, Sendable {
            var event: String
            var url: String
            var offsetMs: Int64?
        }

        var id: String
        var title: String
        var description: String
        var advertiser: String
        var durationMs: Int64
        var skipOffsetMs: Int64?
        var media: [MediaFile]
        var clickThroughUrl: String?
        var banner: Banner?
        var trackers: [Tracker]
    }

    var gatewayUs: Int64
    var delivery: String
    var startUs: Int64?
    var durationMs: Int64?
    var skipped: Int
    var endMode: String
    var exact: Bool
    var advertisements: [Advertisement]

    init(_ batch: ListenerReply.Batch, at time: Timestamp) {
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
    init(_ content: AdvertisementContent) {
        func some(_ text: String) -> String? { text.isEmpty ? nil : text }
        func some(_ number: UInt32) -> UInt32? { number == 0 ? nil : number }
        self.id = content.id.description
        self.title = content.title
        self.description = content.text
        self.advertiser = content.advertiser
        self.durationMs = content.duration.milliseconds
        self.skipOffsetMs = content.skipOffset?.milliseconds
        self.media = content.media.map { file in
            MediaFile(
                url: file.url,
                type: file.type,
                bitrateKbps: some(file.bitrateKilobitsPerSecond),
                width: some(file.width),
                height: some(file.height),
                codec: some(file.codec),
                streaming: file.streaming
            )
        }
        self.clickThroughUrl = some(content.clickThroughURL)
        self.banner = content.banner.map { banner in
            Banner(
                imageUrl: banner.imageURL,
                targetUrl: some(banner.targetURL),
                width: some(banner.width),
                height: some(banner.height),
                alternativeText: some(banner.alternativeText),
                type: some(banner.type)
            )
        }
        self.trackers = content.trackers.map { tracker in
            Tracker(event: tracker.event, url: tracker.url, offsetMs: tracker.offset?.milliseconds)
        }
    }
}

/// The answer to `POST …/acknowledge`.
struct AcknowledgedDocument: Encodable, Hashable, Sendable {
    var gatewayUs: Int64
    /// How many outcomes are recorded durably, new ones and repeats alike.
    var recorded: Int
}

/// The answer to `GET /v1/time` and `POST …/leave`.
struct TimeDocument: Encodable, Hashable, Sendable {
    var gatewayUs: Int64
}

// MARK: - Requests

/// The members of each request of a listener.
protocol ListenerRequestDocument: Decodable, Sendable {
    /// 32 hexadecimal digits.
    var session: String { get }
    /// As the event `joined` gave it; base64.
    var ticket: String? { get }
}

struct BatchRequestDocument: ListenerRequestDocument {
    var session: String
    var ticket: String?
    var delayMs: UInt32?
    var delayMaxMs: UInt32?
}

struct LeaveRequestDocument: ListenerRequestDocument {
    var session: String
    var ticket: String?
}

struct AcknowledgeRequestDocument: ListenerRequestDocument {
    struct Outcome: Decodable, Sendable {
        var advertisementId: String
        var kind: String
        /// `reported` where nothing is said.
        var evidence: String?
        var reason: String?
        var heardMs: UInt32?
        var quartiles: UInt32?
        var muted: Bool?
        var vastError: UInt32?
        var occurredUs: Int64
        var clicked: Bool?
    }

    var session: String
    var ticket: String?
    /// As the batch has it; base64.
    var delivery: String
    var outcomes: [Outcome]
}

extension ListenerRequestDocument {
    func sessionID() throws(Problem) -> SessionID { try SessionID(hexadecimal: self.session) }

    func ticketBytes() throws(Problem) -> [UInt8] {
        guard let ticket else { return [] }
        guard let bytes = Data(base64Encoded: ticket) else { throw .badRequest("The ticket is not base64.") }
        return Array(bytes)
    }
}

extension AcknowledgeRequestDocument {
    /// The request as the rules see it.
    func acknowledge(_ key: BreakKey) throws(Problem) -> ListenerRequest.Acknowledge {
        guard let delivery = Data(base64Encoded: self.delivery) else {
            throw .badRequest("The delivery is not base64.")
        }
        var outcomes: [CuecastWire.Outcome] = []
        for outcome in self.outcomes { outcomes.append(try outcome.outcome()) }
        return ListenerRequest.Acknowledge(key: key, delivery: Array(delivery), outcomes: outcomes)
    }
}

extension AcknowledgeRequestDocument.Outcome {
    fileprivate func outcome() throws(Problem) -> CuecastWire.Outcome {
        guard let kind = CuecastWire.Outcome.Kind(word: self.kind) else {
            throw .badRequest("The kind of an outcome is one of \(CuecastWire.Outcome.Kind.words).")
        }
        guard let evidence = CuecastWire.Outcome.Evidence(word: self.evidence ?? "reported") else {
            throw .badRequest("The evidence of an outcome is one of \(CuecastWire.Outcome.Evidence.words).")
        }
        var reason: CuecastWire.Outcome.Reason?
        if let word = self.reason {
            reason = CuecastWire.Outcome.Reason(word: word)
            guard reason != nil else {
                throw .badRequest("The reason of an outcome is one of \(CuecastWire.Outcome.Reason.words).")
            }
        }
        return try Problem.check { () throws(WireError) in
            CuecastWire.Outcome(
                advertisementID: try AdvertisementID(self.advertisementId),
                kind: kind,
                evidence: evidence,
                reason: reason,
                heard: .milliseconds(self.heardMs ?? 0),
                quartiles: self.quartiles ?? 0,
                muted: self.muted ?? false,
                vastError: self.vastError ?? 0,
                occurred: Timestamp(microseconds: self.occurredUs),
                clicked: self.clicked ?? false
            )
        }
    }
}

extension SessionID {
    /// Reads 32 hexadecimal digits.
    init(hexadecimal text: String) throws(Problem) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * WireLimits.sessionBytes,
            digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { throw .badRequest("A session is 32 hexadecimal digits, made at random.") }
        self.init(high: high, low: low)
    }
}

extension Position {
    /// Reads `EPOCH:SEQUENCE`, as events and breaks have it; `nil`: it is none.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.first != "+" }), let epoch = UInt64(parts[0], radix: 16),
            let sequence = UInt64(parts[1])
        else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { self.inMicroseconds / 1_000 }
}

// MARK: - Words

/// A closed list of kinds with a word for each.
protocol Worded: CaseIterable, Hashable {
    var word: String { get }
}

extension Worded {
    init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }

    static var wordList: [String] { Self.allCases.map(\.word) }
    /// For a sentence.
    static var words: String { Self.wordList.joined(separator: ", ") }
}

extension Notice.Kind: Worded {
    var word: String {
        switch self {
        case .available: "available"
        case .updated: "updated"
        case .ended: "ended"
        case .cancelled: "cancelled"
        case .head: "head"
        }
    }
}

extension ListenerReply.Joined.Kind: Worded {
    var word: String {
        switch self {
        case .current: "current"
        case .recovered: "recovered"
        case .snapshot: "snapshot"
        }
    }
}

extension EndMode: Worded {
    var word: String {
        switch self {
        case .cut: "cut"
        case .finishAd: "finishAd"
        }
    }
}

extension CancelReason: Worded {
    var word: String {
        switch self {
        case .broadcaster: "broadcaster"
        case .notStarted: "notStarted"
        }
    }
}

extension Outcome.Kind: Worded {
    var word: String {
        switch self {
        case .played: "played"
        case .ignored: "ignored"
        case .failed: "failed"
        }
    }
}

extension Outcome.Evidence: Worded {
    var word: String {
        switch self {
        case .reported: "reported"
        case .inferred: "inferred"
        }
    }
}

extension Outcome.Reason: Worded {
    var word: String {
        switch self {
        case .user: "user"
        case .expired: "expired"
        case .overlap: "overlap"
        case .muted: "muted"
        case .cancelled: "cancelled"
        case .endedEarly: "endedEarly"
        case .skippedOver: "skippedOver"
        case .notStarted: "notStarted"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// When a break starts, as the broadcaster says it.
///
/// The gateway resolves it once, by its own clock.
package enum BreakStart: Hashable, Sendable {
    case at(Timestamp)
    /// This long after the gateway received the request.
    case after(Duration)
    case now
}

/// What a broadcaster asks.
package struct BroadcastRequest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case publish(Publish)
        case punch(Punch)
        case update(Update)
        case end(End)
        case cancel(BreakKey)
        case list(List)
        case postpone(Postpone)
    }

    package struct Publish: Hashable, Sendable {
        package var key: BreakKey
        /// `nil`: the break is cued, or, with `preStream`, open at once.
        package var start: BreakStart?
        /// The most that the break lasts; `nil`: until it is ended.
        package var duration: Duration?
        package var advertisements: [AdvertisementContent]
        package var preStream: Bool
        /// Late batches hold only what fits into the rest of the break.
        package var exact: Bool
        package var endMode: EndMode
        /// How long a cued break is held, or a pre-stream break open; `nil`: 30 min.
        package var hold: Duration?

        package init(
            key: BreakKey,
            start: BreakStart?,
            duration: Duration? = nil,
            advertisements: [AdvertisementContent],
            preStream: Bool = false,
            exact: Bool = false,
            endMode: EndMode = .cut,
            hold: Duration? = nil
        ) {
            self.key = key
            self.start = start
            self.duration = duration
            self.advertisements = advertisements
            self.preStream = preStream
            self.exact = exact
            self.endMode = endMode
            self.hold = hold
        }
    }

    package struct Punch: Hashable, Sendable {
        package var key: BreakKey
        /// `nil`: after the gateway's usual lead.
        package var start: BreakStart?

        package init(key: BreakKey, start: BreakStart? = nil) {
            self.key = key
            self.start = start
        }
    }

    package struct Update: Hashable, Sendable {
        package var key: BreakKey
        package var start: BreakStart?
        package var duration: Duration?
        /// `nil`: they stay.
        package var advertisements: [AdvertisementContent]?

        package init(
            key: BreakKey,
            start: BreakStart? = nil,
            duration: Duration? = nil,
            advertisements: [AdvertisementContent]? = nil
        ) {
            self.key = key
            self.start = start
            self.duration = duration
            self.advertisements = advertisements
        }
    }

    package struct End: Hashable, Sendable {
        package var key: BreakKey
        /// `nil`: as the break was published.
        package var endMode: EndMode?
        /// The programme position at which it ends; `nil`: now.
        package var at: Timestamp?

        package init(key: BreakKey, endMode: EndMode? = nil, at: Timestamp? = nil) {
            self.key = key
            self.endMode = endMode
            self.at = at
        }
    }

    package struct Postpone: Hashable, Sendable {
        package var key: BreakKey
        /// By how much; above zero, in whole milliseconds.
        package var by: Duration
        /// The start that it has now; `nil`: the request expects a revision.
        package var from: Timestamp?

        package init(key: BreakKey, by: Duration, from: Timestamp? = nil) {
            self.key = key
            self.by = by
            self.from = from
        }
    }

    package struct List: Hashable, Sendable {
        /// `nil`: all streams.
        package var stream: StreamID?
        package var id: BreakID?
        /// As the last page gave it.
        package var after: [UInt8]

        package init(stream: StreamID? = nil, id: BreakID? = nil, after: [UInt8] = []) {
            self.stream = stream
            self.id = id
            self.after = after
        }
    }

    package var id: UInt64
    /// Who asks; nothing looks at it yet, rights will.
    package var token: String
    /// The revision that the break must have for anything to change, `nil` for any; or one of `ExpectedRevision`.
    ///
    /// A list has none.
    package var expectedRevision: UInt64?
    /// The trace that it belongs to, as it was sent; empty: none is told.
    ///
    /// `TraceParent` reads it, where anybody wants to know.
    package var traceparent: String
    package var kind: Kind

    package init(
        id: UInt64,
        token: String = "",
        expectedRevision: UInt64? = nil,
        traceparent: String = "",
        kind: Kind
    ) {
        self.id = id
        self.token = token
        self.expectedRevision = expectedRevision
        self.traceparent = traceparent
        self.kind = kind
    }
}

extension BroadcastRequest {
    /// Reads one request frame; never traps.
    package init(decoding frame: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_BroadcastRequest.self,
            from: frame,
            atMost: WireLimits.broadcastFrameBytesMax,
            limit: "broadcastFrameBytesMax",
            what: "a request of a broadcaster"
        )
        guard let kind = wire.kind else { throw .unsupported }
        try requireAtMost(WireLimits.tokenBytesMax, wire.token.utf8.count, limit: "tokenBytesMax")
        guard !wire.token.unicodeScalars.contains(where: { $0.isControl }) else {
            // What a listener's request has there is its session: random bytes are taken for a token hardly ever.
            throw .invalid(field: "token", rule: "it has control characters")
        }
        self.id = wire.requestID
        self.token = wire.token
        var isPublish = false
        if case .publish = kind { isPublish = true }
        let revision =
            wire.hasExpectedRevision
            ? try breakRevision(wire.expectedRevision, field: "expected_revision", mayBeAbsent: isPublish) : nil
        self.expectedRevision = revision
        self.traceparent = wire.traceparent
        switch kind {
        case .publish(let request): self.kind = .publish(try Publish(wire: request))
        case .punch(let request): self.kind = .punch(try Punch(wire: request))
        case .update(let request): self.kind = .update(try Update(wire: request))
        case .end(let request): self.kind = .end(try End(wire: request))
        case .cancel(let request): self.kind = .cancel(try BreakKey(request.stream, request.breakID))
        case .postpone(let request):
            let postpone = try Postpone(wire: request)
            guard postpone.from != nil || revision.map({ $0 != ExpectedRevision.any }) ?? false else {
                throw .invalid(
                    field: "from_us",
                    rule: "it is there, or expected_revision is, so that a repeat does no harm"
                )
            }
            self.kind = .postpone(postpone)
        case .list(let request):
            try requireAtMost(WireLimits.pageTokenBytesMax, request.after.count, limit: "pageTokenBytesMax")
            self.kind = .list(
                List(
                    stream: request.stream.isEmpty ? nil : try StreamID(request.stream),
                    id: request.breakID.isEmpty ? nil : try BreakID(request.breakID),
                    after: Array(request.after)
                )
            )
        }
    }

    /// The id that a reply carries back, also when the rest of the request is refused; 0 where it cannot be read.
    package static func requestID(of frame: [UInt8]) -> UInt64 {
        frame.count <= WireLimits.broadcastFrameBytesMax ? RequestEnvelope.requestID(of: frame) : 0
    }

    /// The frame's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_BroadcastRequest.with {
                $0.requestID = self.id
                $0.token = self.token
                if let revision = self.expectedRevision { $0.expectedRevision = revision }
                $0.traceparent = self.traceparent
                switch self.kind {
                case .publish(let request): $0.publish = request.wire
                case .punch(let request): $0.punch = request.wire
                case .update(let request): $0.update = request.wire
                case .end(let request): $0.end = request.wire
                case .cancel(let key): $0.cancel = key.cancelWire
                case .postpone(let request): $0.postpone = request.wire
                case .list(let request):
                    $0.list = .with {
                        $0.stream = request.stream?.description ?? ""
                        $0.breakID = request.id?.description ?? ""
                        $0.after = Data(request.after)
                    }
                }
            }
        )
    }
}

extension BreakKey {
    init(_ stream: String, _ id: String) throws(WireError) {
        self.init(stream: try StreamID(stream), id: try BreakID(id))
    }

    var cancelWire: Cuecast_V1_Cancel {
        .with {
            $0.stream = self.stream.description
            $0.breakID = self.id.description
        }
    }
}

extension BreakStart {
    init(wire: Cuecast_V1_Start) throws(WireError) {
        switch wire.kind {
        case .atUs(let microseconds): self = .at(Timestamp(microseconds: microseconds))
        case .inMs(let milliseconds): self = .after(.milliseconds(milliseconds))
        case .now(true): self = .now
        case .now(false), nil: throw .invalid(field: "start", rule: "it says no time")
        }
    }

    var wire: Cuecast_V1_Start {
        .with {
            switch self {
            case .at(let instant): $0.atUs = instant.microseconds
            case .after(let lead): $0.inMs = lead.inMilliseconds
            case .now: $0.now = true
            }
        }
    }
}

/// The duration of a break, where one is given.
func breakDuration(_ milliseconds: UInt32?) throws(WireError) -> Duration? {
    guard let milliseconds else { return nil }
    guard milliseconds > 0 else { throw .invalid(field: "duration_ms", rule: "it is above 0, or absent") }
    try requireAtMost(
        Int(WireLimits.breakDurationMillisecondsMax),
        Int(milliseconds),
        limit: "breakDurationMillisecondsMax"
    )
    return .milliseconds(milliseconds)
}

extension BroadcastRequest.Publish {
    init(wire: Cuecast_V1_Publish) throws(WireError) {
        self.key = try BreakKey(wire.stream, wire.breakID)
        self.start = wire.hasStart ? try BreakStart(wire: wire.start) : nil
        self.duration = try breakDuration(wire.hasDurationMs ? wire.durationMs : nil)
        self.advertisements = try AdvertisementContent.list(wire: wire.advertisements)
        self.preStream = wire.preStream
        self.exact = wire.exact
        self.endMode = EndMode(wire: wire.endMode) ?? .cut
        if wire.hasHoldMs {
            guard wire.holdMs > 0 else { throw .invalid(field: "hold_ms", rule: "it is above 0, or absent") }
            try requireAtMost(
                Int(WireLimits.holdMillisecondsMax),
                Int(wire.holdMs),
                limit: "holdMillisecondsMax"
            )
            self.hold = .milliseconds(wire.holdMs)
        }
        if self.preStream && self.start != nil {
            throw .invalid(field: "start", rule: "a pre-stream break has none: it is open for its hold time")
        }
        if self.start != nil && self.hold != nil {
            throw .invalid(field: "hold_ms", rule: "only cued and pre-stream breaks are held")
        }
    }

    var wire: Cuecast_V1_Publish {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            if let start = self.start { $0.start = start.wire }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            $0.advertisements = self.advertisements.map(\.wire)
            $0.preStream = self.preStream
            $0.exact = self.exact
            $0.endMode = self.endMode.wire
            if let hold = self.hold { $0.holdMs = hold.inMilliseconds }
        }
    }
}

extension BroadcastRequest.Punch {
    init(wire: Cuecast_V1_Punch) throws(WireError) {
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            start: wire.hasStart ? try BreakStart(wire: wire.start) : nil
        )
    }

    var wire: Cuecast_V1_Punch {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            if let start = self.start { $0.start = start.wire }
        }
    }
}

extension BroadcastRequest.Update {
    init(wire: Cuecast_V1_Update) throws(WireError) {
        self.key = try BreakKey(wire.stream, wire.breakID)
        self.start = wire.hasStart ? try BreakStart(wire: wire.start) : nil
        self.duration = try breakDuration(wire.hasDurationMs ? wire.durationMs : nil)
        self.advertisements =
            wire.replaceAdvertisements ? try AdvertisementContent.list(wire: wire.advertisements) : nil
        if self.start == nil && self.duration == nil && self.advertisements == nil {
            throw .invalid(field: "update", rule: "it changes nothing")
        }
    }

    var wire: Cuecast_V1_Update {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            if let start = self.start { $0.start = start.wire }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            if let advertisements = self.advertisements {
                $0.advertisements = advertisements.map(\.wire)
                $0.replaceAdvertisements = true
            }
        }
    }
}

/// What a request may expect in the place of a revision.
package enum ExpectedRevision {
    /// The break is not there yet, not even as it is asked for; only of a request to publish.
    package static let absent: UInt64 = 0
    /// The break is there, whatever its revision.
    package static let any = UInt64(Int64.max)
}

/// The revision of a break, where one is given, or what stands in its place.
///
/// - Parameters:
///   - revision: as it is said.
///   - field: where.
///   - mayBeAbsent: whether the break may be expected not to be there.
/// - Returns: the revision.
/// - Throws: where it is none.
func breakRevision(_ revision: UInt64, field: String, mayBeAbsent: Bool = false) throws(WireError) -> UInt64 {
    guard (1...ExpectedRevision.any).contains(revision) || mayBeAbsent && revision == ExpectedRevision.absent else {
        throw .invalid(field: field, rule: "revisions are whole numbers from 1 on")
    }
    return revision
}

extension BroadcastRequest.Postpone {
    init(wire: Cuecast_V1_Postpone) throws(WireError) {
        guard wire.byMs > 0 else { throw .invalid(field: "by_ms", rule: "it is above 0") }
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            by: .milliseconds(wire.byMs),
            from: wire.hasFromUs ? Timestamp(microseconds: wire.fromUs) : nil
        )
    }

    var wire: Cuecast_V1_Postpone {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            $0.byMs = self.by.inMilliseconds
            if let from = self.from { $0.fromUs = from.microseconds }
        }
    }
}

extension BroadcastRequest.End {
    init(wire: Cuecast_V1_End) throws(WireError) {
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            endMode: EndMode(wire: wire.endMode),
            at: wire.hasAtUs ? Timestamp(microseconds: wire.atUs) : nil
        )
    }

    var wire: Cuecast_V1_End {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            $0.endMode = self.endMode?.wire ?? .unspecified
            if let at = self.at { $0.atUs = at.microseconds }
        }
    }
}

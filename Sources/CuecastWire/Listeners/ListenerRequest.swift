// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How far behind live a listener hears its stream, and how far it may fall behind.
package struct ListenerDelay: Hashable, Sendable {
    package var now: Duration
    package var max: Duration

    package init(now: Duration = .zero, max: Duration = .zero) {
        self.now = now
        self.max = Swift.max(now, max)
    }

    init(nowMilliseconds: UInt32, maxMilliseconds: UInt32) throws(WireError) {
        self.init(
            now: try RequestRules.delay(milliseconds: UInt64(nowMilliseconds)),
            max: try RequestRules.delay(milliseconds: UInt64(maxMilliseconds))
        )
    }
}

/// The action that a listener asks for.
package struct ListenerRequest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case join(Join)
        case getBatch(GetBatch)
        case acknowledge(Acknowledge)
        case getTime
        case leave(StreamID)
    }

    package struct Join: Hashable, Sendable {
        package var stream: StreamID
        /// The last position that the listener applied; `nil` at first.
        package var last: Position?
        /// The instance of the tick that proved the subscription; 0: not proven.
        package var instance: UInt64
        /// The token of the listener; checked where the stream requires one.
        package var token: String
        package var delay: ListenerDelay
        /// The app's attributes of the listener; they have no effect yet.
        package var attributes: [String: String]
        package var client: String
        /// Whether the notices are to come on the connection of this request.
        package var push: Bool

        package init(
            stream: StreamID,
            last: Position? = nil,
            instance: UInt64,
            token: String = "",
            delay: ListenerDelay = ListenerDelay(),
            attributes: [String: String] = [:],
            client: String = "",
            push: Bool = false
        ) {
            self.stream = stream
            self.last = last
            self.instance = instance
            self.token = token
            self.delay = delay
            self.attributes = attributes
            self.client = client
            self.push = push
        }
    }

    package struct GetBatch: Hashable, Sendable {
        package var key: BreakKey
        package var delay: ListenerDelay

        package init(key: BreakKey, delay: ListenerDelay = ListenerDelay()) {
            self.key = key
            self.delay = delay
        }
    }

    package struct Acknowledge: Hashable, Sendable {
        package var key: BreakKey
        package var delivery: [UInt8]
        package var outcomes: [Outcome]

        package init(key: BreakKey, delivery: [UInt8], outcomes: [Outcome]) {
            self.key = key
            self.delivery = delivery
            self.outcomes = outcomes
        }
    }

    package var id: UInt64
    package var session: SessionID
    package var ticket: [UInt8]
    package var kind: Kind

    package init(id: UInt64, session: SessionID, ticket: [UInt8] = [], kind: Kind) {
        self.id = id
        self.session = session
        self.ticket = ticket
        self.kind = kind
    }
}

/// The outcome of one advertisement at a listener.
package struct Outcome: Hashable, Sendable {
    package enum Kind: Int, CaseIterable, Sendable {
        case played = 1
        case ignored = 2
        case failed = 3
    }

    package enum Evidence: Int, CaseIterable, Sendable {
        /// The app said so.
        case reported = 1
        /// The client library concluded it from the time that passed.
        case inferred = 2
    }

    package enum Reason: Int, CaseIterable, Sendable {
        case user = 1
        case expired = 2
        case overlap = 3
        case muted = 4
        case cancelled = 5
        case endedEarly = 6
        case skippedOver = 7
        case notStarted = 8
    }

    package var advertisementID: AdvertisementID
    package var kind: Kind
    package var evidence: Evidence
    /// Why it was ignored; `nil` for other kinds.
    package var reason: Reason?
    package var heard: Duration
    /// How many quartiles were passed, 0 to 4.
    package var quartiles: UInt32
    package var muted: Bool
    /// VAST 4.3 section 2.3.6.3; 0: none.
    package var vastError: UInt32
    /// When it happened, by the gateway's clock.
    package var occurred: Timestamp
    /// Whether the listener acted on the advertisement, on its banner or on itself, before this was concluded.
    package var clicked: Bool

    package init(
        advertisementID: AdvertisementID,
        kind: Kind,
        evidence: Evidence = .reported,
        reason: Reason? = nil,
        heard: Duration = .zero,
        quartiles: UInt32 = 0,
        muted: Bool = false,
        vastError: UInt32 = 0,
        occurred: Timestamp,
        clicked: Bool = false
    ) {
        self.advertisementID = advertisementID
        self.kind = kind
        self.evidence = evidence
        self.reason = reason
        self.heard = heard
        self.quartiles = quartiles
        self.muted = muted
        self.vastError = vastError
        self.occurred = occurred
        self.clicked = clicked
    }
}

extension ListenerRequest {
    /// Reads one request frame; never traps.
    package init(decoding frame: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_Request.self,
            from: frame,
            atMost: WireLimits.requestFrameBytesMax,
            limit: "requestFrameBytesMax",
            what: "a request"
        )
        try self.init(wire: wire)
    }

    /// The id that a reply carries back, also when the rest of the request is refused; 0 where it cannot be read.
    package static func requestID(of frame: [UInt8]) -> UInt64 {
        frame.count <= WireLimits.requestFrameBytesMax ? RequestEnvelope.requestID(of: frame) : 0
    }

    init(wire: Cuecast_V1_Request) throws(WireError) {
        guard let kind = wire.kind else { throw .unsupported }
        self.id = wire.requestID
        self.session = try SessionID(bytes: wire.session)
        try RequestRules.check(ticketBytes: wire.ticket.count)
        self.ticket = Array(wire.ticket)
        switch kind {
        case .join(let join): self.kind = .join(try Join(wire: join))
        case .getBatch(let request):
            self.kind = .getBatch(
                GetBatch(
                    key: try BreakKey(stream: StreamID(request.stream), id: BreakID(request.breakID)),
                    delay: try ListenerDelay(
                        nowMilliseconds: request.delayMs,
                        maxMilliseconds: request.delayMaxMs
                    )
                )
            )
        case .acknowledge(let request): self.kind = .acknowledge(try Acknowledge(wire: request))
        case .getTime: self.kind = .getTime
        case .leave(let leave): self.kind = .leave(try StreamID(leave.stream))
        }
    }

    /// The frame's bytes.
    package func encoded() -> [UInt8] { encode(self.wire) }

    var wire: Cuecast_V1_Request {
        .with {
            $0.requestID = self.id
            $0.session = Data(self.session.bytes)
            $0.ticket = Data(self.ticket)
            switch self.kind {
            case .join(let join): $0.join = join.wire
            case .getBatch(let request):
                $0.getBatch = .with {
                    $0.stream = request.key.stream.description
                    $0.breakID = request.key.id.description
                    $0.delayMs = request.delay.now.inMilliseconds
                    $0.delayMaxMs = request.delay.max.inMilliseconds
                }
            case .acknowledge(let request): $0.acknowledge = request.wire
            case .getTime: $0.getTime = .init()
            case .leave(let stream): $0.leave = .with { $0.stream = stream.description }
            }
        }
    }
}

extension ListenerRequest.Join {
    /// Checks what a listener says of itself, or a token of it.
    package static func check(attributes: [String: String]) throws(WireError) {
        try requireAtMost(WireLimits.attributesMax, attributes.count, limit: "attributesMax")
        for (key, value) in attributes {
            for text in [key, value] {
                try requireText(
                    text,
                    field: "attributes",
                    atMost: WireLimits.attributeBytesMax,
                    limit: "attributeBytesMax"
                )
            }
        }
    }

    init(wire: Cuecast_V1_Join) throws(WireError) {
        self.stream = try StreamID(wire.stream)
        self.last = wire.hasLast ? Position(wire: wire.last) : nil
        self.instance = wire.instance
        try requireAtMost(WireLimits.tokenBytesMax, wire.token.utf8.count, limit: "tokenBytesMax")
        self.token = wire.token
        self.delay = try ListenerDelay(nowMilliseconds: wire.delayMs, maxMilliseconds: wire.delayMaxMs)
        try Self.check(attributes: wire.attributes)
        self.attributes = wire.attributes
        try requireText(
            wire.client,
            field: "client",
            atMost: WireLimits.attributeBytesMax,
            limit: "attributeBytesMax"
        )
        self.client = wire.client
        self.push = wire.push
    }

    var wire: Cuecast_V1_Join {
        .with {
            $0.stream = self.stream.description
            if let last = self.last { $0.last = last.wire }
            $0.instance = self.instance
            $0.token = self.token
            $0.delayMs = self.delay.now.inMilliseconds
            $0.delayMaxMs = self.delay.max.inMilliseconds
            $0.attributes = self.attributes
            $0.client = self.client
            $0.push = self.push
        }
    }
}

extension ListenerRequest.Acknowledge {
    init(wire: Cuecast_V1_Acknowledge) throws(WireError) {
        self.key = try BreakKey(stream: StreamID(wire.stream), id: BreakID(wire.breakID))
        try RequestRules.check(deliveryBytes: wire.delivery.count)
        self.delivery = Array(wire.delivery)
        try RequestRules.check(outcomeCount: wire.outcomes.count)
        self.outcomes = try wire.outcomes.map { (outcome) throws(WireError) in try Outcome(wire: outcome) }
    }

    var wire: Cuecast_V1_Acknowledge {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            $0.delivery = Data(self.delivery)
            $0.outcomes = self.outcomes.map(\.wire)
        }
    }
}

extension Outcome {
    init(wire: Cuecast_V1_Outcome) throws(WireError) {
        let advertisementID = try AdvertisementID(wire.advertisementID)
        let details = try OutcomeDetails(
            OutcomeFields(
                kind: wire.kind.rawValue,
                evidence: wire.evidence.rawValue,
                reason: wire.reason.rawValue,
                heardMilliseconds: UInt64(wire.heardMs),
                quartiles: UInt64(wire.quartiles),
                muted: wire.muted,
                vastError: UInt64(wire.vastError),
                occurred: Timestamp(microseconds: wire.occurredUs),
                clicked: wire.clicked
            )
        )
        self.init(details, of: advertisementID)
    }

    var wire: Cuecast_V1_Outcome {
        .with {
            $0.advertisementID = self.advertisementID.description
            $0.kind = .init(rawValue: self.kind.rawValue) ?? .unspecified
            $0.evidence = .init(rawValue: self.evidence.rawValue) ?? .unspecified
            $0.reason = self.reason.flatMap { .init(rawValue: $0.rawValue) } ?? .unspecified
            $0.heardMs = self.heard.inMilliseconds
            $0.quartiles = self.quartiles
            $0.muted = self.muted
            $0.vastError = self.vastError
            $0.occurredUs = self.occurred.microseconds
            $0.clicked = self.clicked
        }
    }
}

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

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The gateway's answer to a listener.
package struct ListenerReply: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        case joined(Joined)
        case batch(Batch)
        case acknowledged(recorded: Int)
        /// The answer to `getTime` and `leave`: `gatewayTime` says all.
        case done
        case refused(Refusal)
    }

    package var requestID: UInt64
    package var gatewayTime: Timestamp
    package var body: Body

    package init(requestID: UInt64, gatewayTime: Timestamp, body: Body) {
        self.requestID = requestID
        self.gatewayTime = gatewayTime
        self.body = body
    }

    package struct Joined: Hashable, Sendable {
        package enum Kind: Int, CaseIterable, Sendable {
            /// Nothing was missed.
            case current = 1
            /// `notices` holds every missed notice, in order.
            case recovered = 2
            /// `notices` holds the latest of each open break; `head` says where to go on.
            case snapshot = 3
        }

        package var kind: Kind
        package var head: Position
        package var notices: [Notice]
        package var instance: UInt64
        /// How often the stream's position is repeated when nothing else happens.
        package var headInterval: Duration
        /// How long this session counts as listening after its last request.
        package var lease: Duration
        package var ticket: [UInt8]
        /// Whether every notice above `head` follows on the connection of this reply.
        package var pushed: Bool
        /// Where other gateways of the same event log are reached, the one to try first at the beginning.
        package var alternatives: [PlayerAddress]

        package init(
            kind: Kind,
            head: Position,
            notices: [Notice],
            instance: UInt64,
            headInterval: Duration,
            lease: Duration,
            ticket: [UInt8] = [],
            pushed: Bool = false,
            alternatives: [PlayerAddress] = []
        ) {
            self.kind = kind
            self.head = head
            self.notices = notices
            self.instance = instance
            self.headInterval = headInterval
            self.lease = lease
            self.ticket = ticket
            self.pushed = pushed
            self.alternatives = alternatives
        }
    }

    package struct Batch: Hashable, Sendable {
        package var delivery: [UInt8]
        package var start: Timestamp?
        package var duration: Duration?
        /// How many advertisements before these were left out because their time is over.
        package var skipped: Int
        package var endMode: EndMode
        package var exact: Bool
        package var advertisements: [AdvertisementContent]

        package init(
            delivery: [UInt8],
            start: Timestamp? = nil,
            duration: Duration? = nil,
            skipped: Int = 0,
            endMode: EndMode = .cut,
            exact: Bool = false,
            advertisements: [AdvertisementContent]
        ) {
            self.delivery = delivery
            self.start = start
            self.duration = duration
            self.skipped = skipped
            self.endMode = endMode
            self.exact = exact
            self.advertisements = advertisements
        }
    }
}

extension ListenerReply {
    /// Reads one reply frame; never traps.
    package init(decoding frame: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_Reply.self,
            from: frame,
            atMost: WireLimits.replyFrameBytesMax,
            limit: "replyFrameBytesMax",
            what: "a reply"
        )
        self.requestID = wire.requestID
        self.gatewayTime = Timestamp(microseconds: wire.gatewayUs)
        guard wire.status == .ok else {
            // A status of a later version still refuses: only OK means done.
            let status = StatusCode(rawValue: wire.status.rawValue)
            self.body = .refused(
                Refusal(
                    status ?? (wire.retry ? .unavailable : .invalid),
                    wire.message,
                    retryAfter: .milliseconds(wire.retryAfterMs)
                )
            )
            return
        }
        if wire.hasJoined {
            self.body = .joined(try Joined(wire: wire.joined))
        } else if wire.hasBatch {
            self.body = .batch(try Batch(wire: wire.batch))
        } else if wire.hasAcknowledged {
            self.body = .acknowledged(recorded: Int(wire.acknowledged.recorded))
        } else {
            self.body = .done
        }
    }

    /// The frame's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_Reply.with {
                $0.requestID = self.requestID
                $0.gatewayUs = self.gatewayTime.microseconds
                $0.status = .ok
                switch self.body {
                case .joined(let joined): $0.joined = joined.wire
                case .batch(let batch): $0.batch = batch.wire
                case .acknowledged(let recorded):
                    $0.acknowledged = .with { $0.recorded = UInt32(clamping: recorded) }
                case .done: break
                case .refused(let refusal):
                    $0.status = .init(rawValue: refusal.status.rawValue) ?? .unspecified
                    $0.message = refusal.sentence
                    $0.retry = refusal.status.canRetry
                    $0.retryAfterMs = refusal.retryAfter.inMilliseconds
                }
            }
        )
    }

    /// The bytes of a batch reply up to its advertisements: the tail of `EncodedAdvertisements` follows them, and both
    /// together are one reply.
    ///
    /// - Parameters:
    ///   - requestID: the id of the request that is answered.
    ///   - gatewayTime: the gateway's clock at the answer.
    ///   - delivery: the token that acknowledgements will echo.
    ///   - fields: everything else of the batch but its advertisements, as `Batch.encodedFields` gives it.
    ///   - tailBytes: how many bytes of advertisements follow.
    /// - Returns: the bytes to send before the tail.
    package static func batchHead(
        requestID: UInt64,
        gatewayTime: Timestamp,
        delivery: DeliveryToken,
        fields: [UInt8],
        tailBytes: Int
    ) -> [UInt8] {
        let length =
            fieldBytes(BatchField.delivery, bytes: delivery.encodedByteCount) + fields.count + tailBytes
        var head = Self.okHead(requestID: requestID, gatewayTime: gatewayTime, room: length - tailBytes + 8)
        head.appendFieldHead(ReplyField.batch, bytes: length)
        head.appendFieldHead(BatchField.delivery, bytes: delivery.encodedByteCount)
        delivery.append(to: &head)
        head.append(contentsOf: fields)
        return head
    }

    /// The bytes of the reply to an acknowledgement that is durable.
    package static func acknowledged(requestID: UInt64, gatewayTime: Timestamp, recorded: Int) -> [UInt8] {
        var reply = Self.okHead(requestID: requestID, gatewayTime: gatewayTime, room: 12)
        let recorded = UInt64(UInt32(clamping: recorded))
        reply.appendFieldHead(ReplyField.acknowledged, bytes: fieldBytes(AcknowledgedField.recorded, recorded))
        reply.appendField(AcknowledgedField.recorded, recorded)
        return reply
    }

    /// The fields of every reply that is not a refusal.
    private static func okHead(requestID: UInt64, gatewayTime: Timestamp, room: Int) -> [UInt8] {
        var head: [UInt8] = []
        head.reserveCapacity(32 + room)
        head.appendField(ReplyField.requestID, requestID)
        head.appendField(ReplyField.status, UInt64(StatusCode.ok.rawValue))
        head.appendField(ReplyField.gatewayUs, UInt64(bitPattern: gatewayTime.microseconds))
        return head
    }
}

extension ListenerReply.Joined {
    init(wire: Cuecast_V1_Joined) throws(WireError) {
        self.kind = try requireKnown(wire.kind, field: "join kind") { Kind(rawValue: $0.rawValue) }
        self.head = Position(wire: wire.head)
        try requireAtMost(WireLimits.noticesPerJoinMax, wire.notices.count, limit: "noticesPerJoinMax")
        self.notices = try wire.notices.map { (notice) throws(WireError) in try Notice(wire: notice) }
        self.instance = wire.instance
        self.headInterval = .milliseconds(wire.headIntervalMs)
        self.lease = .milliseconds(wire.leaseMs)
        try requireAtMost(WireLimits.ticketBytesMax, wire.ticket.count, limit: "ticketBytesMax")
        self.ticket = Array(wire.ticket)
        self.pushed = wire.pushed
        // Not refused where there are more: a listener that cannot join for that would have no gateway at all.
        self.alternatives = PlayerAddress.readable(wire.alternatives, atMost: WireLimits.alternativesMax)
    }

    var wire: Cuecast_V1_Joined {
        .with {
            $0.kind = .init(rawValue: self.kind.rawValue) ?? .unspecified
            $0.head = self.head.wire
            $0.notices = self.notices.map(\.wire)
            $0.instance = self.instance
            $0.headIntervalMs = self.headInterval.inMilliseconds
            $0.leaseMs = self.lease.inMilliseconds
            $0.ticket = Data(self.ticket)
            $0.pushed = self.pushed
            $0.alternatives = self.alternatives.map(\.description)
        }
    }
}

extension ListenerReply.Batch {
    init(wire: Cuecast_V1_Batch) throws(WireError) {
        try requireAtMost(WireLimits.deliveryBytesMax, wire.delivery.count, limit: "deliveryBytesMax")
        self.init(
            delivery: Array(wire.delivery),
            start: wire.hasStartUs ? Timestamp(microseconds: wire.startUs) : nil,
            duration: wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil,
            skipped: Int(wire.skipped),
            endMode: EndMode(wire: wire.endMode) ?? .cut,
            exact: wire.exact,
            advertisements: try AdvertisementContent.list(wire: wire.advertisements)
        )
    }

    /// The fields without delivery and advertisements, encoded: the same for everybody who gets this batch.
    package func encodedFields() -> [UInt8] {
        var batch = self
        batch.delivery = []
        batch.advertisements = []
        return encode(batch.wire)
    }

    var wire: Cuecast_V1_Batch {
        .with {
            $0.delivery = Data(self.delivery)
            if let start = self.start { $0.startUs = start.microseconds }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            $0.skipped = UInt32(clamping: self.skipped)
            $0.endMode = self.endMode.wire
            $0.exact = self.exact
            $0.advertisements = self.advertisements.map(\.wire)
        }
    }
}

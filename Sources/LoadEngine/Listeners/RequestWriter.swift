// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Writes the requests of listeners, byte for byte as `ListenerRequest` encodes them, into buffers that are used again.
package struct RequestWriter: Sendable {
    /// The frame that was written last.
    package private(set) var frame: [UInt8] = []
    private var body: [UInt8] = []
    private var item: [UInt8] = []

    package init() {
        self.frame.reserveCapacity(512)
        self.body.reserveCapacity(512)
        self.item.reserveCapacity(128)
    }

    package mutating func join(
        id: UInt64,
        session: SessionID,
        ticket: [UInt8],
        stream: [UInt8],
        last: Position?,
        instance: UInt64,
        token: [UInt8] = [],
        client: [UInt8],
        push: Bool = false
    ) {
        self.body.removeAll(keepingCapacity: true)
        self.body.appendField(JoinField.stream, stream)
        if let last {
            self.item.removeAll(keepingCapacity: true)
            self.item.appendField(PositionField.epoch, last.epoch)
            self.item.appendField(PositionField.sequence, last.sequence)
            self.body.appendMessage(JoinField.last, self.item)
        }
        self.body.appendField(JoinField.instance, instance)
        self.body.appendField(JoinField.token, token)
        self.body.appendField(JoinField.client, client)
        self.body.appendField(JoinField.push, UInt64(push ? 1 : 0))
        self.finish(.join, id: id, session: session, ticket: ticket)
    }

    package mutating func batch(
        id: UInt64,
        session: SessionID,
        ticket: [UInt8],
        stream: [UInt8],
        breakID: [UInt8]
    ) {
        self.body.removeAll(keepingCapacity: true)
        self.body.appendField(GetBatchField.stream, stream)
        self.body.appendField(GetBatchField.breakID, breakID)
        self.finish(.getBatch, id: id, session: session, ticket: ticket)
    }

    /// Begins an acknowledgement; `add` its outcomes, then `finishAcknowledgement`.
    package mutating func beginAcknowledgement(stream: [UInt8], breakID: [UInt8], delivery: Delivery) {
        self.body.removeAll(keepingCapacity: true)
        self.body.appendField(AcknowledgeField.stream, stream)
        self.body.appendField(AcknowledgeField.breakID, breakID)
        if delivery.count > 0 {
            self.body.appendFieldHead(AcknowledgeField.delivery, bytes: delivery.count)
            for index in 0..<delivery.count { self.body.append(delivery.bytes[index]) }
        }
    }

    package mutating func add(_ outcome: OutcomeDetails, advertisement: [UInt8]) {
        self.item.removeAll(keepingCapacity: true)
        self.item.appendField(OutcomeField.advertisementID, advertisement)
        self.item.appendField(OutcomeField.kind, UInt64(outcome.kind.rawValue))
        self.item.appendField(OutcomeField.evidence, UInt64(outcome.evidence.rawValue))
        self.item.appendField(OutcomeField.reason, UInt64(outcome.reason?.rawValue ?? 0))
        self.item.appendField(OutcomeField.heardMs, UInt64(outcome.heardMilliseconds))
        self.item.appendField(OutcomeField.quartiles, UInt64(outcome.quartiles))
        self.item.appendField(OutcomeField.muted, UInt64(outcome.muted ? 1 : 0))
        self.item.appendField(OutcomeField.vastError, UInt64(outcome.vastError))
        self.item.appendField(OutcomeField.occurredUs, UInt64(bitPattern: outcome.occurred.microseconds))
        self.item.appendField(OutcomeField.clicked, UInt64(outcome.clicked ? 1 : 0))
        self.body.appendMessage(AcknowledgeField.outcomes, self.item)
    }

    package mutating func finishAcknowledgement(id: UInt64, session: SessionID, ticket: [UInt8]) {
        self.finish(.acknowledge, id: id, session: session, ticket: ticket)
    }

    package mutating func time(id: UInt64, session: SessionID, ticket: [UInt8]) {
        self.body.removeAll(keepingCapacity: true)
        self.finish(.getTime, id: id, session: session, ticket: ticket)
    }

    package mutating func leave(id: UInt64, session: SessionID, ticket: [UInt8], stream: [UInt8]) {
        self.body.removeAll(keepingCapacity: true)
        self.body.appendField(LeaveField.stream, stream)
        self.finish(.leave, id: id, session: session, ticket: ticket)
    }

    private mutating func finish(_ kind: RequestField, id: UInt64, session: SessionID, ticket: [UInt8]) {
        self.frame.removeAll(keepingCapacity: true)
        self.frame.appendField(RequestField.requestID, id)
        self.frame.appendField(RequestField.session, session)
        self.frame.appendField(RequestField.ticket, ticket)
        self.frame.appendMessage(kind, self.body)
    }
}

/// The delivery token that a batch carried, to be echoed; opaque.
package struct Delivery: Sendable {
    package private(set) var bytes = InlineArray<64, UInt8>(repeating: 0)
    package private(set) var count = 0

    package init() {}

    /// Copies a token of at most `WireLimits.deliveryBytesMax` bytes, which the scanner has checked.
    package init(_ range: Range<Int>, in frame: Span<UInt8>) {
        self.count = min(range.count, self.bytes.count)
        for index in 0..<self.count { self.bytes[index] = frame[range.lowerBound + index] }
    }
}

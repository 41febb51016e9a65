// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The gathered content for the next record of a lane of acknowledgements: the bytes of that record, as far as they are known.
///
/// A request is appended as it came, once, and not looked at again until the ledger reads the record. What this writes is
/// what `AcknowledgementGroup` reads.
package struct GatheredGroup: Sendable {
    /// The fact that a batch was handed to a session.
    package typealias Delivery = AcknowledgementGroup.Delivery

    /// The most that a delivery takes in a record, in bytes.
    package static let deliveryBytesMax = 64
    /// The most that a record has for an acknowledgement beside the request's bytes.
    package static let requestOverheadBytesMax = 512

    private var requests: [UInt8] = []
    /// How many requests were accepted.
    package private(set) var requestCount = 0
    /// How many bytes they are.
    package private(set) var requestBytes = 0
    package var deliveries: [Delivery] = []

    package init() {}

    /// An empty group with room for as much as another one held.
    package init(roomOf other: GatheredGroup) {
        self.requests.reserveCapacity(other.requests.count)
        self.deliveries.reserveCapacity(other.deliveries.count)
    }

    /// The most bytes that the record will have.
    package var recordBytesMax: Int { self.requests.count + self.deliveries.count * Self.deliveryBytesMax }

    /// Whether there is nothing to record.
    package var isEmpty: Bool { self.requestCount == 0 && self.deliveries.isEmpty }

    /// Adds an acknowledgement.
    ///
    /// - Parameters:
    ///   - request: the request's bytes, with nothing in them that is not understood.
    ///   - left: the part of it that is left out: whole fields that are not needed later.
    ///   - received: when it came, by the gateway's clock.
    ///   - breakNumber: the break that it is about.
    ///   - ordinals: the ordinals in the break of the advertisements that its outcomes name, in their order.
    package mutating func accept(
        _ request: [UInt8],
        leavingOut left: Range<Int> = 0..<0,
        received: Timestamp,
        breakNumber: BreakNumber,
        ordinals: [UInt32]
    ) {
        let received = UInt64(bitPattern: received.microseconds)
        let packed = ordinals.reduce(0) { $0 + varintBytes(UInt64($1)) }
        let length =
            fieldBytes(AcceptedRequestField.request, bytes: request.count - left.count)
            + fieldBytes(AcceptedRequestField.receivedUs, received)
            + fieldBytes(AcceptedRequestField.breakNumber, breakNumber.rawValue)
            + (packed == 0 ? 0 : fieldBytes(AcceptedRequestField.ordinals, bytes: packed))
        self.requests.appendFieldHead(AcknowledgementGroupField.requests, bytes: length)
        self.requests.appendFieldHead(AcceptedRequestField.request, bytes: request.count - left.count)
        self.requests.append(contentsOf: request[..<left.lowerBound])
        self.requests.append(contentsOf: request[left.upperBound...])
        self.requests.appendField(AcceptedRequestField.receivedUs, received)
        self.requests.appendField(AcceptedRequestField.breakNumber, breakNumber.rawValue)
        if packed > 0 {
            self.requests.appendFieldHead(AcceptedRequestField.ordinals, bytes: packed)
            for ordinal in ordinals { self.requests.appendVarint(UInt64(ordinal)) }
        }
        self.requestCount += 1
        self.requestBytes += request.count - left.count
    }

    /// The record's bytes.
    package consuming func encoded() -> [UInt8] {
        let deliveries = self.deliveries
        var record = self.requests
        record.reserveCapacity(record.count + deliveries.count * 48)
        for delivery in deliveries {
            let at = UInt64(bitPattern: delivery.at.microseconds)
            let length =
                fieldBytes(DeliveryEntryField.session, bytes: WireLimits.sessionBytes)
                + fieldBytes(DeliveryEntryField.breakNumber, delivery.breakNumber.rawValue)
                + fieldBytes(DeliveryEntryField.variant, UInt64(delivery.variant))
                + fieldBytes(DeliveryEntryField.first, UInt64(delivery.first))
                + fieldBytes(DeliveryEntryField.atUs, at)
            record.appendFieldHead(AcknowledgementGroupField.deliveries, bytes: length)
            record.appendField(DeliveryEntryField.session, delivery.session)
            record.appendField(DeliveryEntryField.breakNumber, delivery.breakNumber.rawValue)
            record.appendField(DeliveryEntryField.variant, UInt64(delivery.variant))
            record.appendField(DeliveryEntryField.first, UInt64(delivery.first))
            record.appendField(DeliveryEntryField.atUs, at)
        }
        return record
    }
}

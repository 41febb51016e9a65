// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One record of a lane of acknowledgements: requests that were accepted together and became durable together.
package struct AcknowledgementGroup: Hashable, Sendable {
    /// An acknowledgement, and what the gateway looked up to accept it.
    package struct AcceptedRequest: Hashable, Sendable {
        /// The request's bytes, with nothing in them that is not understood.
        package var request: [UInt8]
        package var received: Timestamp
        package var breakNumber: BreakNumber
        /// The ordinals in the break of the advertisements that the outcomes name, in their order.
        package var ordinals: [UInt32]

        package init(request: [UInt8], received: Timestamp, breakNumber: BreakNumber, ordinals: [UInt32]) {
            self.request = request
            self.received = received
            self.breakNumber = breakNumber
            self.ordinals = ordinals
        }
    }

    /// The fact that a batch was handed to a session.
    package struct Delivery: Hashable, Sendable {
        package var session: SessionID
        package var breakNumber: BreakNumber
        /// Which variant of the break it was; 0: `default`.
        package var variant: UInt32
        /// The ordinal of the first advertisement in the batch, across all variants: later requests get fewer.
        package var first: UInt32
        package var at: Timestamp

        package init(
            session: SessionID,
            breakNumber: BreakNumber,
            variant: UInt32 = 0,
            first: UInt32 = 0,
            at: Timestamp
        ) {
            self.session = session
            self.breakNumber = breakNumber
            self.variant = variant
            self.first = first
            self.at = at
        }
    }

    package var requests: [AcceptedRequest]
    package var deliveries: [Delivery]

    package init(requests: [AcceptedRequest] = [], deliveries: [Delivery] = []) {
        self.requests = requests
        self.deliveries = deliveries
    }

    /// Whether there is nothing to record.
    package var isEmpty: Bool { self.requests.isEmpty && self.deliveries.isEmpty }

    /// Reads a record of the log.
    ///
    /// A record that cannot be read means that the log was written by a later version or is
    /// damaged: the caller stops rather than leave it out.
    package init(decoding record: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_AcknowledgementGroup.self,
            from: record,
            atMost: .max,
            limit: "log record",
            what: "a group of acknowledgements"
        )
        self.requests = wire.requests.map {
            AcceptedRequest(
                request: Array($0.request),
                received: Timestamp(microseconds: $0.receivedUs),
                breakNumber: BreakNumber(rawValue: $0.breakNumber),
                ordinals: $0.ordinals
            )
        }
        self.deliveries = try wire.deliveries.map { (delivery) throws(WireError) in
            Delivery(
                session: try SessionID(bytes: delivery.session),
                breakNumber: BreakNumber(rawValue: delivery.breakNumber),
                variant: delivery.variant,
                first: delivery.first,
                at: Timestamp(microseconds: delivery.atUs)
            )
        }
    }

    /// The record's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_AcknowledgementGroup.with {
                $0.requests = self.requests.map { request in
                    .with {
                        $0.request = Data(request.request)
                        $0.receivedUs = request.received.microseconds
                        $0.breakNumber = request.breakNumber.rawValue
                        $0.ordinals = request.ordinals
                    }
                }
                $0.deliveries = self.deliveries.map { delivery in
                    .with {
                        $0.session = Data(delivery.session.bytes)
                        $0.breakNumber = delivery.breakNumber.rawValue
                        $0.variant = delivery.variant
                        $0.first = delivery.first
                        $0.atUs = delivery.at.microseconds
                    }
                }
            }
        )
    }
}

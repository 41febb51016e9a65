// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The outcome of one advertisement at a listener, with the advertisement's name.
///
/// Its details are members of it too.
@dynamicMemberLookup
@usableFromInline
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
    @usableFromInline package var details: OutcomeDetails

    package init(_ details: OutcomeDetails, of advertisementID: AdvertisementID) {
        self.advertisementID = advertisementID
        self.details = details
    }

    // Inlined, so that other modules read a detail without a key path.
    @inlinable package subscript<Value>(dynamicMember path: WritableKeyPath<OutcomeDetails, Value>) -> Value {
        get { self.details[keyPath: path] }
        set { self.details[keyPath: path] = newValue }
    }
}

/// The outcome of an advertisement at a listener, without the advertisement's name.
@usableFromInline
package struct OutcomeDetails: Hashable, Sendable {
    package var kind: Outcome.Kind
    package var evidence: Outcome.Evidence = .reported
    /// Why it was ignored; `nil` for other kinds.
    package var reason: Outcome.Reason?
    package var heardMilliseconds: UInt32 = 0
    /// How many quartiles were passed, 0 to 4.
    package var quartiles: UInt8 = 0
    package var muted = false
    /// Whether the listener acted on the advertisement, on its banner or on itself, before this was concluded.
    package var clicked = false
    /// VAST 4.3 section 2.3.6.3; 0: none.
    package var vastError: UInt16 = 0
    /// When it happened, by the gateway's clock.
    package var occurred = Timestamp(microseconds: 0)

    package init(kind: Outcome.Kind) {
        self.kind = kind
    }

    /// How much of the advertisement was heard, in whole milliseconds.
    package var heard: Duration {
        get { .milliseconds(self.heardMilliseconds) }
        set { self.heardMilliseconds = newValue.inMilliseconds }
    }
}

extension Outcome {
    /// An outcome with all its details; numbers that are too large are as large as the details can hold.
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
        var details = OutcomeDetails(kind: kind)
        details.evidence = evidence
        details.reason = reason
        details.heard = heard
        details.quartiles = UInt8(clamping: quartiles)
        details.muted = muted
        details.vastError = UInt16(clamping: vastError)
        details.occurred = occurred
        details.clicked = clicked
        self.init(details, of: advertisementID)
    }
}

// MARK: - Protobuf

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
        let details = self.details
        return .with {
            $0.advertisementID = self.advertisementID.description
            $0.kind = .init(rawValue: details.kind.rawValue) ?? .unspecified
            $0.evidence = .init(rawValue: details.evidence.rawValue) ?? .unspecified
            $0.reason = details.reason.flatMap { .init(rawValue: $0.rawValue) } ?? .unspecified
            $0.heardMs = details.heardMilliseconds
            $0.quartiles = UInt32(details.quartiles)
            $0.muted = details.muted
            $0.vastError = UInt32(details.vastError)
            $0.occurredUs = details.occurred.microseconds
            $0.clicked = details.clicked
        }
    }
}

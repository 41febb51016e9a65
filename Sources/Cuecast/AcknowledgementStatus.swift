// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The status of acknowledging one outcome to the gateway; ``CuecastClient/acknowledgements`` has them.
@_spi(Diagnostics) public struct AcknowledgementStatus: Hashable, Sendable {
    /// Where the telling stands.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// It is told until the gateway confirms it.
        case pending
        /// The gateway has recorded it durably.
        case confirmed
        /// It is not told any more, for the reason given in words; ``AcknowledgementStatus/givenUpReason`` is the same to be
        /// switched on.
        case givenUp(reason: String)
    }

    /// The id of the session in which the advertisement was handed out, as ``CuecastClient/sessionID`` said it then.
    public let sessionID: String
    /// The stream that was heard.
    public let stream: LiveStream
    /// The break.
    public let breakID: String
    /// The advertisement's key in its break.
    public let adID: String
    /// The outcome of the advertisement.
    public let result: AdvertisementOutcome.Result
    /// How sure that is.
    public let evidence: AdvertisementOutcome.Evidence
    /// How much of it was heard.
    public let heard: Duration
    /// When it happened, by the gateway's clock.
    public let occurred: Date
    /// Where the telling stands.
    public let state: State
    /// Why it is not told any more; `nil` unless it was given up.
    public let givenUpReason: GivenUpReason?

    init(_ record: OutboxRecord, _ state: State, _ reason: GivenUpReason? = nil) {
        let outcome = record.outcome
        self.sessionID = record.session.description
        self.stream = LiveStream(id: record.key.stream.description)
        self.breakID = record.key.id.description
        self.adID = outcome.advertisementID.description
        self.result = AdvertisementOutcome.Result(wire: outcome)
        self.evidence = AdvertisementOutcome.Evidence(wire: outcome.evidence)
        self.heard = outcome.heard
        self.occurred = Date(outcome.occurred)
        self.state = state
        self.givenUpReason = reason
    }
}

/// Why an outcome is not told to the gateway any more.
@_spi(Diagnostics)
@nonexhaustive
public enum GivenUpReason: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The gateway did not confirm it for ``ListenerTimings/outboxAgeMax``.
    case tooOld
    /// It had to make room: more than ``ListenerConfiguration/outcomesKeptMax`` or ``ListenerConfiguration/outboxBytesMax`` waited.
    case tooMany
    /// The gateway does not keep its break any more.
    case breakTooOld
    /// The gateway refused it for another reason.
    case refused
    /// The gateway answered without recording it.
    case notRecorded
    /// Not known: a later version of the library gave it up for a reason of its own.
    case unknown

    /// A few words for people.
    public var description: String {
        switch self {
        case .tooOld: "it was not confirmed in time"
        case .tooMany: "too many outcomes were not confirmed"
        case .breakTooOld: "the gateway does not keep the break any more"
        case .refused: "the gateway refused it"
        case .notRecorded: "the gateway did not record it"
        case .unknown: "the reason is not known"
        }
    }

    init(_ reason: JournalEntry.GivenUp.Reason) {
        self =
            switch reason {
            case .unknown: .unknown
            case .tooOld: .tooOld
            case .tooMany: .tooMany
            case .breakTooOld: .breakTooOld
            case .refused: .refused
            case .notRecorded: .notRecorded
            }
    }
}

extension JournalState {
    /// Those that are over first, then those that are pending; each oldest first.
    var acknowledgements: [AcknowledgementStatus] {
        self.settled.map { each in
            guard let givenUp = each.givenUp else { return AcknowledgementStatus(each.record, .confirmed) }
            return AcknowledgementStatus(
                each.record,
                .givenUp(reason: givenUp.sentence),
                GivenUpReason(givenUp.reason)
            )
        } + self.unconfirmed.map { AcknowledgementStatus($0, .pending) }
    }
}

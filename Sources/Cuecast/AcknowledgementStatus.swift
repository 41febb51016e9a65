// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What became of telling the gateway one outcome; ``CuecastClient/acknowledgements`` gives them.
public struct AcknowledgementStatus: Hashable, Sendable {
    /// Where the telling stands.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// It is told until the gateway confirms it.
        case pending
        /// The gateway has recorded it durably.
        case confirmed
        /// It is not told any more, for the reason given.
        case givenUp(reason: String)
    }

    /// The stream that was heard.
    public let stream: LiveStream
    /// The break.
    public let breakID: String
    /// The advertisement's key in its break.
    public let adID: String
    /// What became of the advertisement.
    public let result: AdvertisementOutcome.Result
    /// How sure that is.
    public let evidence: AdvertisementOutcome.Evidence
    /// How much of it was heard.
    public let heard: Duration
    /// When it happened, by the gateway's clock.
    public let occurred: Date
    /// Where the telling stands.
    public let state: State

    init(_ record: OutboxRecord, _ state: State) {
        let outcome = record.outcome
        self.stream = LiveStream(id: record.key.stream.description)
        self.breakID = record.key.id.description
        self.adID = outcome.advertisementID.description
        self.result = AdvertisementOutcome.Result(wire: outcome)
        self.evidence = AdvertisementOutcome.Evidence(wire: outcome.evidence)
        self.heard = outcome.heard
        self.occurred = Date(outcome.occurred)
        self.state = state
    }
}

extension JournalState {
    /// Those that are over first, then those that are pending; each oldest first.
    var acknowledgements: [AcknowledgementStatus] {
        self.settled.map { each in
            AcknowledgementStatus(each.record, each.givenUp.map { .givenUp(reason: $0) } ?? .confirmed)
        } + self.unconfirmed.map { AcknowledgementStatus($0, .pending) }
    }
}

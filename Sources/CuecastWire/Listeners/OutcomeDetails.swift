// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The outcome of an advertisement at a listener, without the advertisement's name.
package struct OutcomeDetails: Hashable, Sendable {
    package var kind: Outcome.Kind
    package var evidence: Outcome.Evidence = .reported
    /// Why it was ignored; `nil` for other kinds.
    package var reason: Outcome.Reason?
    package var heardMilliseconds: UInt32 = 0
    /// How many quartiles were passed, 0 to 4.
    package var quartiles: UInt8 = 0
    package var muted = false
    /// Whether the listener acted on the advertisement before this was concluded.
    package var clicked = false
    /// VAST 4.3 section 2.3.6.3; 0: none.
    package var vastError: UInt16 = 0
    /// When it happened, by the gateway's clock.
    package var occurred = Timestamp(microseconds: 0)

    package init(kind: Outcome.Kind) {
        self.kind = kind
    }

    package init(_ outcome: Outcome) {
        self.kind = outcome.kind
        self.evidence = outcome.evidence
        self.reason = outcome.reason
        self.heardMilliseconds = outcome.heard.inMilliseconds
        self.quartiles = UInt8(clamping: outcome.quartiles)
        self.muted = outcome.muted
        self.clicked = outcome.clicked
        self.vastError = UInt16(clamping: outcome.vastError)
        self.occurred = outcome.occurred
    }
}

extension Outcome {
    /// The outcome of an advertisement, with the advertisement's name.
    package init(_ details: OutcomeDetails, of advertisementID: AdvertisementID) {
        self.init(
            advertisementID: advertisementID,
            kind: details.kind,
            evidence: details.evidence,
            reason: details.reason,
            heard: .milliseconds(details.heardMilliseconds),
            quartiles: UInt32(details.quartiles),
            muted: details.muted,
            vastError: UInt32(details.vastError),
            occurred: details.occurred,
            clicked: details.clicked
        )
    }
}

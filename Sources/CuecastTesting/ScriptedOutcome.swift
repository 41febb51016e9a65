// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast
internal import CuecastWire

/// What a player told a ``ScriptedGateway`` about one advertisement.
public struct ScriptedOutcome: Hashable, Sendable {
    /// The session that told it: 32 hexadecimal digits.
    public let session: String
    /// The break.
    public let breakID: String
    /// The advertisement's key.
    public let adID: String
    /// What became of it.
    public let result: AdvertisementOutcome.Result
    /// How sure that is.
    public let evidence: AdvertisementOutcome.Evidence
    /// How much of it was heard.
    public let heard: Duration
    /// How many quarters of it were passed, 0 to 4.
    public let quartiles: Int
    /// Whether it was muted at some time.
    public let muted: Bool
    /// Whether the listener acted on it, on its banner or on itself, before this was concluded.
    public let clicked: Bool
    /// When it happened, as the player says.
    public let occurred: ContinuousClock.Instant
}

extension ScriptedOutcome {
    init(_ outcome: Outcome, session: SessionID, breakID: BreakID, occurred: ContinuousClock.Instant) {
        self.session = session.description
        self.breakID = breakID.description
        self.adID = outcome.advertisementID.description
        self.result =
            switch outcome.kind {
            case .played: .played
            case .failed: .failed(vastError: Int(outcome.vastError))
            case .ignored: .ignored(IgnoreReason(outcome.reason))
            }
        self.evidence = outcome.evidence == .reported ? .reported : .inferred
        self.heard = outcome.heard
        self.quartiles = Int(outcome.quartiles)
        self.muted = outcome.muted
        self.clicked = outcome.clicked
        self.occurred = occurred
    }
}

extension IgnoreReason {
    /// The wire refuses an ignored advertisement without a reason.
    fileprivate init(_ reason: Outcome.Reason?) {
        self =
            switch reason {
            case .user, nil: .user
            case .expired: .expired
            case .overlap: .overlap
            case .muted: .muted
            case .cancelled: .cancelled
            case .endedEarly: .endedEarly
            case .skippedOver: .skippedOver
            case .notStarted: .notStarted
            }
    }
}

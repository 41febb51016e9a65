// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast
internal import CuecastWire

/// A player's report to a ``ScriptedGateway`` about one advertisement.
public struct ScriptedOutcome: Hashable, Sendable {
    /// The session that told it: 32 hexadecimal digits.
    public let session: String
    /// The break.
    public let breakID: String
    /// The advertisement's key.
    public let adID: String
    /// The result.
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
    init(_ standing: CoreGateway.StandingOutcome, clock: ScriptClock) {
        let outcome = standing.outcome
        self.session = standing.session.description
        self.breakID = standing.key.id.description
        self.adID = outcome.advertisementID.description
        self.result = AdvertisementOutcome.Result(wire: outcome)
        self.evidence = AdvertisementOutcome.Evidence(wire: outcome.evidence)
        self.heard = outcome.heard
        self.quartiles = Int(outcome.quartiles)
        self.muted = outcome.muted
        self.clicked = outcome.clicked
        self.occurred = clock.local(outcome.occurred)
    }
}

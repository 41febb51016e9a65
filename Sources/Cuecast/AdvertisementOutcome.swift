// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The outcome of one advertisement: the one report about it to the gateway.
public struct AdvertisementOutcome: Hashable, Sendable {
    /// The kinds of outcome.
    @nonexhaustive
    public enum Result: Hashable, Sendable {
        /// It was begun, and heard for `heard`: to its end where `quartiles` is 4.
        ///
        /// Where the app was ended meanwhile, `heard` is what is known for certain, which can be zero.
        case played
        /// It was not heard.
        case ignored(IgnoreReason)
        /// It could not be played; the VAST error code (VAST 4.3 section 2.3.6.3).
        case failed(vastError: Int)
    }

    /// How sure it is.
    public enum Evidence: Hashable, Sendable {
        /// The app said so.
        case reported
        /// The client concluded it from the time that passed.
        case inferred
    }

    /// The advertisement.
    public let advertisement: Advertisement
    /// The result.
    public let result: Result
    /// How sure that is.
    public let evidence: Evidence
    /// How much of it was heard, since its start was reported and pauses not counted.
    ///
    /// Without such a report it counts from the hand-out.
    public let heard: Duration
    /// How many quarters of it were passed, 0 to 4.
    public let quartiles: Int
    /// Whether it was muted at some time.
    public let muted: Bool
    /// Whether the listener acted on it while it had no outcome yet: on its banner, or on itself.
    public let clicked: Bool
}

/// Why an advertisement was not heard.
@nonexhaustive
public enum IgnoreReason: Hashable, Sendable, CaseIterable {
    /// The app dropped it.
    case user
    /// Its time was over before it could be handed out.
    case expired
    /// Another advertisement was playing in its time.
    case overlap
    /// The listener had muted the player.
    case muted
    /// The broadcaster cancelled the break.
    case cancelled
    /// The broadcaster ended the break before its time.
    case endedEarly
    /// The listener moved ahead in the programme, past its time.
    case skippedOver
    /// The break was prepared, but never started.
    case notStarted
}

extension IgnoreReason {
    init(wire: Outcome.Reason) {
        self =
            switch wire {
            case .user: .user
            case .expired: .expired
            case .overlap: .overlap
            case .muted: .muted
            case .cancelled: .cancelled
            case .endedEarly: .endedEarly
            case .skippedOver: .skippedOver
            case .notStarted: .notStarted
            }
    }

    var wire: Outcome.Reason {
        switch self {
        case .user: .user
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

extension AdvertisementOutcome.Result {
    /// As a request tells it; what was ignored without a reason, which the wire refuses, counts as expired.
    package init(wire outcome: Outcome) {
        self =
            switch outcome.kind {
            case .played: .played
            case .ignored: .ignored(outcome.reason.map(IgnoreReason.init(wire:)) ?? .expired)
            case .failed: .failed(vastError: Int(outcome.vastError))
            }
    }
}

extension AdvertisementOutcome.Evidence {
    /// As a request tells it.
    package init(wire evidence: Outcome.Evidence) {
        self = evidence == .reported ? .reported : .inferred
    }
}

extension AdvertisementOutcome {
    /// An advertisement that was never handed out.
    static func ignored(_ advertisement: Advertisement, _ reason: IgnoreReason) -> AdvertisementOutcome {
        AdvertisementOutcome(
            advertisement: advertisement,
            result: .ignored(reason),
            evidence: reason == .user ? .reported : .inferred,
            heard: .zero,
            quartiles: 0,
            muted: false,
            clicked: false
        )
    }

    func wire(occurred: Timestamp) -> Outcome {
        var outcome = Outcome(
            advertisementID: self.advertisement.key.id,
            kind: .played,
            evidence: self.evidence == .reported ? .reported : .inferred,
            heard: self.heard,
            quartiles: UInt32(clamping: self.quartiles),
            muted: self.muted,
            occurred: occurred,
            clicked: self.clicked
        )
        switch self.result {
        case .played: break
        case .ignored(let reason):
            outcome.kind = .ignored
            outcome.reason = reason.wire
        case .failed(let code):
            outcome.kind = .failed
            outcome.vastError = UInt16(clamping: code)
        }
        return outcome
    }
}

/// The app's report about an advertisement that it plays.
@nonexhaustive
public enum AdvertisementReport: Hashable, Sendable {
    /// It is heard now.
    case started
    /// The end of a quarter was passed: 1 to 4. Earlier ones count as passed too.
    case quartile(Int)
    /// It was played to its end.
    case completed
    /// It could not be played: a VAST error code, 100 to 999 (VAST 4.3 section 2.3.6.3). 900 where none fits.
    case failed(vastError: Int)
    /// The listener skipped the rest of it.
    case skipped
    /// The listener muted it.
    case muted
    /// The listener unmuted it.
    case unmuted
    /// It does not go on for now.
    case paused
    /// It goes on.
    case resumed
}

/// Why a report was not taken.
@_spi(Diagnostics)
@nonexhaustive
public enum ReportRefusal: Hashable, Sendable {
    /// The advertisement's outcome stands already.
    case alreadyClosed
    /// The advertisement is not one that was handed out in this session.
    case notHandedOut
    /// The same was reported before, or a later quarter was.
    case repeated
    /// The session in which it was handed out is over.
    case sessionOver
    /// It does not fit: resumed without a pause, a quarter other than 1 to 4, an error code out of range.
    case invalid
}

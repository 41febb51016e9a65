// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Something that happened while listening; ``CuecastClient/makeEvents()`` tells them in order.
///
/// Switch with a `default`: there are more, about connections and positions (`@_spi(Diagnostics) import Cuecast`) and about
/// calls of tracking URLs (`@_spi(Tracking)`).
@nonexhaustive
public enum ListenerEvent: Sendable {
    /// Listening began: as a new session, or as the one of an app that was ended in the middle of it.
    case sessionBegan(resumed: Bool)
    /// These were handed out before the app was ended, and nothing more is known: nothing is told to the gateway.
    case interrupted([Advertisement])
    /// The file of the session could not be read or cannot be written, for the reason given: if the app is ended, what has
    /// happened since is lost. Listening goes on.
    case storageFailed(String)
    /// The connection to the gateway changed.
    case connectionChanged(ConnectionState)
    /// The gateway said what was missed. Notices missed are made up for before this is told.
    @_spi(Diagnostics) case joined(JoinResult)
    /// A notice is missing: the gateway is asked for it.
    @_spi(Diagnostics) case positionLost(PositionLoss)
    /// A break is coming. It is told again when it moves.
    case announced(AdvertisementBreak)
    /// The advertisements of a break are here, so that their media can be loaded. They are not queued yet.
    case ready(AdvertisementBreak, [Advertisement])
    /// Advertisements were queued: the listener hears the start of their break.
    case available(AdvertisementBreak, [Advertisement])
    /// A break gives this listener no advertisements, for the reason given in words.
    case missed(AdvertisementBreak, reason: String)
    /// The app asked for an advertisement and got this one.
    case handedOut(Advertisement)
    /// The app asked for an advertisement while this one still plays, as far as is known. It got none.
    case handOutRefused(current: Advertisement)
    /// The app reported this about the advertisement, and it was taken.
    case reported(AdvertisementReport, Advertisement)
    /// A report was not taken.
    @_spi(Diagnostics) case reportRefused(AdvertisementReport, Advertisement, ReportRefusal)
    /// The outcome of an advertisement; the client repeats it until the gateway confirms it.
    case outcome(AdvertisementOutcome)
    /// An advertisement was handed out, and nothing more was heard of it: nothing is told to the gateway.
    case outcomeUnknown(Advertisement)
    /// Advertisements will not be played (any further).
    case withdrawn(AdvertisementWithdrawal)
    /// The listener opened the banner.
    case bannerClicked(Advertisement)
    /// The listener acted on the advertisement itself.
    case advertisementClicked(Advertisement)
    /// The listener saw the banner.
    case bannerShown(Advertisement)
    /// The call of a tracking URL stands somewhere else than before.
    @_spi(Tracking) case trackingChanged(TrackingStatus)
    /// The gateway recorded the outcomes of these advertisements (their `adID`) of one break durably.
    case acknowledged(breakID: String, adIDs: [String])
    /// The outcomes of these advertisements (their `adID`) of one break will not be told (again), for the reason given
    /// in words.
    case acknowledgementGivenUp(breakID: String, adIDs: [String], reason: String)
    /// The client was stopped without waiting any longer.
    @_spi(Diagnostics) case stoppedWithout(StopShortfall)
    /// This many notices could not be kept; they are asked for again.
    @_spi(Diagnostics) case noticesDropped(Int)
    /// Something from the gateway could not be understood; it was left out.
    @_spi(Diagnostics) case notUnderstood(String)
    /// This many events were dropped before this one, because they were not read fast enough.
    case eventsDropped(Int)
}

/// The work that a stopped client did not wait for.
@_spi(Diagnostics)
@nonexhaustive
public enum StopShortfall: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The transport did not say that its connection is closed.
    case transport
    /// The disk did not take what was to be written; it is written as soon as the disk does, unless the app ends before.
    case storage

    /// A few words for people.
    public var description: String {
        switch self {
        case .transport: "the transport did not close its connection"
        case .storage: "the disk did not take what was to be written"
        }
    }
}

/// How the gateway answered a join.
@_spi(Diagnostics)
@nonexhaustive
public enum JoinResult: Hashable, Sendable {
    /// Nothing was missed.
    case current
    /// This many notices were missed; all of them were made up for.
    case recovered(notices: Int)
    /// The missed notices are not known any more; this many breaks are open.
    case snapshot(openBreaks: Int)
}

/// How it was noticed that a notice is missing.
@_spi(Diagnostics)
@nonexhaustive
public enum PositionLoss: Hashable, Sendable {
    /// A later notice, or the stream's position, came first.
    case gap
    /// The gateway lost its history.
    case newEpoch
    /// The gateway's answer contradicts itself.
    case inconsistentAnswer
}

/// One break, as this listener will hear it.
public struct AdvertisementBreak: Hashable, Sendable, Identifiable {
    /// The broadcaster's id of the break.
    public let id: String
    /// When the listener hears its start, by this device's clock; `nil` while that is not decided, and before the
    /// stream.
    public let startsAt: ContinuousClock.Instant?
    /// How long it lasts at most; `nil`: until it is ended.
    public let duration: Duration?
    /// How many advertisements it has for all listeners.
    public let advertisementCount: Int
    /// Whether it plays before the stream.
    public let isPreStream: Bool
    /// The trace of the request that led to what is known of it, as the header `traceparent` of W3C Trace Context has it; `nil` where
    /// the gateway does not trace it.
    ///
    /// An app that sends it with its own requests because of this break continues the publisher's trace.
    @_spi(Diagnostics) public let traceparent: String?
    /// Why it gives this listener no advertisements; `nil` where it is not missed.
    @_spi(Diagnostics) public internal(set) var missedReason: MissedReason?

    /// How long until the listener hears its start: negative afterwards, `nil` where `startsAt` is.
    public var countdown: Duration? {
        self.startsAt.map { ContinuousClock.now.duration(to: $0) }
    }
}

/// Why a break gives a listener no advertisements.
@_spi(Diagnostics)
@nonexhaustive
public enum MissedReason: Hashable, Sendable, CustomStringConvertible {
    /// More breaks are open than a client follows.
    case tooManyBreaks
    /// The app declined it (``ListenerConfiguration/fetchPolicy``).
    case declined
    /// Its time was over before its advertisements could be asked for.
    case tooLateToAsk
    /// Its time was over before its advertisements were here.
    case tooLate
    /// The gateway gave none, with this sentence.
    case refused(String)

    /// A few words for people.
    public var description: String {
        switch self {
        case .tooManyBreaks: "more than \(BreakBook.followedMax) breaks are open"
        case .declined: "the app declined it"
        case .tooLateToAsk: "its time was over before its advertisements could be asked for"
        case .tooLate: "its time was over before it was here"
        case .refused(let sentence): sentence
        }
    }
}

/// Advertisements that will not be played (any further), because their break was cancelled or ended.
///
/// It is told again where the stop of ``current`` moves: the break's end was moved, or the listener hears another instant of
/// the programme. The latest ``stopAt`` counts; it is the advertisement's own end where nothing cuts it any more.
public struct AdvertisementWithdrawal: Hashable, Sendable {
    /// Why advertisements are withdrawn.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The broadcaster cancelled the break.
        case cancelled
        /// The broadcaster ended the break before its time.
        case endedEarly
        /// The break was prepared, but never started.
        case notStarted
    }

    /// The break.
    public let breakID: String
    /// Why.
    public let reason: Reason
    /// Advertisements that will not be handed out any more.
    public let advertisements: [Advertisement]
    /// The advertisement that plays now and must be stopped at `stopAt`; `nil`: none.
    public let current: Advertisement?
    /// When to stop `current`, by this device's clock.
    public let stopAt: ContinuousClock.Instant?
}

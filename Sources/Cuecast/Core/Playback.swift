// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// How far one advertisement was heard, and what the app reported of it: nothing else reckons that.
///
/// One clock counts from the hand-out and stands still while the advertisement is paused. What is concluded from time alone
/// goes by it, because an app may report nothing. Where the app reports a start or a quarter, `position(at:)` counts on from
/// there by the same clock.
struct Playback: Hashable, Sendable {
    /// The most that may be heard before the journal is told again.
    static let keepIntervalMax = Duration.seconds(5)
    /// The least: a shorter advertisement is not worth more writes.
    static let keepIntervalMin = Duration.seconds(1)

    let advertisement: Advertisement
    let handedOut: LocalInstant
    private(set) var isStarted = false
    private(set) var isMuted = false
    private(set) var wasMuted = false
    private(set) var wasClicked = false
    /// How many quarters were passed, as reported.
    private(set) var quartiles = 0
    private var pausedSince: LocalInstant?
    private var pausedBefore = Duration.zero
    /// Whether it was paused because the app went to the background, and not by the app.
    private var isSuspended = false
    /// How much further it is, by what was reported last, than the time since the hand-out says; `nil`: nothing was reported.
    private var lead: Duration?
    /// How long after the hand-out, pauses not counted, the start was reported: nothing was heard before.
    private var startedAfter = Duration.zero
    /// How much was heard, as the journal was told last.
    private var keptHeard = Duration.zero

    init(_ advertisement: Advertisement, handedOut: LocalInstant) {
        self.advertisement = advertisement
        self.handedOut = handedOut
    }

    var isPaused: Bool { self.pausedSince != nil }

    private var duration: Duration { self.advertisement.exactDuration }

    // MARK: Since the hand-out

    /// How long it has been playing.
    func elapsed(at now: LocalInstant) -> Duration {
        (self.pausedSince ?? now) - self.handedOut - self.pausedBefore
    }

    /// How much of it is left.
    func rest(at now: LocalInstant) -> Duration { max(self.duration - self.elapsed(at: now), .zero) }

    /// How much of it was heard: since its start was reported, or since the hand-out where it was not.
    func heard(at now: LocalInstant) -> Duration {
        min(max(self.elapsed(at: now) - self.startedAfter, .zero), self.duration)
    }

    /// When it will have been playing for `duration`; `nil` while it is paused.
    func reaches(_ duration: Duration) -> LocalInstant? {
        self.isPaused ? nil : self.handedOut + self.pausedBefore + duration
    }

    // MARK: As reported

    /// How far into it the app is; `nil`: it has not reported a start.
    func position(at now: LocalInstant) -> Duration? {
        self.lead.map { min(max(self.elapsed(at: now) + $0, .zero), self.duration) }
    }

    /// When the app will be at `position`; `nil`: not before something else happens.
    func reaches(position: Duration) -> LocalInstant? { self.lead.flatMap { self.reaches(position - $0) } }

    /// Takes a report; says why where it does not.
    mutating func take(_ report: AdvertisementReport, now: LocalInstant) -> ReportRefusal? {
        switch report {
        case .started:
            guard !self.isStarted else { return .repeated }
            self.startedAfter = self.elapsed(at: now)
            self.start(at: .zero, now: now)
        case .quartile(let number):
            guard (1...4).contains(number) else { return .invalid }
            guard number > self.quartiles else { return .repeated }
            self.quartiles = number
            self.start(at: self.duration * number / 4, now: now)
        case .muted:
            guard !self.isMuted else { return .repeated }
            self.isMuted = true
            self.wasMuted = true
        case .unmuted:
            guard self.isMuted else { return .invalid }
            self.isMuted = false
        case .paused:
            guard !self.isPaused || self.isSuspended else { return .repeated }
            self.pausedSince = self.pausedSince ?? now
            self.isSuspended = false
        case .resumed:
            guard self.isPaused else { return .invalid }
            self.goOn(now: now)
        case .completed: self.quartiles = 4
        case .failed(let code): guard (100...999).contains(code) else { return .invalid }
        case .skipped: break
        }
        return nil
    }

    private mutating func start(at position: Duration, now: LocalInstant) {
        self.isStarted = true
        self.lead = position - self.elapsed(at: now)
    }

    /// The listener acted on it.
    ///
    /// - Returns: whether that is new.
    mutating func click() -> Bool {
        defer { self.wasClicked = true }
        return !self.wasClicked
    }

    // MARK: The app goes away and comes back

    /// It counts as paused from now on.
    mutating func suspend(now: LocalInstant) {
        guard !self.isPaused else { return }
        self.pausedSince = now
        self.isSuspended = true
    }

    mutating func resume(now: LocalInstant) {
        if self.isSuspended { self.goOn(now: now) }
    }

    private mutating func goOn(now: LocalInstant) {
        self.isSuspended = false
        guard let since = self.pausedSince.take() else { return }
        self.pausedBefore += now - since
    }

    // MARK: What the journal knows

    /// Whether the listener has it before them for certain: it is played by the time that passes, whatever ends the app.
    var isKnownToPlay: Bool { self.isStarted || self.wasClicked }

    /// When the journal is to be told again how much was heard: after a quarter of it, within the limits of the interval, and
    /// at its end; `nil`: not before something else happens.
    var progressDue: LocalInstant? {
        guard self.isKnownToPlay, self.keptHeard < self.duration else { return nil }
        let interval = min(max(self.duration / 4, Self.keepIntervalMin), Self.keepIntervalMax)
        return self.reaches(min(self.keptHeard + interval, self.duration) + self.startedAfter)
    }

    /// The progress that the next run of the app needs; the caller gives it to the journal.
    mutating func keepProgress(now: LocalInstant) -> JournalEntry.Progress {
        self.keptHeard = self.heard(at: now)
        return JournalEntry.Progress(
            started: self.isStarted,
            quartiles: self.quartiles,
            muted: self.wasMuted,
            heard: self.keptHeard,
            clicked: self.wasClicked
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

extension PlayQueue {
    /// What is left of one break's batch.
    struct Batch: Hashable, Sendable {
        let breakID: BreakID
        var advertisements: [Advertisement]
        var limit: PlayLimit
        let exact: Bool
        let endMode: EndMode
        /// When the first one begins in the programme; `nil` before the stream.
        let contentStart: Timestamp?
        /// Whether something else was queued or playing when this was queued.
        var waits = false
    }

    /// An advertisement that was handed out and has no outcome yet.
    struct Open: Hashable, Sendable {
        let advertisement: Advertisement
        let endMode: EndMode
        let handedOut: LocalInstant
        /// Whether it was taken to be shown and not to be heard: only reports count, and no other one waits for it.
        var isShown = false
        var pausedSince: LocalInstant?
        /// Whether it was paused because the app went to the background, and not by the app.
        var isSuspended = false
        var pausedBefore = Duration.zero
        var isStarted = false
        var isMuted = false
        var wasMuted = false
        var wasClicked = false
        var quartiles = 0
        /// Where in the programme it must stop, because its break ends there.
        var stopAt: Timestamp?
        /// When that is, as the app was told last.
        var toldStop: LocalInstant?
        /// Whether it no longer keeps others waiting.
        var isReleased = false

        /// How long it has been playing.
        func elapsed(at now: LocalInstant) -> Duration {
            (self.pausedSince ?? now) - self.handedOut - self.pausedBefore
        }

        /// How much of it is left.
        func rest(at now: LocalInstant) -> Duration {
            max(self.advertisement.exactDuration - self.elapsed(at: now), .zero)
        }

        /// When it stops: where its break ends, or at its own end.
        func stop(at moment: Moment) -> LocalInstant {
            let ownEnd = moment.now + self.rest(at: moment.now)
            return self.stopAt.map { min(moment.local(playhead: $0), ownEnd) } ?? ownEnd
        }

        func heard(at now: LocalInstant) -> Duration {
            min(max(self.elapsed(at: now), .zero), self.advertisement.exactDuration)
        }

        /// When it will have been playing for `duration`; `nil` while it is paused.
        func reaches(_ duration: Duration) -> LocalInstant? {
            self.pausedSince == nil ? self.handedOut + self.pausedBefore + duration : nil
        }
    }

    enum Effect: Hashable, Sendable {
        case outcome(AdvertisementOutcome)
        /// Nothing was heard of it any more.
        case unknown(Advertisement)
        case handOutRefused(current: Advertisement)
        case reported(AdvertisementReport, Advertisement)
        case reportRefused(AdvertisementReport, Advertisement, ReportRefusal)
        /// The queue is not empty, and what kept it waiting is over: tell the observers again.
        case released
        case withdrawn(
            BreakID,
            AdvertisementWithdrawal.Reason,
            dropped: [Advertisement],
            current: Advertisement?,
            stopAt: LocalInstant?
        )
    }
}

extension PlayQueue.Open {
    /// Takes a report that does not end the advertisement; says why where it does not.
    mutating func take(_ report: AdvertisementReport, now: LocalInstant) -> ReportRefusal? {
        switch report {
        case .started:
            guard !self.isStarted else { return .repeated }
            self.isStarted = true
        case .quartile(let number):
            guard (1...4).contains(number) else { return .invalid }
            guard number > self.quartiles else { return .repeated }
            self.isStarted = true
            self.quartiles = number
        case .muted:
            guard !self.isMuted else { return .repeated }
            self.isMuted = true
            self.wasMuted = true
        case .unmuted:
            guard self.isMuted else { return .invalid }
            self.isMuted = false
        case .paused:
            guard self.pausedSince == nil || self.isSuspended else { return .repeated }
            self.pausedSince = self.pausedSince ?? now
            self.isSuspended = false
        case .resumed:
            guard self.pausedSince != nil else { return .invalid }
            self.goOn(now: now)
        case .completed, .failed, .skipped: break
        }
        return nil
    }

    mutating func goOn(now: LocalInstant) {
        self.isSuspended = false
        guard let since = self.pausedSince.take() else { return }
        self.pausedBefore += now - since
    }

    func progress(now: LocalInstant) -> JournalEntry.Progress {
        JournalEntry.Progress(
            started: self.isStarted,
            quartiles: self.quartiles,
            muted: self.wasMuted,
            heard: self.heard(at: now),
            clicked: self.wasClicked
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// The app's requests and reports, and the effects of breaks.
extension ListenerCore {
    /// The next advertisement, where there is one and the current one is over; one that `isShown` waits for no other.
    mutating func nextAdvertisement(now: LocalInstant, isShown: Bool = false) -> Advertisement? {
        self.suspension.appAsked()
        guard self.isActive, let moment = self.moment(at: now) else { return nil }
        let (advertisement, effects) = self.queue.next(at: moment, isShown: isShown)
        self.apply(effects, at: now)
        if let advertisement {
            self.output.keep(.handedOut(advertisement.key.breakID, advertisement.key.id))
            self.output.emit(.handedOut(advertisement))
        }
        self.settleTime(now: now)
        return advertisement
    }

    /// Drops everything that is queued.
    mutating func ignoreAll(now: LocalInstant) {
        guard self.isRunning else { return }
        self.apply(self.queue.ignoreAll(), at: now)
        self.settleTime(now: now)
    }

    mutating func report(_ report: AdvertisementReport, _ advertisement: Advertisement, now: LocalInstant) {
        guard self.isRunning else {
            if self.lifecycle != .stopped { self.output.emit(.reportRefused(report, advertisement, .sessionOver)) }
            return
        }
        self.apply(self.queue.report(report, advertisement, now: now), at: now)
        self.settleTime(now: now)
    }

    mutating func bannerClicked(_ advertisement: Advertisement, now: LocalInstant) {
        guard self.lifecycle != .stopped else { return }
        if self.queue.clicked(advertisement.key) { self.keepProgress(of: advertisement.key, now: now) }
        self.output.emit(.bannerClicked(advertisement))
        let playback = self.queue.playback(of: advertisement.key)
        self.track(at: now) { $0.clicked(advertisement, playback, at: $1) }
        self.settleTime(now: now)
    }

    mutating func advertisementClicked(_ advertisement: Advertisement, now: LocalInstant) {
        guard self.lifecycle != .stopped else { return }
        if self.queue.clicked(advertisement.key) { self.keepProgress(of: advertisement.key, now: now) }
        self.output.emit(.advertisementClicked(advertisement))
        let playback = self.queue.playback(of: advertisement.key)
        self.track(at: now) { $0.advertisementClicked(advertisement, playback, at: $1) }
        self.settleTime(now: now)
    }

    mutating func bannerShown(_ advertisement: Advertisement, now: LocalInstant) {
        guard self.lifecycle != .stopped else { return }
        self.output.emit(.bannerShown(advertisement))
        let playback = self.queue.playback(of: advertisement.key)
        self.track(at: now) { $0.bannerShown(advertisement, playback, at: $1) }
        self.settleTime(now: now)
    }

    // MARK: Effects

    mutating func apply(_ effects: [BreakBook.Effect], at now: LocalInstant) {
        guard let moment = self.moment(at: now) else { return }
        for effect in effects {
            switch effect {
            case .announced(let notice): self.output.emit(.announced(self.describe(notice, at: moment)))
            case .askApp(let notice):
                guard let id = notice.breakID else { continue }
                self.output.act(.askApp(id, self.describe(notice, at: moment)))
            case .request(let id): self.requestBatch(id, now: now)
            case .ready(let notice, let advertisements):
                self.output.emit(.ready(self.describe(notice, at: moment), advertisements))
            case .queue(let notice, let advertisements, let contentStart):
                self.queueBatch(notice, advertisements, contentStart: contentStart, at: moment)
            case .ignored(let advertisements, let reason):
                for each in advertisements { self.record(.ignored(each, reason), at: moment) }
            case .withdrawn(let id, let reason, let advertisements):
                // Observers were not told of these, so they are not told that they are gone.
                self.output.emit(
                    .withdrawn(
                        AdvertisementWithdrawal(
                            breakID: id.description,
                            reason: reason,
                            advertisements: advertisements,
                            current: nil,
                            stopAt: nil
                        )
                    )
                )
            case .queuedCancelled(let id, let reason):
                self.apply(self.queue.cancel(id, reason, at: moment), at: now)
            case .queuedEnds(let id, let end, let early):
                self.apply(self.queue.ends(id, at: end, early: early, moment: moment), at: now)
            case .missed(let notice, let reason):
                var missed = self.describe(notice, at: moment)
                missed.missedReason = reason
                self.output.emit(.missed(missed, reason: reason.description))
                self.output.log(.info, "Nothing of break \(notice.breakID?.description ?? "") is played: \(reason)")
            }
        }
    }

    private mutating func queueBatch(
        _ notice: Notice,
        _ advertisements: [Advertisement],
        contentStart: Timestamp?,
        at moment: Moment
    ) {
        guard let id = notice.breakID else { return }
        self.queue.queue(
            PlayQueue.Batch(
                breakID: id,
                advertisements: advertisements,
                limit: notice.playLimit,
                exact: notice.exact,
                endMode: notice.endMode,
                contentStart: contentStart
            ),
            now: moment.now
        )
        self.output.emit(.available(self.describe(notice, at: moment), advertisements))
        self.output.act(.tellAvailable)
    }

    mutating func apply(_ effects: [PlayQueue.Effect], at now: LocalInstant) {
        for effect in effects {
            switch effect {
            case .outcome(let outcome):
                // There are no advertisements before the gateway's clock is known.
                if let moment = self.moment(at: now) { self.record(outcome, at: moment) }
                self.track(outcome, at: now)
            case .unknown(let advertisement):
                self.output.keep(.forgotten(self.session, advertisement.key.breakID, advertisement.key.id))
                self.output.emit(.outcomeUnknown(advertisement))
                self.tracking?.abandoned(advertisement)
            case .handOutRefused(let current): self.output.emit(.handOutRefused(current: current))
            case .reported(let report, let playback):
                self.keepProgress(of: playback.advertisement.key, now: now)
                self.output.emit(.reported(report, playback.advertisement))
                self.track(at: now) { $0.reported(report, playback, at: $1) }
            case .reportRefused(let report, let advertisement, let refusal):
                self.output.emit(.reportRefused(report, advertisement, refusal))
            case .released: self.output.act(.tellStillAvailable)
            case .withdrawn(let id, let reason, let dropped, let current, let stopAt):
                let withdrawal = AdvertisementWithdrawal(
                    breakID: id.description,
                    reason: reason,
                    advertisements: dropped,
                    current: current,
                    stopAt: stopAt.map(self.instant)
                )
                self.output.emit(.withdrawn(withdrawal))
                self.output.act(.tellWithdrawn(withdrawal))
            }
        }
    }

    /// Keeps what is known of an advertisement that has no outcome yet.
    private mutating func keepProgress(of key: AdvertisementKey, now: LocalInstant) {
        guard let progress = self.queue.keepProgress(of: key, now: now) else { return }
        self.output.keep(.progress(key.breakID, key.id, progress))
    }

    /// Keeps how much was heard of what plays, where it is time: a kill then loses no more than one interval.
    mutating func keepDueProgress(now: LocalInstant) {
        for playback in self.queue.playing {
            guard let due = playback.progressDue, due <= now else { continue }
            self.keepProgress(of: playback.advertisement.key, now: now)
        }
    }

    /// Keeps how much was heard of all that plays: the system may end an app in the background without a word.
    mutating func keepAllProgress(now: LocalInstant) {
        for playback in self.queue.playing where playback.isKnownToPlay {
            self.keepProgress(of: playback.advertisement.key, now: now)
        }
    }

    private mutating func record(_ outcome: AdvertisementOutcome, at moment: Moment) {
        self.record(outcome, of: self.sessionHeader, occurred: moment.gateway)
    }

    /// Records an outcome of this session or an earlier one.
    mutating func record(_ outcome: AdvertisementOutcome, of session: JournalEntry.Session, occurred: Timestamp) {
        self.output.emit(.outcome(outcome))
        let (record, givenUp) = self.acknowledgements.add(
            outcome.wire(occurred: occurred),
            session: session.id,
            ticket: session.ticket,
            key: BreakKey(stream: session.stream, id: outcome.advertisement.key.breakID),
            delivery: outcome.advertisement.delivery
        )
        self.keepOutcome(record)
        for each in givenUp { self.giveUp(each) }
    }

    private func describe(_ notice: Notice, at moment: Moment) -> AdvertisementBreak {
        AdvertisementBreak(
            id: notice.breakID?.description ?? "",
            startsAt: notice.start.map { self.instant(moment.local(playhead: $0)) },
            duration: notice.duration,
            advertisementCount: notice.advertisementCount,
            isPreStream: notice.preStream,
            traceparent: notice.trace?.header
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The advertisements whose time has come, and the one that plays.
///
/// A push never starts playback: what is queued waits until the app asks. One at a time is handed out; the next follows
/// when the current one has a terminal report, or when so much time has passed that it was played. What is concluded
/// from time alone is marked as inferred, and where nothing can be concluded the outcome is unknown and not told.
struct PlayQueue: Sendable {
    /// How many closed advertisements are remembered, to tell late reports from wrong ones.
    static let rememberedMax = 256
    /// The most advertisements that the app may hold without a report in manual mode; of more, the oldest is given up.
    static let openMax = 256

    /// How much the advertisements of a break may pass its end together where none may be cut short: the app needs a
    /// moment between one and the next.
    static let exactTolerance = Duration.seconds(2)
    /// By how much the instant of a stop may move without being told again: the clocks are no more exact.
    static let stopTolerance = Duration.milliseconds(50)

    let mode: HandOutMode
    private let timings: ListenerTimings
    private(set) var batches: [Batch] = []
    private(set) var open: [Open] = []
    private var closed: [AdvertisementKey] = []
    /// Whether a caller was told to wait for the current advertisement.
    private var isGuarding = false

    init(mode: HandOutMode, timings: ListenerTimings) {
        self.mode = mode
        self.timings = timings
    }

    var isEmpty: Bool { self.batches.isEmpty }

    /// Whether the next call of `next` would give an advertisement, as far as time does not change that.
    var isWaitingForApp: Bool {
        !self.isEmpty && (self.mode == .manual || self.open.allSatisfy { $0.isReleased || $0.isShown })
    }

    /// The advertisement that plays now; where only reports count, the one that was reported as started last.
    var current: Advertisement? {
        self.open.last { !$0.isShown && !$0.isReleased && (self.mode == .afterPlaying || $0.playback.isStarted) }?
            .advertisement
    }

    /// Whether something is concluded from the time that passes, without a report.
    private func infers(_ open: Open) -> Bool { self.mode == .afterPlaying && !open.isShown }

    // MARK: The app asks

    /// The next advertisement, where there is one and the current one is over.
    ///
    /// Where it `isShown` and not heard nothing is concluded of the current one, and of this one only what is reported.
    mutating func next(at moment: Moment, isShown: Bool = false) -> (
        advertisement: Advertisement?, effects: [Effect]
    ) {
        var effects = self.dropExpired(at: moment)
        if !isShown, let current = self.open.last(where: self.infers) {
            let isOver = current.playback.rest(at: moment.now) <= self.timings.playedToleranceBeforeEnd
            guard isOver, !current.playback.isPaused else {
                self.isGuarding = true
                return (nil, effects + [.handOutRefused(current: current.advertisement)])
            }
            effects.append(self.close(current, .played, .inferred, heard: current.playback.heard(at: moment.now)))
        }
        effects += self.trimWaiting(at: moment)
        effects += self.dropUnfitting(at: moment)
        self.isGuarding = false
        guard !self.batches.isEmpty else { return (nil, effects) }
        let advertisement = self.batches[0].advertisements.removeFirst()
        let endMode = self.batches[0].endMode
        self.batches[0].waits = false
        self.batches.removeAll { $0.advertisements.isEmpty }
        self.open.append(
            Open(playback: Playback(advertisement, handedOut: moment.now), endMode: endMode, isShown: isShown)
        )
        if self.open.count > Self.openMax {
            effects.append(.unknown(self.forget(self.open[0])))
        }
        return (advertisement, effects)
    }

    /// Drops everything that is queued.
    mutating func ignoreAll() -> [Effect] {
        let all = self.batches.flatMap(\.advertisements)
        self.batches = []
        self.isGuarding = false
        return all.map { self.ignored($0, .user) }
    }

    // MARK: Breaks begin and end

    mutating func queue(_ batch: Batch, now: LocalInstant) {
        var batch = batch
        let isPlaying = self.open.contains { !$0.isShown && $0.playback.rest(at: now) > .zero }
        batch.waits = !self.batches.isEmpty || isPlaying
        if self.open.contains(where: self.infers) { self.isGuarding = true }
        self.batches.append(batch)
    }

    /// The end of a queued break moved: to `end` in the programme, which is earlier than before where `early`.
    mutating func ends(_ id: BreakID, at end: Timestamp, early: Bool, moment: Moment) -> [Effect] {
        guard !early else { return self.withdraw(id, .endedEarly, end: end, at: moment) }
        for index in self.batches.indices where self.batches[index].breakID == id {
            self.batches[index].limit = .playhead(end)
        }
        // An ad that was to be stopped plays on to the new end, or to its own.
        for index in self.open.indices
        where self.open[index].advertisement.key.breakID == id && self.open[index].stopAt != nil {
            let ownEnd = moment.playhead + self.open[index].playback.rest(at: moment.now)
            self.open[index].stopAt = ownEnd > end + Trimmed.tolerance ? end : nil
        }
        return self.tellMovedStops(at: moment)
    }

    /// Tells again when what plays is to be stopped, where that instant has moved: with the end, or with the listener.
    mutating func tellMovedStops(at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        for index in self.open.indices {
            let open = self.open[index]
            let stop = open.stop(at: moment)
            guard let told = open.toldStop, max(stop - told, told - stop) > Self.stopTolerance else { continue }
            self.open[index].toldStop = stop
            effects.append(
                .withdrawn(
                    open.advertisement.key.breakID,
                    .endedEarly,
                    dropped: [],
                    current: open.advertisement,
                    stopAt: stop
                )
            )
        }
        return effects
    }

    /// A queued break was cancelled.
    mutating func cancel(
        _ id: BreakID,
        _ reason: AdvertisementWithdrawal.Reason,
        at moment: Moment
    ) -> [Effect] {
        self.withdraw(id, reason, end: nil, at: moment)
    }

    /// Withdraws what does not fit before `end` in the programme; `nil`: everything, at once.
    private mutating func withdraw(
        _ id: BreakID,
        _ reason: AdvertisementWithdrawal.Reason,
        end: Timestamp?,
        at moment: Moment
    ) -> [Effect] {
        var cursor = moment.playhead
        var stopped: Open?
        if let index = self.indexOfPlaying(id) {
            let playing = self.open[index]
            let rest = playing.playback.rest(at: moment.now)
            let ownEnd = moment.playhead + rest
            cursor = ownEnd
            let stop = end.map { max($0, moment.playhead) } ?? moment.playhead
            if playing.endMode == .cut, rest > .zero, ownEnd > stop + Trimmed.tolerance {
                self.open[index].stopAt = playing.stopAt.map { min($0, stop) } ?? stop
                self.open[index].toldStop = self.open[index].stop(at: moment)
                stopped = self.open[index]
            }
        }
        var dropped: [Advertisement] = []
        for index in self.batches.indices where self.batches[index].breakID == id {
            let batch = self.batches[index]
            let fitting =
                end.map { Trimmed.fitting(batch.advertisements, from: cursor, before: $0, endMode: batch.endMode) } ?? 0
            dropped += batch.advertisements.dropFirst(fitting)
            self.batches[index].advertisements = Array(batch.advertisements.prefix(fitting))
            if let end { self.batches[index].limit = .playhead(end) }
        }
        self.batches.removeAll { $0.advertisements.isEmpty }
        guard !dropped.isEmpty || stopped != nil else { return [] }
        let withdrawn = Effect.withdrawn(
            id,
            reason,
            dropped: dropped,
            current: stopped?.advertisement,
            stopAt: stopped?.toldStop
        )
        return dropped.map { self.ignored($0, reason.ignoreReason) } + [withdrawn] + self.due(at: moment)
    }

    /// The advertisement of the break that plays now: the one handed out last, or the one last reported as started.
    private func indexOfPlaying(_ id: BreakID) -> Int? {
        self.open.lastIndex {
            $0.advertisement.key.breakID == id && (self.infers($0) || $0.playback.isStarted)
        }
    }

    // MARK: Time

    /// Does what its time has come for.
    mutating func due(at moment: Moment) -> [Effect] {
        var effects = self.dropExpired(at: moment)
        for open in self.open {
            if let stopAt = open.stopAt, stopAt <= moment.playhead, self.infers(open) {
                let untilStop = max(moment.local(playhead: stopAt) - open.playback.handedOut, .zero)
                let heard = min(open.playback.heard(at: moment.now), untilStop)
                effects.append(self.close(open, .played, .inferred, heard: heard))
                effects += self.release()
            } else if let end = self.unknownAt(open), end <= moment.now {
                effects.append(.unknown(self.forget(open)))
            } else if !open.isReleased, let end = self.releasedAt(open), end <= moment.now {
                if let index = self.open.firstIndex(of: open) { self.open[index].isReleased = true }
                if !open.isShown {
                    self.isGuarding = true
                    effects += self.release()
                }
            }
        }
        return effects
    }

    /// When `due` has something to do.
    func nextDeadline(at moment: Moment) -> LocalInstant? {
        var next: LocalInstant?
        for batch in self.batches { next = earlier(next, batch.limit.local(at: moment)) }
        for open in self.open {
            if self.infers(open) { next = earlier(next, open.stopAt.map { moment.local(playhead: $0) }) }
            next = earlier(next, open.isReleased ? self.unknownAt(open) : self.releasedAt(open))
        }
        return next
    }

    private func releasedAt(_ open: Open) -> LocalInstant? {
        open.playback.reaches(open.advertisement.exactDuration + self.timings.handOutGrace)
    }

    private func unknownAt(_ open: Open) -> LocalInstant? {
        self.releasedAt(open).map { $0 + self.timings.outcomeUnknownAfter }
    }

    /// The session ends: what is known of the advertisements that are open is said, the rest stays unknown.
    mutating func settle(now: LocalInstant) -> [Effect] {
        var effects: [Effect] = []
        for open in self.open {
            if open.playback.isKnownToPlay {
                effects.append(self.close(open, .played, .inferred, heard: open.playback.heard(at: now)))
            } else {
                effects.append(.unknown(self.forget(open)))
            }
        }
        effects += self.batches.flatMap(\.advertisements).map { .unknown($0) }
        self.batches = []
        return effects
    }

    // MARK: The app goes away and comes back

    /// The playing advertisement counts as paused from now on.
    mutating func suspend(now: LocalInstant) {
        for index in self.open.indices { self.open[index].playback.suspend(now: now) }
    }

    mutating func resume(now: LocalInstant) {
        for index in self.open.indices { self.open[index].playback.resume(now: now) }
    }

    // MARK: The app reports

    /// The advertisements that have no outcome yet, oldest first.
    var playing: [Playback] { self.open.map(\.playback) }

    /// How far an advertisement is that has no outcome yet.
    func playback(of key: AdvertisementKey) -> Playback? { self.playing.first { $0.advertisement.key == key } }

    mutating func report(_ report: AdvertisementReport, _ advertisement: Advertisement, now: LocalInstant) -> [Effect] {
        guard let index = self.open.firstIndex(where: { $0.advertisement.key == advertisement.key }) else {
            let refusal: ReportRefusal =
                self.closed.contains(advertisement.key) ? .alreadyClosed : .notHandedOut
            return [.reportRefused(report, advertisement, refusal)]
        }
        if let refusal = self.open[index].playback.take(report, now: now) {
            return [.reportRefused(report, advertisement, refusal)]
        }
        let open = self.open[index]
        let taken = Effect.reported(report, open.playback)
        let heard = open.playback.heard(at: now)
        switch report {
        case .completed:
            let duration = open.advertisement.exactDuration
            return [taken, self.close(open, .played, .reported, heard: duration)] + self.release()
        case .skipped: return [taken, self.close(open, .played, .reported, heard: heard)] + self.release()
        case .failed(let code):
            let heard = open.playback.isStarted ? heard : .zero
            return [taken, self.close(open, .failed(vastError: code), .reported, heard: heard)] + self.release()
        case .started, .quartile, .muted, .unmuted, .paused, .resumed: return [taken]
        }
    }

    /// The listener acted on an advertisement: its outcome will say so, if it has none yet.
    ///
    /// - Returns: whether that is new.
    mutating func clicked(_ key: AdvertisementKey) -> Bool {
        guard let index = self.open.firstIndex(where: { $0.advertisement.key == key }) else { return false }
        return self.open[index].playback.click()
    }

    // MARK: The journal

    /// When the journal is to be told again how much was heard of what plays.
    var progressDue: LocalInstant? {
        self.open.reduce(nil) { earlier($0, $1.playback.progressDue) }
    }

    /// The progress that the next run of the app needs, of an advertisement without an outcome.
    mutating func keepProgress(of key: AdvertisementKey, now: LocalInstant) -> JournalEntry.Progress? {
        guard let index = self.open.firstIndex(where: { $0.advertisement.key == key }) else { return nil }
        return self.open[index].playback.keepProgress(now: now)
    }

    // MARK: Pieces

    private mutating func dropExpired(at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        for batch in self.batches where batch.limit.isReached(at: moment) {
            effects += batch.advertisements.map { self.ignored($0, batch.waits ? .overlap : .expired) }
        }
        self.batches.removeAll { $0.limit.isReached(at: moment) }
        return effects
    }

    /// A break that had to wait for others begins now, where the listener is by now.
    private mutating func trimWaiting(at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        while let batch = self.batches.first, batch.waits, batch.contentStart != nil {
            let dropped = self.batches[0].trim(playhead: moment.playhead)
            effects += dropped.map { self.ignored($0, .overlap) }
            guard self.batches[0].advertisements.isEmpty else { break }
            self.batches.removeFirst()
        }
        return effects
    }

    /// Where a break must not cut its last advertisement short, what no longer fits is not begun.
    private mutating func dropUnfitting(at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        while self.batches.first?.cutsFirstShort(playhead: moment.playhead) == true {
            let first = self.batches[0].advertisements.removeFirst()
            effects.append(self.ignored(first, .expired))
            self.batches.removeAll { $0.advertisements.isEmpty }
        }
        return effects
    }

    private mutating func release() -> [Effect] {
        guard self.isGuarding, self.mode == .afterPlaying else { return [] }
        self.isGuarding = false
        return self.isEmpty ? [] : [.released]
    }

    private mutating func close(
        _ open: Open,
        _ result: AdvertisementOutcome.Result,
        _ evidence: AdvertisementOutcome.Evidence,
        heard: Duration
    ) -> Effect {
        let advertisement = self.forget(open)
        return .outcome(
            AdvertisementOutcome(
                advertisement: advertisement,
                result: result,
                evidence: evidence,
                heard: heard,
                quartiles: open.playback.quartiles,
                muted: open.playback.wasMuted,
                clicked: open.playback.wasClicked
            )
        )
    }

    private mutating func ignored(_ advertisement: Advertisement, _ reason: IgnoreReason) -> Effect {
        self.remember(advertisement.key)
        return .outcome(.ignored(advertisement, reason))
    }

    private mutating func forget(_ open: Open) -> Advertisement {
        self.open.removeAll { $0.advertisement.key == open.advertisement.key }
        self.remember(open.advertisement.key)
        return open.advertisement
    }

    private mutating func remember(_ key: AdvertisementKey) {
        self.closed.append(key)
        if self.closed.count > Self.rememberedMax { self.closed.removeFirst() }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The breaks of the stream as this listener knows them, each from its first notice to its end.
///
/// ```
/// waiting → requested → held → queued        any of them → closed
///    ↑__________|  (no reply, asked to come again)
/// ```
/// A break gets its batch once and is queued once per session: `queued` and `closed` never go back.
struct BreakBook: Sendable {
    /// The most breaks that are followed at a time; further ones are left out, with an event.
    static let followedMax = 256
    /// How much longer than to its end a queued break is followed, so that late notices still find it.
    static let followedAfterEnd = Duration.seconds(60)

    private(set) var entries: [BreakID: Entry] = [:]
    private var closed = ClosedBreaks()
    private let retries: Backoff
    private let asksApp: Bool

    /// - Parameters:
    ///   - retries: how long to wait before a batch is asked for again.
    ///   - asksApp: whether the app decides about each break if its batch is fetched.
    init(retries: Backoff, asksApp: Bool = false) {
        self.retries = retries
        self.asksApp = asksApp
    }

    /// The breaks that were closed since this was last asked.
    mutating func takeClosed() -> [ClosedBreaks.Break] { self.closed.takeNews() }

    // MARK: A session that goes on after the app was started again

    mutating func restore(closed: [ClosedBreaks.Break]) { self.closed.restore(closed) }

    /// The advertisements of the break that are neither handed out nor over, and how far behind its start they begin;
    /// `nil`: that is not known.
    ///
    /// Nothing becomes of them before the gateway has answered a join: the break may have been moved since the notice.
    mutating func restore(_ notice: Notice, _ advertisements: [Advertisement], skipped: Duration?) {
        guard let id = notice.breakID, self.closed.reason(of: id) == nil, !advertisements.isEmpty else { return }
        self.entries[id] = Entry(
            notice: notice,
            phase: .held(Batch(advertisements: advertisements, skipped: skipped)),
            retries: self.retries,
            isStale: true
        )
    }

    /// Whether a break that plays before the stream has not come to the queue yet, nor been given up.
    var awaitsPreStream: Bool {
        self.entries.values.contains { $0.notice.preStream && $0.phase != .queued }
    }

    /// The advertisements that are here, but not queued.
    var held: [Advertisement] {
        self.inOrder.flatMap { entry -> [Advertisement] in
            guard case .held(let batch) = entry.value.phase else { return [] }
            return batch.advertisements
        }
    }

    // MARK: Notices

    /// Takes one notice in.
    ///
    /// `takesPreStream` says that the stream has not begun yet for this listener.
    mutating func apply(_ notice: Notice, takesPreStream: Bool, at moment: Moment) -> [Effect] {
        guard let id = notice.breakID, self.closed.reason(of: id) == nil else { return [] }
        guard var entry = self.entries[id] else {
            return self.open(id, notice, takesPreStream: takesPreStream, at: moment)
        }
        let known = entry.notice
        // An answer to a join repeats what may have been applied before.
        if known.position.epoch == notice.position.epoch, notice.position.sequence <= known.position.sequence {
            self.entries[id]?.isStale = false
            return []
        }
        entry.notice = notice
        entry.notice.start = notice.start ?? known.start
        entry.isStale = false
        self.entries[id] = entry
        switch notice.kind {
        case .cancelled: return self.cancel(id, notice.cancelReason == .notStarted ? .notStarted : .cancelled)
        case .ended where entry.notice.start == nil: return self.cancel(id, .endedEarly)
        case .available, .updated, .ended, .head: break
        }
        switch entry.phase {
        case .waiting, .requested:
            return Self.sameTimes(known, entry.notice) ? [] : [.announced(entry.notice)]
        case .held(let batch):
            guard notice.kind == .ended else {
                return Self.sameTimes(known, entry.notice) ? [] : [.announced(entry.notice)]
            }
            return self.endHeld(id, batch, at: moment)
        case .queued:
            guard known.start != nil, !known.preStream else { return [] }
            // A break without an end lasts until it expires.
            let before = known.end ?? known.expires
            let end = entry.notice.end ?? entry.notice.expires
            return end == before ? [] : [.queuedEnds(id, at: end, early: end < before)]
        }
    }

    /// A snapshot holds every open break: those that it leaves out are over.
    mutating func snapshot(holds present: Set<BreakID>, at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        for id in self.entries.keys { self.entries[id]?.isStale = false }
        for (id, entry) in self.inOrder where !present.contains(id) && !entry.notice.preStream {
            // Its time may have passed while the client was not connected: then it expires, like any other.
            if case .held = entry.phase, entry.notice.playLimit.isReached(at: moment) { continue }
            // An ad that plays and ends in this moment is left out too, and was not cancelled.
            let isEnding =
                entry.phase == .queued && entry.notice.playLimit.local(at: moment) <= moment.now + .seconds(1)
            if !isEnding { effects += self.cancel(id, .cancelled) }
        }
        return effects
    }

    private mutating func open(
        _ id: BreakID,
        _ notice: Notice,
        takesPreStream: Bool,
        at moment: Moment
    ) -> [Effect] {
        let isOver = notice.kind == .cancelled || (notice.kind == .ended && notice.start == nil)
        guard !isOver, !notice.preStream || takesPreStream else {
            self.closed.add(id, .cancelled)
            return []
        }
        guard self.entries.count < Self.followedMax else {
            return [.missed(notice, .tooManyBreaks)]
        }
        self.entries[id] = Entry(notice: notice, retries: self.retries, isWanted: !self.asksApp)
        return [.announced(notice)] + (self.asksApp ? [.askApp(notice)] : [])
    }

    /// The app has decided whether the batch is to be fetched.
    mutating func decided(_ id: BreakID, isWanted: Bool) -> [Effect] {
        guard let entry = self.entries[id], !entry.isWanted else { return [] }
        guard isWanted else {
            self.close(id, .user)
            return [.missed(entry.notice, .declined)]
        }
        self.entries[id]?.isWanted = true
        return []
    }

    private mutating func cancel(_ id: BreakID, _ reason: AdvertisementWithdrawal.Reason) -> [Effect] {
        guard let entry = self.entries[id] else { return [] }
        self.close(id, reason.ignoreReason)
        return switch entry.phase {
        case .waiting, .requested: [.withdrawn(id, reason, [])]
        case .held(let batch):
            [.ignored(batch.advertisements, reason.ignoreReason), .withdrawn(id, reason, batch.advertisements)]
        case .queued: [.queuedCancelled(id, reason)]
        }
    }

    /// A break that was not heard yet ends early: what no longer fits is dropped now.
    private mutating func endHeld(_ id: BreakID, _ batch: Batch, at moment: Moment) -> [Effect] {
        guard let entry = self.entries[id], let start = entry.notice.start, let end = entry.notice.end else {
            return []
        }
        let playhead = min(moment.playhead, end)
        let begin = max(batch.contentStart(start, playhead: playhead), playhead)
        let fitting = Trimmed.fitting(
            batch.advertisements,
            from: begin,
            before: end,
            endMode: entry.notice.endMode
        )
        let dropped = Array(batch.advertisements.dropFirst(fitting))
        var effects: [Effect] = [.announced(entry.notice)]
        if fitting == 0 {
            self.close(id, .endedEarly)
            effects = []
        } else {
            let kept = Array(batch.advertisements.prefix(fitting))
            self.entries[id]?.phase = .held(Batch(advertisements: kept, skipped: batch.skipped))
        }
        guard !dropped.isEmpty else { return effects }
        return effects + [.ignored(dropped, .endedEarly), .withdrawn(id, .endedEarly, dropped)]
    }

    private static func sameTimes(_ left: Notice, _ right: Notice) -> Bool {
        left.start == right.start && left.duration == right.duration
    }

    // MARK: Batches

    /// The gateway gave the batch.
    mutating func batchArrived(_ id: BreakID, _ batch: ListenerReply.Batch, at moment: Moment) -> [Effect] {
        let advertisements = Advertisement.list(batch, of: id)
        guard var entry = self.entries[id] else {
            // It was cancelled while the batch was on its way: what was delivered needs an outcome.
            return self.closed.reason(of: id).map { [.ignored(advertisements, $0)] } ?? []
        }
        guard entry.phase == .requested else { return [] }
        let skipped = entry.skipped(batch, at: moment)
        entry.phase = .held(Batch(advertisements: advertisements, skipped: skipped))
        self.entries[id] = entry
        return [.ready(entry.notice, advertisements)]
    }

    /// The gateway gave no batch.
    mutating func batchRefused(
        _ id: BreakID,
        _ refusal: Refusal,
        now: LocalInstant,
        jitter: inout JitterSource
    ) -> [Effect] {
        guard let entry = self.entries[id], entry.phase == .requested else { return [] }
        if refusal.status.canRetry {
            self.retry(id, atLeast: refusal.retryAfter, now: now, jitter: &jitter)
            return []
        }
        self.close(id, .expired)
        return [.missed(entry.notice, .refused(refusal.description))]
    }

    /// No reply came in time: ask again.
    mutating func batchUnanswered(_ id: BreakID, now: LocalInstant, jitter: inout JitterSource) {
        guard self.entries[id]?.phase == .requested else { return }
        self.retry(id, atLeast: .zero, now: now, jitter: &jitter)
    }

    /// The connection is gone: ask again on the next one.
    mutating func batchAbandoned(_ id: BreakID) {
        guard self.entries[id]?.phase == .requested else { return }
        self.entries[id]?.phase = .waiting(retryAt: nil)
    }

    private mutating func retry(_ id: BreakID, atLeast: Duration, now: LocalInstant, jitter: inout JitterSource) {
        guard var entry = self.entries[id] else { return }
        entry.phase = .waiting(retryAt: now + entry.retries.next(using: &jitter, atLeast: atLeast))
        self.entries[id] = entry
    }

    // MARK: Time

    /// Does what its time has come for.
    ///
    /// At most `room` requests are made; advertisements whose time is over are dropped with the reason `late`.
    mutating func due(
        at moment: Moment,
        session: SessionID,
        room: Int,
        late: IgnoreReason = .expired
    ) -> [Effect] {
        var effects: [Effect] = []
        var room = room
        for (id, entry) in self.inOrder {
            switch entry.phase {
            case .waiting(let retryAt):
                if self.fetchLimit(of: entry).isReached(at: moment) {
                    self.close(id, late)
                    effects.append(
                        .missed(entry.notice, .tooLateToAsk)
                    )
                } else if room > 0, entry.isWanted, self.requestTime(id, entry, retryAt, session, moment) <= moment.now
                {
                    room -= 1
                    self.entries[id]?.phase = .requested
                    self.entries[id]?.delayAsked = moment.delay
                    effects.append(.request(id))
                }
            case .requested: break
            case .held where entry.isStale: break
            case .held(let batch): effects += self.dueHeld(id, entry, batch, at: moment, late: late)
            case .queued:
                let forget = entry.notice.playLimit.local(at: moment) + Self.followedAfterEnd
                if forget <= moment.now { self.close(id, .expired) }
            }
        }
        return effects
    }

    private mutating func dueHeld(
        _ id: BreakID,
        _ entry: Entry,
        _ batch: Batch,
        at moment: Moment,
        late: IgnoreReason
    ) -> [Effect] {
        let all = batch.advertisements
        guard let start = entry.notice.start, !entry.notice.preStream else {
            if entry.notice.playLimit.isReached(at: moment) {
                let reason = entry.notice.preStream ? late : .notStarted
                self.close(id, reason)
                guard !entry.notice.preStream else {
                    return [
                        .ignored(all, reason), .missed(entry.notice, .tooLate),
                    ]
                }
                return [.ignored(all, .notStarted), .withdrawn(id, .notStarted, all)]
            }
            guard entry.notice.preStream else { return [] }
            self.entries[id]?.phase = .queued
            return [.queue(entry.notice, all, contentStart: nil)]
        }
        guard moment.playhead >= start else { return [] }
        let trimmed = Trimmed(
            all,
            start: batch.contentStart(start, playhead: moment.playhead),
            end: entry.notice.end ?? entry.notice.expires,
            exact: entry.notice.exact,
            playhead: moment.playhead
        )
        var effects: [Effect] = trimmed.dropped.isEmpty ? [] : [.ignored(trimmed.dropped, late)]
        if trimmed.kept.isEmpty {
            self.close(id, late)
            effects.append(.missed(entry.notice, .tooLate))
        } else {
            self.entries[id]?.phase = .queued
            // A late rest begins now: no ad is played from its middle.
            let contentStart =
                trimmed.dropped.isEmpty ? batch.contentStart(start, playhead: moment.playhead) : moment.playhead
            effects.append(.queue(entry.notice, trimmed.kept, contentStart: contentStart))
        }
        return effects
    }

    /// When `due` has something to do; `nil`: when something else happens.
    func nextDeadline(at moment: Moment, session: SessionID, room: Int) -> LocalInstant? {
        var next: LocalInstant?
        for (id, entry) in self.entries {
            switch entry.phase {
            case .waiting(let retryAt):
                next = earlier(next, self.fetchLimit(of: entry).local(at: moment))
                if room > 0, entry.isWanted {
                    next = earlier(next, self.requestTime(id, entry, retryAt, session, moment))
                }
            case .requested, .queued: break
            case .held where entry.isStale: break
            case .held:
                guard let start = entry.notice.start, !entry.notice.preStream else {
                    next = earlier(next, entry.notice.playLimit.local(at: moment))
                    continue
                }
                next = earlier(next, moment.local(playhead: start))
            }
        }
        return next
    }

    /// In the window, at this listener's slot; at once where that is over.
    ///
    /// Before the stream there is no time to spread.
    private func requestTime(
        _ id: BreakID,
        _ entry: Entry,
        _ retryAt: LocalInstant?,
        _ session: SessionID,
        _ moment: Moment
    ) -> LocalInstant {
        var time = LocalInstant.start
        if let window = entry.notice.window, !entry.notice.preStream {
            time = moment.local(gateway: RequestSlot.instant(in: window, session: session, break: id))
        }
        return max(time, retryAt ?? time)
    }

    /// From when on a batch is of no use.
    private func fetchLimit(of entry: Entry) -> PlayLimit {
        switch entry.notice.playLimit {
        case .playhead(let end): .playhead(min(end, entry.notice.expires))
        case .gateway: entry.notice.playLimit
        }
    }

    private var inOrder: [(key: BreakID, value: Entry)] {
        self.entries.sorted {
            ($0.value.notice.start?.microseconds ?? .min, $0.key) < (
                $1.value.notice.start?.microseconds ?? .min, $1.key
            )
        }
    }

    private mutating func close(_ id: BreakID, _ reason: IgnoreReason) {
        self.entries[id] = nil
        self.closed.add(id, reason)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The sum of a journal's entries: the state for the next run of the app.
///
/// It is a fold: applying the same entries in the same order gives the same state, wherever they come from.
struct JournalState: Hashable, Sendable {
    /// How many closed breaks of a session are remembered.
    static let closedBreaksMax = ClosedBreaks.rememberedMax
    /// How many sessions may have advertisements whose outcome is open; the oldest are forgotten.
    static let sessionsMax = 16
    /// How many outcomes that were confirmed or given up are remembered.
    static let settledMax = 1_000
    /// How many calls of tracking URLs are remembered, over or not; the oldest are forgotten.
    static let trackingMax = TrackingLimits.callsMax * 2

    /// The state of an advertisement that is not merely held.
    enum Stage: Hashable, Sendable {
        case handedOut(JournalEntry.Progress)
        /// It has an outcome, or it was said that it has none.
        case over
    }

    struct StoredBreak: Hashable, Sendable {
        var notice: Notice
        var batch: ListenerReply.Batch
        /// How far behind the start of the break the batch begins; `nil`: it is not known.
        var skipped: Duration?
        /// Those that are not here are held or queued.
        var stages: [AdvertisementID: Stage] = [:]

        var isOver: Bool { self.batch.advertisements.allSatisfy { self.stages[$0.id] == .over } }
    }

    struct StoredSession: Hashable, Sendable {
        var header: JournalEntry.Session
        /// The device's clock at its last entry.
        var lastWritten: Timestamp
        var isOver = false
        var breaks: [BreakID: StoredBreak] = [:]
        /// Oldest first.
        var closed: [ClosedBreaks.Break] = []
    }

    /// An outcome that was confirmed or given up.
    struct Settled: Hashable, Sendable {
        let record: OutboxRecord
        /// `nil`: it was confirmed.
        let givenUp: JournalEntry.GivenUp?
    }

    /// The last one is the latest; the others have advertisements whose outcome is open.
    private(set) var sessions: [StoredSession] = []
    private(set) var outbox: [UInt64: OutboxRecord] = [:]
    /// Oldest first.
    private(set) var settled: [Settled] = []
    /// The calls of tracking URLs by their ids: of each only the entries that count.
    private(set) var tracking: [UInt64: [TrackingEntry]] = [:]

    /// The session that goes on if the app starts again at `now` by the device's clock.
    func resumable(stream: StreamID, at now: Timestamp, within longest: Duration) -> StoredSession? {
        guard let last = self.sessions.last, !last.isOver, last.header.stream == stream else { return nil }
        let age = now - last.lastWritten
        // A clock that was set back says nothing of how long ago it was.
        return age >= .zero && age <= longest ? last : nil
    }

    /// The outcomes that are not confirmed, oldest first.
    var unconfirmed: [OutboxRecord] { self.outbox.values.sorted { $0.number < $1.number } }

    // MARK: Folding

    mutating func apply(_ entry: JournalEntry) {
        switch entry.kind {
        case .session(let header): self.begin(header, at: entry.written)
        case .batch(let notice, let batch, let skipped):
            guard let id = notice.breakID else { break }
            self.changeLast { $0.breaks[id] = StoredBreak(notice: notice, batch: batch, skipped: skipped) }
        case .handedOut(let id, let ad):
            self.changeLast { $0.breaks[id]?.stages[ad] = .handedOut(JournalEntry.Progress()) }
        case .progress(let id, let ad, let progress):
            self.changeLast { session in
                guard case .handedOut = session.breaks[id]?.stages[ad] else { return }
                session.breaks[id]?.stages[ad] = .handedOut(progress)
            }
        case .breakClosed(let id, let reason): self.changeLast { $0.close(id, IgnoreReason(wire: reason)) }
        case .outcome(let request):
            guard let record = OutboxRecord(request) else { break }
            self.outbox[record.number] = record
            self.end(record.session, record.key.id, record.outcome.advertisementID)
        case .settled(let numbers, let givenUp): self.settle(numbers, givenUp: givenUp)
        case .forgotten(let session, let id, let ad): self.end(session, id, ad)
        case .sessionOver:
            self.changeLast { session in
                session.isOver = true
                session.breaks = session.breaks.filter { !$0.value.isOver }
                session.closed = []
            }
        case .alive: break
        case .tracking(let bytes): if let entry = TrackingEntry(decoding: bytes) { self.apply(entry) }
        case .trackingForgotten(let ids): for id in ids { self.tracking[id] = nil }
        }
        if let last = self.sessions.indices.last, !self.sessions[last].isOver {
            self.sessions[last].lastWritten = max(self.sessions[last].lastWritten, entry.written)
        }
    }

    private mutating func apply(_ entry: TrackingEntry) {
        switch entry {
        case .intended, .finished: self.tracking[entry.id] = [entry]
        case .sending, .waiting:
            // The intent, and what was said of it last.
            guard let first = self.tracking[entry.id]?.first else { break }
            self.tracking[entry.id] = [first, entry]
        }
        guard self.tracking.count > Self.trackingMax, let oldest = self.tracking.keys.min() else { return }
        self.tracking[oldest] = nil
    }

    /// The entries of tracking URLs, in the order in which their calls began.
    var trackingEntries: [TrackingEntry] { self.tracking.sorted { $0.key < $1.key }.flatMap(\.value) }

    private mutating func changeLast(_ change: (inout StoredSession) -> Void) {
        guard let last = self.sessions.indices.last, !self.sessions[last].isOver else { return }
        change(&self.sessions[last])
    }

    private mutating func begin(_ header: JournalEntry.Session, at written: Timestamp) {
        if let last = self.sessions.indices.last, self.sessions[last].header.id == header.id {
            self.sessions[last].header = header
            return
        }
        self.sessions.append(StoredSession(header: header, lastWritten: written))
        self.forgetFinished()
        if self.sessions.count > Self.sessionsMax { self.sessions.removeFirst() }
    }

    private mutating func end(_ session: SessionID, _ id: BreakID, _ ad: AdvertisementID) {
        guard let index = self.sessions.firstIndex(where: { $0.header.id == session }) else { return }
        self.sessions[index].breaks[id]?.stages[ad] = .over
        self.sessions[index].dropClosed(id)
        if index < self.sessions.count - 1 { self.forgetFinished() }
    }

    /// Earlier sessions are kept for what is open in them only.
    private mutating func forgetFinished() {
        let latest = self.sessions.last?.header.id
        for index in self.sessions.indices where self.sessions[index].header.id != latest {
            self.sessions[index].breaks = self.sessions[index].breaks.filter { !$0.value.isOver }
            self.sessions[index].closed = []
        }
        self.sessions.removeAll { $0.header.id != latest && $0.breaks.isEmpty }
    }

    private mutating func settle(_ numbers: [UInt64], givenUp: JournalEntry.GivenUp?) {
        for number in numbers {
            guard let record = self.outbox.removeValue(forKey: number) else { continue }
            self.settled.append(Settled(record: record, givenUp: givenUp))
        }
        if self.settled.count > Self.settledMax { self.settled.removeFirst(self.settled.count - Self.settledMax) }
    }

    // MARK: Unfolding

    /// Entries that add up to this state: what a compacted journal holds.
    var entries: [JournalEntry] {
        var entries: [JournalEntry] = []
        let now = self.sessions.last?.lastWritten ?? Timestamp(microseconds: 0)
        func add(_ kind: JournalEntry.Kind, at written: Timestamp? = nil) {
            entries.append(JournalEntry(written: written ?? now, kind: kind))
        }
        for session in self.sessions {
            add(.session(session.header), at: session.lastWritten)
            for (id, stored) in session.breaks.sorted(by: { $0.key < $1.key }) {
                add(.batch(stored.notice, stored.batch, skipped: stored.skipped), at: session.lastWritten)
                for (ad, stage) in stored.stages.sorted(by: { $0.key.description < $1.key.description }) {
                    switch stage {
                    case .handedOut(let progress):
                        add(.handedOut(id, ad), at: session.lastWritten)
                        add(.progress(id, ad, progress), at: session.lastWritten)
                    case .over: add(.forgotten(session.header.id, id, ad), at: session.lastWritten)
                    }
                }
            }
            for each in session.closed { add(.breakClosed(each.id, each.reason.wire), at: session.lastWritten) }
            if session.isOver { add(.sessionOver, at: session.lastWritten) }
        }
        for each in self.settled {
            add(.outcome(each.record.request))
            add(.settled([each.record.number], givenUp: each.givenUp))
        }
        for record in self.unconfirmed { add(.outcome(record.request)) }
        for entry in self.trackingEntries { add(.tracking(entry.encoded())) }
        return entries
    }
}

extension JournalState.StoredSession {
    fileprivate mutating func close(_ id: BreakID, _ reason: IgnoreReason) {
        guard !self.closed.contains(where: { $0.id == id }) else { return }
        self.closed.append(ClosedBreaks.Break(id: id, reason: reason))
        if self.closed.count > JournalState.closedBreaksMax { self.closed.removeFirst() }
        self.dropClosed(id)
    }

    /// A closed break is kept while an outcome of it is open.
    fileprivate mutating func dropClosed(_ id: BreakID) {
        guard self.closed.contains(where: { $0.id == id }), self.breaks[id]?.isOver ?? false else { return }
        self.breaks[id] = nil
    }
}

extension OutboxRecord {
    /// The request that tells this outcome; its id is the record's number.
    var request: ListenerRequest {
        ListenerRequest(
            id: self.number,
            session: self.session,
            ticket: self.ticket,
            kind: .acknowledge(
                ListenerRequest.Acknowledge(key: self.key, delivery: self.delivery, outcomes: [self.outcome])
            )
        )
    }

    /// `nil` where the request tells anything but one outcome.
    init?(_ request: ListenerRequest) {
        guard case .acknowledge(let acknowledge) = request.kind, let outcome = acknowledge.outcomes.first else {
            return nil
        }
        self.init(
            number: request.id,
            session: request.session,
            ticket: request.ticket,
            key: acknowledge.key,
            delivery: acknowledge.delivery,
            outcome: outcome
        )
    }
}

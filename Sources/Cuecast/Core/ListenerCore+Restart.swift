// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// The state of earlier runs of the app, and the state for the next.
extension ListenerCore {
    /// An advertisement that had no outcome when the app was ended.
    struct Leftover: Sendable {
        let session: JournalEntry.Session
        let advertisement: Advertisement
        /// `nil`: it was not handed out.
        let progress: JournalEntry.Progress?
        /// How long ago, at local instant 0, the app was ended, as far as the device's clock can be trusted.
        let age: Duration
        /// When the gateway told of its break: nothing can have become of it before.
        let announced: Timestamp
    }

    /// The unfinished work of earlier runs of the app; it is settled as soon as the gateway's clock is known.
    struct Leftovers: Sendable {
        private var all: [Leftover] = []

        mutating func add(_ leftover: Leftover) {
            self.all.append(leftover)
        }

        mutating func take() -> [Leftover] {
            defer { self.all = [] }
            return self.all
        }
    }

    mutating func restore(_ state: JournalState, resumed: JournalState.StoredSession?, wallTime: Timestamp) {
        for session in state.sessions {
            let isResumed = session.header.id == resumed?.header.id
            let age = max(wallTime - session.lastWritten, .zero)
            if isResumed { self.book.restore(closed: session.closed) }
            for (id, stored) in session.breaks.sorted(by: { $0.key < $1.key }) {
                let all = Advertisement.list(stored.batch, of: id)
                var held: [Advertisement] = []
                var skipped = stored.skipped
                for advertisement in all {
                    switch stored.stages[advertisement.key.id] {
                    case .over: break
                    case .handedOut(let progress):
                        self.leave(advertisement, progress, session.header, age, stored.notice)
                    case nil where isResumed: held.append(advertisement)
                    case nil: self.leave(advertisement, nil, session.header, age, stored.notice)
                    }
                    if held.isEmpty { skipped = skipped.map { $0 + advertisement.exactDuration } }
                }
                guard isResumed else { continue }
                if held.isEmpty {
                    self.book.restore(closed: [.init(id: id, reason: .expired)])
                } else {
                    self.book.restore(stored.notice, held, skipped: skipped)
                }
            }
        }
    }

    private mutating func leave(
        _ advertisement: Advertisement,
        _ progress: JournalEntry.Progress?,
        _ session: JournalEntry.Session,
        _ age: Duration,
        _ notice: Notice
    ) {
        self.leftovers.add(
            Leftover(
                session: session,
                advertisement: advertisement,
                progress: progress,
                age: age,
                announced: notice.sent
            )
        )
    }

    /// Says what became of the advertisements that had no outcome when the app was ended, as far as it is known: what was
    /// reported as started or clicked was played, what was not handed out was not, and the rest is unknown.
    mutating func settleLeftovers(at moment: Moment) {
        var interrupted: [Advertisement] = []
        for leftover in self.leftovers.take() {
            // The age is by the device's clock, which may have been set meanwhile.
            let occurred = max(moment.gateway - leftover.age - moment.now.sinceStart, leftover.announced)
            let advertisement = leftover.advertisement
            guard let progress = leftover.progress else {
                self.record(.ignored(advertisement, .expired), of: leftover.session, occurred: occurred)
                continue
            }
            guard progress.started || progress.clicked else {
                self.output.keep(.forgotten(leftover.session.id, advertisement.key.breakID, advertisement.key.id))
                interrupted.append(advertisement)
                continue
            }
            let outcome = AdvertisementOutcome(
                advertisement: advertisement,
                result: .played,
                evidence: .inferred,
                heard: min(
                    max(progress.heard, advertisement.exactDuration * progress.quartiles / 4),
                    advertisement.exactDuration
                ),
                quartiles: progress.quartiles,
                muted: progress.muted,
                clicked: progress.clicked
            )
            self.record(outcome, of: leftover.session, occurred: occurred)
        }
        if !interrupted.isEmpty { self.output.emit(.interrupted(interrupted)) }
    }

    /// Keeps what the next run of the app needs to go on with this session.
    mutating func keepSession() {
        self.output.keep(.session(self.sessionHeader))
    }

    var sessionHeader: JournalEntry.Session {
        JournalEntry.Session(
            id: self.session,
            stream: self.settings.stream,
            ticket: self.conversation.credentials.ticket,
            streamBegun: !self.conversation.isFirstJoin
        )
    }

    mutating func keepClosedBreaks() {
        for each in self.book.takeClosed() { self.output.keep(.breakClosed(each.id, each.reason.wire)) }
    }
}

extension Advertisement {
    /// The advertisements of a batch, each with its place in its break.
    static func list(_ batch: ListenerReply.Batch, of id: BreakID) -> [Advertisement] {
        let count = batch.skipped + batch.advertisements.count
        return batch.advertisements.enumerated()
            .map { index, content in
                Advertisement(
                    content,
                    breakID: id,
                    delivery: batch.delivery,
                    position: .init(index: batch.skipped + index + 1, count: count)
                )
            }
    }
}

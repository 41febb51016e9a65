// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import GatewayCore

@_spi(Diagnostics) @_spi(Tracking) @testable import Cuecast

/// Sees all that a listener does and says what must never be.
struct Witness {
    /// One advertisement as one session hears it.
    struct SessionAdvertisement: Hashable {
        let session: SessionID
        let key: AdvertisementKey
    }

    private(set) var broken: [String] = []
    /// The decisions of one run of the app, also those that are not on the disk: a kill loses these.
    private struct Run {
        var received: Set<SessionAdvertisement> = []
        var handedOut: Set<SessionAdvertisement> = []
        /// Those with an outcome, or of which it was said that they have none.
        var settled: Set<SessionAdvertisement> = []
        /// Clicked while they were neither.
        var clicked: Set<SessionAdvertisement> = []
    }

    private var current = Run()
    /// Given to the app.
    private(set) var handedOut: Set<SessionAdvertisement> = []
    /// Given to the app in an earlier run and again in a later one.
    private(set) var handedOutAgain = 0
    /// Of these the disk knows that they were handed out.
    private var handedOutOnDisk: Set<SessionAdvertisement> = []
    /// Of these the disk knows that they were clicked.
    private var clickedOnDisk: Set<SessionAdvertisement> = []
    /// Received from the gateway, by the disk.
    private(set) var received: Set<SessionAdvertisement> = []
    /// By the disk.
    private(set) var outcomes: [SessionAdvertisement: Outcome] = [:]
    /// By the disk: said to be unknown.
    private(set) var unknown: Set<SessionAdvertisement> = []
    /// Clicked by the listener while neither an outcome was known nor that there is none, in a run that kept it.
    private(set) var clicked: Set<SessionAdvertisement> = []
    private(set) var confirmed: Set<UInt64> = []
    private(set) var givenUp: [String] = []
    private(set) var kills = 0
    private(set) var resumptions = 0
    private(set) var sessions: Set<SessionID> = []
    /// Told by events; of runs that were ended some events never come.
    private var toldOutcomes: Set<SessionAdvertisement> = []
    private var toldUnknown: Set<SessionAdvertisement> = []
    private var announced: Set<String> = []
    private var resolved: Set<String> = []
    private var records: [UInt64: SessionAdvertisement] = [:]
    private var eventsWereLost = false
    private var arrived: Set<String> = []
    private(set) var trackingAttempts = 0
    /// Outcomes that say expired, held against the gateway's plan.
    private(set) var expiries = 0
    /// Told while the disk took nothing: where the app is killed then, its next run can tell something else.
    private var toldWithoutDisk: [SessionAdvertisement: Set<Outcome>] = [:]
    /// How many outcomes were told so and are not what the disk knows.
    private(set) var uncertain = 0
    var handedOutWithoutDisk = 0
    var diskFailures = 0
    var inFlightMax = 0
    var preStreamSettled = 0
    var stopped = 0
    var wakes = 0
    var published = 0

    /// How many connections were made in fine weather, and how notices came there.
    var calmConnections = 0
    var pushedJoins = 0
    var subscribedJoins = 0
    /// How often a ring dropped unsent notices.
    var overruns = 0

    /// A notice was missing on a connection that loses nothing: it fell between the answer to the join and what is heard.
    mutating func missedNoticeOnCalmConnection() {
        self.broken.append("a notice was missed where none was lost")
    }

    // MARK: The disk

    /// An entry was decided; it may still be lost.
    mutating func decided(_ kind: JournalEntry.Kind, session: SessionID) {
        switch kind {
        case .session(let header): self.sessions.insert(header.id)
        case .batch(let notice, let batch, _):
            guard let id = notice.breakID else { return }
            for each in batch.advertisements {
                let pair = SessionAdvertisement(session: session, key: AdvertisementKey(breakID: id, id: each.id))
                let isNew = self.current.received.insert(pair).inserted
                if !isNew || self.received.contains(pair) { self.broken.append("\(pair.key) was fetched twice") }
            }
        case .outcome(let request):
            guard let record = OutboxRecord(request) else { return }
            let key = AdvertisementKey(breakID: record.key.id, id: record.outcome.advertisementID)
            self.current.settled.insert(SessionAdvertisement(session: record.session, key: key))
        case .forgotten(let session, let id, let ad):
            self.current.settled.insert(
                SessionAdvertisement(session: session, key: AdvertisementKey(breakID: id, id: ad))
            )
        default: break
        }
    }

    /// A request leaves the app: what it tells must be on the disk, word for word, where the disk takes anything.
    mutating func sent(_ frame: [UInt8], isDiskUsed: Bool) {
        guard let request = try? ListenerRequest(decoding: frame), case .acknowledge(let acknowledge) = request.kind
        else { return }
        for outcome in acknowledge.outcomes {
            let key = AdvertisementKey(breakID: acknowledge.key.id, id: outcome.advertisementID)
            let pair = SessionAdvertisement(session: request.session, key: key)
            guard self.outcomes[pair] != outcome else { continue }
            if isDiskUsed { self.broken.append("the outcome of \(key) was told before it was on the disk") }
            self.toldWithoutDisk[pair, default: []].insert(outcome)
        }
    }

    /// An entry is on the disk.
    mutating func kept(_ kind: JournalEntry.Kind, session: SessionID) {
        switch kind {
        case .session(let header): self.sessions.insert(header.id)
        case .batch(let notice, let batch, _):
            guard let id = notice.breakID else { return }
            for each in batch.advertisements {
                let pair = SessionAdvertisement(session: session, key: AdvertisementKey(breakID: id, id: each.id))
                if !self.received.insert(pair).inserted { self.broken.append("\(pair.key) was fetched twice") }
            }
        case .outcome(let request):
            // As it is on the disk, with durations in milliseconds.
            guard let stored = try? ListenerRequest(decoding: request.encoded()), let record = OutboxRecord(stored)
            else { return self.broken.append("an outcome without one") }
            let key = AdvertisementKey(breakID: record.key.id, id: record.outcome.advertisementID)
            let pair = SessionAdvertisement(session: record.session, key: key)
            if self.outcomes.updateValue(record.outcome, forKey: pair) != nil {
                self.broken.append("\(key) has two outcomes")
            }
            self.records[record.number] = pair
        case .settled(let numbers, let reason):
            for number in numbers {
                if let reason { self.givenUp.append(reason.sentence) } else { self.confirmed.insert(number) }
            }
        case .forgotten(let session, let id, let ad):
            let pair = SessionAdvertisement(session: session, key: AdvertisementKey(breakID: id, id: ad))
            if !self.unknown.insert(pair).inserted { self.broken.append("\(pair.key) is unknown twice") }
        case .handedOut(let id, let ad):
            self.handedOutOnDisk.insert(
                SessionAdvertisement(session: session, key: AdvertisementKey(breakID: id, id: ad))
            )
        case .progress(let id, let ad, let progress):
            guard progress.clicked else { return }
            self.clickedOnDisk.insert(
                SessionAdvertisement(session: session, key: AdvertisementKey(breakID: id, id: ad))
            )
        case .breakClosed, .sessionOver, .alive, .tracking, .trackingForgotten: break
        }
    }

    /// Compares the next run's reading of its file with the entries that reached the disk.
    mutating func readBack(_ state: JournalState, expected: JournalState) {
        if Self.bytes(of: state) != Self.bytes(of: expected) {
            self.broken.append("the journal adds up to something else")
        }
    }

    static func bytes(of state: JournalState) -> [UInt8] {
        var bytes = JournalRecords.header
        for entry in state.entries { JournalRecords.append(entry, to: &bytes) }
        return bytes
    }

    /// An outcome that is to be told, against the gateway's plan: what has its place still ahead is not expired.
    ///
    /// Only where the listener knows all that the gateway knows. A break that must not cut drops what no longer fits, and one
    /// that was cancelled without a listener has no place any more.
    mutating func told(_ kind: JournalEntry.Kind, core: ListenerCore, now: LocalInstant, gateway: CoreGateway) {
        guard case .outcome(let request) = kind, let record = OutboxRecord(request), record.session == core.session,
            record.outcome.reason == .expired, core.conversation.follower.last == gateway.head,
            let each = gateway[record.key.id], !each.exact, !each.preStream, each.record.phase != .cancelled,
            let start = each.record.start,
            let index = each.record.advertisements.firstIndex(where: { $0.id == record.outcome.advertisementID }),
            let playhead = core.moment(at: now)?.playhead
        else { return }
        let before = each.record.advertisements[..<index].reduce(Duration.zero) { $0 + $1.duration }
        // Nothing is ahead of a break that was cancelled. Listeners know the length of a break in milliseconds.
        let breakEnd =
            each.record.closed ?? each.lasting.map { start + .milliseconds($0.inMilliseconds) } ?? each.over
        let end = min(start + before + each.record.advertisements[index].duration, breakEnd)
        self.expiries += 1
        if playhead < end {
            self.broken.append("\(record.outcome.advertisementID) has expired, and is over in \(end - playhead)")
        }
    }

    // MARK: The app's life

    mutating func killed(_ core: ListenerCore) {
        self.kills += 1
        self.eventsWereLost = true
        // A click is lost where neither it nor the outcome that says so is on the disk.
        for pair in self.current.clicked
        where !self.clickedOnDisk.contains(pair) && self.outcomes[pair] == nil {
            self.clicked.remove(pair)
        }
        self.current = Run()
    }

    mutating func started(_ core: ListenerCore) {
        if core.isResumed { self.resumptions += 1 }
        self.preStreamSettled = 0
        // What one run announced the next may have to be told again.
        self.announced = []
        self.resolved = []
    }

    // MARK: Tracking URLs

    /// One attempt at a call begins: never after one that may have arrived.
    ///
    /// `disk` is `nil` where entries are kept in memory only.
    mutating func tracked(_ request: TrackingRequest, disk: JournalState?) {
        self.trackingAttempts += 1
        if let disk, disk.tracking[request.id]?.last != .sending(id: request.id, attempt: request.attempt) {
            self.broken.append("\(request.url) was called before the disk knew")
        }
        if self.arrived.contains(request.url) { self.broken.append("\(request.url) was called again") }
    }

    /// Calls are counted by listener and event: the number that breaks their caches is another one each time.
    private var trackingFaults: [String] {
        let calls = Dictionary(grouping: self.arrived) { url in
            url.split(separator: "/").dropLast().joined(separator: "/")
        }
        return calls.compactMap { name, urls in
            let ad = name.split(separator: "/").dropLast().last ?? ""
            let listeners = self.handedOut.count { $0.key.id.description == ad }
            return urls.count > listeners ? "\(name) was called \(urls.count) times for \(listeners) sessions" : nil
        }
    }

    /// The attempt arrived, or may have arrived.
    mutating func trackingArrived(_ url: String) {
        self.arrived.insert(url)
    }

    // MARK: Events

    mutating func saw(_ event: ListenerEvent, session: SessionID) {
        if self.stopped > 0 { self.broken.append("an event after the end: \(event)") }
        switch event {
        case .announced(let each): self.announced.insert(each.id)
        case .available(let each, let advertisements):
            self.resolved.insert(each.id)
            for each in advertisements
            where self.isKnownToBeHandedOut(SessionAdvertisement(session: session, key: each.key)) {
                self.broken.append("\(each) was queued after it was handed out")
            }
        case .missed(let each, _): self.resolved.insert(each.id)
        case .withdrawn(let withdrawal): self.resolved.insert(withdrawal.breakID)
        case .outcome(let outcome):
            // An earlier session's is told in a later one.
            self.toldOutcomes.formUnion(
                self.sessions.map { SessionAdvertisement(session: $0, key: outcome.advertisement.key) }
            )
            if outcome.heard < .zero || outcome.heard > outcome.advertisement.exactDuration {
                self.broken.append("\(outcome.advertisement) was heard for \(outcome.heard)")
            }
        case .outcomeUnknown(let each): self.toldUnknown.insert(SessionAdvertisement(session: session, key: each.key))
        case .interrupted(let all):
            for each in all {
                self.toldUnknown.formUnion(self.sessions.map { SessionAdvertisement(session: $0, key: each.key) })
            }
        case .notUnderstood(let what): self.broken.append("not understood: \(what)")
        default: break
        }
    }

    mutating func handedOut(
        _ advertisement: Advertisement,
        core: ListenerCore,
        now: LocalInstant,
        gatewayTime: Timestamp
    ) {
        let pair = SessionAdvertisement(session: core.session, key: advertisement.key)
        // Twice only where the first time was in an earlier run, whose record did not reach the disk.
        if self.isKnownToBeHandedOut(pair) { self.broken.append("\(advertisement) was handed out twice") }
        if !self.handedOut.insert(pair).inserted { self.handedOutAgain += 1 }
        self.current.handedOut.insert(pair)
        if !self.received.contains(pair), !self.current.received.contains(pair) {
            self.broken.append("\(advertisement) came from nowhere")
        }
        if self.isSettled(pair) { self.broken.append("\(advertisement) was handed out after its outcome") }
        // What the listener knows of the break; the gateway may know more, which takes time to arrive.
        guard let notice = core.book.entries[advertisement.key.breakID]?.notice, !notice.preStream,
            let end = notice.end, let bound = core.conversation.clock.errorBound(at: now)
        else { return }
        let playhead = gatewayTime - core.playbackDelay.delay(at: now, gateway: gatewayTime)
        if playhead > end + bound + .milliseconds(100) {
            self.broken.append("\(advertisement) was handed out \(playhead - end) after its break")
        }
    }

    /// The listener acts on an advertisement that was handed out.
    mutating func clicked(_ advertisement: Advertisement, session: SessionID) {
        let pair = SessionAdvertisement(session: session, key: advertisement.key)
        guard !self.isSettled(pair) else { return }
        self.clicked.insert(pair)
        self.current.clicked.insert(pair)
    }

    /// Whether the listener must know that the advertisement was handed out.
    private func isKnownToBeHandedOut(_ pair: SessionAdvertisement) -> Bool {
        self.current.handedOut.contains(pair) || self.handedOutOnDisk.contains(pair)
    }

    /// Whether the listener must know the outcome of the advertisement, or that it is unknown.
    private func isSettled(_ pair: SessionAdvertisement) -> Bool {
        self.outcomes[pair] != nil || self.unknown.contains(pair) || self.current.settled.contains(pair)
    }

    /// A listener that believes to be at the gateway's position knows the same breaks as the gateway.
    mutating func compare(_ core: ListenerCore, with gateway: CoreGateway, at now: Timestamp) {
        guard case .joined = core.conversation.connection.state, core.conversation.follower.last == gateway.head else {
            return
        }
        for (id, known) in core.book.entries {
            // What is queued may just have ended, and then a snapshot says nothing of it any more.
            guard let truth = gateway[id], known.phase != .queued else { continue }
            let isOver = truth.record.phase == .cancelled || truth.record.phase == .expired
            if isOver || truth.record.start != known.notice.start
                || truth.lasting?.inMilliseconds != known.notice.duration?.inMilliseconds
            {
                self.broken.append("what is believed of \(id) is not true")
            }
        }
        for (id, truth) in gateway.breaks where truth.record.phase == .announced && !truth.preStream {
            guard now < truth.over, !self.announced.contains(id.description) else { continue }
            // A break that an earlier run of the app knew is not announced again.
            if !self.eventsWereLost { self.broken.append("\(id) is not known") }
        }
    }

    // MARK: The end

    /// The faults after everything has calmed down and the listener has stopped; `open` are the breaks to come then.
    mutating func finalFaults(report: Report, open: Set<String>) -> [String] {
        var faults = self.broken
        for each in self.received {
            switch (self.outcomes[each] != nil, self.unknown.contains(each)) {
            case (false, false): faults.append("\(each.key) was lost without an event")
            case (true, true): faults.append("\(each.key) is known and unknown")
            default: break
            }
        }
        for (pair, outcome) in self.outcomes where outcome.clicked != self.clicked.contains(pair) {
            faults.append("\(pair.key) was \(outcome.clicked ? "not clicked" : "clicked"), and its outcome differs")
        }
        for number in self.records.keys where !self.confirmed.contains(number) {
            faults.append("outcome \(number) was not confirmed")
        }
        if !self.eventsWereLost {
            if self.toldOutcomes != Set(self.outcomes.keys) { faults.append("outcomes and events differ") }
            if self.toldUnknown != self.unknown { faults.append("what is unknown and its events differ") }
            for id in self.announced where !self.resolved.contains(id) && !open.contains(id) {
                faults.append("\(id) came to nothing")
            }
        }
        if !self.givenUp.isEmpty { faults.append("given up: \(self.givenUp)") }
        if self.inFlightMax > RequestTable.inFlightMax { faults.append("\(self.inFlightMax) requests in flight") }
        if self.preStreamSettled != 1 { faults.append("start() would return \(self.preStreamSettled) times") }
        if self.stopped != 1 { faults.append("stopped \(self.stopped) times") }
        return faults + self.bookFaults(report) + self.trackingFaults
    }

    /// The gateway's books against what the listener did, advertisement by advertisement.
    private mutating func bookFaults(_ report: Report) -> [String] {
        var faults: [String] = []
        var counted: Set<AdvertisementKey> = []
        for each in report.breaks {
            for advertisement in each.advertisements {
                let key = AdvertisementKey(breakID: each.summary.key.id, id: advertisement.id)
                counted.insert(key)
                let counts = advertisement.counts
                if !counts.balances { faults.append("\(key) does not balance: \(counts)") }
                let uncertain = self.toldWithoutDisk.filter { $0.key.key == key && $0.value != [self.outcomes[$0.key]] }
                let mine = self.outcomes.filter { $0.key.key == key && uncertain[$0.key] == nil }.map(\.value)
                guard uncertain.isEmpty else {
                    // Once for each that is certain, and once at most for each that is not.
                    let counted = counts.played + counts.ignored + counts.failed
                    if counted < mine.count || counted > mine.count + uncertain.count
                        || counts.played < mine.count(where: { $0.kind == .played })
                        || counts.ignored < mine.count(where: { $0.kind == .ignored })
                        || counts.failed < mine.count(where: { $0.kind == .failed })
                    {
                        faults.append("\(key) is counted as \(counts), for \(mine.map(\.kind)) and \(uncertain.count)")
                    }
                    self.uncertain += uncertain.count
                    continue
                }
                if counts.played != mine.count(where: { $0.kind == .played })
                    || counts.ignored != mine.count(where: { $0.kind == .ignored })
                    || counts.failed != mine.count(where: { $0.kind == .failed })
                {
                    faults.append("\(key) is counted as \(counts), and was \(mine.map(\.kind))")
                }
                let clicks = self.outcomes.keys.count { $0.key == key && self.clicked.contains($0) }
                if counts.clicked != clicks { faults.append("\(key) is counted as clicked \(counts.clicked) times") }
                if counts.contradictions > 0 { faults.append("\(key) was told in two ways") }
                // A delivery that was not durable is known by its acknowledgement only.
                let received = Int64(self.received.count { $0.key == key })
                if counts.delivered < Int64(mine.count) || (self.kills == 0 && counts.delivered < received) {
                    // An outcome that a failed gateway did not record, and that was not acknowledged, stays unknown to it.
                    if counts.delivered < Int64(mine.count) { faults.append("\(key) was delivered more often") }
                }
            }
        }
        for pair in self.outcomes.keys where !counted.contains(pair.key) {
            faults.append("\(pair.key) is not in the books")
        }
        return faults
    }
}

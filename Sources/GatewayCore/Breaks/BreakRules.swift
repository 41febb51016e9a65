// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import HashTreeCollections

// The life of a break. Every legal step is one of these functions; whatever is not legal is refused with a sentence.
//
//   publish                  → scheduled, or announced when its announcement is due already (cued and pre-stream: at once)
//   scheduled  announce      → announced
//   scheduled  expire        → expired: it can no longer be played, and listeners never knew of it
//   announced  expire        → expired, for a cued break whose hold is over
//   announced  punch         → announced with a start, for a cued break
//   scheduled, announced     update, postpone, cancel
//   announced, started       update of the duration, end, cancel
//   signals                  → SignalFold.swift
//   publish, close to the start of a break that a signal opened → Signals/Joining.swift
//
// Each step but the first increments the revision by one, regardless of its origin.

extension StreamBoard {
    /// Decides about an entry about a break of this stream; nothing changes.
    ///
    /// - Parameters:
    ///   - entry: the request, or the decision of a timer.
    ///   - number: of the break that it publishes, if it does.
    ///   - epoch: of the event log.
    ///   - isRetired: whether the break was kept once and is no more.
    ///   - room: how many bytes the board has left.
    /// - Returns: the result of applying it.
    func decide(
        _ entry: BreakEntry,
        number: BreakNumber,
        epoch: UInt64,
        isRetired: Bool,
        room: Int
    ) -> EntryResult {
        let result = self.step(entry, number: number, epoch: epoch, isRetired: isRetired, room: room)
        guard let expected = entry.expectedRevision, let key = entry.key, !isRetired else { return result }
        switch result {
        case .housekept, .activated, .list: return result
        // The break is in that state already: a repeat of an earlier request, which changed the revision itself.
        case .unchanged where expected != ExpectedRevision.absent: return result
        case .unchanged, .changed, .refused:
            if let known = self.known(key.id) {
                return known.revisionConflict(expected: expected).map { EntryResult.refused($0) } ?? result
            }
            // What is not there cannot be changed, by whatever revision; but it must not be made, unless that is expected.
            guard case .changed = result, expected != ExpectedRevision.absent else { return result }
            let what = expected == ExpectedRevision.any ? "one is expected" : "its revision \(expected) is expected"
            let sentence = "There is no break \(key.id) of the stream \(self.stream), and \(what)."
            return .refused(Refusal(.revisionConflict, sentence))
        }
    }

    /// The result of an entry where no revision is expected.
    private func step(
        _ entry: BreakEntry,
        number: BreakNumber,
        epoch: UInt64,
        isRetired: Bool,
        room: Int
    ) -> EntryResult {
        if isRetired {
            guard case .publish(let publish) = entry.kind else {
                return .refused(entry.key.map { .retired($0) } ?? Refusal(.breakTooOld, "It is older than is kept."))
            }
            return .refused(.reserved(publish.request.key))
        }
        switch entry.kind {
        case .publish(let publish):
            return self.publish(publish, asked: entry, number: number, epoch: epoch, room: room)
        case .punch(let punch, let start):
            return self.change(punch.key, asked: entry, epoch: epoch) { (stream, each) throws(Refusal) in
                try stream.punch(&each, punch, start: start, at: entry.at)
            }
        case .update(let update):
            return self.change(update.request.key, asked: entry, epoch: epoch) { (stream, each) throws(Refusal) in
                try stream.update(&each, update, at: entry.at, room: room)
            }
        case .postpone(let postpone):
            return self.change(postpone.request.key, asked: entry, epoch: epoch) { (stream, each) throws(Refusal) in
                try stream.postpone(&each, postpone, at: entry.at)
            }
        case .end(let end):
            return self.change(end.key, asked: entry, epoch: epoch) { (_, each) throws(Refusal) in
                try Self.end(&each, end, at: entry.at)
            }
        case .cancel(let key):
            return self.change(key, asked: entry, epoch: epoch) { (_, each) throws(Refusal) in
                try Self.cancel(&each, at: entry.at)
            }
        case .announce(let key, let number, let window):
            return self.change(key, asked: entry, epoch: epoch) { (_, each) throws(Refusal) in
                guard each.number == number else { return .nothing }
                return Self.announce(&each, window: window, at: entry.at)
            }
        case .expire(let key, let number):
            return self.change(key, asked: entry, epoch: epoch) { (_, each) throws(Refusal) in
                guard each.number == number else { return .nothing }
                return Self.expire(&each, at: entry.at)
            }
        case .signal, .putList, .removeList, .housekeeping, .rules:
            preconditionFailure("an entry that names no break is decided elsewhere")
        }
    }

    /// The result of a legal step.
    enum Step {
        /// It was so already.
        case nothing
        /// It changed, and no listener has to know.
        case silently
        /// It changed, and the listeners are told.
        case notify(Notice.Kind)
    }

    func change(
        _ key: BreakKey,
        asked entry: BreakEntry,
        epoch: UInt64,
        _ step: (StreamBoard, inout Break) throws(Refusal) -> Step
    ) -> EntryResult {
        guard var each = self.known(key.id) else { return .refused(.noSuchBreak(key)) }
        do throws(Refusal) {
            let step = try step(self, &each)
            guard case .nothing = step else {
                each.record.revision += 1
                // A timer tells of what was asked before.
                if !entry.kind.isTimers { each.record.trace = entry.trace }
                guard case .notify(let kind) = step else {
                    each.letGoOfTrace()
                    return .changed(each, nil)
                }
                let notice = self.announce(kind, of: &each, epoch: epoch, at: entry.at)
                each.letGoOfTrace()
                return .changed(each, notice)
            }
            return .unchanged(each)
        } catch {
            return .refused(error)
        }
    }

    private func publish(
        _ publish: BreakEntry.Publish,
        asked entry: BreakEntry,
        number: BreakNumber,
        epoch: UInt64,
        room: Int
    ) -> EntryResult {
        let now = entry.at
        let id = publish.request.key.id
        if let existing = self.known(id) {
            guard let field = existing.differs(from: publish.request) else { return .unchanged(existing) }
            return .refused(
                Refusal(
                    .conflict,
                    "The break \(id) of the stream \(self.stream) exists already with another \(field)."
                )
            )
        }
        if let opened = self.signalledBreak(of: publish, at: now) {
            return self.change(opened.key, asked: entry, epoch: epoch) { (stream, each) throws(Refusal) in
                try stream.join(publish, to: &each, asked: entry, room: room)
            }
        }
        var record = BreakRecord(
            number: number,
            published: now,
            broadcaster: entry.broadcaster,
            publish: publish
        )
        record.trace = entry.trace
        return self.open(record, at: now, epoch: epoch, room: room)
    }

    /// A break that was not there before.
    func open(_ record: BreakRecord, at now: Timestamp, epoch: UInt64, room: Int) -> EntryResult {
        guard self.openBreakCount(at: now) < BoardLimits.openBreaksPerStreamMax else {
            return .refused(
                Refusal(
                    .limitReached,
                    "The limit openBreaksPerStreamMax is \(BoardLimits.openBreaksPerStreamMax) and is reached."
                )
            )
        }
        var each = Break(record)
        if let refusal = self.overlap(of: each) { return .refused(refusal) }
        guard each.bytes <= room else { return .refused(.boardFull()) }
        guard record.publish.announce <= now else { return .changed(each, nil) }
        each.record.phase = .announced
        let notice = self.announce(.available, of: &each, epoch: epoch, at: now)
        each.letGoOfTrace()
        return .changed(each, notice)
    }

    func overlap(of each: Break) -> Refusal? {
        guard let interval = each.interval, let other = self.overlapping(interval, except: each.key.id) else {
            return nil
        }
        return Refusal(
            .breakOverlap,
            "The break \(other.key.id) holds part of that time: from \(other.interval.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "its start")."
        )
    }

    private func punch(
        _ each: inout Break,
        _ punch: BroadcastRequest.Punch,
        start: Timestamp,
        at now: Timestamp
    ) throws(Refusal) -> Step {
        let said = punch.asSaid
        if let punchedAs = each.record.punchedAs, punchedAs == said, !each.isOver(at: now) { return .nothing }
        guard each.waitsForPunch else {
            throw Refusal(
                .wrongState,
                "The break \(each.key.id) is \(each.state(at: now).name): only a cued break is punched."
            )
        }
        if let holdUntil = each.record.publish.holdUntil, holdUntil <= now {
            throw Refusal(.wrongState, "The break \(each.key.id) was held until \(holdUntil), which is over.")
        }
        each.record.start = start
        each.record.punchedAs = said
        if let refusal = self.overlap(of: each) { throw refusal }
        return .notify(.updated)
    }

    private func update(
        _ each: inout Break,
        _ update: BreakEntry.Update,
        at now: Timestamp,
        room: Int
    ) throws(Refusal) -> Step {
        let id = each.key.id
        let (before, bytesBefore) = (each.record, each.bytes)
        guard !each.isOver(at: now) else {
            throw Refusal(.wrongState, "The break \(id) is \(each.state(at: now).name): it cannot change any more.")
        }
        let started = each.state(at: now) == .live
        let advertisements = update.request.advertisements ?? before.advertisements
        let variants = update.request.variants ?? before.variants
        if advertisements != before.advertisements || variants != before.variants {
            guard each.record.phase == .scheduled else {
                throw Refusal(.wrongState, "The break \(id) is announced: its advertisements cannot change any more.")
            }
            each.setAdvertisements(advertisements, variants)
            guard each.bytes - bytesBefore <= max(0, room) else { throw .boardFull() }
        }
        if let start = update.start, start != before.start {
            guard !each.preStream else {
                throw Refusal(.invalid, "The break \(id) is pre-stream: it has no start.")
            }
            guard !each.waitsForPunch else {
                throw Refusal(.wrongState, "The break \(id) is cued: punch it to give it a start.")
            }
            guard !started else {
                throw Refusal(.wrongState, "The break \(id) has started: its start cannot change any more.")
            }
            each.move(to: start, announce: update.announce, window: update.window, at: now)
        }
        if let duration = update.request.duration {
            each.record.duration = duration
            // A new duration stands for an end that was set for later.
            each.record.ended = nil
        }
        guard each.record != before else { return .nothing }
        return try self.moved(&each, at: now)
    }

    /// The effect of another start or length of a break.
    func moved(_ each: inout Break, at now: Timestamp) throws(Refusal) -> Step {
        if let end = each.end, end <= now {
            throw Refusal(.wrongState, "With that the break \(each.key.id) would be over already: end or cancel it.")
        }
        if let refusal = self.overlap(of: each) { throw refusal }
        guard each.record.phase == .scheduled else { return .notify(.updated) }
        guard each.record.announce <= now else { return .silently }
        each.record.phase = .announced
        return .notify(.available)
    }

    private func postpone(
        _ each: inout Break,
        _ postpone: BreakEntry.Postpone,
        at now: Timestamp
    ) throws(Refusal) -> Step {
        let (id, start) = (each.key.id, postpone.start)
        guard !each.isOver(at: now) else {
            throw Refusal(.wrongState, "The break \(id) is \(each.state(at: now).name): it cannot change any more.")
        }
        guard !each.preStream else { throw Refusal(.invalid, "The break \(id) is pre-stream: it has no start.") }
        guard let before = each.record.start else {
            throw Refusal(.wrongState, "The break \(id) is cued: punch it to give it a start.")
        }
        if before == start, postpone.request.from != nil { return .nothing }
        guard each.state(at: now) != .live else {
            throw Refusal(.wrongState, "The break \(id) has started: its start cannot change any more.")
        }
        guard before == postpone.from else {
            throw Refusal(.conflict, "The break \(id) starts at \(before), and not at \(postpone.from).")
        }
        each.move(to: start, announce: postpone.announce, window: postpone.window, at: now)
        return try self.moved(&each, at: now)
    }

    private static func end(
        _ each: inout Break,
        _ end: BroadcastRequest.End,
        at now: Timestamp
    ) throws(Refusal) -> Step {
        let id = each.key.id
        let at = end.at ?? max(now, each.record.published)
        let endMode = end.endMode ?? each.record.endMode
        guard each.record.closed == nil, each.record.phase == .announced else {
            throw Refusal(.wrongState, "The break \(id) is \(each.state(at: now).name): it cannot be ended.")
        }
        if let ended = each.record.ended, ended <= now {
            // Asked again, or once more while it ends: it is over, as was wanted.
            return .nothing
        }
        guard let planned = each.end else {
            throw Refusal(.wrongState, "The break \(id) has not started: cancel it instead.")
        }
        if let start = each.record.start, at < start + Break.shortest {
            throw Refusal(.wrongState, "The break \(id) starts at \(start): cancel it instead.")
        }
        guard at >= each.record.published else {
            throw Refusal(.invalid, "The break \(id) was published at \(each.record.published): it cannot end before.")
        }
        guard now < planned else { throw Refusal(.wrongState, "The break \(id) is over already.") }
        guard at <= planned else {
            throw Refusal(
                .invalid,
                "The break \(id) ends at \(planned) as it is: update its duration to make it longer."
            )
        }
        if each.record.ended == at, each.record.endMode == endMode { return .nothing }
        each.record.ended = at
        each.record.endMode = endMode
        return .notify(.ended)
    }

    static func cancel(_ each: inout Break, at now: Timestamp) throws(Refusal) -> Step {
        switch each.state(at: now) {
        case .cancelled: return .nothing
        case .complete, .expired:
            throw Refusal(.wrongState, "The break \(each.key.id) is over already.")
        case .scheduled, .cued, .announced, .live:
            let known = each.record.phase == .announced
            each.record.phase = .cancelled
            each.record.closed = now
            return known ? .notify(.cancelled) : .silently
        }
    }

    // A timer's record was planned on the board as it was. Where a change came first, the break is looked at again.

    private static func announce(_ each: inout Break, window: RequestWindow, at now: Timestamp) -> Step {
        guard each.record.phase == .scheduled, each.record.announce <= now else { return .nothing }
        if let end = each.end, end <= now { return Self.expire(&each, at: now) }
        each.record.phase = .announced
        each.record.window = window
        if let start = each.record.start, window.from < start, start < window.by {
            each.record.window = RequestWindow(from: window.from, by: start)
        }
        return .notify(.available)
    }

    private static func expire(_ each: inout Break, at now: Timestamp) -> Step {
        if each.record.phase == .scheduled {
            if let end = each.end, now < end { return .nothing }
            each.record.phase = .expired
            each.record.closed = now
            return .silently
        }
        guard each.waitsForPunch, let holdUntil = each.record.publish.holdUntil, holdUntil <= now else {
            return .nothing
        }
        each.record.phase = .expired
        each.record.closed = now
        return .notify(.cancelled)
    }
}

extension Board {
    /// Why a request must not change a break that is there: it expects another revision; `nil`: it does not.
    func revisionConflict(of key: BreakKey, expected: UInt64?) -> Refusal? {
        expected.flatMap { self.known(key)?.revisionConflict(expected: $0) }
    }
}

extension Break {
    /// Why a request must not change it: the break is not in the state that the caller expects; `nil`: it is.
    fileprivate func revisionConflict(expected: UInt64) -> Refusal? {
        guard self.record.revision != expected, expected != ExpectedRevision.any else { return nil }
        let what = expected == ExpectedRevision.absent ? "none is expected to be there" : "\(expected) is expected"
        return Refusal(
            .revisionConflict,
            "The break \(self.key.id) has revision \(self.record.revision), and \(what)."
        )
    }
}

extension BroadcastRequest.Punch {
    /// The start by which a repeat is known; a punch that names none is not told from one "at once".
    var asSaid: BreakStart { self.start ?? .after(.zero) }
}

extension BreakEntry.Kind {
    /// Whether a timer decided it, without a request.
    fileprivate var isTimers: Bool {
        switch self {
        case .announce, .expire, .housekeeping, .rules: true
        case .publish, .punch, .update, .end, .cancel, .postpone, .signal, .putList, .removeList: false
        }
    }
}

extension Break {
    /// Keeps the trace of the newest request about it only while a timer will tell listeners something because of that.
    fileprivate mutating func letGoOfTrace() {
        if self.record.trace != nil, self.timer == nil { self.record.trace = nil }
    }

    /// The shortest that a break lasts: one millisecond, as the wire has it.
    static let shortest: Duration = .milliseconds(1)

    /// Gives it another start.
    ///
    /// An end that was set for the start before stands only where it leaves something of the break and makes it no longer
    /// than it may last.
    mutating func move(
        to start: Timestamp,
        announce: Timestamp?,
        window: RequestWindow?,
        at now: Timestamp
    ) {
        let ahead = self.record.start.map { $0 - self.record.announce } ?? .zero
        self.record.start = start
        if self.record.phase == .scheduled {
            // Who took it for the start that it had already did not work it out: it goes along.
            self.record.announce = announce ?? max(now, start - ahead)
        }
        self.record.window = window ?? self.record.window
        guard let ended = self.record.ended else { return }
        let planned = start + (self.record.duration ?? self.record.publish.safetyDuration)
        if ended < start + Self.shortest || ended >= planned { self.record.ended = nil }
    }

    /// The first field in which a request to publish differs from the one that published this break; `nil`: it is the
    /// same break.
    ///
    /// Both are compared as they were sent: a start "in 10 s" is the same start when it is sent again.
    fileprivate func differs(from request: BroadcastRequest.Publish) -> String? {
        let own = self.record.publish.request
        let advertisements =
            self.record.condensed ? request.advertisements.map(\.condensed) : request.advertisements
        if own.start != request.start { return "start" }
        if own.duration != request.duration { return "duration" }
        if own.preStream != request.preStream { return "pre_stream" }
        if own.exact != request.exact { return "exact" }
        if own.endMode != request.endMode { return "end_mode" }
        if own.hold != request.hold { return "hold" }
        if own.advertisements.map(\.id) != advertisements.map(\.id) { return "list of advertisements" }
        for (mine, theirs) in zip(own.advertisements, advertisements) where mine != theirs {
            return "content of advertisement \(mine.id)"
        }
        let variants = self.record.condensed ? request.variants.map(\.condensed) : request.variants
        if own.variants.map(\.name) != variants.map(\.name) { return "list of variants" }
        for (mine, theirs) in zip(own.variants, variants) where mine != theirs { return "variant \(mine.name)" }
        return nil
    }
}

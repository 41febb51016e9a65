// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HashTreeCollections

// What a signal means. The board decides it, so that every gateway that reads the log comes to the same breaks, whatever announces
// them and in whatever order.
//
//   OUT     of an event that a break knows: its claim is as the signal says now
//           close to the start of a break: one more claim on that break (a publication close to it: Joining.swift)
//           else: a new break, filled from the list of the cue policy
//   IN      ends the break of its event
//   CANCEL  takes the claim of its event back; with the last one goes the break, unless a broadcaster published it

/// The bounds of signals; the same at every gateway that reads one log.
package enum SignalLimits {
    /// How long after the end of a break a signal of its event still means that break: ids are used again.
    package static let eventKnownFor: Duration = .seconds(600)
    /// The most breaks of one event that are looked at, the newest first.
    package static let breaksPerEventMax = 16
    /// The largest tolerance that a cue policy may have.
    package static let toleranceMax: Duration = .seconds(60)
    /// How far two moments in programme time lie apart at most that mean the same of one event: watchers measure them.
    package static let measuredDifferenceMax: Duration = .milliseconds(100)
    /// How much further than the tolerance the start of a break may lie from a claim on it, where only the gateway's clock moved it: a
    /// start that is late counts as now.
    fileprivate static let lateStartMax: Duration = .seconds(10)
    /// How many names are tried for a break that a signal opens.
    private static let namesMax = 16

    /// The names that a break with a number may get where a signal opens it, the first free one first.
    fileprivate static func names(of number: BreakNumber) -> some Sequence<BreakID> {
        (1...Self.namesMax).lazy
            .compactMap { try? BreakID("cue-\(number.rawValue)" + ($0 == 1 ? "" : "-\($0)")) }
    }
}

extension BreakEntry {
    /// Whether this entry, whose break has a number, can have opened the break with a key.
    ///
    /// - Parameters:
    ///   - key: the break's stream and id.
    ///   - number: the number that the place of the entry gives its break.
    /// - Returns: `false` where the key belongs to another break.
    package func canHaveOpened(_ key: BreakKey, number: BreakNumber) -> Bool {
        switch self.kind {
        case .publish(let publish): publish.request.key == key
        case .signal(let signal):
            signal.request.kind == .out && signal.request.stream == key.stream
                && SignalLimits.names(of: number).contains(key.id)
        default: false
        }
    }
}

extension StreamBoard {
    /// The facts about the board that decide about a signal.
    struct SignalFacts {
        /// Of the break that it opens, if it does.
        let number: BreakNumber
        /// Of the event log.
        let epoch: UInt64
        /// How many bytes the board has left.
        let room: Int
        /// Whether a name belonged to a break that is no longer kept.
        let isReserved: (BreakID) -> Bool
    }

    /// Decides about a signal; nothing changes.
    ///
    /// - Parameters:
    ///   - signal: as the planner resolved it.
    ///   - entry: its entry.
    ///   - facts: about the board.
    /// - Returns: the result of applying it.
    func decide(_ signal: BreakEntry.Signal, asked entry: BreakEntry, _ facts: SignalFacts) -> EntryResult {
        let known = self.signalled(signal.request, saying: signal.at, within: signal.rule.tolerance, at: entry.at)
        switch signal.request.kind {
        case .out:
            if let known, let claim = known.record.signals?[signal.request.name],
                signal.isAbout(known, at: entry.at)
            {
                if known.isOver(at: entry.at) { return .unchanged(known) }
                return self.claim(signal.repeated(claim), on: known, signal, asked: entry, epoch: facts.epoch)
            }
            return self.out(signal, asked: entry, facts)
        case .in:
            guard let known, let claim = known.record.signals?[signal.request.name] else {
                return .refused(.noSuchEvent(signal.request))
            }
            if known.isOver(at: entry.at) || claim.isCancelled { return .unchanged(known) }
            var ended = claim
            ended.end = signal.at
            if case .after? = signal.request.start, let end = claim.end, signal.at.gap(to: end) <= signal.rule.tolerance
            {
                // It counts from its receipt: sent again it means the same instant.
                ended.end = end
            }
            return self.claim(ended, on: known, signal, asked: entry, epoch: facts.epoch)
        case .cancel:
            guard let known, let claim = known.record.signals?[signal.request.name] else {
                return .refused(.noSuchEvent(signal.request))
            }
            if known.isOver(at: entry.at) { return .unchanged(known) }
            var cancelled = claim
            cancelled.isCancelled = true
            return self.claim(cancelled, on: known, signal, asked: entry, epoch: facts.epoch)
        }
    }

    /// An OUT of an event that no break knows.
    private func out(_ signal: BreakEntry.Signal, asked entry: BreakEntry, _ facts: SignalFacts) -> EntryResult {
        let request = signal.request
        let claim = SignalClaim(
            name: request.name,
            rank: signal.rule.rank,
            start: signal.at,
            isProgrammeTime: request.isProgrammeTime,
            duration: request.duration
        )
        if let near = self.near(signal.at, within: signal.rule.tolerance) {
            if near.isOver(at: entry.at) { return .unchanged(near) }
            // One event may have ended a break and open the next one: its claim is of the newest.
            return self.claim(claim, on: near, signal, asked: entry, epoch: facts.epoch)
        }
        let signals = BreakSignals(
            opened: true,
            defaultDuration: signal.rule.defaultDuration,
            tolerance: signal.rule.tolerance,
            claims: [claim]
        )
        let times = SignalledTimes(signals)
        guard let id = self.freeName(facts) else {
            return .refused(Refusal(.conflict, "The ids of breaks that signals open are in use on \(self.stream)."))
        }
        let start = times.start(at: entry.at) ?? signal.at
        let publish = BreakEntry.Publish(
            request: BroadcastRequest.Publish(
                key: BreakKey(stream: self.stream, id: id),
                start: .at(start),
                duration: times.duration,
                advertisements: signal.advertisements
            ),
            start: start,
            announce: signal.announce,
            window: signal.window,
            holdUntil: nil,
            safetyDuration: signal.rule.safetyDuration
        )
        var record = BreakRecord(
            number: facts.number,
            published: entry.at,
            broadcaster: entry.broadcaster,
            publish: publish
        )
        record.signals = signals
        record.trace = entry.trace
        return self.open(record, at: entry.at, epoch: facts.epoch, room: facts.room)
    }

    /// The break that starts closest to an instant, by its own start or by a claim on it; `nil`: none is close enough.
    private func near(_ start: Timestamp, within tolerance: Duration) -> Break? {
        var found: (distance: Duration, each: Break)?
        for each in self.starting(around: start, within: tolerance) {
            guard let distance = each.gap(to: start), distance <= tolerance else { continue }
            // Of two that are as close, the first counts.
            if found.map({ distance < $0.distance }) ?? true { found = (distance, each) }
        }
        return found?.each
    }

    /// The name of a break that a signal opens: from its number, so that every gateway gives the same.
    private func freeName(_ facts: SignalFacts) -> BreakID? {
        SignalLimits.names(of: facts.number).first { self.known($0) == nil && !facts.isReserved($0) }
    }

    /// Has a break keep a claim, and follow what all claims on it say together.
    private func claim(
        _ claim: SignalClaim,
        on known: Break,
        _ signal: BreakEntry.Signal,
        asked entry: BreakEntry,
        epoch: UInt64
    ) -> EntryResult {
        guard known.record.signals?[claim.name] != claim else { return .unchanged(known) }
        var signals =
            known.record.signals ?? BreakSignals(opened: false, defaultDuration: signal.rule.defaultDuration)
        guard signals[claim.name] != nil || signals.claims.count < BreakSignals.claimsPerBreakMax else {
            return .refused(
                Refusal(
                    .limitReached,
                    "The limit claimsPerBreakMax is \(BreakSignals.claimsPerBreakMax) and is reached for the break \(known.key.id)."
                )
            )
        }
        signals.put(claim)
        return self.change(known.key, asked: entry, epoch: epoch) { (stream, each) throws(Refusal) in
            try stream.follow(signals, in: &each, signal, at: entry.at)
        }
    }

    /// Follows what signals say now about a break that is not over.
    private func follow(
        _ signals: BreakSignals,
        in each: inout Break,
        _ signal: BreakEntry.Signal,
        at now: Timestamp
    ) throws(Refusal) -> Step {
        let (before, after) = (SignalledTimes(each.record.signals), SignalledTimes(signals))
        each.record.signals = signals
        if signals.opened, after.start == nil { return try Self.withdraw(&each, at: now) }
        // A broadcaster that said how long its break lasts, and when it starts, is followed and not a signal.
        if !signals.opened, each.record.publish.request.duration != nil { return .silently }
        let (start, duration, ended) = (each.record.start, each.record.duration, each.record.ended)
        // Only what a signal says anew is followed: what a broadcaster changed meanwhile stays.
        if signals.opened, after.start != before.start, !each.wasMoved(from: before, after, signal.rule.tolerance),
            let next = after.start(at: now), next != start, each.state(at: now) != .live
        {
            let isOwn = after.start == signal.at
            each.move(
                to: next,
                announce: isOwn ? signal.announce : nil,
                window: isOwn ? signal.window : nil,
                at: now
            )
        }
        if each.record.start != start || after.duration != before.duration || after.end != before.end {
            try each.last(after)
        }
        guard each.record.start != start || each.record.duration != duration || each.record.ended != ended else {
            return .silently
        }
        if let end = each.end, end <= now {
            if signal.request.kind == .cancel {
                // Without the event that is taken back it would be over already: it is over now.
                (each.record.start, each.record.duration, each.record.ended) = (start, duration, ended)
                return try Self.withdraw(&each, at: now)
            }
            if after.end == nil {
                throw Refusal(
                    .wrongState,
                    "With that the break \(each.key.id) would be over already: send IN or CANCEL."
                )
            }
        }
        if let refusal = self.overlap(of: each) { throw refusal }
        guard each.record.phase == .announced else {
            guard each.record.announce <= now else { return .silently }
            each.record.phase = .announced
            return .notify(.available)
        }
        return .notify(each.record.ended != nil && each.record.start == start ? .ended : .updated)
    }

    /// A signal was taken back without which the break would not be there any more.
    private static func withdraw(_ each: inout Break, at now: Timestamp) throws(Refusal) -> Step {
        guard each.state(at: now) == .live, let start = each.record.start else {
            return try Self.cancel(&each, at: now)
        }
        each.record.ended = max(now, start + Break.shortest)
        return .notify(.ended)
    }
}

extension Break {
    /// How far its start, or the closest one that a signal says, lies from an instant; `nil`: it has none.
    func gap(to instant: Timestamp) -> Duration? {
        var starts = self.record.signals?.claims.filter { !$0.isCancelled }.map(\.start) ?? []
        if let own = self.record.start { starts.append(own) }
        return starts.map { $0.gap(to: instant) }.min()
    }

    /// Whether a broadcaster moved it away from the start that signals said, and they say no other start now.
    fileprivate func wasMoved(from before: SignalledTimes, _ after: SignalledTimes, _ tolerance: Duration) -> Bool {
        guard let start = before.start, let own = self.record.start, let next = after.start else { return false }
        return own.gap(to: start) > tolerance + SignalLimits.lateStartMax && next.gap(to: start) <= tolerance
    }

    /// Has it last as long as signals say.
    mutating func last(_ times: SignalledTimes) throws(Refusal) {
        guard let start = self.record.start else { return }
        self.record.duration = times.duration
        self.record.ended = nil
        guard let end = times.end else { return }
        guard end >= start + Self.shortest else {
            throw Refusal(.wrongState, "The break \(self.key.id) starts at \(start): take it back with CANCEL instead.")
        }
        if end <= start + (times.duration ?? self.record.publish.safetyDuration) {
            self.record.ended = end
        } else {
            let longest = Duration.milliseconds(Int64(WireLimits.breakDurationMillisecondsMax))
            self.record.duration = min((end - start).cutToMilliseconds, longest)
        }
    }
}

extension BreakEntry.Signal {
    /// Whether an OUT of an event means the break that knows the event, and not the next one.
    func isAbout(_ each: Break, at now: Timestamp) -> Bool {
        guard let claim = each.record.signals?[self.request.name] else { return false }
        if self.at.gap(to: claim.start) <= self.rule.tolerance { return true }
        if each.isOver(at: now) { return false }
        // A start that no signal says means the break that runs.
        guard self.saysStart, each.state(at: now) == .live, let end = each.end else { return true }
        return self.at < end
    }

    /// A claim as it is after this OUT.
    fileprivate func repeated(_ claim: SignalClaim) -> SignalClaim {
        var next = claim
        if self.saysStart, self.at != claim.start {
            var isSame = false
            // It counts from its receipt: sent again it means the same instant.
            if case .after? = self.request.start { isSame = self.at.gap(to: claim.start) <= self.rule.tolerance }
            if !isSame {
                next.start = self.at
                next.isProgrammeTime = self.request.isProgrammeTime
                // An IN that was told ahead was about the start from before.
                if let end = next.end, end < next.start + Break.shortest { next.end = nil }
            }
        }
        next.duration = self.request.duration ?? claim.duration
        // The same once more, from another watcher for instance, does not bring back what was taken back.
        if next != claim { next.isCancelled = false }
        return next
    }

    private var saysStart: Bool {
        switch self.request.start {
        case nil, .now: false
        case .at, .after: true
        }
    }
}

extension Refusal {
    /// No break knows the event of a signal that ends one or takes one back.
    static func noSuchEvent(_ signal: BroadcastRequest.Signal) -> Refusal {
        Refusal(
            .notFound,
            "There is no break of the event \(signal.name) on the stream \(signal.stream): no OUT came before this \(signal.kind.name)."
        )
    }
}

extension Timestamp {
    /// How far it is from another instant, before or after it.
    func gap(to other: Timestamp) -> Duration { self < other ? other - self : self - other }
}

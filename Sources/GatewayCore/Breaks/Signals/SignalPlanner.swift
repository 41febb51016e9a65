// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

// What the gateway's clock, the cue policy and the ad lists say about a signal.
extension BroadcastPlanner {
    func entry(
        for signal: BroadcastRequest.Signal,
        on board: Board,
        at now: Timestamp,
        listeners: Int
    ) throws(Refusal) -> BreakEntry.Signal {
        guard let rule = self.cues.rule(for: signal.stream) else {
            throw Refusal(
                .notFound,
                "No cue policy is configured for the stream \(signal.stream): the gateway does not know what to make of its signals (breaks.cues)."
            )
        }
        let instant = try self.instant(of: signal, rule, on: board, at: now)
        let announce = max(now, instant - self.policy.announceAhead)
        var advertisements: [AdvertisementContent] = []
        if signal.kind == .out {
            guard let list = board.lists[rule.list] else {
                throw Refusal(
                    .notFound,
                    "The cue policy of the stream \(signal.stream) names the ad list \(rule.list), and there is none: put it first."
                )
            }
            advertisements = list.advertisements
        }
        return BreakEntry.Signal(
            request: signal,
            at: instant,
            announce: announce,
            window: self.policy.window(opens: announce, start: instant, listeners: listeners),
            // In the form that the log keeps: every reader of it must come to the same result.
            rule: SignalRule(
                rank: UInt32(clamping: rule.rank(of: signal.name.source)),
                tolerance: rule.tolerance.cutToMilliseconds,
                defaultDuration: rule.defaultDuration?.cutToMilliseconds,
                safetyDuration: rule.safetyDuration.cutToMilliseconds
            ),
            advertisements: advertisements
        )
    }

    /// When a signal says that it is so, by the gateway's clock.
    private func instant(
        of signal: BroadcastRequest.Signal,
        _ rule: CuePolicy.Rule,
        on board: Board,
        at now: Timestamp
    ) throws(Refusal) -> Timestamp {
        let instant: Timestamp
        switch signal.start {
        case nil, .now: return now
        case .after(let lead): instant = now + lead
        case .at(let said):
            instant = said
            // Markers stay in a playlist for minutes: what is known already is no news, however late it comes.
            guard !Self.isKnown(signal, said, rule, on: board, at: now) else { return said }
            let lateMax = signal.isProgrammeTime ? rule.programmeLateMax : self.policy.startLateMax
            guard said >= now - lateMax else {
                throw Refusal(
                    .startInPast,
                    "The \(signal.kind.name) at \(said) is over: it is \(now), and at most \(lateMax.inSecondsText) is taken."
                )
            }
        }
        let lead = instant - now
        guard lead <= self.policy.startAheadMax else {
            throw Refusal(
                .tooFarAhead,
                "The \(signal.kind.name) is \(lead.inSecondsText) ahead; the limit startAheadMax is \(self.policy.startAheadMax.inSecondsText)."
            )
        }
        return instant
    }

    private static func isKnown(
        _ signal: BroadcastRequest.Signal,
        _ said: Timestamp,
        _ rule: CuePolicy.Rule,
        on board: Board,
        at now: Timestamp
    ) -> Bool {
        guard
            let known = board.stream(signal.stream)?
                .signalled(signal, saying: said, within: rule.tolerance, at: now),
            let claim = known.record.signals?[signal.name]
        else { return false }
        if signal.kind == .in { return claim.end == said || known.isOver(at: now) }
        return claim.start.gap(to: said) <= rule.tolerance
    }

    /// Why a list must not be removed: the cue policy names it; `nil`: it does not.
    func use(of list: AdListName) -> Refusal? {
        let streams = self.cues.streams(of: list)
        guard !streams.isEmpty else { return nil }
        let names = streams.map(\.description).joined(separator: ", ")
        return Refusal(.wrongState, "The ad list \(list) is in use: the cue policy names it for \(names).")
    }
}

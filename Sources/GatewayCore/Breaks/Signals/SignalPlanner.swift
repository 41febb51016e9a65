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
        let policy = self.cues.rule(for: signal.stream)
        guard policy != nil || signal.kind != .out else { throw Self.noRule(for: signal.stream) }
        let rule = SignalRule(policy, for: signal.name.source)
        let (known, instant) = try self.instant(of: signal, rule, policy, on: board, at: now)
        // A policy that is loaded while a break runs takes neither its end nor its ads.
        guard policy != nil || known != nil else { throw Self.noRule(for: signal.stream) }
        let announce = max(now, instant - self.policy.announceAhead)
        var entry = BreakEntry.Signal(
            request: signal,
            at: instant,
            announce: announce,
            window: self.policy.window(opens: announce, start: instant, listeners: listeners),
            rule: rule
        )
        guard signal.kind == .out, let name = policy?.list else { return entry }
        if let list = board.lists[name] {
            entry.advertisements = list.advertisements
        } else if let known, !known.isOver(at: now), entry.isAbout(known, at: now) {
            entry.advertisements = known.record.advertisements
        } else {
            throw Refusal(
                .notFound,
                "The cue policy of the stream \(signal.stream) names the ad list \(name), and there is none: put it first."
            )
        }
        return entry
    }

    private static func noRule(for stream: StreamID) -> Refusal {
        Refusal(
            .notFound,
            "No cue policy is configured for the stream \(stream): the gateway does not know what to make of its signals (breaks.cues)."
        )
    }

    /// When a signal says that it is so, by the gateway's clock, and the break that it is about as the board has it.
    private func instant(
        of signal: BroadcastRequest.Signal,
        _ rule: SignalRule,
        _ policy: CuePolicy.Rule?,
        on board: Board,
        at now: Timestamp
    ) throws(Refusal) -> (known: Break?, instant: Timestamp) {
        func known(_ instant: Timestamp) -> Break? {
            board.stream(signal.stream)?.signalled(signal, saying: instant, within: rule.tolerance, at: now)
        }
        let instant: Timestamp
        switch signal.start {
        case nil, .now: return (known(now), now)
        case .after(let lead): instant = now + lead
        case .at(let said):
            let known = known(said)
            instant = Self.settled(said, of: signal, about: known)
            // Markers stay in a playlist for minutes: what is known already is no news, however late it comes.
            if let known, Self.hasSaid(signal, instant, rule, of: known, at: now) { return (known, instant) }
            let programmeLateMax = policy?.programmeLateMax ?? CuePolicy.Rule.programmeLateMaxDefault
            let lateMax = signal.isProgrammeTime ? programmeLateMax : self.policy.startLateMax
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
        return (known(instant), instant)
    }

    /// The instant that a signal means: what its event said before, where it differs by less than watchers' measurements do.
    ///
    /// Two watchers of one source map its clock to their own ones, which differ by milliseconds. Without this each repeat would be an
    /// update, and a notice to all listeners.
    private static func settled(_ said: Timestamp, of signal: BroadcastRequest.Signal, about known: Break?) -> Timestamp
    {
        guard signal.isProgrammeTime, let claim = known?.record.signals?[signal.name],
            let before = signal.kind == .in ? claim.end : claim.start,
            before.gap(to: said) <= SignalLimits.measuredDifferenceMax
        else { return said }
        return before
    }

    private static func hasSaid(
        _ signal: BroadcastRequest.Signal,
        _ said: Timestamp,
        _ rule: SignalRule,
        of known: Break,
        at now: Timestamp
    ) -> Bool {
        guard let claim = known.record.signals?[signal.name] else { return false }
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

extension SignalRule {
    /// The values of a rule in the form that the log keeps: every reader of it must come to the same result.
    fileprivate init(_ rule: CuePolicy.Rule?, for source: SignalSource) {
        self.init(
            rank: UInt32(clamping: rule?.rank(of: source) ?? 0),
            tolerance: (rule?.tolerance ?? CuePolicy.Rule.toleranceDefault).cutToMilliseconds,
            defaultDuration: rule?.defaultDuration?.cutToMilliseconds,
            safetyDuration: (rule?.safetyDuration ?? CuePolicy.Rule.safetyDurationDefault).cutToMilliseconds
        )
    }
}

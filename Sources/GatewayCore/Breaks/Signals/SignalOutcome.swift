// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The result of a signal, in a word and a sentence, for the audit, the list of signals and metrics.
///
/// It only describes the decision of the board: the board has made it by then.
package struct SignalOutcome: Hashable, Sendable {
    /// The effect of a signal.
    package enum Effect: String, CaseIterable, Sendable {
        /// It opened a break.
        case opened
        /// A break that was there follows it.
        case followed
        /// It ended a break, or said another end.
        case ended
        /// It took its event back.
        case takenBack
        /// The break has all that it says.
        case repeated
        /// Its break is over.
        case over
        /// Its event was taken back before.
        case goneBefore
        case refused
    }

    /// A signal whose other half is missing, or that came when it was not expected.
    package enum Oddity: String, CaseIterable, Sendable {
        /// An OUT of which no IN came: the break lasted until its safety limit.
        case outWithoutIn
        /// An IN before which no OUT came.
        case inWithoutOut
        /// Another OUT while the break of the event runs, at another time than its start, or at a time that another break has.
        case secondOut
    }

    package let effect: Effect
    /// `nil`: nothing was odd.
    package let oddity: Oddity?
    /// Why it changed nothing, or was refused; empty where it changed something.
    package let reason: String
    /// Why it was refused; `nil`: it was not.
    package let status: StatusCode?
    /// How long after the instant that it says it came, if it changed something; `nil`: it says none, or repeats what is known.
    package let lateness: Duration?

    /// The result of a signal that was refused.
    ///
    /// - Parameters:
    ///   - refusal: the reason.
    ///   - signal: the signal.
    package init(_ refusal: Refusal, of signal: BroadcastRequest.Signal) {
        self.effect = .refused
        switch signal.kind {
        case .in where refusal == .noSuchEvent(signal): self.oddity = .inWithoutOut
        case .out where refusal.status == .breakOverlap: self.oddity = .secondOut
        default: self.oddity = nil
        }
        self.reason = refusal.sentence
        self.status = refusal.status
        self.lateness = nil
    }

    /// The result of a signal that was taken.
    ///
    /// - Parameters:
    ///   - signal: the signal.
    ///   - info: the break that it is about, as it is now.
    ///   - changed: whether something has changed.
    ///   - received: when the signal came.
    ///   - tolerance: instants that are this close to each other are the same, by the cue policy.
    package init(
        _ signal: BroadcastRequest.Signal,
        on info: BreakInfo,
        changed: Bool,
        received: Timestamp,
        tolerance: Duration
    ) {
        let claim = info.signals.first { $0.name == signal.name }
        self.status = nil
        let isSecond = signal.isSecondOut(of: claim, on: info, received: received, tolerance: tolerance)
        self.oddity = isSecond ? .secondOut : nil
        guard changed else {
            (self.effect, self.reason) = Self.unchanged(info, claim)
            self.lateness = nil
            return
        }
        switch signal.kind {
        // A break begins with the first revision, and each further change adds one.
        case .out: self.effect = info.revision <= 1 ? .opened : .followed
        case .in: self.effect = .ended
        case .cancel: self.effect = .takenBack
        }
        self.reason = ""
        if case .at(let said)? = signal.start {
            self.lateness = max(.zero, received - said)
        } else {
            self.lateness = nil
        }
    }

    private static func unchanged(_ info: BreakInfo, _ claim: SignalClaim?) -> (Effect, String) {
        if claim?.isCancelled == true { return (.goneBefore, "Nothing changed: the event was taken back before.") }
        switch info.state {
        case .complete, .cancelled, .expired:
            return (.over, "Nothing changed: the break \(info.key.id) is over.")
        case .scheduled, .cued, .announced, .live:
            return (.repeated, "Nothing changed: the break \(info.key.id) has all that it says.")
        }
    }
}

extension SignalOutcome.Effect {
    /// The result that metrics and audit have for it.
    package var outcome: AuditRecord.Outcome {
        switch self {
        case .opened, .followed, .ended, .takenBack: .changed
        case .repeated, .over, .goneBefore: .unchanged
        case .refused: .refused
        }
    }
}

extension SignalOutcome.Oddity {
    /// Whether no IN came for a break that signals opened without a length, so that it lasted until its safety limit.
    ///
    /// - Parameter each: a break that is over.
    /// - Returns: whether it is so; `false` of a break that a broadcaster published.
    package static func isOutWithoutIn(_ each: Break) -> Bool {
        guard let signals = each.record.signals, signals.opened, each.record.closed == nil else { return false }
        return each.record.ended == nil && each.record.duration == nil
    }
}

extension BroadcastRequest.Signal {
    /// Whether it is an OUT of an event whose break runs already, at another time than the break's start.
    fileprivate func isSecondOut(
        of claim: SignalClaim?,
        on info: BreakInfo,
        received: Timestamp,
        tolerance: Duration
    ) -> Bool {
        // With an end it was the second of a pair that is complete.
        guard self.kind == .out, let claim, claim.end == nil, info.state == .live, let start = info.start else {
            return false
        }
        let said: Timestamp
        switch self.start {
        case nil, .now: said = received
        case .after(let lead): said = received + lead
        case .at(let instant): said = instant
        }
        // The start of the break, and not of the event: the event may say by now what this OUT says.
        return said.gap(to: start) > tolerance
    }
}

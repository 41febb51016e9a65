// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A signal, or something that a watcher saw and did not send, with what became of it.
package struct SeenSignal: Hashable, Sendable {
    /// The result, in a word.
    package enum Result: String, CaseIterable, Sendable {
        case changed
        case unchanged
        case refused
        /// A watcher found that it means nothing for breaks.
        case ignored
        /// A watcher could not use it, or could not bring it to the gateway.
        case unusable

        package init(_ outcome: AuditRecord.Outcome) {
            switch outcome {
            case .changed: self = .changed
            case .unchanged: self = .unchanged
            case .refused, .missing: self = .refused
            }
        }

        package var metricLabel: MetricLabel {
            switch self {
            case .changed: .changed
            case .unchanged: .unchanged
            case .refused: .refused
            case .ignored: .ignored
            case .unusable: .unusable
            }
        }
    }

    /// The most bytes of a signal as its source wrote it that are kept: a cue is shorter.
    package static let rawBytesMax = 512
    /// The most bytes of each sentence.
    package static let sentenceBytesMax = 256

    /// The members that tell two signals apart; the same once more is counted, and takes no further place.
    struct Identity: Hashable {
        let source: SignalSource
        let event: SignalEventID?
        let kind: SignalKind?
        let effect: SignalOutcome.Effect?
        let result: Result
        let text: String
        let breakID: BreakID?
        let start: BreakStart?
        let duration: Duration?
    }

    package let source: SignalSource
    /// `nil`: it has none, because a watcher did not make a signal of it.
    package var event: SignalEventID?
    package var kind: SignalKind?
    /// When it is so, as it was said; `nil`: when the gateway received it.
    package var start: BreakStart?
    package var isProgrammeTime = false
    package var duration: Duration?
    /// As its source wrote it.
    package private(set) var raw: [UInt8]
    /// How many bytes the source wrote.
    package let rawBytes: Int
    /// A sentence of the watcher about it; empty: a signal came without one.
    package private(set) var text: String
    package let result: Result
    /// `nil`: the gateway did not decide about it.
    package var effect: SignalOutcome.Effect?
    /// The code of the refusal; empty: it was not refused.
    package let code: String
    /// Why it changed nothing; empty: it changed something.
    package let reason: String
    /// The break that it is about; `nil`: none.
    package var breakID: BreakID?
    /// When it was seen first, and last.
    package let first: Timestamp
    package internal(set) var last: Timestamp
    /// How often it was seen.
    package internal(set) var times = 1

    /// A signal that the gateway was sent.
    ///
    /// - Parameters:
    ///   - signal: the signal.
    ///   - outcome: the result.
    ///   - breakID: the break that it is about; `nil`: none.
    ///   - now: when it was answered.
    package init(
        _ signal: BroadcastRequest.Signal,
        _ outcome: SignalOutcome,
        about breakID: BreakID?,
        at now: Timestamp
    ) {
        self.source = signal.name.source
        self.event = signal.name.event
        self.kind = signal.kind
        self.start = signal.start
        self.isProgrammeTime = signal.isProgrammeTime
        self.duration = signal.duration
        self.raw = Array(signal.raw.prefix(Self.rawBytesMax))
        self.rawBytes = signal.raw.count
        self.text = ""
        self.result = Result(outcome.effect.outcome)
        self.effect = outcome.effect
        self.code = outcome.status?.name ?? ""
        self.reason = AuditLimits.cut(outcome.reason, Self.sentenceBytesMax)
        self.breakID = breakID
        (self.first, self.last) = (now, now)
    }

    /// Something that a watcher saw and made no signal of.
    ///
    /// - Parameters:
    ///   - cue: as the watcher reports it.
    ///   - source: the source.
    ///   - now: when the report came.
    package init(_ cue: BroadcastRequest.WatchReport.Cue, of source: SignalSource, at now: Timestamp) {
        self.source = source
        self.raw = []
        self.rawBytes = 0
        self.text = AuditLimits.cut(cue.seen, Self.sentenceBytesMax)
        self.result = cue.isUnusable ? .unusable : .ignored
        self.code = ""
        self.reason = AuditLimits.cut(cue.reason, Self.sentenceBytesMax)
        (self.first, self.last) = (now, now)
        self.times = Int(cue.times)
    }

    /// Whether the gateway decided about it; otherwise a watcher did.
    var isDecided: Bool { self.effect != nil }

    /// Takes the newest of what is the same.
    mutating func add(_ newer: SeenSignal) {
        self.times += newer.times
        self.last = max(self.last, newer.last)
        self.text = newer.text
    }

    var identity: Identity {
        Identity(
            source: self.source,
            event: self.event,
            kind: self.kind,
            effect: self.effect,
            result: self.result,
            // What a watcher saw has lines and times in it: the reason is what makes it another thing.
            text: self.effect == nil || self.effect == .refused ? self.reason : self.text,
            breakID: self.breakID,
            start: self.start,
            duration: self.duration
        )
    }
}

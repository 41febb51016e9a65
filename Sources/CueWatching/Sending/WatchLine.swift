// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastBroadcast
internal import CuecastWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The line about one thing that a watcher saw, for people and for programs.
package struct WatchLine: Encodable, Hashable, Sendable {
    /// The result for something that was seen.
    package enum Result: String, Encodable, Hashable, Sendable, CaseIterable {
        /// The gateway took the signal.
        case sent
        /// It would be sent, and this watcher sends nothing.
        case notSent
        /// It means nothing for breaks.
        case ignored
        /// The watcher cannot use it.
        case refused
        /// The gateway refused the signal.
        case refusedByGateway
        /// The gateway could not be reached, or was not able to, until the signal did not matter any more.
        case expired
        /// It was the oldest one in a full queue, or the watcher ended.
        case dropped
    }

    /// A signal for the gateway.
    package struct Signal: Encodable, Hashable, Sendable {
        package let kind: String
        package let eventId: String
        /// RFC 3339; absent: when the gateway receives it.
        package let start: String?
        package let durationMs: Int64?

        init(_ signal: ProgrammeSignal) {
            self.kind = signal.kind.rawValue
            self.eventId = signal.eventID
            self.start = signal.startMilliseconds.map { Timestamp.text(ofMilliseconds: $0) }
            self.durationMs = signal.duration.map { $0.inMicroseconds / 1_000 }
        }
    }

    /// The gateway's reply.
    package struct Reply: Encodable, Hashable, Sendable {
        package let breakId: String
        package let state: String
        package let revision: UInt64

        init(_ status: BreakStatus) {
            self.breakId = status.id
            self.state = status.state.rawValue
            self.revision = status.revision
        }
    }

    /// When it was seen, RFC 3339.
    package let time: String
    package let stream: String
    package let source: String
    /// A sentence about what the source said.
    package let seen: String
    package let result: Result
    /// Absent: there is none.
    package var signal: Signal?
    /// Why it was not sent, or not taken.
    package var reason: String?
    package var reply: Reply?

    init(_ observation: CueObservation, _ result: Result, atMilliseconds now: Int) {
        self.time = Timestamp.text(ofMilliseconds: now)
        self.stream = observation.stream
        self.source = observation.source
        self.seen = observation.seen
        self.result = result
        switch observation.meaning {
        case .signal(let signal): self.signal = Signal(signal)
        case .ignored(let reason): self.reason = reason
        case .refused(let refusal): self.reason = refusal.description
        }
    }

    /// The line for people.
    package var text: String {
        var text = "\(self.time) \(self.stream)/\(self.source): \(self.seen)"
        if let signal {
            text += " -> \(signal.kind) \(signal.eventId)"
            if let start = signal.start { text += " at \(start)" }
            if let duration = signal.durationMs { text += ", lasts \(Duration.milliseconds(duration).inSecondsText)" }
        }
        switch self.result {
        case .sent: text += " -> sent"
        case .notSent: text += " -> not sent"
        case .ignored: text += " -> ignored"
        case .refused: text += " -> refused"
        case .refusedByGateway: text += " -> refused by the gateway"
        case .expired: text += " -> expired"
        case .dropped: text += " -> dropped"
        }
        if let reply { text += ": \(reply.breakId) \(reply.state), revision \(reply.revision)" }
        if let reason { text += ": \(reason)" }
        return text
    }
}

/// How much a watcher saw and sent.
package struct WatchCounts: Encodable, Hashable, Sendable {
    /// Everything that was seen.
    package var seen = 0
    /// Signals that the gateway took.
    package var sent = 0
    /// Signals that a watcher which sends nothing would have sent.
    package var notSent = 0
    /// Things that mean nothing for breaks.
    package var ignored = 0
    /// Things that the watcher could not use.
    package var refused = 0
    /// Signals that the gateway refused.
    package var refusedByGateway = 0
    /// Signals that did not matter any more before the gateway took them.
    package var expired = 0
    /// Signals that left a full queue, or were in it at the end.
    package var dropped = 0
    /// Attempts after the first one of a signal.
    package var retries = 0
    /// Faults of a kind that was told before.
    package var repeatedFaults = 0

    /// Nothing yet.
    package init() {}

    mutating func count(_ result: WatchLine.Result) {
        switch result {
        case .sent: self.sent += 1
        case .notSent: self.notSent += 1
        case .ignored: self.ignored += 1
        case .refused: self.refused += 1
        case .refusedByGateway: self.refusedByGateway += 1
        case .expired: self.expired += 1
        case .dropped: self.dropped += 1
        }
    }

    /// The line for people.
    package var text: String {
        "\(self.seen) seen: \(self.sent) sent, \(self.notSent) not sent, \(self.ignored) ignored, \(self.refused) refused, "
            + "\(self.refusedByGateway) refused by the gateway, \(self.expired) expired, \(self.dropped) dropped; "
            + "\(self.retries) retries, \(self.repeatedFaults) repeated faults"
    }
}

extension ProgrammeSignal {
    /// The start in milliseconds since 1970; `nil`: it counts from the receipt.
    var startMilliseconds: Int? {
        guard case .at(let date)? = self.start else { return nil }
        return Int(exactly: (date.timeIntervalSince1970 * 1_000).rounded())
    }
}

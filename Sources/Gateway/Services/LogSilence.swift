// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Whether the event log answers at all: it decides, the request service tells.
struct LogSilence: Equatable, Sendable {
    enum Finding: Equatable, Sendable {
        case fine
        /// Something waits, and the log has answered nothing for this long.
        case silent(Duration)
        /// It was silent until now.
        case answersAgain
    }

    /// How long a log may answer nothing at all while something waits before an operator is told.
    let silenceMax: Duration

    /// How many records were handed to the log and not answered.
    private var waiting = 0
    /// When the log last answered, or when the first of those was handed over.
    private var since: ContinuousClock.Instant?
    private var isSilent = false

    init(silenceMax: Duration) {
        self.silenceMax = silenceMax
    }

    /// A record is handed to the log.
    mutating func asked(at now: ContinuousClock.Instant) {
        if self.waiting == 0 { self.since = now }
        self.waiting += 1
    }

    /// The log has answered about a record.
    mutating func heard(at now: ContinuousClock.Instant) {
        self.waiting -= 1
        self.since = now
    }

    mutating func look(at now: ContinuousClock.Instant) -> Finding {
        if self.waiting > 0, let since, now - since >= self.silenceMax {
            self.isSilent = true
            return .silent(now - since)
        }
        defer { self.isSilent = false }
        return self.isSilent ? .answersAgain : .fine
    }
}

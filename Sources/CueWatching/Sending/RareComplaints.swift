// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Tells each kind of trouble once in a period, and counts what is like it: a peer must not fill the log.
struct RareComplaints: Sendable {
    private struct Told {
        var atMilliseconds: Int
        var untold = 0
    }

    /// How long a kind of trouble is not told again.
    let period: Duration
    private var told: [Kind: Told] = [:]

    /// Complaints of which none was told yet.
    init(period: Duration) { self.period = period }

    /// The sentence to tell; `nil`: one of its kind was told in this period.
    ///
    /// - Parameters:
    ///   - kind: The kind of trouble.
    ///   - sentence: What happened.
    ///   - now: The time, in milliseconds since 1970.
    /// - Returns: The sentence, and how many were not told since the last one.
    mutating func sentence(_ kind: Kind, _ sentence: String, atMilliseconds now: Int) -> String? {
        let last = self.told[kind]
        if let last, now - last.atMilliseconds < Int(self.period.inMicroseconds / 1_000) {
            self.told[kind]?.untold += 1
            return nil
        }
        self.told[kind] = Told(atMilliseconds: now)
        guard let last, last.untold > 0 else { return sentence }
        return "\(sentence) It happened \(last.untold) more times since it was told last."
    }
}

extension RareComplaints {
    /// A kind of trouble: as many as the program has, whatever comes from outside.
    enum Kind: Hashable {
        case droppedSignal
        case refusedConnection
        case idleConnection
        case failedConnection
    }
}

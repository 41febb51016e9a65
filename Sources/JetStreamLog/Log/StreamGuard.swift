// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Decides from what a stream's leader says whether the log still is what it was.
///
/// ```swift
/// var guarding = StreamGuard(places, created: facts.created)
/// switch guarding.look(at: facts, seen: head, elapsed: elapsed) { … }
/// ```
struct StreamGuard: Sendable {
    /// The state of a stream.
    enum Verdict: Hashable, Sendable {
        /// Everything is as it was.
        case fine
        /// Nothing new is read or confirmed until it is fine again: why.
        case doubtful(String)
        /// The log went back: why. Nothing is confirmed any more.
        case lost(String)
    }

    private let places: LanePlaces
    private let created: Int64
    private let doubtfulFor: Duration
    /// Since when it is not as it was.
    private var doubtfulSince: Timestamp?

    /// - Parameters:
    ///   - places: of the stream's lane.
    ///   - created: when the stream was made, as it was told first.
    ///   - doubtfulFor: how long a leader may say that the stream is shorter than it was.
    init(_ places: LanePlaces, created: Int64, doubtfulFor: Duration = JetStreamLimits.doubtfulFor) {
        self.places = places
        self.created = created
        self.doubtfulFor = doubtfulFor
    }

    private var lane: Lane { self.places.lane }

    /// Looks at what the leader says.
    ///
    /// - Parameters:
    ///   - facts: of the stream; `nil`: the servers know of no such stream. While they start again, that may pass.
    ///   - seen: the newest offset that was read, or confirmed, before the leader was asked.
    ///   - standIns: how many of its messages were erased, and have another record in their place (`StandIns`).
    ///   - elapsed: monotonic time.
    /// - Returns: whether it is as it was.
    mutating func look(
        at facts: StreamFacts?,
        seen: UInt64,
        standIns: UInt64 = 0,
        elapsed: Timestamp
    ) -> Verdict {
        guard let facts else { return self.doubt("there is no stream of the lane \(self.lane)", elapsed) }
        if facts.created != self.created {
            return .lost("the stream of the lane \(self.lane) was made anew")
        }
        if facts.firstSequence > 1 || facts.deletedCount > standIns {
            return .lost("records of the lane \(self.lane) were deleted")
        }
        let head = self.places.offset(of: facts.lastSequence)
        guard facts.lastSequence > 0, head >= seen else {
            return self.doubt(
                "the lane \(self.lane) ends at offset \(head), and offset \(seen) was there before",
                elapsed
            )
        }
        self.doubtfulSince = nil
        return .fine
    }

    private mutating func doubt(_ sentence: String, _ elapsed: Timestamp) -> Verdict {
        let since = self.doubtfulSince ?? elapsed
        self.doubtfulSince = since
        return elapsed - since >= self.doubtfulFor ? .lost(sentence) : .doubtful(sentence)
    }
}

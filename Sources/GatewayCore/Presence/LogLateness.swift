// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// How late gateways of one log are: a gateway is late while it lacks records of the lane `breaks` that another one has applied.
///
/// ```swift
/// lateness.note([4_000, 4_012], elapsed: elapsed)
/// let passed = lateness.late(4_000, elapsed: elapsed).limits(passed: bounds)
/// ```
package struct LogLateness: Sendable {
    /// How much later than the others a gateway may be before it is an alarm.
    package struct Bounds: Hashable, Sendable {
        /// How long it may lack a record.
        package var after: Duration
        /// How many records it may lack.
        package var recordsMax: Int

        /// - Parameters:
        ///   - after: how long it may lack a record.
        ///   - recordsMax: how many records it may lack.
        package init(
            after: Duration = .milliseconds(LimitName.gatewayLateAfter.value),
            recordsMax: Int = LimitName.gatewayLateRecordsMax.value
        ) {
            self.after = after
            self.recordsMax = recordsMax
        }
    }

    /// How late one gateway is.
    package struct Late: Hashable, Sendable {
        /// How many records it lacks that another one has.
        package var records: UInt64 = 0
        /// How long it has lacked the oldest of them.
        package var time: Duration = .zero

        /// The limits that are passed.
        package func limits(passed bounds: Bounds) -> [LimitName] {
            (self.time > bounds.after ? [.gatewayLateAfter] : [])
                + (self.records > UInt64(clamping: bounds.recordsMax) ? [.gatewayLateRecordsMax] : [])
        }
    }

    private struct Mark {
        /// Some gateway had applied the records up to this one.
        let offset: UInt64
        /// The first time at which that was seen.
        let at: Timestamp
    }

    /// The most instants that are kept; where there are more, those go that are near the one before them.
    static let marksMax = 256

    /// Ascending.
    private var marks: [Mark] = []
    /// How many instants are kept.
    var markCount: Int { self.marks.count }
    private var head: UInt64 = 0
    private let identity: LogIdentity?

    /// - Parameter identity: of the log, whose offsets jump where an epoch began; `nil`: they do not.
    package init(of identity: LogIdentity? = nil) { self.identity = identity }

    /// Notes how far all gateways are that are alive.
    ///
    /// - Parameters:
    ///   - applied: up to which record each one has applied the lane.
    ///   - elapsed: monotonic time.
    package mutating func note(_ applied: some Collection<UInt64>, elapsed: Timestamp) {
        if let newest = applied.max(), newest > self.head {
            self.head = newest
            self.marks.append(Mark(offset: newest, at: elapsed))
        }
        // All have what came until then.
        let slowest = applied.min() ?? self.head
        self.marks.removeAll { $0.offset <= slowest }
        // A gateway that comes with fewer records than all had before is late from now on.
        if slowest < self.head, self.marks.isEmpty { self.marks.append(Mark(offset: self.head, at: elapsed)) }
        if self.marks.count > Self.marksMax { self.thinOut() }
    }

    /// Keeps at most about half of the marks, about equally far from each other in time, the first and the newest among them.
    private mutating func thinOut() {
        guard let first = self.marks.first, let newest = self.marks.last else { return }
        let least = (newest.at - first.at) / (Self.marksMax / 2)
        var kept = [first]
        var last = first
        for mark in self.marks.dropFirst().dropLast() where mark.at - last.at >= least {
            kept.append(mark)
            last = mark
        }
        self.marks = kept + [newest]
    }

    /// How late a gateway is.
    ///
    /// - Parameters:
    ///   - applied: up to which record it has applied the lane.
    ///   - elapsed: monotonic time.
    /// - Returns: the records, and the time, which may be shorter than it was and is never longer.
    package func late(_ applied: UInt64, elapsed: Timestamp) -> Late {
        guard applied < self.head else { return Late() }
        let since = self.marks.first { $0.offset > applied }?.at ?? elapsed
        let records = self.identity?.count(after: applied, through: self.head, in: .breaks) ?? self.head - applied
        return Late(records: records, time: elapsed - since)
    }
}

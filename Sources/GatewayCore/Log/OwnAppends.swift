// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import DequeModule

extension EventLogLimits {
    /// How long an append to a shared log may be seen neither in the log nor overtaken there, before its writer appends an empty record
    /// that settles it (2 s).
    package static let appendSettledAfter: Duration = .seconds(2)
    /// How long a shared log may not have answered at all before its writer takes nothing more until it answers again (8 s): the election
    /// of another leader takes 4 to 7 s, and work waits for it.
    package static let cutOffAfter: Duration = .seconds(8)
    /// The most appends of one writer to a lane that are not settled; more are refused.
    package static let appendsOpenMax = 4_096
    /// The most bytes of appends of one writer to a lane that are not settled; more are refused.
    package static let appendBytesOpenMax = 64 * 1_048_576
}

/// The appends of one writer to one lane of a log that several gateways share, until it is certain what became of them.
///
/// The writer reads its own records back. Only what it has seen there, in the order of the log, has an effect for certain: an answer of
/// the log does not say whether a higher number stands before it. A higher number that is seen first drops the lower ones, because
/// every reader passes over them from then on (`WriterTable`). Where an append is not settled for long, an empty record with the next
/// number settles it.
///
/// ```swift
/// let number = appends.hand(over: request, bytes: record.count, at: elapsed)   // append it under this number
/// for settled in appends.saw(record) { … }                                     // for each record of the lane
/// if appends.needsSettling(at: elapsed) { let number = appends.settle(at: elapsed) … }
/// ```
package struct OwnAppends<Waiting: Sendable>: Sendable {
    /// The end of an append.
    package enum Outcome: Hashable, Sendable {
        /// It is in the log at this offset, and every reader applies it.
        case durable(UInt64)
        /// No reader applies it, now or later.
        case dropped
    }

    private struct Open {
        let number: UInt64
        let waiting: Waiting
        let bytes: Int
        let handed: Timestamp
    }

    /// The run of the gateway.
    package let writer: UInt64
    /// How long an append may stay unsettled.
    private let settledAfter: Duration
    /// Those that are not settled, by their numbers.
    private var open: Deque<Open> = []
    private var newest: UInt64 = 0
    /// When the last empty record was handed over.
    private var settling: Timestamp?
    /// How many bytes those that are not settled have.
    package private(set) var openBytes = 0

    /// - Parameters:
    ///   - writer: the run of the gateway.
    ///   - settledAfter: how long an append may stay unsettled.
    package init(writer: UInt64, settledAfter: Duration = EventLogLimits.appendSettledAfter) {
        self.writer = writer
        self.settledAfter = settledAfter
    }

    /// How many are not settled.
    package var openCount: Int { self.open.count }

    /// Whether one more may be handed over.
    package func hasRoom(for bytes: Int) -> Bool {
        self.open.count < EventLogLimits.appendsOpenMax && self.openBytes + bytes <= EventLogLimits.appendBytesOpenMax
    }

    /// Hands an append over.
    ///
    /// - Parameters:
    ///   - waiting: comes back when it is settled.
    ///   - bytes: how large its record is.
    ///   - elapsed: monotonic time.
    /// - Returns: the number under which the record is appended, before any later one.
    package mutating func hand(over waiting: Waiting, bytes: Int, at elapsed: Timestamp) -> UInt64 {
        self.newest += 1
        self.open.append(Open(number: self.newest, waiting: waiting, bytes: bytes, handed: elapsed))
        self.openBytes += bytes
        return self.newest
    }

    /// The log has refused an append, and is certain not to have it.
    ///
    /// - Returns: the one that waits for it; `nil`: it is settled already.
    package mutating func refused(_ number: UInt64) -> Waiting? {
        guard let place = self.open.firstIndex(where: { $0.number == number }) else { return nil }
        let open = self.open.remove(at: place)
        self.openBytes -= open.bytes
        return open.waiting
    }

    /// The next record of the lane was read.
    ///
    /// - Parameter record: of any writer; none may be left out.
    /// - Returns: those that are settled now, in the order in which they were handed over.
    package mutating func saw(_ record: LoggedRecord) -> [(waiting: Waiting, outcome: Outcome)] {
        guard let id = record.mark?.id, id.origin == self.writer else { return [] }
        var settled: [(waiting: Waiting, outcome: Outcome)] = []
        while let first = self.open.first, first.number <= id.number {
            self.open.removeFirst()
            self.openBytes -= first.bytes
            settled.append((first.waiting, first.number == id.number ? .durable(record.offset) : .dropped))
        }
        return settled
    }

    /// Gives up all that are not settled: records of the lane were forgotten before they were read.
    package mutating func giveUp() -> [Waiting] {
        defer {
            self.open = []
            self.openBytes = 0
        }
        return self.open.map(\.waiting)
    }

    /// Whether an empty record is to be appended now.
    package func needsSettling(at elapsed: Timestamp) -> Bool {
        guard let first = self.open.first, elapsed - first.handed >= self.settledAfter else { return false }
        return self.settling.map { elapsed - $0 >= self.settledAfter } ?? true
    }

    /// Hands over an empty record.
    ///
    /// - Returns: the number under which it is appended.
    package mutating func settle(at elapsed: Timestamp) -> UInt64 {
        self.settling = elapsed
        self.newest += 1
        return self.newest
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The bounds of what is in an event log.
package enum EventLogLimits {
    /// No offset of a lane reaches this: the numbers of breaks, 1,024 an offset, and the keys of stores fit into 63 bits.
    package static let offsetsPerLaneMax: UInt64 = 1 << 48
    /// How far the offsets of a new epoch are above everything that is known of the epochs before.
    ///
    /// What was issued after a copy was made is not known to the copy: it is less than this, or takes months.
    package static let epochOffsetStep: UInt64 = 1 << 32
    /// How many offsets a minute of the clock stands for where a restore looks for a number that no gateway has given out: more than a
    /// gateway can use in a minute, so that what is restored later always goes on above what was restored before.
    package static let offsetsPerMinute: UInt64 = 1 << 19

    /// An offset that nothing before a moment has reached, as far as clocks can be trusted: for restores, which may find no file any more
    /// that knows what was given out.
    ///
    /// - Parameter now: by the machine's clock. One that is before 2026, or so far ahead that it would use up more than a quarter of all
    ///   offsets, says nothing.
    /// - Returns: 0 where the clock says nothing.
    package static func offsetFloor(at now: Timestamp) -> UInt64 {
        let begin = Timestamp(microseconds: 1_767_225_600_000_000)
        guard now > begin else { return 0 }
        // By milliseconds, so that two restores in one minute do not begin at the same offset.
        let product = UInt64((now - begin).inMicroseconds / 1_000)
            .multipliedReportingOverflow(by: Self.offsetsPerMinute)
        let floor = product.partialValue / 60_000
        return product.overflow || floor > Self.offsetsPerLaneMax / 4 ? 0 : floor
    }
}

/// Which log it is: chosen at random when the log was made, the same in all copies.
package struct LogID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func random() -> LogID {
        LogID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max))
    }

    /// 32 hexadecimal digits.
    package var description: String {
        [self.high, self.low]
            .map { word in
                let digits = String(word, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }
            .joined()
    }
}

/// The identity of one history: the log, and the epochs that it went through.
///
/// Within an epoch the offsets of a lane have no gaps. A new epoch begins where records may have been lost: its offsets
/// are above a base that is far above everything known before, so that no offset, and no number of a break, is given out
/// twice.
package struct LogIdentity: Hashable, Sendable {
    /// A stretch of the history without losses.
    package struct Epoch: Hashable, Sendable {
        /// Chosen at random; not 0.
        package let number: UInt64
        /// The offsets of this epoch's records are above it, in every lane.
        package let base: UInt64
        /// The newest record of each lane before this epoch; 0 for lanes that are not here.
        package var last: [Lane: UInt64]

        package init(number: UInt64, base: UInt64, last: [Lane: UInt64]) {
            self.number = number
            self.base = base
            self.last = last
        }

        /// The newest record of a lane before this epoch.
        package func last(of lane: Lane) -> UInt64 { self.last[lane] ?? 0 }
    }

    package let logID: LogID
    /// Oldest first; never empty.
    package private(set) var epochs: [Epoch]

    /// The identity of a log that begins.
    package init(logID: LogID = .random(), epoch: UInt64 = .random(in: 1 ... .max)) {
        self.logID = logID
        self.epochs = [Epoch(number: epoch, base: 0, last: [:])]
    }

    /// An identity as a store kept it.
    ///
    /// - Returns: `nil` where it cannot be one.
    package init?(logID: LogID, epochs: [Epoch]) {
        guard let first = epochs.first, first.base == 0, first.last.isEmpty,
            Set(epochs.map(\.number)).count == epochs.count, !epochs.contains(where: { $0.number == 0 })
        else { return nil }
        for (before, after) in zip(epochs, epochs.dropFirst()) {
            guard before.base < after.base, after.base < EventLogLimits.offsetsPerLaneMax,
                after.last.values.allSatisfy({ $0 <= after.base })
            else { return nil }
        }
        self.logID = logID
        self.epochs = epochs
    }

    /// The newest epoch.
    package var current: Epoch { self.epochs[self.epochs.count - 1] }

    /// The number of the newest epoch: what positions of streams carry.
    package var epoch: UInt64 { self.current.number }

    /// The same history, gone on in a new epoch.
    ///
    /// - Parameters:
    ///   - epoch: its number, not used before.
    ///   - base: above all offsets that are known.
    ///   - last: the newest record of each lane.
    /// - Returns: the identity with one epoch more.
    package func continued(epoch: UInt64, base: UInt64, last: [Lane: UInt64]) -> LogIdentity {
        precondition(base > self.current.base && last.values.allSatisfy { $0 <= base }, "offsets would be used again")
        var next = self
        next.epochs.append(Epoch(number: epoch, base: base, last: last))
        return next
    }

    /// The same history after a restore: what was given out after the backup was made is not known any more, so a new epoch goes on above
    /// all that the backup knows, and above what the clock allows.
    ///
    /// The base is one step above the clock's floor, whatever the backup: so a later restore has a higher one, also where its backup is
    /// older. Only what is already there, which the clock does not explain, is passed by one step more.
    ///
    /// - Parameters:
    ///   - heads: the newest record of each lane in the backup.
    ///   - now: by the machine's clock.
    ///   - epoch: its number, not used before.
    /// - Returns: the identity with one epoch more; `nil`: the clock cannot be right, or the offsets are used up.
    package func restored(
        heads: [Lane: UInt64],
        at now: Timestamp,
        epoch: UInt64 = .random(in: 1 ... .max)
    ) -> LogIdentity? {
        let floor = EventLogLimits.offsetFloor(at: now)
        let known = heads.values.reduce(self.current.base, max)
        let least = floor + EventLogLimits.epochOffsetStep
        let base = known < least ? least : known + EventLogLimits.epochOffsetStep
        guard floor > 0, base + EventLogLimits.epochOffsetStep <= EventLogLimits.offsetsPerLaneMax else { return nil }
        return self.continued(epoch: epoch, base: base, last: heads)
    }

    /// The offset of the record that follows one in its lane, if there is one.
    package func following(_ offset: UInt64, in lane: Lane) -> UInt64 {
        // Of two jumps from the same record the later one counts: nothing was recorded between them.
        for epoch in self.epochs.reversed() where epoch.last(of: lane) <= offset && offset <= epoch.base {
            return epoch.base + 1
        }
        return offset + 1
    }

    /// The offset of the record before one in its lane; 0 for the first.
    package func preceding(_ offset: UInt64, in lane: Lane) -> UInt64 {
        if let epoch = self.epochs.first(where: { $0.base + 1 == offset }) { return epoch.last(of: lane) }
        return offset - 1
    }

    /// How many offsets after one, up to another, are those of records.
    package func count(after first: UInt64, through last: UInt64, in lane: Lane) -> UInt64 {
        guard first < last else { return 0 }
        return self.jumps(in: lane)
            .reduce(last - first) { count, jump in
                let (from, to) = (max(first, jump.last), min(last, jump.base))
                return from < to ? count - (to - from) : count
            }
    }

    /// The offset after which, up to another one, there are so many records; 0 where there are fewer.
    package func offset(_ records: UInt64, before offset: UInt64, in lane: Lane) -> UInt64 {
        var (offset, left) = (offset, records)
        for jump in self.jumps(in: lane).reversed() where jump.base < offset {
            guard offset - jump.base <= left else { return offset - left }
            left -= offset - jump.base
            offset = jump.last
        }
        return offset > left ? offset - left : 0
    }

    /// Where offsets of a lane were left out; oldest first.
    private func jumps(in lane: Lane) -> [(last: UInt64, base: UInt64)] {
        var jumps: [(last: UInt64, base: UInt64)] = []
        for epoch in self.epochs.dropFirst() {
            let last = epoch.last(of: lane)
            // An epoch in which nothing was recorded is part of the next jump.
            while let before = jumps.last, last <= before.base { jumps.removeLast() }
            jumps.append((last, epoch.base))
        }
        return jumps
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// One ordered sequence of records in the event log.
///
/// No order is promised across lanes.
package struct Lane: Hashable, Sendable, CustomStringConvertible {
    /// The name in the store, for instance `breaks` or `acknowledgements/0`.
    package let description: String

    /// A lane that a store read back by its name.
    package init(name: String) {
        self.description = name
    }

    /// The requests about breaks and the decisions of timers.
    package static let breaks = Lane(name: "breaks")

    /// How many lanes hold acknowledgements.
    package static let acknowledgementLaneCount = 1

    /// All lanes that hold acknowledgements.
    package static let acknowledgementLanes = (0..<Lane.acknowledgementLaneCount).map { Lane.acknowledgements($0) }

    /// The lane of a partition: sessions are spread over partitions by their hash.
    package static func acknowledgements(_ partition: Int) -> Lane {
        Lane(name: "acknowledgements/\(partition)")
    }
}

/// A record as the log holds it.
package struct LoggedRecord: Hashable, Sendable {
    /// 1 for the first record of a lane, one more for each that follows in the same epoch, and far more for the first of a
    /// new epoch; never used again, not even after pruning.
    package let offset: UInt64
    /// The offset of the record before it in its lane; 0 for the first.
    ///
    /// The code that applies records compares it with the last one applied: that detects missing records, and accepts jumps.
    package let previous: UInt64
    package let bytes: [UInt8]
    /// Its writer, and when it was stored; `nil`: the log does not keep that, because it has one writer at a time, or the writer gave no
    /// id.
    package let mark: AppendMark?
    /// Whether it stands for a record that was erased, because a session in it was forgotten: its digest says nothing about that one.
    package let isStandIn: Bool

    /// - Parameters:
    ///   - offset: its own.
    ///   - previous: that of the record before; `nil`: one less, as within an epoch.
    ///   - bytes: the appended bytes.
    ///   - mark: its writer, and when it was stored.
    ///   - isStandIn: whether it stands for a record that was erased.
    package init(
        offset: UInt64,
        previous: UInt64? = nil,
        bytes: [UInt8],
        mark: AppendMark? = nil,
        isStandIn: Bool = false
    ) {
        self.offset = offset
        self.previous = previous ?? offset - 1
        self.bytes = bytes
        self.mark = mark
        self.isStandIn = isStandIn
    }

    /// Tells this record from another one at the same offset of another history.
    ///
    /// It looks at the length, the beginning and the end only: records hold instants and sessions there.
    package var digest: UInt64 {
        var hash = StableHash()
        hash.add("\(self.bytes.count)".utf8)
        hash.add(self.bytes.prefix(Self.digestBytesMax))
        hash.add(self.bytes.dropFirst(Self.digestBytesMax).suffix(Self.digestBytesMax))
        return hash.value
    }

    /// How many bytes of each end a digest looks at.
    private static let digestBytesMax = 512
}

/// Why the event log did not do what it was asked.
package enum EventLogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The records before this offset were pruned; the reader must begin at a snapshot.
    case pruned(lane: Lane, firstKept: UInt64)
    /// It is closed, or closing.
    case closed
    /// The store failed. Whether the record is durable is not known: the caller confirms nothing.
    case failed(String)
    /// There is no room for it: it is not in the log, and later ones are taken as soon as there is room again.
    case outOfSpace(String)
    /// The content of the log is not certain any more: it accepts nothing until it is opened again (see `stopped()`).
    case uncertain(String)
    /// A log far away did not answer: the record may be in it, may still come into it, or never will.
    case unanswered
    /// It has no effect, now and later: no reader applies it, even where it still comes into the log. It may be tried again.
    case dropped

    package var description: String {
        switch self {
        case .pruned(let lane, let firstKept): "The lane \(lane) begins at offset \(firstKept)."
        case .closed: "The event log is closed."
        case .failed(let reason): "The event log failed: \(reason)"
        case .outOfSpace(let reason): "The event log is out of space: \(reason)"
        case .uncertain(let reason): "What the event log holds is not certain any more: \(reason)"
        case .unanswered: "The event log did not answer."
        case .dropped: "The record has no effect: it did not come into the event log in time."
        }
    }
}

/// The durable, ordered record of all that happened.
///
/// Everything that must survive goes through it.
///
/// It may be local or far away and shared by several gateways; an append may take long. Records are opaque bytes here. Beside it stand
/// `SnapshotStore`, `RetentionWatermarks`, and, of a log on this machine, `LogMaintenance`; `LogParts` holds them together.
package protocol EventLog: Sendable {
    /// Which history this is, as long as the log is open.
    var identity: LogIdentity { get }

    /// Appends a record and returns its offset once it is durable.
    ///
    /// Several appends may be under way; those to one lane get ascending offsets in the order in which they were
    /// called. (Of a log far away `unanswered` appends may come late, or never: `LoggedRecord.mark` tells whose they are.) `done` is called once, on a thread of the store and never from within `append`: it hands the result on and
    /// returns at once. A failure means that nothing may be confirmed; the record may be durable all the same. An append
    /// that failed leaves no gap: its offset goes to the next one. After a failure that leaves what the store holds
    /// uncertain, it refuses every later append until it is opened again. A record larger than
    /// `EventLogLimits.recordBytesMax` is refused.
    ///
    /// - Parameters:
    ///   - record: the bytes.
    ///   - id: tells this append from every other one: a repeat with the id of one of the newest `EventLogLimits.appendIDsKept` appends to
    ///     the lane gets that one's answer, and adds no record, while the log stays open. `nil`: a repeat is another record.
    ///   - lane: to which lane.
    ///   - done: called once with the offset, or the reason why nothing may be confirmed.
    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    )

    /// Records after an offset, in order, none left out: at least one, waiting for it if necessary.
    ///
    /// Offsets jump where an epoch begins (`LoggedRecord.previous`).
    ///
    /// - Parameters:
    ///   - lane: the lane to read.
    ///   - offset: the last offset that the reader has; 0 at the beginning.
    ///   - recordsMax: the most records to return.
    ///   - bytesMax: returns no further record once this many bytes are collected.
    /// - Returns: an empty array only when the log is closed, or the task cancelled, and there is nothing left.
    /// - Throws: `pruned` when the next record is no longer kept; `closed` when the log is closed and what is left cannot
    ///   be read any more.
    func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord]

    /// The offset of the newest durable record of a lane; 0 where there is none.
    func head(of lane: Lane) async throws(EventLogError) -> UInt64

    /// Waits until the log takes nothing any more because what it holds is not certain.
    ///
    /// - Returns: why; `nil` when it was closed, or the task cancelled.
    func stopped() async -> String?

    /// How long a log far away has not answered at all, whether it was asked for something or not; zero for a log on this machine.
    var silence: Duration { get }

    /// Why a log far away confirms nothing at present although it answers: it may have gone back, and stops where that does not pass;
    /// `nil`: there is no doubt.
    var doubt: String? { get }

    /// Finishes what is under way and closes.
    func close() async
}

extension EventLog {
    /// The newest epoch: what positions of streams carry.
    package var epoch: UInt64 { self.identity.epoch }

    package var silence: Duration { .zero }

    package var doubt: String? { nil }

    package func stopped() async -> String? {
        let (never, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        for await _ in never {}  // It ends with the task.
        sink.finish()
        return nil
    }

    /// Appends a record and returns its offset once it is durable.
    package func append(
        _ record: [UInt8],
        id: AppendID? = nil,
        to lane: Lane
    ) async throws(EventLogError) -> UInt64 {
        let result = await withCheckedContinuation { continuation in
            self.append(record, id: id, to: lane) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Appends a record of which a repeat would be another record.
    package func append(
        _ record: [UInt8],
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        self.append(record, id: nil, to: lane, done: done)
    }
}

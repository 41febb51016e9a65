// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization

/// Reads a shared log lane by lane, and notes everything that is wrong with its records.
///
/// Records that are missing or cannot be read are passed over: the records that are returned follow each other, so that a recount goes on
/// behind a fault and the damage shows.
final class CheckedLog: RecordSource {
    /// The memory that this machine has of a record: it has counted or applied one with this digest.
    struct Mark {
        let lane: Lane
        let offset: UInt64
        let digest: UInt64
        /// For sentences, for instance `the ledger has counted`.
        let verb: String
    }

    private struct State {
        /// Up to where each lane was looked at.
        var looked: [Lane: UInt64] = [:]
        var findings = LedgerDifferences()
    }

    private let log: any InspectedLog
    private let marks: [Mark]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - log: open.
    ///   - marks: each is compared when reading comes by it.
    init(_ log: any InspectedLog, marks: [Mark]) {
        self.log = log
        self.marks = marks
    }

    /// Everything that was found wrong so far.
    var findings: LedgerDifferences { self.state.withLock(\.findings) }

    func head(of lane: Lane) async throws -> UInt64 { try await self.log.head(of: lane) }

    func preceding(_ offset: UInt64, in lane: Lane) -> UInt64 { self.log.identity.preceding(offset, in: lane) }

    /// - Returns: none only where there is nothing more that can be read.
    func records(of lane: Lane, after offset: UInt64, recordsMax: Int, bytesMax: Int) async throws -> [LoggedRecord] {
        let head = try await self.log.head(of: lane)
        var last = offset
        while last < head {
            let portion = try await self.log.portion(
                of: lane,
                after: last,
                recordsMax: recordsMax,
                bytesMax: bytesMax
            )
            guard let end = portion.end, end > last else { return [] }
            last = end
            let records = self.take(portion, of: lane, after: offset, through: end)
            if !records.isEmpty { return records }
        }
        return []
    }

    /// Reads the rest of a lane.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - offset: where to begin.
    ///   - body: gets the records, each following the one before.
    /// - Throws: where the log cannot be read, and the errors of `body`.
    func read(_ lane: Lane, after offset: UInt64, _ body: ([LoggedRecord]) throws -> Void) async throws {
        var last = offset
        while case let records = try await self.records(
            of: lane,
            after: last,
            recordsMax: Self.recordsPerReadMax,
            bytesMax: Self.bytesPerReadMax
        ), let end = records.last {
            try Task.checkCancellation()
            try body(records)
            last = end.offset
        }
    }

    private static let recordsPerReadMax = 512
    private static let bytesPerReadMax = 4 * 1_048_576

    /// Compares what this machine knows of records beyond the head of a lane: they are gone.
    func compareHeads(of lanes: [Lane]) async throws {
        for lane in lanes {
            let head = try await self.log.head(of: lane)
            self.state.withLock { state in
                for mark in self.marks where mark.lane == lane && mark.offset > head {
                    state.findings.add(
                        "the lane \(lane) ends at record \(head), and \(mark.verb) record \(mark.offset)"
                    )
                }
            }
        }
    }

    private func take(
        _ portion: InspectedPortion,
        of lane: Lane,
        after offset: UInt64,
        through end: UInt64
    ) -> [LoggedRecord] {
        var faults = portion.faults
        var records: [LoggedRecord] = []
        for record in portion.records {
            if let reason = Self.fault(of: record, in: lane) {
                faults.append(.init(offsets: record.offset...record.offset, reason: "\(reason)"))
                continue
            }
            let previous = records.last?.offset ?? offset
            records.append(
                LoggedRecord(
                    offset: record.offset,
                    previous: previous,
                    bytes: record.bytes,
                    mark: record.mark,
                    isStandIn: record.isStandIn
                )
            )
        }
        self.note(faults, portion.records, of: lane, through: end)
        return records
    }

    private func note(
        _ faults: [InspectedPortion.Fault],
        _ records: [LoggedRecord],
        of lane: Lane,
        through end: UInt64
    ) {
        self.state.withLock { state in
            let looked = state.looked[lane] ?? 0
            guard end > looked else { return }
            state.looked[lane] = end
            for fault in faults.sorted(by: { $0.offsets.lowerBound < $1.offsets.lowerBound })
            where fault.offsets.upperBound > looked {
                let (first, last) = (fault.offsets.lowerBound, fault.offsets.upperBound)
                let which = first == last ? "record \(first)" : "records \(first) to \(last)"
                state.findings.add(
                    fault.reason.map { "the lane \(lane) has a \(which) that cannot be read: \($0)" }
                        ?? "the lane \(lane) has no \(which)"
                )
            }
            for mark in self.marks where mark.lane == lane && mark.offset > looked && mark.offset <= end {
                guard let record = records.first(where: { $0.offset == mark.offset }), record.digest != mark.digest,
                    !record.isStandIn
                else { continue }
                state.findings.add("the lane \(lane) has another record \(mark.offset) than the one that \(mark.verb)")
            }
        }
    }

    /// Why no gateway can read a record; `nil`: all can.
    private static func fault(of record: LoggedRecord, in lane: Lane) -> WireError? {
        do {
            if lane == .breaks {
                _ = try BreakGroup(decoding: record.bytes)
            } else {
                _ = try LedgerPosting(record)
            }
            return nil
        } catch {
            return error
        }
    }
}

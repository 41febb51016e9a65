// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization

/// An event log in memory.
///
/// Closing does nothing, so that the next gateway finds what the one before left.
final class MemoryLog: EventLog {
    private struct State {
        var lanes: [Lane: [LoggedRecord]] = [:]
        var snapshots: [Lane: LaneSnapshot] = [:]
        var pruned: [Lane: UInt64] = [:]
    }

    let epoch: UInt64
    private let state = Mutex(State())

    init(epoch: UInt64 = .random(in: 1 ... .max)) {
        self.epoch = epoch
    }

    func append(
        _ record: [UInt8],
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) {
        let offset = self.state.withLock { state in
            let offset = UInt64((state.lanes[lane]?.count ?? 0) + 1)
            state.lanes[lane, default: []].append(LoggedRecord(offset: offset, bytes: record))
            return offset
        }
        done(.success(offset))
    }

    func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        while true {
            let records = self.state.withLock {
                Array(($0.lanes[lane] ?? []).dropFirst(Int(clamping: offset)).prefix(recordsMax))
            }
            if !records.isEmpty || Task.isCancelled { return records }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        UInt64(self.state.withLock { $0.lanes[lane]?.count ?? 0 })
    }

    func save(_ snapshot: LaneSnapshot, of lane: Lane) async throws(EventLogError) {
        self.state.withLock { $0.snapshots[lane] = snapshot }
    }

    func snapshot(of lane: Lane) async throws(EventLogError) -> LaneSnapshot? {
        self.state.withLock { $0.snapshots[lane] }
    }

    func prune(_ lane: Lane, through offset: UInt64) async throws(EventLogError) {}

    func close() async {}

    /// The groups of acknowledgements so far, in order.
    var acknowledgementGroups: [AcknowledgementGroup] {
        get throws {
            try self.state.withLock { $0.lanes[.acknowledgements(0)] ?? [] }
                .map { try AcknowledgementGroup(decoding: $0.bytes) }
        }
    }

    /// The groups of entries of breaks so far, in order.
    var breakGroups: [BreakGroup] {
        get throws { try self.state.withLock { $0.lanes[.breaks] ?? [] }.map { try BreakGroup(decoding: $0.bytes) } }
    }
}

/// A ledger that takes everything and keeps what it was given.
final class ListeningLedger: Ledger {
    private struct State {
        var applied: [Lane: UInt64] = [:]
        var postings: [LedgerPosting] = []
        var breaks: [BreakKey: BreakSummary] = [:]
        var failures = 0
    }

    private let state = Mutex(State())

    var postings: [LedgerPosting] { self.state.withLock { $0.postings } }
    var breaks: [BreakKey: BreakSummary] { self.state.withLock { $0.breaks } }

    /// Lets so many calls fail.
    func fail(times: Int) { self.state.withLock { $0.failures = times } }

    private func mayFail(_ body: (inout State) -> Void) throws(LedgerError) {
        let fails = self.state.withLock { state in
            guard state.failures == 0 else {
                state.failures -= 1
                return true
            }
            body(&state)
            return false
        }
        if fails { throw .failed("the test wants it so") }
    }

    func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 {
        self.state.withLock { $0.applied[lane] ?? 0 }
    }

    func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) {
        try self.mayFail { state in
            state.postings += postings
            state.applied[lane] = postings.last?.offset
        }
    }

    func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try self.mayFail { state in
            for each in breaks { state.breaks[each.key] = each }
            state.applied[.breaks] = offset
        }
    }

    func checkpoint() async throws(LedgerError) -> [Lane: UInt64] { self.state.withLock { $0.applied } }

    func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        Report(breaks: [], offsets: self.state.withLock { $0.applied }, more: false)
    }

    func audit() async throws(LedgerError) -> [String] { [] }

    func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] { [] }

    func close() async {}
}

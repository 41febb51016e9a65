// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// What waits until the entries that it rests on are on the disk.
///
/// An acknowledgement waits for the entry of its outcome, and the call of a tracking URL for the entry that says that it is
/// made: what was sent to others is then known to the next run of the app, whenever this one ends. Nothing else waits; in
/// particular no advertisement, which can therefore be handed out again when the app is killed before its entry is safe.
///
/// Where the disk refuses, acknowledgements do not wait: the gateway counts each outcome once however often it is told.
/// Tracking URLs are not called then: nobody would know that they were.
struct JournalCommits: Sendable {
    /// Where entries go.
    enum Disk: Hashable, Sendable {
        /// To memory only, as the app wants it: nothing waits.
        case none
        /// To the disk; so many entries are there.
        case committing(through: UInt64)
        /// To memory, until the disk takes them again.
        case failing
    }

    /// The call of a tracking URL, and the entry that it waits for, counted from the session's first.
    struct Call: Sendable {
        let entry: UInt64
        let request: TrackingRequest
    }

    fileprivate(set) var disk: Disk
    /// At most ``TrackingLimits/inFlightMax``.
    fileprivate(set) var calls: [Call] = []
    /// Outcomes that are not on the disk yet, by entry and by number of their record; both grow.
    fileprivate var outcomes: [(entry: UInt64, number: UInt64)] = []

    init(disk: Disk) {
        self.disk = disk
    }
}

// What became of the entries of the journal.
extension ListenerCore {
    /// The journal says what became of entries.
    mutating func journal(_ report: ListenerJournal.Report, now: LocalInstant) {
        guard self.lifecycle != .stopped else { return }
        switch report {
        case .committed(let through): self.committed(through: through)
        case .failed(let reason):
            self.commits.disk = .failing
            self.commits.outcomes = []
            self.acknowledgements.tellableThrough = .max
            self.storageFailed(reason)
        }
        self.settleTime(now: now)
    }

    private mutating func committed(through: UInt64) {
        if self.commits.disk == .failing {
            // What was recorded meanwhile may have been told.
            self.acknowledgements.tellableThrough = self.acknowledgements.lastNumber
        }
        self.commits.disk = .committing(through: through)
        let count = self.commits.outcomes.prefix { $0.entry <= through }.count
        guard count > 0 else { return }
        self.acknowledgements.tellableThrough = self.commits.outcomes[count - 1].number
        self.commits.outcomes.removeFirst(count)
    }

    /// The file lacks entries, for the reason given.
    mutating func storageFailed(_ reason: String) {
        self.log(.error, "The session's file cannot be used: \(reason)")
        self.emit(.storageFailed(reason))
    }

    /// Keeps the outcome of a record: it is told once that is on the disk.
    mutating func keepOutcome(_ record: OutboxRecord) {
        self.keep(.outcome(record.request))
        if case .committing = self.commits.disk {
            self.commits.outcomes.append((self.keptCount, record.number))
        } else {
            self.acknowledgements.tellableThrough = .max
        }
    }

    /// Makes a call once it is on the disk that it is made.
    mutating func callWhenKept(_ request: TrackingRequest) {
        guard self.commits.disk != .none else { return self.act(.track(request)) }
        self.commits.calls.append(.init(entry: self.keptCount, request: request))
    }

    /// Makes the calls that waited for the disk and wait no more.
    mutating func releaseCalls(now: LocalInstant) {
        switch self.commits.disk {
        case .none: break
        case .committing(let through):
            let count = self.commits.calls.prefix { $0.entry <= through }.count
            for call in self.commits.calls.prefix(count) { self.act(.track(call.request)) }
            self.commits.calls.removeFirst(count)
        case .failing: self.takeBackCalls("the session's file cannot be written", now: now)
        }
    }

    /// Calls that wait for the disk are not made for now, and certainly were not: they wait for another attempt.
    mutating func takeBackCalls(_ reason: String, now: LocalInstant) {
        let calls = self.commits.calls
        self.commits.calls = []
        for call in calls {
            self.track(at: now) {
                $0.finished(call.request.id, .couldNotConnect(reason), now: now, wall: $1.wall, jitter: &$2)
            }
        }
    }
}

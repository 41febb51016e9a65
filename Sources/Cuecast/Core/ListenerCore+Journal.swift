// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Where the journal's entries go, and what therefore waits.
///
/// An acknowledgement waits for the entry of its outcome (`AcknowledgementQueue`), and the call of a tracking URL for the entry
/// that says that it is made (`ListenerTracking`): what was sent to others is then known to the next run of the app, whenever
/// this one ends. Nothing else waits; in particular no advertisement, which can therefore be handed out again when the app is
/// killed before its entry is safe.
///
/// Where the disk refuses, acknowledgements do not wait: the gateway counts each outcome once however often it is told.
/// Tracking URLs are not called then, because no record would say that they were.
enum JournalDisk: Hashable, Sendable {
    /// To memory only, as the app wants it: nothing waits.
    case none
    /// To the disk; so many entries are there, counted from the session's first in this run.
    case committing(through: UInt64)
    /// To memory, until the disk takes them again.
    case failing
}

extension ListenerJournal.Opened {
    /// Where entries go from now on.
    var disk: JournalDisk {
        switch self {
        case .memory, .unusable, .inUse: .none
        case .file: .committing(through: 0)
        case .failing: .failing
        }
    }

    /// Sentences about what is wrong with the file.
    var problems: [String] {
        switch self {
        case .memory, .inUse: []
        case .file(let problems), .failing(let problems): problems
        case .unusable(let reason): [reason]
        }
    }
}

// The results of the journal's entries.
extension ListenerCore {
    /// The journal says what became of entries.
    mutating func journal(_ report: ListenerJournal.Report, now: LocalInstant) {
        guard self.lifecycle != .stopped else { return }
        switch report {
        case .committed(let through): self.set(disk: .committing(through: through))
        case .failed(let reason):
            self.set(disk: .failing)
            self.storageFailed(reason)
        }
        self.settleTime(now: now)
    }

    /// The file lacks entries, for the reason given.
    mutating func storageFailed(_ reason: String) {
        self.output.log(.error, "The session's file cannot be used: \(reason)")
        self.output.emit(.storageFailed(reason))
    }

    /// Keeps the outcome of a record: it is told once that is on the disk.
    mutating func keepOutcome(_ record: OutboxRecord) {
        self.output.keep(.outcome(record.request))
        self.acknowledgements.kept(record, entry: self.output.keptCount, on: self.disk)
    }
}

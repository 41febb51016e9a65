// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The facts in a log's file when it is opened.
package struct LogFacts: Hashable, Sendable {
    package var identity: LogIdentity
    /// The newest record of each lane.
    package var heads: [Lane: UInt64]
    /// Whether nothing was ever recorded in it.
    package var isNew: Bool
    /// Whether it is a backup's copy that was not restored.
    package var isBackup: Bool
    /// Whether the process that had it open ended without closing it, and its write-ahead log is gone.
    package var isTailMissing: Bool

    package init(
        identity: LogIdentity,
        heads: [Lane: UInt64],
        isNew: Bool = false,
        isBackup: Bool = false,
        isTailMissing: Bool = false
    ) {
        self.identity = identity
        self.heads = heads
        self.isNew = isNew
        self.isBackup = isBackup
        self.isTailMissing = isTailMissing
    }
}

/// The facts in a ledger's file when it is opened.
package struct LedgerFacts: Hashable, Sendable {
    /// Which log it counts; `nil`: it was made just now.
    ///
    /// `last` of an epoch says how far the ledger had counted before it.
    package var identity: LogIdentity?
    /// Up to where each lane is counted.
    package var applied: [Lane: UInt64]
    /// The offset in the highest number of a break that it has anything of; 0: none.
    package var highestBreakOffset: UInt64
    /// Whether it is a backup's copy that was not restored.
    package var isBackup: Bool

    package init(
        identity: LogIdentity?,
        applied: [Lane: UInt64],
        highestBreakOffset: UInt64 = 0,
        isBackup: Bool = false
    ) {
        self.identity = identity
        self.applied = applied
        self.highestBreakOffset = highestBreakOffset
        self.isBackup = isBackup
    }

    /// Whether it never held anything.
    package var isEmpty: Bool {
        let before = self.identity?.epochs.flatMap(\.last.values) ?? []
        return self.highestBreakOffset == 0 && (self.applied.values + before).allSatisfy { $0 == 0 }
    }

    /// How far it is in a lane.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - base: that of the epoch that the ledger is in.
    /// - Returns: up to which offset it knows something of the lane; 0: nothing.
    func position(in lane: Lane, base: UInt64) -> UInt64 {
        let applied = self.applied[lane] ?? 0
        // Outcomes may name breaks that the lane of breaks is not told of yet. Those of an epoch before, which the log
        // has lost, say nothing about where the ledger goes on.
        guard lane == .breaks, self.highestBreakOffset > base else { return applied }
        return max(applied, self.highestBreakOffset)
    }

    var lanes: Set<Lane> { Set(self.applied.keys).union([.breaks]) }
}

/// Something that shows that a ledger counted other records than the log has at the same offsets.
package enum HistoryDifference: Hashable, Sendable {
    /// The last record that it counted in a lane is another one.
    case record(Lane, offset: UInt64)
    /// The record that a break's number points to does not publish that break.
    case breakNumber(BreakNumber)
}

/// Whether a log and a ledger belong together, and what to do so that they do.
///
/// The decision is pure: it knows nothing of files.
package enum StoreReconciliation: Hashable, Sendable {
    /// Why a new epoch begins.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The ledger counted records that the log does not have.
        case ledgerAhead
        /// The ledger went through epochs that the log does not know.
        case logOlder
        /// There is no log any more.
        case logLost
        /// The log's write-ahead log is gone: what was confirmed last may be missing.
        case tailMissing
        /// The log is a backup's copy.
        case backup

        /// For people.
        package var sentence: String {
            switch self {
            case .ledgerAhead: "The ledger has counted records that the event log does not have any more."
            case .logOlder: "The event log is older than the ledger."
            case .logLost: "The event log is gone, and the ledger is still there."
            case .tailMissing:
                "The gateway before was not stopped in order, and the file events.sqlite-wal is gone: what was"
                    + " confirmed last may be lost."
            case .backup: "The event log is a backup's copy."
            }
        }
    }

    /// Why log and ledger cannot be used together.
    package enum Refusal: Hashable, Sendable {
        /// The ledger counts another log.
        case otherLog(ledger: LogID, log: LogID)
        /// Both went on from the same copy, each in epochs of its own.
        case otherBranch
        /// The same offsets are those of other records.
        case otherHistory(HistoryDifference)
        /// There is no room for the offsets of one more epoch.
        case offsetsExhausted

        /// For people: what is wrong, and what to do.
        package var sentence: String {
            let remedy =
                "put back the files that belong together, or move ledger.sqlite away: it is counted anew from the log"
            switch self {
            case .otherLog(let ledger, let log):
                return "ledger.sqlite counts the log \(ledger) and events.sqlite is the log \(log): \(remedy)"
            case .otherBranch:
                return "ledger.sqlite and events.sqlite went on from one backup separately: \(remedy)"
            case .otherHistory(.record(let lane, let offset)):
                return "ledger.sqlite has counted another record than events.sqlite holds at offset \(offset) of"
                    + " \(lane): \(remedy)"
            case .otherHistory(.breakNumber(let number)):
                return "the break that ledger.sqlite knows by the number \(number.rawValue) is another one in"
                    + " events.sqlite: \(remedy)"
            case .offsetsExhausted:
                return "the offsets of events.sqlite are used up: begin with an empty folder, and keep this one for its"
                    + " reports"
            }
        }
    }

    /// The data that is written into the ledger so that it follows the log.
    package struct LedgerMove: Hashable, Sendable {
        /// `last` of an epoch says how far the ledger had counted before it.
        package var identity: LogIdentity
        /// Where the ledger goes on in lanes that do not go on where they are.
        package var applied: [Lane: UInt64]

        package init(identity: LogIdentity, applied: [Lane: UInt64]) {
            self.identity = identity
            self.applied = applied
        }
    }

    /// They belong together; `nil`: as they are.
    case fits(LedgerMove?)
    /// The log goes on in a new epoch, with this identity, and the ledger follows.
    case beginEpoch(Reason, LogIdentity, LedgerMove)
    case refuse(Refusal)

    /// Decides.
    ///
    /// - Parameters:
    ///   - log: the facts in the log.
    ///   - ledger: the facts in the ledger.
    ///   - difference: the difference found in the log at the ledger's position.
    ///   - floor: a new epoch gives out no offset up to it: others may know these offsets, for instance the files that a restore
    ///     replaces.
    ///   - epoch: the number of a new epoch, if one is needed.
    /// - Returns: the same for the same facts.
    package static func decide(
        log: LogFacts,
        ledger: LedgerFacts,
        difference: HistoryDifference? = nil,
        floor: UInt64 = 0,
        epoch: UInt64
    ) -> StoreReconciliation {
        let facts = StoreFacts(log: log, ledger: ledger, floor: floor)
        guard let counted = facts.counted else {
            return .refuse(.otherLog(ledger: ledger.identity?.logID ?? log.identity.logID, log: log.identity.logID))
        }
        let common = zip(log.identity.epochs, counted.epochs).prefix { $0.number == $1.number }.count
        let isLogLost = counted.logID != log.identity.logID
        if !isLogLost {
            // Two that went on separately may have given the same offsets to different records, unless what the log
            // gave begins above all that the ledger knows: then it went on from an older copy, and the ledger was not
            // told.
            let isApart = common < log.identity.epochs.count && common < counted.epochs.count
            guard common > 0, !isApart || facts.known(counted: counted) <= log.identity.epochs[common].base else {
                return .refuse(.otherBranch)
            }
            if let difference { return .refuse(.otherHistory(difference)) }
        }
        let meeting = facts.meeting(counted: counted, common: isLogLost ? 0 : common)
        guard let reason = facts.reason(meeting, counted: counted, common: common, isLogLost: isLogLost) else {
            return .fits(facts.move(meeting, to: log.identity, counted: counted, common: common))
        }
        let base = facts.highest(counted: counted) + EventLogLimits.epochOffsetStep
        guard base + EventLogLimits.epochOffsetStep <= EventLogLimits.offsetsPerLaneMax else {
            return .refuse(.offsetsExhausted)
        }
        let before = isLogLost ? counted : log.identity
        let next = before.continued(epoch: epoch, base: base, last: log.heads)
        let move = facts.move(meeting, to: next, counted: counted, common: isLogLost ? counted.epochs.count : common)
        return .beginEpoch(reason, next, move ?? LedgerMove(identity: next, applied: [:]))
    }
}

/// How far log and ledger are in each lane at the end of the newest epoch that both went through.
private struct Meeting {
    var log: [Lane: UInt64]
    var ledger: [Lane: UInt64]

    /// The lanes in which the ledger has counted what the log does not have.
    var isLedgerAhead: Bool { self.ledger.contains { lane, offset in offset > self.log[lane] ?? 0 } }
}

private struct StoreFacts {
    let log: LogFacts
    let ledger: LedgerFacts
    let floor: UInt64

    /// The epochs that the ledger went through; `nil`: they are those of another log.
    var counted: LogIdentity? {
        let first = LogIdentity(logID: self.log.identity.logID, epoch: self.log.identity.epochs[0].number)
        // A new ledger is one of the first epoch.
        guard let identity = self.ledger.identity else { return first }
        if identity.logID == self.log.identity.logID { return identity }
        if self.ledger.isEmpty { return first }
        // The ledger of another gateway, unless the log was lost and this one was made in its place.
        return self.log.isNew ? identity : nil
    }

    /// Where the two are at the end of the newest of their common epochs.
    func meeting(counted: LogIdentity, common: Int) -> Meeting {
        var meeting = Meeting(log: [:], ledger: [:])
        for lane in self.ledger.lanes.union(self.log.heads.keys) {
            // An epoch after the common ones says where it went on from; a later one may have lost more.
            let last = self.log.identity.epochs.dropFirst(max(1, common)).map { $0.last(of: lane) }.min()
            meeting.log[lane] = 0 < common ? last ?? self.log.heads[lane] ?? 0 : self.log.heads[lane] ?? 0
            meeting.ledger[lane] =
                0 < common && common < counted.epochs.count
                ? self.counted(in: lane, before: counted.epochs[common])
                : self.ledger.position(in: lane, base: counted.current.base)
        }
        return meeting
    }

    /// How far the ledger had counted before an epoch; it may not have come to it yet.
    private func counted(in lane: Lane, before epoch: LogIdentity.Epoch) -> UInt64 {
        let applied = self.ledger.applied[lane] ?? 0
        return applied <= epoch.base ? max(applied, epoch.last(of: lane)) : epoch.last(of: lane)
    }

    /// Why a new epoch has to begin; `nil`: it does not.
    func reason(
        _ meeting: Meeting,
        counted: LogIdentity,
        common: Int,
        isLogLost: Bool
    ) -> StoreReconciliation.Reason? {
        if isLogLost { return .logLost }
        if common < counted.epochs.count, common == self.log.identity.epochs.count { return .logOlder }
        // The log went on from a jump already: then the ledger follows it, unless the jump was too short.
        let newest = meeting.ledger.values.max() ?? 0
        let isBehindJump = common < self.log.identity.epochs.count && newest <= self.log.identity.epochs[common].base
        if meeting.isLedgerAhead, !isBehindJump { return self.log.isNew ? .logLost : .ledgerAhead }
        if self.log.isBackup { return .backup }
        return self.log.isTailMissing ? .tailMissing : nil
    }

    /// The highest offset that the ledger knows.
    func known(counted: LogIdentity) -> UInt64 {
        ([counted.current.base, self.ledger.highestBreakOffset] + self.ledger.applied.values).max() ?? 0
    }

    /// The highest offset that anybody knows.
    func highest(counted: LogIdentity) -> UInt64 {
        let known = [self.floor, self.log.identity.current.base, self.known(counted: counted)]
        return (known + self.log.heads.values).max() ?? 0
    }

    /// The data that the ledger needs to follow an identity of the log; `nil`: none.
    func move(
        _ meeting: Meeting,
        to identity: LogIdentity,
        counted: LogIdentity,
        common: Int
    ) -> StoreReconciliation.LedgerMove? {
        var epochs = Array(counted.epochs.prefix(common))
        for each in identity.epochs.dropFirst(common) {
            let last = meeting.ledger.mapValues { min($0, each.base) }
            epochs.append(LogIdentity.Epoch(number: each.number, base: each.base, last: last))
        }
        guard let next = LogIdentity(logID: identity.logID, epochs: epochs) else {
            preconditionFailure("epochs that both knew and new ones make an identity")
        }
        // Up to what both have; what the ledger has counted beyond stays counted, and is not counted again.
        var applied: [Lane: UInt64] = [:]
        for (lane, offset) in meeting.ledger {
            let now = self.ledger.applied[lane] ?? 0
            var shared = min(offset, meeting.log[lane] ?? 0)
            // The ledger was not in an epoch of its own: there is no reason to go forward.
            if common == counted.epochs.count { shared = min(shared, now) }
            // Where the log has lost that record, the one before the jump.
            let known = self.log.identity
            shared = known.preceding(known.following(shared, in: lane), in: lane)
            if shared != now { applied[lane] = shared }
        }
        let isSame = self.ledger.identity == next && applied.isEmpty && !self.ledger.isBackup
        return isSame ? nil : StoreReconciliation.LedgerMove(identity: next, applied: applied)
    }
}

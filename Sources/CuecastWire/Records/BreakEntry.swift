// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One thing asked of a break or an ad list, with all that the gateway's clock and configuration decided about it, so that every
/// reader of the event log comes to the same result.
package struct BreakEntry: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case publish(Publish)
        /// Starts a cued break at `start`, which is what the request's start means by the gateway's clock.
        case punch(BroadcastRequest.Punch, start: Timestamp)
        case update(Update)
        case end(BroadcastRequest.End)
        case cancel(BreakKey)
        case postpone(Postpone)
        /// A signal about a stream; the board finds the break that it means.
        case signal(Signal)
        case putList(BroadcastRequest.PutList)
        case removeList(AdListName)
        /// A timer's decision, about the break of this number only: a repeat is harmless.
        case announce(BreakKey, BreakNumber, window: RequestWindow)
        /// A timer's decision, about the break of this number only: a repeat is harmless.
        case expire(BreakKey, BreakNumber)
        /// Advances the log's own time to this instant at most, and drops data that is too old by it.
        case housekeeping(Timestamp)
        /// From here on the fold goes by this version of its rules.
        case rules(UInt32)
    }

    package struct Publish: Hashable, Sendable {
        /// As the broadcaster sent it: repeats are compared with this.
        package var request: BroadcastRequest.Publish
        /// The start by the gateway's clock; `nil` for cued and pre-stream breaks.
        package var start: Timestamp?
        /// When the announcement is due.
        package var announce: Timestamp
        package var window: RequestWindow
        /// Until when a cued or pre-stream break is held.
        package var holdUntil: Timestamp?
        /// The longest that a break without a duration lasts.
        package var safetyDuration: Duration

        package init(
            request: BroadcastRequest.Publish,
            start: Timestamp?,
            announce: Timestamp,
            window: RequestWindow,
            holdUntil: Timestamp?,
            safetyDuration: Duration
        ) {
            self.request = request
            self.start = start
            self.announce = announce
            self.window = window
            self.holdUntil = holdUntil
            self.safetyDuration = safetyDuration
        }
    }

    package struct Update: Hashable, Sendable {
        package var request: BroadcastRequest.Update
        /// The new start by the gateway's clock, where the request has one, with what follows from it.
        package var start: Timestamp?
        package var announce: Timestamp?
        package var window: RequestWindow?

        package init(
            request: BroadcastRequest.Update,
            start: Timestamp? = nil,
            announce: Timestamp? = nil,
            window: RequestWindow? = nil
        ) {
            self.request = request
            self.start = start
            self.announce = announce
            self.window = window
        }
    }

    package struct Postpone: Hashable, Sendable {
        package var request: BroadcastRequest.Postpone
        /// The start that the break must have: as the request says, or as it was when the gateway received that.
        package var from: Timestamp
        /// The announcement that follows from the new start.
        package var announce: Timestamp
        package var window: RequestWindow

        package init(request: BroadcastRequest.Postpone, from: Timestamp, announce: Timestamp, window: RequestWindow) {
            self.request = request
            self.from = from
            self.announce = announce
            self.window = window
        }

        /// The new start.
        package var start: Timestamp { self.from + self.request.by }
    }

    /// When the gateway received it, or when the timer fired.
    package var at: Timestamp
    /// The broadcaster that asked; empty where broadcasters are not told apart.
    package var broadcaster: String
    /// The revision that the break must have for anything to change, `nil` for any; or one of `ExpectedRevision`.
    ///
    /// Timers expect none.
    package var expectedRevision: UInt64?
    /// The trace of the request, with the gateway's span for it; `nil`: it is not traced.
    ///
    /// It decides nothing. Entries of timers have none.
    package var trace: TraceContext?
    package var kind: Kind

    package init(
        at: Timestamp,
        broadcaster: String = "",
        expectedRevision: UInt64? = nil,
        trace: TraceContext? = nil,
        kind: Kind
    ) {
        self.at = at
        self.broadcaster = broadcaster
        self.expectedRevision = expectedRevision
        self.trace = trace
        self.kind = kind
    }

    /// The break that it names; `nil`: it is about a stream, an ad list, or the board as a whole.
    package var key: BreakKey? {
        switch self.kind {
        case .publish(let publish): publish.request.key
        case .punch(let punch, _): punch.key
        case .cancel(let key), .announce(let key, _, _), .expire(let key, _): key
        case .update(let update): update.request.key
        case .postpone(let postpone): postpone.request.key
        case .end(let end): end.key
        case .signal, .putList, .removeList, .housekeeping, .rules: nil
        }
    }

    /// The stream that it is about; `nil`: it is about no stream.
    package var stream: StreamID? {
        if case .signal(let signal) = self.kind { return signal.request.stream }
        return self.key?.stream
    }
}

/// One record of the lane `breaks`: entries that were decided together and became durable together.
package struct BreakGroup: Hashable, Sendable {
    /// The most entries in one group; break numbers leave room for as many.
    package static let groupEntriesMax = 1_024

    /// The last offset that a group can have: the numbers of its breaks still fit into 64 bits.
    package static let offsetMax = UInt64.max / UInt64(groupEntriesMax)

    /// Of the append that brought it; `nil`: the writer gave none.
    package var id: AppendID?
    package var entries: [BreakEntry]

    package init(id: AppendID? = nil, entries: [BreakEntry]) {
        precondition(entries.count <= Self.groupEntriesMax, "a group holds at most \(Self.groupEntriesMax) entries")
        self.id = id
        self.entries = entries
    }

    /// The number of the break that the entry at `index` of the group at `offset` publishes.
    package static func breakNumber(offset: UInt64, index: Int) -> BreakNumber {
        BreakNumber(rawValue: offset * UInt64(Self.groupEntriesMax) + UInt64(index))
    }

    /// Reads a record of the log.
    ///
    /// A record that cannot be read means that the log was written by a later version or is
    /// damaged: the caller stops rather than leave it out.
    package init(decoding record: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_BreakGroup.self,
            from: record,
            atMost: .max,
            limit: "log record",
            what: "a group of breaks"
        )
        try requireAtMost(Self.groupEntriesMax, wire.entries.count, limit: "groupEntriesMax")
        self.id = wire.hasID ? AppendID(origin: wire.id.origin, number: wire.id.number) : nil
        self.entries = try wire.entries.map { (entry) throws(WireError) in try BreakEntry(wire: entry) }
    }

    /// The record's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_BreakGroup.with {
                if let id = self.id {
                    $0.id = .with {
                        $0.origin = id.origin
                        $0.number = id.number
                    }
                }
                $0.entries = self.entries.map(\.wire)
            }
        )
    }
}

extension BreakEntry {
    init(wire: Cuecast_V1_BreakEntry) throws(WireError) {
        self.at = Timestamp(microseconds: wire.atUs)
        self.broadcaster = wire.broadcaster
        self.trace = TraceContext(bytes: wire.trace)
        switch wire.kind {
        case .publish(let entry): self.kind = .publish(try Publish(wire: entry))
        case .punch(let entry): self.kind = try .init(wire: entry)
        case .update(let entry): self.kind = .update(try Update(wire: entry))
        case .end(let entry): self.kind = .end(try BroadcastRequest.End(wire: entry))
        case .cancel(let entry): self.kind = .cancel(try BreakKey(entry.stream, entry.breakID))
        case .postpone(let entry): self.kind = .postpone(try Postpone(wire: entry))
        case .expecting(let entry):
            let makes: Bool
            switch entry.kind {
            case .publish, .putList: makes = true
            default: makes = false
            }
            self.expectedRevision = try breakRevision(entry.revision, field: "revision", mayBeAbsent: makes)
            switch entry.kind {
            case .publish(let entry): self.kind = .publish(try Publish(wire: entry))
            case .punch(let entry): self.kind = try .init(wire: entry)
            case .update(let entry): self.kind = .update(try Update(wire: entry))
            case .end(let entry): self.kind = .end(try BroadcastRequest.End(wire: entry))
            case .cancel(let entry): self.kind = .cancel(try BreakKey(entry.stream, entry.breakID))
            case .postpone(let entry): self.kind = .postpone(try Postpone(wire: entry))
            case .putList(let entry): self.kind = .putList(try BroadcastRequest.PutList(wire: entry))
            case .removeList(let entry): self.kind = .removeList(try AdListName(entry.name))
            case nil: throw .malformed(what: "a break entry that this version knows")
            }
        case .announce(let entry):
            self.kind = .announce(
                try BreakKey(entry.stream, entry.breakID),
                BreakNumber(rawValue: entry.breakNumber),
                window: RequestWindow(wire: entry.window)
            )
        case .expire(let entry):
            self.kind = .expire(
                try BreakKey(entry.stream, entry.breakID),
                BreakNumber(rawValue: entry.breakNumber)
            )
        case .housekeeping(let entry): self.kind = .housekeeping(Timestamp(microseconds: entry.timeUs))
        case .rules(let entry): self.kind = .rules(try FoldRules.version(entry.version))
        case .signal(let entry): self.kind = .signal(try Signal(wire: entry))
        case .putList(let entry): self.kind = .putList(try BroadcastRequest.PutList(wire: entry))
        case .removeList(let entry): self.kind = .removeList(try AdListName(entry.name))
        case nil: throw .malformed(what: "a break entry that this version knows")
        }
    }

    var wire: Cuecast_V1_BreakEntry {
        .with {
            $0.atUs = self.at.microseconds
            $0.broadcaster = self.broadcaster
            if let trace = self.trace { $0.trace = Data(trace.bytes) }
            guard let revision = self.expectedRevision else {
                $0.kind = self.kind.wire
                return
            }
            $0.expecting = .with {
                $0.revision = revision
                $0.kind = self.kind.expectingWire
            }
        }
    }
}

extension BreakEntry.Kind {
    fileprivate init(wire: Cuecast_V1_PunchEntry) throws(WireError) {
        self = .punch(
            try BroadcastRequest.Punch(wire: wire.punch),
            start: Timestamp(microseconds: wire.startUs)
        )
    }

    fileprivate var wire: Cuecast_V1_BreakEntry.OneOf_Kind {
        switch self {
        case .publish(let entry): .publish(entry.wire)
        case .punch(let punch, let start): .punch(punch.entryWire(start: start))
        case .update(let entry): .update(entry.wire)
        case .end(let end): .end(end.wire)
        case .cancel(let key): .cancel(key.cancelWire)
        case .postpone(let entry): .postpone(entry.wire)
        case .announce(let key, let number, let window):
            .announce(
                .with {
                    $0.stream = key.stream.description
                    $0.breakID = key.id.description
                    $0.breakNumber = number.rawValue
                    $0.window = window.wire
                }
            )
        case .expire(let key, let number):
            .expire(
                .with {
                    $0.stream = key.stream.description
                    $0.breakID = key.id.description
                    $0.breakNumber = number.rawValue
                }
            )
        case .housekeeping(let time): .housekeeping(.with { $0.timeUs = time.microseconds })
        case .rules(let version): .rules(.with { $0.version = version })
        case .signal(let entry): .signal(entry.wire)
        case .putList(let entry): .putList(entry.wire)
        case .removeList(let name): .removeList(name.removeWire)
        }
    }

    /// The same under a condition; `nil` for signals and for what timers decide, which have none.
    fileprivate var expectingWire: Cuecast_V1_ExpectingEntry.OneOf_Kind? {
        switch self {
        case .publish(let entry): .publish(entry.wire)
        case .punch(let punch, let start): .punch(punch.entryWire(start: start))
        case .update(let entry): .update(entry.wire)
        case .end(let end): .end(end.wire)
        case .cancel(let key): .cancel(key.cancelWire)
        case .postpone(let entry): .postpone(entry.wire)
        case .putList(let entry): .putList(entry.wire)
        case .removeList(let name): .removeList(name.removeWire)
        case .signal, .announce, .expire, .housekeeping, .rules: nil
        }
    }
}

extension BroadcastRequest.Punch {
    fileprivate func entryWire(start: Timestamp) -> Cuecast_V1_PunchEntry {
        .with {
            $0.punch = self.wire
            $0.startUs = start.microseconds
        }
    }
}

extension BreakEntry.Update {
    fileprivate init(wire: Cuecast_V1_UpdateEntry) throws(WireError) {
        self.init(
            request: try BroadcastRequest.Update(wire: wire.update),
            start: wire.hasStartUs ? Timestamp(microseconds: wire.startUs) : nil,
            announce: wire.hasAnnounceUs ? Timestamp(microseconds: wire.announceUs) : nil,
            window: wire.hasWindow ? RequestWindow(wire: wire.window) : nil
        )
    }

    fileprivate var wire: Cuecast_V1_UpdateEntry {
        .with {
            $0.update = self.request.wire
            if let start = self.start { $0.startUs = start.microseconds }
            if let announce = self.announce { $0.announceUs = announce.microseconds }
            if let window = self.window { $0.window = window.wire }
        }
    }
}

extension BreakEntry.Postpone {
    fileprivate init(wire: Cuecast_V1_PostponeEntry) throws(WireError) {
        self.init(
            request: try BroadcastRequest.Postpone(wire: wire.postpone),
            from: Timestamp(microseconds: wire.fromUs),
            announce: Timestamp(microseconds: wire.announceUs),
            window: RequestWindow(wire: wire.window)
        )
    }

    fileprivate var wire: Cuecast_V1_PostponeEntry {
        .with {
            $0.postpone = self.request.wire
            $0.fromUs = self.from.microseconds
            $0.announceUs = self.announce.microseconds
            $0.window = self.window.wire
        }
    }
}

extension BreakEntry.Publish {
    var wire: Cuecast_V1_PublishEntry {
        .with {
            $0.publish = self.request.wire
            if let start = self.start { $0.startUs = start.microseconds }
            $0.announceUs = self.announce.microseconds
            $0.window = self.window.wire
            if let holdUntil = self.holdUntil { $0.holdUntilUs = holdUntil.microseconds }
            $0.safetyDurationMs = self.safetyDuration.inMilliseconds
        }
    }
}

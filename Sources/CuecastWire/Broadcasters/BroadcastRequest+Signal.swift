// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The kind of a signal.
package enum SignalKind: Int, CaseIterable, Sendable {
    /// The programme goes out of: a break begins.
    case out = 1
    /// The programme comes back in: the break ends.
    case `in` = 2
    /// The break that was signalled does not take place.
    case cancel = 3

    /// The word of the field for it, for instance `OUT`.
    package var name: String {
        switch self {
        case .out: "OUT"
        case .in: "IN"
        case .cancel: "CANCEL"
        }
    }
}

/// The name of one event of one source: all signals with it are about the same break, while that lasts.
package struct SignalName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let source: SignalSource
    package let event: SignalEventID

    package init(source: SignalSource, event: SignalEventID) {
        self.source = source
        self.event = event
    }

    package var description: String { "\(self.event) of the source \(self.source)" }

    package static func < (left: Self, right: Self) -> Bool {
        (left.source, left.event) < (right.source, right.event)
    }
}

extension BroadcastRequest {
    /// A report of an encoder, a playlist, an automation system or a person about the programme of a stream.
    package struct Signal: Hashable, Sendable {
        package var stream: StreamID
        package var name: SignalName
        package var kind: SignalKind
        /// When it is so; `nil`: when the gateway receives it.
        package var start: BreakStart?
        /// Whether the start is a place in the programme, which may lie in the past and is not moved.
        package var isProgrammeTime: Bool
        /// How long the break is to last; `nil`: that is not said.
        package var duration: Duration?
        /// As the source wrote it, for records.
        package var raw: [UInt8]

        package init(
            stream: StreamID,
            name: SignalName,
            kind: SignalKind,
            start: BreakStart? = nil,
            isProgrammeTime: Bool = false,
            duration: Duration? = nil,
            raw: [UInt8] = []
        ) {
            self.stream = stream
            self.name = name
            self.kind = kind
            self.start = start
            self.isProgrammeTime = isProgrammeTime
            self.duration = duration
            self.raw = raw
        }
    }
}

// MARK: - Rules

extension BroadcastRequest.Signal {
    /// Looks at all rules, and cuts times to whole milliseconds.
    mutating func check() throws(WireError) {
        self.start = self.start?.cutToMilliseconds
        if self.kind == .cancel, self.start != nil {
            throw .invalid(field: "start", rule: "a signal that takes a break back has none")
        }
        if self.kind != .out, self.duration != nil {
            throw .invalid(field: "duration_ms", rule: "only a signal that begins a break has one")
        }
        self.duration = try breakDuration(self.duration)
        try requireAtMost(WireLimits.signalRawBytesMax, self.raw.count, limit: "signalRawBytesMax")
    }

    /// A signal is known by its source and its event: no revision goes with it.
    static func check(expectedRevision: UInt64?) throws(WireError) {
        guard expectedRevision == nil else {
            throw .invalid(field: "expected_revision", rule: "a signal has none")
        }
    }

    var encodedByteCount: Int {
        EncodedSize.text(self.stream.description) + EncodedSize.text(self.name.source.description)
            + EncodedSize.number(UInt(self.kind.rawValue)) + EncodedSize.text(self.name.event.description)
            + (self.start.map { EncodedSize.message($0.encodedByteCount) } ?? 0)
            + EncodedSize.flag(self.isProgrammeTime)
            + (self.duration.map { EncodedSize.present($0.inMilliseconds) } ?? 0)
            + EncodedSize.bytes(self.raw.count)
    }
}

// MARK: - Wire

extension BroadcastRequest.Signal {
    init(wire: Cuecast_V1_Signal) throws(WireError) {
        self.init(
            stream: try StreamID(wire.stream),
            name: SignalName(source: try SignalSource(wire.source), event: try SignalEventID(wire.eventID)),
            kind: try requireKnown(wire.kind, field: "kind") { SignalKind(rawValue: $0.rawValue) },
            start: wire.hasStart ? try BreakStart(wire: wire.start) : nil,
            isProgrammeTime: wire.programmeTime,
            duration: wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil,
            raw: Array(wire.raw)
        )
        try self.check()
    }

    var wire: Cuecast_V1_Signal {
        .with {
            $0.stream = self.stream.description
            $0.source = self.name.source.description
            $0.kind = .init(rawValue: self.kind.rawValue) ?? .unspecified
            $0.eventID = self.name.event.description
            if let start = self.start { $0.start = start.wire }
            $0.programmeTime = self.isProgrammeTime
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            $0.raw = Data(self.raw)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a stream's history stands.
package struct Position: Hashable, Sendable, CustomStringConvertible {
    /// Changes when history is lost; positions of different epochs cannot be compared.
    package let epoch: UInt64
    /// Counts the stream's notices 1, 2, 3 … without gaps; 0 before the first.
    package let sequence: UInt64

    package init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    package var description: String { "\(String(self.epoch, radix: 16)):\(self.sequence)" }

    init(wire: Cuecast_V1_Position) {
        self.init(epoch: wire.epoch, sequence: wire.sequence)
    }

    var wire: Cuecast_V1_Position {
        .with {
            $0.epoch = self.epoch
            $0.sequence = self.sequence
        }
    }
}

/// How a break that ends early treats the advertisement that is playing.
package enum EndMode: Int, CaseIterable, Sendable {
    /// It stops at the end.
    case cut = 1
    /// It plays to its own end.
    case finishAd = 2

    init?(wire: Cuecast_V1_EndMode) { self.init(rawValue: wire.rawValue) }
    var wire: Cuecast_V1_EndMode { .init(rawValue: self.rawValue) ?? .unspecified }
}

/// Why a break was withdrawn.
package enum CancelReason: Int, CaseIterable, Sendable {
    case broadcaster = 1
    /// A cued break was not punched in time.
    case notStarted = 2

    init?(wire: Cuecast_V1_CancelReason) { self.init(rawValue: wire.rawValue) }
    var wire: Cuecast_V1_CancelReason { .init(rawValue: self.rawValue) ?? .unspecified }
}

/// When listeners ask for their batch: each at its own instant from the one to the other.
package struct RequestWindow: Hashable, Sendable {
    package let from: Timestamp
    package let by: Timestamp

    package init(from: Timestamp, by: Timestamp) {
        self.from = from
        self.by = by
    }

    init(wire: Cuecast_V1_RequestWindow) {
        self.init(from: Timestamp(microseconds: wire.fromUs), by: Timestamp(microseconds: wire.byUs))
    }

    var wire: Cuecast_V1_RequestWindow {
        .with {
            $0.fromUs = self.from.microseconds
            $0.byUs = self.by.microseconds
        }
    }
}

/// The small message that tells the listeners of a stream that something about a break changed.
package struct Notice: Hashable, Sendable {
    package enum Kind: Int, CaseIterable, Sendable {
        /// Advertisements are available: ask for the batch in the window.
        case available = 1
        /// Something about an announced break changed.
        case updated = 2
        /// The break ends earlier than announced.
        case ended = 3
        /// The break will not be played (any further).
        case cancelled = 4
        /// Only tells the stream's position; takes no sequence of its own and names no break.
        case head = 5
    }

    package var position: Position
    package var kind: Kind
    /// Absent in `head` notices only.
    package var breakID: BreakID?
    /// Absent while the break is cued, and for pre-stream breaks.
    package var start: Timestamp?
    /// The most that the break lasts; absent: until it is ended.
    package var duration: Duration?
    package var window: RequestWindow?
    /// From when on the break can no longer be played by a listener who hears the stream live.
    package var expires: Timestamp
    package var advertisementCount: Int
    package var sent: Timestamp
    package var preStream: Bool
    package var exact: Bool
    package var endMode: EndMode
    package var cancelReason: CancelReason?
    /// The trace of the request that led to it, with the gateway's span for that request; `nil`: that is not traced.
    package var trace: TraceContext?
    /// In a head only: the listener is asked to go on at another gateway.
    package var move: Move?

    package init(
        position: Position,
        kind: Kind,
        breakID: BreakID?,
        start: Timestamp? = nil,
        duration: Duration? = nil,
        window: RequestWindow? = nil,
        expires: Timestamp,
        advertisementCount: Int = 0,
        sent: Timestamp,
        preStream: Bool = false,
        exact: Bool = false,
        endMode: EndMode = .cut,
        cancelReason: CancelReason? = nil,
        trace: TraceContext? = nil
    ) {
        self.position = position
        self.kind = kind
        self.breakID = breakID
        self.start = start
        self.duration = duration
        self.window = window
        self.expires = expires
        self.advertisementCount = advertisementCount
        self.sent = sent
        self.preStream = preStream
        self.exact = exact
        self.endMode = endMode
        self.cancelReason = cancelReason
        self.trace = trace
    }

    /// A notice that only tells the stream's position, and perhaps asks to go on at another gateway.
    package static func head(_ position: Position, sent: Timestamp, move: Move? = nil) -> Notice {
        var notice = Notice(position: position, kind: .head, breakID: nil, expires: sent, sent: sent)
        notice.move = move
        return notice
    }
}

extension Notice {
    init(wire: Cuecast_V1_Notice) throws(WireError) {
        let kind = try requireKnown(wire.kind, field: "kind") { Kind(rawValue: $0.rawValue) }
        self.init(
            position: Position(wire: wire.position),
            kind: kind,
            breakID: kind == .head ? nil : try BreakID(wire.breakID),
            start: wire.hasStartUs ? Timestamp(microseconds: wire.startUs) : nil,
            duration: wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil,
            window: wire.hasWindow ? RequestWindow(wire: wire.window) : nil,
            expires: Timestamp(microseconds: wire.expiresUs),
            advertisementCount: Int(wire.advertisementCount),
            sent: Timestamp(microseconds: wire.sentUs),
            preStream: wire.preStream,
            exact: wire.exact,
            endMode: EndMode(wire: wire.endMode) ?? .cut,
            cancelReason: CancelReason(wire: wire.cancelReason),
            trace: TraceContext(bytes: wire.trace)
        )
        self.move = kind == .head && wire.hasMove ? Move(wire: wire.move) : nil
    }

    var wire: Cuecast_V1_Notice {
        .with {
            $0.position = self.position.wire
            $0.kind = .init(rawValue: self.kind.rawValue) ?? .unspecified
            $0.breakID = self.breakID?.description ?? ""
            if let start = self.start { $0.startUs = start.microseconds }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            if let window = self.window { $0.window = window.wire }
            $0.expiresUs = self.expires.microseconds
            $0.advertisementCount = UInt32(clamping: self.advertisementCount)
            $0.sentUs = self.sent.microseconds
            $0.preStream = self.preStream
            $0.exact = self.exact
            $0.endMode = self.endMode.wire
            $0.cancelReason = self.cancelReason?.wire ?? .unspecified
            if let trace = self.trace { $0.trace = Data(trace.bytes) }
            if let move = self.move { $0.move = move.wire }
        }
    }
}

/// The content of one PUB/SUB frame: a stream's notice, or the tick that proves subscriptions.
package enum NoticeFrame: Hashable, Sendable {
    case notice(Notice, stream: StreamID)
    case tick(SyncTick)

    /// The topic of ticks.
    ///
    /// `~` sorts after every stream id: libzmq sends subscriptions in byte order, so that a tick
    /// received proves that every stream subscription of the same connection has taken effect.
    package static let syncTopic: [UInt8] = Array("~sync".utf8) + [0]

    /// The topic of a stream: its id and a zero byte, so that `radio1` never receives `radio10`.
    package static func topic(of stream: StreamID) -> [UInt8] {
        Array(stream.description.utf8) + [0]
    }

    /// Reads one frame; never traps.
    package init(decoding frame: [UInt8]) throws(WireError) {
        try requireAtMost(WireLimits.noticeFrameBytesMax, frame.count, limit: "noticeFrameBytesMax")
        guard let zero = frame.firstIndex(of: 0) else {
            throw .malformed(what: "a notice: the zero byte that ends the topic is missing")
        }
        let body = Array(frame[(zero + 1)...])
        if frame.starts(with: Self.syncTopic) {
            self = .tick(
                SyncTick(
                    wire: try decode(
                        Cuecast_V1_SyncTick.self,
                        from: body,
                        atMost: WireLimits.noticeFrameBytesMax,
                        limit: "noticeFrameBytesMax",
                        what: "a sync tick"
                    )
                )
            )
            return
        }
        let stream = try StreamID(String(decoding: frame[..<zero], as: UTF8.self))
        let wire = try decode(
            Cuecast_V1_Notice.self,
            from: body,
            atMost: WireLimits.noticeFrameBytesMax,
            limit: "noticeFrameBytesMax",
            what: "a notice"
        )
        self = .notice(try Notice(wire: wire), stream: stream)
    }

    /// The frame's bytes.
    package func encoded() -> [UInt8] {
        switch self {
        case .notice(let notice, let stream): Self.topic(of: stream) + encode(notice.wire)
        case .tick(let tick): Self.syncTopic + encode(tick.wire)
        }
    }
}

/// The proof that subscriptions have taken effect, sent several times a second.
package struct SyncTick: Hashable, Sendable {
    /// Which run of the gateway this is.
    package let instance: UInt64
    package let counter: UInt64

    package init(instance: UInt64, counter: UInt64) {
        self.instance = instance
        self.counter = counter
    }

    init(wire: Cuecast_V1_SyncTick) {
        self.init(instance: wire.instance, counter: wire.counter)
    }

    var wire: Cuecast_V1_SyncTick {
        .with {
            $0.instance = self.instance
            $0.counter = self.counter
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import GatewayCore

/// The streams that connections of an ``EdgeLoop`` hear, what was sent of each, and when its position is repeated.
///
/// It does no I/O. Which stream writes next is the ``RunQueue``'s to say, and which of its connections the ``EdgeStream``'s.
struct NoticeFanOut {
    private struct Key: Hashable {
        let id: StreamID
        let framing: NoticeFraming
    }

    private let shared: EdgeShared
    /// The most bytes of this loop's rings: each loop has a share of the limit of all.
    private let ringsBytesMax: Int
    /// Those that connections hear in each framing.
    private var streams: [Key: EdgeStream] = [:]
    /// How many of them are server-sent events: most gateways have none.
    private var eventStreamCount = 0
    /// The bytes in its rings.
    private let rings = EdgeStream.Total()
    /// The last sequence that was sent, which a head notice may state: the board may be ahead.
    private var sent: [StreamID: UInt64]
    private var heads: HeadSchedule
    /// How much of what the rings hold the metric knows.
    private var ringBytesReported = 0

    /// - Parameters:
    ///   - shared: the state that all loops share.
    ///   - sequences: the newest notice of each stream that was sent before.
    init(_ shared: EdgeShared, sequences: [StreamID: UInt64]) {
        self.shared = shared
        self.ringsBytesMax = shared.settings.ringsBytesMax / shared.inboxes.count
        self.sent = sequences
        self.heads = HeadSchedule(interval: shared.settings.headInterval)
    }

    // MARK: - What connections hear

    /// A stream that a connection hears in a framing; `nil`: none does.
    func stream(_ id: StreamID, _ framing: NoticeFraming = .frames) -> EdgeStream? {
        self.streams[Key(id: id, framing: framing)]
    }

    /// Whether connections hear any stream as server-sent events.
    var hasEventStreams: Bool { self.eventStreamCount > 0 }

    /// A connection hears a stream: every notice that comes after this, and none from before.
    mutating func add(
        _ slot: Int,
        to id: StreamID,
        _ framing: NoticeFraming = .frames,
        at elapsed: Timestamp
    ) -> EdgeSlot.Subscription {
        let stream: EdgeStream
        if let known = self.stream(id, framing) {
            stream = known
        } else {
            stream = EdgeStream(
                id: id,
                framing: framing,
                ringBytesMax: self.shared.settings.ringBytesMax,
                total: self.rings
            )
            if !self.isHeard(id) {
                self.heads.subscribed(id, at: elapsed)
                self.shared.subscribed(to: id)
            }
            self.streams[Key(id: id, framing: framing)] = stream
            if framing != .frames { self.eventStreamCount += 1 }
        }
        let place = stream.add(UInt32(slot))
        return EdgeSlot.Subscription(stream: stream, cursor: NoticeCursor(end: stream.ring.end), place: place)
    }

    /// A connection hears a stream no more.
    ///
    /// - Returns: the slot of the connection that has its place among the stream's subscribers now; `nil`: none.
    mutating func remove(_ slot: Int, _ subscription: EdgeSlot.Subscription) -> UInt32? {
        let stream = subscription.stream
        let moved = stream.remove(at: subscription.place)
        stream.early.remove(UInt32(slot))
        if subscription.session != nil {
            stream.pushedCount -= 1
            self.shared.cells.pushed.add(-1)
        }
        if subscription.isBehind {
            stream.behindCount -= 1
            stream.clearIfTaken()
        }
        if stream.subscribers.isEmpty {
            stream.clear()
            self.streams[Key(id: stream.id, framing: stream.framing)] = nil
            if stream.framing != .frames { self.eventStreamCount -= 1 }
            guard !self.isHeard(stream.id) else { return moved }
            self.heads.unsubscribed(stream.id)
            self.shared.unsubscribed(from: stream.id)
        }
        return moved
    }

    /// The streams that connections hear, in any framing.
    var heard: Set<StreamID> { Set(self.streams.keys.map(\.id)) }

    /// Whether a connection hears a stream in any framing.
    private func isHeard(_ id: StreamID) -> Bool {
        NoticeFraming.allCases.contains { self.stream(id, $0) != nil }
    }

    /// Notices of a stream are pushed to one of the connections that hear it.
    func beginPush(of stream: EdgeStream) {
        stream.pushedCount += 1
        self.shared.cells.pushed.add()
    }

    // MARK: - Notices

    /// The sequence of a stream that was sent last.
    func sequence(of stream: StreamID) -> UInt64 { self.sent[stream] ?? 0 }

    /// A notice is sent.
    ///
    /// - Returns: its stream, where a connection hears it as frames.
    mutating func noticed(_ notice: EdgeNotice, at elapsed: Timestamp) -> EdgeStream? {
        self.sent[notice.stream] = notice.sequence
        self.heads.noticed(notice.stream, at: elapsed)
        return self.stream(notice.stream)
    }

    /// The positions that are to be repeated now.
    mutating func takeRepeats(at elapsed: Timestamp) -> [HeadSchedule.Repeat] { self.heads.due(at: elapsed) }

    // MARK: - Rings

    /// Whether the rings hold more than they may.
    var holdsTooMuch: Bool { self.rings.bytes > self.ringsBytesMax }

    /// Has the largest rings let go of their older halves, until there is room again for a while.
    ///
    /// - Returns: whether they held too much.
    func bound() -> Bool { EdgeStream.bound(self.streams.values, self.rings, bytesMax: self.ringsBytesMax) }

    /// Tells the metric what the rings hold.
    mutating func updateRingBytes() {
        self.shared.cells.ringBytes.add(self.rings.bytes - self.ringBytesReported)
        self.ringBytesReported = self.rings.bytes
    }
}

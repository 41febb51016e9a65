// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import ZMTP

@testable import Edge

/// One of the gateway's event loops as far as notices go: the real ring, rounds, cursors and repeats of the position, without
/// sockets.
///
/// What the board tells waits until the loop's turn comes, so that its ring lags behind the board.
struct SimulatedLoop {
    /// A connection that hears the stream.
    private struct Subscriber {
        var cursor: NoticeCursor
        /// Its place among those that hear the stream.
        var place: Int
        /// Whether notices are pushed to it.
        var isPushed = false
        /// Whether it did not take all that waited.
        var isBehind = false
        /// The rest of a frame whose beginning it took.
        var output: [UInt8] = []
    }

    /// The bytes that a connection took: whole frames and the beginning of one.
    struct Taken {
        let slot: UInt32
        let bytes: [UInt8]
    }

    private let stream: EdgeStream
    private var inbox: [Notice] = []
    /// The last position in the ring, which a head may state.
    private var sent: Position
    private var heads: HeadSchedule
    private var subscribers: [UInt32: Subscriber] = [:]
    private var lastSlot: UInt32 = 0
    /// How often the full ring dropped unsent notices.
    private(set) var overrunCount = 0

    /// - Parameters:
    ///   - id: the stream.
    ///   - sent: its position when the gateway starts.
    ///   - headInterval: how often the position is repeated.
    ///   - ringBytesMax: how much waits for those who do not take it.
    init(_ id: StreamID, sent: Position, headInterval: Duration, ringBytesMax: Int) {
        self.stream = EdgeStream(id: id, ringBytesMax: ringBytesMax, total: EdgeStream.Total())
        self.sent = sent
        self.heads = HeadSchedule(interval: headInterval)
    }

    /// When a position is to be repeated.
    var nextHead: Timestamp? { self.heads.next }

    /// From now on a connection hears the stream.
    ///
    /// - Returns: by what it is known.
    mutating func hear(at now: Timestamp) -> UInt32 {
        if self.subscribers.isEmpty { self.heads.subscribed(self.stream.id, at: now) }
        self.lastSlot += 1
        let slot = self.lastSlot
        self.subscribers[slot] = Subscriber(
            cursor: NoticeCursor(end: self.stream.ring.end),
            place: self.stream.add(slot)
        )
        return slot
    }

    /// A join was answered on a connection: every notice above the head of the answer follows it.
    ///
    /// - Returns: by what the connection is known, which may hear the stream already.
    mutating func push(to slot: UInt32?, above head: Position, at now: Timestamp) -> UInt32 {
        let slot = slot ?? self.hear(at: now)
        guard var subscriber = self.subscribers[slot] else { return slot }
        subscriber.cursor.follow(head.sequence, sent: self.sent.sequence, end: self.stream.ring.end)
        subscriber.isPushed = true
        if subscriber.isBehind { self.stream.behindCount -= 1 }
        subscriber.isBehind = false
        self.subscribers[slot] = subscriber
        self.stream.clearIfTaken()
        return slot
    }

    /// A connection hears it no more.
    mutating func leave(_ slot: UInt32) {
        guard let subscriber = self.subscribers.removeValue(forKey: slot) else { return }
        if let moved = self.stream.remove(at: subscriber.place) { self.subscribers[moved]?.place = subscriber.place }
        if subscriber.isBehind {
            self.stream.behindCount -= 1
            self.stream.clearIfTaken()
        }
        if self.subscribers.isEmpty { self.heads.unsubscribed(self.stream.id) }
    }

    /// The board has changed; the loop takes it at its next turn.
    mutating func tell(_ notices: [Notice]) { self.inbox += notices }

    /// The loop's turn: what was told goes into the ring and to the connections.
    ///
    /// - Parameters:
    ///   - now: the gateway's clock.
    ///   - room: how many bytes a connection takes of so many that wait.
    /// - Returns: what the connections took.
    mutating func turn(at now: Timestamp, room: (UInt32, Int) -> Int) -> [Taken] {
        var taken: [Taken] = []
        for notice in self.inbox {
            self.sent = notice.position
            self.heads.noticed(self.stream.id, at: now)
            taken += self.append(notice, room: room)
        }
        self.inbox = []
        return taken + self.goOn(room: room)
    }

    /// Repeats the position where that is due.
    mutating func repeatPosition(at now: Timestamp, room: (UInt32, Int) -> Int) -> [Taken] {
        guard let due = self.heads.due(at: now).first else { return [] }
        let taken = self.append(.head(self.sent, sent: now), isForPushed: due.isForPushed, room: room)
        return taken + self.goOn(room: room)
    }

    private mutating func append(
        _ notice: Notice,
        isForPushed: Bool = true,
        room: (UInt32, Int) -> Int
    ) -> [Taken] {
        // It has no subscriber: there is no ring.
        guard !self.subscribers.isEmpty else { return [] }
        let bytes = EdgeLoop.framed(NoticeFrame.notice(notice, stream: self.stream.id).encoded())
        let taken = self.stream.ring.hasRoom(for: bytes.count) ? [] : self.goOn(room: room)
        let before = self.stream.ring.end
        self.stream.append(bytes)
        for (slot, subscriber) in self.subscribers where !isForPushed && subscriber.isPushed && !subscriber.isBehind {
            self.subscribers[slot]?.cursor.pass(from: before, to: self.stream.ring.end)
        }
        for slot in self.subscribers.keys {
            self.subscribers[slot]?.cursor.appended(notice.position.sequence, end: self.stream.ring.end)
        }
        _ = self.stream.beginRound()
        return taken
    }

    private mutating func goOn(room: (UInt32, Int) -> Int) -> [Taken] {
        var taken: [Taken] = []
        while self.stream.isInRound, let slot = self.stream.next() {
            guard let subscriber = self.subscribers[slot], !subscriber.isBehind,
                subscriber.cursor.place != self.stream.ring.end
            else { continue }
            taken += self.write(slot, room: room)
        }
        return taken
    }

    /// Gives a connection what lies behind its cursor, as far as it takes it.
    private mutating func write(_ slot: UInt32, room: (UInt32, Int) -> Int) -> [Taken] {
        guard var subscriber = self.subscribers[slot] else { return [] }
        defer { self.subscribers[slot] = subscriber }
        guard subscriber.output.isEmpty else {
            subscriber.isBehind = true
            self.stream.behindCount += 1
            return []
        }
        if self.stream.ring.hasOverrun(subscriber.cursor.place) {
            self.overrunCount += 1
            subscriber.cursor.place = self.stream.ring.end
            return []
        }
        let pending = self.stream.ring.withPending(subscriber.cursor.place) { bytes in bytes.indices.map { bytes[$0] } }
        let count = min(max(room(slot, pending.count), 0), pending.count)
        if count < pending.count {
            (subscriber.output, subscriber.cursor.place) = self.stream.ring.restOfFrame(
                after: count,
                behind: subscriber.cursor.place
            )
            subscriber.isBehind = true
            self.stream.behindCount += 1
        } else {
            subscriber.cursor.place = self.stream.ring.end
        }
        return [Taken(slot: slot, bytes: Array(pending.prefix(count)))]
    }

    /// A subscriber that was behind takes all pending notices.
    mutating func catchUp() -> [Taken] {
        self.subscribers.keys.sorted().flatMap { self.catchUp($0) }
    }

    private mutating func catchUp(_ slot: UInt32) -> [Taken] {
        guard let subscriber = self.subscribers[slot], subscriber.isBehind || !subscriber.output.isEmpty else {
            return []
        }
        self.subscribers[slot]?.output = []
        var taken = [Taken(slot: slot, bytes: subscriber.output)]
        if subscriber.isBehind {
            self.subscribers[slot]?.isBehind = false
            self.stream.behindCount -= 1
            taken += self.write(slot) { $1 }
            self.stream.clearIfTaken()
        }
        return taken
    }

    /// Takes the whole frames out of what has come of a connection's bytes.
    static func takeFrames(from bytes: inout [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var offset = 0
        while let header = try? FrameHeader.read(bytes.span, at: offset, frameBytesMax: WireLimits.noticeFrameBytesMax),
            offset + header.headerBytes + header.bodyBytes <= bytes.count
        {
            let body = offset + header.headerBytes
            frames.append(Array(bytes[body..<body + header.bodyBytes]))
            offset = body + header.bodyBytes
        }
        bytes.removeFirst(offset)
        return frames
    }
}

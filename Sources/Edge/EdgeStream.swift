// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// A stream that at least one connection hears in one framing: its waiting notices and its subscribers.
///
/// A *round* goes over the subscribers and writes to each what waits for it. Notices that come meanwhile go out with the rest of
/// the round, and to those before in another round: the more comes at once, the fewer writes.
final class EdgeStream {
    /// The bytes in the rings of all streams of a loop.
    final class Total {
        fileprivate(set) var bytes = 0
    }

    let id: StreamID
    /// How its notices stand on the connections of its subscribers.
    let framing: NoticeFraming
    private(set) var ring: NoticeRing
    private let total: Total
    /// The slots of the connections that hear it, in no order.
    private(set) var subscribers: [UInt32] = []
    /// How many of them have the notices pushed.
    var pushedCount = 0
    /// The slots of those that joined on a board that is ahead of the ring.
    var early: Set<UInt32> = []
    /// How many of them could not take all at once.
    var behindCount = 0
    /// Whether a round goes on.
    private(set) var isInRound = false
    /// The next subscriber of the round.
    private var place = 0
    /// The end of the ring when the round began; everybody before `place` has got all up to here.
    private var roundEnd: NoticeRing.Cursor = 0

    init(id: StreamID, framing: NoticeFraming = .frames, ringBytesMax: Int, total: Total) {
        self.id = id
        self.framing = framing
        self.ring = NoticeRing(bytesMax: ringBytesMax, framing: framing)
        self.total = total
    }

    /// Appends whole frames to the ring.
    func append(_ frames: [UInt8]) { self.change { $0.append(frames) } }

    /// Where the rings of all streams hold too much, the largest ones let go of the older half of what they hold, until a quarter of
    /// the room is free: looking for the largest at each notice would take long where there are many.
    ///
    /// - Parameters:
    ///   - streams: all.
    ///   - total: the bytes in their rings.
    ///   - bytesMax: the most bytes in their rings.
    /// - Returns: whether it was too much.
    static func bound(_ streams: some Collection<EdgeStream>, _ total: Total, bytesMax: Int) -> Bool {
        guard total.bytes > bytesMax else { return false }
        let enough = bytesMax - bytesMax / 4
        while total.bytes > enough {
            for stream in streams.sorted(by: { $0.ring.count > $1.ring.count }) where total.bytes > enough {
                stream.change { $0.keep(atMost: $0.count / 2) }
            }
        }
        return true
    }

    /// Drops all notices, because no connection hears the stream.
    func clear() { self.change { $0.clear() } }

    private func change(_ body: (inout NoticeRing) -> Void) {
        let before = self.ring.count
        body(&self.ring)
        self.total.bytes += self.ring.count - before
    }

    /// - Returns: the place, for `remove`.
    func add(_ slot: UInt32) -> Int {
        self.subscribers.append(slot)
        return self.subscribers.count - 1
    }

    /// - Returns: the slot that has the place now; `nil`: none.
    func remove(at place: Int) -> UInt32? {
        self.subscribers.swapAt(place, self.subscribers.count - 1)
        self.subscribers.removeLast()
        // The connection that moved may not have had its turn: another round finds out.
        if place < self.place { self.goOn() }
        return place < self.subscribers.count ? self.subscribers[place] : nil
    }

    /// Notices were appended.
    ///
    /// - Returns: whether a round begins.
    func beginRound() -> Bool {
        guard !self.isInRound else { return false }
        self.isInRound = true
        self.place = 0
        self.roundEnd = self.ring.end
        return true
    }

    /// Begins another round, because a connection that had its turn has notices left.
    func goOn() { self.roundEnd = 0 }

    /// The connection that is next; `nil`: the round is over, and notices that no connection waits for are dropped.
    func next() -> UInt32? {
        if self.place >= self.subscribers.count {
            guard self.roundEnd != self.ring.end, !self.subscribers.isEmpty else {
                self.isInRound = false
                self.clearIfTaken()
                return nil
            }
            self.place = 0
            self.roundEnd = self.ring.end
        }
        defer { self.place += 1 }
        return self.subscribers[self.place]
    }

    /// Gives the ring's memory back where everybody has everything.
    func clearIfTaken() {
        if !self.isInRound, self.behindCount == 0 { self.clear() }
    }
}

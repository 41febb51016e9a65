// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import ZMTP

/// A tick as it is sent, made once for all connections.
struct EncodedTick {
    /// As a frame of ZMTP.
    let frame: [UInt8]
    /// As a message of WebSocket.
    let message: [UInt8]

    init(_ tick: SyncTick) {
        let body = NoticeFrame.tick(tick).encoded()
        var (frame, message): ([UInt8], [UInt8]) = ([], [])
        Outgoing.appendFrame(body, to: &frame)
        ZWSFraming.appendFrame(body, to: &message)
        (self.frame, self.message) = (frame, message)
    }
}

/// The connections of an ``EdgeLoop`` that hear ticks, and how many ticks there were.
///
/// A connection knows its place in the list, so that removing it takes no search.
struct TickList {
    /// The connections' places in the loop's table, in no order.
    private(set) var slots: [UInt32] = []
    private(set) var counter: UInt64 = 0

    /// Another tick is sent.
    mutating func count() { self.counter += 1 }

    /// - Returns: the place in the list, for `remove`.
    mutating func add(_ slot: Int) -> Int32 {
        self.slots.append(UInt32(slot))
        return Int32(self.slots.count - 1)
    }

    /// - Returns: the connection that has the place now; `nil`: none.
    mutating func remove(at place: Int32) -> Int? {
        let last = self.slots.removeLast()
        guard Int(place) < self.slots.count else { return nil }
        self.slots[Int(place)] = last
        return Int(last)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The connections of an ``EdgeLoop``, each at a place of its own for as long as it is open.
///
/// A place is used again after its connection has ended. Each connection of a place has another generation, so that nothing that
/// was meant for one reaches the next one.
struct ConnectionTable {
    /// Generations stay below what would make a connection's key one of the loop's own keys.
    private static let generationMask: UInt32 = 0x7FFF_FFFF

    /// The connections by their places, which are made and given back by `add` and `remove` only.
    ///
    /// They are read and changed where they stand: an accessor in between would cost a call for each, and a copy all arrays of a connection.
    var slots: [EdgeSlot] = []
    private var free: [UInt32] = []

    /// All places, those without a connection too.
    var places: Range<Int> { self.slots.indices }

    /// A place for a new connection.
    mutating func add() -> Int {
        if let free = self.free.popLast() { return Int(free) }
        self.slots.append(EdgeSlot())
        return self.slots.count - 1
    }

    /// The connection of a place has ended.
    mutating func remove(_ place: Int) {
        self.slots[place] = EdgeSlot(generation: (self.slots[place].generation &+ 1) & Self.generationMask)
        self.free.append(UInt32(place))
    }

    /// The key of a connection at its poller.
    func key(of place: Int) -> UInt64 { UInt64(self.slots[place].generation) << 32 | UInt64(place) }

    /// The place of a connection that has not ended, by what a poller knows it by.
    @inline(__always)
    func place(of key: UInt64) -> Int? {
        let place = Int(UInt32(truncatingIfNeeded: key))
        return self.isOpen(place, UInt32(truncatingIfNeeded: key >> 32)) ? place : nil
    }

    /// The place of a connection that has not ended.
    @inline(__always)
    func place(of peer: EdgePeer) -> Int? {
        self.isOpen(Int(peer.index), peer.generation) ? Int(peer.index) : nil
    }

    /// The connection of a place, with what the answer to its request begins with.
    func peer(at place: Int, _ correlation: EdgeCorrelation? = nil) -> EdgePeer {
        EdgePeer(index: UInt32(place), generation: self.slots[place].generation, correlation: correlation)
    }

    @inline(__always)
    private func isOpen(_ place: Int, _ generation: UInt32) -> Bool {
        self.slots[place].generation == generation && self.slots[place].phase != .free
    }
}

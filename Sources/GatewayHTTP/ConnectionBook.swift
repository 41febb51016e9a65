// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HeapModule

/// Which connections are open, what each waits for, and which one goes when there are too many.
///
/// It decides; `Connections` acts. A connection is *idle* while no whole head of a request is here, *sending* while an
/// answer waits for its peer to read it, and *working* while an answer is made. A connection that is working is never
/// given up: its answer comes. While all are, no further one is accepted. An answer that goes on is *sending* while a piece of it
/// waits, and *working* between its pieces.
///
/// Finding the connection to close takes logarithmic time: a client that opens one connection after the other must not delay the
/// others.
struct ConnectionBook<ID: Hashable & Sendable>: Sendable {
    private struct Entry {
        /// Requests whose answers are not sent.
        var pending = 0
        /// Bytes of answers that are not sent.
        var bytes = 0
        /// When it began to wait, on the book's own count.
        var since: UInt64

        var isIdle: Bool { self.pending == 0 }
        var isSending: Bool { self.pending > 0 && self.bytes > 0 }
    }

    /// A connection that waited since a moment; whether it still does, its entry says.
    private struct Waiting: Comparable, Sendable {
        let since: UInt64
        let id: ID

        static func < (left: Self, right: Self) -> Bool { left.since < right.since }
        static func == (left: Self, right: Self) -> Bool { left.since == right.since }
    }

    /// The most open connections.
    let connectionsMax: Int
    /// The most bytes of answers that wait for their peers, all together; a single answer may be larger.
    let answerBytesMax: Int

    private var entries: [ID: Entry] = [:]
    /// The idle and the sending connections, together with outdated entries.
    private var idle = Heap<Waiting>()
    private var sending = Heap<Waiting>()
    private var moment: UInt64 = 0
    /// Bytes of answers that are not sent.
    private(set) var bytesWaiting = 0
    /// Whether a further connection waits for one that is working.
    private(set) var isFull = false

    init(connectionsMax: Int, answerBytesMax: Int) {
        self.connectionsMax = max(1, connectionsMax)
        self.answerBytesMax = answerBytesMax
    }

    /// How many connections are open.
    var count: Int { self.entries.count }

    /// How many places its orders have, unused ones included: a small multiple of the connections.
    var placeCount: Int { self.idle.count + self.sending.count }

    /// Whether a further connection may come.
    ///
    /// One that may not waits until a connection ends; that one does is then seen to.
    mutating func mayOpen() -> Bool {
        self.isFull = self.entries.count >= self.connectionsMax && self.victim() == nil
        return !self.isFull
    }

    /// A connection was accepted.
    ///
    /// - Returns: the connections to close for it: those that have been idle longest, then those whose peers have not read
    ///   for longest.
    mutating func opened(_ id: ID) -> [ID] {
        self.keep(Entry(since: self.tick()), of: id)
        var victims: [ID] = []
        while self.entries.count > self.connectionsMax, let victim = self.victim(except: id) {
            self.closed(victim)
            victims.append(victim)
        }
        return victims
    }

    /// The head of a request is here.
    mutating func began(_ id: ID) {
        guard var entry = self.entries[id] else { return }
        entry.pending += 1
        self.keep(entry, of: id)
    }

    /// A part of an answer goes to the peer.
    ///
    /// - Returns: the connections to close because of all that waits: those whose peers have not read for longest.
    mutating func answering(_ id: ID, bytes: Int) -> [ID] {
        guard var entry = self.entries[id] else { return [] }
        if !entry.isSending { entry.since = self.tick() }
        entry.bytes += bytes
        self.bytesWaiting += bytes
        self.keep(entry, of: id)
        var victims: [ID] = []
        while self.bytesWaiting > self.answerBytesMax, let victim = self.longestSending(except: id) {
            self.closed(victim)
            victims.append(victim)
        }
        return victims
    }

    /// A part of an answer that goes on was sent.
    mutating func sent(_ id: ID, bytes: Int) {
        guard var entry = self.entries[id] else { return }
        entry.bytes -= bytes
        self.bytesWaiting -= bytes
        entry.since = self.tick()
        self.keep(entry, of: id)
    }

    /// An answer was sent whole.
    ///
    /// - Parameters:
    ///   - id: the connection.
    ///   - bytes: how much of what waited that was.
    /// - Returns: the connections to close so that one that waits can be accepted.
    mutating func answered(_ id: ID, bytes: Int) -> [ID] {
        guard var entry = self.entries[id] else { return [] }
        // A request that cannot be understood is answered although it never began.
        entry.pending = max(0, entry.pending - 1)
        entry.bytes -= bytes
        self.bytesWaiting -= bytes
        entry.since = self.tick()
        self.keep(entry, of: id)
        guard self.isFull, let victim = self.victim() else { return [] }
        self.isFull = false
        self.closed(victim)
        return [victim]
    }

    /// A connection has ended.
    mutating func closed(_ id: ID) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        self.bytesWaiting -= entry.bytes
    }

    private mutating func tick() -> UInt64 {
        self.moment += 1
        return self.moment
    }

    private mutating func victim(except id: ID? = nil) -> ID? {
        Self.longest(in: &self.idle, of: self.entries, except: id, where: \.isIdle) ?? self.longestSending(except: id)
    }

    private mutating func longestSending(except id: ID?) -> ID? {
        Self.longest(in: &self.sending, of: self.entries, except: id, where: \.isSending)
    }

    /// The connection that has waited for longest; removes outdated entries on the way.
    private static func longest(
        in waiting: inout Heap<Waiting>,
        of entries: [ID: Entry],
        except id: ID?,
        where condition: (Entry) -> Bool
    ) -> ID? {
        var passedOver: Waiting?
        defer { if let passedOver { waiting.insert(passedOver) } }
        while let first = waiting.min {
            guard let entry = entries[first.id], entry.since == first.since, condition(entry) else {
                waiting.removeMin()
                continue
            }
            guard first.id == id else { return first.id }
            passedOver = first
            waiting.removeMin()
        }
        return nil
    }

    /// Keeps a connection as it is now, and that it waits, where it does.
    private mutating func keep(_ entry: Entry, of id: ID) {
        let before = self.entries.updateValue(entry, forKey: id)
        let isNew = before?.since != entry.since
        if entry.isIdle, isNew || before?.isIdle == false {
            self.idle.insert(Waiting(since: entry.since, id: id))
            if self.isMostlyOver(self.idle) { self.idle = self.heap(\.isIdle) }
        } else if entry.isSending, isNew || before?.isSending == false {
            self.sending.insert(Waiting(since: entry.since, id: id))
            if self.isMostlyOver(self.sending) { self.sending = self.heap(\.isSending) }
        }
    }

    /// Whether at least half of a heap wait no more.
    private func isMostlyOver(_ heap: Heap<Waiting>) -> Bool { heap.count > 2 * self.entries.count + 64 }

    private func heap(_ condition: (Entry) -> Bool) -> Heap<Waiting> {
        Heap(self.entries.filter { condition($0.value) }.map { Waiting(since: $0.value.since, id: $0.key) })
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Which connections are open, what each waits for, and which one goes when there are too many.
///
/// It decides; `Connections` acts. A connection is *idle* while no whole head of a request is here, *sending* while an
/// answer waits for its peer to read it, and *working* while an answer is made. A connection that is working is never
/// given up: its answer comes. While all are, no further one is accepted. An answer that goes on is *sending* while a piece of it
/// waits, and *working* between its pieces.
struct ConnectionBook<ID: Hashable> {
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

    /// The most open connections.
    let connectionsMax: Int
    /// The most bytes of answers that wait for their peers, all together; a single answer may be larger.
    let answerBytesMax: Int

    private var entries: [ID: Entry] = [:]
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
        self.entries[id] = Entry(since: self.tick())
        var victims: [ID] = []
        while self.entries.count > self.connectionsMax, let victim = self.victim(except: id) {
            self.closed(victim)
            victims.append(victim)
        }
        return victims
    }

    /// The head of a request is here.
    mutating func began(_ id: ID) {
        self.entries[id]?.pending += 1
    }

    /// A part of an answer goes to the peer.
    ///
    /// - Returns: the connections to close because of all that waits: those whose peers have not read for longest.
    mutating func answering(_ id: ID, bytes: Int) -> [ID] {
        guard var entry = self.entries[id] else { return [] }
        if !entry.isSending { entry.since = self.tick() }
        entry.bytes += bytes
        self.bytesWaiting += bytes
        self.entries[id] = entry
        var victims: [ID] = []
        while self.bytesWaiting > self.answerBytesMax, let victim = self.longest(except: id, where: \.isSending) {
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
        self.entries[id] = entry
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
        self.entries[id] = entry
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

    private func victim(except id: ID? = nil) -> ID? {
        self.longest(except: id, where: \.isIdle) ?? self.longest(except: id, where: \.isSending)
    }

    private func longest(except id: ID? = nil, where condition: (Entry) -> Bool) -> ID? {
        self.entries.filter { $0.key != id && condition($0.value) }.min { $0.value.since < $1.value.since }?.key
    }
}

extension ConnectionBook: Sendable where ID: Sendable {}

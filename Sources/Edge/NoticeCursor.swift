// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where a connection is in the ring of a stream.
///
/// A subscriber begins at the end of the ring. A join on the connection itself is decided on the newest board, which may be
/// ahead of the ring: notices up to the head of its answer may come into the ring yet, and are skipped. So a session that
/// joined gets each notice above that head once, and none below.
struct NoticeCursor: Hashable, Sendable {
    /// The place of the connection's next notice.
    var place: NoticeRing.Cursor
    /// Notices up to this sequence are in the answer to a join and not in the ring yet; 0: there are none.
    private(set) var skipsThrough: UInt64 = 0

    /// - Parameter end: of the ring.
    init(end: NoticeRing.Cursor) {
        self.place = end
    }

    /// Whether notices that come into the ring are looked at one by one.
    var isEarly: Bool { self.skipsThrough != 0 }

    /// A join was answered: what is in the ring, or waited here, is in that answer.
    ///
    /// - Parameters:
    ///   - head: the sequence that the answer states.
    ///   - sent: the sequence that came into the ring last.
    ///   - end: of the ring.
    mutating func follow(_ head: UInt64, sent: UInt64, end: NoticeRing.Cursor) {
        self.place = end
        self.skipsThrough = sent < head ? head : 0
    }

    /// A notice, or a repeat of the position, came into the ring.
    ///
    /// - Parameters:
    ///   - sequence: its sequence.
    ///   - end: of the ring, behind it.
    mutating func appended(_ sequence: UInt64, end: NoticeRing.Cursor) {
        guard self.isEarly else { return }
        if sequence <= self.skipsThrough { self.place = end }
        if sequence >= self.skipsThrough { self.skipsThrough = 0 }
    }

    /// A repeat of the position came into the ring that is not meant for this connection: one that had everything still has.
    ///
    /// - Parameters:
    ///   - before: the end of the ring before it.
    ///   - end: of the ring, behind it.
    mutating func pass(from before: NoticeRing.Cursor, to end: NoticeRing.Cursor) {
        if self.place == before { self.place = end }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a reader gets no more notices.
package enum NoticeReaderEnd: Hashable, Sendable, CaseIterable {
    /// More notices waited for it than may wait.
    case slow
    /// It took nothing of what waited for it for long.
    case stalled
    /// The same session reads by another connection.
    case replaced
    /// Its session has left, or has no lease any more.
    case left
    /// The right to receive a protected stream is lost, or the session was forgotten.
    case expired
    /// The gateway stops.
    case stopping
    /// It has gone.
    case gone

    /// The metric label that counts it.
    package var metricLabel: MetricLabel {
        switch self {
        case .slow: .slow
        case .stalled: .stalled
        case .replaced: .replaced
        case .left: .left
        case .expired: .expired
        case .stopping: .stopping
        case .gone: .gone
        }
    }
}

/// The notices that one reader of a stream still has to get, if notices come by a feed and the answer to its join comes by
/// another way.
///
/// The reader is registered first, and joins then. The board is ahead of the feed: a notice that went by before the reader was
/// registered is on every board that its join can be decided on. So a reader that gets the answer, and then each notice above the
/// head of that answer, misses none and gets none twice.
///
/// - `joining`: notices are kept; the answer will tell which of them are news.
/// - `following`: each notice above `last` is news.
/// - `handedOver`: another part brings each notice above `last`; nothing waits here.
/// - `ended`: for good; nothing waits.
package struct NoticeFollower<Item: Sendable>: Sendable {
    private enum State {
        case joining
        case following(last: UInt64)
        case handedOver(last: UInt64)
        case ended(NoticeReaderEnd)
    }

    /// The most notices that wait.
    package let waitingMax: Int
    private var state = State.joining
    private var waiting: [(sequence: UInt64, item: Item)] = []

    /// - Parameter waitingMax: the most notices that wait; one more ends the reader, whose position tells what it missed.
    package init(waitingMax: Int) {
        self.waitingMax = waitingMax
    }

    /// Why it has ended; `nil`: it has not.
    package var end: NoticeReaderEnd? {
        if case .ended(let end) = self.state { end } else { nil }
    }

    /// The sequence up to which it was given everything; `nil`: it has not joined, or has ended.
    package var last: UInt64? {
        switch self.state {
        case .following(let last), .handedOver(let last): last
        case .joining, .ended: nil
        }
    }

    /// Whether there is something to take.
    package var hasWaiting: Bool { self.last != nil && !self.waiting.isEmpty }

    /// The join was answered.
    ///
    /// - Parameter head: the sequence that the answer states: everything up to it is in the answer, or is not the reader's.
    package mutating func joined(at head: UInt64) {
        guard case .joining = self.state else { return }
        self.waiting.removeAll { $0.sequence <= head }
        self.state = .following(last: self.waiting.last?.sequence ?? head)
    }

    /// A notice came by the feed, which brings those of a stream in order.
    package mutating func noticed(_ sequence: UInt64, _ item: Item) {
        switch self.state {
        case .ended, .handedOver: return
        case .joining: break
        case .following(let last):
            guard sequence > last else { return }
            self.state = .following(last: sequence)
        }
        guard self.waiting.count < self.waitingMax else { return self.finish(.slow) }
        self.waiting.append((sequence, item))
    }

    /// The position is to be repeated: a reader that has nothing pending learns that the connection is alive.
    ///
    /// - Parameter make: is given the sequence up to which the reader has everything.
    /// - Returns: whether the reader gets it.
    package mutating func repeated(_ make: (_ last: UInt64) -> Item) -> Bool {
        guard case .following(let last) = self.state, self.waiting.isEmpty else { return false }
        self.waiting.append((last, make(last)))
        return true
    }

    /// Takes what waits, oldest first; nothing before the join is answered.
    package mutating func take() -> [Item] {
        guard self.last != nil else { return [] }
        defer { self.waiting.removeAll(keepingCapacity: true) }
        return self.waiting.map(\.item)
    }

    /// Hands a reader that has joined over to another part, which brings it each notice above `last` from now on.
    ///
    /// - Returns: the waiting items, oldest first, and `last`; `nil`: it has not joined, or has ended.
    package mutating func handOver() -> (items: [Item], last: UInt64)? {
        guard case .following(let last) = self.state else { return nil }
        self.state = .handedOver(last: last)
        defer { self.waiting = [] }
        return (self.waiting.map(\.item), last)
    }

    /// Ends it; the first reason stands.
    package mutating func finish(_ end: NoticeReaderEnd) {
        guard self.end == nil else { return }
        self.state = .ended(end)
        self.waiting = []
    }
}

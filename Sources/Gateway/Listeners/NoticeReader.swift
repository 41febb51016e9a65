// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Edge
package import GatewayCore
import GatewayDocuments
import Synchronization
import SystemSupport

/// A notice as readers get it: what it becomes on their connections is made once, for all of them.
package final class PublishedNotice: Sendable {
    package let notice: Notice
    private let bytes: Mutex<[UInt8]?> = Mutex(nil)

    package init(_ notice: Notice) {
        self.notice = notice
    }

    /// It as bytes.
    ///
    /// - Parameter make: makes them of the notice; called for the first reader only.
    /// - Returns: the bytes, the same for every reader.
    package func encoded(_ make: (Notice) -> [UInt8]) -> [UInt8] {
        self.bytes.withLock { bytes in
            if let bytes { return bytes }
            let made = make(self.notice)
            bytes = made
            return made
        }
    }
}

/// One listener that hears its stream's notices by another way than a connection of the edge.
///
/// One task takes notices with `next`; another may wait for the end with `ended`, which comes also while the first one is stuck in
/// sending. Or its connection is handed over to a loop of the edge, which writes its notices from then on; then no task waits.
package final class NoticeReader: Sendable {
    /// That a lease is to be renewed, and whose it is where that limits its beginning.
    struct Renewal: Sendable {
        let owner: LeaseOwner?
    }

    /// The part that brings the reader its notices.
    private enum Server {
        /// A task that takes them.
        case task
        /// A loop, which does not have the connection yet.
        case loopSoon
        /// A loop that has the connection.
        case loop(EventConnection)
        /// A loop that had it.
        case loopBefore

        var isTask: Bool { if case .task = self { true } else { false } }
    }

    /// The next step for a reader.
    package enum Step: Sendable {
        case notices([PublishedNotice])
        case ended(NoticeReaderEnd)
    }

    private struct State {
        var follower: NoticeFollower<PublishedNotice>
        var server = Server.task
        var taker: CheckedContinuation<Step, Never>?
        var watcher: CheckedContinuation<NoticeReaderEnd, Never>?
        /// Since when something waits, in monotonic nanoseconds; `nil`: nothing does.
        var waitsSince: UInt64?
        var proof: PushProof?
        var owner: LeaseOwner?
        /// When its lease is renewed next, in monotonic nanoseconds.
        var renewal: UInt64 = 0

        /// The waiting tasks, where there is something for them.
        mutating func wake() -> Wakes {
            var wakes = Wakes()
            if let end = self.follower.end {
                if let taker = self.taker.take() { wakes.taker = (taker, .ended(end)) }
                if let watcher = self.watcher.take() { wakes.watcher = (watcher, end) }
                if case .loop(let connection) = self.server {
                    wakes.connection = (connection, end)
                    self.server = .loopBefore
                }
                self.waitsSince = nil
            } else if !self.server.isTask {
                // The task that watched has nothing left to watch.
                if let watcher = self.watcher.take() { wakes.watcher = (watcher, .gone) }
            } else if self.follower.hasWaiting, let taker = self.taker.take() {
                self.waitsSince = nil
                wakes.taker = (taker, .notices(self.follower.take()))
            } else if self.follower.hasWaiting, self.waitsSince == nil {
                self.waitsSince = System.monotonicNanoseconds()
            }
            return wakes
        }
    }

    /// Continuations to resume, and a connection to end, outside the lock.
    private struct Wakes {
        var taker: (CheckedContinuation<Step, Never>, Step)?
        var watcher: (CheckedContinuation<NoticeReaderEnd, Never>, NoticeReaderEnd)?
        var connection: (EventConnection, NoticeReaderEnd)?

        func resume() {
            if let (taker, step) = self.taker { taker.resume(returning: step) }
            if let (watcher, end) = self.watcher { watcher.resume(returning: end) }
            if let (connection, end) = self.connection { connection.end(ListenerEventText.end(end)) }
        }
    }

    package let session: SessionID
    package let stream: StreamID
    let address: PeerAddress
    /// Called once, when it is not in the hub any more.
    let left: @Sendable () -> Void
    /// Its place among all connections, for as long as anything knows the reader; `nil`: its server counts it.
    private let place: ConnectionPlace?
    private let state: Mutex<State>

    init(
        _ session: SessionID,
        on stream: StreamID,
        from address: PeerAddress,
        waitingMax: Int,
        place: ConnectionPlace? = nil,
        left: @escaping @Sendable () -> Void
    ) {
        self.session = session
        self.stream = stream
        self.address = address
        self.place = place
        self.left = left
        self.state = Mutex(State(follower: NoticeFollower(waitingMax: waitingMax)))
    }

    /// Waits for notices, or the end; for one task.
    package func next() async -> Step {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.change { $0.taker = continuation }
            }
        } onCancel: {
            self.cancelled()
        }
    }

    /// Waits for the end; for one task.
    package func ended() async -> NoticeReaderEnd {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.change { $0.watcher = continuation }
            }
        } onCancel: {
            self.cancelled()
        }
    }

    /// Its task was cancelled: it has gone, unless a loop serves it.
    private func cancelled() {
        self.change { state in
            if state.server.isTask { state.follower.finish(.gone) }
        }
    }

    /// Why it has ended; `nil`: it has not.
    package var end: NoticeReaderEnd? { self.state.withLock(\.follower.end) }

    // MARK: - In a loop

    /// Its connection goes to a loop: its tasks end, and it goes on.
    func leaveTask() { self.change { $0.server = .loopSoon } }

    /// Whether its connection went to a loop.
    var hasLeftTask: Bool { self.state.withLock { !$0.server.isTask } }

    /// A loop has its connection.
    ///
    /// - Returns: the notices that wait, and the sequence up to which it has everything with them; `nil`: it has ended.
    func begin(_ connection: EventConnection) -> (notices: [PublishedNotice], last: UInt64)? {
        self.state.withLock { state in
            guard let begun = state.follower.handOver() else { return nil }
            state.server = .loop(connection)
            state.waitsSince = nil
            return (begun.items, begun.last)
        }
    }

    /// The loop has closed its connection.
    func leaveLoop() { self.state.withLock { $0.server = .loopBefore } }

    // MARK: - From the hub

    func joined(at head: UInt64, proof: PushProof?, owner: LeaseOwner?, renewal: UInt64) {
        self.change { state in
            state.proof = proof
            state.owner = owner
            state.renewal = renewal
            state.follower.joined(at: head)
        }
    }

    func noticed(_ notice: PublishedNotice) {
        self.change { $0.follower.noticed(notice.notice.position.sequence, notice) }
    }

    /// - Returns: whether it gets the position.
    func repeated(_ make: (_ last: UInt64) -> PublishedNotice) -> Bool {
        var isGiven = false
        self.change { isGiven = $0.follower.repeated(make) }
        return isGiven
    }

    func finish(_ end: NoticeReaderEnd) { self.change { $0.follower.finish(end) } }

    /// Whether it has joined, and has not ended.
    var isFollowing: Bool { self.state.withLock { $0.follower.last != nil } }

    var proof: PushProof? { self.state.withLock(\.proof) }

    /// Whether something has waited for so long, in nanoseconds.
    func isStalled(for limit: UInt64, at now: UInt64) -> Bool {
        self.state.withLock { state in state.waitsSince.map { now >= $0 &+ limit } ?? false }
    }

    /// The session whose lease is to be renewed now.
    ///
    /// - Parameters:
    ///   - now: monotonic nanoseconds.
    ///   - interval: until the next time.
    /// - Returns: `nil` where it is not due.
    func takeRenewal(at now: UInt64, interval: UInt64) -> Renewal? {
        self.state.withLock { state in
            guard state.follower.last != nil, now >= state.renewal else { return nil }
            state.renewal = now + interval
            return Renewal(owner: state.owner)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let wakes = self.state.withLock { state in
            body(&state)
            return state.wake()
        }
        wakes.resume()
    }
}

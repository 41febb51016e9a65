// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
package import NetworkIO
internal import Synchronization

/// A notice as it goes out: encoded and framed once, for everybody.
struct EdgeNotice: Sendable {
    let stream: StreamID
    let sequence: UInt64
    let frame: [UInt8]
    /// When what led to it was received, by the gateway's clock.
    let made: Timestamp
}

/// How other threads reach an ``EdgeLoop``.
package final class EdgeInbox: NoticeSink {
    /// What came since the loop looked last.
    struct Content {
        var notices: [EdgeNotice] = []
        /// Those who gave the notices, and wait until they are taken.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isPoked = false
        var accepts: Bool?
        var isStopped = false
    }

    private struct State {
        var content = Content()
        var isSignalled = false
        /// Whether the loop has ended: nobody takes anything any more.
        var hasEnded = false
        var endWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// Becomes readable when there is something.
    let wakeUp: Int32
    private let clock: @Sendable () -> Timestamp
    private let rounds = Atomic<Int>(0)

    /// - Parameter clock: the gateway's, which notices say when they were sent.
    /// - Throws: where there are too many descriptors.
    package init(clock: @escaping @Sendable () -> Timestamp) throws(SystemCallError) {
        self.clock = clock
        self.wakeUp = try System.makeWakeUp()
    }

    deinit { System.close(self.wakeUp) }

    /// How often the loop has gone round; one that hangs does not count on.
    package var roundCount: Int { self.rounds.load(ordering: .relaxed) }

    func countRound() { self.rounds.wrappingAdd(1, ordering: .relaxed) }

    /// Hands notices over; returns when they are on their way to the connections that hear them.
    package func publish(_ notices: [StreamNotice]) async {
        let encoded = notices.map { each in
            var notice = each.notice
            let made = notice.sent
            notice.sent = self.clock()
            return EdgeNotice(
                stream: each.stream,
                sequence: notice.position.sequence,
                frame: EdgeLoop.framed(NoticeFrame.notice(notice, stream: each.stream).encoded()),
                made: made
            )
        }
        await withCheckedContinuation { continuation in
            let isLate = self.change { state in
                guard !state.hasEnded else { return true }
                state.content.notices += encoded
                state.content.waiters.append(continuation)
                return false
            }
            if isLate { continuation.resume() }
        }
    }

    /// Has the delegate look at what others left for it.
    package func poke() {
        self.change { $0.content.isPoked = true }
    }

    /// Stops accepting connections, or begins again.
    package func setAccepting(_ accepts: Bool) {
        self.change { $0.content.accepts = accepts }
    }

    /// Ends the loop after what was answered is sent, and returns when it has ended.
    package func stop() async {
        await withCheckedContinuation { continuation in
            let hasEnded = self.change { state in
                guard !state.hasEnded else { return true }
                state.content.isStopped = true
                state.endWaiters.append(continuation)
                return false
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Takes what has come.
    func take() -> Content {
        self.state.withLock { state in
            defer {
                state.content = Content(isStopped: state.content.isStopped)
                state.isSignalled = false
            }
            return state.content
        }
    }

    /// The loop has ended.
    func ended() {
        let waiters = self.state.withLock { state in
            state.hasEnded = true
            defer {
                state.content = Content()
                state.endWaiters = []
            }
            return state.content.waiters + state.endWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    @discardableResult
    private func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        let (result, wakes) = self.state.withLock { state in
            let result = body(&state)
            defer { state.isSignalled = true }
            return (result, !state.isSignalled && !state.hasEnded)
        }
        if wakes { System.wake(self.wakeUp) }
        return result
    }
}

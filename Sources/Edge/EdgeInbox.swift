// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import Synchronization
internal import SystemSupport

/// A notice as it is sent: encoded and framed once for all connections.
struct EdgeNotice: Sendable {
    let stream: StreamID
    let sequence: UInt64
    let frame: [UInt8]
    /// It as an event, for those who hear it so.
    let text: EventText
    /// When the gateway received the request that led to it, by the gateway's clock.
    let made: Timestamp
}

/// Notices that each loop takes once.
final class NoticeBatch: Sendable {
    private struct State {
        /// How many loops have not taken it.
        var left: Int
        /// Whether at least one has, and did not only end.
        var wasTaken = false
    }

    let notices: [EdgeNotice]
    private let state: Mutex<State>
    private let done: @Sendable (_ wasTaken: Bool) -> Void

    /// - Parameters:
    ///   - notices: in the order in which they are sent.
    ///   - loops: how many take it.
    ///   - done: called once, on the thread of the last of them.
    init(_ notices: [EdgeNotice], loops: Int, done: @escaping @Sendable (_ wasTaken: Bool) -> Void) {
        self.notices = notices
        self.state = Mutex(State(left: loops))
        self.done = done
    }

    /// A loop has put the notices into its rings, or has ended and never will.
    func settle(isTaken: Bool) {
        let wasTaken: Bool? = self.state.withLock { state in
            state.left -= 1
            if isTaken { state.wasTaken = true }
            return state.left == 0 ? state.wasTaken : nil
        }
        if let wasTaken { self.done(wasTaken) }
    }
}

/// How other threads reach an ``EdgeLoop``.
package final class EdgeInbox: Sendable {
    /// A connection that another loop has accepted.
    struct Arrival: Sendable {
        let descriptor: Int32
        let address: PeerAddress
        let shared: EdgeAddress?
        /// The number of the endpoint that accepted it.
        let endpoint: Int
    }

    /// A connection of a listener that another server has accepted.
    struct EventArrival: Sendable {
        let descriptor: Int32
        let listener: any EventListener
        let framing: NoticeFraming
    }

    /// So many of them are opened in one iteration; each takes some 30 µs.
    private static let eventArrivalsPerIteration = 8

    /// The input since the loop took it last.
    struct Content: Sendable {
        var batches: [NoticeBatch] = []
        var arrivals: [Arrival] = []
        var eventArrivals: [EventArrival] = []
        /// Listeners that have ended, with their last events.
        var ends: [(peer: EdgePeer, text: [UInt8])] = []
        var wakesDelegate = false
        /// Whether all loops hold too many bytes, and this one most of them.
        var holdsTooMuch = false
        var accepts: Bool?
        var isStopped = false
    }

    private struct State {
        var content = Content()
        var isSignalled = false
        /// Whether the loop has ended and takes nothing more from the inbox.
        var hasEnded = false
        var endWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// Becomes readable when there is input.
    let wakeUp: WakeUp
    private let iterations = Atomic<Int>(0)

    /// - Throws: where there are too many descriptors.
    init() throws(SystemCallError) {
        self.wakeUp = try WakeUp()
    }

    /// The number of iterations of the loop; it stops growing if the loop hangs.
    var iterationCount: Int { self.iterations.load(ordering: .relaxed) }

    func countIteration() { self.iterations.wrappingAdd(1, ordering: .relaxed) }

    /// Hands notices over.
    func put(_ batch: NoticeBatch) {
        let isLate = self.change { state in
            if !state.hasEnded { state.content.batches.append(batch) }
            return state.hasEnded
        }
        if isLate { batch.settle(isTaken: false) }
    }

    /// Hands a connection over.
    ///
    /// - Returns: `false` where the loop has ended.
    func put(_ arrival: Arrival) -> Bool {
        self.change { state in
            if !state.hasEnded { state.content.arrivals.append(arrival) }
            return !state.hasEnded
        }
    }

    /// Hands the connection of a listener over that another server has accepted.
    ///
    /// How many wait here is bounded by how many such listeners there may be.
    ///
    /// - Returns: `false` where the loop has ended.
    func put(_ arrival: EventArrival) -> Bool {
        self.change { state in
            if !state.hasEnded { state.content.eventArrivals.append(arrival) }
            return !state.hasEnded
        }
    }

    /// Has the loop end the connection of a listener, once for each.
    func end(_ peer: EdgePeer, _ text: [UInt8]) {
        self.change { state in
            if !state.hasEnded { state.content.ends.append((peer, text)) }
        }
    }

    /// Calls ``EdgeDelegate/woken(in:)`` on the loop's thread.
    package func wakeDelegate() {
        self.change { $0.content.wakesDelegate = true }
    }

    /// Has the loop close connections until all hold no more than they may, or another loop holds most.
    func boundBytes() {
        self.change { $0.content.holdsTooMuch = true }
    }

    /// Stops accepting connections, or begins again.
    func setAccepting(_ accepts: Bool) {
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

    /// Takes all input, but for arrivals of events beyond those of an iteration; where the loop stops, all of them.
    func take() -> Content {
        let (content, isMore) = self.state.withLock { state in
            var content = state.content
            var later: [EventArrival] = []
            if !content.isStopped, content.eventArrivals.count > Self.eventArrivalsPerIteration {
                later = Array(content.eventArrivals.dropFirst(Self.eventArrivalsPerIteration))
                content.eventArrivals.removeLast(later.count)
            }
            state.content = Content(eventArrivals: later, isStopped: content.isStopped)
            state.isSignalled = !later.isEmpty
            return (content, !later.isEmpty)
        }
        if isMore { self.wakeUp.signal() }
        return content
    }

    /// The loop has ended, or never began.
    ///
    /// - Parameters:
    ///   - drop: is given each connection that no loop will serve, before the waiters for the end resume.
    ///   - dropEvents: the same of connections that other servers accepted.
    func end(_ drop: (Arrival) -> Void, _ dropEvents: (EventArrival) -> Void) {
        let (content, waiters) = self.state.withLock { state in
            state.hasEnded = true
            defer {
                state.content = Content()
                state.endWaiters = []
            }
            return (state.content, state.endWaiters)
        }
        for batch in content.batches { batch.settle(isTaken: false) }
        for arrival in content.arrivals { drop(arrival) }
        for arrival in content.eventArrivals { dropEvents(arrival) }
        for waiter in waiters { waiter.resume() }
    }

    @discardableResult
    private func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        let (result, wakes) = self.state.withLock { state in
            let result = body(&state)
            defer { state.isSignalled = true }
            return (result, !state.isSignalled && !state.hasEnded)
        }
        if wakes { self.wakeUp.signal() }
        return result
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import DequeModule

/// Decides which connection an ``EdgeLoop`` reads from or writes to next: facts in, an order out.
///
/// It has no clock and does no I/O. In each iteration the loop polls, reports the events, and performs one step after the other
/// until the queue has no further step.
///
/// ```swift
/// queue.beginIteration(at: now, isFull: count == eventsMax)
/// for number in 0..<count { queue.found(number, kind, key: key, at: now) }
/// while let step = queue.next(at: now) {
///     perform(step)
///     now = clock()
/// }
/// ```
///
/// An iteration serves these classes, one after the other:
///
/// 1. *quiet* connections, which send little, as listeners do: all of them;
/// 2. *closing* connections, whose peers send no more: they are only deprioritised;
/// 3. *deprioritised* entries (the endpoints, new and closing connections), for one time slice;
/// 4. *busy* connections, which send much or read notices late: all of them, or for one time slice while quiet connections are
///    active;
/// 5. *queued* connections, which sent more messages than fit into a turn, for one time slice;
/// 6. *streams* with pending notices, for one time slice.
///
/// If reading takes long, notices get a slice between two reads. Each slice serves at least one entry, and begins with the first
/// entry that the slice before did not reach: no entry starves. A quiet connection waits for at most one slice of each other
/// class.
struct RunQueue {
    /// The class of an event that the poller reported.
    enum Finding {
        case quiet
        case closing
        case busy
    }

    /// The loop's next step.
    enum Step {
        /// Handles an event of the poller.
        case handle(event: Int)
        /// Moves a closing connection to the other poller.
        case deprioritise(event: Int)
        /// Leaves this and the later events to the next iteration: the poller reports them again.
        case postpone(event: Int)
        /// Polls the deprioritised connections, and reports their events.
        case pollDeprioritised
        /// Handles an event of the poller of deprioritised connections.
        case handleDeprioritised(event: Int)
        /// Handles the bytes that a queued connection sent.
        case takeTurn(EdgePeer)
        /// All input was handled: gathered answers can be sent.
        case endPass
        /// Takes the input from other threads.
        case takeInbox
        /// Yields to the threads that make notices, and takes their notices, so that several go out in one write.
        case coalesceNotices
        /// Writes notices of a stream to some of its subscribers, then calls ``RunQueue/hadTurn(_:)``.
        case write(EdgeStream)
    }

    private enum Phase {
        case quiet
        case closing
        /// The deprioritised connections were polled.
        case deprioritisedPolled
        case deprioritised(until: UInt64)
        case busy(until: UInt64)
        case queued(until: UInt64)
        case passEnded
        case inboxTaken(then: Rest)
        case noticesCoalesced
        case notices(until: UInt64, then: Rest)
        case over
    }

    /// The work that follows a slice of notices.
    private enum Rest {
        case quiet
        case busy(until: UInt64)
        case nothing
    }

    /// The events of one poll.
    private struct Found {
        var quiet = ReadyEvents()
        var closing = ReadyEvents()
        var busy = ReadyEvents()
        var isFull = false
        var hasDeprioritised = false

        /// Whether the deprioritised connections are polled.
        ///
        /// A full poll may have missed that some of them are ready, so they are polled after it too. While connections are closing,
        /// a full poll means that listening connections wait: those come first.
        var pollsDeprioritised: Bool {
            self.isFull ? self.closing.isEmpty : self.hasDeprioritised || !self.closing.isEmpty
        }

        mutating func begin(isFull: Bool) {
            self.quiet.begin()
            self.closing.begin()
            self.busy.begin()
            self.isFull = isFull
            self.hasDeprioritised = false
        }
    }

    /// The longest time for one class that quiet connections wait for, in nanoseconds.
    ///
    /// A round of notices to 9,000 connections takes some 50 ms.
    static let slice: UInt64 = 200_000
    /// The longest time of reading before notices get a slice, if none were pending, in nanoseconds.
    static let readingSlice: UInt64 = 2_000_000
    /// How long quiet connections count as active after one sent something, in nanoseconds.
    static let quietMemory: UInt64 = 1_000_000_000

    private var phase = Phase.over
    private var found = Found()
    private var deprioritised = ReadyEvents()
    private var queuedPeers: Deque<EdgePeer> = []
    private var streams: Deque<EdgeStream> = []
    /// Connections above their rate limit: they wait until it allows a message, and are then queued.
    private var throttled: [EdgePeer] = []
    private var coalescing = NoticeCoalescing()
    /// Since when the iteration has read without a slice of notices.
    private var readingSince: UInt64 = 0
    /// When a quiet connection sent something last.
    private var lastQuietActivity: UInt64 = 0
    /// Whether busy connections wait for quiet ones.
    ///
    /// Among hundreds of busy connections there may be a quiet one: the loop looks at more events then.
    private(set) var isMixed = false

    /// Whether connections or notices wait for their turn, whatever the poller reports.
    var hasWork: Bool { !self.queuedPeers.isEmpty || !self.streams.isEmpty }

    // MARK: - Facts

    /// An iteration begins with a poll.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - isFull: whether the poller reported as many events as it may, so that there may be more.
    mutating func beginIteration(at now: UInt64, isFull: Bool) {
        self.phase = .quiet
        self.readingSince = now
        self.found.begin(isFull: isFull)
    }

    /// The poller reported an event of a connection.
    ///
    /// - Parameters:
    ///   - number: the event's number in this poll.
    ///   - finding: the event's class.
    ///   - key: the connection's key, the same in each poll.
    ///   - now: the time.
    mutating func found(_ number: Int, _ finding: Finding, key: UInt64, at now: UInt64) {
        switch finding {
        case .quiet:
            self.noteQuietActivity(at: now)
            self.found.quiet.append(number, key: key)
        case .closing: self.found.closing.append(number, key: key)
        case .busy: self.found.busy.append(number, key: key)
        }
    }

    /// The poller reported that a deprioritised connection is ready.
    mutating func foundDeprioritised() { self.found.hasDeprioritised = true }

    /// The poller of deprioritised connections reported an event.
    mutating func foundDeprioritised(_ number: Int, key: UInt64) { self.deprioritised.append(number, key: key) }

    /// A quiet connection sent something.
    mutating func noteQuietActivity(at now: UInt64) { self.lastQuietActivity = now }

    /// A connection sent more messages than fit into a turn, or may be read from again; it is not queued yet.
    mutating func enqueue(_ peer: EdgePeer) { self.queuedPeers.append(peer) }

    /// A connection sent more than it may; it is not throttled already.
    mutating func throttle(_ peer: EdgePeer) { self.throttled.append(peer) }

    /// The connections that were throttled; those that still have to wait are to be throttled again.
    mutating func takeThrottled() -> [EdgePeer] {
        guard !self.throttled.isEmpty else { return [] }
        defer { self.throttled = [] }
        return self.throttled
    }

    /// A round of a stream's notices begins; the stream has none that goes on.
    mutating func append(_ stream: EdgeStream) { self.streams.append(stream) }

    /// Notices were appended to the rings.
    mutating func noticesCame(_ count: Int) { self.coalescing.came(count) }

    /// Some subscribers of a stream had their turn; if its round goes on, it is queued behind the other streams.
    mutating func hadTurn(_ stream: EdgeStream) { if stream.isInRound { self.streams.append(stream) } }

    // MARK: - The order

    /// The stream whose turn it is to write notices, for a caller that writes them whatever the time; then call ``hadTurn(_:)``.
    mutating func takeStream() -> EdgeStream? { self.streams.popFirst() }

    /// The next step; `nil`: the iteration is over.
    mutating func next(at now: UInt64) -> Step? {
        while true {
            switch self.phase {
            case .quiet:
                guard !self.noticesAreDue(hasRead: !self.found.quiet.isUntouched, at: now) else {
                    return self.takeInbox(then: .quiet)
                }
                if let event = self.found.quiet.next() { return .handle(event: event) }
                self.phase = .closing
            case .closing:
                if let event = self.found.closing.next() { return .deprioritise(event: event) }
                guard self.found.pollsDeprioritised else {
                    self.beginBusy(at: now)
                    continue
                }
                self.deprioritised.begin()
                self.phase = .deprioritisedPolled
                return .pollDeprioritised
            case .deprioritisedPolled: self.phase = .deprioritised(until: now + Self.slice)
            case .deprioritised(let end):
                if now < end, let event = self.deprioritised.next() { return .handleDeprioritised(event: event) }
                _ = self.deprioritised.leaveRest()
                self.beginBusy(at: now)
            case .busy(let end):
                guard !self.noticesAreDue(hasRead: !self.found.busy.isUntouched, at: now) else {
                    return self.takeInbox(then: .busy(until: end))
                }
                if now < end, let event = self.found.busy.next() { return .handle(event: event) }
                self.phase = .queued(until: now + Self.slice)
                if let event = self.found.busy.leaveRest() { return .postpone(event: event) }
            case .queued(let end):
                if now < end, let peer = self.queuedPeers.popFirst() { return .takeTurn(peer) }
                self.phase = .passEnded
                return .endPass
            case .passEnded: return self.takeInbox(then: .nothing)
            case .inboxTaken(let rest):
                if case .nothing = rest, !self.streams.isEmpty, self.coalescing.begins(at: now) {
                    self.phase = .noticesCoalesced
                    return .coalesceNotices
                }
                self.phase = .notices(until: now + Self.slice, then: rest)
            case .noticesCoalesced:
                self.coalescing.ended(at: now)
                self.phase = .notices(until: now + Self.slice, then: .nothing)
            case .notices(let end, let rest):
                if now < end, let stream = self.streams.popFirst() { return .write(stream) }
                self.goOn(with: rest, at: now)
            case .over: return nil
            }
        }
    }

    /// Whether enough was read for notices to have a slice between two reads.
    private func noticesAreDue(hasRead: Bool, at now: UInt64) -> Bool {
        hasRead && now > self.readingSince + (self.streams.isEmpty ? Self.readingSlice : Self.slice)
    }

    private mutating func takeInbox(then rest: Rest) -> Step {
        self.phase = .inboxTaken(then: rest)
        return .takeInbox
    }

    private mutating func goOn(with rest: Rest, at now: UInt64) {
        switch rest {
        case .quiet: self.phase = .quiet
        case .busy(let end): self.phase = .busy(until: end)
        case .nothing: self.phase = .over
        }
        self.readingSince = now
    }

    private mutating func beginBusy(at now: UInt64) {
        self.isMixed = !self.found.busy.isEmpty && now < self.lastQuietActivity + Self.quietMemory
        self.phase = .busy(until: self.isMixed ? now + Self.slice : .max)
    }
}

/// Decides when the loop yields to the threads that make notices, so that a burst's notices are coalesced.
///
/// Their notices then go out together with the pending ones, in one write to each connection. If those threads have a processor
/// of their own, yielding delays no connection.
private struct NoticeCoalescing {
    /// After so many notices more are likely to follow at once.
    private static let noticesOfBurst = 8
    /// The shortest time between two yields, in nanoseconds.
    private static let interval: UInt64 = 2_000_000

    /// How many notices have come since the last yield.
    private var count = 0
    /// When the loop may yield again.
    private var next: UInt64 = 0

    mutating func came(_ count: Int) { self.count += count }

    /// - Returns: whether the loop yields now.
    mutating func begins(at now: UInt64) -> Bool {
        guard self.count >= Self.noticesOfBurst, now >= self.next else { return false }
        self.count = 0
        return true
    }

    mutating func ended(at now: UInt64) { self.next = now + Self.interval }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import DequeModule

/// Decides which connection an ``EdgeLoop`` reads from or writes to next: facts in, an order out.
///
/// It has no clock and does no I/O. A loop goes round: it looks at its poller, tells what it found, and performs one step after the
/// other until the round is over.
///
/// ```swift
/// queue.beginRound(at: now, isFull: count == eventsMax)
/// for number in 0..<count { queue.found(number, kind, key: key, at: now) }
/// while let step = queue.next(at: now) {
///     perform(step)
///     now = clock()
/// }
/// ```
///
/// A round serves these classes, one after the other:
///
/// 1. *quiet* connections, which send little, as listeners do: all of them;
/// 2. *leaving* connections, whose peers send no more: they only move aside;
/// 3. what stands *aside* (the endpoints, newcomers, and what has left), for one time slice;
/// 4. *busy* connections, which send much or take notices late: for one time slice where quiet ones are about, else all of them;
/// 5. the *line* of connections that sent more messages than fit into a turn, for one time slice;
/// 6. the *streams* with notices that wait, for one time slice.
///
/// Between two reads notices have a slice of their own where reading takes long. Each slice serves one entry at least, and begins with the
/// first entry that the slice before did not reach: no entry starves. A quiet connection waits for one slice of each other class at
/// most.
struct RunQueue {
    /// The poller's finding about a connection.
    enum Finding {
        case quiet
        case leaving
        case busy
    }

    /// The loop's next step.
    enum Step {
        /// Handles an event of the poller.
        case handle(event: Int)
        /// Has the other poller look at a connection that leaves.
        case moveAside(event: Int)
        /// Leaves an event, and those behind it, to the next round: the poller tells of them again.
        case putOff(event: Int)
        /// Looks at the poller of deprioritised connections, and reports the result.
        case lookAside
        /// Handles an event of the poller of deprioritised connections.
        case handleAside(event: Int)
        /// Handles the bytes that a queued connection sent.
        case takeTurn(EdgePeer)
        /// All that had come was handled: answers that gathered can go.
        case endPass
        /// Takes what other threads have handed over.
        case takeInbox
        /// Lets the threads that make notices go first, and takes what they have made.
        case letNoticesGather
        /// Writes notices of a stream to some of the connections that hear it, then calls ``RunQueue/hadTurn(_:)``.
        case write(EdgeStream)
    }

    private enum Phase {
        case quiet
        case leaving
        /// The poller of deprioritised connections was looked at.
        case asideFound
        case aside(until: UInt64)
        case busy(until: UInt64)
        case line(until: UInt64)
        case passEnded
        case inboxTaken(then: Rest)
        case noticesGathered
        case notices(until: UInt64, then: Rest)
        case over
    }

    /// What follows a slice of notices.
    private enum Rest {
        case quiet
        case busy(until: UInt64)
        case nothing
    }

    /// What one look at the poller told.
    private struct Found {
        var quiet = ReadyEvents()
        var leaving = ReadyEvents()
        var busy = ReadyEvents()
        var isFull = false
        var isAsideReady = false

        /// Whether the other poller is looked at.
        ///
        /// Where this one told of all that it might there may be more behind those of both. Where connections leave, those that
        /// listen come first.
        var looksAside: Bool { self.isFull ? self.leaving.isEmpty : self.isAsideReady || !self.leaving.isEmpty }

        mutating func begin(isFull: Bool) {
            self.quiet.begin()
            self.leaving.begin()
            self.busy.begin()
            self.isFull = isFull
            self.isAsideReady = false
        }
    }

    /// For so long a round is busy with one class that quiet connections would wait for, in nanoseconds.
    ///
    /// A round of notices to 9,000 connections takes some 50 ms.
    static let slice: UInt64 = 200_000
    /// For so long what came is handled before notices have their slice, where none wait, in nanoseconds.
    static let readingSlice: UInt64 = 2_000_000
    /// For so long quiet connections are about after one was heard, in nanoseconds.
    static let quietMemory: UInt64 = 1_000_000_000

    private var phase = Phase.over
    private var found = Found()
    private var aside = ReadyEvents()
    private var line: Deque<EdgePeer> = []
    private var streams: Deque<EdgeStream> = []
    /// Connections that sent more than they may: they wait for time, and then get in line.
    private var throttled: [EdgePeer] = []
    private var gathering = NoticeGathering()
    /// Since when the round has read without a slice of notices.
    private var readingSince: UInt64 = 0
    /// When a quiet connection was heard last.
    private var quietHeard: UInt64 = 0
    /// Whether busy connections wait for quiet ones.
    ///
    /// Among hundreds of busy connections there may be a quiet one: the loop looks at more events then.
    private(set) var isMixed = false

    /// Whether connections or notices wait for their turn, whatever the poller tells.
    var hasWork: Bool { !self.line.isEmpty || !self.streams.isEmpty }

    // MARK: - Facts

    /// A round begins with a look at the poller.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - isFull: whether the poller told of as many events as it might, so that there may be more.
    mutating func beginRound(at now: UInt64, isFull: Bool) {
        self.phase = .quiet
        self.readingSince = now
        self.found.begin(isFull: isFull)
    }

    /// The poller told of a connection.
    ///
    /// - Parameters:
    ///   - number: the event's number in this look.
    ///   - finding: what it told.
    ///   - key: the connection's key, the same at each look.
    ///   - now: the time.
    mutating func found(_ number: Int, _ finding: Finding, key: UInt64, at now: UInt64) {
        switch finding {
        case .quiet:
            self.heardQuiet(at: now)
            self.found.quiet.append(number, key: key)
        case .leaving: self.found.leaving.append(number, key: key)
        case .busy: self.found.busy.append(number, key: key)
        }
    }

    /// The poller reported that a deprioritised connection is ready.
    mutating func foundAside() { self.found.isAsideReady = true }

    /// The poller of deprioritised connections reported an event.
    mutating func foundAside(_ number: Int, key: UInt64) { self.aside.append(number, key: key) }

    /// A quiet connection was heard.
    mutating func heardQuiet(at now: UInt64) { self.quietHeard = now }

    /// A connection sent more messages than fit into a turn, or may be read from again; it is not queued yet.
    mutating func getInLine(_ peer: EdgePeer) { self.line.append(peer) }

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

    /// So many notices were put into the rings.
    mutating func noticesCame(_ count: Int) { self.gathering.came(count) }

    /// Some of the connections that hear a stream had their turn; where its round goes on it goes behind the other streams.
    mutating func hadTurn(_ stream: EdgeStream) { if stream.isInRound { self.streams.append(stream) } }

    // MARK: - The order

    /// The stream whose turn it is to write notices, for a caller that writes them whatever the time; then call ``hadTurn(_:)``.
    mutating func takeStream() -> EdgeStream? { self.streams.popFirst() }

    /// The next entry; `nil`: the round is over.
    mutating func next(at now: UInt64) -> Step? {
        while true {
            switch self.phase {
            case .quiet:
                guard !self.noticesAreDue(hasRead: !self.found.quiet.isUntouched, at: now) else {
                    return self.takeInbox(then: .quiet)
                }
                if let event = self.found.quiet.next() { return .handle(event: event) }
                self.phase = .leaving
            case .leaving:
                if let event = self.found.leaving.next() { return .moveAside(event: event) }
                guard self.found.looksAside else {
                    self.beginBusy(at: now)
                    continue
                }
                self.aside.begin()
                self.phase = .asideFound
                return .lookAside
            case .asideFound: self.phase = .aside(until: now + Self.slice)
            case .aside(let end):
                if now < end, let event = self.aside.next() { return .handleAside(event: event) }
                _ = self.aside.leaveRest()
                self.beginBusy(at: now)
            case .busy(let end):
                guard !self.noticesAreDue(hasRead: !self.found.busy.isUntouched, at: now) else {
                    return self.takeInbox(then: .busy(until: end))
                }
                if now < end, let event = self.found.busy.next() { return .handle(event: event) }
                self.phase = .line(until: now + Self.slice)
                if let event = self.found.busy.leaveRest() { return .putOff(event: event) }
            case .line(let end):
                if now < end, let peer = self.line.popFirst() { return .takeTurn(peer) }
                self.phase = .passEnded
                return .endPass
            case .passEnded: return self.takeInbox(then: .nothing)
            case .inboxTaken(let rest):
                if case .nothing = rest, !self.streams.isEmpty, self.gathering.begins(at: now) {
                    self.phase = .noticesGathered
                    return .letNoticesGather
                }
                self.phase = .notices(until: now + Self.slice, then: rest)
            case .noticesGathered:
                self.gathering.ended(at: now)
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
        self.isMixed = !self.found.busy.isEmpty && now < self.quietHeard + Self.quietMemory
        self.phase = .busy(until: self.isMixed ? now + Self.slice : .max)
    }
}

/// In a burst, threads that make notices go first now and then: their notices go out with those that are there, in one write to
/// each connection.
///
/// Where those threads have a processor of their own no connection waits for this one.
private struct NoticeGathering {
    /// After so many notices more are likely to come at once.
    private static let noticesOfBurst = 8
    /// For so long notices go out before threads that make them may go first again, in nanoseconds.
    private static let interval: UInt64 = 2_000_000

    /// How many notices have come since those threads went first.
    private var count = 0
    /// When they may go first again.
    private var next: UInt64 = 0

    mutating func came(_ count: Int) { self.count += count }

    /// - Returns: whether the threads go first now.
    mutating func begins(at now: UInt64) -> Bool {
        guard self.count >= Self.noticesOfBurst, now >= self.next else { return false }
        self.count = 0
        return true
    }

    mutating func ended(at now: UInt64) { self.next = now + Self.interval }
}

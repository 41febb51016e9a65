// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Every decision of a listening session.
///
/// It has no clock and does no I/O: events and instants go in, actions come out.
///
/// Call one of its methods, then append what `takeJournal()` gives to the journal and perform what `takeActions()` gives, in
/// order, and call `wake(now:)` at `nextWake`. Say by `journal(_:now:)` what became of the entries: see
/// `ListenerCore+Journal.swift`.
struct ListenerCore: Sendable {
    enum Action: Sendable {
        /// Make connection number `attempt` to the address `gateway`; what it says comes back with that number.
        case connect(attempt: Int, gateway: GatewayTarget)
        /// Give up the current connection.
        case disconnect
        case subscribe([UInt8])
        case unsubscribe([UInt8])
        case send([UInt8])
        /// Ask the app for a token; answer with `tokenGiven` and this number.
        case askForToken(attempt: Int)
        /// Ask the app whether it wants the advertisements of a break; answer with `decided`.
        case askApp(BreakID, AdvertisementBreak)
        /// Make one attempt at calling a tracking URL; how it ended comes back by `tracked`.
        case track(TrackingRequest)
        case event(ListenerEvent)
        /// Tell every observer that advertisements are queued.
        case tellAvailable
        /// Tell every observer again, if the queue still waits for the app when it is told.
        case tellStillAvailable
        case tellWithdrawn(AdvertisementWithdrawal)
        /// The advertisements before the stream are queued, or there are none, or they took too long.
        case preStreamSettled
        case log(LogLine)
        /// The session is over; nothing follows.
        case stopped
    }

    /// A line for the log.
    struct LogLine: Hashable, Sendable {
        enum Level: Hashable, Sendable {
            case debug
            case info
            case warning
            case error
        }

        let level: Level
        let message: String
    }

    enum Lifecycle: Hashable, Sendable {
        case created
        case running
        /// Pending outcomes are sent until `deadline`.
        case stopping(deadline: LocalInstant, leaveSent: Bool)
        case stopped
    }

    /// How often the journal is told that the session goes on.
    static let aliveInterval = Duration.seconds(60)

    let session: SessionID
    /// Whether the session was begun by an earlier run of the app.
    let isResumed: Bool
    /// The instant that local instants count from.
    let origin: ContinuousClock.Instant
    let settings: ListenerSettings
    var playbackDelay: PlaybackDelay
    var suspension = Suspension()
    private(set) var lifecycle = Lifecycle.created
    var conversation: GatewayConversation
    var book: BreakBook
    var queue: PlayQueue
    var acknowledgements: AcknowledgementQueue
    var jitter: JitterSource
    private var preStreamDeadline: LocalInstant?
    /// The tracking URLs, where the app wants them to be called.
    var tracking: ListenerTracking?
    var leftovers = Leftovers()
    private var aliveAt: LocalInstant?
    /// The break whose batch was refused last because of the ticket.
    var ticketRefused: BreakID?
    /// Whether outcomes of earlier runs were looked through for those that are too old.
    private var hasCheckedAge = false
    /// Where entries go.
    private(set) var disk: JournalDisk
    var output = Output()

    /// - Parameters:
    ///   - settings: the app's settings.
    ///   - session: the id of the session, unless an earlier run's goes on.
    ///   - origin: the instant that local instants count from.
    ///   - state: the state of earlier runs of the app.
    ///   - wallTime: this device's clock at local instant 0, for nothing but how long ago that was.
    ///   - disk: where entries go.
    ///   - seed: of the jitter.
    init(
        settings: ListenerSettings,
        session: SessionID,
        origin: ContinuousClock.Instant,
        state: JournalState = JournalState(),
        wallTime: Timestamp = Timestamp(microseconds: 0),
        disk: JournalDisk = .none,
        seed: UInt64
    ) {
        let retries = Backoff(settings.timings)
        let resumed = state.resumable(
            stream: settings.stream,
            at: wallTime,
            within: settings.timings.sessionResumeMax
        )
        self.settings = settings
        self.playbackDelay = PlaybackDelay(delay: settings.delay.now)
        self.session = resumed?.header.id ?? session
        self.isResumed = resumed != nil
        self.origin = origin
        self.conversation = GatewayConversation(
            settings: settings,
            session: self.session,
            resumed: resumed?.header,
            jitter: JitterSource(seed: seed &* 3)
        )
        self.book = BreakBook(retries: retries, asksApp: settings.asksApp)
        self.queue = PlayQueue(mode: settings.handOut, timings: settings.timings)
        self.acknowledgements = AcknowledgementQueue(
            recordsMax: settings.outcomesKeptMax,
            bytesMax: settings.outboxBytesMax,
            retries: retries,
            kept: state.unconfirmed,
            disk: disk
        )
        self.jitter = JitterSource(seed: seed)
        self.tracking = settings.tracking.map {
            ListenerTracking(
                $0,
                consent: settings.consent,
                restoring: state.trackingEntries,
                jitter: JitterSource(seed: ~seed)
            )
        }
        self.disk = disk
        self.restore(state, resumed: resumed, wallTime: wallTime)
    }

    /// The actions to perform now, in order.
    mutating func takeActions() -> [Action] {
        self.output.takeActions()
    }

    /// The entries to append to the journal, in order.
    mutating func takeJournal() -> [JournalEntry.Kind] {
        self.output.takeJournal()
    }

    /// How many entries were kept since the session began in this run.
    var keptCount: UInt64 { self.output.keptCount }

    var isSuspended: Bool { self.suspension.isOn }

    var isRunning: Bool { self.lifecycle == .running }

    /// Whether advertisements may be handed out.
    var isActive: Bool { self.isRunning && !self.isSuspended }

    /// Whether the app would get an advertisement if it asked now.
    var isWaitingForApp: Bool { self.isActive && self.queue.isWaitingForApp }

    var connectionState: ConnectionState { self.conversation.state }

    func instant(_ local: LocalInstant) -> ContinuousClock.Instant { self.origin + local.sinceStart }

    /// The three clocks now; `nil` before the gateway answered for the first time.
    func moment(at now: LocalInstant) -> Moment? {
        self.conversation.clock.gatewayTime(at: now)
            .map { gateway in
                Moment(
                    now: now,
                    gateway: gateway,
                    delay: self.playbackDelay.delay(at: now, gateway: gateway),
                    isPaused: self.playbackDelay.isPaused
                )
            }
    }

    // MARK: Life

    mutating func start(now: LocalInstant) {
        guard self.lifecycle == .created else { return }
        self.lifecycle = .running
        self.keepSession()
        self.aliveAt = now + Self.aliveInterval
        self.output.emit(.sessionBegan(resumed: self.isResumed))
        self.preStreamDeadline = now + self.settings.timings.preStreamWait
        self.apply(self.conversation.start(now: now, &self.output), at: now)
        self.settleTime(now: now)
    }

    /// Begins to stop: what is known of open advertisements is recorded, and told for as long as `stopWait`.
    mutating func stop(now: LocalInstant) {
        switch self.lifecycle {
        case .created:
            self.output.act(.preStreamSettled)
            self.finish(now: now)
            return
        case .stopping, .stopped: return
        case .running: break
        }
        self.apply(self.queue.settle(now: now), at: now)
        for advertisement in self.book.held {
            self.output.keep(.forgotten(self.session, advertisement.key.breakID, advertisement.key.id))
            self.output.emit(.outcomeUnknown(advertisement))
        }
        self.output.keep(.sessionOver)
        self.settlePreStream()
        self.acknowledgements.hurry()
        self.lifecycle = .stopping(deadline: now + self.settings.timings.stopWait, leaveSent: false)
        self.settleTime(now: now)
    }

    /// Does what its time has come for.
    mutating func wake(now: LocalInstant) {
        self.settleTime(now: now)
    }

    private mutating func finish(now: LocalInstant) {
        self.endTracking(now: now)
        self.lifecycle = .stopped
        self.apply(self.conversation.stop(&self.output), at: now)
        self.conversation.publish(isStopping: false, &self.output)
        self.output.act(.stopped)
    }

    /// When `wake(now:)` is to be called; `nil`: not before something else happens.
    func nextWake(now: LocalInstant) -> LocalInstant? {
        var next = self.conversation.nextDeadline
        switch self.lifecycle {
        case .created, .stopped: return nil
        case .stopping(let deadline, _): return min(deadline, next ?? deadline)
        case .running: break
        }
        if self.isSuspended { return self.preStreamDeadline }
        next = earlier(next, self.preStreamDeadline)
        next = earlier(next, self.aliveAt)
        next = earlier(next, self.queue.progressDue)
        if self.conversation.clock.lastSampled != nil {
            next = earlier(next, self.tracking?.nextDeadline(self.queue.playing, now: now))
        }
        next = earlier(next, self.conversation.silenceDeadline)
        if let moment = self.moment(at: now) {
            let room = self.conversation.requestRoom
            next = earlier(next, self.book.nextDeadline(at: moment, session: self.session, room: room))
            next = earlier(next, self.queue.nextDeadline(at: moment))
        }
        if self.conversation.requestRoom > 0 { next = earlier(next, self.acknowledgements.nextDeadline(now: now)) }
        return earlier(next, self.conversation.clockDeadline)
    }

    /// Runs after every event: whatever is due at `now` is done, and the state is published where it has changed.
    mutating func settleTime(now: LocalInstant) {
        guard self.lifecycle != .created, self.lifecycle != .stopped else { return }
        self.apply(self.conversation.due(now: now, &self.output), at: now)
        if self.isActive {
            if let moment = self.moment(at: now) {
                self.settleLeftovers(at: moment)
                if !self.hasCheckedAge {
                    self.hasCheckedAge = true
                    self.giveUpOldOutcomes(now: now)
                }
                let (session, room) = (self.session, self.conversation.requestRoom)
                self.apply(self.book.due(at: moment, session: session, room: room), at: now)
                self.apply(self.queue.due(at: moment), at: now)
            }
            self.keepDueProgress(now: now)
            self.checkAlive(now: now)
        }
        if self.isRunning { self.checkPreStream(now: now) }
        self.keepClosedBreaks()
        self.track(now: now)
        self.sendAcknowledgements(now: now)
        if self.isRunning { self.conversation.sampleClock(now: now, &self.output) }
        self.checkStopping(now: now)
        if self.lifecycle != .stopped { self.conversation.publish(isStopping: !self.isRunning, &self.output) }
    }

    private mutating func checkAlive(now: LocalInstant) {
        guard let due = self.aliveAt, due <= now else { return }
        self.aliveAt = now + Self.aliveInterval
        self.output.keep(.alive)
        self.giveUpOldOutcomes(now: now)
    }

    private mutating func checkPreStream(now: LocalInstant) {
        guard let deadline = self.preStreamDeadline else { return }
        if deadline <= now || (!self.conversation.isFirstJoin && !self.book.awaitsPreStream) { self.settlePreStream() }
        if case .refused = self.conversation.connection.state { self.settlePreStream() }
    }

    private mutating func settlePreStream() {
        guard self.preStreamDeadline != nil else { return }
        self.preStreamDeadline = nil
        self.output.act(.preStreamSettled)
    }

    private mutating func checkStopping(now: LocalInstant) {
        guard case .stopping(let deadline, let leaveSent) = self.lifecycle else { return }
        let isIdle = self.acknowledgements.count == 0 && !self.conversation.requests.isOpen(.leave)
        let isTracking = self.tracking?.isSending ?? false
        let isDone = !self.conversation.connection.canRequest || (leaveSent && isIdle)
        if deadline <= now || (isDone && !isTracking) {
            self.finish(now: now)
        } else if !leaveSent, isIdle {
            self.lifecycle = .stopping(deadline: deadline, leaveSent: true)
            _ = self.conversation.ask(.leave, .leave(self.settings.stream), now: now, &self.output)
        }
    }

    mutating func set(disk: JournalDisk) {
        self.disk = disk
        self.acknowledgements.reached(disk)
    }
}

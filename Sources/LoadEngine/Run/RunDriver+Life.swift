// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Callbacks by which the caller of a run follows and controls it.
package struct RunHooks {
    /// Four times a second.
    package var progress: (RunProgress) -> Void = { _ in }
    /// All listeners of this process have joined.
    package var allJoined: (Int) -> Void = { _ in }
    /// When the first break is published, by this machine's monotonic clock.
    ///
    /// Asked again and again once all have joined, while it answers `nil`.
    package var beginning: (() -> Microseconds?)?
    /// Whether this process is to end at once.
    package var isCancelled: () -> Bool = { false }

    package init() {}
}

// The life of a run: all join, breaks are published, what is open comes to its end, all leave.
extension RunDriver {
    /// How long after the last notice a run may end: by then the position has been repeated at least once.
    static let quietBeforeEnd: Microseconds = 1_500_000
    /// Before the first break.
    static let pauseAfterJoining: Microseconds = 500_000
    /// How long connecting is retried while the gateway does not listen.
    static let refusedMax: Microseconds = 3_000_000
    /// How long a process that does not publish waits for the notice of a break.
    static let unheardMax: Microseconds = 5_000_000
    /// How long leaving may take.
    static let leavingMax: Microseconds = 3_000_000

    func allJoined(now: Microseconds, in loop: LoadLoop<RunDriver>) {
        self.world.statistics.allJoined = now
        self.progressed = now
        self.hooks.allJoined(self.listeners.count)
        guard self.hooks.beginning == nil else { return }
        self.begin(at: now + Self.pauseAfterJoining, in: loop)
    }

    func begin(at first: Microseconds, in loop: LoadLoop<RunDriver>) {
        self.phase = .running
        self.firstPublication = first
        self.firstPublicationAtGateway = self.world.clock.isKnown ? self.world.clock.gateway(first) : nil
        self.progressed = Self.microseconds(loop.now)
        if !self.settings.follows {
            // Every process knows what is to come, and checks it.
            self.prepareNext(first: first)
            loop.schedule(TimerToken(kind: TimerKind.publish), at: Self.time(first))
        }
        if self.settings.churn > 0 {
            self.churnBegan = Self.microseconds(loop.now)
            loop.schedule(TimerToken(kind: TimerKind.churn), at: loop.now)
        }
    }

    /// Four times a second: how far it is, and whether it is over.
    func look(now: Microseconds, in loop: LoadLoop<RunDriver>) {
        guard self.phase != .done else { return }
        if self.phase != .leaving, self.hooks.isCancelled() {
            self.isInterrupted = true
            return self.finish(in: loop)
        }
        self.watchProgress(now: now)
        switch self.phase {
        case .joining: self.lookAtJoining(now: now, in: loop)
        case .running: if self.isTimeUp(now) { self.phase = .finishing }
        case .finishing: self.lookAtFinishing(now: now, in: loop)
        case .leaving:
            if now > self.ended + Self.leavingMax || self.listeners.allSatisfy({ $0.phase == .gone }) {
                self.phase = .done
                return loop.stop()
            }
        case .done: break
        }
        if self.phase != .leaving { self.hooks.progress(self.progress(now)) }
        let pause: Duration =
            self.hooks.beginning != nil && self.phase == .joining ? .milliseconds(10) : .milliseconds(250)
        loop.schedule(TimerToken(kind: TimerKind.progress), at: loop.now + pause)
    }

    func watchProgress(now: Microseconds) {
        let counts = self.world.statistics.counts
        let mark = counts.connected + counts.joined + counts.batches + counts.acknowledgements + counts.notices
        if mark != self.progressMark {
            self.progressMark = mark
            self.progressed = now
        }
        if counts.notices != self.noticesSeen {
            self.noticesSeen = counts.notices
            self.lastNoticeAt = now
        }
    }

    private func lookAtJoining(now: Microseconds, in loop: LoadLoop<RunDriver>) {
        if self.joinedOnce == self.listeners.count, let first = self.hooks.beginning?() {
            return self.begin(at: first, in: loop)
        }
        let counts = self.world.statistics.counts
        let isRefused = counts.connected == 0 && self.lastEnd == .refused
        let patience = isRefused ? min(Self.refusedMax, self.settings.patience) : self.settings.patience
        guard self.joinedOnce < self.listeners.count, now > self.progressed + patience else { return }
        guard counts.joined > 0 else {
            let reason = self.lastEnd.map { ": \($0)" } ?? ""
            let where_ = counts.connected == 0 ? "makes no connection" : "accepts no join"
            self.failure = .unavailable(
                "\(self.noticesEndpoint) and \(self.requestsEndpoint): the gateway \(where_)\(reason)"
            )
            return loop.stop()
        }
        // Some never came: the others' run is worth its report, and the end counts those as behind.
        self.joinedOnce = self.listeners.count
        self.allJoined(now: now, in: loop)
    }

    private func isTimeUp(_ now: Microseconds) -> Bool {
        guard let first = self.firstPublication else { return false }
        if let runFor = self.settings.runFor {
            if now >= first + runFor { return true }
            if self.settings.breaks == nil { return false }
        }
        if self.settings.follows {
            guard let breaks = self.settings.breaks else { return false }
            // Where a gateway was away while a break was announced, its listeners know it from the answers to their joins alone.
            return self.world.streams.allSatisfy { stream in
                stream.breaks.count { $0.tally.notices > 0 || $0.tally.batches > 0 } >= breaks
            }
        }
        guard let last = self.plan.count > 0 ? self.plan.planned(self.plan.count - 1) : nil else { return false }
        guard self.nextPublication == self.plan.count else { return false }
        let isPublished = self.publications.isEmpty && self.retries.isEmpty
        if !isPublished {
            // Without this limit, a run without a gateway that takes breaks would not end.
            guard now > max(first + last, self.publicationAnswered) + self.settings.patience else { return false }
            self.giveUpPublishing()
        }
        // Without lead everything is announced at once; with it the start is the latest instant.
        return now >= first + last && self.areAnnounced(now, last: first + last)
    }

    /// Whether each of our breaks has reached a listener, or its start is over.
    private func areAnnounced(_ now: Microseconds, last: Microseconds) -> Bool {
        // Only the publishing process learns that a break was refused.
        let patience = self.settings.publishes ? self.settings.patience : min(self.settings.patience, Self.unheardMax)
        if now > last + self.settings.lead + patience { return true }
        return self.world.streams.allSatisfy { stream in
            stream.breaks.allSatisfy { !$0.isDue || $0.isRefused || $0.tally.notices > 0 || $0.tally.batches > 0 }
        }
    }

    private func lookAtFinishing(now: Microseconds, in loop: LoadLoop<RunDriver>) {
        let isQuiet = now > self.lastNoticeAt + Self.quietBeforeEnd
        if isQuiet, self.listeners.allSatisfy({ $0.isSettled(in: self.world) || $0.phase == .idle }) {
            return self.finish(in: loop)
        }
        // A listener that plays at a speed is not stuck.
        let playing = self.listeners.contains { $0.hasWork && $0.deadline > now && $0.phase == .following }
        guard now > self.progressed + self.settings.patience, !playing || now > self.progressed + self.longestPlaying
        else { return }
        self.finish(in: loop)
    }

    private var longestPlaying: Microseconds {
        let speed = self.settings.speed ?? 1
        return self.settings.patience + self.settings.lead
            + Microseconds(Double(self.settings.duration) / min(1, speed))
            + Microseconds(Double(self.settings.duration) / speed)
    }

    /// Judges what is open, and lets all leave.
    func finish(in loop: LoadLoop<RunDriver>) {
        guard self.phase != .leaving, self.phase != .done else { return }
        let now = Self.microseconds(loop.now)
        self.ended = now
        if !self.isInterrupted { self.judgeEnd() }
        self.outcome = RunOutcome(
            self.world,
            cpuSeconds: ProcessUsage.cpuSeconds(),
            isComplete: !self.isInterrupted,
            ended: now
        )
        self.phase = .leaving
        for index in self.listeners.indices where self.listeners[index].phase == .following {
            self.act(self.listeners[index].leave(now: now, in: &self.world), of: index, now: now, in: loop)
        }
        for index in self.listeners.indices where self.listeners[index].phase != .following {
            self.listeners[index].giveUp()
        }
        loop.schedule(TimerToken(kind: TimerKind.progress), at: loop.now + .milliseconds(20))
    }

    /// Unfinished work will not be done any more.
    private func judgeEnd() {
        for listener in self.listeners where !listener.isSettled(in: self.world) && listener.phase != .idle {
            listener.judgeEnd(in: &self.world)
        }
        guard !self.settings.follows else { return }
        for listener in self.listeners where listener.phase == .following {
            listener.judgeBreaks(in: &self.world, trustsPublication: self.settings.publishes)
        }
    }

    func progress(_ now: Microseconds) -> RunProgress {
        var progress = RunProgress()
        let counts = self.world.statistics.counts
        progress.phase = self.phase == .joining ? .joining : self.phase == .running ? .running : .finishing
        progress.seconds = Double(now - self.began) / 1e6
        progress.listeners = self.listeners.count
        progress.following = self.phase == .joining ? self.joinedOnce : self.listeners.count { $0.phase == .following }
        progress.published = counts.published
        progress.notices = counts.notices
        progress.batches = counts.batches
        progress.outcomes = counts.outcomes
        progress.findings = self.world.statistics.findings.entries.values.reduce(0) { $0 + $1.count }
        return progress
    }
}

/// Runs the listeners of one process until the run is over.
///
/// - Parameters:
///   - settings: the settings of the run.
///   - hooks: called during the run.
///   - handlesSignals: whether SIGINT and SIGTERM end the run with what was found so far.
/// - Returns: the findings.
/// - Throws: `usage`, `tooManyConnections`, and `unavailable` where the gateway does not answer.
package func runListeners(
    _ settings: RunSettings,
    hooks: RunHooks = RunHooks(),
    handlesSignals: Bool = false
) throws(LoadError) -> RunOutcome {
    let driver = try RunDriver(settings, hooks: hooks)
    var loopSettings = LoopSettings()
    loopSettings.handlesSignals = handlesSignals
    if let encryption = settings.encryption { loopSettings.encryption = encryption }
    let loop = try LoadLoop(
        driver: driver,
        connectionsMax: settings.ownListeners.count * (settings.push ? 1 : 2) + 1,
        settings: loopSettings
    )
    driver.start(in: loop)
    try loop.run()
    if let failure = driver.failure { throw failure }
    return driver.outcome
        ?? RunOutcome(
            driver.world,
            cpuSeconds: ProcessUsage.cpuSeconds(),
            isComplete: false,
            ended: RunDriver.microseconds(.now())
        )
}

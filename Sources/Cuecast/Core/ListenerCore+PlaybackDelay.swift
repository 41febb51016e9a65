// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// Which instant of the programme is heard, and whether anything is.
extension ListenerCore {
    /// Whether the app is in the background, and whether it asked for an advertisement meanwhile.
    struct Suspension: Sendable {
        private(set) var isOn = false
        private var hasAsked = false

        mutating func begin() {
            self.isOn = true
        }

        mutating func appAsked() {
            self.hasAsked = self.isOn
        }

        /// - Returns: Whether the app asked meanwhile.
        mutating func end() -> Bool {
            defer { self = Suspension() }
            return self.hasAsked
        }
    }

    /// The delay as requests carry it: the gateway takes an hour at most.
    func wireDelay(now: LocalInstant) -> ListenerDelay {
        let longest = Duration.milliseconds(WireLimits.delayMillisecondsMax)
        let delay = self.playbackDelay.delay(at: now, gateway: self.conversation.clock.gatewayTime(at: now))
        return ListenerDelay(now: min(delay, longest), max: self.settings.delay.max)
    }

    /// The listener hears another instant of the programme from now on.
    mutating func changeDelay(now: LocalInstant, _ change: (inout PlaybackDelay) -> Void) {
        let before = self.moment(at: now)?.playhead
        change(&self.playbackDelay)
        if self.isActive, let before, let moment = self.moment(at: now), moment.playhead > before {
            // Moving ahead in the programme: what lies between is not heard.
            let (session, room) = (self.session, self.conversation.requestRoom)
            let effects = self.book.due(at: moment, session: session, room: room, late: .skippedOver)
            self.apply(effects, at: now)
        }
        self.settleTime(now: now)
        // Another instant is heard where its break ends.
        if self.isRunning, let moment = self.moment(at: now) {
            self.apply(self.queue.tellMovedStops(at: moment), at: now)
        }
    }

    /// The app goes to the background: nothing is received or handed out, and what plays counts as paused.
    mutating func suspend(now: LocalInstant) {
        guard self.isActive else { return }
        self.suspension.begin()
        self.queue.suspend(now: now)
        self.keepAllProgress(now: now)
        self.apply(self.conversation.suspend(&self.output), at: now)
        self.output.keep(.alive)
        self.settleTime(now: now)
    }

    /// The app is back.
    mutating func resume(now: LocalInstant) {
        guard self.isRunning, self.isSuspended else { return }
        let hasAsked = self.suspension.end()
        self.queue.resume(now: now)
        self.apply(self.conversation.resume(now: now, &self.output), at: now)
        self.settleTime(now: now)
        // A caller that asked meanwhile got nothing, and would not ask again by itself.
        if hasAsked, self.isWaitingForApp { self.output.act(.tellStillAvailable) }
    }

    /// The device was asleep: what is known of the gateway's clock is old.
    mutating func woke(now: LocalInstant) {
        guard self.isActive else { return }
        self.conversation.woke(now: now)
        self.settleTime(now: now)
    }

    /// The device's network came, went, or is another one.
    mutating func networkChanged(isAvailable: Bool, now: LocalInstant) {
        guard self.isRunning else { return }
        self.apply(self.conversation.networkChanged(isAvailable: isAvailable, now: now, &self.output), at: now)
        self.settleTime(now: now)
    }

    /// The app has decided whether the advertisements of a break are fetched.
    mutating func decided(_ id: BreakID, isWanted: Bool, now: LocalInstant) {
        guard self.isRunning else { return }
        self.apply(self.book.decided(id, isWanted: isWanted), at: now)
        self.settleTime(now: now)
    }
}

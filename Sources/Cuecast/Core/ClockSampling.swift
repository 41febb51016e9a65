// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When to ask for the gateway's clock: every so often, and sooner while the estimate is not good.
///
/// Asking also tells the gateway that this session still listens. Every reply is a sample; a request of its own is made
/// only where none came. While the error stays above its limit, as on a slow network it always does, the wait doubles from
/// a second to the usual interval.
struct ClockSampling: Sendable {
    /// The first wait while the error is above its limit.
    static let soon = Duration.seconds(1)

    private let usualInterval: Duration
    private let errorMax: Duration
    private var interval: Duration
    private var wait = Self.soon
    /// When to ask; `nil`: not connected.
    private(set) var nextDeadline: LocalInstant?

    init(timings: ListenerTimings) {
        self.usualInterval = timings.clockSampleInterval
        self.interval = timings.clockSampleInterval
        self.errorMax = timings.clockErrorMax
    }

    mutating func disconnected() {
        self.nextDeadline = nil
        self.wait = Self.soon
    }

    /// The session counts as listening for this long after each request: at least two fit in.
    mutating func leaseGranted(_ lease: Duration, now: LocalInstant) {
        self.interval = min(self.usualInterval, max(lease / 2, Self.soon))
        self.nextDeadline = earlier(self.nextDeadline, now + self.interval)
    }

    /// A reply came, whatever it answers; the estimate's error is `error` now.
    mutating func sampled(error: Duration, now: LocalInstant) {
        guard error <= self.errorMax else {
            self.nextDeadline = now + min(self.wait, self.interval)
            self.wait = min(self.wait * 2, self.interval)
            return
        }
        self.wait = Self.soon
        // The error grows by itself: the clocks drift apart.
        let untilTooLarge = (self.errorMax - error) * (1_000_000 / Int(ClockEstimator.driftPartsPerMillion))
        self.nextDeadline = now + min(max(untilTooLarge, Self.soon), self.interval)
    }

    /// The device was asleep, or something else happened after which the estimate is not to be trusted for long.
    mutating func sampleNow(now: LocalInstant) {
        guard self.nextDeadline != nil else { return }
        self.nextDeadline = now
    }

    /// The clock is asked for now; the reply sets the next time, and where none comes the usual interval does.
    mutating func asked(now: LocalInstant) {
        self.nextDeadline = now + self.interval
    }
}

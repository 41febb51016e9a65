// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When to ask for the gateway's clock: every so often, and sooner while the estimate is not good.
///
/// Every reply is a sample; a request of its own is made only where none came. While the error stays above its limit, as
/// on a slow network it always does, the wait doubles from a second to the usual interval.
struct ClockSampling: Sendable {
    /// The first wait while the error is above its limit.
    static let soon = Duration.seconds(1)

    private let interval: Duration
    private let errorMax: Duration
    private var wait: Duration
    /// When to ask; `nil`: not connected, or asked already.
    private(set) var nextDeadline: LocalInstant?

    init(timings: ListenerTimings) {
        self.interval = timings.clockSampleInterval
        self.errorMax = timings.clockErrorMax
        self.wait = min(Self.soon, timings.clockSampleInterval)
    }

    /// A connection was made.
    mutating func connected(now: LocalInstant) {
        self.wait = min(Self.soon, self.interval)
        self.nextDeadline = now + self.wait
    }

    mutating func disconnected() {
        self.nextDeadline = nil
    }

    /// A reply came, whatever it answers; the estimate's error is `error` now.
    mutating func sampled(error: Duration, now: LocalInstant) {
        self.wait = error > self.errorMax ? min(self.wait * 2, self.interval) : self.interval
        self.nextDeadline = now + self.wait
    }

    /// The clock is asked for now; the next time is set by the reply, or after the usual interval.
    mutating func asked(now: LocalInstant) {
        self.nextDeadline = now + self.interval
    }
}

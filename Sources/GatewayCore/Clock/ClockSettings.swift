// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How the gateway's clock treats the wall clock.
package struct ClockSettings: Hashable, Sendable {
    /// How fast the gateway's clock is moved towards the wall clock, in parts per million.
    ///
    /// Players take 100 as the most that two clocks drift apart; this and the drift of their own must stay below it.
    package var slewPartsPerMillion = 50
    /// The largest difference that is followed; beyond it the clock goes on alone, and an alarm is raised.
    package var differenceMax: Duration = .seconds(1)
    /// How much slower than the wall clock a clock runs that was told to go back, in parts per million.
    package var stepBackPartsPerMillion = 50_000
    /// The furthest that a clock goes back while the gateway runs.
    package var stepBackMax: Duration = .seconds(600)
    /// How far the wall clock may be behind the books at the start.
    package var behindMax: Duration = .seconds(10)
    /// How far the wall clock may be ahead of the books at the start before retention waits for a confirmation.
    package var aheadMax: Duration = .seconds(86_400)
    /// How long the wall clock must agree with the monotonic clock until it is believed without a word of the operator.
    package var confirmAfter: Duration = .seconds(3 * 86_400)

    package init() {}
}

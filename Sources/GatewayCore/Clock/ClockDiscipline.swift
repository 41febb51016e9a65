// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The result of one reading of the gateway's clock.
package struct ClockReading: Hashable, Sendable {
    /// The gateway time, which players see.
    ///
    /// It never goes back; a command may make it jump forward.
    package let now: Timestamp
    /// How far commands have made it jump forward so far.
    package let steppedMicroseconds: Int64

    package init(now: Timestamp, steppedMicroseconds: Int64 = 0) {
        self.now = now
        self.steppedMicroseconds = steppedMicroseconds
    }

    /// The gateway time without those jumps: leases, allowances and everything else that lasts a while go by it.
    package var steady: Timestamp { self.now.advanced(microseconds: -self.steppedMicroseconds) }
}

/// A monotonic clock that is moved, slowly, to where the wall clock is: the gateway's clock, as a value.
///
/// It knows no clock itself: readings of the monotonic clock (nanoseconds from any beginning) and of the wall clock go in.
///
/// - `following`: the difference is taken away at `slewPartsPerMillion`.
/// - `apart`: the wall clock differs by more than `differenceMax`, because it was set, or was never set. The gateway's clock goes
///   on at its own rate until the wall clock comes back, or a command says that the wall clock is right.
/// - `goingBack`: a command (or a start within the tolerance) said that the wall clock, which is behind, is right. The
///   gateway's clock runs slower until it is reached: it never shows an earlier time than before.
package struct ClockDiscipline: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case following
        case apart
        case goingBack
    }

    /// Why a command did not set the clock.
    package enum StepRefusal: Error, Hashable, Sendable {
        /// The wall clock is further behind than `stepBackMax`.
        case tooFarBehind(Duration)
    }

    package let settings: ClockSettings
    package private(set) var state: State
    /// How far the wall clock was ahead of this one when they were last compared; negative: behind.
    package private(set) var difference: Duration = .zero
    /// How far commands made the clock jump forward, in microseconds.
    package private(set) var steppedMicroseconds: Int64 = 0

    // The clock since it was last looked at by `observe`: it shows `base` at `begun` (a reading of the monotonic clock),
    // and moves by what passes since and by `correction`, spread evenly over `correctionTakes`.
    private var begun: Int64
    private var base: Timestamp
    private var correction: Int64 = 0
    private var correctionPartsPerMillion: Int64 = 0
    private var correctionTakes: Int64 = 0

    /// A clock that shows an instant now.
    ///
    /// - Parameters:
    ///   - start: the time that it shows first.
    ///   - monotonic: the monotonic clock, in nanoseconds.
    ///   - settings: how it treats the wall clock.
    ///   - goesBack: whether it was ahead of the wall clock and is to let itself be reached.
    package init(showing start: Timestamp, at monotonic: Int64, settings: ClockSettings, goesBack: Bool = false) {
        self.base = start
        self.begun = monotonic
        self.settings = settings
        self.state = goesBack ? .goingBack : .following
    }

    /// The time of the clock.
    ///
    /// - Parameter monotonic: the monotonic clock, in nanoseconds; a reading from before the last `observe` counts as that.
    /// - Returns: the gateway time.
    @inline(__always)
    package func reading(at monotonic: Int64) -> ClockReading {
        let passed = max(0, monotonic &- self.begun)
        // Below `correctionTakes` the product is small: `correct` sees to it.
        let corrected =
            passed >= self.correctionTakes
            ? self.correction : passed * self.correctionPartsPerMillion / 1_000_000
        return ClockReading(
            now: self.base.advanced(microseconds: (passed &+ corrected) / 1_000),
            steppedMicroseconds: self.steppedMicroseconds
        )
    }

    /// Compares with the wall clock, about once a second.
    ///
    /// - Parameters:
    ///   - wall: the wall clock.
    ///   - monotonic: the monotonic clock at that instant, in nanoseconds.
    package mutating func observe(wall: Timestamp, at monotonic: Int64) {
        self.rebase(at: monotonic)
        self.difference = wall - self.base
        switch self.state {
        case .goingBack where self.difference < .zero && self.difference >= -self.furthestBack:
            return self.correct(by: self.difference, partsPerMillion: self.settings.stepBackPartsPerMillion)
        case .following, .apart, .goingBack:
            guard self.difference.magnitude <= self.settings.differenceMax else {
                self.state = .apart
                return self.correct(by: .zero, partsPerMillion: 1)
            }
            self.state = .following
            self.correct(by: self.difference, partsPerMillion: self.settings.slewPartsPerMillion)
        }
    }

    /// Accepts the wall clock as right, on an operator's command.
    ///
    /// Forward it jumps. Back it goes by running slower, because players must never see an earlier time again.
    ///
    /// - Throws: when it would take too long to let the wall clock catch up.
    package mutating func step(toWall wall: Timestamp, at monotonic: Int64) throws(StepRefusal) {
        self.rebase(at: monotonic)
        let difference = wall - self.base
        guard difference < .zero else {
            self.base = wall
            self.steppedMicroseconds =
                Timestamp(microseconds: self.steppedMicroseconds)
                .advanced(microseconds: difference.inMicroseconds).microseconds
            self.state = .following
            return self.observe(wall: wall, at: monotonic)
        }
        guard -difference <= self.settings.stepBackMax else { throw .tooFarBehind(-difference) }
        self.state = .goingBack
        self.observe(wall: wall, at: monotonic)
    }

    /// How long it takes until the wall clock is reached, where the clock goes back or follows.
    package var settlesAfter: Duration { .nanoseconds(self.correctionTakes) }

    /// A little more than the command allows: the wall clock may be set again meanwhile.
    private var furthestBack: Duration {
        max(self.settings.stepBackMax, self.settings.behindMax) + self.settings.differenceMax
    }

    /// Begins anew at what the clock shows now; nothing is lost to rounding.
    private mutating func rebase(at monotonic: Int64) {
        let passed = max(0, monotonic &- self.begun)
        let corrected =
            passed >= self.correctionTakes
            ? self.correction : passed * self.correctionPartsPerMillion / 1_000_000
        let moved = passed &+ corrected
        self.base = self.base.advanced(microseconds: moved / 1_000)
        self.begun = self.begun &+ passed &- moved % 1_000
        self.correction = 0
        self.correctionTakes = 0
    }

    private mutating func correct(by difference: Duration, partsPerMillion: Int) {
        let rate = Int64(max(1, partsPerMillion))
        let nanoseconds = difference.inMicroseconds * 1_000
        self.correction = nanoseconds
        self.correctionPartsPerMillion = nanoseconds < 0 ? -rate : rate
        // At most an hour at 1 part per million: far from the end of 64 bits.
        self.correctionTakes = Int64(nanoseconds.magnitude) * 1_000_000 / rate
    }
}

extension Duration {
    static prefix func - (duration: Duration) -> Duration { .zero - duration }

    var magnitude: Duration { self < .zero ? -self : self }
}

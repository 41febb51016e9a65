// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// The clock of a gateway: monotonic, moved slowly towards the wall clock, never back.
///
/// `now()` costs one look at the monotonic clock and a lock that is held for a few instructions. The owner must call
/// `observe()` about once a second (`ClockService` does).
package final class SteeredClock: GatewayClock {
    private let discipline: Mutex<ClockDiscipline>
    private let watch: Mutex<RetentionWatch>
    private let sources: ClockSources
    package let settings: ClockSettings

    /// A clock that shows what the wall clock shows.
    package init(settings: ClockSettings = ClockSettings(), sources: ClockSources = .system) {
        let (wall, monotonic) = sources.sample()
        self.sources = sources
        self.settings = settings
        self.discipline = Mutex(ClockDiscipline(showing: wall, at: monotonic, settings: settings))
        self.watch = Mutex(RetentionWatch(wall: wall, books: nil, at: monotonic, settings: settings))
    }

    package func now() -> Timestamp { self.reading().now }

    package func reading() -> ClockReading {
        let monotonic = self.sources.monotonic()
        return self.discipline.withLock { $0.reading(at: monotonic) }
    }

    /// Begins on books that have times in them; before anybody looks at the clock.
    ///
    /// - Parameters:
    ///   - newest: the time of the newest record; `nil` where there is none.
    ///   - shown: the last time that the run before showed.
    ///   - retention: how far the books have been retired; `nil` where nothing says.
    ///   - acceptsWall: whether the operator says that the wall clock is right whatever the books say.
    /// - Throws: `ClockStart.Refusal` where the wall clock is behind the books.
    package func begin(
        newest: Timestamp?,
        shown: Timestamp?,
        retention: Timestamp?,
        acceptsWall: Bool
    ) throws(ClockStart.Refusal) {
        let (wall, monotonic) = self.sources.sample()
        let start = try ClockStart(
            wall: wall,
            newest: newest,
            shown: shown,
            acceptsWall: acceptsWall,
            settings: self.settings
        )
        self.discipline.withLock {
            $0 = ClockDiscipline(
                showing: start.time,
                at: monotonic,
                settings: self.settings,
                goesBack: start.goesBack
            )
        }
        self.watch.withLock {
            $0 = RetentionWatch(wall: wall, books: retention, at: monotonic, settings: self.settings)
        }
    }

    /// The state of the clock.
    package struct Status: Hashable, Sendable {
        package let wall: Timestamp
        package let gateway: Timestamp
        /// How far the wall clock is ahead of the gateway's; negative: behind.
        package let difference: Duration
        package let state: ClockDiscipline.State
        package let settlesAfter: Duration
        package let retention: RetentionWatch.State
        /// How far the wall clock was ahead of the books when retention was frozen.
        package let ahead: Duration
        package let confirmsAfter: Duration
    }

    /// Compares with the wall clock, and steers.
    package func observe() -> Status {
        self.withSample { wall, monotonic, discipline in discipline.observe(wall: wall, at: monotonic) }
    }

    /// Takes the wall clock for right: jumps forward to it, or lets itself be reached.
    ///
    /// A jump that is further than is believed at a start freezes retention as a start would.
    ///
    /// - Throws: `ClockDiscipline.StepRefusal` where it is too far behind.
    package func step() throws(ClockDiscipline.StepRefusal) -> Status {
        var refusal: ClockDiscipline.StepRefusal?
        let status = self.withSample { wall, monotonic, discipline in
            let before = discipline.reading(at: monotonic).now
            do throws(ClockDiscipline.StepRefusal) {
                try discipline.step(toWall: wall, at: monotonic)
                self.watch.withLock { $0.freezeIfAhead(wall: wall, of: before, at: monotonic) }
            } catch {
                refusal = error
            }
        }
        if let refusal { throw refusal }
        return status
    }

    /// Lets retention run again, as an operator says.
    package func confirm() -> Status {
        _ = self.watch.withLock { $0.confirm() }
        return self.observe()
    }

    /// Whether nothing may be forgotten.
    package var isRetentionFrozen: Bool { self.watch.withLock { $0.state == .frozen } }

    private func withSample(_ body: (Timestamp, Int64, inout ClockDiscipline) -> Void) -> Status {
        let sample = self.sources.sample()
        return self.discipline.withLock { discipline in
            // Read again inside the lock: a time that a caller has seen already must not lie after the point that the clock is
            // bent at. Otherwise the clock could show that caller an earlier time.
            let monotonic = self.sources.monotonic()
            let wall = sample.wall.advanced(microseconds: (monotonic - sample.monotonic) / 1_000)
            body(wall, monotonic, &discipline)
            return self.watch.withLock { watch in
                _ = watch.observe(wall: wall, at: monotonic)
                return Status(
                    wall: wall,
                    gateway: discipline.reading(at: monotonic).now,
                    difference: discipline.difference,
                    state: discipline.state,
                    settlesAfter: discipline.settlesAfter,
                    retention: watch.state,
                    ahead: watch.ahead,
                    confirmsAfter: watch.confirmsAfter(at: monotonic)
                )
            }
        }
    }
}

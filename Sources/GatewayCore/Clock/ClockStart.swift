// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The gateway's judgement of the wall clock when it starts on books that have times in them.
package struct ClockStart: Hashable, Sendable {
    /// Why it does not start.
    package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// How far the wall clock is behind the newest record.
        package let behind: Duration
        package let newest: Timestamp
        package let behindMax: Duration

        package var description: String {
            "The machine's clock is \(self.behind.inSecondsText) behind the newest record of the event log (\(self.newest)); "
                + "the limit clock.behindMax is \(self.behindMax.inSecondsText). Set the clock right and start again; or, if the "
                + "clock is right and was wrong when the record was written, start once with --accept-clock."
        }
    }

    /// The time that the gateway's clock shows first.
    package let time: Timestamp
    /// Whether that is ahead of the wall clock, which is to be let catch up.
    package let goesBack: Bool

    /// Compares the wall clock with the books.
    ///
    /// - Parameters:
    ///   - wall: the wall clock.
    ///   - newest: the time of the newest record of the log; `nil` where there is none.
    ///   - shown: the last time that the run before showed to players, where that is known.
    ///   - acceptsWall: whether the operator has said that the wall clock is right and the books are from a wrong one.
    ///   - settings: the tolerances.
    /// - Throws: `Refusal` where the clock is behind the books.
    package init(
        wall: Timestamp,
        newest: Timestamp?,
        shown: Timestamp? = nil,
        acceptsWall: Bool = false,
        settings: ClockSettings
    ) throws(Refusal) {
        guard !acceptsWall else {
            self.time = wall
            self.goesBack = false
            return
        }
        if let newest, newest - wall > settings.behindMax {
            throw Refusal(behind: newest - wall, newest: newest, behindMax: settings.behindMax)
        }
        // What was only shown, and is far ahead, was shown by a wrong clock, and left no trace in the books.
        let times = [newest, shown].compactMap(\.self).filter { $0 - wall <= settings.behindMax }
        self.time = times.reduce(wall, max)
        self.goesBack = self.time > wall
    }
}

/// Whether what the clock says may make the gateway forget.
///
/// Forgetting cannot be undone. So the gateway does not believe a clock that is far ahead of the books until an operator confirms
/// it, or until it has agreed with the monotonic clock for long.
package struct RetentionWatch: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case running
        /// Nothing is forgotten.
        case frozen
    }

    package let settings: ClockSettings
    package private(set) var state: State = .running
    /// How far the wall clock was ahead of the books when it was frozen.
    package private(set) var ahead: Duration = .zero
    /// Since when the two clocks agree, by the monotonic one, and how far they are apart.
    private var agreesSince: Int64
    private var offset: Int64

    /// - Parameters:
    ///   - wall: the wall clock.
    ///   - books: the retention time of the log; `nil` where it has none yet.
    ///   - monotonic: the monotonic clock, in nanoseconds.
    ///   - settings: the tolerances.
    package init(wall: Timestamp, books: Timestamp?, at monotonic: Int64, settings: ClockSettings) {
        self.settings = settings
        self.agreesSince = monotonic
        self.offset = Self.offset(wall, monotonic)
        if let books { self.freezeIfAhead(wall: wall, of: books, at: monotonic) }
    }

    /// Freezes where an instant is further ahead of the books than is believed.
    package mutating func freezeIfAhead(wall: Timestamp, of books: Timestamp, at monotonic: Int64) {
        guard wall - books > self.settings.aheadMax else { return }
        self.ahead = wall - books
        self.state = .frozen
        self.agreesSince = monotonic
        self.offset = Self.offset(wall, monotonic)
    }

    /// Looks at both clocks, about once a second.
    ///
    /// - Returns: whether retention runs again because enough time has passed.
    package mutating func observe(wall: Timestamp, at monotonic: Int64) -> Bool {
        guard self.state == .frozen else { return false }
        let offset = Self.offset(wall, monotonic)
        let moved = Duration.microseconds(offset.subtractingReportingOverflow(self.offset).partialValue)
        if moved.magnitude > self.settings.differenceMax {
            self.agreesSince = monotonic
            self.offset = offset
        }
        guard self.confirmsAfter(at: monotonic) == .zero else { return false }
        self.state = .running
        return true
    }

    /// The operator says that the wall clock is right.
    ///
    /// - Returns: whether retention was frozen.
    package mutating func confirm() -> Bool {
        defer { self.state = .running }
        return self.state == .frozen
    }

    /// How long until time itself confirms the clock.
    package func confirmsAfter(at monotonic: Int64) -> Duration {
        max(.zero, self.settings.confirmAfter - .nanoseconds(max(0, monotonic &- self.agreesSince)))
    }

    private static func offset(_ wall: Timestamp, _ monotonic: Int64) -> Int64 {
        wall.advanced(microseconds: -(monotonic / 1_000)).microseconds
    }
}

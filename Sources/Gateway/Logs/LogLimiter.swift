// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of what is logged.
package enum LogLimits {
    /// How many lines of one kind that peers can cause are logged in a second.
    package static let linesPerSecondMax = 10
    /// How many of them may come at once after a pause.
    package static let linesAtOnceMax = 50
    /// How many lines about accepted changes of breaks are logged in a second: more, because they are the work itself.
    package static let changesPerSecondMax = 100
    /// How many of them may come at once after a pause.
    package static let changesAtOnceMax = 1_000
    /// The most bytes of lines that wait until standard error is read; further lines are dropped.
    package static let waitingBytesMax = 1_048_576
    /// How long the end of the process waits for them to be taken.
    package static let finishTimeout = Duration.seconds(2)
    /// The longest line, in bytes, its end included.
    package static let lineBytesMax = 16_384
    /// The longest message in a line, in bytes as they are written.
    package static let messageBytesMax = 8_192
    /// The longest value of one field, in bytes as they are written.
    package static let valueBytesMax = 2_048
    /// The longest name of a field, in bytes as they are written.
    package static let nameBytesMax = 128
    /// How deep values are nested; what lies deeper is left out.
    package static let depthMax = 4
    /// How many elements of a list or a table are written.
    package static let elementsMax = 64
}

/// Which lines of one kind are logged when many come: it decides, it never acts.
///
/// A bucket of tokens: one for each line, filled at a steady rate up to a bound (ITU-T I.371, "generic cell rate algorithm",
/// is the same rule).
package struct LogLimiter: Equatable, Sendable {
    package enum Decision: Equatable, Sendable {
        /// The line is logged, and with it how many were left out since the last one.
        case log(leftOut: Int)
        /// The line is left out.
        case leaveOut
    }

    private let perSecond: Int
    private let atOnce: Int
    /// Microseconds between two lines.
    private var interval: Int64 { 1_000_000 / Int64(self.perSecond) }
    /// When the bucket would be full again, in microseconds of any clock that never goes back.
    private var fullAt: Int64 = .min
    /// How many were left out since the last line.
    package private(set) var leftOut = 0

    /// - Parameters:
    ///   - perSecond: how many lines a second; from 1 to 1,000,000.
    ///   - atOnce: how many at once after a pause; at least 1.
    package init(perSecond: Int, atOnce: Int) {
        self.perSecond = min(max(1, perSecond), 1_000_000)
        self.atOnce = max(1, atOnce)
    }

    /// A line is to be logged.
    ///
    /// - Parameter now: microseconds of a clock that never goes back.
    /// - Returns: whether it is.
    package mutating func decide(at now: Int64) -> Decision {
        guard self.takeToken(at: now) else {
            self.leftOut += 1
            return .leaveOut
        }
        defer { self.leftOut = 0 }
        return .log(leftOut: self.leftOut)
    }

    /// Whether it is time to say how many were left out although no further line comes.
    ///
    /// - Returns: how many; `nil`: none, or it is not time.
    package mutating func takeLeftOut(at now: Int64) -> Int? {
        guard self.leftOut > 0, self.takeToken(at: now) else { return nil }
        defer { self.leftOut = 0 }
        return self.leftOut
    }

    private mutating func takeToken(at now: Int64) -> Bool {
        let begin = max(self.fullAt, now)
        guard begin - now <= self.interval * Int64(self.atOnce - 1) else { return false }
        self.fullAt = begin + self.interval
        return true
    }
}

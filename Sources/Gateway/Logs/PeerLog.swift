// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
package import Logging
import Synchronization

/// Logs what peers can cause, and never more of it than an operator can read.
///
/// A peer that sends refused requests or bad frames without end would otherwise fill the disk with lines and keep the thread busy
/// that serves all other peers. Dropped lines are counted; the next line that is logged says how many, or one does within seconds.
///
/// Lines of the levels `debug` and `trace` are never left out: an operator who asks for those asks for all of them.
package final class PeerLog: Sendable {
    /// The kinds of lines, each with its own limit, so that a flood of one kind hides no other.
    package enum Kind: String, CaseIterable, Sendable {
        /// Changes of breaks that broadcasters asked for.
        case changes
        /// Requests of broadcasters that were refused.
        case refusals
        /// Broadcasters that connected, or were not let in.
        case authentication
        /// Messages of listeners that cannot be read as requests of theirs.
        case unreadable
        /// Messages on a socket that are no requests at all.
        case frames
        /// Calls of sockets that failed.
        case sockets
        /// Requests over HTTP that failed.
        case http

        fileprivate var limiter: LogLimiter {
            self == .changes
                ? LogLimiter(perSecond: LogLimits.changesPerSecondMax, atOnce: LogLimits.changesAtOnceMax)
                : LogLimiter(perSecond: LogLimits.linesPerSecondMax, atOnce: LogLimits.linesAtOnceMax)
        }

        fileprivate var label: MetricLabel {
            switch self {
            case .changes: .changes
            case .refusals: .refusals
            case .authentication: .authentication
            case .unreadable: .unreadable
            case .frames: .frames
            case .sockets: .sockets
            case .http: .http
            }
        }
    }

    private struct State {
        var limiter: LogLimiter
        /// How severe the last line was that was left out.
        var level = Logger.Level.notice
    }

    private let states: Mutex<[Kind: State]>
    private let metrics: MetricRegistry
    private let logger: Logger
    /// Microseconds of a clock that never goes back.
    private let elapsed: @Sendable () -> Int64

    /// - Parameters:
    ///   - metrics: counts what is left out.
    ///   - logger: takes what is not.
    ///   - elapsed: microseconds of a clock that never goes back.
    package init(
        metrics: MetricRegistry,
        logger: Logger,
        elapsed: @escaping @Sendable () -> Int64 = PeerLog.elapsed
    ) {
        self.states = Mutex(Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, State(limiter: $0.limiter)) }))
        self.metrics = metrics
        self.logger = logger
        self.elapsed = elapsed
        for kind in Kind.allCases { metrics.count(.logLinesSuppressed, kind.label, by: 0) }
    }

    /// Whether lines of a level are logged at all: one comparison, for those who would have to prepare much.
    package func logs(_ level: Logger.Level) -> Bool { self.logger.logLevel <= level }

    /// Logs a line, unless there were too many of its kind.
    ///
    /// - Parameters:
    ///   - kind: the kind of line, which has a limit of its own.
    ///   - level: how severe it is.
    ///   - message: the message.
    ///   - metadata: evaluated only where the line is logged.
    package func log(
        _ kind: Kind,
        _ level: Logger.Level,
        _ message: @autoclosure () -> Logger.Message,
        _ metadata: @autoclosure () -> Logger.Metadata
    ) {
        guard self.logs(level) else { return }
        if level > .debug {
            let now = self.elapsed()
            let decision = self.states.withLock { states in
                let decision = states[kind]?.limiter.decide(at: now)
                if decision == .leaveOut { states[kind]?.level = level }
                return decision
            }
            guard case .log(let leftOut)? = decision else {
                return self.metrics.count(.logLinesSuppressed, kind.label)
            }
            if leftOut > 0 { self.report(leftOut, of: kind, level) }
        }
        self.logger.log(level: level, message(), metadata: metadata())
    }

    /// Says how many lines were left out where no further one came; to be called every second or so.
    package func reportSuppressed() {
        let now = self.elapsed()
        for kind in Kind.allCases {
            let (count, level) = self.states.withLock { states in
                (states[kind]?.limiter.takeLeftOut(at: now), states[kind]?.level ?? .notice)
            }
            if let count { self.report(count, of: kind, level) }
        }
    }

    /// As severe as what was left out, so that it is logged where that would have been.
    private func report(_ count: Int, of kind: Kind, _ level: Logger.Level) {
        self.logger.log(
            level: level,
            "lines were left out because there were too many",
            metadata: ["kind": "\(kind.rawValue)", "count": "\(count)"]
        )
    }

    private static let begun = ContinuousClock.now

    /// Microseconds since the first call.
    package static func elapsed() -> Int64 { (ContinuousClock.now - Self.begun).inMicroseconds }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One connection's use of its rate limits.
///
/// Clock-free: the caller says what time it is. What a connection takes beyond a limit is paid back.
struct MessageAllowance: Sendable {
    /// How much a connection may send.
    struct Limits: Sendable {
        let messages: RateBucket.Limit
        let sessions: RateBucket.Limit
        /// The tokens of its joins that may be refused.
        let refusals: RateBucket.Limit
        /// The rate up to which a connection counts as quiet.
        let quiet = RateBucket.Limit.rate(
            EdgeSettings.lightMessagesPerSecondMax,
            atOnce: EdgeSettings.lightMessagesAtOnceMax
        )

        init(_ settings: EdgeSettings) {
            self.messages = .rate(settings.messagesPerConnectionPerSecondMax)
            self.sessions = .count(settings.sessionsPerConnectionMax, within: settings.lease)
            self.refusals = .rate(settings.refusedTokensPerConnectionPerSecondMax)
        }
    }

    private var messages = RateBucket()
    private var sessions = RateBucket()
    private var refusals = RateBucket()
    private var quiet = RateBucket()

    /// Whether it sends little.
    @inline(__always)
    func isQuiet(_ limits: borrowing Limits, at now: UInt64) -> Bool { self.quiet.hasOne(of: limits.quiet, at: now) }

    /// It is read from, which counts as a message for those that send little.
    @inline(__always)
    mutating func takeRead(_ limits: borrowing Limits, at now: UInt64) { self.quiet.takeOne(of: limits.quiet, at: now) }

    @inline(__always)
    mutating func takeMessage(_ limits: borrowing Limits, at now: UInt64) {
        self.quiet.takeOne(of: limits.quiet, at: now)
        self.messages.takeOne(of: limits.messages, at: now)
    }

    @inline(__always)
    func hasMessage(_ limits: borrowing Limits, at now: UInt64) -> Bool {
        self.messages.hasOne(of: limits.messages, at: now)
    }

    mutating func takeSession(_ limits: borrowing Limits, at now: UInt64) {
        self.sessions.takeOne(of: limits.sessions, at: now)
    }

    func hasSession(_ limits: borrowing Limits, at now: UInt64) -> Bool {
        self.sessions.hasOne(of: limits.sessions, at: now)
    }

    mutating func takeRefusal(_ limits: borrowing Limits, at now: UInt64) {
        self.refusals.takeOne(of: limits.refusals, at: now)
    }

    func hasRefusal(_ limits: borrowing Limits, at now: UInt64) -> Bool {
        self.refusals.hasOne(of: limits.refusals, at: now)
    }
}

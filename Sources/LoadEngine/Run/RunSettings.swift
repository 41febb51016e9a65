// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The settings of a run; the first process passes them to those that it starts.
package struct RunSettings: Codable, Hashable, Sendable {
    /// Where the gateway is, as `tcp://HOST:PORT`.
    package struct Gateway: Codable, Hashable, Sendable {
        package var notices: String
        package var requests: String
        package var broadcast: String

        package init(notices: String, requests: String, broadcast: String) {
            self.notices = notices
            self.requests = requests
            self.broadcast = broadcast
        }
    }

    /// Shares of what becomes of advertisements.
    package struct Mix: Codable, Hashable, Sendable {
        package var played = 0.7
        package var ignored = 0.25
        package var failed = 0.05

        package init() {}
    }

    package var gateway: Gateway
    package var streams: [String]
    /// In all processes together, shared out evenly among the streams.
    package var listeners = 100
    /// How many breaks are published on each stream, or, where it follows, waited for; `nil`: until `runFor` is over.
    package var breaks: Int?
    /// Between two breaks of a stream, in microseconds.
    package var every: Microseconds = 10_000_000
    /// How long before its start a break is published.
    package var lead: Microseconds = 8_000_000
    /// How long a break lasts.
    package var duration: Microseconds = 8_000_000
    package var advertisements = 3
    /// Publishes nothing.
    package var follows = false
    /// Listeners a second, in all processes together; 0: all at once.
    package var connectRate = 2_000.0
    /// One connection for each listener, where the gateway sends notices on it; `false`: always two.
    package var push = true
    /// How listeners' connections are encrypted; `nil`: they are plain.
    package var encryption: Encryption?
    /// The file of the tokens with which listeners join.
    package var tokensFile: String?
    package var storm = false
    package var mix = Mix()
    package var speed: Double?
    /// The share of listeners that stop reading again and again, and for how long.
    package var stall = 0.0
    package var stallFor: Microseconds = 5_000_000
    /// Sessions that leave and come back as others in a second.
    package var churn = 0.0
    package var runFor: Microseconds?
    package var seed: UInt64 = 0
    /// Names the breaks of this run: 1 to 20 characters `a–z 0–9 -`.
    package var runName = "0"
    /// How long nothing may happen before what is open is given up.
    package var patience: Microseconds = 20_000_000
    /// How long a listener waits for a connection, for its proof and for a reply; `nil`: as long as players do.
    ///
    /// For tests.
    package var listenerTimeout: Microseconds?

    /// Which process this is, and of how many.
    package var process = 0
    package var processes = 1

    package init(gateway: Gateway, streams: [String]) {
        self.gateway = gateway
        self.streams = streams
    }

    /// Whether this process publishes.
    package var publishes: Bool { !self.follows && self.process == 0 }

    /// The numbers of the listeners of this process.
    package var ownListeners: Range<Int> {
        self.listeners * self.process / self.processes..<self.listeners * (self.process + 1) / self.processes
    }

    /// How many breaks are published on each stream in all; `nil`: unknown, because another broadcaster publishes them.
    package var breakCount: Int? {
        if let breaks { return breaks }
        guard !self.follows, let runFor else { return nil }
        return Int(max(1, runFor / max(1, self.every)))
    }
}

/// How far a run is, for a line on a terminal.
package struct RunProgress: Codable, Hashable, Sendable {
    package enum Phase: String, Codable, Sendable {
        case joining
        case running
        /// Everything is published; what is open comes to its end.
        case finishing
    }

    package var phase = Phase.joining
    package var seconds = 0.0
    package var listeners = 0
    package var following = 0
    package var published = 0
    package var notices = 0
    package var batches = 0
    package var outcomes = 0
    package var findings = 0

    package init() {}

    /// Of several processes.
    package mutating func add(_ other: RunProgress) {
        self.seconds = max(self.seconds, other.seconds)
        self.listeners += other.listeners
        self.following += other.following
        self.published += other.published
        self.notices += other.notices
        self.batches += other.batches
        self.outcomes += other.outcomes
        self.findings += other.findings
        if other.phase != .finishing, self.phase == .finishing { self.phase = other.phase }
        if other.phase == .joining { self.phase = .joining }
    }

    /// One line.
    package var line: String {
        let joined =
            self.following < self.listeners
            ? "\(Figures.count(self.following)) of \(Figures.count(self.listeners)) listeners"
            : Figures.plural(self.listeners, "listener")
        var parts = ["\(Figures.fixed(self.seconds, 0)) s", self.phase.rawValue, joined]
        if self.published > 0 { parts.append(Figures.plural(self.published, "break")) }
        parts.append("\(Figures.count(self.notices)) notices")
        parts.append("\(Figures.count(self.batches)) batches")
        parts.append("\(Figures.count(self.outcomes)) outcomes")
        if self.findings > 0 { parts.append("\(Figures.count(self.findings)) FINDINGS") }
        return parts.joined(separator: " · ")
    }
}

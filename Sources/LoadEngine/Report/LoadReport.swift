// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Histogram

/// The findings of a run, for people, scripts and plots.
///
/// The names of its keys as JSON are a contract; `keys(of:)` of the tests hold them.
package struct LoadReport: Codable, Hashable, Sendable {
    /// Latencies of one kind.
    package struct Latency: Codable, Hashable, Sendable {
        package var count: UInt64
        /// From the instant at which the thing was meant to begin: no coordinated omission.
        package var intendedMicroseconds: LatencyFigures
        /// From when it began.
        package var serviceMicroseconds: LatencyFigures
        /// Pairs of percentile and latency from the intended instant, for plots.
        package var curve: [[Double]]
        package var serviceCurve: [[Double]]

        enum CodingKeys: String, CodingKey {
            case count
            case intendedMicroseconds = "intended_us"
            case serviceMicroseconds = "service_us"
            case curve
            case serviceCurve = "service_curve"
        }
    }

    package struct Latencies: Codable, Hashable, Sendable {
        package var connect: Latency
        package var handshake: Latency
        package var join: Latency
        package var away: Latency
        package var notice: Latency
        package var batch: Latency
        package var acknowledge: Latency
        package var publish: Latency
        /// How late the tool itself was.
        package var toolLag: Latency

        enum CodingKeys: String, CodingKey {
            case connect
            case handshake
            case join
            case away
            case notice
            case batch
            case acknowledge
            case publish
            case toolLag = "tool_lag"
        }
    }

    /// The results of one break.
    package struct Break: Codable, Hashable, Sendable {
        package var stream: String
        package var id: String
        /// Whether this run published it.
        package var isOurs: Bool
        package var notices: Int
        package var batches: Int
        package var delivered: Int
        package var played: Int
        package var ignored: Int
        package var failed: Int
        package var windowMilliseconds: Int?
        /// From the opening of the window.
        package var startMilliseconds: Int?
        package var requestsPer100Milliseconds: [Int]
        package var peakOverMean: Double?
        package var shareBeforeStart: Double?

        enum CodingKeys: String, CodingKey {
            case stream
            case id = "break"
            case isOurs = "ours"
            case notices
            case batches
            case delivered
            case played
            case ignored
            case failed
            case windowMilliseconds = "window_ms"
            case startMilliseconds = "start_ms"
            case requestsPer100Milliseconds = "requests_per_100ms"
            case peakOverMean = "peak_over_mean"
            case shareBeforeStart = "share_before_start"
        }
    }

    package struct Finding: Codable, Hashable, Sendable {
        package var kind: String
        package var count: Int
        package var sentence: String
        package var examples: [String]
    }

    /// Whether the gateway's books say the same.
    package struct Books: Codable, Hashable, Sendable {
        package enum State: String, Codable, Sendable {
            /// Every number of every break of ours equals what was sent.
            case equal
            case different
            case notCompared = "not_compared"
        }

        package var state: State
        package var breaks: Int
        package var sentence: String

        package init(state: State, breaks: Int, sentence: String) {
            self.state = state
            self.breaks = breaks
            self.sentence = sentence
        }
    }

    /// Where and how it ran.
    package struct Facts: Codable, Hashable, Sendable {
        package struct Pair: Codable, Hashable, Sendable {
            package var name: String
            package var value: String

            package init(_ name: String, _ value: String) {
                self.name = name
                self.value = value
            }
        }

        package var machine: [Pair]
        package var options: [Pair]
        package var gateway: [Pair]
        /// When it began, RFC 3339.
        package var began: String
        package var processes: Int
        package var ownCPUSeconds: Double

        enum CodingKeys: String, CodingKey {
            case machine
            case options
            case gateway
            case began
            case processes
            case ownCPUSeconds = "own_cpu_seconds"
        }

        package init(
            machine: [Pair],
            options: [Pair],
            gateway: [Pair],
            began: Timestamp,
            processes: Int,
            ownCPUSeconds: Double
        ) {
            self.machine = machine
            self.options = options
            self.gateway = gateway
            self.began = began.description
            self.processes = processes
            self.ownCPUSeconds = ownCPUSeconds
        }
    }

    package var mode = "run"
    /// Whether nothing was lost, repeated, wrong or unconfirmed.
    package var passed: Bool
    /// Whether it ended as planned, and was not interrupted.
    package var isComplete: Bool
    package var streams: Int
    package var listeners: Int
    package var seconds: Double
    /// From the first connection until the last of the first listeners had joined.
    package var allJoinedSeconds: Double?
    /// From the first connection until the last of the first listeners had its connections.
    package var allConnectedSeconds: Double?
    /// Handshakes in that time, and joins until all had joined, of each second on average.
    package var handshakesPerSecond: Double?
    package var joinsPerSecond: Double?
    package var lost: Int
    package var repeated: Int
    package var outOfOrder: Int
    package var latency: Latencies
    package var counts: RunStatistics.Counts
    package var refused: [String: Int]
    package var perSecond: [RunStatistics.Second]
    package var breaks: [Break]
    package var findings: [Finding]
    package var books: Books
    package var facts: Facts

    enum CodingKeys: String, CodingKey {
        case mode
        case passed
        case isComplete = "complete"
        case streams
        case listeners
        case seconds
        case allJoinedSeconds = "all_joined_seconds"
        case allConnectedSeconds = "all_connected_seconds"
        case handshakesPerSecond = "handshakes_per_second"
        case joinsPerSecond = "joins_per_second"
        case lost
        case repeated
        case outOfOrder = "out_of_order"
        case latency
        case counts
        case refused
        case perSecond = "per_second"
        case breaks
        case findings
        case books
        case facts
    }
}

extension LoadReport {
    /// The report of a run.
    ///
    /// - Parameters:
    ///   - outcome: the results of all processes.
    ///   - isComplete: whether the run ended as planned.
    ///   - listeners: how many listeners there were at a time.
    ///   - streams: on how many streams.
    ///   - books: the gateway's report.
    ///   - facts: where and how it ran.
    package init(
        _ outcome: RunOutcome,
        isComplete: Bool,
        listeners: Int,
        streams: Int,
        books: Books,
        facts: Facts
    ) {
        let statistics = outcome.statistics
        self.passed = statistics.findings.isEmpty
        self.isComplete = isComplete
        self.streams = streams
        self.listeners = listeners
        self.seconds = Double(max(0, outcome.ended - statistics.began)) / 1e6
        self.allJoinedSeconds = statistics.allJoined.map { Double($0 - statistics.began) / 1e6 }
        self.allConnectedSeconds = statistics.allConnected.map { Double($0 - statistics.began) / 1e6 }
        self.handshakesPerSecond = Self.rate(statistics.handshakesUntilAllConnected, self.allConnectedSeconds)
        self.joinsPerSecond = Self.rate(listeners, self.allJoinedSeconds)
        self.lost = statistics.findings[.noticesLost]
        self.repeated = statistics.findings[.noticesRepeated]
        self.outOfOrder = statistics.findings[.noticesOutOfOrder]
        self.latency = Latencies(
            connect: Latency(statistics.connect),
            handshake: Latency(statistics.handshake),
            join: Latency(statistics.join),
            away: Latency(statistics.away),
            notice: Latency(statistics.notice),
            batch: Latency(statistics.batch),
            acknowledge: Latency(statistics.acknowledge),
            publish: Latency(statistics.publish),
            toolLag: Latency(statistics.lag)
        )
        self.counts = statistics.counts
        self.refused = statistics.refusals
        self.perSecond = statistics.seconds
        self.breaks = outcome.breaks.map { Break($0) }
        self.findings = Findings.Kind.allCases.compactMap { kind in
            statistics.findings.entries[kind]
                .map {
                    Finding(kind: kind.rawValue, count: $0.count, sentence: kind.sentence, examples: $0.examples)
                }
        }
        self.books = books
        self.facts = facts
    }
}

extension LoadReport {
    /// In tenths: more digits would only make reports that are equal look different.
    private static func rate(_ count: Int, _ seconds: Double?) -> Double? {
        seconds.flatMap { $0 > 0 ? (Double(count) / $0 * 10).rounded() / 10 : nil }
    }
}

extension LoadReport.Latency {
    init(_ record: LatencyRecord) {
        self.count = record.intended.totalCount
        self.intendedMicroseconds = LatencyFigures(record.intended)
        self.serviceMicroseconds = LatencyFigures(record.service)
        self.curve = record.intended.percentileCurve
        self.serviceCurve = record.service.percentileCurve
    }
}

extension LoadReport.Break {
    init(_ each: RunOutcome.Break) {
        let tally = each.tally
        self.stream = each.stream
        self.id = each.id
        self.isOurs = each.isOurs
        self.notices = tally.notices
        self.batches = tally.batches
        self.delivered = tally.delivered
        self.played = tally.played
        self.ignored = tally.ignored
        self.failed = tally.failed
        if let from = tally.windowFrom {
            self.windowMilliseconds = tally.windowBy.map { Int(($0 - from) / 1_000) }
            self.startMilliseconds = tally.start.map { Int(($0 - from) / 1_000) }
        }
        self.requestsPer100Milliseconds = tally.requests
        self.peakOverMean = tally.peakOverMean
        self.shareBeforeStart = tally.shareBeforeStart
    }
}

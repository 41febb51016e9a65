// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How notices are published.
package enum NoticePattern: String, CaseIterable, Sendable, Encodable {
    /// One after a silence.
    case single
    /// Many at once: updates of one break, pipelined.
    case burst
}

/// Subscribers of one stream, and notices to all of them.
package struct NoticesSettings: Sendable {
    /// Where a broadcaster publishes.
    package enum Publisher: Sendable {
        case gateway(Endpoint)
        /// A bare forwarder: it sends on whatever it gets.
        case forwarder(Endpoint)

        var endpoint: Endpoint {
            switch self {
            case .gateway(let endpoint), .forwarder(let endpoint): endpoint
            }
        }
    }

    package var notices: Endpoint
    package var publisher: Publisher
    package var connections: Int
    package var pattern: NoticePattern
    /// How long nothing is published before each round.
    package var silence: Duration
    /// How many rounds.
    package var rounds = 10
    /// How many notices a burst has.
    package var burst = 500
    /// How connections to encrypted endpoints are encrypted.
    package var encryption = Encryption()
    package var connectionsPerSecond = 5_000.0
    /// How long nothing may come before something is given up.
    package var patience = Duration.seconds(10)
    /// How long nothing may come in a round before what is missing of it is lost.
    package var roundPatience = Duration.seconds(10)
    package var handlesSignals = false

    package init(
        notices: Endpoint,
        publisher: Publisher,
        connections: Int,
        pattern: NoticePattern,
        silence: Duration
    ) {
        self.notices = notices
        self.publisher = publisher
        self.connections = connections
        self.pattern = pattern
        self.silence = silence
    }

    var isBare: Bool {
        if case .forwarder = self.publisher { true } else { false }
    }

    func check() throws(LoadError) {
        guard (1...1_000_000).contains(self.connections) else { throw .usage("--connections is at least 1") }
        // Each round has a cued break of its own, and a stream holds 64.
        guard (1...60).contains(self.rounds) else { throw .usage("--count is 1 to 60") }
        guard (1...100_000).contains(self.burst) else { throw .usage("--burst is 1 to 100000") }
        guard self.silence >= .zero else { throw .usage("--silence is not negative") }
    }
}

/// The result.
package struct NoticesResult: Encodable, Hashable, Sendable {
    /// One round; which fields there are depends on the pattern.
    package struct Round: Encodable, Hashable, Sendable {
        /// How many notices came in; complete when it is connections times messages.
        package var received: Int
        /// How many notices were published; bursts only.
        package var messages: Int?
        package var seconds: Double?
        package var perSecond: Double?
        /// From handing the publication to the socket until half of the connections had the notice.
        package var medianMicroseconds: Double?
        package var percentile99Microseconds: Double?
        package var lastMicroseconds: Double?

        private enum CodingKeys: String, CodingKey {
            case received
            case messages
            case seconds
            case perSecond = "per_second"
            case medianMicroseconds = "median_us"
            case percentile99Microseconds = "p99_us"
            case lastMicroseconds = "last_us"
        }
    }

    package let mode: String
    package let pattern: NoticePattern
    package let connections: Int
    package let noticeBytes: Int
    package let rounds: [Round]
    package let lost: Int
    package let repeated: Int
    package let outOfOrder: Int
    /// Connections that the peer closed before they were up, and that were made again.
    package let reconnects: Int
    package let ownCPUSeconds: Double

    private enum CodingKeys: String, CodingKey {
        case mode
        case pattern
        case connections
        case noticeBytes = "notice_bytes"
        case rounds
        case lost
        case repeated
        case outOfOrder = "out_of_order"
        case reconnects
        case ownCPUSeconds = "own_cpu_seconds"
    }
}

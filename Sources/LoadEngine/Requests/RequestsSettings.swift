// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The request that a listener repeats.
package enum RequestKind: String, CaseIterable, Sendable, Encodable {
    case batch
    case acknowledge
    case join
    case time
}

/// A closed loop of requests: each connection has one under way.
package struct RequestsSettings: Sendable {
    package var requests: Endpoint
    /// Where to publish what the requests are about; not needed with `isBare`, and for `join` and `time`.
    package var broadcast: Endpoint?
    package var kind: RequestKind
    package var connections: Int
    /// How many outcomes one acknowledgement has.
    package var outcomes = 3
    /// How many advertisements one break has; `nil`: 3, for acknowledgements ten times the outcomes of one.
    package var advertisements: Int?
    package var warmUp = Duration.seconds(2)
    package var duration = Duration.seconds(10)
    /// The peer is no gateway: it answers anything with the same bytes.
    package var isBare = false
    /// How connections to encrypted endpoints are encrypted.
    package var encryption = Encryption()
    /// By what joins get into streams that ask for a token; each is checked anew, for they carry no ticket.
    package var tokens = JoinTokens.none
    /// How many variants the break has that batches are asked of, with `default`; `nil`: one, and no session joins before.
    ///
    /// Each session joins with an attribute that chooses its variant, and asks with the ticket that it got.
    package var variants: Int?
    /// How many connections to open in a second.
    package var connectionsPerSecond = 5_000.0
    /// How many acknowledgements in a second deliveries are fetched for beforehand; should there be more, the rest is
    /// fetched meanwhile.
    package var acknowledgementsPerSecondExpected = 60_000.0
    /// How long nothing may come before the test is given up.
    package var patience = Duration.seconds(30)
    /// How long, after the measuring, replies are waited for that are still due; those that do not come are lost.
    package var drain = Duration.seconds(5)
    package var handlesSignals = false

    package init(requests: Endpoint, broadcast: Endpoint?, kind: RequestKind, connections: Int) {
        self.requests = requests
        self.broadcast = broadcast
        self.kind = kind
        self.connections = connections
    }

    /// Whether connections get notices beside their answers, as listeners with a token do.
    var isPushed: Bool { !self.tokens.isEmpty }

    var advertisementsPerBreak: Int {
        self.advertisements ?? (self.kind == .acknowledge ? min(60, 10 * self.outcomes) : 3)
    }

    func check() throws(LoadError) {
        guard (1...1_000_000).contains(self.connections) else { throw .usage("--connections is at least 1") }
        guard (1...64).contains(self.outcomes) else { throw .usage("--outcomes is 1 to 64") }
        guard (self.kind == .acknowledge ? self.outcomes...64 : 1...64).contains(self.advertisementsPerBreak) else {
            throw .usage("--ads is 1 to 64, and at least as many as --outcomes")
        }
        guard self.tokens.isEmpty || self.kind == .join && !self.isBare else {
            throw .usage("tokens are for --kind join at a gateway")
        }
        if let variants = self.variants {
            guard self.kind == .batch, !self.isBare, (1...WireLimits.variantsPerBreakMax).contains(variants) else {
                throw .usage("--variants is 1 to \(WireLimits.variantsPerBreakMax), and for --kind batch at a gateway")
            }
        }
        guard self.duration > .zero, self.warmUp >= .zero else { throw .usage("--duration is above 0") }
        guard self.isBare || self.broadcast != nil || self.kind == .join || self.kind == .time else {
            throw .usage("--broadcast says where to publish the breaks that are asked for")
        }
    }
}

/// The result.
package struct RequestsResult: Encodable, Hashable, Sendable {
    package let mode: String
    package let kind: RequestKind
    package let connections: Int
    /// How long was measured.
    package let seconds: Double
    /// Replies with status OK in that time.
    package let count: Int
    package let perSecond: Double
    package let requestBytes: Int
    package let replyBytes: Int
    package let latency: RequestLatency
    package let refused: [String: Int]
    /// Requests without their answer: none came, or one with another id.
    package let lost: Int
    /// Deliveries that had to be fetched while it was measured; they are not in `count`.
    package let deliveriesFetched: Int
    /// Connections that the peer closed before they were up, and that were made again.
    package let reconnects: Int
    package let ownCPUSeconds: Double
    /// One exchange of the measured kind: the protobuf frames.
    package let exchange: Exchange

    package struct Exchange: Hashable, Sendable {
        package let request: [UInt8]
        package let reply: [UInt8]
    }

    private enum CodingKeys: String, CodingKey {
        case mode
        case kind
        case connections
        case seconds
        case count
        case perSecond = "per_second"
        case requestBytes = "request_bytes"
        case replyBytes = "reply_bytes"
        case latency = "latency_us"
        case refused
        case lost
        case deliveriesFetched = "deliveries_fetched"
        case reconnects
        case ownCPUSeconds = "own_cpu_seconds"
    }
}

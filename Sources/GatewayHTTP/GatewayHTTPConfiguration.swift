// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore

/// Where the HTTP server listens, and its bounds.
package struct GatewayHTTPConfiguration: Hashable, Sendable {
    /// The address to bind to; loopback by default.
    package var host: String
    /// The port; 0: the system chooses.
    package var port: Int
    /// The longest path with its query, in bytes.
    package var targetBytesMax = 2_048
    /// The longest request line and header fields together, in bytes.
    package var headerBytesMax = 16_384
    /// The most header fields.
    package var headerFieldsMax = 64
    /// The most open connections; for one more, the one that has been idle longest is closed.
    ///
    /// More than `readersMax` and `readersWaitingMax` together, so that not all of them can wait for readers.
    package var connectionsMax = LimitName.httpConnectionsMax.value
    /// How long a connection may take to send the head of a request, or to begin another one.
    package var idleTimeout: Duration = .seconds(10)
    /// How long an exchange may take from the request's head until its answer is sent; where an answer goes on, how long its peer
    /// may take nothing of it.
    package var exchangeTimeout: Duration = .seconds(30)
    /// How many reports and lists are made at the same time, each on a thread of lower priority.
    package var readersMax = 1
    /// How many more wait for that; further ones are answered with 503.
    package var readersWaitingMax = LimitName.httpReadersWaitingMax.value
    /// The most bytes of answers that wait for their peers to read them, all together; beyond it, those who have not read
    /// for longest are closed.
    package var answerBytesMax = LimitName.httpAnswerBytesMax.value

    /// The most bytes of requests' bodies that are being read, all together.
    package var bodyBytesMax = LimitName.httpBodyBytesMax.value
    /// The most answers that go on, such as outcomes: few enough that most connections are left.
    package var streamsMax = LimitName.httpStreamsMax.value
    /// The most dry runs and forecasts at the same time; further ones are answered with 503.
    package var plansMax = LimitName.httpPlansMax.value
    /// How long the choices of one dry run may take together.
    package var planTimeMax: Duration = .milliseconds(LimitName.httpPlanTimeMax.value)
    /// The most who watch events.
    package var eventReadersMax = LimitName.httpEventReadersMax.value
    /// How often it is looked whether viewers have to be told of a break.
    package var eventInterval: Duration = .milliseconds(100)
    /// How often viewers are told how the gateway is, and counts.
    package var eventPeriod: Duration = .seconds(1)

    /// The most listeners that have their connections here; these come beside `connectionsMax`.
    package var listenersMax = 0
    /// Whether the loops of the edge get those connections after the first event.
    package var handsListenersOver = false

    package init(host: String = "127.0.0.1", port: Int = 7_480) {
        self.host = host
        self.port = port
    }

    /// Takes no more connections than there are descriptors for, and lets so many of them wait for readers, or go on, that most are
    /// left.
    package mutating func bound(connectionsMax: Int, listenersMax: Int, handsListenersOver: Bool) {
        self.listenersMax = listenersMax
        self.handsListenersOver = handsListenersOver
        self.connectionsMax = min(self.connectionsMax, connectionsMax)
        self.readersWaitingMax = min(self.readersWaitingMax, self.connectionsMax / 4)
        self.streamsMax = min(self.streamsMax, self.connectionsMax / 4)
        self.eventReadersMax = min(self.eventReadersMax, self.connectionsMax / 8)
    }

    /// Reads `HOST:PORT` or `[IPv6]:PORT`; `nil` for anything else.
    ///
    /// The port may be 0 or `*`: the system chooses.
    package init?(address: String) {
        guard let colon = address.lastIndex(of: ":") else { return nil }
        var host = address[..<colon]
        let port = address[address.index(after: colon)...]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, let number = port == "*" ? 0 : UInt16(port) else { return nil }
        self.init(host: String(host), port: Int(number))
    }

    /// As one writes it: `HOST:PORT`.
    package var address: String {
        self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
}

/// Why the HTTP server cannot run.
package enum GatewayHTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process listens there.
    case addressInUse(String)
    /// The system refuses the address.
    case cannotBind(String, reason: String)

    package var description: String {
        switch self {
        case .addressInUse(let address): "The HTTP address \(address) is in use."
        case .cannotBind(let address, let reason): "The HTTP address \(address) cannot be used: \(reason)"
        }
    }
}

extension GatewayHTTPConfiguration {
    /// The limits that this server bounds itself, with their use, by name.
    ///
    /// - Parameters:
    ///   - streams: counts answers that go on.
    ///   - planning: counts dry runs and forecasts.
    ///   - metrics: counts connections.
    /// - Returns: in the order of their names.
    func limits(_ streams: HTTPStreams, _ planning: PlanningDesk, _ metrics: MetricRegistry) -> [LimitState] {
        [
            LimitState(.httpAnswerBytesMax, self.answerBytesMax),
            LimitState(.httpBodyBytesMax, self.bodyBytesMax),
            LimitState(
                .httpConnectionsMax,
                self.connectionsMax + self.listenersMax,
                use: metrics.value(.connections, .http)
            ),
            LimitState(.httpEventReadersMax, self.eventReadersMax, use: streams.count(.viewers)),
            LimitState(.httpPlanTimeMax, Int(self.planTimeMax.inMilliseconds)),
            LimitState(.httpPlansMax, self.plansMax, use: planning.underWay),
            LimitState(.httpReadersWaitingMax, self.readersWaitingMax),
            LimitState(.httpStreamsMax, self.streamsMax, use: streams.count(.operators)),
        ]
    }
}

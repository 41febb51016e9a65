// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging

/// The parts that every part of a gateway uses.
struct CommonParts: Sendable {
    /// Which run of the gateway this is.
    let instance = UInt64.random(in: 1 ... .max)
    /// The truth about when breaks start.
    let clock: any GatewayClock
    let metrics: MetricRegistry
    let readiness: ReadinessBoard
    /// For lines that peers cause.
    let peers: PeerLog
    /// The results of the signals of each stream.
    let signals: SignalMonitor
    /// For people.
    let logger: Logger

    init(clock: any GatewayClock, metrics: MetricRegistry, logger: Logger) {
        self.clock = clock
        self.metrics = metrics
        self.readiness = ReadinessBoard(metrics: metrics)
        self.peers = PeerLog(metrics: metrics, logger: logger)
        self.signals = SignalMonitor(metrics: metrics)
        self.logger = logger
    }

    /// The clock, for parts that only ask the time.
    var now: @Sendable () -> Timestamp { { [clock] in clock.now() } }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Gateways that share a load, and one log on three servers of NATS.
package struct CapacityCluster: Hashable, Sendable {
    /// How many gateways there are: 1 to `gatewaysMax`.
    package let gateways: Int

    package init(gateways: Int) {
        self.gateways = gateways
    }

    /// How many serve while one of them is away: being restarted, or lost.
    package var serving: Int { max(1, self.gateways - 1) }

    // A beat is told once a second (docs/operations/cluster.md); `ClusterCapacityTests` hold these sizes.
    /// A beat with three addresses, two keys and eight digests, without echoes and streams.
    package static let beatBytes = 400.0
    /// An echo of another gateway, of at most `GatewayBeat.echoesMax` in a beat.
    package static let echoBytes = 29.0
    /// A stream with a name of up to 16 bytes, up to `GatewayBeat.portionBytesMax` in a beat.
    package static let streamBytes = 28.0
    /// Subject, length and protocol words of a message of NATS, and its part of a segment's headers.
    package static let messageBytes = 100.0
}

/// The arithmetic of a ``CapacityPlan`` for one of several gateways on a shared log, and for the servers of that log.
///
/// It reckons with one gateway being away: the others serve its listeners.
struct ClusterReckoning {
    let wanted: CapacityCase
    let cluster: CapacityCluster
    /// The share of one gateway.
    private let one: CapacityReckoning
    /// All listeners: every gateway counts the outcomes of all in its ledger.
    private let all: CapacityReckoning

    private typealias Need = CapacityPlan.Need

    /// How many requests one record of the log holds at most.
    static let requestsPerRecordMax = Double(GroupPacer().groupRequestsMax)
    /// Three copies of each record.
    private static let copies = 3.0

    init(wanted: CapacityCase, cluster: CapacityCluster, settings: CapacitySettings) {
        self.wanted = wanted
        self.cluster = cluster
        var share = wanted
        share.listeners = Self.share(wanted.listeners, of: cluster)
        share.joinsPerHour = Self.share(wanted.joinsPerHour, of: cluster)
        self.one = CapacityReckoning(wanted: share, settings: settings)
        self.all = CapacityReckoning(wanted: wanted, settings: settings)
    }

    /// Rounded up: a listener is at one gateway.
    private static func share(_ count: Int, of cluster: CapacityCluster) -> Int {
        (count + cluster.serving - 1) / cluster.serving
    }

    /// The lines of the answer: of one gateway first, then of what all share.
    func needs(on machine: CapacityMachine) -> [CapacityPlan.Need] {
        [
            self.gateways(),
            self.cores(machine.cores),
            self.one.batchRate(),
            self.one.noticeTime(),
            self.one.returnTime(),
            self.one.memory(machine.memoryBytes),
            self.one.board(),
            self.one.descriptors(machine.descriptors),
            self.one.streams(),
            self.ledgerTime(),
            self.all.disk(machine.diskBytes, hasLog: false),
            self.all.diskWrites(hasLog: false),
            self.one.network(),
            self.one.networkPeak(),
            self.logToGateway(),
            self.beats(),
            self.appendTime(),
            self.appends(),
            self.serverDisk(),
            self.serverNetwork(),
        ]
    }

    func gateways() -> CapacityPlan.Need {
        Need(
            resource: "gateways",
            amount: Double(self.cluster.gateways),
            unit: "",
            because: self.cluster.gateways == 1
                ? "one, and no other when it is away"
                : "\(self.one.wanted.listeners) listeners at each while one is away; the lines down to 'servers' are of one of them",
            available: Double(LimitName.gatewaysMax.value)
        )
    }

    /// Rows in the ledger for one listener's break: its session, and an outcome of each advertisement.
    private var rowsPerBreak: Double { 1 + self.one.advertisements }

    func cores(_ available: Int?) -> CapacityPlan.Need {
        let others = self.all.heardPerSecond - self.one.heardPerSecond
        return self.one.cores(
            available,
            more: others * self.rowsPerBreak * MeasuredCost.ledgerRowTime.value,
            because: others > 0 ? "; \(self.one.text(others)) of other gateways in the ledger" : ""
        )
    }

    func ledgerTime() -> CapacityPlan.Need {
        Need(
            resource: "until a ledger has all outcomes of an advertisement",
            amount: Double(self.wanted.listeners) * 2 / MeasuredCost.ledgerRowRate.value,
            unit: "s",
            because: "each gateway counts the outcomes of all; reports say up to where they count",
            available: nil
        )
    }

    /// Bytes that come into the log in a second, on average.
    private var logBytesPerSecond: Double {
        self.all.heardPerSecond * self.all.perBreak(.breakLog, .advertisementLog)
    }

    func logToGateway() -> CapacityPlan.Need {
        Need(
            resource: "network, the log to a gateway",
            amount: self.logBytesPerSecond * 8,
            unit: "bit/s",
            because: "each gateway reads all records, on average",
            available: nil
        )
    }

    /// The bytes of a beat on its way.
    private var beatBytes: Double {
        let echoes = Double(min(self.cluster.gateways - 1, GatewayBeat.echoesMax)) * CapacityCluster.echoBytes
        // Only streams with listeners there.
        let streams = Double(min(self.wanted.streams, self.one.wanted.listeners)) * CapacityCluster.streamBytes
        return CapacityCluster.beatBytes + echoes + min(streams, Double(GatewayBeat.portionBytesMax))
            + CapacityCluster.messageBytes
    }

    func beats() -> CapacityPlan.Need {
        Need(
            resource: "network, the bus to a gateway",
            amount: Double(self.cluster.gateways - 1) * self.beatBytes * 8,
            unit: "bit/s",
            because: "a beat of \(self.one.text(self.beatBytes)) B a second from each of the others",
            available: nil
        )
    }

    func appendTime() -> CapacityPlan.Need {
        Need(
            resource: "servers: acknowledgements after an advertisement",
            amount: Double(self.wanted.listeners) / Self.requestsPerRecordMax / MeasuredCost.sharedAppendRate.value,
            unit: "s",
            because: "records of \(Int(Self.requestsPerRecordMax)) acknowledgements as fast as three servers take them",
            available: 5
        )
    }

    func appends() -> CapacityPlan.Need {
        Need(
            resource: "servers: records a second, on average",
            amount: self.all.heardPerSecond * 2,
            unit: "",
            because:
                "a delivery and an acknowledgement of each break heard, if none shares a record; under load they do",
            available: nil
        )
    }

    func serverDisk() -> CapacityPlan.Need {
        Need(
            resource: "servers: disk of each, a day",
            amount: self.logBytesPerSecond * 86_400,
            unit: "B",
            because: "each of three servers has every record; none is deleted",
            available: nil
        )
    }

    func serverNetwork() -> CapacityPlan.Need {
        let gateways = Double(self.cluster.gateways)
        // The leader gets each record, and gives it to the other copies and to the gateways.
        let log = self.logBytesPerSecond * (gateways + Self.copies)
        let bus = gateways * (gateways - 1) * self.beatBytes
        return Need(
            resource: "servers: network, all together",
            amount: (log + bus) * 8,
            unit: "bit/s",
            because: "the log to three copies and to all gateways, and the beats of all to all, on average",
            available: nil
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The load that a gateway is to carry.
package struct CapacityCase: Hashable, Sendable {
    /// All listeners at the same time.
    package var listeners: Int
    package var streams: Int
    /// Of each stream, around the clock.
    package var breaksPerHour: Double
    /// In each break.
    package var advertisements: Int
    /// How many listeners come in an hour, in all.
    package var joinsPerHour: Int
    /// How many connections a listener has: one, which brings notices too, or two.
    package var connectionsPerListener: Int
    /// Whether the gateway encrypts listeners' connections.
    package var isEncrypted: Bool

    package init(
        listeners: Int,
        streams: Int,
        breaksPerHour: Double,
        advertisements: Int,
        joinsPerHour: Int,
        connectionsPerListener: Int = 1,
        isEncrypted: Bool = false
    ) {
        self.listeners = listeners
        self.streams = streams
        self.breaksPerHour = breaksPerHour
        self.advertisements = advertisements
        self.joinsPerHour = joinsPerHour
        self.connectionsPerListener = connectionsPerListener
        self.isEncrypted = isEncrypted
    }
}

/// The amount of each resource; `nil`: it was not given.
package struct CapacityMachine: Hashable, Sendable {
    package var cores: Int?
    package var memoryBytes: Double?
    package var diskBytes: Double?
    /// The hard limit on open files of a process.
    package var descriptors: Int?

    package init(cores: Int? = nil, memoryBytes: Double? = nil, diskBytes: Double? = nil, descriptors: Int? = nil) {
        self.cores = cores
        self.memoryBytes = memoryBytes
        self.diskBytes = diskBytes
        self.descriptors = descriptors
    }
}

/// The parts of the configuration that affect how much is needed.
package struct CapacitySettings: Hashable, Sendable {
    package let breaks: BreakPolicy
    package let keepTotalsFor: Duration
    package let ledgerCopiesKept: Int
    package let ledgerCopiesInterval: Duration
    package let logBytesMax: Int

    package init(
        breaks: BreakPolicy,
        keepTotalsFor: Duration,
        ledgerCopiesKept: Int,
        ledgerCopiesInterval: Duration,
        logBytesMax: Int
    ) {
        self.breaks = breaks
        self.keepTotalsFor = keepTotalsFor
        self.ledgerCopiesKept = ledgerCopiesKept
        self.ledgerCopiesInterval = ledgerCopiesInterval
        self.logBytesMax = logBytesMax
    }

    /// From the notice to the end of the request window.
    var windowSeconds: Double { max((self.breaks.announceAhead - self.breaks.windowEndsAhead) / .seconds(1), 0.001) }
}

/// The resources that a case needs of a machine, and the one that is exhausted first as listeners become more.
///
/// Arithmetic from measured figures (``MeasuredCost``), which were taken on one machine: it says what to buy and what to
/// measure, and promises nothing. It reckons with the worst hour: every stream has all its breaks, every listener hears all of
/// them, and all streams begin a break at the same moment.
package struct CapacityPlan: Hashable, Sendable {
    /// The need of one resource.
    package struct Need: Hashable, Sendable, Encodable {
        package let resource: String
        package let amount: Double
        package let unit: String
        /// How it comes about.
        package let because: String
        /// The amount available; `nil`: it was not given, and nothing bounds it.
        package let available: Double?
        /// The part that is used of what there is.
        package let share: Double?

        init(resource: String, amount: Double, unit: String, because: String, available: Double?) {
            self.resource = resource
            self.amount = amount
            self.unit = unit
            self.because = because
            self.available = available
            self.share = available.map { amount / max($0, .leastNonzeroMagnitude) }
        }
    }

    package let needs: [Need]

    /// The resource that is exhausted first as listeners become more: the need with the largest share.
    package var first: Need? { self.needs.filter { $0.share != nil }.max { ($0.share ?? 0) < ($1.share ?? 0) } }

    /// Whether everything that is bounded suffices.
    package var fits: Bool { self.needs.allSatisfy { ($0.share ?? 0) <= 1 } }

    /// Reckons.
    ///
    /// - Parameters:
    ///   - wanted: the load to carry.
    ///   - machine: the resources of the machine.
    ///   - settings: the configuration.
    ///   - cluster: the gateways that share the load and one log; `nil`: one gateway on its own store. The machine is that of
    ///     one of them, while another one is away.
    package init(
        _ wanted: CapacityCase,
        on machine: CapacityMachine,
        settings: CapacitySettings,
        cluster: CapacityCluster? = nil
    ) {
        if let cluster {
            self.needs = ClusterReckoning(wanted: wanted, cluster: cluster, settings: settings).needs(on: machine)
            return
        }
        let reckoning = CapacityReckoning(wanted: wanted, settings: settings)
        self.needs = [
            reckoning.cores(machine.cores),
            reckoning.batchRate(),
            reckoning.acknowledgementTime(),
            reckoning.noticeTime(),
            reckoning.returnTime(),
            reckoning.memory(machine.memoryBytes),
            reckoning.board(),
            reckoning.descriptors(machine.descriptors),
            reckoning.streams(),
            reckoning.log(),
            reckoning.disk(machine.diskBytes),
            reckoning.diskWrites(),
            reckoning.network(),
            reckoning.networkPeak(),
        ]
    }
}

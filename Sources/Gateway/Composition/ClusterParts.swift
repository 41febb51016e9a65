// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import ServiceLifecycle

/// The parts that speak with the other gateways of a log; a gateway that has its log for itself has none of them.
struct ClusterParts: Sendable {
    private let bus: GatewayBusParts
    /// The other gateways, as far as they are known.
    let cluster: ClusterHolder
    /// Asks the others, and answers them.
    let questions: ClusterQuestions
    /// Compares the board with those of the others.
    let digests: BoardDigests
    /// Leaves snapshots for gateways that begin; `nil`: the log has no place for them.
    private let snapshots: SnapshotWriter?
    /// Makes the digests.
    let thread: WorkerThreads

    /// - Parameters:
    ///   - configuration: checked.
    ///   - bus: to the other gateways; `nil`: there are none.
    ///   - log: loaded.
    ///   - live: how many listen at this gateway.
    ///   - common: the parts that every part uses.
    /// - Throws: where the system has no thread more.
    init?(
        _ configuration: GatewayConfiguration,
        bus: GatewayBusParts?,
        log: LoadedLog,
        live: LiveListeners,
        common: CommonParts
    ) throws {
        guard let bus else { return nil }
        let cluster = ClusterHolder(
            GatewayCluster(
                own: common.instance,
                of: log.parts.log.identity,
                goneAfter: configuration.gatewayGoneAfter,
                lateBounds: configuration.gatewayLate
            ),
            own: live
        )
        self.bus = bus
        self.cluster = cluster
        self.questions = ClusterQuestions(bus: bus.bus, cluster: cluster, common: common)
        let snapshots = log.parts.archive.map { archive in
            SnapshotWriter(
                archive,
                of: log.parts.log,
                schedule: configuration.sharedLog.snapshotSchedule,
                cluster: cluster,
                board: log.holder,
                common: common
            )
        }
        self.snapshots = snapshots
        self.digests = BoardDigests(
            log.board,
            beginning: log.beginning,
            snapshots: snapshots,
            made: { board in cluster.withLock { $0.made(board) } },
            differs: { mark in cluster.withLock { $0.beganWrong(at: mark.offset) } }
        )
        self.thread = try WorkerThreads(name: "cuecast-digest", count: 1, niceness: 10)
    }

    /// The services that speak with the other gateways.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - endpoints: where listeners reach this gateway.
    ///   - board: has the newest board.
    ///   - keys: sign and check.
    ///   - listeners: are counted.
    ///   - desk: takes turns with the other gateways.
    ///   - common: the parts that every part uses.
    /// - Returns: the services.
    func services(
        _ configuration: GatewayConfiguration,
        endpoints: Gateway.Endpoints,
        board: BoardHolder,
        keys: KeyParts,
        listeners: ListenerParts,
        desk: BreakDesk,
        common: CommonParts
    ) -> [any Service] {
        (self.snapshots.map { [$0] } ?? []) + [
            ThreadedService(self.digests, on: self.thread),
            self.questions,
            ClusterService(
                ClusterService.Tools(
                    bus: self.bus,
                    cluster: self.cluster,
                    live: listeners.live,
                    keys: keys.messages,
                    board: board,
                    addresses: [endpoints.requests],
                    advertised: configuration.advertisedAddresses,
                    alternatives: listeners.alternatives,
                    rules: configuration.rulesKnown,
                    interval: configuration.beatInterval,
                    desk: desk
                ),
                common: common
            ),
        ]
    }
}

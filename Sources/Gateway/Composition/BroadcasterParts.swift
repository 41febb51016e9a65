// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import ZeroMQ

/// The desk for broadcasters' requests, and its endpoint.
struct BroadcasterParts: Sendable {
    /// Desk and endpoint run on it.
    let thread: PollingThread
    let desk: BreakDesk
    let endpoint: BroadcastEndpoint
    /// Watches the endpoint's connections.
    let monitor: SocketMonitor

    /// - Parameters:
    ///   - configuration: checked.
    ///   - sockets: bound; the endpoint closes them.
    ///   - log: loaded.
    ///   - keys: tell broadcasters apart.
    ///   - clock: has begun.
    ///   - listeners: are counted, and told when the log has failed.
    ///   - cluster: counts those at other gateways too; `nil`: there are no other ones.
    ///   - recorder: records the results of requests.
    ///   - common: the parts that every part uses.
    /// - Throws: where the system has no thread more.
    init(
        _ configuration: GatewayConfiguration,
        sockets: consuming sending BroadcastSockets,
        log: LoadedLog,
        keys: KeyParts,
        clock: ClockParts,
        listeners: ListenerParts,
        cluster: ClusterHolder?,
        recorder: BroadcastRecorder,
        common: CommonParts
    ) throws {
        let listenerService = listeners.service
        self.thread = try PollingThread(name: "cuecast-request")
        self.monitor = sockets.monitor
        self.desk = BreakDesk(
            BreakDesk.Tools(
                thread: self.thread,
                log: log.health,
                holder: log.holder,
                catchUp: log.catchUp,
                clock: common.clock,
                forecast: clock.forecast(
                    of: cluster ?? listeners.live,
                    own: listeners.live,
                    lease: configuration.lease,
                    at: common.clock.reading()
                ),
                retention: clock.retention,
                rulesKnown: configuration.rulesKnown,
                recorder: recorder,
                calls: BroadcastCalls(
                    callsMax: configuration.limits[.broadcastCallsWaitingMax],
                    bytesMax: configuration.limits[.broadcastCallBytesWaitingMax]
                ),
                readiness: common.readiness,
                logFailed: { listenerService.noteLogFailure() },
                logger: common.logger
            ),
            configuration: configuration
        )
        self.endpoint = BroadcastEndpoint(
            sockets,
            directory: keys.broadcasters?.directory,
            desk: self.desk,
            readiness: common.readiness
        )
    }
}

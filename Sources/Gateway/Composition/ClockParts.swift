// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import ServiceLifecycle

/// The gateway's clock, compared with the log, and what the run before knew.
struct ClockParts: Sendable {
    /// Whether the log's own time may go on; a `SteeredClock` decides it.
    let retention: RetentionGate
    /// How many listeners each stream has, for the next start.
    let counts = ListenerCounts()
    /// Keep the clock right, and leave the state to the next run.
    let services: [any Service]
    private let before: GatewayState?

    /// Compares the clock with the log, and begins where the log ends.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - log: loaded.
    ///   - state: the state of the run before; this run's state takes its place.
    ///   - retention: whether the log's own time may go on.
    ///   - control: gets the commands of a `SteeredClock`.
    ///   - common: the parts that every part uses.
    /// - Throws: `ClockStart.Refusal` where the wall clock is behind the log.
    init(
        _ configuration: GatewayConfiguration,
        log: LoadedLog,
        state: (any GatewayStateStore)?,
        retention: RetentionGate,
        control: ControlCommands,
        common: CommonParts
    ) async throws {
        let before = state?.load()
        var services: [any Service] = []
        var acceptedNewest = before?.acceptedNewest
        if let clock = common.clock as? SteeredClock {
            acceptedNewest = try Self.begin(
                clock,
                on: log,
                newest: [log.newestTime, await log.newestAcknowledgement()].compactMap(\.self).max(),
                before: before,
                configuration: configuration
            )
            let service = ClockService(
                clock: clock,
                retentionTime: log.retentionTime,
                retention: retention,
                metrics: common.metrics,
                readiness: common.readiness,
                logger: common.logger
            )
            service.register(in: control)
            // Before anything can be asked or retired.
            service.observe()
            services.append(service)
        }
        if let state {
            services.append(
                StateService(
                    store: state,
                    clock: common.clock,
                    acceptedNewest: acceptedNewest,
                    counts: self.counts,
                    logger: common.logger
                )
            )
        }
        self.retention = retention
        self.services = services
        self.before = before
    }

    /// How many listeners of each stream a break can expect.
    ///
    /// - Parameters:
    ///   - live: knows how many there are, at all gateways of the log.
    ///   - own: knows how many there are at this one.
    ///   - lease: within it every session that still listens has asked for something.
    ///   - reading: the clock now.
    /// - Returns: the forecast, which remembers listeners of before where that is not long ago.
    func forecast(
        of live: any Presence,
        own: any Presence,
        lease: Duration,
        at reading: ClockReading
    ) -> ListenerForecast {
        var expected = ExpectedListeners()
        if let before = self.before, reading.now - before.time <= GatewayStateLimits.listenersAgeMax {
            expected = ExpectedListeners(remembered: before.listeners, until: reading.steady + lease)
        }
        return ListenerForecast(live: live, own: own, expected: expected, counts: self.counts)
    }

    /// Compares the clock with the log, and begins where the log ends.
    ///
    /// - Returns: the newest time of the log that an operator has called wrong.
    /// - Throws: `ClockStart.Refusal` where the wall clock is behind the log.
    private static func begin(
        _ clock: SteeredClock,
        on log: LoadedLog,
        newest: Timestamp?,
        before: GatewayState?,
        configuration: GatewayConfiguration
    ) throws -> Timestamp? {
        // A wrong record stays wrong: it is in the log for good.
        let believed = newest.flatMap { newest in before?.acceptedNewest.map { newest <= $0 } ?? false ? nil : newest }
        try clock.begin(
            newest: believed,
            shown: before?.time,
            retention: log.firstRetentionTime,
            acceptsWall: configuration.acceptsClock
        )
        guard configuration.acceptsClock, let newest, newest > clock.now() else { return before?.acceptedNewest }
        return newest
    }
}

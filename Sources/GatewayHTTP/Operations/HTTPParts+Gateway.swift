// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
package import GatewayCore
package import Logging

extension HTTPParts {
    /// The parts of a gateway that operations ask.
    ///
    /// - Parameters:
    ///   - gateway: answers all but what follows.
    ///   - ledger: answers the reports.
    ///   - log: tells how far the ledger is behind.
    ///   - now: the gateway's clock.
    ///   - access: the rights.
    ///   - configuration: what the gateway runs with at present.
    ///   - reload: reads configuration, keys and certificates again.
    ///   - logger: for people.
    package init(
        of gateway: Gateway,
        ledger: any Ledger,
        log: any EventLog,
        now: @escaping @Sendable () -> Timestamp,
        access: HTTPAccessHolder,
        configuration: @escaping @Sendable () -> RunningConfiguration,
        reload: @escaping @Sendable () async throws -> ReloadDocument,
        logger: Logger
    ) {
        self.init(
            ledger: ledger,
            log: log,
            metrics: gateway.metrics,
            missing: { gateway.readiness.missing.map(\.rawValue) },
            board: { gateway.board.board },
            now: now,
            access: access,
            reload: reload,
            logger: logger
        )
        self.failure = { gateway.readiness.failure }
        self.alarms = { gateway.readiness.alarms }
        self.draining = { gateway.readiness.isDraining }
        self.audit = { try await gateway.audit.records($0) }
        self.note = { gateway.audit.note($0) }
        self.broadcast = { request, principal, origin in
            await gateway.breakDesk.ask(
                request,
                by: principal,
                from: RequestOrigin(.http, address: origin.address, requestID: origin.requestID),
                trace: origin.trace
            )
        }
        self.traces = gateway.traces
        self.listeners = gateway.listeners
        self.configuration = configuration
        self.limits = { gateway.limits(configuration().configuration) }
        self.overview = gateway.overview
        self.breakChanges = gateway.breakChanges
    }
}

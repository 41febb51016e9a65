// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
package import GatewayCore
package import GatewayDocuments
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
    ///   - configuration: the gateway's present configuration.
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
        var health = Health(missing: { gateway.readiness.missing.map(\.rawValue) })
        health.failure = { gateway.readiness.failure }
        health.alarms = { gateway.readiness.alarms }
        health.draining = { gateway.readiness.isDraining }
        var breaks = Breaks(board: { gateway.board.board })
        breaks.broadcast = { request, principal, origin in
            await gateway.breakDesk.ask(
                request,
                by: principal,
                from: RequestOrigin(.http, address: origin.address, requestID: origin.requestID),
                trace: origin.trace
            )
        }
        breaks.signals = { gateway.signals.stream($0) }
        breaks.watchers = { gateway.signals.watchers($0) }
        breaks.overview = gateway.overview
        breaks.changes = gateway.breakChanges
        var administration = Administration(reload: reload)
        administration.configuration = configuration
        administration.limits = { gateway.limits(configuration().configuration) }
        administration.audit = { try await gateway.audit.records($0) }
        administration.instance = gateway.instance
        if let questions = gateway.questions {
            administration.askAll = { try await questions.ask($0, $1) }
            let audit = gateway.audit
            questions.register(AuditQuestion.kind) { body in
                try await AuditQuestion.answer(body, { try await audit.records($0) }, at: now())
            }
        }
        administration.note = { gateway.audit.note($0) }
        self.init(
            stores: Stores(ledger: ledger, log: log),
            metrics: gateway.metrics,
            health: health,
            breaks: breaks,
            administration: administration,
            access: access,
            now: now,
            logger: logger
        )
        self.traces = gateway.traces
        self.listeners = gateway.listeners
    }
}

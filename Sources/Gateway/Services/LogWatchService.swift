// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Logging
import ServiceLifecycle

/// The event log takes nothing any more: the gateway has to start again.
package struct LogStopped: Error, Hashable, Sendable, CustomStringConvertible {
    package let reason: String

    package var description: String { "The event log failed, and what it holds is not certain any more: \(reason)" }
}

/// Ends the gateway when what the log holds is not certain any more, after everybody who waits was answered.
///
/// Only opening the log again shows what it holds. Until then the gateway can only refuse (docs/internals/decisions/0023).
struct LogWatchService: Service {
    let log: any EventLog
    /// Whether several gateways share it.
    let isShared: Bool
    let drain: GatewayDrain
    let readiness: ReadinessBoard
    let logger: Logger

    func run() async throws {
        guard let reason = await cancelWhenGracefulShutdown({ await self.log.stopped() }) else {
            try? await gracefulShutdown()
            return
        }
        let error = LogStopped(reason: reason)
        self.readiness.set(.log, isReady: false)
        self.readiness.fail(error.description)
        if self.isShared { self.readiness.raise(.logWentBack, error.description) }
        self.logger.critical("the event log failed; the gateway ends", metadata: ["error": "\(reason)"])
        await self.drain.refuseWhatWaits()
        throw error
    }
}

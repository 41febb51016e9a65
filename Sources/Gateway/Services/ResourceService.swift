// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import ServiceLifecycle
import ZeroMQ

/// Holds what the other services use, and closes it after all of them have ended.
struct ResourceService: Service {
    let log: any EventLog
    let ledger: any Ledger
    let threads: [PollingThread]
    let workers: [WorkerThreads]
    let monitors: [SocketMonitor]

    func run() async throws {
        try? await gracefulShutdown()
        await self.log.close()
        await self.ledger.close()
        for thread in self.threads { await thread.stop() }
        for each in self.workers { each.stop() }
        // Their sockets are closed by now. The last one to go waits until what was answered is sent.
        for monitor in self.monitors { await monitor.waitForEnd() }
    }
}

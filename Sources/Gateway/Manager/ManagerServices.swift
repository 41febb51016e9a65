// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import ServiceLifecycle

/// Keeps the service manager's status true, and asks it for time while a stop takes long.
///
/// It ends late, so that it reports the result of a drain.
struct ManagerStatusService: Service {
    let manager: ServiceManager
    let readiness: ReadinessBoard
    let metrics: MetricRegistry
    /// How long a stop may take until all is answered.
    let stopMax: Duration

    func run() async throws {
        guard self.manager.isThere else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            var pacer = StatusPacer()
            var stopBegan: ContinuousClock.Instant?
            var extended: ContinuousClock.Instant?
            while (try? await Task.sleep(for: ManagerLimits.statusInterval)) != nil {
                let now = ContinuousClock.now
                guard self.manager.isRunning || self.manager.isStopping else { continue }
                var status = ManagerStatus(self.readiness, self.metrics)
                status.isStopping = self.manager.isStopping
                if pacer.tells(status, at: now) { self.manager.setStatus(status.sentence) }
                guard status.isStopping else { continue }
                let began = stopBegan ?? now
                stopBegan = began
                // A stop that takes longer than this hangs, and the manager ends it.
                guard now - began < self.stopMax + ManagerLimits.closeMax else { continue }
                if extended.map({ now - $0 >= ManagerLimits.extensionInterval }) ?? true {
                    extended = now
                    self.manager.needsTime(ManagerLimits.extensionLength)
                }
            }
        }
    }
}

/// Tells the service manager that the gateway stops; the last of all services, because the last one is shut down first.
package struct ManagerStopService: Service {
    private let manager: ServiceManager
    private let stopMax: Duration

    /// - Parameters:
    ///   - manager: gets the messages.
    ///   - stopMax: how long a stop may take until all is answered.
    package init(manager: ServiceManager, stopMax: Duration) {
        self.manager = manager
        self.stopMax = stopMax
    }

    package func run() async throws {
        // It also ends when something failed and all are cancelled.
        try? await gracefulShutdown()
        self.manager.stopping("draining", atMost: self.stopMax + ManagerLimits.extensionLength)
    }
}

extension ServiceManager {
    /// Asks the manager for time, again and again, while a start takes long.
    ///
    /// On a thread of its own: what is waited for may keep all others.
    ///
    /// - Parameters:
    ///   - status: a sentence about the step that takes long.
    ///   - body: the start.
    /// - Returns: the result of `body`.
    /// - Throws: the errors of `body`.
    package func whileStarting<Value: Sendable>(
        _ status: String,
        _ body: () async throws -> Value
    ) async throws -> Value {
        guard self.isThere, let thread = try? WorkerThreads(name: "cuecast-manager", count: 1) else {
            return try await body()
        }
        defer { thread.stop() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: thread) {
                let end = ContinuousClock.now + ManagerLimits.startMax
                repeat {
                    self.setStatus(status)
                    self.needsTime(ManagerLimits.extensionLength)
                } while (try? await Task.sleep(for: ManagerLimits.extensionInterval)) != nil && .now < end
            }
            defer { group.cancelAll() }
            return try await body()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ServiceLifecycle

/// A service that runs on threads of its own, so that long computations elsewhere do not delay it.
package struct ThreadedService: Service {
    private let service: any Service
    private let threads: WorkerThreads

    /// - Parameters:
    ///   - service: the service to run.
    ///   - threads: where it runs; the code that made them stops them after the service has ended.
    package init(_ service: any Service, on threads: WorkerThreads) {
        self.service = service
        self.threads = threads
    }

    package func run() async throws {
        let service = self.service
        try await self.threads.run { try await service.run() }
    }
}

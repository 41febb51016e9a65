// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Gateway
import ServiceLifecycle

/// Says that the gateway is ready where no HTTP service does: when signals are heard already.
struct ReadyService: Service {
    let ready: ReadyLine

    func run() async throws {
        await self.ready.print(http: "none")
        try await gracefulShutdown()
    }
}

/// Prints the line that scripts wait for, and tells the service manager that the gateway is ready.
///
/// If the line cannot be written, the gateway stops: a script would wait for it for ever.
struct ReadyLine: Service {
    private let gateway: Gateway
    private let manager: ServiceManager
    private let failures: AsyncStream<CommandOutput.Failure>
    private let sink: AsyncStream<CommandOutput.Failure>.Continuation

    init(_ gateway: Gateway, manager: ServiceManager) {
        self.gateway = gateway
        self.manager = manager
        (self.failures, self.sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func print(http: String) async {
        await self.gateway.readiness.begun()
        guard !Task.isCancelled else { return }
        let endpoints = self.gateway.endpoints
        let webSocket = endpoints.webSocket.map { " websocket=\($0)" } ?? ""
        CommandOutput.say(
            "ready notices=\(endpoints.notices) requests=\(endpoints.requests)\(webSocket)"
                + " broadcast=\(endpoints.broadcast) http=\(http) instance=\(String(self.gateway.instance, radix: 16))"
        )
        guard CommandOutput.failure == nil else {
            if let failure = CommandOutput.failure { self.sink.yield(failure) }
            return
        }
        self.manager.ready(ManagerStatus(self.gateway.readiness, self.gateway.metrics).sentence)
    }

    func run() async throws {
        for await failure in self.failures.cancelOnGracefulShutdown() { throw failure }
    }
}

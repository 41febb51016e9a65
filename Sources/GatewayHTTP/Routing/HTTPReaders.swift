// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway

/// The threads that make reports and lists and check tokens, and the line before them.
struct HTTPReaders: Sendable {
    private let threads: WorkerThreads
    private let gate: ReaderGate

    /// - Parameters:
    ///   - threads: do the work.
    ///   - configuration: how many requests are worked on at the same time, and how many wait.
    init(_ threads: WorkerThreads, _ configuration: GatewayHTTPConfiguration) {
        self.threads = threads
        self.gate = ReaderGate(
            readersMax: configuration.readersMax,
            readersWaitingMax: configuration.readersWaitingMax
        )
    }

    /// Does what takes some work, when it is its turn.
    ///
    /// - Throws: `ReaderGate.Busy` where too many wait; what `body` throws.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await self.gate.pass { try await self.threads.run(body) }
    }

    /// The same for a piece of an answer that goes on, which has its turn already.
    ///
    /// - Throws: the errors of `body`.
    func runPiece<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await self.threads.run(body)
    }
}

/// The parts of the server that an operation's call needs, besides the request.
struct RequestTools: Sendable {
    /// Whether what is asked here comes by TLS.
    let isEncrypted: Bool
    let rights: RequestRights
    let readers: HTTPReaders
    let bodies: RequestBodies
}

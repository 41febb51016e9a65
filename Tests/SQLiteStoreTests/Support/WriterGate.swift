// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import GatewayCore
import Synchronization

/// Keeps a store's writer busy, so that what is appended meanwhile waits.
final class WriterGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// Appends a record whose answer does not return before `open()`.
    func close(_ log: any EventLog, lane: Lane) async {
        await withCheckedContinuation { continuation in
            log.append([0], to: lane) { _ in
                continuation.resume()
                self.semaphore.wait()
            }
        }
    }

    func open() { self.semaphore.signal() }
}

/// The answers to appends, by the numbers that a test gives them.
final class Answers: Sendable {
    private let state = Mutex<[Int: Result<UInt64, EventLogError>]>([:])
    private let changes: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    init() {
        (self.changes, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The function that `append` calls when the append with this number is answered.
    func take(_ number: Int) -> @Sendable (Result<UInt64, EventLogError>) -> Void {
        { result in
            self.state.withLock { $0[number] = result }
            self.sink.yield()
        }
    }

    /// Waits until so many are there.
    func all(_ count: Int) async -> [Int: Result<UInt64, EventLogError>] {
        while true {
            let answers = self.state.withLock { $0 }
            if answers.count >= count { return answers }
            for await _ in self.changes { break }
        }
    }
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
}

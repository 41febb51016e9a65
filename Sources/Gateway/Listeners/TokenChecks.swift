// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import ServiceLifecycle

/// Tells whether a token of a join is true, and what it grants; computes, and may be called on any thread.
package typealias ListenerTokenCheck = @Sendable (_ token: String, _ now: Timestamp) -> Result<ListenerGrant, Refusal>

/// Checks the tokens of joins on a thread of its own: a signature takes longer than a pass of a loop may wait.
///
/// Up to the limit, tokens wait; above it, the join is refused at once. The checking thread calls back with the result.
final class TokenChecks: Service {
    /// The most tokens that wait to be checked, of all listeners.
    static let tokenChecksWaitingMax = LimitName.tokenChecksWaitingMax.value
    /// How long a listener that found no room waits before it joins again.
    static let retryAfter: Duration = .seconds(1)

    private struct Check: Sendable {
        let token: String
        let done: @Sendable (Result<ListenerGrant, Refusal>) -> Void
    }

    private let check: ListenerTokenCheck
    private let now: @Sendable () -> Timestamp
    private let checks: AsyncStream<Check>
    private let sink: AsyncStream<Check>.Continuation

    init(
        waitingMax: Int = TokenChecks.tokenChecksWaitingMax,
        now: @escaping @Sendable () -> Timestamp,
        check: @escaping ListenerTokenCheck
    ) {
        self.check = check
        self.now = now
        // The oldest are kept: they are answered in order, and a join above the limit is refused.
        (self.checks, self.sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(waitingMax))
    }

    /// Has a token checked.
    ///
    /// - Parameters:
    ///   - token: of a join.
    ///   - done: called once, on the checking thread, with the result.
    /// - Returns: whether there is room; if not, nothing is called.
    func submit(_ token: String, done: @escaping @Sendable (Result<ListenerGrant, Refusal>) -> Void) -> Bool {
        guard case .enqueued = self.sink.yield(Check(token: token, done: done)) else { return false }
        return true
    }

    /// Checks until the graceful shutdown, and then what waits by then.
    func run() async throws {
        let threads = try WorkerThreads(name: "cuecast-tokens", count: 1, niceness: Self.niceness)
        defer { threads.stop() }
        try await withGracefulShutdownHandler {
            try await threads.run {
                for await each in self.checks { each.done(self.check(each.token, self.now())) }
            }
        } onGracefulShutdown: {
            self.sink.finish()
        }
    }

    /// The niceness of this thread below those that serve listeners (`man 2 nice`).
    private static let niceness: Int32 = 5
}

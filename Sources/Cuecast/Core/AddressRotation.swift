// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The addresses of the gateway: which one is tried next, and after which wait.
///
/// A connection that was good is first tried at the same address, which may only be restarting. Each failure leads to the next
/// address, and the waits grow from one round through all of them to the next.
struct AddressRotation: Sendable {
    private let count: Int
    /// How long to wait at most before the first try, and before the first of each address of a round.
    private let waitFirst: Duration
    /// The indices of addresses where a gateway does not push: those are subscribed to at once.
    private var pushless: Set<Int> = []
    /// How many tries failed since a connection was good.
    private var failures = 0
    private var rounds: Backoff
    /// The index of the address that is used.
    private(set) var current = 0

    init(count: Int, _ timings: ListenerTimings) {
        self.count = count
        self.waitFirst = timings.retryDelayFirst
        self.rounds = Backoff(timings)
    }

    /// Whether the gateway at the current address may push notices.
    var pushes: Bool { !self.pushless.contains(self.current) }

    /// The gateway at the current address does not push notices.
    mutating func foundPushless() {
        self.pushless.insert(self.current)
    }

    /// The next failure counts as the first.
    mutating func startOver() {
        self.rounds.reset()
        self.failures = 0
    }

    /// The connection to the current address failed or was lost.
    ///
    /// - Parameters:
    ///   - leaves: whether the next address is tried now, and not the same one again.
    ///   - atLeast: how long the gateway asks to stay away; it says nothing of other addresses.
    ///   - jitter: where the randomness of the wait comes from.
    /// - Returns: How long to wait before the next try.
    mutating func lost(leaves: Bool, atLeast: Duration, jitter: inout JitterSource) -> Duration {
        var isRoundOver = self.count == 1
        if leaves {
            self.current = (self.current + 1) % self.count
            self.failures += 1
            isRoundOver = self.failures % self.count == 0
        }
        return isRoundOver
            ? self.rounds.next(using: &jitter, atLeast: atLeast) : jitter.duration(upTo: self.waitFirst)
    }
}

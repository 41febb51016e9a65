// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The address of a connection: one of the configuration, or one that a gateway told.
enum GatewayTarget: Hashable, Sendable {
    /// The address with this index in the configuration; 0 is the first.
    case configured(Int)
    case learnt(PlayerAddress)
}

/// The addresses of the gateway: which one is tried next, and after which wait.
///
/// A connection that was good is first tried at the same address, which may only be restarting. Each failure leads to the next
/// address, and the waits grow from one round through all of them to the next. Those of the configuration come first, and those behind
/// them that the gateway named last: they are kept in memory only, so that a new start begins with the configuration.
struct AddressRotation: Sendable {
    private let count: Int
    /// How long to wait at most before the first try, and before the first of each address of a round.
    private let waitFirst: Duration
    /// The addresses that a gateway named last, the one to try first at the beginning.
    private var named: [GatewayTarget] = []
    /// The addresses where a gateway does not push: those are subscribed to at once.
    private var pushless: Set<GatewayTarget> = []
    /// How many tries failed since a connection was good.
    private var failures = 0
    private var rounds: Backoff
    /// The address that is used.
    private(set) var current = GatewayTarget.configured(0)

    init(count: Int, _ timings: ListenerTimings) {
        self.count = count
        self.waitFirst = timings.retryDelayFirst
        self.rounds = Backoff(timings)
    }

    /// Whether the gateway at the current address may push notices.
    var pushes: Bool { !self.pushless.contains(self.current) }

    /// Whether there is an address beside the current one.
    var hasOthers: Bool { self.order.contains { $0 != self.current } }

    /// All addresses, in the order in which they are tried.
    private var order: [GatewayTarget] {
        let configured = (0..<self.count).map { GatewayTarget.configured($0) }
        return configured + self.named.filter { !configured.contains($0) }
    }

    /// The gateway at the current address does not push notices.
    mutating func foundPushless() {
        self.pushless.insert(self.current)
    }

    /// A gateway named others; where it names none, those that were named before may still be there.
    ///
    /// - Parameter targets: further ones than `alternativesMax` are passed over.
    mutating func learn(_ targets: [GatewayTarget]) {
        guard !targets.isEmpty else { return }
        self.named = Array(targets.prefix(WireLimits.alternativesMax))
        // Of addresses that are tried no more nothing has to be known.
        let order = Set(self.order)
        self.pushless = self.pushless.filter { $0 == self.current || order.contains($0) }
    }

    /// The next failure counts as the first.
    mutating func startOver() {
        self.rounds.reset()
        self.failures = 0
    }

    /// The gateway at the current address asks to go on at another one.
    ///
    /// Those that it named come first: each listener was told another order, while all may have the same configuration.
    ///
    /// - Parameters:
    ///   - wasSteady: whether the connection had been good for long; if not, it counts as a failure.
    ///   - jitter: where the randomness of the wait comes from.
    /// - Returns: How long to wait before the next try.
    mutating func move(wasSteady: Bool, jitter: inout JitterSource) -> Duration {
        self.current = self.named.first { $0 != self.current } ?? self.next
        return wasSteady ? .zero : self.wait(fails: true, atLeast: .zero, jitter: &jitter)
    }

    private var next: GatewayTarget {
        let order = self.order
        // An address that is not named any more has no place in the order: then it begins anew.
        guard let place = order.firstIndex(of: self.current) else { return order[0] }
        return order[(place + 1) % order.count]
    }

    /// The connection to the current address failed or was lost.
    ///
    /// - Parameters:
    ///   - leaves: whether the next address is tried now, and not the same one again.
    ///   - atLeast: how long the gateway asks to stay away; it says nothing of other addresses.
    ///   - jitter: where the randomness of the wait comes from.
    /// - Returns: How long to wait before the next try.
    mutating func lost(leaves: Bool, atLeast: Duration, jitter: inout JitterSource) -> Duration {
        if leaves { self.current = self.next }
        return self.wait(fails: leaves, atLeast: atLeast, jitter: &jitter)
    }

    private mutating func wait(fails: Bool, atLeast: Duration, jitter: inout JitterSource) -> Duration {
        let count = self.order.count
        var isRoundOver = count == 1
        if fails {
            self.failures += 1
            isRoundOver = self.failures % count == 0
        }
        return isRoundOver
            ? self.rounds.next(using: &jitter, atLeast: atLeast) : jitter.duration(upTo: self.waitFirst)
    }
}

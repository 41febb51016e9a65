// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Logging
import Synchronization

/// Asks the listeners of a gateway that stops to go on at the others of its log, and waits until they have gone.
///
/// Each listener leaves after a random part of `within`, so that they do not all join the others together. Meanwhile this gateway still
/// brings notices, and answers everything but joins: so those that are last miss nothing. Where no other gateway advertises an address,
/// nothing is asked and nothing is waited for.
final class ListenerMove: Sendable {
    /// How much longer than `within` connections are waited for: for the way of the notice, and for clients that do not move (1 s).
    static let graceAfter: Duration = .seconds(1)
    /// How often it looks whether they have gone.
    private static let lookInterval: Duration = .milliseconds(50)

    private let cluster: ClusterHolder
    private let service: ListenerService
    private let hub: NoticeHub
    private let counting: ConnectionLimit
    private let logger: Logger
    private let within: Mutex<Duration>

    /// - Parameters:
    ///   - cluster: knows the other gateways.
    ///   - listeners: are asked.
    ///   - counting: counts their connections.
    ///   - within: they leave within this time.
    ///   - logger: for people.
    init(
        cluster: ClusterHolder,
        listeners: ListenerParts,
        counting: ConnectionLimit,
        within: Duration,
        logger: Logger
    ) {
        self.cluster = cluster
        self.service = listeners.service
        self.hub = listeners.hub
        self.counting = counting
        self.within = Mutex(within)
        self.logger = logger
    }

    /// Takes so long from now on.
    func reload(within: Duration) { self.within.withLock { $0 = within } }

    /// Asks all listeners, and returns when their connections have ended, or the time is over.
    ///
    /// Ends early when the task is cancelled.
    func run() async {
        guard let (before, within) = self.ask() else { return }
        let end = ContinuousClock.now + within + Self.graceAfter
        while self.connectionCount > 0, ContinuousClock.now < end,
            (try? await Task.sleep(for: Self.lookInterval)) != nil
        {}
        self.logger.notice("listeners have moved", metadata: ["left": "\(self.connectionCount)", "of": "\(before)"])
    }

    /// Asks all listeners; those whose connection ends before they have left keep to their time.
    ///
    /// - Returns: how many connections there are, and within what time they leave; `nil`: there are none, or no gateway takes them.
    @discardableResult
    func ask() -> (connections: Int, within: Duration)? {
        let others = self.cluster.withLock(\.alternatives)
        let before = self.connectionCount
        guard others.count > 0, before > 0 else { return nil }
        let within = self.within.withLock { $0 }
        self.logger.notice(
            "listeners are asked to go on at other gateways",
            metadata: ["connections": "\(before)", "gateways": "\(others.count)", "within": "\(within)"]
        )
        self.service.moveListeners(to: others, within: within)
        self.hub.askToMove { others.move($0, within: within) }
        return (before, within)
    }

    /// Those of the edge, and those of HTTP.
    private var connectionCount: Int { self.counting.openCount(on: self.service.sockets) + self.hub.count }
}

extension GatewayConfiguration {
    /// How long a stop may take until all is answered: the key `drainTimeout`, and where the log is shared `listeners.moveWithin` and
    /// `ListenerMove.graceAfter` before it.
    package var stopMax: Duration {
        self.drainTimeout + (self.sharedLog.isUsed ? self.moveWithin + ListenerMove.graceAfter : .zero)
    }
}

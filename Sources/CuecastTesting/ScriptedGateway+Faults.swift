// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

// Faults.
extension ScriptedGateway {
    /// Whether players can connect; connections that are there stay.
    public var isReachable: Bool {
        get { self.state.withLock { $0.isReachable } }
        set { self.state.withLock { $0.isReachable = newValue } }
    }

    /// Whether notices come on the connection of a join that asks for them, from the next join on; otherwise players subscribe to
    /// them.
    public var pushesNotices: Bool {
        get { self.state.withLock { $0.pushesNotices } }
        set { self.state.withLock { $0.pushesNotices = newValue } }
    }

    /// Whether and when requests are answered.
    public var answering: Answering {
        get { self.state.withLock { $0.answering } }
        set { self.state.withLock { $0.answering = newValue } }
    }

    /// Breaks every connection; players connect again, where ``isReachable`` lets them.
    public func breakConnections(reason: String = "connection reset") {
        for connection in self.state.withLock({ Array($0.connections.values) }) { connection.end(reason: reason) }
    }

    /// Loses the next notices on their way; players find out and ask for them.
    public func loseNotices(_ count: Int = 1) {
        self.state.withLock { $0.noticesToLose = max(0, count) }
    }

    /// Refuses requests of these kinds, so many times.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of request to refuse.
    ///   - refusal: how.
    ///   - times: how often; `nil`: until ``refuseNothing()``.
    public func refuse(
        _ kinds: Set<ScriptedRequest.Kind>,
        _ refusal: ScriptedRefusal = ScriptedRefusal(.unavailable),
        times: Int? = nil
    ) {
        self.state.withLock { state in
            state.refusals.append(.init(kinds: kinds, refusal: refusal, times: max(1, times ?? .max)))
        }
    }

    /// Refuses nothing any more.
    public func refuseNothing() {
        self.state.withLock { $0.refusals = [] }
    }

    /// Ends the gateway and starts it again: every connection breaks, breaks and outcomes stay.
    ///
    /// - Parameter losesHistory: whether it has forgotten its notices: players get a snapshot of the open breaks then.
    public func restart(losesHistory: Bool = false) {
        self.state.withLock { $0.gateway.restart(losesHistory: losesHistory) }
        self.breakConnections(reason: "the gateway restarts")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit

extension BreakKey {
    /// A break by its names.
    static func of(_ stream: String, _ id: String) throws -> BreakKey {
        BreakKey(stream: try StreamID(stream), id: try BreakID(id))
    }
}

extension ListenerReply {
    /// Why it was refused; `nil` when it was not.
    var refusal: Refusal? {
        guard case .refused(let refusal) = self.body else { return nil }
        return refusal
    }
}

extension BroadcastReply.Body {
    /// Why it was refused; `nil` when it was not.
    var refusal: Refusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
    }

    /// The break, where it is one.
    var info: BreakInfo? {
        guard case .break(let info) = self else { return nil }
        return info
    }
}

extension BroadcastRequest.Kind {
    /// A publication of a break with one made-up advertisement.
    static func publication(
        of key: BreakKey,
        start: BreakStart? = .after(.seconds(5)),
        duration: Duration? = .seconds(15)
    ) throws -> BroadcastRequest.Kind {
        .publish(
            BroadcastRequest.Publish(key: key, start: start, duration: duration, advertisements: [try .madeUp("a")])
        )
    }
}

/// A log with a gateway in front, which tests start again and again.
struct Station {
    let memory: MemoryLog
    let log: ControlledLog
    let ledger = ListeningLedger()
    var configuration = GatewayConfiguration.forTests
    let clock = ManualClock()

    init() {
        self.memory = MemoryLog()
        self.log = ControlledLog(self.memory)
    }

    /// Runs a gateway on the system's clock.
    @discardableResult
    func run<Result>(_ body: (RunningGateway) async throws -> Result) async throws -> Result {
        try await withGateway(configuration: self.configuration, log: self.log, ledger: self.ledger, body)
    }

    /// Runs a gateway on the clock that is set by hand.
    @discardableResult
    func runByHand<Result>(_ body: (RunningGateway) async throws -> Result) async throws -> Result {
        try await withGateway(
            configuration: self.configuration,
            log: self.log,
            ledger: self.ledger,
            clock: self.clock,
            body
        )
    }
}

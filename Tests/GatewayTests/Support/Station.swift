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
///
/// Each gateway has a new ledger, which it fills from the log.
struct Station {
    let memory: InMemoryEventLog
    let log: ControlledLog
    var configuration = GatewayConfiguration.forTests
    let clock = ManualClock()

    init() {
        self.memory = InMemoryEventLog()
        self.log = ControlledLog(self.memory)
    }

    /// Runs a gateway on the system's clock.
    @discardableResult
    func run<Result>(_ body: (RunningGateway) async throws -> Result) async throws -> Result {
        try await withGateway(configuration: self.configuration, log: self.log, ledger: InMemoryLedger(), body)
    }

    /// Runs a gateway on the clock that is set by hand.
    @discardableResult
    func runByHand<Result>(
        ledger: any Ledger = InMemoryLedger(),
        _ body: (RunningGateway) async throws -> Result
    ) async throws -> Result {
        try await withGateway(
            configuration: self.configuration,
            log: self.log,
            ledger: ledger,
            clock: self.clock,
            body
        )
    }
}

extension InMemoryEventLog {
    /// The groups of acknowledgements so far, in order.
    func acknowledgementGroups() async throws -> [AcknowledgementGroup] {
        try await self.records(of: .acknowledgements(0)).map { try AcknowledgementGroup(decoding: $0.bytes) }
    }

    /// The groups of entries of breaks so far, in order.
    func breakGroups() async throws -> [BreakGroup] {
        try await self.records(of: .breaks).map { try BreakGroup(decoding: $0.bytes) }
    }

    private func records(of lane: Lane) async throws -> [LoggedRecord] {
        guard try await self.head(of: lane) > 0 else { return [] }
        return try await self.read(lane, after: 0, recordsMax: .max, bytesMax: .max)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast
import CuecastNIO
import CuecastZeroMQ

/// The transport in a test that every transport must pass.
enum Carrier: String, CaseIterable, Codable, Sendable {
    case zeroMQ
    case nio

    /// A transport with threads of its own.
    func makeRig() -> TransportRig {
        switch self {
        case .zeroMQ: TransportRig(ZeroMQRuntime())
        case .nio: TransportRig(NIORuntime())
        }
    }
}

/// A transport, and how to end its threads.
struct TransportRig: Sendable {
    let transport: any ListenerTransport
    let shutDown: @Sendable () async -> Void

    init(_ runtime: ZeroMQRuntime) {
        self.transport = ZeroMQListenerTransport(runtime: runtime)
        self.shutDown = { await runtime.shutDown() }
    }

    init(_ runtime: NIORuntime, trust: GatewayTrust = GatewayTrust()) {
        self.transport = NIOListenerTransport(trust: trust, runtime: runtime)
        self.shutDown = { await runtime.shutDown() }
    }
}

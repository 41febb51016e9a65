// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Edge
import GatewayCore

/// A listener's request that knows more than the board, until the board has caught up with the log.
struct BehindRequest {
    /// The sender of the request.
    enum Sender {
        case connection(EdgePeer)
        case call(ListenerCall)
    }

    /// The most requests of one loop that wait for the board; more are refused.
    static let requestsBehindMax = LimitName.requestsBehindMax.value

    let bytes: [UInt8]
    let sender: Sender

    init(_ bytes: [UInt8], _ sender: Sender) {
        self.bytes = bytes
        self.sender = sender
    }
}

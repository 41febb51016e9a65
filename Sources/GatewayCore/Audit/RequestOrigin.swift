// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The origin of a request: the facts that logs and the audit record beside the caller.
package struct RequestOrigin: Hashable, Sendable {
    /// The ways into a gateway by which something can be changed.
    package enum Entrance: String, CaseIterable, Sendable {
        /// The broadcasters' socket.
        case zeromq
        /// The HTTP API.
        case http
        /// The control socket and signals, which the operator of the gateway uses on its machine.
        case command
    }

    package var entrance: Entrance
    /// Where the peer is, as its host, or host and port; empty where that is not known.
    package var address: String
    /// The identifier by which the caller knows the request; empty where the request's own number identifies it.
    package var requestID: String

    package init(_ entrance: Entrance, address: String = "", requestID: String = "") {
        self.entrance = entrance
        self.address = address
        self.requestID = requestID
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZMTP

/// The rules of an endpoint that serves ZeroMQ over WebSocket.
package struct WebSocketEndpoint: Sendable {
    /// The only path that it serves; empty: it serves every path.
    package let path: String
    /// Whether pages of an origin may listen: gets the origin, and the host that they asked.
    package let admits: @Sendable (_ origin: String, _ host: String) -> Bool

    package init(path: String = "", admits: @escaping @Sendable (_ origin: String, _ host: String) -> Bool) {
        self.path = path
        self.admits = admits
    }

    /// Refuses a request that does not fit the endpoint.
    ///
    /// A client that is no browser sends no origin: the rule protects the readers of pages, not the gateway.
    func check(_ upgrade: WebSocketUpgrade) throws(WebSocketRefusal) {
        guard self.path.isEmpty || self.path == upgrade.path else { throw .path }
        guard let origin = upgrade.origin else { return }
        guard self.admits(origin, upgrade.host) else { throw .origin }
    }
}

/// The state of WebSocket between the bytes of a connection and its ``EdgeConnection``.
///
/// Only connections over WebSocket have one: others keep no more than the reference to it.
final class WebSocketLink {
    private enum Phase {
        /// Its request has not come in full.
        case upgrade(WebSocketUpgradeReader)
        case open
        /// It was told that nothing more comes.
        case closed
    }

    private var phase = Phase.upgrade(WebSocketUpgradeReader())
    /// The part of its request that has come.
    private var head: [UInt8] = []
    /// Its messages; used when it is open.
    var frames = WebSocketFrameReader(
        ofClient: true,
        frameBytesMax: EdgeSettings.requestBytesMax,
        fragmentsMax: EdgeSettings.fragmentsPerMessageMax
    )
    /// The bytes that it keeps, as they were counted last.
    private(set) var bytesCounted = 0
    /// Whether the end of its upgrade was counted.
    var isUpgradeCounted = false

    var isOpen: Bool { if case .open = self.phase { true } else { false } }

    /// Whether its request has not come in full.
    var isUpgrading: Bool { if case .upgrade = self.phase { true } else { false } }

    /// The first byte of its request.
    var firstByte: UInt8? { self.head.first }

    /// Takes bytes of its request, and what may be behind it.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that came.
    ///   - endpoint: the endpoint that it came to.
    /// - Returns: the request, and how many of the bytes belong to it; `nil`: it has not come in full.
    /// - Throws: why it is refused.
    func takeRequest(
        _ bytes: ArraySlice<UInt8>,
        at endpoint: WebSocketEndpoint
    ) throws(WebSocketRefusal) -> (upgrade: WebSocketUpgrade, byteCount: Int)? {
        guard case .upgrade(var reader) = self.phase else { return nil }
        let before = self.head.count
        self.head += bytes
        // One more reference to the bytes, given back at once: nothing is copied.
        let head = self.head
        guard let upgrade = try reader.next(in: head.span) else {
            self.phase = .upgrade(reader)
            return nil
        }
        try endpoint.check(upgrade)
        self.head = []
        self.phase = .open
        return (upgrade, upgrade.byteCount - before)
    }

    /// Nothing more may be sent.
    func close() {
        self.phase = .closed
        self.head = []
    }

    /// Counts the bytes that it keeps.
    ///
    /// - Returns: how many more they are than before.
    func countBytes() -> Int {
        let bytes = self.head.count + self.frames.bytesHeld
        defer { self.bytesCounted = bytes }
        return bytes - self.bytesCounted
    }
}

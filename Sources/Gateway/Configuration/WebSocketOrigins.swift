// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

/// The pages that may listen by WebSocket at present: those of the listed origins, and those that the asked host has served.
///
/// Browsers let every page connect to every WebSocket: only the gateway can refuse a page.
package final class WebSocketOrigins: Sendable {
    private let patterns: Mutex<[OriginPattern]>

    package init(_ patterns: [OriginPattern]) {
        self.patterns = Mutex(patterns)
    }

    /// Whether pages of an origin may listen.
    ///
    /// - Parameters:
    ///   - origin: as the request has it.
    ///   - host: the host that the request asks.
    /// - Returns: whether they may.
    package func admits(_ origin: String, host: String) -> Bool {
        if WebOrigin.isOrigin(origin, of: host) { return true }
        guard let page = try? WebOrigin(origin) else { return false }
        return self.patterns.withLock { $0.contains { $0.matches(page) } }
    }

    /// Lets other pages listen from the next request on.
    package func replace(by patterns: [OriginPattern]) { self.patterns.withLock { $0 = patterns } }
}

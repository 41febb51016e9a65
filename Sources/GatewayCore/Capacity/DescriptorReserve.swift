// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How many descriptors of a process are kept back from the connections that are counted: for files, for HTTP, and for
/// broadcasters' connections that are accepted before they are counted.
///
/// They never come to an end: libdispatch ends a process that cannot open a file (it reads `/proc` once a second).
package enum DescriptorReserve {
    /// For files, event loops and the control socket.
    static let files = 64
    /// For broadcasters' connections that are not counted yet; more where there are many descriptors.
    static let uncountedMin = 32

    /// How many connections HTTP may have where there are so many descriptors: an eighth of them, 16 at least, 256 at most.
    package static func httpConnectionsMax(of limit: Int) -> Int { min(max(16, limit / 8), 256) }

    /// How many listeners may have connections at the HTTP server where there are so many descriptors.
    ///
    /// As many as are wanted, an eighth of the descriptors at most. They come beside the reserve.
    package static func httpListenersMax(_ wanted: Int, of limit: Int) -> Int { min(wanted, limit / 8) }

    /// The most listeners over HTTP by TLS where the configuration names no number: each costs far more than others.
    package static let encryptedListenersDefaultMax = 1_000

    /// How many listeners may hear notices over HTTP by TLS.
    ///
    /// - Parameter wanted: as configured; the default stands for ``encryptedListenersDefaultMax``.
    /// - Returns: so many, where descriptors are enough.
    package static func encryptedListenersMax(_ wanted: Int) -> Int {
        wanted == LimitName.httpListenersMax.value ? Self.encryptedListenersDefaultMax : wanted
    }

    /// The most sessions where the configuration names no number and descriptors are enough.
    package static let listenersDefaultMax = 100_000

    /// How many sessions there may be where so many connections are left for listeners.
    ///
    /// - Parameters:
    ///   - wanted: as configured; 0: one for each connection, ``listenersDefaultMax`` at most.
    ///   - connections: how many connections listeners may have, over HTTP too.
    /// - Returns: the most sessions.
    package static func listenersMax(_ wanted: Int, connections: Int) -> Int {
        wanted > 0 ? wanted : min(max(1, connections), Self.listenersDefaultMax)
    }

    /// How many are kept back of so many: a sixteenth, or what all of the above take where that is more; 16,384 at most.
    package static func reserve(of limit: Int) -> Int {
        min(max(Self.files + Self.uncountedMin + Self.httpConnectionsMax(of: limit), limit / 16), 16_384)
    }

    /// How many of those that are kept back are there for broadcasters' connections that are not counted yet.
    package static func uncounted(of limit: Int) -> Int {
        Self.reserve(of: limit) - Self.files - Self.httpConnectionsMax(of: limit)
    }

    /// The least limit on open files that leaves room for so many connections.
    package static func limit(for connections: Int) -> Int {
        // One more descriptor never leaves less room, so that halving finds it.
        var (tooFew, enough) = (connections, connections + 16_384)
        while enough - tooFew > 1 {
            let middle = tooFew + (enough - tooFew) / 2
            if middle - Self.reserve(of: middle) >= connections { enough = middle } else { tooFew = middle }
        }
        return enough
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Holds up new connections to a listening socket without cutting those that are open.
///
/// libzmq cannot: unbinding cuts what was accepted, and a process without descriptors spins, because the connection that it
/// cannot accept stays where it is. Linux lets a listening socket drop what asks for a connection (a packet filter that lets
/// nothing through): a connecting peer gets no answer, tries again after a second or more, and gets in once the gate is open.
///
/// Made from a `listening` event of a socket's monitor; it keeps a descriptor of its own until it is released.
package final class AcceptGate: Sendable {
    private let descriptor: Int32
    private let isShut = Mutex(false)

    /// A gate that is open; `nil` where the system has no descriptor left.
    ///
    /// - Parameter descriptor: of the listening socket.
    package init?(listening descriptor: Int32) {
        self.descriptor = dup(descriptor)
        guard self.descriptor >= 0 else { return nil }
    }

    deinit {
        self.set(isShut: false)
        _ = close(self.descriptor)
    }

    /// Shuts or opens it.
    ///
    /// - Returns: whether it is so now; other systems than Linux cannot shut it.
    @discardableResult
    package func set(isShut: Bool) -> Bool {
        self.isShut.withLock { now in
            guard now != isShut else { return true }
            let result =
                isShut ? cuecast_drop_connects(self.descriptor) : cuecast_take_connects(self.descriptor)
            guard result == 0 else { return false }
            now = isShut
            return true
        }
    }
}

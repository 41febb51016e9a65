// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

extension PollingThread {
    /// Calls `onReadable` on this thread whenever `socket` has something to receive, until the socket is detached or
    /// closed.
    ///
    /// Call it on this thread. From then on the socket may be used on this thread only, and must be closed here. The handler
    /// is kept until then: let it capture its owner weakly, or use ``attach(_:for:onReadable:)``. It need not receive
    /// everything: what is left makes it run again after the next poll.
    ///
    /// A wake-up costs time in proportion to the number of attached sockets.
    package func attach(_ socket: borrowing Socket, onReadable: @escaping () -> Void) {
        let loop = self.loop("attach(_:onReadable:)")
        precondition(socket.core.registration == nil, "the socket is attached already")
        let item = unsafe zmq_pollitem_t(socket: socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)
        loop.insert(
            unsafe PollingLoop.Registration(thread: self, core: socket.core, item: item, onReadable: onReadable)
        )
    }

    /// As ``attach(_:onReadable:)``, with a handler that runs isolated to `owner`, an actor of this thread that is
    /// not retained.
    package func attach<Owner: Actor>(
        _ socket: borrowing Socket,
        for owner: Owner,
        onReadable: @escaping @Sendable (isolated Owner) -> Void
    ) {
        self.attach(socket) { [weak owner] in
            owner?.assumeIsolated { onReadable($0) }
        }
    }

    /// Ends the polling of `socket`.
    ///
    /// Does nothing when it is not attached. Closing a socket detaches it too.
    package func detach(_ socket: borrowing Socket) {
        _ = self.loop("detach(_:)")
        socket.core.registration?.detach()
    }
}

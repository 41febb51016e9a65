// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

extension Socket {
    /// The next frame, or `nil` when none is waiting.
    ///
    /// Never blocks.
    ///
    /// - Throws: `wrongState` when a `req` socket has nothing asked, `notSupported` on a socket that only sends.
    package borrowing func receive() throws(ZeroMQError) -> Message? {
        self.core.checkThread("receive()")
        var message = Message()
        let received = try unsafe message.withRaw { (raw) throws(ZeroMQError) -> CInt? in
            try SystemCall.unlessBlocked("zmq_msg_recv") { unsafe zmq_msg_recv(raw, self.handle, ZMQ_DONTWAIT) }
        }
        guard received != nil else { return nil }
        return message
    }

    /// Receives all frames of the next message into `frames`, which is reused without allocating.
    ///
    /// Never blocks.
    ///
    /// - Throws: as ``receive()``.
    package borrowing func receive(into frames: inout FrameBuffer) throws(ZeroMQError) -> MultipartOutcome {
        self.core.checkThread("receive(into:)")
        return try unsafe frames.fill { (slot) throws(ZeroMQError) -> Bool in
            try SystemCall.unlessBlocked("zmq_msg_recv") { unsafe zmq_msg_recv(slot, self.handle, ZMQ_DONTWAIT) } != nil
        }
    }

    /// Blocks the calling thread until something can be received, for at most `limit`.
    ///
    /// For tools and tests: services attach their sockets to a ``PollingThread``.
    ///
    /// - Returns: Whether something can be received.
    package borrowing func waitUntilReadable(for limit: Duration) throws(ZeroMQError) -> Bool {
        self.core.checkThread("waitUntilReadable(for:)")
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: limit)
        while true {
            var item = unsafe zmq_pollitem_t(socket: self.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)
            let remaining = max(.zero, clock.now.duration(to: end)).pollMilliseconds
            let ready = try SystemCall.perform("zmq_poll") { unsafe zmq_poll(&item, 1, remaining) }
            if ready > 0 || remaining == 0 { return ready > 0 }
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up so that a wait does not end early, and within what poll takes.
    var pollMilliseconds: Int {
        let (seconds, attoseconds) = self.components
        let limit: Int64 = 86_400_000
        guard seconds < limit / 1000 else { return Int(limit) }
        return Int(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ
internal import SystemSupport

/// The sockets and timers of a ``PollingThread``.
///
/// Used on that thread only, and so without a lock.
@safe
final class PollingLoop {
    /// The attached sockets, in the order of `items` behind its first.
    ///
    /// Detached ones stay until the next poll, so that a handler may attach and detach while the sockets are gone
    /// through.
    private var registrations: [Registration] = []
    /// The items to poll: first the wake-up, then the sockets.
    private var items: [zmq_pollitem_t]
    private var itemsAreStale = false

    private var timers = TimerQueue()
    private var due: [PollingThread.Timer] = []
    private var timerNumber: UInt64 = 0

    /// Whether the thread has ended its polling.
    ///
    /// From then on what is attached or scheduled is ignored.
    private(set) var hasEnded = false

    /// An attached socket.
    @safe
    final class Registration {
        let thread: PollingThread
        let core: SocketCore
        let item: zmq_pollitem_t
        fileprivate var onReadable: (() -> Void)?

        init(
            thread: PollingThread,
            core: SocketCore,
            item: zmq_pollitem_t,
            onReadable: @escaping () -> Void
        ) {
            self.thread = thread
            self.core = core
            unsafe self.item = unsafe item
            self.onReadable = onReadable
        }

        /// Ends the polling of this socket, on the thread that does it.
        func detach() {
            self.thread.loop("detach(_:)").remove(self)
        }
    }

    init(wakeUp descriptor: CInt) {
        unsafe self.items = [zmq_pollitem_t(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0)]
    }

    // MARK: - Sockets

    func insert(_ registration: Registration) {
        guard !self.hasEnded else { return }
        registration.core.registration = registration
        registration.core.boundThreadID = OSThread.currentID
        self.registrations.append(registration)
        self.itemsAreStale = true
    }

    func remove(_ registration: Registration) {
        // Released at the end of this: the handler may own the socket, whose closing comes back here.
        let handler = registration.onReadable.take()
        defer { withExtendedLifetime(handler) {} }
        registration.core.registration = nil
        registration.core.boundThreadID = 0
        self.itemsAreStale = true
    }

    /// Waits until a socket is readable, the thread is woken, or the next timer is due.
    ///
    /// - Parameter canWait: Whether there is no other work.
    /// - Returns: Whether the thread was woken through its descriptor.
    func poll(canWait: Bool) -> Bool {
        if self.itemsAreStale { self.rebuildItems() }
        let timeout = canWait ? self.pollTimeout() : 0
        let count = unsafe CInt(self.items.count)
        let ready = unsafe self.items.withUnsafeMutableBufferPointer {
            unsafe zmq_poll($0.baseAddress, count, timeout)
        }
        if ready < 0 {
            let code = zmq_errno()
            guard code == EINTR else { SystemCall.trap("zmq_poll", code) }
            // A signal: the caller comes round again, with a new timeout.
            for index in unsafe self.items.indices { unsafe self.items[index].revents = 0 }
        }
        return unsafe self.items[0].revents != 0
    }

    /// Calls the handler of every socket that the last poll found readable.
    func runReadableHandlers() {
        // New registrations are appended behind the ones that were polled, and none is removed before the next poll.
        for index in unsafe 1..<self.items.count where unsafe self.items[index].revents != 0 {
            self.registrations[index - 1].onReadable?()
        }
    }

    private func rebuildItems() {
        self.registrations.removeAll { $0.onReadable == nil }
        unsafe self.items.removeSubrange(1...)
        for registration in self.registrations { unsafe self.items.append(registration.item) }
        self.itemsAreStale = false
    }

    private func pollTimeout() -> Int {
        guard let deadline = self.timers.nextDeadline else { return -1 }
        return max(.zero, ContinuousClock.now.duration(to: deadline)).pollMilliseconds
    }

    // MARK: - Timers

    func insert(_ timer: PollingThread.Timer) {
        guard !self.hasEnded else { return timer.end() }
        self.timerNumber += 1
        timer.number = self.timerNumber
        self.timers.insert(timer)
    }

    func noteCancelledTimer() {
        self.timers.noteCancelled()
    }

    /// Runs the timers that were due when this was called, each once: what they schedule comes next time, however
    /// early it is.
    func runDueTimers() {
        guard let next = self.timers.nextDeadline else { return }
        let now = ContinuousClock.now
        guard next <= now else { return }
        var due: [PollingThread.Timer] = []
        swap(&due, &self.due)
        self.timers.takeDue(at: now, into: &due)
        for timer in due {
            guard timer.fire() else { continue }
            self.insert(timer)
        }
        due.removeAll(keepingCapacity: true)
        swap(&due, &self.due)
    }

    // MARK: - End

    /// Forgets all sockets and timers.
    ///
    /// Objects that their handlers kept alive are released here, on the thread.
    func end() {
        self.hasEnded = true
        let registrations = self.registrations
        self.registrations = []
        for registration in registrations { self.remove(registration) }
        for timer in self.timers.removeAll() { timer.end() }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CSystemSupport
internal import Glibc

/// Says which of many descriptors can be read or written.
///
/// Owned by the one thread that waits.
@safe
package struct Poller: ~Copyable {
    /// The events of one descriptor.
    package struct Event {
        /// The key that was given when it was added.
        package let key: UInt64
        package let isWritable: Bool
        /// It can be read, or has ended, which reading then says.
        package let isReadable: Bool
        /// Both directions have ended, or it failed: reported whether or not it is looked for.
        package let hasEnded: Bool
        /// The peer will send no more than what can be read: told where reading is looked for.
        package let sendsNoMore: Bool
    }

    /// The most events that a caller may ask for in one wait.
    package static let eventsMax = 256
    /// Few, so that timers do not wait long behind a flood of messages.
    package static let eventsUsual = 64
    /// Readable while one of the others is ready: a poller can look at another one.
    package let descriptor: Int32
    private var events: [epoll_event] = unsafe [epoll_event](repeating: epoll_event(), count: eventsMax)
    /// Whether the kernel knows waiting by the nanosecond.
    private var hasNanoseconds = true

    /// - Throws: where there are too many descriptors.
    package init() throws(SystemCallError) {
        try self.init(adopting: Self.makeDescriptor())
    }

    /// A poller of a descriptor that `makeDescriptor` gave; closes it at its end.
    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// A descriptor for a poller that another thread will make.
    ///
    /// - Throws: where there are too many descriptors.
    package static func makeDescriptor() throws(SystemCallError) -> Int32 {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SystemCallError(operation: "epoll_create1", code: errno) }
        return descriptor
    }

    deinit {
        System.close(self.descriptor)
    }

    /// Begins to look at a descriptor; closing the descriptor ends it.
    ///
    /// - Returns: 0, or an errno.
    package borrowing func add(_ descriptor: Int32, key: UInt64, reading: Bool, writing: Bool) -> Int32 {
        self.control(EPOLL_CTL_ADD, descriptor, key: key, reading: reading, writing: writing)
    }

    /// Looks for something else at a descriptor from now on.
    ///
    /// - Returns: 0, or an errno.
    package borrowing func change(_ descriptor: Int32, key: UInt64, reading: Bool, writing: Bool) -> Int32 {
        self.control(EPOLL_CTL_MOD, descriptor, key: key, reading: reading, writing: writing)
    }

    /// Looks at a descriptor no more.
    package borrowing func remove(_ descriptor: Int32) {
        _ = self.control(EPOLL_CTL_DEL, descriptor, key: 0, reading: false, writing: false)
    }

    private borrowing func control(
        _ operation: Int32,
        _ descriptor: Int32,
        key: UInt64,
        reading: Bool,
        writing: Bool
    ) -> Int32 {
        // Safety: a plain value; its union holds the key only.
        var event = unsafe epoll_event()
        unsafe event.events = (reading ? EPOLLIN.rawValue | EPOLLRDHUP.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0)
        unsafe event.data.u64 = key
        // Safety: the kernel reads the one value during the call.
        return unsafe epoll_ctl(self.descriptor, operation, descriptor, &event) == 0 ? 0 : errno
    }

    /// Waits for events, at most so many nanoseconds; `nil`: for ever.
    ///
    /// - Parameters:
    ///   - nanoseconds: how long, at most.
    ///   - eventsMax: so many events are told at most; the others by the next wait.
    /// - Returns: how many there are; 0 when time is over.
    /// - Throws: the system's error, unless a signal interrupted the wait.
    package mutating func wait(
        nanoseconds: UInt64?,
        eventsMax: Int = Self.eventsUsual
    ) throws(SystemCallError) -> Int {
        let count = Int32(min(eventsMax, Self.eventsMax))
        var result: Int32 = -1
        if self.hasNanoseconds {
            let limit = min(nanoseconds ?? 3_600_000_000_000, 3_600_000_000_000)
            var time = timespec(tv_sec: Int(limit / 1_000_000_000), tv_nsec: Int(limit % 1_000_000_000))
            // Safety: the kernel writes at most `count` events, which the array has, during the call.
            result = unsafe epoll_pwait2(self.descriptor, &self.events, count, &time, nil)
            if result < 0 && errno == ENOSYS { self.hasNanoseconds = false }
        }
        if !self.hasNanoseconds {
            let milliseconds = nanoseconds.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? 3_600_000
            // Safety: as above.
            result = unsafe epoll_wait(self.descriptor, &self.events, count, milliseconds)
        }
        if result >= 0 { return Int(result) }
        guard errno == EINTR else { throw SystemCallError(operation: "epoll_wait", code: errno) }
        return 0
    }

    /// One of the events of the last wait.
    package borrowing func event(_ index: Int) -> Event {
        // Safety: the kernel filled in what was given: the union holds the key.
        let event = unsafe self.events[index]
        let hasEnded = unsafe event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
        return Event(
            key: unsafe event.data.u64,
            isWritable: unsafe event.events & EPOLLOUT.rawValue != 0,
            isReadable: unsafe event.events & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0,
            hasEnded: hasEnded,
            sendsNoMore: unsafe event.events & EPOLLRDHUP.rawValue != 0
        )
    }
}

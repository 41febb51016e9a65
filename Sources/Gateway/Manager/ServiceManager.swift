// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The service manager that started this process (systemd, `Type=notify`), and the messages to it.
///
/// ```swift
/// let manager = ServiceManager(ManagerEnvironment(environment, process: getpid())) { logger.warning("\($0)") }
/// manager.setStatus("starting: opening the books")
/// manager.ready("serving 0 listeners, 0 streams")
/// ```
///
/// No call here waits, and nothing depends on it: a datagram that cannot be sent is lost. If no manager listens at all, one
/// warning says so. Without a manager every call does nothing. All may be called by any thread.
package final class ServiceManager: Sendable {
    private let socket: UnixSocket?
    private let address: UnixAddress?
    private let conversation = Mutex(ManagerConversation())
    private let hasWarned = Atomic(false)
    private let warn: @Sendable (String) -> Void

    /// The longest time that may pass without a sign of life; `nil`: there is no watchdog.
    package let watchdog: Duration?

    /// - Parameters:
    ///   - environment: the manager's environment variables.
    ///   - warn: takes the sentence about a manager that cannot be told anything.
    package init(_ environment: ManagerEnvironment, warn: @escaping @Sendable (String) -> Void) {
        self.warn = warn
        guard let name = environment.socket else {
            (self.socket, self.address, self.watchdog) = (nil, nil, nil)
            return
        }
        do throws(UnixSocketError) {
            let address = try UnixAddress(notifySocket: name)
            self.socket = try UnixSocket.datagram()
            self.address = address
            self.watchdog = environment.watchdog
        } catch {
            (self.socket, self.address, self.watchdog) = (nil, nil, nil)
            self.warnOnce("\(error)")
        }
    }

    /// Stands for no manager: every call does nothing.
    package static let none = ServiceManager(ManagerEnvironment([:], process: 0)) { _ in }

    /// Whether there is one.
    package var isThere: Bool { self.socket != nil }

    /// Whether it has been told that the gateway is ready, and not that it stops.
    var isRunning: Bool { self.conversation.withLock { $0.state == .running } }

    /// Whether it has been told that the gateway stops.
    var isStopping: Bool { self.conversation.withLock { $0.state == .stopping } }

    // MARK: - Messages

    package func ready(_ status: String) {
        self.tell { $0.ready(status) }
    }

    package func reloadBegan(_ status: String) {
        let now = Self.monotonicMicroseconds
        self.tell { $0.reloadBegan(at: now, status) }
    }

    package func reloadEnded(_ status: String) {
        self.tell { $0.reloadEnded(status) }
    }

    /// - Parameters:
    ///   - status: for people.
    ///   - duration: how long the first part of it may take.
    package func stopping(_ status: String, atMost duration: Duration) {
        self.tell { $0.stopping(status, atMost: duration) }
    }

    package func setStatus(_ status: String) {
        self.tell { $0.status(status) }
    }

    /// The start or the stop takes long.
    package func needsTime(_ duration: Duration) {
        self.tell { $0.needsTime(duration) }
    }

    /// The gateway cannot run.
    ///
    /// - Parameters:
    ///   - status: why, for people.
    ///   - number: why, as the system numbers errors; `nil`: it has no number.
    package func failed(_ status: String, errorNumber number: Int32?) {
        self.tell { conversation in
            (number.map { [.errorNumber($0)] } ?? []) + conversation.status(status)
        }
    }

    /// A sign of life, which only the thread that is watched may give.
    ///
    /// - Returns: whether it was taken; one that was not should be repeated soon.
    package func giveSignOfLife() -> Bool { self.send([.watchdog]) }

    private func tell(_ change: (inout ManagerConversation) -> [ManagerMessage]) {
        guard self.socket != nil else { return }
        // Within the lock, so that what two threads say comes in the order that was decided.
        self.conversation.withLock { conversation in
            let messages = change(&conversation)
            if !messages.isEmpty { _ = self.send(messages) }
        }
    }

    private func send(_ messages: [ManagerMessage]) -> Bool {
        guard let socket, let address else { return false }
        do throws(UnixSocketError) {
            return try socket.send(ManagerMessage.datagram(messages), to: address)
        } catch {
            self.warnOnce("\(error)")
            return false
        }
    }

    private func warnOnce(_ reason: String) {
        guard !self.hasWarned.exchange(true, ordering: .relaxed) else { return }
        self.warn("the service manager cannot be told anything: \(reason)")
    }

    /// The clock that `MONOTONIC_USEC` means (`man 2 clock_gettime`, `CLOCK_MONOTONIC`).
    private static var monotonicMicroseconds: UInt64 {
        clock_gettime_nsec_np(CLOCK_MONOTONIC) / 1_000
    }
}

#if canImport(Glibc)
/// As Darwin has it.
private func clock_gettime_nsec_np(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
#endif

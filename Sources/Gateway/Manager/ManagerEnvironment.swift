// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The environment variables by which a service manager informs a service (`man 3 sd_notify`,
/// `man 3 sd_watchdog_enabled`).
package struct ManagerEnvironment: Hashable, Sendable {
    private static let socketVariable = "NOTIFY_SOCKET"
    private static let watchdogVariable = "WATCHDOG_USEC"
    private static let watchdogProcessVariable = "WATCHDOG_PID"

    /// The manager's address: a path, or `@` and an abstract name; `nil`: there is no manager.
    package let socket: String?
    /// The longest time that may pass without a sign of life; `nil`: this process has no watchdog.
    package let watchdog: Duration?

    /// - Parameters:
    ///   - environment: the variables.
    ///   - process: the id of this process: a watchdog that is meant for another one is none.
    package init(_ environment: [String: String], process: Int32) {
        self.socket = environment[Self.socketVariable].flatMap { $0.isEmpty ? nil : $0 }
        let owner = environment[Self.watchdogProcessVariable] ?? ""
        guard owner.isEmpty || Int32(owner) == process,
            let microseconds = environment[Self.watchdogVariable].flatMap({ Int64($0) }), microseconds > 0
        else {
            self.watchdog = nil
            return
        }
        self.watchdog = .microseconds(microseconds)
    }

    /// Takes the variables out of the environment, so that no program that we start speaks for us.
    ///
    /// To be called before there are other threads of ours that read the environment (`man 3 getenv`).
    package static func clear() {
        for name in [Self.socketVariable, Self.watchdogVariable, Self.watchdogProcessVariable] {
            _ = unsafe unsetenv(name)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Keeps the process's memory out of what a crash prints.
///
/// Where a Swift toolchain is installed, the runtime prints a backtrace when a program crashes, and with it 16 bytes of
/// memory for each register that points at some. One that points at a key prints half of it. (Swift's page on backtraces,
/// `registers`) To get backtraces, set `SWIFT_BACKTRACE=registers=none`.
package enum CrashOutput {
    /// The signals that the runtime takes for a crash on Linux.
    private static let signals = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    /// Leaves a crash to the system where the runtime would print memory: the process ends by the same signal as without.
    ///
    /// To be called before any secret is read.
    package static func withhold(_ environment: [String: String]) {
        guard self.holdsMemory(environment["SWIFT_BACKTRACE"]) else { return }
        for signal in self.signals { _ = Foundation.signal(signal, SIG_DFL) }
    }

    /// Whether a backtrace made by `settings` may hold memory: unless its last word about registers is that it wants none.
    package static func holdsMemory(_ settings: String?) -> Bool {
        let words = (settings ?? "").split(separator: ",").last { $0.hasPrefix("registers=") }
        return words != "registers=none"
    }
}

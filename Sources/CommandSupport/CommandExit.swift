// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ArgumentParser

/// The exit codes that scripts rely on (as BSD's sysexits.h has them).
///
/// `docs/reference/exit-codes.md` has the table.
package enum CommandExit {
    /// 1: a check found a fault.
    package static let checkFailed = ExitCode(1)
    /// 64: the command line, or a variable that it uses, is wrong.
    package static let usage = ExitCode(64)
    /// 65: the data is wrong.
    package static let badData = ExitCode(65)
    /// 69: the gateway does not answer.
    package static let unavailable = ExitCode(69)
    /// 74: output could not be written.
    package static let cannotWrite = ExitCode(74)
    /// 75: the event log failed; a new start tells what its file holds.
    package static let logFailed = ExitCode(75)
    /// 77: the sender may not do this.
    package static let notAllowed = ExitCode(77)
}

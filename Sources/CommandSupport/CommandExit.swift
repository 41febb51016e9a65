// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ArgumentParser

/// The exit codes that scripts rely on (as BSD's sysexits.h has them).
///
/// `docs/reference/exit-codes.md` is made from ``meanings``.
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

    /// The meaning of an exit code.
    package struct Meaning: Hashable, Sendable {
        package let code: Int32
        /// For people, in Markdown.
        package let text: String

        fileprivate init(_ code: ExitCode, _ text: String) {
            self.code = code.rawValue
            self.text = text
        }
    }

    /// Every exit code with its meaning.
    package static let meanings = [
        Meaning(.success, "done"),
        Meaning(
            Self.checkFailed,
            "a check failed: the gateway is not ready, the ledger differs, the load test has findings, the machine is too small, "
                + "some breaks of a schedule, or some streams of a group, were refused"
        ),
        Meaning(Self.usage, "the command line, or a variable that it uses, is wrong"),
        Meaning(
            Self.badData,
            "the data is wrong: an ads file, an ad server without ads, a cue, a configuration, a refused request, a report that does not balance"
        ),
        Meaning(Self.unavailable, "the gateway does not answer, or cannot run"),
        Meaning(Self.cannotWrite, "standard output cannot be written, the gateway's ready line included"),
        Meaning(Self.logFailed, "the gateway's event log failed; the next start reads what its file holds"),
        Meaning(Self.notAllowed, "not allowed: a key, a token or a right is missing"),
    ]
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Foundation
import LoadEngine
import Synchronization

/// How far a run is: one line that is written over on a terminal, a plain line now and then elsewhere.
final class ProgressLine: Sendable {
    private struct State {
        var shown = ""
        var plainAt = ContinuousClock.now
    }

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let isQuiet: Bool
    private let state = Mutex(State())

    /// Between two lines where nothing is written over.
    private static let plainPause: Duration = .seconds(10)

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    func show(_ progress: RunProgress) {
        guard !self.isQuiet else { return }
        self.state.withLock { state in
            if self.isTerminal {
                state.shown = progress.line
                Self.write("\r\u{1B}[2K\(progress.line)")
            } else if ContinuousClock.now >= state.plainAt {
                state.plainAt = ContinuousClock.now + Self.plainPause
                Self.write(progress.line + "\n")
            }
        }
    }

    /// Takes the line away.
    func end() {
        self.state.withLock { state in
            if self.isTerminal, !state.shown.isEmpty { Self.write("\r\u{1B}[2K") }
        }
    }

    private static func write(_ text: String) {
        CommandOutput.writeToError(text)
    }
}

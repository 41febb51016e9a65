// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Logging
internal import Synchronization

/// Writes lines of the log in their order, on a thread where it may take long.
///
/// The thread that brings an event performs the core's decisions. That may be a transport's event loop, while the app's log may
/// go to a file or to a full pipe.
final class LogQueue: Sendable {
    /// The most lines that wait to be written; of more, the latest are dropped, and how many is the next line.
    static let linesWaitingMax = 256

    private struct State {
        var lines: [ListenerCore.LogLine] = []
        var droppedCount = 0
        var isWriting = false
    }

    /// For lines that are written where it may take long.
    let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// Writes a line soon; returns at once.
    func write(_ line: ListenerCore.LogLine) {
        guard self.logger.logLevel <= line.level.asLogLevel else { return }
        let mustStart = self.state.withLock { state in
            guard state.lines.count < Self.linesWaitingMax else {
                state.droppedCount += 1
                return false
            }
            state.lines.append(line)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // Over as soon as there is nothing left to write.
        if mustStart { Task(name: "Cuecast log") { self.writeAll() } }
    }

    private func writeAll() {
        while true {
            let (lines, droppedCount) = self.state.withLock { state in
                defer { (state.lines, state.droppedCount) = ([], 0) }
                if state.lines.isEmpty { state.isWriting = false }
                return (state.lines, state.droppedCount)
            }
            guard !lines.isEmpty else { return }
            for line in lines { self.logger.log(level: line.level.asLogLevel, "\(line.message)") }
            if droppedCount > 0 {
                self.logger.warning("Lines of the log were dropped", metadata: ["count": "\(droppedCount)"])
            }
        }
    }
}

extension ListenerCore.LogLine.Level {
    fileprivate var asLogLevel: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}

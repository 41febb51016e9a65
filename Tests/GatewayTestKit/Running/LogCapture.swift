// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Logging
import Synchronization

/// Keeps what is logged, for tests to look at.
package final class LogCapture: Sendable {
    /// One message.
    package struct Entry: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: Logger.Metadata
    }

    private let captured: Mutex<[Entry]> = Mutex([])

    package init() {}

    /// Everything so far, in order.
    package var entries: [Entry] { self.captured.withLock { $0 } }

    /// The messages of a level and above.
    package func messages(_ level: Logger.Level = .trace) -> [String] {
        self.entries.filter { $0.level >= level }.map(\.message)
    }

    /// A logger that writes here.
    package var logger: Logger {
        Logger(label: "cuecast.tests", factory: { _ in Handler(capture: self) })
    }

    private struct Handler: LogHandler {
        let capture: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let entry = Entry(
                level: event.level,
                message: "\(event.message)",
                metadata: self.metadata.merging(event.metadata ?? [:]) { $1 }
            )
            self.capture.captured.withLock { $0.append(entry) }
        }
    }
}

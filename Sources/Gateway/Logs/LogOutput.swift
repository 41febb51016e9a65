// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Logging
import Synchronization

/// Where all lines of the process go, and how; level and format may change while the gateway runs.
///
/// ```swift
/// let output = LogOutput(configuration, isForJournal: JournalStream.isStandardError) { CommandOutput.writeToError($0) }
/// LoggingSystem.bootstrap { GatewayLogHandler(label: $0, output: output) }
/// output.reload(other)
/// ```
package final class LogOutput: Sendable {
    private static let levels = Logger.Level.allCases

    /// The index of the least severe level that is logged.
    private let level: Atomic<Int>
    private let isJSON: Atomic<Bool>
    private let isForJournal: Bool
    private let now: @Sendable () -> Timestamp
    /// Held while a line is written, so that lines stay whole.
    private let write: Mutex<@Sendable ([UInt8]) -> Void>

    /// - Parameters:
    ///   - configuration: level and format.
    ///   - isForJournal: whether the system's journal reads the lines.
    ///   - now: the machine's clock.
    ///   - write: takes one line with its end.
    package init(
        _ configuration: GatewayConfiguration,
        isForJournal: Bool,
        now: @escaping @Sendable () -> Timestamp = { SystemClock().now() },
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.level = Atomic(Self.index(configuration))
        self.isJSON = Atomic(configuration.logFormat == .json)
        self.isForJournal = isForJournal
        self.now = now
        self.write = Mutex(write)
    }

    /// Takes over level and format.
    package func reload(_ configuration: GatewayConfiguration) {
        self.level.store(Self.index(configuration), ordering: .relaxed)
        self.isJSON.store(configuration.logFormat == .json, ordering: .relaxed)
    }

    private static func index(_ configuration: GatewayConfiguration) -> Int {
        // The configuration is checked: every level of it is one.
        self.levels.firstIndex { $0.rawValue == configuration.logLevel } ?? 2
    }

    fileprivate var logLevel: Logger.Level { Self.levels[self.level.load(ordering: .relaxed)] }

    fileprivate func log(_ event: LogEvent, label: String, metadata: Logger.Metadata) {
        var metadata = metadata
        if let own = event.metadata { metadata.merge(own) { $1 } }
        if let error = event.error, metadata["error"] == nil { metadata["error"] = "\(error)" }
        let line = LogLine(
            time: self.now(),
            level: event.level,
            label: label,
            message: event.message.description,
            metadata: metadata
        )
        let format: LogFormat = self.isJSON.load(ordering: .relaxed) ? .json : .text
        let bytes = line.bytes(format, isForJournal: self.isForJournal)
        self.write.withLock { $0(bytes) }
    }
}

/// Writes what the level of the configuration lets through.
package struct GatewayLogHandler: LogHandler {
    private let label: String
    private let output: LogOutput
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    /// What this logger leaves out although the configuration lets it through.
    private var floor = Logger.Level.trace

    package init(label: String, output: LogOutput) {
        self.label = label
        self.output = output
    }

    /// One level for the process: the configuration's; a logger can say less than that, never more.
    package var logLevel: Logger.Level {
        get { max(self.floor, self.output.logLevel) }
        set { self.floor = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let provided = self.metadataProvider?.get() ?? [:]
        self.output.log(event, label: self.label, metadata: self.metadata.merging(provided) { $1 })
    }
}

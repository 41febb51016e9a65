// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Logging
import Synchronization

/// Where all lines of the process go, and how; level and format may change while the gateway runs.
///
/// ```swift
/// let lines = LineQueue { CommandOutput.writeToError($0) }
/// let output = LogOutput(configuration, isForJournal: JournalStream.isStandardError(environment), lines: lines)
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
    private let lines: LineQueue

    /// - Parameters:
    ///   - configuration: level and format.
    ///   - isForJournal: whether the system's journal reads the lines.
    ///   - now: the machine's clock.
    ///   - lines: takes each line.
    package init(
        _ configuration: GatewayConfiguration,
        isForJournal: Bool,
        now: @escaping @Sendable () -> Timestamp = { SystemClock().now() },
        lines: LineQueue
    ) {
        self.level = Atomic(Self.index(configuration))
        self.isJSON = Atomic(configuration.logFormat == .json)
        self.isForJournal = isForJournal
        self.now = now
        self.lines = lines
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
        self.put(self.bytes(event.level, label, event.message.description, metadata))
    }

    /// Says why the process ends: a line for people whatever the format, behind the lines that wait.
    package func complain(_ sentence: String) {
        self.put(
            Array("\(self.isForJournal ? "<\(Logger.Level.error.journalPriority)>" : "")cuecast: \(sentence)\n".utf8)
        )
    }

    /// Waits until every line is written; not for long, because the lines may not be read.
    package func finish() {
        self.lines.finish(within: LogLimits.finishTimeout)
    }

    private func put(_ line: [UInt8]) {
        self.lines.add(line) { count in
            self.bytes(
                .warning,
                "cuecast",
                "log lines were dropped because standard error was not read",
                ["count": "\(count)"]
            )
        }
    }

    private func bytes(
        _ level: Logger.Level,
        _ label: String,
        _ message: String,
        _ metadata: Logger.Metadata
    ) -> [UInt8] {
        let line = LogLine(time: self.now(), level: level, label: label, message: message, metadata: metadata)
        return line.bytes(self.isJSON.load(ordering: .relaxed) ? .json : .text, isForJournal: self.isForJournal)
    }
}

/// Writes what the level of the configuration lets through.
package struct GatewayLogHandler: LogHandler {
    private let label: String
    private let output: LogOutput
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    /// The level below which this logger drops lines, whatever the configuration says.
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

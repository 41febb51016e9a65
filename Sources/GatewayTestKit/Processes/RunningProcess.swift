// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Foundation
import Synchronization

/// A program that runs, with what it writes.
///
/// It is killed when nobody holds it any more.
package final class RunningProcess: Sendable {
    /// How a program ended.
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killed(bySignal: Int32)
    }

    private struct State {
        var output: [UInt8] = []
        var error: [UInt8] = []
        /// How much of `output` was given out as lines.
        var read = 0
        var openPipes = 2
        var end: End?
    }

    // Safety: Foundation's class is not `Sendable`; it is reached under the lock only.
    private struct Handle: @unchecked Sendable {
        let process: Process
    }

    /// What the callbacks write to.
    private final class Record: Sendable {
        let state = Mutex(State())

        func read(_ pipe: Pipe, into append: @escaping @Sendable (inout sending State, Data) -> Void) {
            pipe.fileHandleForReading.readabilityHandler = { file in
                let data = file.availableData
                if data.isEmpty { file.readabilityHandler = nil }
                self.state.withLock { state in
                    if data.isEmpty { state.openPipes -= 1 } else { append(&state, data) }
                }
            }
        }
    }

    private let handle: Mutex<Handle>
    private let record = Record()
    package let processIdentifier: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: the program.
    ///   - arguments: what it is told.
    ///   - environment: instead of the environment of the test.
    ///   - folder: where it runs.
    /// - Throws: when it cannot be started.
    package init(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = RunningProcess.plainEnvironment,
        folder: URL? = nil
    ) throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        if let folder { process.currentDirectoryURL = folder }
        let (output, error) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = error
        // Before it runs: it may be over in no time.
        process.terminationHandler = { [record] process in
            let end: End =
                process.terminationReason == .exit
                ? .exited(process.terminationStatus) : .killed(bySignal: process.terminationStatus)
            record.state.withLock { $0.end = end }
        }
        self.record.read(output) { $0.output += $1 }
        self.record.read(error) { $0.error += $1 }
        try process.run()
        self.processIdentifier = process.processIdentifier
        self.handle = Mutex(Handle(process: process))
    }

    deinit {
        self.handle.withLock { _ = $0.process.isRunning ? kill($0.process.processIdentifier, SIGKILL) : 0 }
    }

    /// What programs need of the test's environment; nothing of the person who runs it.
    package static var plainEnvironment: [String: String] {
        ProcessInfo.processInfo.environment.filter { ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"].contains($0.key) }
    }

    /// Everything on standard output so far.
    package var standardOutput: String { self.record.state.withLock { String(decoding: $0.output, as: UTF8.self) } }

    /// Everything on standard error so far.
    package var standardError: String { self.record.state.withLock { String(decoding: $0.error, as: UTF8.self) } }

    /// Whether it has not ended yet.
    package var isRunning: Bool { self.record.state.withLock { $0.end == nil } }

    /// The next line on standard output.
    ///
    /// - Parameter limit: how long to wait for it.
    /// - Returns: the line without its end.
    /// - Throws: when it does not come, with what is on standard error.
    package func line(within limit: Duration = .seconds(60)) async throws -> String {
        let deadline = ContinuousClock.now + limit
        while true {
            let (line, isOver) = self.record.state.withLock { state -> (String?, Bool) in
                guard let end = state.output[state.read...].firstIndex(of: UInt8(ascii: "\n")) else {
                    return (nil, state.openPipes == 0)
                }
                defer { state.read = end + 1 }
                return (String(decoding: state.output[state.read..<end], as: UTF8.self), false)
            }
            if let line { return line }
            guard !isOver, ContinuousClock.now < deadline else {
                throw PeerError.timedOut("a line of process \(self.processIdentifier); it said: \(self.standardError)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Sends a signal, for instance `SIGTERM`.
    package func signal(_ number: Int32) {
        self.handle.withLock { _ = $0.process.isRunning ? kill($0.process.processIdentifier, number) : 0 }
    }

    /// Waits until it has ended and everything that it wrote is here.
    @discardableResult
    package func end(within limit: Duration = .seconds(60)) async throws -> End {
        try await until("process \(self.processIdentifier) ends", within: limit) {
            self.record.state.withLock { $0.end != nil && $0.openPipes == 0 }
        }
        return self.record.state.withLock { $0.end ?? .exited(0) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import LoadEngine
import Synchronization

/// The messages of a worker process, one object a line.
enum WorkerMessage: Codable, Sendable {
    case progress(RunProgress)
    /// All its listeners have joined.
    case ready
    case outcome(RunOutcome)
    case failed(sentence: String, isUsage: Bool)
}

/// One of several processes of a run; the process that starts it writes the settings, then when to begin.
struct Worker: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "One process of several; started by run.",
        shouldDisplay: false
    )

    func run() throws {
        guard let line = readLine(), let settings = try? JSONDecoder().decode(RunSettings.self, from: Data(line.utf8))
        else { throw CommandExit.usage }
        // The parent process handles signals, and ends this one by closing its input: the findings must still be reported.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_IGN) }
        let orders = Orders()
        // It ends with its input, which ends with the parent process.
        Thread.detachNewThread {
            while let line = readLine() { orders.take(line) }
            orders.take("end")
        }
        var hooks = RunHooks()
        hooks.progress = { Self.say(.progress($0)) }
        hooks.allJoined = { _ in Self.say(.ready) }
        hooks.beginning = { orders.beginning }
        hooks.isCancelled = { orders.isEnded }
        do throws(LoadError) {
            Self.say(.outcome(try runListeners(settings, hooks: hooks)))
        } catch {
            switch error {
            case .usage, .endpoint, .tooManyConnections: Self.say(.failed(sentence: error.description, isUsage: true))
            case .unavailable, .system: Self.say(.failed(sentence: error.description, isUsage: false))
            }
        }
    }

    private static func say(_ message: WorkerMessage) {
        // Every value of it can be encoded.
        guard let data = try? JSONEncoder().encode(message) else { return }
        CommandOutput.write([UInt8](data) + [UInt8(ascii: "\n")])
    }

    /// The orders to this process.
    private final class Orders: Sendable {
        private let state: Mutex<(beginning: Microseconds?, isEnded: Bool)> = Mutex((nil, false))

        var beginning: Microseconds? { self.state.withLock { $0.beginning } }
        var isEnded: Bool { self.state.withLock { $0.isEnded } }

        func take(_ line: String) {
            self.state.withLock { state in
                if let beginning = Microseconds(line) { state.beginning = beginning } else { state.isEnded = true }
            }
        }
    }
}

/// The processes of a run: starts them, has them begin together, and merges what they found.
final class WorkerCrew: Sendable {
    private struct State {
        var ready = 0
        var progress: [Int: RunProgress] = [:]
        var outcomes: [Int: RunOutcome] = [:]
        var failure: (sentence: String, isUsage: Bool)?
        var ended = 0
        var isInterrupted = false
    }

    private let settings: RunSettings
    private let state = Mutex(State())

    /// After all have joined, until the first break.
    private static let pauseBeforeBeginning: Microseconds = 1_000_000

    init(_ settings: RunSettings) {
        self.settings = settings
    }

    func run(progress: (RunProgress) -> Void) throws -> RunOutcome {
        let signals = [SIGINT, SIGTERM]
            .map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { [self] in self.state.withLock { $0.isInterrupted = true } }
                source.resume()
                return source
            }
        defer { for each in signals { each.cancel() } }
        var inputs: [FileHandle] = []
        var processes: [Process] = []
        defer { for each in processes where each.isRunning { each.terminate() } }
        for number in 0..<self.settings.processes {
            let (process, input) = try self.start(number)
            processes.append(process)
            inputs.append(input)
        }
        var hasBegun = false
        var isEnding = false
        while true {
            let now = self.state.withLock { $0 }
            if now.ended == self.settings.processes { break }
            if (now.isInterrupted || now.failure != nil) && !isEnding {
                isEnding = true
                for each in inputs { try? each.write(contentsOf: Data("end\n".utf8)) }
            } else if now.ready == self.settings.processes, !hasBegun {
                hasBegun = true
                let beginning = Microseconds(LoopTime.now().nanoseconds / 1_000) + Self.pauseBeforeBeginning
                for each in inputs { try? each.write(contentsOf: Data("\(beginning)\n".utf8)) }
            }
            if now.progress.count == self.settings.processes {
                var sum = RunProgress()
                sum.phase = .finishing
                for each in now.progress.values { sum.add(each) }
                progress(sum)
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
        for each in processes { each.waitUntilExit() }
        return try self.merged()
    }

    private func start(_ number: Int) throws -> (Process, FileHandle) {
        var settings = self.settings
        settings.process = number
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["worker"]
        let input = Pipe()
        let output = Pipe()
        // Only this process may write to it: when it dies, the worker's input ends, and so does the worker.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardInput = input
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            complain("a process of the run cannot be started: \(error.localizedDescription)")
            throw CommandExit.unavailable
        }
        let writing = input.fileHandleForWriting
        try? writing.write(contentsOf: try JSONEncoder().encode(settings) + [UInt8(ascii: "\n")])
        let reading = output.fileHandleForReading
        Thread.detachNewThread { [self] in self.read(reading, of: number) }
        return (process, writing)
    }

    /// Takes in what one process says, until it ends.
    private func read(_ handle: FileHandle, of number: Int) {
        var rest = Data()
        while true {
            // Reads the available bytes, and does not wait for a full buffer; none is the end.
            let part = handle.availableData
            guard !part.isEmpty else { break }
            rest += part
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = rest[rest.startIndex..<end]
                if let message = try? JSONDecoder().decode(WorkerMessage.self, from: line) {
                    self.take(message, of: number)
                }
                rest = Data(rest[rest.index(after: end)...])
            }
        }
        self.state.withLock { $0.ended += 1 }
    }

    private func take(_ message: WorkerMessage, of number: Int) {
        self.state.withLock { state in
            switch message {
            case .progress(let progress): state.progress[number] = progress
            case .ready: state.ready += 1
            case .outcome(let outcome): state.outcomes[number] = outcome
            case .failed(let sentence, let isUsage): state.failure = state.failure ?? (sentence, isUsage)
            }
        }
    }

    private func merged() throws -> RunOutcome {
        let state = self.state.withLock { $0 }
        if let failure = state.failure {
            complain(failure.sentence)
            throw failure.isUsage ? CommandExit.usage : CommandExit.unavailable
        }
        guard var outcome = state.outcomes[0], state.outcomes.count == self.settings.processes else {
            complain("a process of the run ended without a report")
            throw CommandExit.checkFailed
        }
        for number in 1..<self.settings.processes {
            if let other = state.outcomes[number] { outcome.merge(other) }
        }
        return outcome
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Synchronization

@testable import Cuecast

/// A device's disk in simulated time: what the journal asks for is done when the schedule says so.
///
/// It can be full, and broken, and the app can die in the middle of a write.
final class SimulatedDisk: JournalFileSystem, JournalWorker {
    enum Condition: Hashable, Sendable {
        case well
        /// The present data can be read; nothing can be added.
        case full
        /// Nothing works.
        case broken
    }

    fileprivate struct State {
        var condition = Condition.well
        /// The content of files, each by a number of its own: an open file stays the same whatever its name is.
        var files: [[UInt8]] = []
        var names: [String: Int] = [:]
        var work: [@Sendable () -> Void] = []
        /// How many bytes the app still writes before it dies; `nil`: it does not.
        var bytesToDeath: Int?
        var now: ContinuousClock.Instant
        var wallTime: Timestamp
    }

    private let state: Mutex<State>

    init(now: ContinuousClock.Instant, wallTime: Timestamp) {
        self.state = Mutex(State(now: now, wallTime: wallTime))
    }

    fileprivate func withState<Result>(_ body: (inout State) -> sending Result) -> Result { self.state.withLock(body) }

    fileprivate func check(writes: Bool = false) throws(JournalFailure) {
        let failure = self.withState { state -> JournalFailure? in
            if state.condition == .broken || state.bytesToDeath == 0 { return JournalFailure("open", code: 5) }  // EIO
            return writes && state.condition == .full ? JournalFailure("write", code: 28) : nil  // ENOSPC
        }
        if let failure { throw failure }
    }

    var condition: Condition {
        get { self.state.withLock { $0.condition } }
        set { self.state.withLock { $0.condition = newValue } }
    }

    var now: ContinuousClock.Instant { self.state.withLock { $0.now } }
    var wallTime: Timestamp { self.state.withLock { $0.wallTime } }

    func set(now: ContinuousClock.Instant, wallTime: Timestamp) {
        self.state.withLock { state in
            state.now = now
            state.wallTime = wallTime
        }
    }

    /// The content of the file, as the next run of the app reads it.
    func contents(of path: String) -> JournalRecords.Contents? {
        JournalRecords.read(self.withState { state in state.names[path].map { state.files[$0] } ?? [] })
    }

    // MARK: Work

    func perform(_ work: @escaping @Sendable () -> Void) {
        self.state.withLock { $0.work.append(work) }
    }

    var hasWork: Bool { self.state.withLock { !$0.work.isEmpty } }

    func doWork() {
        while let next = self.state.withLock({ $0.work.isEmpty ? nil : $0.work.removeFirst() }) { next() }
    }

    /// The app is killed while the disk does what it was asked for: so many bytes of it are written.
    func die(afterBytes bytes: Int) {
        self.state.withLock { $0.bytesToDeath = bytes }
        self.doWork()
        self.state.withLock { $0.bytesToDeath = nil }
    }

    // MARK: Files

    func makeFolder(of path: String) throws(JournalFailure) { try self.check() }

    func lock(_ path: String) throws(JournalFailure) -> (any JournalLock)? {
        try self.check()
        return SimulatedLock()
    }

    func open(_ path: String, truncates: Bool) throws(JournalFailure) -> any JournalFile {
        try self.check()
        let number = self.withState { state in
            let number = state.names[path] ?? state.files.count
            if number == state.files.count { state.files.append([]) }
            state.names[path] = number
            if truncates { state.files[number] = [] }
            return number
        }
        return SimulatedFile(self, number)
    }

    func rename(_ path: String, to target: String) throws(JournalFailure) {
        try self.check()
        self.withState { $0.names[target] = $0.names.removeValue(forKey: path) }
    }

    func remove(_ path: String) {
        self.withState { state in if state.bytesToDeath == nil { state.names[path] = nil } }
    }

    func exists(_ path: String) -> Bool { self.withState { $0.names[path] != nil } }
}

private final class SimulatedLock: JournalLock {}

private final class SimulatedFile: JournalFile {
    private let disk: SimulatedDisk
    private let number: Int

    init(_ disk: SimulatedDisk, _ number: Int) {
        self.disk = disk
        self.number = number
    }

    func append(_ bytes: [UInt8]) throws(JournalFailure) {
        try self.disk.check(writes: true)
        self.disk.withState { state in
            let written = bytes.prefix(state.bytesToDeath ?? .max)
            state.files[self.number] += written
            state.bytesToDeath? -= written.count
        }
    }

    func readAll(atMost maximum: Int) throws(JournalFailure) -> [UInt8] {
        try self.disk.check()
        return self.disk.withState { Array($0.files[self.number].prefix(maximum)) }
    }

    func synchronize() throws(JournalFailure) { try self.disk.check(writes: true) }
}

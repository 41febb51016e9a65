// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization

@testable import Cuecast

/// The device's file system, which waits or fails where a test says so, and counts.
final class TroubledFileSystem: JournalFileSystem {
    enum Operation: Hashable, Sendable {
        case makeFolder
        case lock
        case open
        case append
        case synchronize
        case rename
    }

    private struct State {
        var held: Set<Operation> = []
        var failing: [Operation: Int32] = [:]
        var counts: [Operation: Int] = [:]
        /// The performed operations, in order.
        var log: [String] = []
        /// How many wait now.
        var waiting = 0
    }

    // Safety: every use of `state` is between `lock` and `unlock` of the condition.
    private final class Gate: @unchecked Sendable {
        let condition = NSCondition()
        var state = State()
    }

    private let disk = DiskFileSystem()
    private let gate = Gate()

    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        self.gate.condition.lock()
        defer { self.gate.condition.unlock() }
        defer { self.gate.condition.broadcast() }
        return body(&self.gate.state)
    }

    /// From now on operations of these kinds wait.
    func hold(_ operations: Operation...) { self.withState { $0.held.formUnion(operations) } }

    /// Nothing waits any more.
    func letGo() { self.withState { $0.held = [] } }

    /// From now on operations of this kind fail; `nil`: they do not.
    func fail(_ operation: Operation, _ code: Int32?) { self.withState { $0.failing[operation] = code } }

    func count(_ operation: Operation) -> Int { self.withState { $0.counts[operation, default: 0] } }

    var log: [String] { self.withState { $0.log } }

    /// Whether something waits now.
    var isHolding: Bool { self.withState { $0.waiting > 0 } }

    fileprivate func enter(_ operation: Operation, _ what: String) throws(JournalFailure) {
        let condition = self.gate.condition
        condition.lock()
        self.gate.state.waiting += 1
        while self.gate.state.held.contains(operation) { condition.wait() }
        self.gate.state.waiting -= 1
        self.gate.state.counts[operation, default: 0] += 1
        let code = self.gate.state.failing[operation]
        if code == nil { self.gate.state.log.append(what) }
        condition.unlock()
        if let code { throw JournalFailure("\(operation)", code: code) }
    }

    func makeFolder(of path: String) throws(JournalFailure) {
        try self.enter(.makeFolder, "folder")
        try self.disk.makeFolder(of: path)
    }

    func lock(_ path: String) throws(JournalFailure) -> (any JournalLock)? {
        try self.enter(.lock, "lock")
        return try self.disk.lock(path)
    }

    func open(_ path: String, truncates: Bool) throws(JournalFailure) -> any JournalFile {
        let name = URL(fileURLWithPath: path).lastPathComponent
        try self.enter(.open, "open \(name)")
        return TroubledFile(self, name, try self.disk.open(path, truncates: truncates))
    }

    func rename(_ path: String, to target: String) throws(JournalFailure) {
        try self.enter(.rename, "rename \(URL(fileURLWithPath: path).lastPathComponent)")
        try self.disk.rename(path, to: target)
    }

    func remove(_ path: String) { self.disk.remove(path) }

    func exists(_ path: String) -> Bool { self.disk.exists(path) }
}

private final class TroubledFile: JournalFile {
    private let system: TroubledFileSystem
    private let name: String
    private let file: any JournalFile

    init(_ system: TroubledFileSystem, _ name: String, _ file: any JournalFile) {
        self.system = system
        self.name = name
        self.file = file
    }

    func append(_ bytes: [UInt8]) throws(JournalFailure) {
        try self.system.enter(.append, "append \(self.name)")
        try self.file.append(bytes)
    }

    func readAll(atMost maximum: Int) throws(JournalFailure) -> [UInt8] { try self.file.readAll(atMost: maximum) }

    func synchronize() throws(JournalFailure) {
        try self.system.enter(.synchronize, "synchronize \(self.name)")
        try self.file.synchronize()
    }
}

/// A folder that is gone after the test.
final class TemporaryFolder {
    let url: URL

    init() throws {
        self.url = FileManager.default.temporaryDirectory.appending(path: "cuecast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: self.url) }

    func path(_ name: String) -> String { self.url.appending(path: name).path }

    /// The names in it.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: self.url.path)) ?? []).sorted() }
}

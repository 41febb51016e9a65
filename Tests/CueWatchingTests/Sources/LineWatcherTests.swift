// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CueWatching

/// Lines in a file that comes and goes, and on a port.
@Suite(.suiteLimit)
struct LineWatcherTests {
    /// What a watcher sees and says.
    private final class Said: Sendable {
        private let seen = Mutex<[String]>([])
        private let complaints = Mutex<[String]>([])

        /// The lines without the quotes in which they are shown.
        var lines: [String] { self.seen.withLock { $0.map { String($0.dropFirst().dropLast()) } } }
        var sentences: [String] { self.complaints.withLock { $0 } }

        func watcher(_ limits: LineWatcherLimits) -> LineWatcher {
            let output = WatchOutput(
                line: { line in self.seen.withLock { $0.append(line.seen) } },
                complain: { _ in }
            )
            return LineWatcher(
                LineSignals(stream: "radio1", source: "studio", mapping: .liquidsoap),
                sender: SignalSender(receiver: nil, output: output),
                say: { text in self.complaints.withLock { $0.append(text) } },
                limits: limits
            )
        }
    }

    /// A folder with the file that is followed.
    private struct Folder {
        private let url: URL
        var path: String { self.url.path + "/now.txt" }
        var aside: String { self.url.path + "/aside.txt" }

        init() throws {
            self.url = FileManager.default.temporaryDirectory.appendingPathComponent("cuecast-lines-\(UUID())")
            try FileManager.default.createDirectory(at: self.url, withIntermediateDirectories: true)
        }

        func remove() { try? FileManager.default.removeItem(at: self.url) }

        func append(_ line: String, to path: String) throws {
            if !FileManager.default.fileExists(atPath: path) {
                try Data().write(to: URL(fileURLWithPath: path))
            }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data("type=\(line)\n".utf8))
            try file.close()
        }

        func move(_ from: String, to path: String) throws {
            try FileManager.default.moveItem(atPath: from, toPath: path)
        }
    }

    private static var quick: LineWatcherLimits {
        var limits = LineWatcherLimits()
        limits.fileLookInterval = .milliseconds(1)
        return limits
    }

    @Test func `a file that was away is read on from its place, and another one from its beginning`() async throws {
        let (folder, said) = (try Folder(), Said())
        defer { folder.remove() }
        let watcher = said.watcher(Self.quick)
        let path = folder.path
        let task = Task { await watcher.follow(path) }
        defer { task.cancel() }
        try await until { said.sentences.count == 1 }
        try folder.append("one", to: folder.path)
        try await until { said.lines == ["type=one"] }
        try folder.move(folder.path, to: folder.aside)
        try await until { said.sentences.count == 2 }
        // Who writes may have it open still.
        try folder.append("two", to: folder.aside)
        try await until { said.lines.count == 2 }
        try folder.move(folder.aside, to: folder.path)
        try folder.append("three", to: folder.path)
        try await until { said.lines.count == 3 }
        #expect(said.lines == ["type=one", "type=two", "type=three"])
        try folder.move(folder.path, to: folder.aside)
        try folder.append("four", to: folder.path)
        try await until { said.lines.count == 4 }
        #expect(said.lines.last == "type=four")
        task.cancel()
        await task.value
        #expect(said.lines.count == 4)
    }

    @Test func `another opening of the same file goes on from the same place`() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        try folder.append("one", to: folder.path)
        let file = try FollowedFile(folder.path, fromEnd: true)
        defer { file.close() }
        try folder.append("two", to: folder.path)
        let again = try FollowedFile(folder.path, fromEnd: false)
        defer { again.close() }
        #expect(again.isSame(as: file) && !again.isReplaced)
        again.goOn(from: file)
        #expect(try await ByteFile.read(again.descriptor, 100, name: "now.txt") == Array("type=two\n".utf8))
        // While the first one is open, a new file cannot have its number.
        try FileManager.default.removeItem(atPath: folder.path)
        try folder.append("three", to: folder.path)
        let other = try FollowedFile(folder.path, fromEnd: false)
        defer { other.close() }
        #expect(!other.isSame(as: file) && file.isReplaced)
    }

    // MARK: - A port

    /// Connects to a port of 127.0.0.1.
    private static func connected(to port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // Safety: the kernel reads the address during the call only.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "connecting failed")
        return descriptor
    }

    @Test func `a connection on which nothing comes gives its place back, and that is told once`() async throws {
        let said = Said()
        var limits = LineWatcherLimits()
        limits.connectionsMax = 1
        limits.connectionIdleMax = .milliseconds(20)
        let server = try await LineServer(NetworkAddress(host: "127.0.0.1", port: 0), limits: limits)
        let watcher = said.watcher(limits)
        let task = Task { await watcher.run(server) }
        for _ in 0..<3 {
            let silent = try Self.connected(to: server.address.port)
            defer { close(silent) }
            // The server closes it, for its silence or because the place of the one before is not free yet.
            try await until {
                var byte: UInt8 = 0
                return unsafe recv(silent, &byte, 1, Int32(MSG_DONTWAIT)) == 0
            }
        }
        try await until { !said.sentences.isEmpty }
        task.cancel()
        await task.value
        #expect(said.sentences.count { $0.contains("connectionIdleMax") } == 1, "\(said.sentences)")
    }

    @Test func `a kind of trouble is told once in a period, with the number of those before`() {
        var complaints = RareComplaints(period: .seconds(600))
        #expect(complaints.sentence(.droppedSignal, "One.", atMilliseconds: 0) == "One.")
        #expect(complaints.sentence(.idleConnection, "Another.", atMilliseconds: 1) == "Another.")
        #expect(complaints.sentence(.droppedSignal, "Two.", atMilliseconds: 2) == nil)
        #expect(complaints.sentence(.droppedSignal, "Three.", atMilliseconds: 599_999) == nil)
        let fourth = complaints.sentence(.droppedSignal, "Four.", atMilliseconds: 600_000)
        #expect(fourth == "Four. It happened 2 more times since it was told last.")
        #expect(complaints.sentence(.droppedSignal, "Five.", atMilliseconds: 1_200_000) == "Five.")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CueWatching

/// Lines in a file that comes and goes.
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
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GRDB
import GatewayCore
import SQLiteStore
import TestSupport
import Testing

/// The opening of a data directory, and its content.
@Suite(.suiteLimit)
struct StoreDirectoryTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    enum File: String, CaseIterable {
        case events = "events.sqlite"
        case ledger = "ledger.sqlite"

        func open(_ path: String) async throws {
            switch self {
            case .events: await (try SQLiteEventLog(in: StoreDirectory(path: path))).close()
            case .ledger: await (try SQLiteLedger(in: StoreDirectory(path: path))).close()
            }
        }
    }

    @Test func `a directory has one owner at a time`() async throws {
        let path = self.directory.fresh("a/b/c")
        let log = try SQLiteEventLog(in: StoreDirectory(path: path))
        let error = #expect(throws: StoreError.self) { _ = try StoreDirectory(path: path) }
        #expect(error == .inUse(directory: path, owner: Int(ProcessInfo.processInfo.processIdentifier)))
        #expect(error.map { "\($0)".contains(path) } == true)
        await log.close()
        try await File.ledger.open(path)
    }

    @Test func `log and ledger share a directory until both are closed`() async throws {
        let path = self.directory.path
        func openBoth() throws -> (SQLiteEventLog, SQLiteLedger) {
            let directory = try StoreDirectory(path: path)
            return (try SQLiteEventLog(in: directory), try SQLiteLedger(in: directory))
        }
        let (log, ledger) = try openBoth()
        await log.close()
        #expect(throws: StoreError.self) { _ = try StoreDirectory(path: path) }
        await ledger.close()
        _ = try StoreDirectory(path: path)
    }

    @Test func `another process is kept out, and keeps us out only while it lives`() async throws {
        let tool = "/usr/bin/flock"
        guard FileManager.default.isExecutableFile(atPath: tool) else { try Test.cancel("no flock on this machine") }
        let path = self.directory.path
        try await File.events.open(path)
        let command = [tool, "--no-fork", path + "/cuecast.lock", "sh", "-c", "echo held; exec sleep 1000"]
        let owner = try ChildProcess(command, output: .pipe)
        #expect(owner.said(5) == "held\n")
        let error = #expect(throws: StoreError.self) { _ = try StoreDirectory(path: path) }
        guard case .inUse(path, _) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "")")
            return
        }
        owner.terminate()
        _ = owner.wait()
        try await File.events.open(path)
    }

    @Test func `a directory that cannot be made is named`() throws {
        let file = self.directory.fresh("file")
        try Data().write(to: URL(fileURLWithPath: file))
        for path in [file, file + "/below"] {
            let error = #expect(throws: StoreError.self) { _ = try StoreDirectory(path: path) }
            guard case .unusable(path, _) = error else {
                Issue.record("\(path) was refused as \(error.map { "\($0)" } ?? "nothing")")
                continue
            }
        }
    }

    @Test(arguments: ["cuecast.lock", "cuecast.open"])
    func `a link to nowhere in the way of a file is named, with what to do`(name: String) async throws {
        let path = self.directory.fresh()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let link = path + "/" + name
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nonexistent/file")
        let reason = "\(name) in it cannot be made: No such file or directory; remove what has that name"
        await #expect(throws: StoreError.unusable(directory: path, reason: reason)) { try await File.events.open(path) }
        try FileManager.default.removeItem(atPath: link)
        try await File.events.open(path)
    }

    @Test func `only a damaged log asks for a backup`() async throws {
        for file in File.allCases {
            let path = self.directory.fresh()
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let name = path + "/" + file.rawValue
            try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: name))
            let error = await #expect(throws: StoreError.self) { try await file.open(path) }
            #expect(error.map { "\($0)" }?.contains("cuecast restore --from … --replace") == (file == .events))
        }
    }

    @Test(arguments: File.allCases)
    func `a file of a later version is refused and left alone`(_ file: File) async throws {
        let path = self.directory.path
        try await file.open(path)
        let name = path + "/" + file.rawValue
        let queue = try DatabaseQueue(path: name)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('later')") }
        try queue.close()
        await #expect(throws: StoreError.laterSchema(file: name)) { try await file.open(path) }
        await #expect(throws: StoreError.laterSchema(file: name)) { try await file.open(path) }
    }

    @Test(arguments: File.allCases)
    func `a file of a version before the first release is refused and left alone`(_ file: File) async throws {
        let path = self.directory.path
        let name = path + "/" + file.rawValue
        let queue = try DatabaseQueue(path: name)
        try await queue.write { database in
            try database.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            for identifier in ["log 1", "ledger 1"] {
                try database.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [identifier])
            }
        }
        try queue.close()
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.laterSchema(file: name)) { try await file.open(path) }
            #expect(error.map { "\($0)".contains("before 0.1.0") } == true)
        }
    }

    @Test(arguments: File.allCases)
    func `a file that is not a database is refused`(_ file: File) async throws {
        let path = self.directory.path
        let name = path + "/" + file.rawValue
        try Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: URL(fileURLWithPath: name))
        let error = await #expect(throws: StoreError.self) { try await file.open(path) }
        guard case .damaged(name, _) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "")")
            return
        }
    }

    @Test(arguments: File.allCases)
    func `a damaged schema is refused`(_ file: File) async throws {
        let path = self.directory.path
        try await file.open(path)
        let name = path + "/" + file.rawValue
        try self.overwrite(name, from: 100, count: 3_900)
        let error = await #expect(throws: StoreError.self) { try await file.open(path) }
        guard case .damaged(name, _) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "")")
            return
        }
    }

    @Test func `damaged records are an error, not a crash`() async throws {
        let path = self.directory.path
        let lane = Lane.breaks
        var log = try SQLiteEventLog(in: StoreDirectory(path: path))
        for _ in 0..<20 { _ = try await log.append([UInt8](repeating: 1, count: 20_000), to: lane) }
        await log.close()
        let name = path + "/events.sqlite"
        // Everything behind the schema but the last pages: the tree of the records.
        try self.overwrite(name, from: 10 * 4_096, count: try fileBytes(name) - 12 * 4_096)
        do {
            log = try SQLiteEventLog(in: StoreDirectory(path: path))
        } catch {
            guard case .damaged(name, _) = error else { throw error }
            return
        }
        let open = log
        await #expect(throws: EventLogError.self) {
            var offset: UInt64 = 0
            while offset < 20 {
                let records = try await open.read(lane, after: offset, recordsMax: 20, bytesMax: .max)
                // What is read without an error must be right.
                guard let last = records.last, records.allSatisfy({ $0.bytes == [UInt8](repeating: 1, count: 20_000) })
                else { throw EventLogError.failed("the bytes differ") }
                offset = last.offset
            }
        }
        await log.close()
    }

    private func overwrite(_ name: String, from: Int, count: Int) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: name))
        try handle.seek(toOffset: UInt64(from))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: count))
        try handle.close()
    }
}

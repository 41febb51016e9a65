// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayCore
import GatewayDocuments
import GatewayTestKit
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite(.suiteLimit)
struct ControlServiceTests {
    /// A control service that runs, in a folder of its own.
    private struct Desk: Sendable {
        let directory: String
        let metrics = MetricRegistry()
        let commands = ControlCommands()
        let group: ServiceGroup

        init(in directory: String, times: ControlTimes = ControlTimes()) throws {
            self.directory = directory
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let service = try ControlService(
                directory: directory,
                commands: self.commands,
                times: times,
                metrics: self.metrics,
                logger: logger
            )
            self.group = ServiceGroup(services: [service], logger: logger)
            self.commands.register("echo") { arguments, _ in arguments }
            self.commands.register("count") { arguments, progress in
                for number in 0..<(arguments["to"]?.asInteger ?? 0) { progress(["number": .integer(number)]) }
                return ["counted": true]
            }
        }

        var path: String { self.directory + "/control.sock" }

        /// Asks on a thread that may block.
        func ask(
            _ command: String,
            _ arguments: [String: JSONValue] = [:],
            progress: @escaping @Sendable ([String: JSONValue]) -> Void = { _ in }
        ) async throws -> [String: JSONValue] {
            try await blocking { [directory] in
                try ControlClient(directory: directory, silenceMax: waitMax).ask(command, arguments, progress: progress)
            }
        }
    }

    /// A client that sends what it likes.
    private final class RawClient: Sendable {
        private let socket: UnixSocket
        private let reader = Mutex(ControlLineReader(lineBytesMax: ControlLimits.answerBytesMax))

        init(_ desk: Desk) throws {
            self.socket = try UnixSocket.connected(to: ControlService.fileName, in: desk.directory)
        }

        func send(_ text: String) async throws { try await self.send(Array(text.utf8)) }

        func send(_ bytes: [UInt8]) async throws {
            try await blocking {
                var left = bytes[...]
                while !left.isEmpty {
                    switch self.socket.send(left) {
                    case .bytes(let count): left.removeFirst(count)
                    case .wouldBlock: _ = self.socket.wait(toWrite: true, for: .seconds(600))
                    case .ended: return
                    }
                }
            }
        }

        /// The next line; `nil`: the gateway closed.
        func line() async throws -> String? {
            try await blocking {
                try self.reader.withLock { reader in
                    while true {
                        if let line = try reader.next() { return String(decoding: line, as: UTF8.self) }
                        switch self.socket.receive(into: &reader) {
                        case .bytes: continue
                        case .wouldBlock: _ = self.socket.wait(for: .seconds(600))
                        case .ended: return nil
                        }
                    }
                }
            }
        }
    }

    private func withDesk<Result>(
        in directory: String? = nil,
        times: ControlTimes = .unhurried,
        _ body: (Desk) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cuecast-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let directory = directory.map { folder + "/" + $0 } ?? folder
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let desk = try Desk(in: directory, times: times)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await desk.group.run() }
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body(desk)) } catch { result = .failure(error) }
            await desk.group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }

    @Test func `a command is carried out, with progress on the way`() async throws {
        try await self.withDesk { desk in
            let answer = try await desk.ask("echo", ["text": "ü\n", "list": [1, 2.5, nil, true]])
            #expect(answer == ["text": "ü\n", "list": [1, 2.5, nil, true]])

            let last = Mutex<Int64?>(nil)
            let counted = try await desk.ask("count", ["to": 20]) { progress in
                last.withLock { $0 = progress["number"]?.asInteger }
            }
            #expect(counted == ["counted": true])
            // What a client does not read in time is left out, the newest comes.
            #expect(last.withLock { $0 } == 19)
        }
    }

    @Test func `a failed command has a sentence and an exit code`() async throws {
        struct Fault: Error, CustomStringConvertible { let description = "the disk is full" }
        try await self.withDesk { desk in
            desk.commands.register("fail") { _, _ in throw Fault() }
            desk.commands.register("refuse") { _, _ in throw ControlError("not today", exitCode: 65) }
            let unknown = await #expect(throws: ControlError.self) { try await desk.ask("dance") }
            #expect(unknown?.exitCode == 64)
            #expect(unknown?.sentence.contains("count, echo, fail, refuse") == true)
            let failed = await #expect(throws: ControlError.self) { try await desk.ask("fail") }
            #expect(failed == ControlError("the disk is full", exitCode: 69))
            let refused = await #expect(throws: ControlError.self) { try await desk.ask("refuse") }
            #expect(refused == ControlError("not today", exitCode: 65))
        }
    }

    @Test func `one connection asks again and again, and bad lines do not end it`() async throws {
        try await self.withDesk { desk in
            let client = try RawClient(desk)
            try await client.send(
                "{\"command\":\"echo\",\"a\":1}\nnot json\n[]\n{\"command\":7}\n\n{\"command\":\"echo\"}\n"
            )
            #expect(try await client.line() == #"{"done":{"a":1}}"#)
            #expect(try await client.line() == #"{"error":"the line is not JSON","exitCode":65}"#)
            for _ in 0..<2 { #expect(try await client.line()?.contains("the member \\\"command\\\"") == true) }
            #expect(try await client.line() == #"{"error":"the line is not JSON","exitCode":65}"#)
            #expect(try await client.line() == #"{"done":{}}"#)
        }
    }

    @Test func `only the owner may open the socket, and its file goes with the service`() async throws {
        let path = try await self.withDesk { desk in
            let attributes = try FileManager.default.attributesOfItem(atPath: desk.path)
            #expect(attributes[.type] as? FileAttributeType == .typeSocket)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            return desk.path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `the file that a killed process left is replaced`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cuecast-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Bound and closed, but not taken away, as by kill -9.
        do { _ = try UnixSocket.listening(on: ControlService.fileName, in: folder) }
        #expect(FileManager.default.fileExists(atPath: folder + "/control.sock"))
        let leftover = #expect(throws: ControlError.self) { try ControlClient(directory: folder).ask("echo") }
        #expect(leftover?.exitCode == 69)

        let desk = try Desk(in: folder)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await desk.group.run() }
            let answer = try await desk.ask("echo")
            #expect(answer == [:])
            await desk.group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test(arguments: [1, 60, 107, 108, 200, 1_000])
    func `a data directory may lie at a path of any length`(_ bytes: Int) async throws {
        // Names end at 255 bytes.
        var parts: [String] = []
        var left = bytes
        while left > 0 {
            parts.append(String(repeating: "d", count: min(left, 200)))
            left -= 200
        }
        try await self.withDesk(in: parts.joined(separator: "/")) { desk in
            let answer = try await desk.ask("echo", ["a": 1])
            #expect(answer == ["a": 1])
        }
    }

    @Test func `without a gateway a client says so at once`() {
        let error = #expect(throws: ControlError.self) {
            try ControlClient(directory: "/nonexistent/cuecast").ask("clock")
        }
        #expect(error?.exitCode == 69)
        #expect(error?.sentence.contains("/nonexistent/cuecast") == true)
    }

    @Test func `as many connections as the limit are served, the next one is told`() async throws {
        try await self.withDesk { desk in
            var clients: [RawClient] = []
            for _ in 0..<ControlLimits.connectionsMax {
                let client = try RawClient(desk)
                try await client.send("{\"command\":\"echo\"}\n")
                #expect(try await client.line() == #"{"done":{}}"#)
                clients.append(client)
            }
            let further = try RawClient(desk)
            #expect(try await further.line()?.contains("connectionsMax is 16") == true)
            #expect(try await further.line() == nil)
            #expect(desk.metrics.value(.limitsHit, .limit(.controlConnectionsMax)) == 1)

            clients.removeLast()
            try await until("there is room again") { (try? await desk.ask("echo")) == [:] }
        }
    }

    @Test func `a line of the limit is read, a longer one ends the connection with a sentence`() async throws {
        try await self.withDesk { desk in
            let frame = #"{"command":"echo","t":""}"#.utf8.count
            let text = String(repeating: "x", count: ControlLimits.lineBytesMax - frame)
            let client = try RawClient(desk)
            try await client.send(#"{"command":"echo","t":"\#(text)"}"# + "\n")
            #expect(try await client.line() == #"{"done":{"t":"\#(text)"}}"#)
            try await client.send(#"{"command":"echo","t":"\#(text)x"}"# + "\n")
            #expect(try await client.line()?.contains("lineBytesMax is 65536 bytes") == true)
            #expect(try await client.line() == nil)
            #expect(desk.metrics.value(.limitsHit, .limit(.controlLineBytesMax)) == 1)
        }
    }

    @Test func `an answer of the limit goes out, a longer one becomes a sentence`() async throws {
        try await self.withDesk { desk in
            desk.commands.register("long") { arguments, _ in
                ["t": .string(String(repeating: "x", count: Int(arguments["bytes"]?.asInteger ?? 0)))]
            }
            let frame = Int64(#"{"done":{"t":""}}"#.utf8.count + 1)
            let most = Int64(ControlLimits.answerBytesMax) - frame
            let longest = try await desk.ask("long", ["bytes": .integer(most)])
            #expect(longest["t"]?.asString?.utf8.count == Int(most))
            let error = await #expect(throws: ControlError.self) {
                try await desk.ask("long", ["bytes": .integer(most + 1)])
            }
            #expect(error?.sentence.contains("answerBytesMax") == true)
        }
    }

    @Test func `unread progress is left out, the answer is not`() async throws {
        try await self.withDesk { desk in
            let client = try RawClient(desk)
            try await client.send("{\"command\":\"count\",\"to\":200000}\n{\"command\":\"echo\"}\n")
            var lines = 0
            while let line = try await client.line(), line != #"{"done":{"counted":true}}"# { lines += 1 }
            #expect(lines < 200_000)
            #expect(try await client.line() == #"{"done":{}}"#)
        }
    }

    @Test func `a client that goes away ends its command, one that only stops asking does not`() async throws {
        try await self.withDesk { desk in
            let (cancelled, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
            desk.commands.register("wait") { _, progress in
                progress(["begun": true])
                do {
                    try await Task.sleep(for: .seconds(86_400))
                } catch {
                    sink.finish()
                    throw error
                }
                return [:]
            }
            var client: RawClient? = try RawClient(desk)
            try await client?.send("{\"command\":\"wait\"}\n")
            #expect(try await client?.line() == #"{"progress":{"begun":true}}"#)
            client = nil
            for await _ in cancelled {}
        }
    }

    @Test func `a running command is ended and answered when the gateway stops`() async throws {
        let client = try await self.withDesk { desk in
            desk.commands.register("wait") { _, progress in
                progress(["begun": true])
                try await Task.sleep(for: .seconds(86_400))
                return [:]
            }
            let client = try RawClient(desk)
            try await client.send("{\"command\":\"wait\"}\n")
            #expect(try await client.line() == #"{"progress":{"begun":true}}"#)
            return client
        }
        #expect(try await client.line()?.contains("the gateway stops") == true)
        #expect(try await client.line() == nil)
    }

    @Test func `a client hears that its command still runs`() async throws {
        var times = ControlTimes.unhurried
        times.stillRunningInterval = .milliseconds(5)
        try await self.withDesk(times: times) { desk in
            let (release, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
            desk.commands.register("wait") { _, _ in
                for await _ in release {}
                return [:]
            }
            let client = try RawClient(desk)
            try await client.send("{\"command\":\"wait\"}\n")
            for _ in 0..<3 { #expect(try await client.line() == #"{"progress":{}}"#) }
            sink.finish()
            var line = try await client.line()
            while line == #"{"progress":{}}"# { line = try await client.line() }
            #expect(line == #"{"done":{}}"#)
        }
    }

    @Test func `a client that asks nothing is sent away, and so is one that does not read`() async throws {
        var times = ControlTimes.unhurried
        times.idleTimeout = .milliseconds(20)
        try await self.withDesk(times: times) { desk in
            let idle = try RawClient(desk)
            try await idle.send("{\"comm")
            #expect(try await idle.line() == nil)
            #expect(desk.metrics.value(.limitsHit, .limit(.controlIdleTimeout)) >= 1)
        }

        // Of another service, which waits for as long as it takes to ask.
        times = .unhurried
        times.readTimeout = .milliseconds(20)
        try await self.withDesk(times: times) { desk in
            desk.commands.register("long") { _, _ in ["t": .string(String(repeating: "x", count: 4_000_000))] }
            let deaf = try RawClient(desk)
            try await deaf.send("{\"command\":\"long\"}\n")
            try await until("it is given up") { desk.metrics.value(.limitsHit, .limit(.controlReadTimeout)) == 1 }
            withExtendedLifetime(deaf) {}
        }
    }

    @Test func `a gateway that says nothing is given up`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cuecast-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let listener = try UnixSocket.listening(on: ControlService.fileName, in: folder)
        let error = #expect(throws: ControlError.self) {
            try ControlClient(directory: folder, silenceMax: .milliseconds(10)).ask("clock")
        }
        #expect(error?.sentence.contains("said nothing") == true)
        withExtendedLifetime(listener) {}
    }

    @Test func `random bytes from many clients disturb no other, over 300 connections`() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        try await self.withDesk { desk in
            for round in 0..<300 {
                let client = try RawClient(desk)
                let count = Int.random(in: 0...2_000, using: &random)
                try await client.send((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                if round % 10 == 0 {
                    try await until("the gateway answers others, seed \(seed)") { (try? await desk.ask("echo")) == [:] }
                }
            }
        }
    }
}

/// Runs what may block on a thread of its own.
private func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
    }
}

extension ControlTimes {
    /// No client is sent away because a busy machine took its time.
    fileprivate static var unhurried: ControlTimes {
        var times = ControlTimes()
        times.idleTimeout = .seconds(3_600)
        times.readTimeout = .seconds(3_600)
        times.stillRunningInterval = .seconds(3_600)
        return times
    }
}

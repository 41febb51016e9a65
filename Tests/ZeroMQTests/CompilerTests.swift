// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import TestSupport
import Testing

/// Code that the compiler must refuse, tried with the compiler.
///
/// A program is compiled down to SIL against the modules that this test was built with: races between regions show only
/// there, not when types are checked. The programs that must compile are made of the same parts, so that a broken set-up
/// is not taken for a refusal.
@Suite(.suiteLimit)
struct CompilerTests {
    /// A program of the common part, these statements in an asynchronous function, and these declarations.
    struct Program: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statements: String
        var declarations = ""
        /// A part of the error that must come.
        ///
        /// `nil` for a program that must compile.
        var complaint: String?

        var source: String {
            """
            @testable import ZeroMQ

            actor Owner {
                private let socket: Socket
                init(socket: consuming sending Socket) { self.socket = socket }
                func send() throws { _ = try self.socket.send([1]) }
            }

            final class Holder {
                let socket: Socket
                init(_ socket: consuming sending Socket) { self.socket = socket }
                func send() throws { _ = try self.socket.send([1]) }
            }

            \(self.declarations)

            func test(_ context: Context) async throws {
                let socket = try Socket(.push, in: context)
                \(self.statements)
            }
            """
        }
    }

    static let accepted = [
        Program(testDescription: "a socket used where it was made", statements: "_ = try socket.send([1])"),
        Program(
            testDescription: "a socket handed over to an actor",
            statements: """
                let owner = Owner(socket: socket)
                try await owner.send()
                """
        ),
        Program(
            testDescription: "a socket handed over to a task within an object",
            statements: """
                let holder = Holder(socket)
                try await Task { try holder.send() }.value
                """
        ),
        Program(
            testDescription: "bytes read while they are lent",
            statements: """
                _ = socket.kind
                let message = Message([1])
                let count = message.withBytes { $0.byteCount }
                print(count)
                """
        ),
    ]

    static let refused = [
        Program(
            testDescription: "a socket used after it was handed over to an actor",
            statements: """
                let owner = Owner(socket: socket)
                try await owner.send()
                _ = try socket.send([2])
                """,
            complaint: "'socket' used after consume"
        ),
        Program(
            testDescription: "a socket with two owners",
            statements: """
                let first = Owner(socket: socket)
                let second = Owner(socket: socket)
                try await first.send()
                try await second.send()
                """,
            complaint: "'socket' consumed more than once"
        ),
        Program(
            testDescription: "a socket used by a task and beside it",
            statements: """
                let task = Task { _ = try socket.send([1]) }
                _ = try socket.send([2])
                try await task.value
                """,
            complaint: "risks causing data races"
        ),
        Program(
            testDescription: "a socket used by a task and beside it, within an object",
            statements: """
                let holder = Holder(socket)
                let task = Task { try holder.send() }
                try holder.send()
                try await task.value
                """,
            complaint: "risks causing data races"
        ),
        Program(
            testDescription: "a socket used by two tasks of a group",
            statements: """
                let holder = Holder(socket)
                try await withThrowingTaskGroup { group in
                    group.addTask { try holder.send() }
                    group.addTask { try holder.send() }
                    try await group.waitForAll()
                }
                """,
            complaint: "risks causing data races"
        ),
        Program(
            testDescription: "a socket that everybody can reach",
            statements: "_ = socket.kind",
            declarations: "let everybody: Socket? = nil",
            complaint: "is not concurrency-safe because non-'Sendable' type"
        ),
        Program(
            testDescription: "a socket in a type that claims to be shared safely",
            statements: "_ = socket.kind",
            declarations: """
                final class Shared: Sendable {
                    let socket: Socket
                    init(_ socket: consuming sending Socket) { self.socket = socket }
                }
                """,
            complaint: "'Shared' has non-Sendable type 'Socket'"
        ),
        Program(
            testDescription: "bytes kept beyond their loan",
            statements: """
                _ = socket.kind
                let message = Message([1])
                var kept = RawSpan()
                message.withBytes { kept = $0 }
                print(kept.byteCount)
                """,
            complaint: "lifetime-dependent variable 'kept' escapes its scope"
        ),
    ]

    @Test(arguments: accepted)
    func `safe code compiles`(program: Program) throws {
        let result = try Self.compile(program)
        #expect(result.status == 0, "\(result.diagnostics)")
        #expect(result.diagnostics == "")
    }

    @Test(arguments: refused)
    func `unsafe code does not compile`(program: Program) throws {
        let result = try Self.compile(program)
        #expect(result.status != 0)
        #expect(result.diagnostics.contains(program.complaint ?? "no complaint was named"))
    }

    /// Runs the compiler on a program.
    private static func compile(_ program: Program) throws -> (status: Int32, diagnostics: String) {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let directory = FileManager.default.temporaryDirectory.appending(path: "cuecast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let source = directory.appending(path: "Program.swift")
        try program.source.write(to: source, atomically: true, encoding: .utf8)

        // One statement each: the compiler takes seconds to find the types of all of it in one expression.
        var command = [
            "env", "swiftc", "-emit-sil", "-o", "/dev/null", "-module-name", "Program", "-parse-as-library",
            "-swift-version", "6", "-I", products.appending(path: "Modules").path,
        ]
        for module in ["CZeroMQ", "CSystemSupport"] {
            command += ["-Xcc", "-fmodule-map-file=\(root.appending(path: "Sources/\(module)/module.modulemap").path)"]
        }
        for feature in ["NonisolatedNonsendingByDefault", "ExistentialAny", "InternalImportsByDefault"] {
            command += ["-enable-upcoming-feature", feature]
        }
        command.append(source.path)
        let compiler = try ChildProcess(command, errors: .pipe)
        let diagnostics = compiler.allErrors()
        let status = compiler.wait()
        // What `env` answers when there is no such command.
        if status == 127 { try Test.cancel("no swiftc on PATH") }
        return (status, diagnostics)
    }
}

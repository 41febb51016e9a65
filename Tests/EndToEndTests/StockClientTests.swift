// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastBroadcast
import Foundation
import Gateway
import GatewayHTTP
import GatewayTestKit
import Testing

/// The listener of `Examples/pyzmq`, which knows nothing of our libraries.
@Suite(.timeLimit(.minutes(3)))
struct StockClientTests {
    /// The package's folder, beside this file.
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let python = URL(fileURLWithPath: "/usr/bin/python3")
    private static let env = URL(fileURLWithPath: "/usr/bin/env")

    /// What is missing to run the example; `nil`: nothing.
    private func missing() async throws -> String? {
        guard FileManager.default.isExecutableFile(atPath: Self.python.path) else { return "no /usr/bin/python3" }
        let modules = try RunningProcess(Self.python, ["-c", "import zmq, google.protobuf"])
        guard try await modules.end() == .exited(0) else { return "python3-zmq or python3-protobuf is not installed" }
        let compiler = try RunningProcess(Self.env, ["protoc", "--version"])
        guard try await compiler.end() == .exited(0) else { return "protoc is not installed" }
        return nil
    }

    @Test func `thirty lines of Python with generated code join, receive, fetch and acknowledge`() async throws {
        if let missing = try await self.missing() { try Test.cancel("\(missing)") }
        try await withTemporaryFolder { folder in
            let generated = folder.appending(path: "generated")
            try FileManager.default.createDirectory(at: generated, withIntermediateDirectories: true)
            let proto = Self.root.appending(path: "proto")
            let files = try FileManager.default.contentsOfDirectory(atPath: proto.appending(path: "cuecast/v1").path)
                .filter { $0.hasSuffix(".proto") }
            let protoc = try RunningProcess(
                Self.env,
                ["protoc", "-I\(proto.path)", "--python_out=\(generated.path)"] + files.map { "cuecast/v1/\($0)" },
                folder: proto
            )
            #expect(try await protoc.end() == .exited(0), "\(protoc.standardError)")

            let gateway = try await ServedGateway(dataFolder: folder.appending(path: "data"))
            let script = try RunningProcess(
                Self.python,
                [
                    Self.root.appending(path: "Examples/pyzmq/listener.py").path, "--stream", "radio1",
                    "--notices", gateway.endpoints.notices, "--requests", gateway.endpoints.requests,
                ],
                environment: RunningProcess.plainEnvironment.merging(["PYTHONPATH": generated.path]) { $1 }
            )
            // It finds the break whether it joins before or after.
            let broadcaster = gateway.broadcasting
            defer { broadcaster.close() }
            _ = try await broadcaster.publish(.short("noon", start: .in(.seconds(30))))
            #expect(try await script.end() == .exited(0), "\(script.standardError)")
            struct Result: Decodable {
                struct Advertisement: Decodable {
                    let id: String
                    let title: String
                    let seconds: Double
                }

                let `break`: String
                let sequence: Int
                let recorded: Int
                let advertisements: [Advertisement]
            }
            let result = try JSONDecoder().decode(Result.self, from: Data(script.standardOutput.utf8))
            #expect(result.break == "noon")
            #expect(result.sequence == 1)
            #expect(result.recorded == 2)
            #expect(result.advertisements.map(\.id) == ["a", "b"])
            #expect(result.advertisements.map(\.seconds) == [1, 1])
            let books = try await gateway.books("what the script said") { $0.total.played == 2 }
            #expect(books.total.delivered == 2)
            try await gateway.stop()
        }
    }
}

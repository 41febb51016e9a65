// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Foundation
package import Gateway

/// The program `cuecast`, as it was built with the tests.
package enum CuecastProgram {
    /// Where it is: beside the tests, or where `CUECAST_BIN` says.
    package static var url: URL {
        if let path = ProcessInfo.processInfo.environment["CUECAST_BIN"] { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "cuecast")
    }

    /// What a run of a command left.
    package struct Finished: Sendable {
        package let end: RunningProcess.End
        package let output: String
        package let error: String

        /// The exit code; -1 where a signal ended it.
        package var code: Int32 {
            guard case .exited(let code) = self.end else { return -1 }
            return code
        }
    }

    /// Runs a command to its end.
    package static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        within limit: Duration = .seconds(60)
    ) async throws -> Finished {
        let process = try RunningProcess(
            Self.url,
            arguments,
            environment: RunningProcess.plainEnvironment.merging(environment) { $1 }
        )
        let end = try await process.end(within: limit)
        return Finished(end: end, output: process.standardOutput, error: process.standardError)
    }
}

/// A gateway in a process of its own: `cuecast serve`.
package final class ServedGateway: Sendable {
    package let process: RunningProcess
    package let endpoints: Gateway.Endpoints
    /// HOST:PORT, or `none`.
    package let http: String
    package let instance: String

    /// Starts a gateway on a data folder and waits until it is ready.
    ///
    /// - Parameters:
    ///   - folder: its data folder.
    ///   - arguments: more flags for `serve`; they go before the ones given here.
    ///   - endpoints: where to bind; `nil`: ports of the system's choice.
    /// - Throws: when it does not become ready.
    package init(
        dataFolder folder: URL,
        arguments: [String] = [],
        at endpoints: Gateway.Endpoints? = nil
    ) async throws {
        let free = "tcp://127.0.0.1:*"
        self.process = try RunningProcess(
            CuecastProgram.url,
            [
                "serve", "--data-dir", folder.path, "--notices", endpoints?.notices ?? free,
                "--requests", endpoints?.requests ?? free, "--broadcast", endpoints?.broadcast ?? free,
                "--http", "127.0.0.1:0", "--set", "logLevel=notice",
            ] + arguments
        )
        let words = try await self.process.line().split(separator: " ")
        let facts = Dictionary(
            words.dropFirst()
                .compactMap { word -> (String, String)? in
                    word.firstIndex(of: "=").map { (String(word[..<$0]), String(word[word.index(after: $0)...])) }
                },
            uniquingKeysWith: { first, _ in first }
        )
        guard words.first == "ready", let notices = facts["notices"], let requests = facts["requests"],
            let broadcast = facts["broadcast"], let http = facts["http"], let instance = facts["instance"]
        else { throw PeerError.unexpected("the ready line \(words.joined(separator: " "))") }
        self.endpoints = Gateway.Endpoints(notices: notices, requests: requests, broadcast: broadcast)
        self.http = http
        self.instance = instance
    }

    /// The flags that tell a client command where this gateway is.
    package var flags: [String] {
        [
            "--notices", self.endpoints.notices, "--requests", self.endpoints.requests,
            "--broadcast", self.endpoints.broadcast, "--http", self.http,
        ]
    }

    /// Stops it as an operator would.
    ///
    /// - Throws: when it does not end with exit code 0.
    package func stop() async throws {
        self.process.signal(SIGTERM)
        let end = try await self.process.end()
        guard end == .exited(0) else {
            throw PeerError.unexpected("the end \(end) after SIGTERM; it said: \(self.process.standardError)")
        }
    }

    /// Ends it at once, without a chance to tidy up.
    package func kill() async throws {
        self.process.signal(SIGKILL)
        try await self.process.end()
    }

    /// A listener whose subscription has taken effect.
    package func listener(
        of stream: String = "radio1",
        session: SessionID = .random(),
        in network: PeerNetwork
    ) async throws -> RawListener {
        try await RawListener.subscribed(to: StreamID(stream), at: self.endpoints, session: session, in: network)
    }

    /// A broadcaster.
    package func broadcaster(in network: PeerNetwork) async throws -> RawBroadcaster {
        try await RawBroadcaster(connectedTo: self.endpoints.broadcast, in: network)
    }
}

/// Makes a folder of its own for `body`, and removes it afterwards.
package func withTemporaryFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import JetStreamLog
import Synchronization
import TestSupport

/// Servers of NATS that a test starts, kills, and starts again: alone, or as a cluster of three.
///
/// They end with this object, and with the test process, in every case.
final class NATSServers: Sendable {
    struct NoServer: Error, CustomStringConvertible {
        let path: String
        var description: String { "There is no \(self.path): scripts/setup.sh test installs it." }
    }

    private struct Server {
        let client: HeldPort
        let route: HeldPort
        let folder: String
    }

    /// One server for all tests that kill none.
    static let alone = Result { try NATSServers(count: 1) }
    /// Three servers for all tests that kill none.
    static let three = Result { try NATSServers(count: 3) }

    /// Starts the server, and kills it when the other end of standard input is closed.
    private static let script = #""$0" -c "$1" >>"$2" 2>&1 & cat >/dev/null; kill -9 $!; wait"#

    private let directory: TemporaryDirectory
    private let servers: [Server]
    private let more: String
    private let answerWithin: Duration
    private let running: Mutex<[Int: ChildProcess]> = Mutex([:])

    /// - Parameters:
    ///   - count: how many; several are a cluster.
    ///   - more: lines for the configuration of each.
    ///   - answerWithin: how long an answer may take: long, unless the test kills servers and waits for what becomes of that.
    /// - Throws: `NoServer`, or why one cannot be started.
    init(count: Int, more: String = "", answerWithin: Duration = .seconds(60)) throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        self.more = more
        self.answerWithin = answerWithin
        self.servers = try (0..<count)
            .map { place in
                let folder = directory.path + "/\(place)"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                return Server(client: try HeldPort(), route: try HeldPort(), folder: folder)
            }
        for place in 0..<count { try self.start(place) }
    }

    deinit {
        for child in self.running.withLock({ $0.values }) {
            child.closeInput()
            _ = child.wait()
        }
    }

    var count: Int { self.servers.count }

    /// Where clients connect.
    var addresses: [String] { self.servers.map { "nats://127.0.0.1:\($0.client.number)" } }

    /// How tests reach them.
    var access: NATSAccess {
        var access = NATSAccess(servers: self.addresses)
        access.answerWithin = self.answerWithin
        // However busy the machine is.
        access.connectWithin = TestPatience.condition
        return access
    }

    /// The name of a server in what the servers say.
    func name(_ place: Int) -> String { "server-\(place)" }

    /// The folder with a server's streams.
    func streamFolder(_ place: Int) -> String { self.servers[place].folder + "/jetstream" }

    func start(_ place: Int) throws {
        let server = self.servers[place]
        let path = try Self.program()
        var lines = [
            "server_name: \(self.name(place))",
            "listen: \"127.0.0.1:\(server.client.number)\"",
            "max_payload: 8MB",
            "jetstream { store_dir: \"\(server.folder)\", sync_interval: always }",
            self.more,
        ]
        if self.servers.count > 1 {
            let routes = self.servers.map { "\"nats://127.0.0.1:\($0.route.number)\"" }.joined(separator: ", ")
            lines.append(
                "cluster { name: tests, listen: \"127.0.0.1:\(server.route.number)\", routes: [\(routes)] }"
            )
        }
        let file = server.folder + ".conf"
        try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let child = try ChildProcess(["sh", "-c", Self.script, path, file, server.folder + ".log"], input: .pipe)
        self.running.withLock { $0[place] = child }
    }

    /// Ends a server by SIGKILL.
    func kill(_ place: Int) {
        guard let child = self.running.withLock({ $0.removeValue(forKey: place) }) else { return }
        child.closeInput()
        _ = child.wait()
    }

    /// Ends the server of a name.
    ///
    /// - Returns: its place; `nil`: there is none of that name.
    func kill(named name: String?) -> Int? {
        guard let place = self.servers.indices.first(where: { self.name($0) == name }) else { return nil }
        self.kill(place)
        return place
    }

    private static func program() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let path = root.appendingPathComponent(".venv/bin/nats-server").path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw NoServer(path: path) }
        return path
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CuecastWire
import Foundation
import Logging

/// Where the gateway is, for commands that talk to one.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's host, with the usual ports 7400, 7401, 7402 and 7480. [CUECAST_GATEWAY]")
    var gateway: String?

    @Option(help: "Where notices are published, as tcp://HOST:PORT. [CUECAST_NOTICES]")
    var notices: String?

    @Option(help: "Where listeners ask, as tcp://HOST:PORT. [CUECAST_REQUESTS]")
    var requests: String?

    @Option(help: "Where broadcasters publish, as tcp://HOST:PORT. [CUECAST_BROADCAST]")
    var broadcast: String?

    @Option(help: "Where operators look, as HOST:PORT. [CUECAST_HTTP]")
    var http: String?

    private var host: String {
        self.gateway ?? Self.environment("CUECAST_GATEWAY") ?? "127.0.0.1"
    }

    var noticesEndpoint: String {
        self.notices ?? Self.environment("CUECAST_NOTICES") ?? "tcp://\(self.host):7400"
    }

    var requestsEndpoint: String {
        self.requests ?? Self.environment("CUECAST_REQUESTS") ?? "tcp://\(self.host):7401"
    }

    var broadcastEndpoint: String {
        self.broadcast ?? Self.environment("CUECAST_BROADCAST") ?? "tcp://\(self.host):7402"
    }

    var httpAddress: String {
        self.http ?? Self.environment("CUECAST_HTTP") ?? "\(self.host):7480"
    }

    /// Commands say what went wrong by themselves.
    static var quietLogger: Logger {
        Logger(label: "cuecast") { _ in SwiftLogNoOpLogHandler() }
    }

    private static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// A duration as people write it: `250ms`, `10s`, `1m30s`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }
}

/// The exit codes that scripts rely on (as BSD's sysexits.h has them).
enum CommandExit {
    /// 65: the data is wrong.
    static let badData = ExitCode(65)
    /// 69: the gateway is not available.
    static let unavailable = ExitCode(69)
    /// 74: the event log failed; a new start tells what its file holds.
    static let logFailed = ExitCode(74)
    /// 77: the sender may not do this.
    static let notAllowed = ExitCode(77)
}

/// Writes a line for people to standard error.
func complain(_ sentence: String) {
    FileHandle.standardError.write(Data("cuecast: \(sentence)\n".utf8))
}

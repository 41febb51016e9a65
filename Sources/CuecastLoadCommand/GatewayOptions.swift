// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import Foundation

/// Where the gateway is: the same names and variables as of `cuecast`.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's host, with the usual ports 7400, 7401, 7402 and 7480. [CUECAST_GATEWAY]")
    var gateway: String?

    @Option(help: "Where notices are published, as tcp://HOST:PORT. [CUECAST_NOTICES]")
    var notices: String?

    @Option(help: "Where listeners ask, as tcp://HOST:PORT. [CUECAST_REQUESTS]")
    var requests: String?

    @Option(help: "Where broadcasters publish, as tcp://HOST:PORT. [CUECAST_BROADCAST]")
    var broadcast: String?

    @Option(help: "Where the gateway's report is, as HOST:PORT or http://HOST:PORT, or none. [CUECAST_HTTP]")
    var http: String?

    private var host: String { self.gateway ?? Self.environment("CUECAST_GATEWAY") ?? "127.0.0.1" }

    var noticesEndpoint: String { self.notices ?? Self.environment("CUECAST_NOTICES") ?? "tcp://\(self.host):7400" }

    var requestsEndpoint: String { self.requests ?? Self.environment("CUECAST_REQUESTS") ?? "tcp://\(self.host):7401" }

    var broadcastEndpoint: String {
        self.broadcast ?? Self.environment("CUECAST_BROADCAST") ?? "tcp://\(self.host):7402"
    }

    /// As it was asked for; `nil` where nobody did.
    var httpAsked: String? { self.http ?? Self.environment("CUECAST_HTTP") }

    var httpAddress: String { self.httpAsked ?? "\(self.host):7480" }

    private static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ArgumentParser
import CuecastWire
import Foundation

/// Where the gateway is, for commands that talk to one.
package struct GatewayOptions: ParsableArguments {
    @Option(
        help: """
            The gateway's host, with the usual ports 7400, 7401, 7402 and 7480; goes before all CUECAST_… variables. \
            [CUECAST_GATEWAY]
            """
    )
    package var gateway: String?

    @Option(help: "Where notices are published, as tcp://HOST:PORT. [CUECAST_NOTICES]")
    package var notices: String?

    @Option(help: "Where listeners ask, as tcp://HOST:PORT. [CUECAST_REQUESTS]")
    package var requests: String?

    @Option(help: "Where broadcasters publish, as tcp://HOST:PORT. [CUECAST_BROADCAST]")
    package var broadcast: String?

    @Option(help: "Where operators look, as HOST:PORT, https://HOST:PORT, or none. [CUECAST_HTTP]")
    package var http: String?

    package init() {}

    /// A bad address is told before anything is done.
    package func validate() throws {
        if let fault = self.addresses.faultOfFlags { throw ValidationError(fault.description) }
    }

    private var addresses: GatewayAddresses {
        var flags: [GatewayAddresses.Socket: String] = [:]
        flags[.notices] = self.notices
        flags[.requests] = self.requests
        flags[.broadcast] = self.broadcast
        flags[.http] = self.http
        return GatewayAddresses(
            gateway: self.gateway,
            flags: flags,
            environment: ProcessInfo.processInfo.environment
        )
    }

    /// Where notices are published.
    package var noticesEndpoint: String { get throws { try self.endpoint(.notices) } }

    /// Where listeners ask.
    package var requestsEndpoint: String { get throws { try self.endpoint(.requests) } }

    /// Where broadcasters publish.
    package var broadcastEndpoint: String { get throws { try self.endpoint(.broadcast) } }

    /// Where operators look; `nil`: nowhere.
    package var httpAddress: HTTPAddress? {
        get throws {
            guard case .address(let address, let scheme) = try self.answer(of: .http) else { return nil }
            return HTTPAddress(scheme, address)
        }
    }

    /// Whether the address for HTTP was given.
    package var isHTTPNamed: Bool { self.addresses.isNamed(.http) }

    private func endpoint(_ socket: GatewayAddresses.Socket) throws -> String {
        guard case .address(let address, _) = try self.answer(of: socket) else {
            throw ValidationError("\(socket.option) is needed here.")
        }
        return address.endpoint
    }

    private func answer(of socket: GatewayAddresses.Socket) throws -> GatewayAddresses.Answer {
        do {
            return try self.addresses.address(of: socket)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

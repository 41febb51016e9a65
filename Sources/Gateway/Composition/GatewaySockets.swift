// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import SystemSupport
import ZeroMQ

/// The sockets of a gateway, bound: all of them, or none.
struct GatewaySockets: ~Copyable {
    let broadcast: BroadcastSockets
    /// The endpoints for listeners; open until a loop of the edge has them and ends.
    let listenerEndpoints: [EdgeEndpoint]
    /// The addresses of all endpoints; ports that were left to the system are filled in.
    let endpoints: Gateway.Endpoints

    /// Binds them.
    ///
    /// - Parameters:
    ///   - configuration: says where.
    ///   - context: where the broadcasters' sockets live.
    ///   - keys: encrypt, where they are set.
    ///   - budget: how many may connect.
    ///   - common: the parts that every part uses.
    /// - Throws: for instance where an address is in use.
    init(
        _ configuration: GatewayConfiguration,
        in context: Context,
        keys: KeyParts,
        budget: ConnectionBudget,
        common: CommonParts
    ) throws {
        let broadcast = try BroadcastSockets(
            in: context,
            configuration,
            keys: keys.broadcasters?.keys,
            budget: budget,
            common: common
        )
        let origins = keys.webSocketOrigins
        let webSocket = WebSocketEndpoint(path: configuration.webSocketPath) { origins.admits($0, host: $1) }
        let listening = try EdgeEndpoint.open(
            [
                (configuration.notices, label: .notices, webSocket: nil),
                (configuration.requests, label: .requests, webSocket: nil),
            ] + (configuration.webSocket.map { [("tcp://" + $0, label: .webSocket, webSocket: webSocket)] } ?? []),
            identity: keys.listeners,
            balancers: configuration.balancers
        )
        let broadcastEndpoint: String
        do {
            broadcastEndpoint = try broadcast.requests.bind(configured: configuration.broadcast)
        } catch {
            for each in listening { each.endpoint.close() }
            throw error
        }
        self.broadcast = broadcast
        self.listenerEndpoints = listening.map(\.endpoint)
        self.endpoints = Gateway.Endpoints(
            notices: listening[0].address,
            requests: listening[1].address,
            broadcast: broadcastEndpoint,
            webSocket: listening.dropFirst(2).first
                .map { each in
                    (keys.listeners == nil ? "ws://" : "wss://") + each.address.dropFirst("tcp://".count)
                        + configuration.webSocketPath
                }
        )
    }
}

extension EdgeEndpoint {
    /// How many connections wait at an endpoint to be accepted: they take no descriptor yet.
    private static let backlog: Int32 = 4_096

    /// Opens the endpoints for listeners: all, or none.
    ///
    /// - Parameters:
    ///   - wanted: the addresses as the configuration has them (`tcp://HOST:PORT`), with the metric label of their connections,
    ///     and the requests that they serve over WebSocket.
    ///   - identity: the certificate, where they speak TLS.
    ///   - balancers: the load balancers in front of them; `nil`: none.
    /// - Returns: the endpoints with their addresses: a port that was left to the system is filled in.
    /// - Throws: for instance where an address is in use.
    static func open(
        _ wanted: [(configured: String, label: MetricLabel, webSocket: WebSocketEndpoint?)],
        identity: EndpointIdentity?,
        balancers: Balancers?
    ) throws -> [(endpoint: EdgeEndpoint, address: String)] {
        var endpoints: [(endpoint: EdgeEndpoint, address: String)] = []
        do {
            for each in wanted {
                endpoints.append(try Self.open(each.configured, each.label, identity, balancers, each.webSocket))
            }
        } catch {
            for each in endpoints { each.endpoint.close() }
            throw error
        }
        return endpoints
    }

    private static func open(
        _ configured: String,
        _ label: MetricLabel,
        _ identity: EndpointIdentity?,
        _ balancers: Balancers?,
        _ webSocket: WebSocketEndpoint?
    ) throws -> (endpoint: EdgeEndpoint, address: String) {
        let address = try NetworkAddress(endpoint: configured, for: .bind)
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try System.listen(
                host: address.host,
                port: address.port,
                backlog: Self.backlog
            )
        } catch {
            throw SystemCallError(operation: "binding \(configured)", code: error.code)
        }
        let host = address.host == "*" ? "0.0.0.0" : address.host == "localhost" ? "127.0.0.1" : address.host
        let written = host.contains(":") ? "[\(host)]" : host
        return (
            EdgeEndpoint(
                descriptor: descriptor,
                label: label,
                identity: identity,
                balancers: balancers,
                webSocket: webSocket
            ),
            "tcp://\(written):\(System.port(of: descriptor))"
        )
    }
}

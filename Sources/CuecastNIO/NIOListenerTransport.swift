// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) public import Cuecast
internal import NIOCore

/// Connects listeners to a gateway by TCP, TLS or WebSocket without libzmq: one connection, and a second one for notices where the client
/// wants two (``ListenerConfiguration/connections``) or the gateway cannot send notices on the first.
///
/// ```swift
/// let client = try CuecastClient(configuration: configuration, transport: NIOListenerTransport())
/// ```
///
/// Addresses are `tcp://HOST:PORT`, and `tls://HOST:PORT` for TLS 1.2 and 1.3, where the gateway must show a certificate that
/// ``GatewayTrust`` takes. `ws://HOST/PATH` and `wss://HOST/PATH` are for networks that let nothing else through: the same by WebSocket
/// (RFC 6455, RFC 45), in plain text and by TLS. One transport serves any number of clients.
///
/// A gateway that says nothing for 20 s is asked for a sign of life, and is taken for gone after 20 s more. A gateway that sends
/// notices on the connection says something more often than that.
public final class NIOListenerTransport: ListenerTransport {
    private let runtime: NIORuntime
    private let connector: PlatformConnector
    private let timings: LinkTimings

    /// Its connections take notices too.
    @_spi(Transports) public var takesPush: Bool { true }

    /// A transport on the thread of `runtime`.
    ///
    /// - Parameters:
    ///   - trust: how to verify the gateway's identity where an address begins with `tls://` or `wss://`.
    ///   - runtime: the runtime whose thread serves the connections.
    public convenience init(trust: GatewayTrust = GatewayTrust(), runtime: NIORuntime = .shared) {
        self.init(trust: trust, runtime: runtime, timings: LinkTimings())
    }

    /// A transport with timings of its own.
    init(trust: GatewayTrust, runtime: NIORuntime, timings: LinkTimings) {
        self.runtime = runtime
        self.connector = PlatformConnector(trust)
        self.timings = timings
    }

    /// Begins to make one connection, and returns at once.
    ///
    /// - Parameters:
    ///   - gateway: two addresses, each `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST/PATH` or `wss://HOST/PATH`.
    ///   - receive: is told everything about this connection, on the runtime's thread.
    /// - Returns: The connection, which need not be made yet.
    @_spi(Transports) public func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        let endpoints: (requests: GatewayEndpoint, notices: GatewayEndpoint)
        do throws(GatewayEndpoint.Invalid) {
            endpoints = (try GatewayEndpoint(gateway.requests), try GatewayEndpoint(gateway.notices))
        } catch {
            receive(.closed(reason: error.description))
            return ClosedConnection()
        }
        guard let loop = self.runtime.loop() else {
            receive(.closed(reason: "the runtime is shut down"))
            return ClosedConnection()
        }
        return ListenerConnectionNIO(
            on: loop,
            connector: self.connector,
            timings: self.timings,
            requests: endpoints.requests,
            notices: endpoints.notices,
            receive: receive
        )
    }

    #if canImport(Network)
    /// Tells of the paths that the system has to the network.
    @_spi(Transports) public func watchNetwork(changed: @escaping @Sendable (_ isAvailable: Bool) -> Void) -> (
        any NetworkWatch
    )? {
        NetworkPathWatch(changed: changed)
    }
    #endif
}

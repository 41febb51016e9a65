// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// A connection to a server, by TCP or TLS.
enum ByteConnection {
    /// The most addresses of a host that are tried.
    private static let addressesMax = 8

    /// Connects to one of several addresses.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of the host, tried one after the other.
    ///   - port: The port.
    ///   - serverName: The name that the certificate must have; `nil`: the connection is not encrypted.
    ///   - roots: The certificates (PEM) that it is checked against; `nil`: the system's.
    ///   - connectTimeMax: How long each address is tried.
    ///   - silenceMax: How long nothing may come until this is said.
    ///   - now: The time, in milliseconds since 1970.
    /// - Returns: The connection.
    /// - Throws: ``CueRefusal`` where none can be reached.
    static func open(
        to addresses: [HostAddress],
        port: Int,
        serverName: String?,
        roots: [UInt8]?,
        connectTimeMax: Duration,
        silenceMax: Duration,
        now: @escaping @Sendable () -> Int
    ) async throws(CueRefusal) -> NIOAsyncChannel<Arrival, ByteBuffer> {
        let context: NIOSSLContext?
        do {
            // Here, because the system's certificates are a file, which is not read on the loop.
            context = try serverName.map { _ in try Self.context(roots) }
        } catch {
            throw CueRefusal(.unreachable, "The certificates to check the server's cannot be read: \(error).")
        }
        var failure = CueRefusal(.unreachable, "The host has no address.")
        for address in addresses.prefix(Self.addressesMax) {
            do {
                let place = try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: port)
                return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connectTimeout(TimeAmount(connectTimeMax))
                    .connect(to: place) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            let pipeline = channel.pipeline.syncOperations
                            if let context {
                                try pipeline.addHandler(try Self.client(context, serverName))
                            }
                            try pipeline.addHandlers([
                                IdleStateHandler(readTimeout: TimeAmount(silenceMax)), ArrivalHandler(now: now),
                            ])
                            return try NIOAsyncChannel<Arrival, ByteBuffer>(wrappingChannelSynchronously: channel)
                        }
                    }
            } catch {
                failure = CueRefusal(.unreachable, "The server cannot be reached: \(error).")
            }
        }
        throw failure
    }

    private static func context(_ roots: [UInt8]?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let roots { configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(roots)) }
        configuration.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: configuration)
    }

    private static func client(_ context: NIOSSLContext, _ name: String?) throws -> NIOSSLClientHandler {
        // An address is no server name; the certificate is compared with the address then.
        let isAddress = name.map { (try? SocketAddress(ipAddress: $0, port: 0)) != nil } ?? true
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : name)
    }
}

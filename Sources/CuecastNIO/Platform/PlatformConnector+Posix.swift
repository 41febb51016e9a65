// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if !canImport(Network)
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Makes channels where the system has sockets only: NIOPosix and NIOSSL.
struct PlatformConnector: Sendable {
    /// How long a peer may take to say goodbye to a TLS connection that ends.
    private static let goodbyeMax = TimeAmount.milliseconds(100)

    private let trust: GatewayTrust
    private let contexts = ContextCache()

    init(_ trust: GatewayTrust) {
        self.trust = trust
    }

    /// One thread with one loop.
    static func makeGroup() -> any EventLoopGroup { MultiThreadedEventLoopGroup(numberOfThreads: 1) }

    /// The handshake of TLS comes after a channel is there, and what it shows is looked at then.
    var inspectsLater: Bool { true }

    /// Makes a channel, which `finish` makes ready to use.
    func connect(
        to endpoint: GatewayEndpoint,
        on loop: any EventLoop,
        connectMax: TimeAmount,
        isMade: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let connect: @Sendable () -> EventLoopFuture<any Channel> = {
            let bootstrap = ClientBootstrap(group: loop)
                .connectTimeout(connectMax)
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .channelOption(.writeBufferWaterMark, value: SendLimits.waterMark)
                .channelInitializer(isMade)
            // A name is looked up on a queue of its own, which an address does not need.
            if let address = try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port) {
                return bootstrap.connect(to: address)
            }
            return bootstrap.connect(host: endpoint.host, port: endpoint.port)
        }
        guard endpoint.isEncrypted else { return connect() }
        // The system's roots are a file: it is not read on the loop.
        let isReady = loop.makePromise(of: Void.self)
        isReady.completeWithTask { [contexts, trust] in try contexts.make(for: trust) }
        return isReady.futureResult.flatMap(connect)
    }

    /// Puts what speaks on a channel that `connect` made.
    func finish(_ channel: any Channel, to endpoint: GatewayEndpoint?, link: LinkHandler) throws {
        if let endpoint, endpoint.isEncrypted, let context = self.contexts.context {
            // An address is no server name; the certificate is compared with the address then.
            let isAddress = (try? SocketAddress(ipAddress: endpoint.host, port: 0)) != nil
            let encryption = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : endpoint.host)
            try channel.pipeline.syncOperations.addHandler(encryption)
        }
        try channel.pipeline.syncOperations.addHandler(link)
    }

    /// Why the peer of an encrypted channel is not to be talked to; `nil`: it is.
    func refusal(of channel: any Channel) -> String? {
        guard !self.trust.pins.isEmpty else { return nil }
        let certificate = Self.certificate(of: channel).flatMap { try? $0.toDERBytes() }
        guard let certificate, self.trust.allows(keyOf: certificate) else {
            return "the gateway's certificate has another key than the pinned ones"
        }
        return nil
    }

    private static func certificate(of channel: any Channel) -> NIOSSLCertificate? {
        (try? channel.pipeline.syncOperations.handler(type: NIOSSLHandler.self))?.peerCertificate
    }

    /// A short sentence for an error.
    static func sentence(of error: any Error, on channel: (any Channel)?) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first { return self.sentence(of: first.error, on: channel) }
            return "the host \(error.host) is not known"
        case let error as IOError: return self.sentence(ofCode: error.errnoCode)
        case ChannelError.connectTimeout: return "the gateway cannot be reached: the connection timed out"
        case let error as PEMCertificates.Invalid: return error.description
        case NIOSSLError.uncleanShutdown, is NIOSSLCloseTimedOutError: return "the gateway closed the connection"
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "the gateway's certificate is for another host"
        case NIOSSLError.handshakeFailed(let failure): return self.sentence(of: failure, on: channel)
        case let error as BoringSSLError: return self.sentence(of: error, on: channel)
        default: return "the connection failed: \(error)"
        }
    }

    private static func sentence(ofCode code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "the gateway cannot be reached: the connection was refused"
        case ETIMEDOUT: "the gateway cannot be reached: the connection timed out"
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: "the gateway cannot be reached: there is no way to it"
        case ECONNRESET, EPIPE: "the gateway closed the connection"
        default: "the connection failed: error \(code)"
        }
    }

    /// The library tells in its own words only that a certificate is not good; why is in the certificate.
    private static func sentence(of failure: BoringSSLError, on channel: (any Channel)?) -> String {
        let text = "\(failure)"
        guard text.contains("CERTIFICATE_VERIFY_FAILED") else {
            return "the TLS handshake failed: \(text.prefix(200))"
        }
        guard let certificate = channel.flatMap({ self.certificate(of: $0) }) else {
            return "the gateway's certificate is not trusted"
        }
        let now = time(nil)
        if certificate.notValidAfter < now { return "the gateway's certificate has expired" }
        if certificate.notValidBefore > now { return "the gateway's certificate is not valid yet" }
        return "the gateway's certificate is not trusted"
    }

    /// The TLS contexts that all connections of a transport share, made once.
    private final class ContextCache: Sendable {
        private let made = Mutex<NIOSSLContext?>(nil)

        var context: NIOSSLContext? { self.made.withLock { $0 } }

        /// Reads the roots where that was not done yet.
        func make(for trust: GatewayTrust) throws {
            guard self.context == nil else { return }
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.shutdownTimeout = PlatformConnector.goodbyeMax
            if case .certificates(let pem) = trust.roots {
                configuration.trustRoots = .certificates(
                    try PEMCertificates.der(pem).map { try NIOSSLCertificate(bytes: $0, format: .der) }
                )
            }
            let context = try NIOSSLContext(configuration: configuration)
            self.made.withLock { $0 = $0 ?? context }
        }
    }
}
#endif

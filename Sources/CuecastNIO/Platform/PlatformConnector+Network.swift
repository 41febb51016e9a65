// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Network)
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOTransportServices
internal import Network
internal import Security

/// Makes channels on Apple's systems: Network.framework, by NIOTransportServices.
struct PlatformConnector: Sendable {
    /// Where certificates are judged, which may ask the network.
    private static let trustQueue = DispatchQueue(label: "cuecast.trust")

    private let trust: GatewayTrust

    init(_ trust: GatewayTrust) {
        self.trust = trust
    }

    /// One loop on a queue of the system's.
    static func makeGroup() -> any EventLoopGroup { NIOTSEventLoopGroup(loopCount: 1) }

    /// A channel is there only when its peer was looked at.
    var inspectsLater: Bool { false }

    /// Makes a channel, which `finish` makes ready to use.
    func connect(
        to endpoint: GatewayEndpoint,
        on loop: any EventLoop,
        connectMax: TimeAmount,
        isMade: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let tcp = NWProtocolTCP.Options()
        tcp.enableKeepalive = true
        tcp.noDelay = true
        var bootstrap = NIOTSConnectionBootstrap(group: loop)
            .tcpOptions(tcp)
            .connectTimeout(connectMax)
            // The client waits by itself, and says meanwhile that there is no network.
            .channelOption(NIOTSChannelOptions.waitForActivity, value: false)
            .channelOption(.writeBufferWaterMark, value: SendLimits.waterMark)
            .channelInitializer(isMade)
        if endpoint.isEncrypted {
            do {
                bootstrap = bootstrap.tlsOptions(try self.tlsOptions(for: endpoint.host))
            } catch {
                return loop.makeFailedFuture(error)
            }
        }
        return bootstrap.connect(host: endpoint.host, port: endpoint.port)
    }

    /// Puts what speaks on a channel that `connect` made.
    func finish(_ channel: any Channel, to endpoint: GatewayEndpoint?, link: LinkHandler) throws {
        try channel.pipeline.syncOperations.addHandler(link)
    }

    /// Nothing: the channel would not be there.
    func refusal(of channel: any Channel) -> String? { nil }

    private func tlsOptions(for host: String) throws(PEMCertificates.Invalid) -> NWProtocolTLS.Options {
        var roots: [SecCertificate]?
        if case .certificates(let pem) = self.trust.roots {
            roots = []
            for der in try PEMCertificates.der(pem) {
                guard let root = SecCertificateCreateWithData(nil, Data(der) as CFData) else {
                    throw PEMCertificates.Invalid(description: "one of the own roots is no certificate")
                }
                roots?.append(root)
            }
        }
        let options = NWProtocolTLS.Options()
        sec_protocol_options_set_min_tls_protocol_version(options.securityProtocolOptions, .TLSv12)
        guard roots != nil || !self.trust.pins.isEmpty else { return options }
        // Safety: certificates are never changed once they are made.
        nonisolated(unsafe) let anchors = roots
        let trust = self.trust
        sec_protocol_options_set_verify_block(
            options.securityProtocolOptions,
            { _, presented, complete in
                let chain = sec_trust_copy_ref(presented).takeRetainedValue()
                if let anchors = unsafe anchors {
                    SecTrustSetAnchorCertificates(chain, anchors as CFArray)
                    SecTrustSetAnchorCertificatesOnly(chain, true)
                }
                // The name was set by the connection; a block of our own replaces the whole judgement.
                SecTrustSetPolicies(chain, SecPolicyCreateSSL(true, host as CFString))
                guard SecTrustEvaluateWithError(chain, nil) else { return complete(false) }
                let leaf = (SecTrustCopyCertificateChain(chain) as? [SecCertificate])?.first
                let der = leaf.map { Array(SecCertificateCopyData($0) as Data) }
                complete(der.map { trust.allows(keyOf: $0) } ?? false)
            },
            Self.trustQueue
        )
        return options
    }

    /// A short sentence for an error.
    static func sentence(of error: any Error, on channel: (any Channel)?) -> String {
        switch error {
        case let error as PEMCertificates.Invalid: return error.description
        case ChannelError.connectTimeout: return "the gateway cannot be reached: the connection timed out"
        case let error as NWError:
            switch error {
            case .posix(.ECONNREFUSED): return "the gateway cannot be reached: the connection was refused"
            case .posix(.ETIMEDOUT): return "the gateway cannot be reached: the connection timed out"
            case .posix(.ENETUNREACH), .posix(.EHOSTUNREACH), .posix(.ENETDOWN):
                return "the gateway cannot be reached: there is no way to it"
            case .posix(.ECONNRESET), .posix(.EPIPE): return "the gateway closed the connection"
            case .dns: return "the host is not known"
            case .tls(errSSLHostNameMismatch): return "the gateway's certificate is for another host"
            case .tls(errSSLCertExpired): return "the gateway's certificate has expired"
            case .tls(errSSLBadCert), .tls(errSSLXCertChainInvalid), .tls(errSSLUnknownRootCert),
                .tls(errSSLNoRootCert), .tls(errSSLPeerBadCert):
                return "the gateway's certificate is not trusted, or has another key than the pinned ones"
            default: return "the connection failed: \(error)"
            }
        default: return "the connection failed: \(error)"
        }
    }
}
#endif

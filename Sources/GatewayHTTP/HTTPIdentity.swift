// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Gateway
package import GatewayCore
import NIOCore
import NIOSSL
import Synchronization

/// A certificate and its key, and how HTTP is served with them: TLS 1.2 and 1.3, forward secrecy, no renegotiation.
///
/// It does not change. Connections that began with one keep it for as long as they last.
package struct HTTPIdentity: Sendable {
    /// How long a peer may take to say goodbye, once the server has.
    private static let goodbyeMax = TimeAmount.milliseconds(100)
    /// Ephemeral keys and authenticated encryption only; what TLS 1.3 has is so anyway.
    private static let cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"

    let context: NIOSSLContext
    /// Until when the certificate is valid, in seconds since 1970.
    package let notAfter: Int64
    /// The certificates to show, as PEM: the server's own first.
    let certificates: [UInt8]

    /// Reads the two files that a configuration names.
    ///
    /// - Parameter configuration: checked.
    /// - Returns: `nil` where it names none, or nothing is served: then HTTP is plain.
    /// - Throws: `ConfigurationFaults` with a sentence for each fault, and no secret in any of them.
    package static func read(for configuration: GatewayConfiguration) throws(ConfigurationFaults) -> HTTPIdentity? {
        guard configuration.http != nil, configuration.encryptsHTTP else { return nil }
        let files = CertificateFiles.ofHTTP
        let contents = try files.read(for: configuration)
        do {
            return try HTTPIdentity(contents)
        } catch {
            // OpenSSL takes them, and the library that serves HTTP does not.
            let reason = "\(configuration.httpCertificateFile): it cannot be used for HTTP: \(error)"
            throw ConfigurationFaults([ConfigurationFault(key: files.certificateSetting, reason: reason)])
        }
    }

    private init(_ contents: CertificateFiles.Contents) throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(contents.certificates).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: contents.privateKey, format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuites = Self.cipherSuites
        configuration.applicationProtocols = NegotiatedHTTPChannel.protocols
        configuration.shutdownTimeout = Self.goodbyeMax
        self.context = try NIOSSLContext(configuration: configuration)
        self.notAfter = contents.notAfter
        self.certificates = contents.certificates
    }
}

/// The certificate that who connects next is shown.
package final class HTTPIdentityHolder: Sendable {
    private let state: Mutex<HTTPIdentity>
    private let metrics: MetricRegistry

    /// - Parameters:
    ///   - identity: the first certificate to show.
    ///   - metrics: are told until when it is valid.
    package init(_ identity: HTTPIdentity, metrics: MetricRegistry) {
        self.state = Mutex(identity)
        self.metrics = metrics
        self.report(identity)
    }

    /// The identity for the next connection.
    package var identity: HTTPIdentity { self.state.withLock(\.self) }

    /// Lets another one hold from the next connection on.
    package func reload(_ identity: HTTPIdentity) {
        self.state.withLock { $0 = identity }
        self.report(identity)
    }

    private func report(_ identity: HTTPIdentity) {
        self.metrics.set(.certificateExpiry, .http, to: Int(clamping: identity.notAfter))
    }
}

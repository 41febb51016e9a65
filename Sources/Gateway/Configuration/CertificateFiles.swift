// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SecretFiles
import TLS

/// The two files by which ports speak TLS: a certificate and its key.
package struct CertificateFiles: Sendable {
    /// The most bytes of the file of certificates, and of that of its key.
    package static let fileBytesMax = 262_144

    /// Those of the listeners' ports.
    static let ofListeners = CertificateFiles(
        certificateSetting: "listeners.tls.certificateFile",
        privateKeySetting: "listeners.tls.keyFile",
        certificateFile: { $0.listenersCertificateFile },
        privateKeyFile: { $0.listenersKeyFile }
    )
    /// Those of the port for HTTP.
    package static let ofHTTP = CertificateFiles(
        certificateSetting: "http.tls.certificateFile",
        privateKeySetting: "http.tls.keyFile",
        certificateFile: { $0.httpCertificateFile },
        privateKeyFile: { $0.httpKeyFile }
    )

    /// The contents of both files; a server can use them.
    package struct Contents: Sendable {
        /// How a server speaks TLS with them.
        let identity: TLSIdentity
        /// PEM: the server's own certificate first.
        package let certificates: [UInt8]
        /// PEM, without a password.
        package let privateKey: [UInt8]
        /// Until when the certificate is valid, in seconds since 1970.
        package var notAfter: Int64 { self.identity.notAfter }
    }

    /// The keys of the configuration that name both.
    package let certificateSetting: String
    package let privateKeySetting: String
    /// The files that a configuration names; empty: none.
    let certificateFile: @Sendable (GatewayConfiguration) -> String
    let privateKeyFile: @Sendable (GatewayConfiguration) -> String

    /// Reads both, and sees whether they belong together.
    ///
    /// - Parameter configuration: checked; it names both.
    /// - Returns: the contents of both.
    /// - Throws: `ConfigurationFaults` with a sentence for each fault, and no secret in any of them.
    package func read(for configuration: GatewayConfiguration) throws(ConfigurationFaults) -> Contents {
        var faults: [ConfigurationFault] = []
        var read: [[UInt8]] = []
        let files = [
            (self.certificateSetting, self.certificateFile(configuration), isSecret: false),
            (self.privateKeySetting, self.privateKeyFile(configuration), isSecret: true),
        ]
        for (key, path, isSecret) in files {
            do {
                let found = try SecretFile.read(path, bytesMax: Self.fileBytesMax, limit: "certificateFileBytesMax")
                if isSecret { try found.requireSecret() }
                read.append(found.bytes)
            } catch {
                faults.append(ConfigurationFault(key: key, reason: "\(error)"))
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        do {
            let identity = try TLSIdentity(certificates: read[0], key: read[1])
            return Contents(identity: identity, certificates: read[0], privateKey: read[1])
        } catch {
            let (key, path, _) = files[error.isOfKey ? 1 : 0]
            throw ConfigurationFaults([ConfigurationFault(key: key, reason: "\(path): \(error)")])
        }
    }

    /// A certificate without its key, or a key without its certificate.
    func faults(of configuration: GatewayConfiguration) -> [ConfigurationFault] {
        let hasCertificate = !self.certificateFile(configuration).isEmpty
        let hasKey = !self.privateKeyFile(configuration).isEmpty
        guard hasCertificate != hasKey else { return [] }
        let (missing, other) =
            hasCertificate
            ? (self.privateKeySetting, self.certificateSetting) : (self.certificateSetting, self.privateKeySetting)
        return [
            ConfigurationFault(
                key: missing,
                reason: "it is missing: a certificate and its key belong together, and there is \(other)"
            )
        ]
    }
}

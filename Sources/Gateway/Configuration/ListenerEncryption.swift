// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SecretFiles
package import TLS

/// What the listeners' ports show who they are with, where they speak TLS.
package enum ListenerEncryption {
    /// The most bytes of the file of certificates, and of that of its key.
    package static let certificateFileBytesMax = 262_144

    /// Reads the two files that a configuration names.
    ///
    /// - Returns: `nil` where it names none: then the listeners' ports are plain.
    /// - Throws: `ConfigurationFaults` with a sentence for each fault, and no secret in any of them.
    package static func read(for configuration: GatewayConfiguration) throws(ConfigurationFaults) -> TLSIdentity? {
        guard configuration.encryptsListeners else { return nil }
        var faults: [ConfigurationFault] = []
        var read: [[UInt8]] = []
        let files = [
            (GatewayConfiguration.certificateFileKey, configuration.listenersCertificateFile, isSecret: false),
            (GatewayConfiguration.certificateKeyFileKey, configuration.listenersKeyFile, isSecret: true),
        ]
        for (key, path, isSecret) in files {
            do {
                let found = try SecretFile.read(
                    path,
                    bytesMax: Self.certificateFileBytesMax,
                    limit: "certificateFileBytesMax"
                )
                if isSecret { try found.requireSecret() }
                read.append(found.bytes)
            } catch {
                faults.append(ConfigurationFault(key: key, reason: "\(error)"))
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        do {
            return try TLSIdentity(certificates: read[0], key: read[1])
        } catch {
            let (key, path, _) = files[error.isOfKey ? 1 : 0]
            throw ConfigurationFaults([ConfigurationFault(key: key, reason: "\(path): \(error)")])
        }
    }
}

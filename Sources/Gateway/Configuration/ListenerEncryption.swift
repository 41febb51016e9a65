// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import TLS

/// The identity that the listeners' ports show where they speak TLS.
package enum ListenerEncryption {
    /// Reads the two files that a configuration names.
    ///
    /// - Returns: `nil` where it names none: then the listeners' ports are plain.
    /// - Throws: `ConfigurationFaults` with a sentence for each fault, and no secret in any of them.
    package static func read(for configuration: GatewayConfiguration) throws(ConfigurationFaults) -> TLSIdentity? {
        guard configuration.encryptsListeners else { return nil }
        return try CertificateFiles.ofListeners.read(for: configuration).identity
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import SecretFiles
internal import TLS

/// How listeners' connections are encrypted; crosses from the process that was started to those that it starts.
package struct Encryption: Codable, Hashable, Sendable {
    /// PEM: whose certificates are taken; `nil`: those that the system trusts.
    package var authorityFile: String?
    /// The name or the address in the gateway's certificate; `nil`: that of the endpoint.
    package var serverName: String?

    /// The most bytes of a file of certificates.
    package static let authorityFileBytesMax = 1_048_576

    package init(authorityFile: String? = nil, serverName: String? = nil) {
        self.authorityFile = authorityFile
        self.serverName = serverName
    }

    /// Reads the certificates.
    ///
    /// - Throws: `usage` where they cannot be trusted.
    func read() throws(LoadError) -> TLSTrust {
        var certificates: [UInt8]?
        if let file = self.authorityFile {
            do throws(SecretFile.Fault) {
                certificates =
                    try SecretFile.read(
                        file,
                        bytesMax: Self.authorityFileBytesMax,
                        limit: "authorityFileBytesMax"
                    )
                    .bytes
            } catch {
                throw .usage("\(error)")
            }
        }
        do throws(TLSTrust.Fault) {
            return try TLSTrust(certificates: certificates)
        } catch {
            throw .usage("\(self.authorityFile ?? "the system's certificates"): \(error)")
        }
    }
}

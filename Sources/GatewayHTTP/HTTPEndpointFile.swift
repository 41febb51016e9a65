// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import SecretFiles
import Synchronization

/// The file by which commands on the same machine find where HTTP is served, and know the certificate.
///
/// It stands in the data directory, readable by its owner only: who could change it could have a command's token sent elsewhere.
package final class HTTPEndpointFile: Sendable {
    private let path: String
    private let identity: HTTPIdentityHolder?
    private let address = Mutex<String?>(nil)

    /// - Parameters:
    ///   - directory: the data directory.
    ///   - identity: the certificate to show; `nil`: HTTP is plain.
    package init(in directory: String, _ identity: HTTPIdentityHolder?) {
        self.path = "\(directory)/\(SecretFileNames.httpEndpoint)"
        self.identity = identity
    }

    /// The server listens.
    ///
    /// - Parameter address: where, as the service tells it.
    /// - Throws: where the file cannot be written.
    package func bound(_ address: String) throws(SecretFile.Fault) {
        self.address.withLock { $0 = address }
        try self.write()
    }

    /// Another certificate is shown from now on.
    ///
    /// - Throws: where the file cannot be written.
    package func certificateChanged() throws(SecretFile.Fault) { try self.write() }

    private func write() throws(SecretFile.Fault) {
        guard let address = self.address.withLock({ $0 }) else { return }
        let line = address.contains("://") ? address : "http://" + address
        try SecretFile.replace(
            self.path,
            Array((line + "\n").utf8) + (self.identity?.identity.certificates ?? []),
            mode: 0o600
        )
    }
}

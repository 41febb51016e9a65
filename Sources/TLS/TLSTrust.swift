// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import COpenSSL

/// The certificates that a client trusts, and its use of TLS: 1.2 and 1.3, no renegotiation, no resumed sessions.
///
/// A server's certificate must lead to one of those that are trusted, be current, and have the name that a session is told of
/// (``TLSSession/init(_:server:through:)``).
@safe
package final class TLSTrust: Sendable {
    /// Why certificates cannot be trusted.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case noCertificate
        case unreadableCertificate
        /// OpenSSL takes them not.
        case refused(reason: String)

        package var description: String {
            switch self {
            case .noCertificate: "it holds no certificate (PEM)"
            case .unreadableCertificate: "one of its certificates cannot be read; they must be PEM"
            case .refused(let reason): "it cannot be used: \(reason)"
            }
        }
    }

    // Safety: set once; OpenSSL counts its users atomically, and nothing changes it after `init`.
    nonisolated(unsafe) let handle: OpaquePointer

    /// - Parameter certificates: PEM: those that are trusted, each as it is; `nil`: those that the system trusts.
    /// - Throws: the fault of them.
    package init(certificates: [UInt8]?) throws(Fault) {
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw Self.refused() }
        do throws(Fault) {
            unsafe cuecast_ssl_verify_peer(context)
            guard unsafe cuecast_ssl_set_versions(context) == 1 else { throw Self.refused() }
            if let certificates {
                try unsafe Self.trust(certificates, in: context)
            } else if unsafe SSL_CTX_set_default_verify_paths(context) != 1 {
                throw Self.refused()
            }
        } catch {
            unsafe SSL_CTX_free(context)
            throw error
        }
        unsafe self.handle = context
    }

    deinit { unsafe SSL_CTX_free(self.handle) }

    private static func trust(_ pem: [UInt8], in context: OpaquePointer) throws(Fault) {
        guard let bio = unsafe PEM.memory(pem) else { throw Self.refused() }
        defer { _ = unsafe BIO_free(bio) }
        var count = 0
        while let certificate = unsafe PEM_read_bio_X509(bio, nil, PEM.noPassword, nil) {
            defer { unsafe X509_free(certificate) }
            // The store has a reference of its own.
            guard unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1 else {
                throw Self.refused()
            }
            count += 1
        }
        guard PEM.isAtEnd() else { throw .unreadableCertificate }
        guard count > 0 else { throw .noCertificate }
    }

    private static func refused() -> Fault { .refused(reason: PEM.takeReason()) }
}

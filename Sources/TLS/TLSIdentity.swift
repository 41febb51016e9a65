// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import COpenSSL

/// A certificate and its key, and how a server speaks TLS with them: 1.2 and 1.3, forward secrecy, no renegotiation, nothing
/// remembered of a session.
///
/// It does not change. For another certificate, make another identity; sessions that began with this one keep it for as long as
/// they last.
@safe
package final class TLSIdentity: Sendable {
    /// Why a certificate or its key cannot be used; never with what stands in them.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case noCertificate
        case unreadableCertificate
        case unreadableKey
        case encryptedKey
        /// The key is not the certificate's.
        case otherKey
        /// OpenSSL takes neither, for instance because the key is too short.
        case refused(reason: String)

        package var description: String {
            switch self {
            case .noCertificate:
                "it holds no certificate (PEM, the server's own first, then those that lead to the root)"
            case .unreadableCertificate: "one of its certificates cannot be read; they must be PEM"
            case .unreadableKey: "it holds no private key that can be read; it must be PEM"
            case .encryptedKey:
                "its private key needs a password, which a server cannot ask for; it must be without one"
            case .otherKey: "its private key does not belong to the certificate"
            case .refused(let reason): "it cannot be used: \(reason)"
            }
        }

        /// Whether it is the key that is wrong, and not the certificate.
        package var isOfKey: Bool {
            switch self {
            case .unreadableKey, .encryptedKey, .otherKey: true
            case .noCertificate, .unreadableCertificate, .refused: false
            }
        }
    }

    // Safety: set once; OpenSSL counts its users atomically, and nothing changes it after `init`.
    nonisolated(unsafe) let handle: OpaquePointer
    /// Until when the certificate is valid, in seconds since 1970.
    package let notAfter: Int64

    /// Ephemeral keys and authenticated encryption only; what TLS 1.3 has is so anyway.
    private static let cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
    private static let groups = "X25519:P-256:P-384"

    /// - Parameters:
    ///   - certificates: PEM: the server's own, then those that lead to the root.
    ///   - key: PEM, of the first certificate, without a password.
    /// - Throws: the fault of them.
    package init(certificates: [UInt8], key: [UInt8]) throws(Fault) {
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw Self.refused() }
        do throws(Fault) {
            try unsafe Self.configure(context)
            self.notAfter = try unsafe Self.useCertificates(certificates, in: context)
            try unsafe Self.useKey(key, in: context)
        } catch {
            unsafe SSL_CTX_free(context)
            throw error
        }
        unsafe self.handle = context
    }

    deinit { unsafe SSL_CTX_free(self.handle) }

    private static func configure(_ context: OpaquePointer) throws(Fault) {
        unsafe cuecast_ssl_set_modes(context)
        // Tickets would be what a session leaves behind, under a key that the next reload makes worthless.
        guard unsafe cuecast_ssl_set_versions(context) == 1, unsafe SSL_CTX_set_num_tickets(context, 0) == 1,
            unsafe SSL_CTX_set_cipher_list(context, Self.cipherSuites) == 1,
            unsafe cuecast_ssl_set_groups(context, Self.groups) == 1
        else { throw Self.refused() }
        unsafe SSL_CTX_set_info_callback(context, TLSSession.noteChange)
        unsafe SSL_CTX_set_msg_callback(context, TLSSession.noteMessage)
    }

    private static func useCertificates(_ pem: [UInt8], in context: OpaquePointer) throws(Fault) -> Int64 {
        guard let bio = unsafe PEM.memory(pem) else { throw Self.refused() }
        defer { _ = unsafe BIO_free(bio) }
        guard let first = unsafe PEM_read_bio_X509(bio, nil, PEM.noPassword, nil) else {
            throw PEM.isAtEnd() ? .noCertificate : .unreadableCertificate
        }
        defer { unsafe X509_free(first) }
        guard unsafe SSL_CTX_use_certificate(context, first) == 1 else { throw Self.refused() }
        while let next = unsafe PEM_read_bio_X509(bio, nil, PEM.noPassword, nil) {
            guard unsafe cuecast_ssl_add_chain(context, next) == 1 else {
                unsafe X509_free(next)
                throw Self.refused()
            }
        }
        guard PEM.isAtEnd() else { throw .unreadableCertificate }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { throw Self.refused() }
        defer { unsafe ASN1_STRING_free(epoch) }
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(first)) == 1 else {
            throw .unreadableCertificate
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    private static func useKey(_ pem: [UInt8], in context: OpaquePointer) throws(Fault) {
        guard let bio = unsafe PEM.memory(pem) else { throw Self.refused() }
        defer { _ = unsafe BIO_free(bio) }
        var wasAsked = false
        let key = unsafe withUnsafeMutablePointer(to: &wasAsked) { asked in
            unsafe PEM_read_bio_PrivateKey(bio, nil, PEM.noPassword, asked)
        }
        guard let key = unsafe key else {
            ERR_clear_error()
            throw wasAsked ? .encryptedKey : .unreadableKey
        }
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1, unsafe SSL_CTX_check_private_key(context) == 1 else {
            ERR_clear_error()
            throw .otherKey
        }
    }

    private static func refused() -> Fault { .refused(reason: PEM.takeReason()) }
}

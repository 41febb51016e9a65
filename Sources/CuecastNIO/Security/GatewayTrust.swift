// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How a client verifies the gateway's identity where an address begins with `tls://`.
///
/// Its certificate must be good: issued for the host of the address by a trusted issuer, and neither too old nor too new. With
/// ``pins``, its key must be one of those beside.
///
/// ```swift
/// var trust = GatewayTrust()
/// trust.pins = [try PublicKeyPin("sha256/AAAA…=")]
/// let transport = NIOListenerTransport(trust: trust)
/// ```
public struct GatewayTrust: Hashable, Sendable {
    /// The trusted issuers of the certificate.
    @nonexhaustive
    public enum Roots: Hashable, Sendable {
        /// The roots that the system trusts.
        case system
        /// Only these: one or more certificates as PEM. A self-signed certificate is its own root.
        case certificates(pem: String)
    }

    /// The trusted issuers of the certificate; by default, the roots that the system trusts.
    public var roots: Roots
    /// The keys that the certificate may have, each by its hash; none: any.
    ///
    /// Have a second one there before the gateway's key changes.
    public var pins: Set<PublicKeyPin>

    /// Trusts the roots that the system trusts, and any key.
    public init(roots: Roots = .system, pins: Set<PublicKeyPin> = []) {
        self.roots = roots
        self.pins = pins
    }

    /// Whether a certificate has a key that may be.
    func allows(keyOf certificate: [UInt8]) -> Bool {
        guard !self.pins.isEmpty else { return true }
        guard let key = SubjectPublicKey.bytes(ofCertificate: certificate) else { return false }
        return self.pins.contains(PublicKeyPin(hash: SHA256.hash(key)))
    }
}

/// The SHA-256 hash of a public key, as the certificate holds it (`SubjectPublicKeyInfo`, RFC 7469 section 2.4).
///
/// ```
/// openssl x509 -in gateway.pem -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no pin.
    public struct Invalid: Error, Hashable, CustomStringConvertible {
        /// One sentence for people.
        public let description = "A pin is sha256/ and the 44 characters of the hash in base64."
    }

    private let hash: [UInt8]

    init(hash: [UInt8]) {
        self.hash = hash
    }

    /// A pin from `sha256/` and the hash in base64.
    ///
    /// - Throws: ``Invalid`` where the text is anything else.
    public init(_ text: String) throws(Invalid) {
        guard text.hasPrefix("sha256/"), let hash = Data(base64Encoded: String(text.dropFirst(7))),
            hash.count == SHA256.hashBytes
        else { throw Invalid() }
        self.hash = Array(hash)
    }

    /// As it is written.
    public var description: String { "sha256/" + Data(self.hash).base64EncodedString() }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Finds the public key in a certificate: a reader of as much DER (X.690) as that takes.
///
/// Both platforms' TLS libraries hand out whole certificates, but not in one way the key as it stands in them, which is what a pin
/// is the hash of.
enum SubjectPublicKey {
    private static let sequence: UInt8 = 0x30
    private static let version: UInt8 = 0xA0

    /// The `SubjectPublicKeyInfo` of a certificate (RFC 5280, section 4.1), with its tag and length; `nil` where there is none.
    static func bytes(ofCertificate der: [UInt8]) -> [UInt8]? {
        // Certificate: a sequence of the part that is signed, and the signature.
        guard let certificate = self.element(der[...]), certificate.tag == self.sequence,
            let signed = self.element(certificate.content), signed.tag == self.sequence
        else { return nil }
        var rest = signed.content
        // A version that is not the first one comes before the rest: serial number, algorithm, issuer, validity, subject.
        if rest.first == self.version, let version = self.element(rest) { rest = rest[version.content.endIndex...] }
        for _ in 0..<5 {
            guard let element = self.element(rest) else { return nil }
            rest = rest[element.content.endIndex...]
        }
        guard let key = self.element(rest), key.tag == self.sequence else { return nil }
        return Array(rest[rest.startIndex..<key.content.endIndex])
    }

    /// The first element: its tag and what it holds.
    ///
    /// Lengths are definite in DER.
    private static func element(_ bytes: ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard bytes.count >= 2, let tag = bytes.first else { return nil }
        let first = bytes[bytes.startIndex + 1]
        var content = bytes.startIndex + 2
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            // Nothing that is read here is of 4 GiB.
            guard (1...4).contains(count), bytes.endIndex - content >= count else { return nil }
            length = bytes[content..<content + count].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard length <= bytes.endIndex - content else { return nil }
        return (tag, bytes[content..<content + length])
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Certificates as text (RFC 7468, section 5).
enum PEMCertificates {
    /// Why a text holds no certificates.
    struct Invalid: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// All certificates of a text, as DER; what stands between them is passed over.
    static func der(_ text: String) throws(Invalid) -> [[UInt8]] {
        var certificates: [[UInt8]] = []
        var body: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            if line == self.begin {
                body = ""
            } else if line == self.end, let text = body {
                guard let data = Data(base64Encoded: text) else {
                    throw Invalid(description: "certificate \(certificates.count + 1) of the own roots is not base64")
                }
                certificates.append(Array(data))
                body = nil
            } else if body != nil {
                body?.append(contentsOf: line)
            }
        }
        guard body == nil, !certificates.isEmpty else {
            throw Invalid(description: "the own roots are no certificates in PEM")
        }
        return certificates
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        while text.first?.isWhitespace == true { text.removeFirst() }
        return String(text)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import JWTKit
import SecretFiles
package import TokenFormats

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys that tokens are signed with: a JWKS file (RFC 7517) in which each key has a state.
///
/// ```json
/// {"keys": [{"kty": "EC", "kid": "2027-01", "alg": "ES256", "crv": "P-256", "x": "…", "y": "…", "d": "…", "state": "signing"}]}
/// ```
///
/// A key says for which algorithm it is; what has no `state` is `verify-only`, so that a file from an identity provider can be used as it is.
/// Immutable: a reload makes another one.
package struct TokenKeySet: Sendable {
    struct Entry: Sendable {
        let algorithm: TokenAlgorithm
        let state: TokenKeyState
        let signer: any JWTAlgorithm
    }

    /// As they stand in the file.
    package let keys: [TokenKey]
    let entries: [String: Entry]

    /// The key with which tokens are made; `nil` where there is none, or its secret part stands elsewhere.
    package var signingKey: TokenKey? { self.keys.first { $0.state == .signing && $0.isSecret } }

    /// Whether a reader of the file can make tokens.
    package var isSecret: Bool { self.keys.contains(where: \.isSecret) }

    /// Checks keys.
    ///
    /// - Throws: `TokenKeyFaults` with a sentence for each fault.
    package init(_ keys: [TokenKey]) async throws(TokenKeyFaults) {
        try TokenKeyDocument.check(count: keys.count)
        var faults: [String] = []
        var entries: [String: Entry] = [:]
        for (index, key) in keys.enumerated() {
            let place = "key \(index + 1)"
            do throws(TokenKey.Fault) {
                let (algorithm, signer) = try await key.checked()
                let entry = Entry(algorithm: algorithm, state: key.state ?? .verifyOnly, signer: signer)
                if entries.updateValue(entry, forKey: key.kid) != nil {
                    faults.append("\(place): another key has the same kid")
                }
            } catch {
                faults.append("\(place): \(error.reason)")
            }
        }
        faults += TokenKeyDocument.faultsOfStates(keys)
        guard faults.isEmpty else { throw TokenKeyFaults(faults) }
        self.keys = keys
        self.entries = entries
    }

    /// Reads what stands in a file; never traps.
    ///
    /// - Throws: `TokenKeyFaults` with a sentence for each fault.
    package init(_ bytes: [UInt8]) async throws(TokenKeyFaults) {
        try await self.init(TokenKeyDocument.keys(in: bytes))
    }

    /// Reads a file.
    ///
    /// - Throws: `TokenKeyFaults`; also where it has a secret and others may read it, or where others may change it.
    package init(path: String) async throws(TokenKeyFaults) {
        let contents: SecretFile.Contents
        do throws(SecretFile.Fault) {
            contents = try SecretFile.trusted(
                path,
                bytesMax: TokenLimits.tokenKeysFileBytesMax,
                limit: "tokenKeysFileBytesMax"
            )
        } catch {
            throw TokenKeyFaults(["\(error)"])
        }
        do throws(TokenKeyFaults) {
            try await self.init(contents.bytes)
        } catch {
            throw TokenKeyFaults(error.sentences.map { "\(path): \($0)" })
        }
        guard self.isSecret else { return }
        do throws(SecretFile.Fault) {
            try contents.requireSecret()
        } catch {
            throw TokenKeyFaults(["\(error)"])
        }
    }
}

extension TokenKeySet {
    /// As it stands in a file.
    package static func file(of keys: [TokenKey]) throws -> [UInt8] { try TokenKeyDocument.file(of: keys) }

    /// The keys of a file with a new one that signs from now on; the one before verifies what it has signed.
    package static func rotated(_ keys: [TokenKey], with key: TokenKey) -> [TokenKey] {
        [key]
            + keys.map { each in
                var each = each
                if each.state == .signing { each.state = .verifyOnly }
                return each
            }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import JWTKit
import SecretFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that is wrong with a file of keys; nothing of what stands in it.
package struct TokenKeyFaults: Error, Hashable, Sendable, CustomStringConvertible {
    package let sentences: [String]

    package init(_ sentences: [String]) {
        self.sentences = sentences
    }

    package var description: String { self.sentences.joined(separator: "; ") }
}

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

    /// Whether whoever reads the file can make tokens.
    package var isSecret: Bool { self.keys.contains(where: \.isSecret) }

    /// Checks keys.
    ///
    /// - Throws: `TokenKeyFaults` with a sentence for each fault.
    package init(_ keys: [TokenKey]) async throws(TokenKeyFaults) {
        guard !keys.isEmpty else { throw TokenKeyFaults(["it has no key"]) }
        guard keys.count <= TokenLimits.tokenKeysMax else {
            throw TokenKeyFaults(["it has too many keys; the limit tokenKeysMax is \(TokenLimits.tokenKeysMax)"])
        }
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
        if keys.count(where: { $0.state == .signing }) > 1 {
            faults.append("more than one key has the state signing; the others must be verify-only")
        }
        guard faults.isEmpty else { throw TokenKeyFaults(faults) }
        self.keys = keys
        self.entries = entries
    }

    /// Reads what stands in a file; never traps.
    ///
    /// - Throws: `TokenKeyFaults` with a sentence for each fault.
    package init(_ bytes: [UInt8]) async throws(TokenKeyFaults) {
        guard bytes.count <= TokenLimits.tokenKeysFileBytesMax else {
            throw TokenKeyFaults([
                "it is too large; the limit tokenKeysFileBytesMax is \(TokenLimits.tokenKeysFileBytesMax)"
            ])
        }
        try await self.init(Self.keys(in: bytes))
    }

    /// Reads a file.
    ///
    /// - Throws: `TokenKeyFaults`; also where it has a secret and others may read it, or where others may change it.
    package init(path: String) async throws(TokenKeyFaults) {
        let contents: SecretFile.Contents
        do throws(SecretFile.Fault) {
            contents = try SecretFile.read(
                path,
                bytesMax: TokenLimits.tokenKeysFileBytesMax,
                limit: "tokenKeysFileBytesMax"
            )
            try contents.requireUnchangedByOthers()
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

    private struct Document: Codable {
        var keys: [TokenKey]
    }

    private static func keys(in bytes: [UInt8]) throws(TokenKeyFaults) -> [TokenKey] {
        do {
            return try JSONDecoder().decode(Document.self, from: Data(bytes)).keys
        } catch let error as DecodingError {
            throw TokenKeyFaults([Self.sentence(for: error)])
        } catch {
            throw TokenKeyFaults(["it is not JSON"])
        }
    }

    /// What is wrong and where, without the value.
    private static func sentence(for error: DecodingError) -> String {
        let (path, what): ([any CodingKey], String)
        switch error {
        case .keyNotFound(let key, let context):
            // Names of fields are ours, unlike what stands in them.
            (path, what) = (context.codingPath, "the field \(key.stringValue) is missing")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            (path, what) = (context.codingPath, "a field has a value of the wrong kind")
        case .dataCorrupted(let context):
            guard !context.codingPath.isEmpty else { return "it is not JSON" }
            let states = TokenKeyState.allCases.map(\.rawValue).joined(separator: ", ")
            (path, what) = (context.codingPath, "state must be one of \(states)")
        @unknown default: return "it is not a JWKS file"
        }
        guard let index = path.lazy.compactMap(\.intValue).first else {
            return "it must be an object with a list 'keys': \(what)"
        }
        return "key \(index + 1): \(what)"
    }
}

extension TokenKeySet {
    /// As it stands in a file.
    package static func file(of keys: [TokenKey]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(Document(keys: keys))) + [UInt8(ascii: "\n")]
    }

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

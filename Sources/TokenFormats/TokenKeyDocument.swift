// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

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

/// A JWKS file (RFC 7517) as bytes, without what has to be computed with its keys.
package enum TokenKeyDocument {
    private struct Document: Codable {
        var keys: [TokenKey]
    }

    /// Reads what stands in a file; never traps.
    ///
    /// The keys themselves are not looked at.
    ///
    /// - Throws: `TokenKeyFaults` with a sentence.
    package static func keys(in bytes: [UInt8]) throws(TokenKeyFaults) -> [TokenKey] {
        guard bytes.count <= TokenLimits.tokenKeysFileBytesMax else {
            throw TokenKeyFaults([
                "it is too large; the limit tokenKeysFileBytesMax is \(TokenLimits.tokenKeysFileBytesMax)"
            ])
        }
        do {
            let keys = try JSONDecoder().decode(Document.self, from: Data(bytes)).keys
            // Of a duplicate member the decoder takes one, and it cannot know which was meant.
            _ = try JSONReader.read(bytes)
            return keys
        } catch let fault as JSONReader.Fault {
            // Not its reason, which contains the member.
            throw TokenKeyFaults(["line \(fault.line): it is no strict JSON: a member is listed twice, for instance"]
            )
        } catch let error as DecodingError {
            throw TokenKeyFaults([Self.sentence(for: error)])
        } catch {
            throw TokenKeyFaults(["it is not JSON"])
        }
    }

    /// The fault and its place, without the value.
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

    /// As it stands in a file.
    package static func file(of keys: [TokenKey]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(Document(keys: keys))) + [UInt8(ascii: "\n")]
    }

    /// Whether a file may have so many keys.
    package static func check(count: Int) throws(TokenKeyFaults) {
        guard count > 0 else { throw TokenKeyFaults(["it has no key"]) }
        guard count <= TokenLimits.tokenKeysMax else {
            throw TokenKeyFaults(["it has too many keys; the limit tokenKeysMax is \(TokenLimits.tokenKeysMax)"])
        }
    }

    /// The faults in the states of keys together.
    package static func faultsOfStates(_ keys: [TokenKey]) -> [String] {
        keys.count(where: { $0.state == .signing }) > 1
            ? ["more than one key has the state signing; the others must be verify-only"] : []
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP
import Testing
import TokenFormats
import Tokens

/// Keys of each kind, and what can be made with them, rightly and wrongly.
struct TokenWorkshop {
    /// One for each algorithm, the first of them signing.
    var keys: [TokenKey] = []

    init() throws {
        for algorithm in TokenAlgorithm.allCases {
            self.keys.append(
                try TokenKey.generate(
                    algorithm,
                    id: algorithm.rawValue,
                    state: algorithm == .hs256 ? .signing : .verifyOnly
                )
            )
        }
    }

    func keySet() async throws -> TokenKeySet { try await TokenKeySet(self.keys) }

    func verifier() async throws -> TokenVerifier {
        TokenVerifier(keys: try await self.keySet(), issuer: "cuecast", audience: "cuecast-http")
    }

    func access(_ openReads: HTTPOpenReads) async throws -> HTTPAccess {
        HTTPAccess(verifier: try await self.verifier(), openReads: openReads, hosts: HTTPHosts(["radio.example"]))
    }

    /// The claims of a valid token.
    static func claims(
        scope: String = "",
        audience: [String] = ["cuecast-http"],
        issuer: String = "cuecast",
        expires: Timestamp = Parts.now + .seconds(60),
        notBefore: Timestamp? = nil
    ) throws -> TokenClaims {
        TokenClaims(
            subject: "studio",
            issuer: issuer,
            audience: audience,
            expires: expires,
            notBefore: notBefore,
            scopes: try #require(TokenScopes(scope))
        )
    }

    /// A token by the key of an algorithm, whatever the state of that key.
    func token(_ claims: TokenClaims, by algorithm: TokenAlgorithm = .hs256) async throws -> String {
        let keys = self.keys.map { key in
            var key = key
            key.state = key.kid == algorithm.rawValue ? .signing : .verifyOnly
            return key
        }
        return try #require(TokenMaker(try await TokenKeySet(keys))).token(claims, at: Parts.now)
    }
}

/// A token's parts, to put them together otherwise.
struct TokenParts {
    var header: String
    var payload: String
    var signature: String

    init(_ token: String) throws {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        (self.header, self.payload, self.signature) = (parts[0], parts[1], parts[2])
    }

    var token: String { "\(self.header).\(self.payload).\(self.signature)" }

    /// JSON as it stands in a token.
    static func part(_ json: String) -> String {
        Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

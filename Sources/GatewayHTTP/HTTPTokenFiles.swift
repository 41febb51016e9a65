// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
import GatewayCore
import SecretFiles
import TokenFormats
import Tokens

/// The files that a gateway makes for its own machine: signing keys, and a token that the command line finds.
///
/// Both are made at the first start in the data directory, readable by their owner only. The token has every right: a user who can
/// read it can also read the keys beside it, so fewer rights or a short life would protect nothing.
package enum HTTPTokenFiles {
    /// The subject of the token.
    static let localSubject = "local"
    /// How long the token is taken; it is made anew once half of that is over.
    static let localTokenLifetime: Duration = .seconds(2 * 365 * 86_400)

    /// Reads the keys, and makes what is not there yet.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - makesFiles: whether the data directory is this process's, so that files are made; without it what is missing is passed over.
    ///   - now: the gateway's clock.
    /// - Returns: the rights of callers; `nil` where keys are missing and none are made.
    /// - Throws: `ConfigurationFaults` with a sentence for each fault, and no secret in any of them.
    package static func access(
        for configuration: GatewayConfiguration,
        makesFiles: Bool,
        at now: Timestamp
    ) async throws(ConfigurationFaults) -> HTTPAccess? {
        let isOwn = configuration.httpTokenKeysFile.isEmpty
        let path =
            isOwn ? "\(configuration.dataDirectory)/\(SecretFileNames.httpKeys)" : configuration.httpTokenKeysFile
        if isOwn, Self.isMissing(path) {
            guard makesFiles else { return nil }
            try await Self.makeKeys(at: path)
        }
        let keys: TokenKeySet
        do throws(TokenKeyFaults) {
            keys = try await TokenKeySet(path: path)
        } catch {
            throw ConfigurationFaults(
                error.sentences.map { ConfigurationFault(key: "http.tokenKeysFile", reason: $0) }
            )
        }
        let verifier = TokenVerifier(
            keys: keys,
            issuer: configuration.httpTokenIssuer,
            audience: configuration.httpTokenAudience
        )
        if makesFiles { try Self.makeToken(verifier, in: configuration.dataDirectory, at: now) }
        return HTTPAccess(
            verifier: verifier,
            openReads: configuration.httpReads,
            hosts: HTTPHosts(configuration.httpHostNames),
            listenerOrigins: ListenerOrigins(configuration.httpListenerOriginPatterns)
        )
    }

    private static func isMissing(_ path: String) -> Bool {
        do throws(SecretFile.Fault) {
            _ = try SecretFile.read(path, bytesMax: TokenLimits.tokenKeysFileBytesMax, limit: "tokenKeysFileBytesMax")
            return false
        } catch {
            return error.isMissing
        }
    }

    private static func makeKeys(at path: String) async throws(ConfigurationFaults) {
        do {
            let key = try TokenKey.generate(.hs256, id: "local-\(String(UInt32.random(in: .min ... .max), radix: 16))")
            try SecretFile.create(path, try TokenKeySet.file(of: [key]), mode: 0o600)
        } catch {
            throw ConfigurationFaults([ConfigurationFault(key: "http.tokenKeysFile", reason: "\(error)")])
        }
    }

    /// Makes the token, unless the one that is there is good for long enough.
    ///
    /// If the keys are external and their secret part is not here, no token is made.
    private static func makeToken(
        _ verifier: TokenVerifier,
        in directory: String,
        at now: Timestamp
    ) throws(ConfigurationFaults) {
        let path = "\(directory)/\(SecretFileNames.httpToken)"
        guard let maker = TokenMaker(verifier.keys), !Self.isGood(path, verifier, at: now) else { return }
        var scopes = TokenScopes()
        scopes.read = true
        scopes.admin = true
        scopes.publish = [.every]
        let claims = TokenClaims(
            subject: Self.localSubject,
            issuer: verifier.issuer,
            audience: [verifier.audience],
            expires: now + Self.localTokenLifetime,
            scopes: scopes
        )
        do {
            let token = try maker.token(claims, at: now)
            try SecretFile.replace(path, Array((token + "\n").utf8), mode: 0o600)
        } catch {
            throw ConfigurationFaults([ConfigurationFault(key: "dataDir", reason: "\(error)")])
        }
    }

    /// Whether the token of before is taken for half of a life more, and still is a secret.
    private static func isGood(_ path: String, _ verifier: TokenVerifier, at now: Timestamp) -> Bool {
        guard
            let contents = try? SecretFile.read(
                path,
                bytesMax: TokenLimits.tokenBytesMax + 1,
                limit: "tokenBytesMax"
            ), (try? contents.requireSecret()) != nil,
            let token = String(validating: contents.bytes, as: UTF8.self)?.split(whereSeparator: \.isNewline).first,
            let claims = try? verifier.verify(String(token), at: now + Self.localTokenLifetime / 2)
        else { return false }
        return claims.subject == Self.localSubject && claims.scopes.grants(.admin)
    }
}

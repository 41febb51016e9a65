// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import GatewayCore
import SecretFiles
import TokenFormats
import Tokens

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make tokens for HTTP and for listeners, and keep the file of keys that they are signed with.",
        discussion: """
            A file of keys is a JWKS file (RFC 7517) whose keys have a state: one is 'signing', others are 'verify-only' or 'revoked'. \
            Its secret parts make tokens, so keep them secret; a gateway needs only 'token public' of it, except for HS256, which \
            has one secret for both purposes. A gateway reads its files of keys again with SIGHUP.

            Exits with 65 where a file is wrong or in the way, and with 74 where one cannot be written.

            Example: cuecast token new-keys --out keys.json
                     cuecast token make --keys keys.json --subject alice --scope read --expires-in 8h
                     cuecast token rotate --keys keys.json
            """,
        subcommands: [Make.self, NewKeys.self, Rotate.self, Revoke.self, Public.self]
    )
}

extension TokenCommand {
    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token with the signing key of a file.",
            discussion: """
                Prints the token alone, on one line. With --scope it is for HTTP; with --stream it is for listeners.

                Scopes: read (reports and breaks), publish:STREAM (breaks of a stream; 'radio*' is all that begin so), admin (reload).

                Example: cuecast token make --keys keys.json --subject grafana --scope read --expires-in 720h
                """
        )

        @OptionGroup var file: KeysFile
        @Option(help: "Whose token it is; logs call them so.") var subject: String
        @Option(help: "How long it is taken, for instance 8h or 90m.", transform: DurationArgument.read)
        var expiresIn: DurationArgument
        @Option(help: "A right over HTTP; may be there several times.") var scope: [String] = []
        @Option(help: "A stream, or a pattern, that its listener may hear; may be there several times.")
        var stream: [String] = []
        @Option(help: "What its listener is, as KEY=VALUE; goes before what the listener says of itself.")
        var attribute: [String] = []
        @Option(help: "Who makes it.") var issuer = TokenDefaults.issuer
        @Option(help: "Whom it is for. (default: cuecast-http with --scope, else cuecast)") var audience: String?

        func validate() throws {
            guard self.scope.isEmpty != self.stream.isEmpty else {
                throw ValidationError("A token has either --scope, for HTTP, or --stream, for listeners.")
            }
            guard TokenClaims.isName(self.subject) else {
                throw ValidationError(
                    "--subject must be 1 to \(TokenLimits.tokenNameBytesMax) bytes without control characters."
                )
            }
            guard self.expiresIn.duration > .zero else { throw ValidationError("--expires-in must be more than 0.") }
            _ = try self.scopes()
            _ = try self.streams()
            _ = try self.attributes()
        }

        private func scopes() throws -> TokenScopes {
            for word in self.scope {
                guard let scopes = TokenScopes(word), scopes != TokenScopes(), !word.contains(" ") else {
                    throw ValidationError("--scope must be read, admin, or publish: and \(StreamPattern.rule).")
                }
            }
            guard let scopes = TokenScopes(self.scope.joined(separator: " ")) else {
                throw ValidationError("--scope: the limit tokenStreamsMax is \(TokenLimits.tokenStreamsMax).")
            }
            return scopes
        }

        private func streams() throws -> [StreamPattern] {
            guard self.stream.count <= TokenLimits.tokenStreamsMax else {
                throw ValidationError("--stream: the limit tokenStreamsMax is \(TokenLimits.tokenStreamsMax).")
            }
            return try self.stream.map { text in
                guard let pattern = StreamPattern(text) else {
                    throw ValidationError("--stream must be \(StreamPattern.rule).")
                }
                return pattern
            }
        }

        private func attributes() throws -> [String: String]? {
            var attributes: [String: String] = [:]
            for pair in self.attribute {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, attributes.updateValue(parts[1], forKey: parts[0]) == nil else {
                    throw ValidationError("--attribute takes KEY=VALUE, and each key once.")
                }
            }
            do throws(WireError) {
                try ListenerRequest.Join.check(attributes: attributes)
            } catch {
                throw ValidationError("--attribute: \(error)")
            }
            return attributes.isEmpty ? nil : attributes
        }

        func run() async throws {
            guard let maker = TokenMaker(try await self.file.read()) else {
                complain("\(self.file.keys): it has no signing key with its secret part")
                throw CommandExit.badData
            }
            let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
            let claims = TokenClaims(
                subject: self.subject,
                issuer: self.issuer,
                audience: [
                    self.audience ?? (self.scope.isEmpty ? TokenDefaults.audience : TokenDefaults.httpAudience)
                ],
                expires: now + self.expiresIn.duration,
                scopes: try self.scopes(),
                streams: try self.streams(),
                attributes: try self.attributes()
            )
            do {
                CommandOutput.say(try maker.token(claims, at: now))
            } catch is TokenRefusal {
                complain("the token would have more than tokenBytesMax, \(TokenLimits.tokenBytesMax) bytes")
                throw CommandExit.badData
            }
        }
    }

    struct NewKeys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new-keys",
            abstract: "Make a file of keys with one signing key, which only its owner may read.",
            discussion: """
                A file that is there is never written over.

                Example: cuecast token new-keys --out keys.json --algorithm EdDSA
                """
        )

        @Option(help: "The file.") var out: String
        @OptionGroup var key: NewKey

        func run() async throws {
            let key = try self.key.make(besides: [])
            let bytes = try await KeysFile.bytes(of: [key])
            try KeysFile.perform { () throws(SecretFile.Fault) in
                try SecretFile.create(self.out, bytes, mode: 0o600)
            }
            CommandOutput.say("\(self.out): \(key)")
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a new signing key to a file; the one before is verify-only from then on.",
            discussion: """
                Tell gateways of the new key (token public, SIGHUP) before tokens are made with it, or their bearers are refused meanwhile. Keep the old one \
                until what it has signed has expired; then --drop it with the next rotation.

                Example: cuecast token rotate --keys keys.json --drop 2026-11
                """
        )

        @OptionGroup var file: KeysFile
        @OptionGroup var key: NewKey
        @Option(help: "The id of a key to leave out; may be there several times.") var drop: [String] = []

        func run() async throws {
            let keys = try await self.file.read().keys
            for id in self.drop where !keys.contains(where: { $0.kid == id }) {
                complain("\(self.file.keys): it has no key of one of the ids to drop")
                throw CommandExit.badData
            }
            let key = try self.key.make(besides: keys)
            let kept = keys.filter { !self.drop.contains($0.kid) }
            try await self.file.write(TokenKeySet.rotated(kept, with: key))
            CommandOutput.say("\(self.file.keys): \(key)")
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Mark a key as revoked: what it has signed is refused once gateways have read the file again.",
            discussion: "Example: cuecast token revoke --keys keys.json --key-id 2026-12"
        )

        @OptionGroup var file: KeysFile
        @Option(help: "The id of the key.") var keyId: String

        func run() async throws {
            var keys = try await self.file.read().keys
            guard let index = keys.firstIndex(where: { $0.kid == self.keyId }) else {
                complain("\(self.file.keys): it has no key of this id")
                throw CommandExit.badData
            }
            keys[index].state = .revoked
            try await self.file.write(keys)
            CommandOutput.say("\(self.file.keys): \(keys[index])")
        }
    }

    struct Public: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a file of keys without its secrets: what a gateway needs.",
            discussion: "Example: cuecast token public --keys keys.json > gateway-keys.json"
        )

        @OptionGroup var file: KeysFile

        func run() async throws {
            let keys = try await self.file.read().keys.map(\.publicPart)
            guard !keys.contains(where: { $0 == nil }) else {
                complain("\(self.file.keys): a key for HS256 has no public part: the gateway needs the file itself")
                throw CommandExit.badData
            }
            CommandOutput.write(try TokenKeySet.file(of: keys.compactMap(\.self)))
        }
    }
}

/// A new key.
struct NewKey: ParsableArguments {
    @Option(help: "HS256, ES256 or EdDSA. (default: ES256)")
    var algorithm: TokenAlgorithm = .es256

    @Option(help: "The id of the new key. (default: the day, and a number where there is one of that day already)")
    var keyId: String?

    func make(besides keys: [TokenKey]) throws -> TokenKey {
        let id = self.keyId ?? Self.freeID(besides: Set(keys.map(\.kid)))
        guard !keys.contains(where: { $0.kid == id }) else {
            complain("there is a key of this id already")
            throw CommandExit.badData
        }
        return try TokenKey.generate(self.algorithm, id: id)
    }

    private static func freeID(besides taken: Set<String>) -> String {
        let day = Date().formatted(.iso8601.year().month().day())
        var (id, number) = (day, 1)
        while taken.contains(id) {
            number += 1
            id = "\(day).\(number)"
        }
        return id
    }
}

extension TokenAlgorithm: ExpressibleByArgument {}

/// A file of keys that a command reads, and may write.
struct KeysFile: ParsableArguments {
    @Option(help: "The file of keys.")
    var keys: String

    func read() async throws(ExitCode) -> TokenKeySet {
        do throws(TokenKeyFaults) {
            return try await TokenKeySet(path: self.keys)
        } catch {
            for sentence in error.sentences { complain(sentence) }
            throw CommandExit.badData
        }
    }

    /// Puts keys in the place of those that the file has.
    func write(_ keys: [TokenKey]) async throws {
        let bytes = try await Self.bytes(of: keys)
        try Self.perform { () throws(SecretFile.Fault) in
            try SecretFile.replace(self.keys, bytes, mode: 0o600)
        }
    }

    /// As they stand in a file, once it is known that they can be read again.
    static func bytes(of keys: [TokenKey]) async throws(ExitCode) -> [UInt8] {
        do throws(TokenKeyFaults) {
            _ = try await TokenKeySet(keys)
        } catch {
            for sentence in error.sentences { complain(sentence) }
            throw CommandExit.badData
        }
        do {
            return try TokenKeySet.file(of: keys)
        } catch {
            preconditionFailure("keys could not be encoded: \(error)")
        }
    }

    static func perform(_ body: () throws(SecretFile.Fault) -> Void) throws(ExitCode) {
        do throws(SecretFile.Fault) {
            try body()
        } catch {
            complain("\(error)")
            throw error.isInTheWay ? CommandExit.badData : CommandExit.cannotWrite
        }
    }
}

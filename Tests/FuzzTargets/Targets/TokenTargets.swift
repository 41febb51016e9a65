// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import TokenFormats

/// The kind of an input, by its first byte.
private enum TokenInput: UInt8, CaseIterable {
    case token, keys, base64

    static func of(_ input: [UInt8]) -> TokenInput {
        TokenInput(rawValue: (input.first ?? 0) % UInt8(Self.allCases.count)) ?? .token
    }

    func sample(_ generator: inout SeededGenerator) -> [UInt8] {
        switch self {
        case .token: Self.token(&generator)
        case .keys: Self.keyFile(&generator)
        case .base64: Array(Base64URL.encode(generator.list(0...40) { $0.number(0...UInt8.max) }).utf8)
        }
    }

    private static func token(_ generator: inout SeededGenerator) -> [UInt8] {
        let claims = TokenClaims(
            subject: "user-\(generator.number(0...99))",
            issuer: generator.pick(["cuecast", "https://login.example"]),
            audience: generator.pick([[], ["cuecast"], ["cuecast", "cuecast-http"]]),
            expires: Timestamp(microseconds: generator.number(0...2_000_000_000) * 1_000_000),
            notBefore: generator.pick([nil, Timestamp(microseconds: 1_000_000)]),
            scopes: TokenScopes(generator.pick(["", "read", "read admin publish:radio* publish:*"])) ?? TokenScopes(),
            streams: generator.pick([[], [.every], [StreamPattern("radio*")].compactMap(\.self)]),
            attributes: generator.pick([nil, [:], ["device": "car", "region": "de"]]),
            sessionsMax: generator.pick([nil, 1, TokenLimits.tokenSessionsMax])
        )
        let signed = try? TokenText.signedPart(
            of: claims,
            algorithm: generator.pick(TokenAlgorithm.allCases),
            keyID: "\(generator.number(0...9))",
            issued: Timestamp(microseconds: 1_000_000)
        )
        let signature = Base64URL.encode(generator.list(0...64) { $0.number(0...UInt8.max) })
        return Array("\(signed ?? "").\(signature)".utf8)
    }

    private static func keyFile(_ generator: inout SeededGenerator) -> [UInt8] {
        let text = { (generator: inout SeededGenerator) in
            Base64URL.encode(generator.list(31...33) { $0.number(0...UInt8.max) })
        }
        let keys = generator.list(0...3) { generator -> TokenKey in
            let state = generator.pick([nil] + TokenKeyState.allCases.map(Optional.some))
            let id = "\(generator.number(0...9))"
            switch generator.pick(TokenAlgorithm.allCases) {
            case .hs256:
                return TokenKey(kty: "oct", kid: id, alg: "HS256", use: "sig", k: text(&generator), state: state)
            case .es256:
                let (x, y) = (text(&generator), text(&generator))
                return TokenKey(kty: "EC", kid: id, alg: "ES256", crv: "P-256", x: x, y: y, state: state)
            case .edDSA:
                let (x, d) = (text(&generator), text(&generator))
                return TokenKey(kty: "OKP", kid: id, alg: "EdDSA", crv: "Ed25519", x: x, d: d, state: state)
            }
        }
        return (try? TokenKeyDocument.file(of: keys)) ?? []
    }

    /// Another input of the same kind: in a token, often what stands behind the base64url.
    func change(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let place = generator.number(0...2)
        guard self == .token, generator.number(0...3) > 0, place < parts.count,
            let part = Base64URL.decode(parts[place])
        else { return FieldTree.changed(bytes, &generator) }
        var changed = parts.map { Array($0) }
        changed[place] = Array(Base64URL.encode(Self.changed(part, &generator)).utf8)
        return Array(changed.joined(separator: [UInt8(ascii: ".")]))
    }

    /// One place of a text becomes another.
    private static func changed(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        guard !bytes.isEmpty else { return [generator.number(0...UInt8.max)] }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let other = generator.pick([#"""#, "0", "-1", "1e99", "null", "[]", "{}", "\\u0000", ":", ",", "é"])
        return Array(bytes[..<place]) + Array(other.utf8)
            + Array(bytes[(place + Int.random(in: 0...1, using: &generator))...])
    }

    func check(_ bytes: [UInt8]) throws(Broken) {
        switch self {
        case .token: try Self.checkToken(String(decoding: bytes, as: UTF8.self))
        case .keys: try Self.checkKeys(bytes)
        case .base64: try Self.checkBase64(bytes)
        }
    }

    /// Checks that a token is written so that it reads as the same, and that each of its parts has one form only.
    private static func checkToken(_ token: String) throws(Broken) {
        guard let text = TokenText(token) else { return }
        let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        try insist(parts.count == 3, "a token is read that has \(parts.count) parts")
        try insist(text.signed.elementsEqual(token.utf8.prefix(text.signed.count)), "another text is signed")
        if let signature = text.signature {
            try insist(Base64URL.encode(signature).utf8.elementsEqual(parts[2]), "a signature is written in two ways")
        }
        guard let claims = text.claims else { return }
        guard let (again, written) = try Self.rewritten(claims) else { return }
        // Instants are written in whole seconds.
        try insist(
            again.subject == claims.subject && again.issuer == claims.issuer && again.audience == claims.audience
                && again.scopes == claims.scopes && again.streams == claims.streams
                && again.attributes == claims.attributes && again.sessionsMax == claims.sessionsMax
                && again.expires <= claims.expires,
            "\(claims) are read as \(again)"
        )
        guard let (_, third) = try Self.rewritten(again) else { return }
        try insist(third == written, "\(again) are written in two ways")
    }

    /// Claims that were written and read again; `nil` where they are too long for a token.
    private static func rewritten(_ claims: TokenClaims) throws(Broken) -> (TokenClaims, String)? {
        let issued = Timestamp(microseconds: 0)
        guard let signed = try? TokenText.signedPart(of: claims, algorithm: .hs256, keyID: "k", issued: issued) else {
            throw Broken(sentence: "\(claims) cannot be written")
        }
        guard signed.utf8.count < TokenLimits.tokenBytesMax else { return nil }
        guard let again = TokenText(signed + ".")?.claims else {
            throw Broken(sentence: "\(claims) cannot be read again")
        }
        return (again, signed)
    }

    /// Checks that a file of keys is written so that it reads as the same, and that a fault of a key contains nothing of it.
    private static func checkKeys(_ bytes: [UInt8]) throws(Broken) {
        guard let keys = try? TokenKeyDocument.keys(in: bytes), let written = try? TokenKeyDocument.file(of: keys),
            written.count <= TokenLimits.tokenKeysFileBytesMax
        else { return }
        let again = (try? TokenKeyDocument.keys(in: written)).flatMap { try? TokenKeyDocument.file(of: $0) }
        try insist(again == written, "keys are written so that they are read as others")
        for key in keys {
            do throws(TokenKey.Fault) {
                let algorithm = try key.checkedForm()
                try? TokenKeyDocument.check(count: keys.count)
                guard algorithm.rawValue == key.alg else { throw TokenKey.Fault(reason: "another algorithm") }
            } catch {
                for part in [key.k, key.d].compactMap(\.self) where part.utf8.count >= 16 {
                    try insist(!error.reason.contains(part), "a secret stands in what is wrong with its key")
                }
                try insist(error.reason != "another algorithm", "a key is taken for another algorithm")
            }
        }
    }

    /// Each text stands for one value, and each value has one text.
    private static func checkBase64(_ bytes: [UInt8]) throws(Broken) {
        try insist(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes, "bytes are read as others")
        guard let read = Base64URL.decode(bytes) else { return }
        try insist(Base64URL.encode(read).utf8.elementsEqual(bytes), "a value has two texts")
    }
}

extension FuzzTarget {
    /// Tokens, which strangers send, and the files of their keys, as far as they are read without cryptography.
    static let tokens = FuzzTarget(
        name: "tokens",
        sample: { generator in
            let input = generator.pick(TokenInput.allCases)
            return [input.rawValue] + input.sample(&generator)
        },
        change: { input, generator in
            [input.first ?? 0] + TokenInput.of(input).change(Array(input.dropFirst()), &generator)
        },
        fault: { input in
            firstBroken { () throws(Broken) in try TokenInput.of(input).check(Array(input.dropFirst())) }
        }
    )
}

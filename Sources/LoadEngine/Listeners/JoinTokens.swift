// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import SecretFiles

/// The tokens with which listeners join streams that ask for one: one for all, or one each.
package struct JoinTokens: Hashable, Sendable {
    /// The most bytes of a file of tokens.
    package static let tokensFileBytesMax = 67_108_864

    /// None: streams ask for none.
    package static let none = JoinTokens(tokens: [])

    private let tokens: [[UInt8]]

    private init(tokens: [[UInt8]]) {
        self.tokens = tokens
    }

    /// Reads a file that only its owner may read: one token a line.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - listeners: how many need one.
    ///   - bytesMax: nothing larger is read.
    /// - Throws: `usage` where it cannot be used; never with what stands in it.
    package init(
        path: String,
        listeners: Int,
        bytesMax: Int = Self.tokensFileBytesMax
    ) throws(LoadError) {
        let contents: SecretFile.Contents
        do throws(SecretFile.Fault) {
            contents = try SecretFile.read(path, bytesMax: bytesMax, limit: "tokensFileBytesMax")
            try contents.requireSecret()
        } catch {
            throw .usage("\(error)")
        }
        var tokens: [[UInt8]] = []
        for line in contents.bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            guard line.count <= WireLimits.tokenBytesMax, line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .usage(
                    "\(path): line \(tokens.count + 1) is no token: 1 to \(WireLimits.tokenBytesMax) visible characters"
                )
            }
            tokens.append(Array(line))
        }
        guard tokens.count == 1 || tokens.count >= max(1, listeners) else {
            throw .usage(
                "\(path): it holds \(tokens.count) tokens; it must hold 1, or one for each of \(listeners) listeners"
            )
        }
        self.tokens = tokens
    }

    package var isEmpty: Bool { self.tokens.isEmpty }

    /// How many differ.
    var count: Int { self.tokens.count }

    /// The token of a listener, by its number; empty: none is needed.
    func token(of listener: Int) -> [UInt8] {
        self.tokens.isEmpty ? [] : self.tokens[listener % self.tokens.count]
    }
}

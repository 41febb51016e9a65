// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ArgumentParser
import CuecastWire
import Foundation
package import SecretFiles

/// Options for checking the certificate of a gateway's HTTP server.
package struct TrustOptions: ParsableArguments {
    fileprivate static let caFileHelp: ArgumentHelp = """
        The certificates (PEM) of the authority that issued the gateway's. (default: those that the system trusts, and on \
        this machine the certificate in the data directory) [CUECAST_CA_FILE]
        """
    fileprivate static let dataDirHelp: ArgumentHelp =
        "The data directory of a gateway on this machine. (default: cuecast-data) [CUECAST_DATA_DIR]"

    @Option(help: TrustOptions.caFileHelp)
    package var caFile: String?

    @Option(help: TrustOptions.dataDirHelp)
    package var dataDir: String?

    package init() {}

    /// Finds the endpoint of a gateway.
    ///
    /// - Parameters:
    ///   - address: the given address, or the default.
    ///   - isNamed: whether an address was given.
    /// - Returns: the endpoint.
    /// - Throws: if the file of certificates cannot be used.
    package func endpoint(_ address: HTTPAddress, isNamed: Bool) throws(HTTPEndpoint.Fault) -> HTTPEndpoint {
        try HTTPEndpoint.find(
            address,
            isNamed: isNamed,
            caFile: self.caFile,
            dataDirectory: self.dataDir,
            environment: ProcessInfo.processInfo.environment
        )
    }
}

/// By what a command proves over HTTP who asks, and whom it believes.
package struct OperatorOptions: ParsableArguments {
    @Option(
        help: """
            The file of a token for HTTP. Unless told, the one in the data directory of a gateway on this machine. \
            [CUECAST_TOKEN_FILE]
            """
    )
    package var tokenFile: String?

    // Those of TrustOptions. As a group in this group they would cost a debug build a multiple of the time: the parser checks every
    // level of groups several times for each level above.
    @Option(help: TrustOptions.caFileHelp)
    package var caFile: String?

    @Option(help: TrustOptions.dataDirHelp)
    package var dataDir: String?

    package init() {}

    /// Finds the endpoint of a gateway.
    ///
    /// - Parameters:
    ///   - address: the given address, or the default.
    ///   - isNamed: whether an address was given.
    /// - Returns: the endpoint.
    /// - Throws: if the file of certificates cannot be used.
    package func endpoint(_ address: HTTPAddress, isNamed: Bool) throws(HTTPEndpoint.Fault) -> HTTPEndpoint {
        var trust = TrustOptions()
        trust.caFile = self.caFile
        trust.dataDir = self.dataDir
        return try trust.endpoint(address, isNamed: isNamed)
    }

    /// The headers of a request.
    ///
    /// The token in the data directory is sent to this machine only. No token is sent unencrypted to another machine: it could be
    /// read on the way.
    ///
    /// - Parameter endpoint: the gateway's.
    /// - Returns: none if there is no token.
    /// - Throws: if the given token cannot be used.
    package func headers(to endpoint: HTTPEndpoint) throws -> [String: String] {
        try OperatorToken.headers(
            to: endpoint,
            file: self.tokenFile,
            dataDirectory: self.dataDir,
            environment: ProcessInfo.processInfo.environment
        )
    }
}

/// The token that a command sends.
package enum OperatorToken {
    /// Why a given token cannot be used; never contains the token.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The headers of a request, with a token or without.
    ///
    /// - Parameters:
    ///   - endpoint: the gateway's.
    ///   - file: the file that an option names.
    ///   - dataDirectory: the folder that an option names.
    ///   - environment: set and empty is not set.
    /// - Returns: none if there is no token.
    /// - Throws: if the given token cannot be used.
    package static func headers(
        to endpoint: HTTPEndpoint,
        file: String?,
        dataDirectory: String?,
        environment: [String: String]
    ) throws(Fault) -> [String: String] {
        let environment = environment.filter { !$0.value.isEmpty }
        if let file = file ?? environment["CUECAST_TOKEN_FILE"] {
            guard endpoint.isPrivate else {
                throw Fault(
                    description:
                        "a token is not sent to \(endpoint.address.host): without TLS it can be read on the way; use https"
                )
            }
            do throws(SecretFile.Fault) {
                return Self.headers(try Self.read(file))
            } catch {
                throw Fault(description: "\(error)")
            }
        }
        let folder = dataDirectory ?? environment["CUECAST_DATA_DIR"] ?? "cuecast-data"
        // One that cannot be read is none: much can be asked without.
        guard endpoint.address.isLoopback, let token = try? Self.read("\(folder)/\(SecretFileNames.httpToken)") else {
            return [:]
        }
        return Self.headers(token)
    }

    private static func headers(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    /// The token in a file that only its owner may read.
    ///
    /// - Parameter path: the file: one line of visible characters.
    /// - Returns: the token.
    /// - Throws: where it cannot be used; never with what stands in it.
    package static func read(_ path: String) throws(SecretFile.Fault) -> String {
        let contents = try SecretFile.read(path, bytesMax: WireLimits.tokenBytesMax + 1, limit: "tokenBytesMax")
        try contents.requireSecret()
        let text = String(decoding: contents.bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SecretFile.Fault(path: path, reason: "it holds no token: a token is one line of visible characters")
        }
        return text
    }
}

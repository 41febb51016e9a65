// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import NIOSSL
import SecretFiles

/// How a gateway's TLS certificate is checked.
package enum HTTPTrust: Hashable, Sendable {
    /// The system trusts the issuer, and the certificate is for the host.
    case system
    /// One of these certificates (PEM) is the issuer, and the certificate is for the host.
    case roots(pem: [UInt8])
    /// The certificate is exactly the first of these (PEM), for any host.
    case certificate(pem: [UInt8])
}

/// The address of a gateway's HTTP server, and how to reach it.
package struct HTTPEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// Why it cannot be used: a sentence.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package let address: NetworkAddress
    /// How the certificate is checked; `nil`: HTTP is plain.
    package let trust: HTTPTrust?

    /// The most bytes of a file of certificates.
    package static let caFileBytesMax = 1_048_576
    private static let caFileVariable = "CUECAST_CA_FILE"

    package init(_ address: NetworkAddress, trust: HTTPTrust? = nil) {
        self.address = address
        self.trust = trust
    }

    package var description: String {
        self.trust == nil ? self.address.hostAndPort : "https://\(self.address.hostAndPort)"
    }

    /// Whether traffic cannot be read on the network: it stays on this machine, or is encrypted.
    package var isPrivate: Bool { self.trust != nil || self.address.isLoopback }

    /// Finds the endpoint from the options, the environment, and the data directory of a gateway on this machine.
    ///
    /// A gateway writes its HTTP address and its certificate into its data directory. They are used if no address was given, or
    /// if the given address is that gateway's.
    ///
    /// - Parameters:
    ///   - address: the given address, or the default.
    ///   - isNamed: whether an address was given.
    ///   - caFile: the file of certificates that an option names.
    ///   - dataDirectory: the folder that an option names.
    ///   - environment: set and empty is not set.
    /// - Returns: the endpoint.
    /// - Throws: if the file of certificates cannot be used.
    package static func find(
        _ address: HTTPAddress,
        isNamed: Bool,
        caFile: String?,
        dataDirectory: String?,
        environment: [String: String]
    ) throws(Fault) -> HTTPEndpoint {
        let environment = environment.filter { !$0.value.isEmpty }
        let local = LocalEndpoint(in: dataDirectory ?? environment["CUECAST_DATA_DIR"] ?? "cuecast-data")
        var asked = address.fromHere
        if !isNamed, let local { asked = local.address }
        let found = local.flatMap { $0.isSame(as: asked.address) ? $0 : nil }
        let caFile = caFile ?? environment[Self.caFileVariable]
        // A file of certificates means that TLS is wanted.
        let scheme = asked.scheme ?? found?.address.scheme ?? (caFile == nil ? .http : .https)
        guard scheme == .https else { return HTTPEndpoint(asked.address) }
        if let caFile { return HTTPEndpoint(asked.address, trust: .roots(pem: try Self.certificates(caFile))) }
        guard let found, !found.certificates.isEmpty else { return HTTPEndpoint(asked.address, trust: .system) }
        return HTTPEndpoint(asked.address, trust: .certificate(pem: found.certificates))
    }

    /// Reads a file of certificates.
    ///
    /// - Parameter path: of the file, PEM.
    /// - Returns: its bytes, with one certificate at least.
    /// - Throws: a sentence where it has none.
    package static func certificates(_ path: String) throws(Fault) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SecretFile.Fault) {
            bytes = try SecretFile.read(path, bytesMax: Self.caFileBytesMax, limit: "caFileBytesMax").bytes
        } catch {
            throw Fault(description: "\(error)")
        }
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw Fault(description: "\(path) holds no certificates that can be read; they must be PEM")
        }
        return bytes
    }
}

/// The HTTP endpoint that a gateway writes into its data directory.
struct LocalEndpoint {
    /// With its scheme, as one reaches it on this machine.
    let address: HTTPAddress
    /// PEM, the one that it shows first; empty: none.
    let certificates: [UInt8]

    /// The most bytes of the file: an address, and as much as a gateway's file of certificates may have.
    static let fileBytesMax = 1_024 + 262_144

    /// Reads the file of a folder; `nil` where there is none that only its owner may change, or it cannot be understood.
    init?(in folder: String) {
        guard
            let file = try? SecretFile.read(
                "\(folder)/\(SecretFileNames.httpEndpoint)",
                bytesMax: Self.fileBytesMax,
                limit: "httpEndpointFileBytesMax"
            ), (try? file.requireSecret()) != nil, let end = file.bytes.firstIndex(of: UInt8(ascii: "\n")),
            let address = try? HTTPAddress(String(decoding: file.bytes[..<end], as: UTF8.self)), address.scheme != nil
        else { return nil }
        self.address = address.fromHere
        self.certificates = Array(file.bytes[(end + 1)...])
    }

    /// Whether an address is this gateway's.
    func isSame(as other: NetworkAddress) -> Bool {
        let own = self.address.address
        return own == other || (own.port == other.port && own.isLoopback && other.isLoopback)
    }
}

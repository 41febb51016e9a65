// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import TestSupport

/// A certificate authority with a key of a test's own: made by the command `openssl`, in a folder that goes with it.
final class TestAuthority: Sendable {
    struct Failure: Error {
        let arguments: [String]
        let status: Int32
    }

    /// A certificate with its key, as PEM.
    struct Identity: Sendable {
        let certificate: String
        let key: String
        /// As `PublicKeyPin` is written.
        let pin: String
    }

    private let folder: String
    /// The authority's own certificate, as PEM.
    let certificate: String

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-authority-\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        try Self.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=test authority", "-keyout", "\(self.folder)/root.key", "-out", "\(self.folder)/root.pem",
        ])
        self.certificate = try String(contentsOfFile: "\(self.folder)/root.pem", encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    /// Signs a certificate.
    ///
    /// - Parameters:
    ///   - names: whom it is for, as `subjectAltName` has them.
    ///   - days: for how long from now on; less than 0: it has expired.
    ///   - key: of which kind, as arguments of `openssl req`.
    /// - Returns: the certificate and its key.
    /// - Throws: where the command fails.
    func sign(
        _ names: String = "IP:127.0.0.1,DNS:localhost",
        days: Int = 2,
        key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    ) throws -> Identity {
        let leaf = "\(self.folder)/\(UUID())"
        try Self.run(
            ["req", "-newkey"] + key + [
                "-nodes", "-subj", "/CN=gateway", "-addext", "subjectAltName=\(names)", "-keyout", "\(leaf).key",
                "-out",
                "\(leaf).csr",
            ]
        )
        try Self.run([
            "x509", "-req", "-in", "\(leaf).csr", "-CA", "\(self.folder)/root.pem", "-CAkey", "\(self.folder)/root.key",
            "-days", "\(days)", "-copy_extensions", "copy", "-out", "\(leaf).pem",
        ])
        try Self.run(["pkey", "-in", "\(leaf).key", "-pubout", "-outform", "DER", "-out", "\(leaf).public"])
        try Self.run(["dgst", "-sha256", "-binary", "-out", "\(leaf).hash", "\(leaf).public"])
        let hash = try Data(contentsOf: URL(fileURLWithPath: "\(leaf).hash"))
        return Identity(
            certificate: try String(contentsOfFile: "\(leaf).pem", encoding: .utf8),
            key: try String(contentsOfFile: "\(leaf).key", encoding: .utf8),
            pin: "sha256/" + hash.base64EncodedString()
        )
    }

    private static func run(_ arguments: [String]) throws {
        let status = try ChildProcess(["openssl"] + arguments).wait()
        guard status == 0 else { throw Failure(arguments: arguments, status: status) }
    }
}

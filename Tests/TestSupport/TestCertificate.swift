// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// A certificate of a test's own for 127.0.0.1 and a name, signed by itself, and its key: made by the command `openssl`, in files of a folder of its own.
package final class TestCertificate: Sendable {
    package struct Failure: Error {
        package let status: Int32
    }

    private let folder: String
    /// PEM.
    package var certificateFile: String { self.folder + "/certificate.pem" }
    /// PEM; only its owner may read it.
    package var keyFile: String { self.folder + "/key.pem" }

    /// - Parameters:
    ///   - name: its common name, which it is for too.
    ///   - days: for how long it is valid.
    /// - Throws: where the command cannot make it.
    package init(_ name: String, days: Int = 2) throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-certificate-\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        try Self.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "\(days)",
            "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1,DNS:\(name)", "-out", self.certificateFile,
            "-keyout",
            self.keyFile,
        ])
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    package func certificates() throws -> [UInt8] { try Self.bytes(self.certificateFile) }

    package func key() throws -> [UInt8] { try Self.bytes(self.keyFile) }

    private static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Runs the command `openssl` to its end.
    package static func run(_ arguments: [String]) throws {
        let status = try ChildProcess(["openssl"] + arguments).wait()
        guard status == 0 else { throw Failure(status: status) }
    }
}

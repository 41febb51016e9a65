// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Glibc
import TestSupport
import Testing
import ZMTP

/// A peer that speaks TLS by the command `openssl`: what a test says to it in plain bytes goes to the gateway encrypted.
final class TLSTunnel {
    private let process: Process
    /// The test's end.
    let descriptor: Int32
    private let errors = Pipe()

    /// - Parameters:
    ///   - endpoint: where to connect.
    ///   - options: more options of `openssl s_client`.
    /// - Throws: where the command cannot be started.
    init(connectedTo endpoint: String, _ options: [String]) throws {
        var pair: [Int32] = [0, 0]
        // Safety: the kernel writes two numbers during the call.
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        try #require(result == 0)
        self.descriptor = pair[0]
        // Else the process would hold our end open.
        _ = fcntl(pair[0], F_SETFD, FD_CLOEXEC)
        let address = String(endpoint.dropFirst("tcp://".count))
        self.process = TestCertificate.process(["s_client", "-connect", address] + options)
        let other = FileHandle(fileDescriptor: pair[1], closeOnDealloc: true)
        self.process.standardInput = other
        self.process.standardOutput = other
        self.process.standardError = self.errors
        try self.process.run()
        try other.close()
    }

    deinit {
        if self.process.isRunning { self.process.terminate() }
        self.process.waitUntilExit()
    }

    /// Waits for its end.
    ///
    /// - Returns: what it said about its connection.
    func end() throws -> String {
        let said = try self.errors.fileHandleForReading.readToEnd() ?? Data()
        self.process.waitUntilExit()
        return String(decoding: said, as: UTF8.self)
    }
}

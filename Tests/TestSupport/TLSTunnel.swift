// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Foundation
import Glibc

/// A peer that speaks TLS by the command `openssl`: what a test says to it in plain bytes goes to the gateway encrypted.
package final class TLSTunnel {
    private let process: Process
    /// The test's end.
    package let descriptor: Int32
    private let errors = Pipe()

    /// - Parameters:
    ///   - endpoint: where to connect, as HOST:PORT, with tcp:// before it or not.
    ///   - options: more options of `openssl s_client`.
    /// - Throws: where the command cannot be started.
    package init(connectedTo endpoint: String, _ options: [String]) throws {
        var pair: [Int32] = [0, 0]
        // Safety: the kernel writes two numbers during the call.
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        guard result == 0 else { throw TestCertificate.Failure(status: errno) }
        self.descriptor = pair[0]
        // Else the process would hold our end open.
        _ = fcntl(pair[0], F_SETFD, FD_CLOEXEC)
        let address = endpoint.split(separator: "/").last.map(String.init) ?? ""
        self.process = TestCertificate.process(["s_client", "-connect", address] + options)
        let other = FileHandle(fileDescriptor: pair[1], closeOnDealloc: true)
        self.process.standardInput = other
        self.process.standardOutput = other
        self.process.standardError = self.errors
        try self.process.run()
        try other.close()
    }

    deinit {
        // Threads of a pool hold SIGTERM back, and who is started by one does so too: it would be waited for without end.
        if self.process.isRunning { _ = kill(self.process.processIdentifier, SIGKILL) }
        self.process.waitUntilExit()
    }

    /// Waits for its end.
    ///
    /// - Returns: what it said about its connection.
    package func end() throws -> String {
        let said = try self.errors.fileHandleForReading.readToEnd() ?? Data()
        self.process.waitUntilExit()
        return String(decoding: said, as: UTF8.self)
    }
}
#endif

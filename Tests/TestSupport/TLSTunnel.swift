// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc

/// A peer that speaks TLS by the command `openssl`: what a test says to it in plain bytes goes to the gateway encrypted.
package final class TLSTunnel {
    private let process: ChildProcess
    /// The test's end.
    package let descriptor: Int32

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
        defer { close(pair[1]) }
        let address = endpoint.split(separator: "/").last.map(String.init) ?? ""
        self.process = try ChildProcess(
            ["openssl", "s_client", "-connect", address] + options,
            input: .descriptor(pair[1]),
            output: .descriptor(pair[1]),
            errors: .pipe
        )
    }

    /// Waits for its end.
    ///
    /// - Returns: what it said about its connection.
    package func end() -> String {
        let said = self.process.allErrors()
        _ = self.process.wait()
        return said
    }
}
#endif

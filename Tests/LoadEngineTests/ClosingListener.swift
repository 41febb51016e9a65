// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Glibc
import Synchronization
import Testing

/// Accepts connections and closes each at once, without a word.
final class ClosingListener: Sendable {
    let endpoint: String
    private let descriptor: Int32
    private let accepted = Atomic(0)

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safety: the kernel reads and writes the address during the calls only.
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(result, "listening failed")
        self.endpoint = "tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        self.descriptor = descriptor
    }

    deinit {
        _ = close(self.descriptor)
    }

    /// Accepts and closes until the listener is stopped.
    func run() {
        while true {
            let connection = accept(self.descriptor, nil, nil)
            guard connection >= 0 else { return }
            self.accepted.add(1, ordering: .relaxed)
            _ = close(connection)
        }
    }

    /// Makes `run` return.
    ///
    /// - Returns: how many connections were accepted.
    func stop() -> Int {
        _ = shutdown(self.descriptor, Int32(SHUT_RDWR))
        return self.accepted.load(ordering: .relaxed)
    }
}

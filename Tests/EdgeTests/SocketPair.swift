// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Glibc
import Testing

/// Two ends of a connection that are both in the test's hands.
final class SocketPair {
    /// The end that the loop writes to.
    let near: Int32
    private let far: Int32
    private var count = 0

    init() throws {
        var ends: [Int32] = [-1, -1]
        // Safety: the kernel writes two descriptors during the call, for which there is room.
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
        try #require(result == 0)
        (self.near, self.far) = (ends[0], ends[1])
    }

    deinit {
        close(self.near)
        close(self.far)
    }

    /// How many bytes have come so far.
    func received() -> Int {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            // Safety: the kernel writes at most as many bytes as the buffer has during the call.
            let read = unsafe recv(self.far, &buffer, buffer.count, 0)
            guard read > 0 else { return self.count }
            self.count += read
        }
    }
}

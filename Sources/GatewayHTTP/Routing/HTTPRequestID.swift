// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The id by which one request over HTTP is found again: the caller's own, or one that is made.
package struct HTTPRequestID: Hashable, Sendable {
    /// The longest id that is taken from a caller, in bytes.
    package static let bytesMax = 128

    package let text: String

    /// - Parameter header: the caller's `X-Request-Id`; one that is empty, too long, or more than visible ASCII is not taken.
    package init(_ header: String?) {
        if let header, (1...Self.bytesMax).contains(header.utf8.count),
            header.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            self.text = header
        } else {
            // As the ids of requests over ZeroMQ are written.
            self.text = String(UInt64.random(in: 1 ... .max))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How many descriptors of a process are kept back from connections: for files, for HTTP, and for broadcasters' connections
/// that are accepted before they are counted.
///
/// A sixteenth of the limit on open files, and not less than 64 nor more than 16,384.
package enum DescriptorReserve {
    private static let part = 16
    private static let atLeast = 64
    private static let atMost = 16_384

    /// How many are kept back of so many.
    package static func reserve(of limit: Int) -> Int { min(max(Self.atLeast, limit / Self.part), Self.atMost) }

    /// The least limit on open files that leaves room for so many connections.
    package static func limit(for connections: Int) -> Int {
        let withPart = Self.part * (connections - 1) / (Self.part - 1) + 1
        return min(max(connections + Self.atLeast, withPart), connections + Self.atMost)
    }
}

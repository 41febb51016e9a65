// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A store that keeps some of what is in its files in memory, to be faster.
package protocol CachingStore: Sendable {
    /// Gives back what is in memory only to be faster; it is read from the files again where it is wanted.
    ///
    /// Data that waits to be written stays, and concurrent readers and writers go on.
    func releaseCaches() async

    /// The bytes that it holds in memory only to be faster: the pages of the writing connection, and records. 0 once it is closed.
    func cacheBytes() async -> Int
}
